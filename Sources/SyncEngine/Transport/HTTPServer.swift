internal import EventStore
internal import Glibc

/// An HTTP/1.1 server over a Unix socket and, if wanted, TCP.
///
/// ``HTTPParser`` vets requests against RFC 9112 before the handler sees them; sizes, times, the number of connections and
/// what may wait in memory for one client are bounded by ``HTTPLimits``. A connection's requests are handed out one at a time.
///
/// ## Concurrency model
/// Not `Sendable`: belongs, with its handler, to the thread of its ``EventLoop``, which holds it until ``close()``. The
/// ``HTTPExchange`` given to the handler may be answered from any thread.
package final class HTTPServer: LoopResource {
    package typealias Handler = (HTTPExchange) -> Void

    let loop: EventLoop
    /// What a read takes at most, before it goes to the connection.
    var scratch = [UInt8](repeating: 0, count: 64 << 10)
    var date = HTTPDate()
    private let limits: HTTPLimits
    private let handler: Handler
    private var isClosed = false
    private var sockets: [ListeningSocket] = []
    private var files: [UnixSocket] = []
    private var connections: [ObjectIdentifier: HTTPConnection] = [:]
    /// How many connections there have been.
    private var accepted: UInt64 = 0
    private var sweep: TimerToken?

    /// Makes a server that does not listen yet.
    package init(loop: EventLoop, limits: HTTPLimits = HTTPLimits(), handler: @escaping Handler) {
        loop.assertOnLoop()
        self.loop = loop
        self.limits = limits
        self.handler = handler
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
        // The answer of a handler that calls this still goes out.
        loop.schedule(after: .zero) { self.loopIsStopping() }
    }

    func loopIsStopping() {
        guard !isClosed else { return }
        isClosed = true
        sweep?.cancel()
        for socket in sockets { socket.close() }
        sockets = []
        for connection in connections.values { connection.close() }
        for file in files { file.remove() }
        files = []
        loop.forget(self)
    }

    // MARK: Connections

    private func serve(_ descriptor: Int32) throws(TransportError) {
        guard !isClosed else {
            Glibc.close(descriptor)
            throw .loopNotRunning
        }
        sockets.append(
            try ListeningSocket(loop: loop, descriptor: descriptor) { [unowned self] descriptor, _ in
                accepted(descriptor)
            })
    }

    private func accepted(_ descriptor: Int32) {
        accepted += 1
        let connection = HTTPConnection(server: self, number: accepted, limits: limits, descriptor: descriptor)
        connections[ObjectIdentifier(connection)] = connection
        updateAccepting()
        if sweep == nil { scheduleSweep() }
    }

    /// The connection is closed.
    func forget(_ connection: HTTPConnection) {
        connections[ObjectIdentifier(connection)] = nil
        updateAccepting()
    }

    private func updateAccepting() {
        let isEnabled = connections.count < limits.maximumConnections
        for socket in sockets where socket.isEnabled != isEnabled { socket.isEnabled = isEnabled }
    }

    /// One timer looks at the clock for all connections, as long as there are any: setting one for each request would cost
    /// more than it is worth.
    private func scheduleSweep() {
        let interval = min(.milliseconds(250), limits.requestDeadline / 4)
        sweep = loop.schedule(after: interval) { [unowned self] in
            let now = MonotonicClock.now
            for connection in connections.values { connection.check(now: now) }
            sweep = nil
            if !connections.isEmpty { scheduleSweep() }
        }
    }

    // MARK: Requests

    func received(_ request: HTTPRequest, from client: UInt64, _ transaction: HTTPTransaction) {
        guard limits.allowedMethods.contains(request.method) else {
            let allowed = HTTPField("Allow", limits.allowedMethods.sorted().joined(separator: ", "))
            transaction.reply(HTTPReplyHead(refusing: 405, headers: [allowed]), text: "method not allowed")
            return
        }
        handler(HTTPExchange(request: request, client: client, transaction: loop.bind(transaction)))
    }
}
