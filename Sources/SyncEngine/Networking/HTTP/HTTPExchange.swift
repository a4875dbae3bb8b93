internal import EventStore

/// A name and a value: of a header, or of a query item.
package struct HTTPField: Sendable, Equatable {
    package var name: String
    package var value: String

    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

/// Who is at the other end of a Unix socket, as the kernel says (`SO_PEERCRED`, unix(7)).
package struct PeerCredentials: Sendable, Equatable {
    package var pid: Int32
    package var uid: UInt32
    package var gid: UInt32
    /// Its other groups (`SO_PEERGROUPS`).
    package var groups: [UInt32] = []
    /// `uid:1000`: users keep their numbers, and may change their names.
    package var principal: String { "uid:\(uid)" }
}

/// The request line, headers and body of one HTTP request.
package struct HTTPRequest: Sendable, Equatable {
    /// In capitals, one of the methods the server allows, or `HEAD`.
    package var method: String
    /// Percent-decoded once; not normalised, so compare it whole. Begins with `/`.
    package var path: String
    /// What stands between the slashes of the path, each decoded by itself: a slash that was encoded parts nothing.
    package var segments: [String]
    /// Percent-decoded, `+` read as a space, in the order of the request.
    package var query: [HTTPField]
    package var headers: [HTTPField]
    package var body: [UInt8]
    /// nil over TCP.
    package var peer: PeerCredentials?
    /// Where it comes from; nil over a Unix socket.
    package var address: String?
    /// Whether the body is not in ``body``, but is taken as it comes (``HTTPExchange/receive(onPiece:onEnd:)``).
    package var isStreamed = false

    /// The first header of this name, whatever its case.
    package func header(_ name: String) -> String? {
        let wanted = name.lowercased()
        return headers.first { $0.name.lowercased() == wanted }?.value
    }

    /// The first query item of this name.
    package func queryItem(_ name: String) -> String? { query.first { $0.name == name }?.value }

    /// All query items of this name, in their order.
    package func queryItems(_ name: String) -> [String] { query.filter { $0.name == name }.map(\.value) }
}

/// What a request was answered with, for those who count.
package struct HTTPAnswered {
    package let status: Int
    /// Empty for a stream.
    package let body: [UInt8]
    /// From the whole request to the answer.
    package let nanoseconds: UInt64
}

/// One HTTP request waiting for its reply.
///
/// ## Concurrency model
/// `Sendable`: the request never changes, and every answer hops onto the loop thread (at once when already there).
/// The first of ``reply(status:contentType:headers:body:)`` and ``startStream(status:contentType:headers:onGone:)``
/// wins, later ones do nothing, and nothing happens when the client has left. An exchange that is dropped unanswered
/// is answered with 500, so that no client waits for ever.
package final class HTTPExchange: Sendable {
    package let request: HTTPRequest
    /// Which of the server's connections it came over: no other one has or had this number.
    package let client: UInt64
    private let transaction: LoopBound<HTTPTransaction>
    /// Where the request is counted as long as a thread works on it, whether its client is there or not.
    private let usage: HTTPUsage
    /// Takes what the client is not told.
    package let report: @Sendable (String) -> Void

    init(
        request: HTTPRequest, client: UInt64, transaction: LoopBound<HTTPTransaction>, usage: HTTPUsage,
        report: @escaping @Sendable (String) -> Void
    ) {
        self.report = report
        self.request = request
        self.client = client
        self.transaction = transaction
        self.usage = usage
        usage.change { [count = request.body.count] in
            $0.pendingBytes += count
            $0.pendingRequests += 1
        }
    }

    deinit {
        usage.change { [count = request.body.count] in
            $0.pendingBytes -= count
            $0.pendingRequests -= 1
        }
        transaction.perform { $0.abandon() }
    }

    /// Sends the whole answer. For `HEAD` the body is left out and only its length is told.
    package func reply(status: Int, contentType: String?, headers: [HTTPField] = [], body: [UInt8] = []) {
        // `self` is held until then: its `deinit` would otherwise answer first.
        transaction.perform { [self] in
            $0.reply(.init(status: status, contentType: contentType, headers: headers), body: body)
            withExtendedLifetime(self) {}
        }
    }

    /// Begins an answer without known length (chunked in HTTP/1.1), for feeds and exports.
    /// - Parameter onGone: runs on the loop thread when the client leaves before ``HTTPStream/end()``.
    package func startStream(
        status: Int, contentType: String?, headers: [HTTPField] = [], onGone: (@Sendable () -> Void)? = nil
    ) -> HTTPStream {
        let backlog = StreamBacklog(limit: transaction.stored.maximumBacklog)
        let stream = HTTPStream(transaction: transaction, backlog: backlog, report: report)
        transaction.perform { [self] in
            $0.startStream(.init(status: status, contentType: contentType, headers: headers), backlog, onGone: onGone)
            withExtendedLifetime(self) {}
        }
        return stream
    }

    /// Begins an answer of known length whose body follows in pieces. It must be written whole before ``HTTPStream/end()``. For `HEAD` only
    /// the head is sent.
    package func startStream(
        status: Int, contentType: String?, headers: [HTTPField] = [], length: Int,
        onGone: (@Sendable () -> Void)? = nil
    ) -> HTTPStream {
        let backlog = StreamBacklog(limit: transaction.stored.maximumBacklog)
        let stream = HTTPStream(transaction: transaction, backlog: backlog, report: report)
        transaction.perform { [self] in
            let head = HTTPReplyHead(status: status, contentType: contentType, headers: headers)
            $0.startStream(head, backlog, length: length, onGone: onGone)
            withExtendedLifetime(self) {}
        }
        return stream
    }

    /// Takes a body as it comes. Nothing more is read from the client while ``HTTPLimits/streamedAhead`` bytes of it were not told to be
    /// done with (``received(_:)``). An answer before the end is the connection's last.
    ///
    /// - Parameters:
    ///   - onPiece: Runs on the loop thread with the next bytes.
    ///   - onEnd: Runs on the loop thread once, with whether the body is whole; else its client has left, or was cut off.
    package func receive(
        onPiece: @escaping @Sendable ([UInt8]) -> Void, onEnd: @escaping @Sendable (_ isWhole: Bool) -> Void
    ) {
        transaction.perform { [self] in
            $0.receive(onPiece: onPiece, onEnd: onEnd)
            withExtendedLifetime(self) {}
        }
    }

    /// So many bytes of a body need no memory any more.
    package func received(_ bytes: Int) {
        transaction.perform { [self] in
            $0.received(bytes)
            withExtendedLifetime(self) {}
        }
    }

    /// Says whose request it is, for places that are shared (``HTTPLimits/maximumWaiting``).
    package func isOf(_ caller: HTTPCaller) { transaction.perform { $0.isOf(caller) } }

    /// For long polls: notices a client that leaves before the reply, and lifts the idle time limit until then.
    /// A client that shuts down its sending side counts as gone. So does one that is answered with 503 because it has no place to wait in,
    /// at once or when another one needs it.
    package func watchClient(onGone: @escaping @Sendable () -> Void) {
        transaction.perform { [self] in
            $0.watch(onGone: onGone)
            withExtendedLifetime(self) {}
        }
    }

    /// For answers that take a while: tells when the client sends nothing more. Over TCP that may mean that it has left, or only that it
    /// has said all; the answer is sent in any case. Costs nothing while the client stays.
    /// - Parameter onEnd: runs on the loop thread before the reply, with whether the client has left for certain.
    package func watchEnd(_ onEnd: @escaping @Sendable (_ isGone: Bool) -> Void) {
        transaction.perform { [self] in
            $0.watch(onEnd: onEnd)
            withExtendedLifetime(self) {}
        }
    }
}

/// The body of a streamed answer.
///
/// ## Concurrency model
/// `Sendable`: any thread may write; bytes go out in the order of the calls of one thread. A stream dropped without
/// ``end()`` breaks the connection off, so that the client sees that something is missing.
package final class HTTPStream: Sendable {
    private let transaction: LoopBound<HTTPTransaction>
    private let waiting: StreamBacklog
    /// Takes what the client is not told.
    package let report: @Sendable (String) -> Void

    init(
        transaction: LoopBound<HTTPTransaction>, backlog: StreamBacklog, report: @escaping @Sendable (String) -> Void
    ) {
        self.transaction = transaction
        self.report = report
        waiting = backlog
    }

    deinit { transaction.perform { $0.abandonStream() } }

    /// Appends bytes to the body.
    /// - Parameter drained: runs on the loop thread when the kernel has taken everything written so far; does not run
    ///   when the client leaves. A large export writes its next piece there.
    /// - Returns: false when the client is gone, or goes now because more than
    ///   ``HTTPLimits/maximumBacklog`` bytes wait for it.
    @discardableResult
    package func write(_ bytes: [UInt8], drained: (@Sendable () -> Void)? = nil) -> Bool {
        let accepted = waiting.reserve(bytes.count)
        transaction.perform { [self] in
            $0.write(bytes, wasAccepted: accepted, drained: drained)
            withExtendedLifetime(self) {}
        }
        return accepted
    }

    /// Ends the body properly.
    package func end() {
        transaction.perform { [self] in
            $0.endStream()
            withExtendedLifetime(self) {}
        }
    }

    /// Bytes written that the kernel has not taken yet, as far as the loop knows. For coalescing small writes.
    package var backlog: Int { waiting.bytes }
}

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
    /// Told when the client sends nothing more; with true when it has left.
    private var onEnd: ((Bool) -> Void)?
    private var onDrained: [() -> Void] = []
    /// Whether the stream is sent in chunks: its length is not known.
    private var isChunked = false
    /// Told of the answer.
    private var onAnswer: ((Int, [UInt8]) -> Void)?

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
        onAnswer?(head.status, body)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(256 + body.count)
        // 204 and 304 have no body, and so no length of one (RFC 9110 §8.6).
        let hasBody = head.status != 204 && head.status != 304
        let isLast = terms.isLast || connection.hasUnreadBody
        head.write(to: &bytes, hasBody ? .length(body.count) : .untold, date: connection.date, isLast: isLast)
        if !terms.isHead, hasBody { bytes += body }
        connection.send(bytes)
        finish()
    }

    /// From now on `observer` is told what `request` is answered with.
    func observe(_ request: HTTPRequest, _ observer: @escaping HTTPServer.Observer) {
        let start = MonotonicClock.now
        onAnswer = { status, body in
            observer(
                request, HTTPAnswered(status: status, body: body, nanoseconds: MonotonicClock.now - start))
        }
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
        guard let connection, connection.waits(self) else { return onGone() }
        self.onGone = onGone
        connection.needsClient()
    }

    func isOf(_ caller: HTTPCaller) { connection?.caller = caller }

    /// Its place to wait in goes to another one. A stream breaks off: what its client has had stands.
    func giveWay() {
        guard case .waiting = state else {
            connection?.close()
            return
        }
        let gone = onGone
        let field = HTTPField("Retry-After", "1")
        refuse(503, "another one, who has fewer requests that wait, needs the place", headers: [field])
        gone?()
    }

    func watch(onEnd: @escaping (Bool) -> Void) {
        guard case .waiting = state, let connection else {
            if connection == nil { onEnd(true) }
            return
        }
        self.onEnd = onEnd
        if connection.hasEnded { onEnd(false) }
    }

    /// The client sends nothing more, and may take the answer still.
    func clientEnded() { onEnd?(false) }

    func receive(onPiece: @escaping ([UInt8]) -> Void, onEnd: @escaping (Bool) -> Void) {
        guard let connection else { return onEnd(false) }
        connection.takeBody(onPiece: onPiece, onEnd: onEnd)
    }

    func received(_ bytes: Int) { connection?.bodyTaken(bytes) }

    func startStream(
        _ head: HTTPReplyHead, _ backlog: StreamBacklog, length: Int? = nil, onGone: (() -> Void)?
    ) {
        guard case .waiting = state, let connection else {
            if connection == nil { onGone?() }
            return backlog.close()
        }
        guard connection.waits(self) else {
            onGone?()
            return backlog.close()
        }
        onAnswer?(head.status, [])
        var bytes: [UInt8] = []
        isChunked = length == nil && terms.knowsChunks
        let body: HTTPReplyHead.Body = length.map { .length($0) } ?? (isChunked ? .chunked : .untold)
        head.write(
            to: &bytes, body, date: connection.date, isLast: terms.isLast || connection.hasUnreadBody)
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
            connection.send(isChunked ? chunk(bytes) : bytes)
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
        if isChunked { connection.send(Array("0\r\n\r\n".utf8)) }
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
        let (gone, end) = (onGone, onEnd)
        release()
        gone?()
        end?(true)
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
        (onGone, onEnd) = (nil, nil)
        onDrained = []
        onAnswer = nil
    }
}
