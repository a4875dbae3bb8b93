internal import CLibevent
internal import Glibc

/// The loop's side of one ``HTTPExchange``: owns the evhttp request as long as evhttp lets us. Loop thread only.
///
/// Who frees the request: evhttp, once we have replied or when it drops the connection itself; we, when the client
/// left first, which shows as a request without connection in the connection's close callback.
final class HTTPTransaction {
    struct Head {
        var status: Int
        var contentType: String?
        var headers: [HTTPField]
    }

    private enum State { case waiting, streaming, finished }

    let backlog: StreamBacklog
    private let connection: HTTPConnection
    private let isHead: Bool
    private var request: OpaquePointer?
    private var state = State.waiting
    private var onGone: (() -> Void)?
    private var onDrained: [() -> Void] = []

    init(request: OpaquePointer, connection: HTTPConnection, isHead: Bool) {
        self.request = request
        self.connection = connection
        self.isHead = isHead
        backlog = StreamBacklog(limit: connection.limits.maximumBacklog)
        connection.current = self
    }

    func reply(_ head: Head, body: [UInt8]) {
        guard state == .waiting, let request, let buffer = evbuffer_new() else { return }
        defer { evbuffer_free(buffer) }
        addHeaders(head, to: request)
        if isHead {
            // evhttp would send the body of a HEAD reply, and the client take it for the next reply.
            add("Content-Length", String(body.count), to: request)
        } else {
            evbuffer_add(buffer, body, body.count)
        }
        release()
        connection.willFinish(request)
        evhttp_send_reply(request, Int32(clamping: head.status), nil, buffer)
    }

    func watch(onGone: @escaping () -> Void) {
        guard state == .waiting else {
            if request == nil { onGone() }
            return
        }
        self.onGone = onGone
        connection.watchClient()
    }

    func startStream(_ head: Head, onGone: (() -> Void)?) {
        guard state == .waiting, let request else {
            if self.request == nil { onGone?() }
            return
        }
        guard !isHead else {
            let chunked = HTTPField("Transfer-Encoding", "chunked")
            reply(
                Head(status: head.status, contentType: head.contentType, headers: head.headers + [chunked]), body: [])
            return
        }
        state = .streaming
        self.onGone = onGone
        addHeaders(head, to: request)
        evhttp_send_reply_start(request, Int32(clamping: head.status), nil)
        connection.readOn()
    }

    func write(_ bytes: [UInt8], wasAccepted: Bool, drained: (() -> Void)?) {
        guard state == .streaming, let request else { return }
        guard wasAccepted, let buffer = evbuffer_new() else {
            connection.drop()
            return
        }
        defer { evbuffer_free(buffer) }
        if let drained { onDrained.append(drained) }
        evbuffer_add(buffer, bytes, bytes.count)
        evhttp_send_reply_chunk_with_cb(
            request, buffer,
            { _, context in
                guard let context else { return }
                Unmanaged<HTTPTransaction>.fromOpaque(context).takeUnretainedValue().outputDrained()
            }, Unmanaged.passUnretained(self).toOpaque())
        backlog.arrived(bytes.count, output: connection.outputLength)
    }

    func endStream() {
        guard state == .streaming, let request else { return }
        release()
        connection.willFinish(request)
        evhttp_send_reply_end(request)
    }

    /// The exchange was dropped without an answer.
    func abandon() {
        reply(Head(status: 500, contentType: "text/plain", headers: []), body: Array("no answer was made\n".utf8))
    }

    /// The stream was dropped without an end.
    func abandonStream() {
        if state == .streaming { connection.drop() }
    }

    /// The close callback of the connection. A request that still counts as ours has then been taken off it.
    func connectionClosed() {
        guard let request else { return }
        let gone = onGone
        release()
        if evhttp_request_get_connection(request) == nil { evhttp_request_free(request) }
        gone?()
    }

    private func outputDrained() {
        backlog.arrived(0, output: connection.outputLength)
        let waiting = onDrained
        onDrained = []
        for callback in waiting { callback() }
    }

    private func release() {
        state = .finished
        request = nil
        onGone = nil
        onDrained = []
        backlog.close()
    }

    private func addHeaders(_ head: Head, to request: OpaquePointer) {
        if let type = head.contentType { add("Content-Type", type, to: request) }
        for field in head.headers { add(field.name, field.value, to: request) }
    }

    /// evhttp copies both strings, and refuses line ends inside them.
    private func add(_ name: String, _ value: String, to request: OpaquePointer) {
        evhttp_add_header(evhttp_request_get_output_headers(request), name, value)
    }
}
