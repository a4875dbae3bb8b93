internal import CLibevent
internal import Glibc

/// An HTTP/1.1 server over a Unix socket and, if wanted, TCP; built on evhttp and the rules that keep it safe.
///
/// Requests are vetted against RFC 9112 before the handler sees them; sizes, times, the number of connections and what
/// may wait in memory for one client are bounded by ``HTTPLimits``.
///
/// ## Concurrency model
/// Not `Sendable`: belongs, with its handler, to the thread of its ``EventLoop``, which holds it until ``close()``. The
/// ``HTTPExchange`` given to the handler may be answered from any thread.
package final class HTTPServer: LoopResource {
    package typealias Handler = (HTTPExchange) -> Void

    let loop: EventLoop
    private let limits: HTTPLimits
    private let handler: Handler
    private var http: OpaquePointer?
    private var sockets: [ListeningSocket] = []
    private var files: [UnixSocket] = []
    private var connections: [OpaquePointer: HTTPConnection] = [:]
    private var sweep: TimerToken?

    /// Makes a server that does not listen yet.
    package init(
        loop: EventLoop, limits: HTTPLimits = HTTPLimits(), handler: @escaping Handler
    ) throws(TransportError) {
        loop.assertOnLoop()
        guard let http = evhttp_new(loop.base) else { throw .system(call: "evhttp_new", code: ENOMEM) }
        self.loop = loop
        self.limits = limits
        self.handler = handler
        self.http = http
        configure(http)
        loop.adopt(self)
    }

    /// Serves a Unix socket at `path`, with these permissions. A stale socket file is replaced.
    package func listen(unixSocket path: String, mode: UInt32) throws(TransportError) {
        loop.assertOnLoop()
        let file = try UnixSocket(path: path, mode: mode)
        do throws(TransportError) {
            try serve(file.descriptor)
        } catch {
            file.remove()
            throw error
        }
        files.append(file)
    }

    /// Serves TCP. Nothing is encrypted, so use a loopback address.
    /// - Returns: the local port, which the kernel chose if `port` is 0.
    @discardableResult
    package func listen(host: String, port: UInt16) throws(TransportError) -> UInt16 {
        loop.assertOnLoop()
        try serve(ListeningSocket.bindTCP(host: host, port: port))
        return sockets.last?.boundPort ?? 0
    }

    /// Connections now open.
    package var openConnections: Int { connections.count }

    /// Closes everything in a later turn of the loop; unanswered exchanges lose their client.
    package func close() {
        loop.assertOnLoop()
        // The caller may stand in a callback of evhttp, which would not survive its own end.
        loop.schedule(after: .zero) { self.loopIsStopping() }
    }

    func loopIsStopping() {
        guard let http else { return }
        self.http = nil
        sweep?.cancel()
        for socket in sockets { socket.close(freeing: false) }
        sockets = []
        evhttp_free(http)
        for connection in connections.values { connection.letGo() }
        connections = [:]
        for file in files { file.remove() }
        files = []
        loop.forget(self)
    }

    func forget(_ connection: HTTPConnection) {
        connections[connection.bufferevent] = nil
        connection.letGo()
        updateAccepting()
    }

    private func configure(_ http: OpaquePointer) {
        let this = Unmanaged.passUnretained(self).toOpaque()
        evhttp_set_max_headers_size(http, limits.maximumHeaderBytes)
        evhttp_set_max_body_size(http, limits.maximumBodyBytes)
        var idle = limits.idleTimeout.timeInterval
        evhttp_set_timeout_tv(http, &idle)
        // evhttp keeps the pointer it is given; nil means no default.
        evhttp_set_default_content_type(http, nil)
        // All that evhttp can read come to us, because its own answer to others is 501 instead of 405.
        let methods = HTTPServer.methods.reduce(0) { $0 | $1.type.rawValue }
        evhttp_set_allowed_methods(http, UInt16(methods))
        evhttp_set_bevcb(
            http,
            { _, context in
                guard let context else { return nil }
                return Unmanaged<HTTPServer>.fromOpaque(context).takeUnretainedValue().accepted()
            }, this)
        evhttp_set_gencb(
            http,
            { request, context in
                guard let request, let context else { return }
                Unmanaged<HTTPServer>.fromOpaque(context).takeUnretainedValue().received(request)
            }, this)
    }

    private func serve(_ descriptor: Int32) throws(TransportError) {
        guard let http else {
            Glibc.close(descriptor)
            throw .loopNotRunning
        }
        let socket = try ListeningSocket(loop: loop, descriptor: descriptor, accept: nil)
        do throws(TransportError) {
            try socket.serve(http)
        } catch {
            socket.close(freeing: true)
            throw error
        }
        sockets.append(socket)
    }

    // MARK: Connections

    private func accepted() -> OpaquePointer? {
        guard let bufferevent = bufferevent_socket_new(loop.base, -1, Int32(BEV_OPT_CLOSE_ON_FREE.rawValue)) else {
            return nil
        }
        connections[bufferevent] = HTTPConnection(server: self, limits: limits, bufferevent: bufferevent)
        updateAccepting()
        if sweep == nil { scheduleSweep() }
        return bufferevent
    }

    private func updateAccepting() {
        let isEnabled = connections.count < limits.maximumConnections
        for socket in sockets where socket.isEnabled != isEnabled { socket.isEnabled = isEnabled }
    }

    /// evhttp has no deadline for a request, only one between two bytes, and does not tell when a connection ends
    /// that never sent one. So one timer looks at all, as long as there are any.
    private func scheduleSweep() {
        let interval = min(.milliseconds(250), limits.requestDeadline / 4)
        sweep = loop.schedule(after: interval) { [unowned self] in
            let now = ContinuousClock.now
            for connection in connections.values {
                if connection.isReleasedByHTTP {
                    forget(connection)
                } else if let deadline = connection.deadline, deadline <= now {
                    connection.cutOff()
                }
            }
            sweep = nil
            if !connections.isEmpty { scheduleSweep() }
        }
    }

    // MARK: Requests

    private func received(_ request: OpaquePointer) {
        let method = HTTPServer.methods.first { $0.type == evhttp_request_get_command(request) }?.name ?? ""
        guard let handle = evhttp_request_get_connection(request),
            let connection = connections[evhttp_connection_get_bufferevent(handle)]
        else {
            evhttp_send_error(request, 500, nil)
            return
        }
        connection.requestArrived(on: handle)
        let transaction = HTTPTransaction(request: request, connection: connection, isHead: method == "HEAD")
        switch HTTPServer.read(request, method: method, connection: connection) {
        case .failure(let fault):
            refuse(transaction, status: 400, why: fault.reason, header: HTTPField("Connection", "close"))
        case .success where !limits.allowedMethods.contains(method):
            let allowed = limits.allowedMethods.sorted().joined(separator: ", ")
            refuse(transaction, status: 405, why: "method not allowed", header: HTTPField("Allow", allowed))
        case .success(let request):
            handler(HTTPExchange(request: request, transaction: loop.bind(transaction)))
        }
    }

    private func refuse(_ transaction: HTTPTransaction, status: Int, why: String, header: HTTPField) {
        let head = HTTPTransaction.Head(status: status, contentType: "text/plain", headers: [header])
        transaction.reply(head, body: Array((why + "\n").utf8))
    }

    private struct Fault: Error { let reason: String }

    private static func read(
        _ request: OpaquePointer, method: String, connection: HTTPConnection
    ) -> Result<HTTPRequest, Fault> {
        let headers = headerFields(of: request)
        if let fault = faultOfHeaders(headers) { return .failure(Fault(reason: fault)) }
        let uri = evhttp_request_get_evhttp_uri(request)
        let rawPath = evhttp_uri_get_path(uri).map { String(cString: $0) } ?? ""
        let rawQuery = evhttp_uri_get_query(uri).map { String(cString: $0) } ?? ""
        guard let path = percentDecoded(rawPath.isEmpty ? "/" : rawPath[...], plusIsSpace: false),
            let query = queryItems(rawQuery)
        else { return .failure(Fault(reason: "bad percent encoding")) }
        let input = evhttp_request_get_input_buffer(request)
        return .success(
            HTTPRequest(
                method: method, path: path, query: query, headers: headers,
                body: takeBytes(from: input, count: evbuffer_get_length(input)),
                peer: peerCredentials(of: bufferevent_getfd(connection.bufferevent))))
    }

    private static let methods: [(type: evhttp_cmd_type, name: String)] = [
        (EVHTTP_REQ_GET, "GET"), (EVHTTP_REQ_HEAD, "HEAD"), (EVHTTP_REQ_POST, "POST"), (EVHTTP_REQ_PUT, "PUT"),
        (EVHTTP_REQ_DELETE, "DELETE"), (EVHTTP_REQ_PATCH, "PATCH"), (EVHTTP_REQ_OPTIONS, "OPTIONS"),
        (EVHTTP_REQ_TRACE, "TRACE"), (EVHTTP_REQ_CONNECT, "CONNECT"),
    ]
}
