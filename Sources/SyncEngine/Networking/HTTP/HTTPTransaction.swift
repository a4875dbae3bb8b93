/// The loop's side of one ``HTTPExchange``. Loop thread only, but for `maximumBacklog`.
final class HTTPTransaction {
    private enum State {
        case waiting
        case streaming(StreamBacklog)
        case finished
    }

    /// Bytes of a stream that may wait for a slow client.
    let maximumBacklog: Int
    /// `nil` when the answer is complete or the client has left.
    private var connection: HTTPConnection?
    private let terms: HTTPTerms
    private var state = State.waiting
    private var onGone: (() -> Void)?
    private var onDrained: [() -> Void] = []

    init(connection: HTTPConnection, terms: HTTPTerms, maximumBacklog: Int) {
        self.connection = connection
        self.terms = terms
        self.maximumBacklog = maximumBacklog
    }

    /// Whether there is no use in an answer when the client has shut down its side.
    var needsClient: Bool {
        if case .streaming = state { return true }
        return onGone != nil
    }

    func reply(_ head: HTTPReplyHead, body: [UInt8]) {
        guard case .waiting = state, let connection else { return }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(256 + body.count)
        // 204 has no body, and so no length of one (RFC 9110 §8.6).
        let hasBody = head.status != 204
        head.write(to: &bytes, hasBody ? .length(body.count) : .untold, date: connection.date, isLast: terms.isLast)
        if !terms.isHead, hasBody { bytes += body }
        connection.send(bytes)
        finish()
    }

    /// Says why the request is refused.
    func refuse(_ status: Int, _ reason: String, headers: [HTTPField] = []) {
        guard let refusal = connection?.refusal(status, reason) else { return }
        reply(
            HTTPReplyHead(status: status, contentType: refusal.contentType, headers: headers), body: refusal.body)
    }

    func watch(onGone: @escaping () -> Void) {
        guard case .waiting = state, connection != nil else {
            if connection == nil { onGone() }
            return
        }
        self.onGone = onGone
        connection?.needsClient()
    }

    func startStream(_ head: HTTPReplyHead, _ backlog: StreamBacklog, onGone: (() -> Void)?) {
        guard case .waiting = state, let connection else {
            if connection == nil { onGone?() }
            return backlog.close()
        }
        var bytes: [UInt8] = []
        head.write(
            to: &bytes, terms.knowsChunks ? .chunked : .untold, date: connection.date, isLast: terms.isLast)
        state = .streaming(backlog)
        self.onGone = onGone
        connection.send(bytes)
        if terms.isHead { finish() } else { self.connection?.needsClient() }
    }

    func write(_ bytes: [UInt8], wasAccepted: Bool, drained: (() -> Void)?) {
        guard case .streaming(let backlog) = state, let connection else { return }
        guard wasAccepted else { return connection.close() }
        if let drained { onDrained.append(drained) }
        if !bytes.isEmpty {
            connection.send(terms.knowsChunks ? chunk(bytes) : bytes)
            backlog.arrived(bytes.count, output: connection.outputLength)
        }
        if connection.outputLength == 0, !onDrained.isEmpty {
            // In a later turn: they write more.
            connection.later { [weak self] in self?.drained() }
        }
    }

    private func chunk(_ bytes: [UInt8]) -> [UInt8] {
        Array((String(bytes.count, radix: 16) + "\r\n").utf8) + bytes + Array("\r\n".utf8)
    }

    func endStream() {
        guard case .streaming = state, let connection else { return }
        if terms.knowsChunks { connection.send(Array("0\r\n\r\n".utf8)) }
        finish()
    }

    /// The exchange was dropped without an answer.
    func abandon() {
        guard case .waiting = state else { return }
        guard connection?.isEnding == true else { return refuse(500, "no answer was made") }
        refuse(503, "the server is stopping", headers: [HTTPField("Retry-After", "1")])
    }

    /// The stream was dropped without an end.
    func abandonStream() {
        if case .streaming = state { connection?.close() }
    }

    /// The client has left, or was cut off.
    func connectionClosed() {
        let gone = onGone
        release()
        gone?()
    }

    /// The kernel has taken all that was written.
    func drained() {
        guard case .streaming(let backlog) = state, let connection, connection.outputLength == 0 else { return }
        backlog.arrived(0, output: 0)
        let waiting = onDrained
        onDrained = []
        for callback in waiting { callback() }
    }

    private func finish() {
        let connection = connection
        release()
        connection?.finished()
    }

    private func release() {
        if case .streaming(let backlog) = state { backlog.close() }
        state = .finished
        connection = nil
        onGone = nil
        onDrained = []
    }
}
