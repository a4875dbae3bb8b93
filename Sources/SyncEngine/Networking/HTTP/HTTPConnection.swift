internal import CLibevent
internal import EventStore
internal import Glibc

/// One client connection of an ``HTTPServer``, from accept to close. Loop thread only; the server holds it until it is closed.
///
/// A request in one piece and its answer are one read(2) and one send(2). The descriptor is watched for reading all the time, also during
/// an answer, to see the client leave. It is watched for writing only while the kernel does not take everything.
final class HTTPConnection {
    enum Phase {
        /// Waits for a request.
        case reading
        case answering(HTTPTransaction)
        /// The answer is made; a slow client has not taken all of it.
        case flushing
        /// Our side is shut down; the client's goodbye is awaited, so that closing does not take away what it has not read.
        case leaving
        case closed
    }

    /// How much of what a client sends during an answer is read.
    private static let readAhead = 4096

    let limits: HTTPLimits
    unowned let server: HTTPServer
    private let number: UInt64
    private let descriptor: Int32
    /// What its bytes go through; `nil` where they are not encrypted.
    private var tls: TLSStream?
    /// Nothing was read yet that is encrypted.
    private var isSilent = true
    let peer: PeerCredentials?
    let address: String?
    var parser: HTTPParser
    var phase = Phase.reading
    /// What the kernel has not taken yet.
    private var output: [UInt8] = []
    private var sent = 0
    /// Bytes that wait for a slow client.
    var outputLength: Int { output.count - sent }
    private var readEvent: OpaquePointer?
    private var writeEvent: OpaquePointer?
    var isReading = false
    private var isWriting = false
    /// When the first byte of the request came that is not whole yet; nanoseconds of ``MonotonicClock``.
    var begun: UInt64?
    /// Bytes of it, and of answers that are not taken, that the server counts.
    private var counted = 0
    /// Whose requests these are, once that was found out.
    var caller: HTTPCaller?
    /// Its place among those who wait for what comes.
    var waitingPlace: UInt64?
    /// The place is kept for some requests: others are refused.
    private let isReserved: Bool
    /// The client has shut down its side.
    private(set) var hasEnded = false
    /// The request being answered is the last.
    private var isLast = false
    /// The body that is coming of the request being answered, if it is taken in pieces.
    var upload: HTTPUpload?
    /// Requests are being handed out: those answered meanwhile are followed by the loop that does it.
    private var isServing = false
    /// In nanoseconds, of ``limits``.
    let idleTimeout: UInt64
    let headDeadline: UInt64
    let requestDeadline: UInt64
    /// When a whole request must have come, or the client must have left; nanoseconds of ``MonotonicClock``.
    var deadline: UInt64
    /// For how long it may ask for nothing: a new connection for less than one that has been answered. Nanoseconds.
    var patience: UInt64
    /// When a byte last went in or out, or an answer was finished.
    var lastProgress: UInt64

    /// Owns `descriptor`, which does not block.
    init(
        server: HTTPServer, number: UInt64, limits: HTTPLimits, descriptor: Int32, from address: SocketAddress,
        _ peer: PeerCredentials?, tls: TLSStream?, isReserved: Bool
    ) {
        self.tls = tls
        self.server = server
        self.number = number
        self.limits = limits
        self.descriptor = descriptor
        self.isReserved = isReserved
        self.peer = peer
        self.address = peer == nil ? address.host : nil
        parser = HTTPParser(limits: limits)
        lastProgress = MonotonicClock.now
        idleTimeout = limits.idleTimeout.wholeNanoseconds
        headDeadline = limits.headDeadline.wholeNanoseconds
        requestDeadline = limits.requestDeadline.wholeNanoseconds
        deadline = lastProgress + requestDeadline
        patience = requestDeadline
        makeEvents()
        watchReading(true)
    }

    /// Closes the connection. The request being answered loses its client.
    func close() {
        if case .closed = phase { return }
        let before = phase
        phase = .closed
        for event in [readEvent, writeEvent] { if let event { event_free(event) } }
        (readEvent, writeEvent) = (nil, nil)
        isReading = false
        count(0)
        server.leaveWaiting(self)
        Glibc.close(descriptor)
        server.forget(self)
        endUpload()
        if case .answering(let transaction) = before { transaction.connectionClosed() }
    }

    // MARK: Reading

    /// Reads what has come. The kernel speaks of it once (edge-triggered, epoll(7)).
    ///
    /// - Parameter isEnding: Whether the client may have shut down its side, or left.
    private func readable(isEnding: Bool) {
        guard isReading else { return }
        if tls != nil, isSilent, case .reading = phase, speaksPlainly() { return refusePlain() }
        guard let count = receive() else { return }
        // A record of TLS has 16 KiB at most, and the kernel does not speak of those that were read with it.
        if isEnding || count == server.scratch.count || tls != nil {
            // In another turn: others want to be read, too.
            later { [weak self] in self?.readable(isEnding: isEnding) }
        }
        if case .leaving = phase { return }
        lastProgress = MonotonicClock.now
        server.scratch.withUnsafeBytes { parser.append(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
        if case .reading = phase { serve() }
        switch phase {
        case .reading: noteUnfinished()
        case .answering where upload != nil: pump()
        case .answering, .flushing: if parser.pending >= Self.readAhead { watchReading(false) }
        // Who has been refused may have sent more: it is read, or we would not hear of the goodbye behind it.
        case .leaving, .closed: break
        }
    }

    /// Whether a client that should speak TLS begins with a letter, as requests do and records of TLS never do. The byte stays where it is.
    private func speaksPlainly() -> Bool {
        var first: UInt8 = 0
        guard recv(descriptor, &first, 1, Int32(MSG_PEEK)) == 1 else { return false }
        isSilent = false
        return (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(first)
            || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(first)
    }

    /// Tells a client that has not begun TLS so, in its own words. Nothing of what it has sent is looked at.
    private func refusePlain() {
        tls = nil
        isLast = true
        begin(HTTPTerms(isLast: true)).refuse(400, "this port speaks TLS: https://")
    }

    /// Reads into the server's memory; `nil` if there is nothing, or no client any more.
    private func receive() -> Int? {
        if let tls {
            switch server.scratch.withUnsafeMutableBytes({ tls.read(into: $0) }) {
            case .bytes(let count): return count
            case .wait: return nil
            case .ended: ended()
            case .failed: close()
            }
            return nil
        }
        while true {
            let count = server.scratch.withUnsafeMutableBytes {
                recv(descriptor, $0.baseAddress, $0.count, 0)
            }
            if count > 0 { return count }
            if count == 0 {
                ended()
                return nil
            }
            if errno == EINTR { continue }
            if errno != EAGAIN { close() }
            return nil
        }
    }

    /// The client sends no more.
    private func ended() {
        hasEnded = true
        watchReading(false)
        switch phase {
        case .reading, .leaving: close()
        case .answering(let transaction):
            if upload != nil || transaction.needsClient || isHungUp { close() } else { transaction.clientEnded() }
        case .flushing, .closed: break
        }
    }

    /// Whether the client takes nothing any longer, either. Of a Unix socket the kernel knows; over TCP it learns of it when it sends.
    private var isHungUp: Bool {
        var entry = pollfd(fd: descriptor, events: 0, revents: 0)
        return poll(&entry, 1, 0) == 1 && entry.revents & Int16(POLLHUP | POLLERR) != 0
    }

    /// Hands out what has come whole, one request after another.
    private func serve() {
        guard !isServing else { return }
        isServing = true
        defer { isServing = false }
        while case .reading = phase {
            do throws(HTTPFault) {
                switch try parser.next() {
                case .incomplete: return hasEnded ? close() : ()
                case .expectsContinue: send(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8))
                case .request(var request, let terms):
                    (request.peer, request.address) = (peer, address)
                    isLast = terms.isLast || isReserved
                    let transaction = begin(HTTPTerms(terms, isLast: isLast))
                    if isReserved && !server.isReserved(request.path) || !server.hasRoom(for: request) {
                        isLast = true
                        busy(transaction)
                    } else {
                        server.received(request, from: number, transaction)
                    }
                case .begun(var request, let terms):
                    (request.peer, request.address, request.isStreamed) = (peer, address, true)
                    isLast = terms.isLast || isReserved
                    upload = HTTPUpload()
                    let transaction = begin(HTTPTerms(terms, isLast: isLast))
                    if isReserved && !server.isReserved(request.path) || !server.hasRoom(for: request) {
                        busy(transaction)
                    } else {
                        server.received(request, from: number, transaction)
                    }
                case .piece, .ended: return
                }
            } catch {
                isLast = true
                begin(HTTPTerms(isLast: true)).refuse(error.status, error.reason)
            }
        }
    }

    /// The request has not come whole: from now on it counts.
    private func noteUnfinished() {
        guard case .reading = phase, !parser.isAtStart else { return }
        begun = begun ?? lastProgress
        count(parser.buffered)
        server.makeRoom()
    }

    private func count(_ bytes: Int) {
        guard bytes != counted else { return }
        server.usage.change { [change = bytes - counted] in $0.pendingBytes += change }
        counted = bytes
    }

    /// Gives up the request that is coming: others need the memory.
    func refuseAsBusy() {
        parser = HTTPParser(limits: limits)
        isLast = true
        busy(begin(HTTPTerms(isLast: true)))
    }

    private func busy(_ transaction: HTTPTransaction) {
        server.usage.change { $0.refused += 1 }
        transaction.refuse(503, "too many requests are under way", headers: [HTTPField("Retry-After", "1")])
    }

    /// The body of an answer that refuses.
    func refusal(_ status: Int, _ reason: String) -> HTTPRefusal { server.refusal(status, reason) }

    private func begin(_ terms: HTTPTerms) -> HTTPTransaction {
        parser.giveBack()
        begun = nil
        count(0)
        let transaction = HTTPTransaction(connection: self, terms: terms, maximumBacklog: limits.maximumBacklog)
        phase = .answering(transaction)
        return transaction
    }

    /// The answer is of use only while the client is there.
    func needsClient() {
        if hasEnded { close() } else { later { [weak self] in self?.readable(isEnding: true) } }
    }

    /// Whether the loop ends, and all requests with it.
    var isEnding: Bool { server.loop.isStopping }

    /// Runs `job` in a later turn of the loop.
    func later(_ job: @escaping () -> Void) { server.loop.schedule(after: .zero, job) }

    // MARK: Writing

    /// When the answers are made, for their heads.
    var date: [UInt8] { server.date.text }

    /// Sends bytes, those first that wait already.
    func send(_ bytes: [UInt8]) {
        if case .closed = phase { return }
        guard outputLength == 0 else {
            output += bytes
            return count(outputLength)
        }
        let count = write(bytes[...])
        guard count < bytes.count else { return }
        if case .closed = phase { return }
        output = count == 0 ? bytes : Array(bytes[count...])
        sent = 0
        lastProgress = MonotonicClock.now
        watchWriting(true)
        self.count(output.count)
    }

    /// The answer is complete.
    func finished() {
        if hasUnreadBody { isLast = true }
        endUpload()
        server.leaveWaiting(self)
        phase = .flushing
        if outputLength == 0 { goOn() }
    }

    private func writable() {
        let count = write(output[sent...])
        if case .closed = phase { return }
        sent += count
        if count > 0 { lastProgress = MonotonicClock.now }
        self.count(outputLength)
        guard sent == output.count else { return }
        (output, sent) = ([], 0)
        watchWriting(false)
        switch phase {
        case .answering(let transaction): transaction.drained()
        case .flushing: goOn()
        case .reading, .leaving, .closed: break
        }
    }

    /// How many bytes the kernel took; a client that is gone is closed.
    private func write(_ bytes: ArraySlice<UInt8>) -> Int {
        if let tls { return write(bytes, tls) }
        while true {
            let count = bytes.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count >= 0 { return count }
            if errno == EINTR { continue }
            if errno != EAGAIN { close() }
            return 0
        }
    }

    /// As ``write(_:)``, a record after the other.
    private func write(_ bytes: ArraySlice<UInt8>, _ tls: TLSStream) -> Int {
        var rest = bytes
        while !rest.isEmpty {
            switch rest.withUnsafeBytes({ tls.write($0) }) {
            case .bytes(let count): rest = rest.dropFirst(count)
            case .wait: return rest.startIndex - bytes.startIndex
            case .ended, .failed:
                close()
                return rest.startIndex - bytes.startIndex
            }
        }
        return bytes.count
    }

    /// After an answer: the next request, or the end.
    private func goOn() {
        lastProgress = MonotonicClock.now
        if isLast { return leave() }
        deadline = lastProgress + idleTimeout + requestDeadline
        patience = idleTimeout
        phase = .reading
        if !hasEnded { watchReading(true) }
        if isServing { return }
        serve()
        noteUnfinished()
    }

    private func leave() {
        if hasEnded { return close() }
        phase = .leaving
        parser = HTTPParser(limits: limits)
        deadline = lastProgress + limits.goodbye.wholeNanoseconds
        tls?.finish()
        shutdown(descriptor, Int32(SHUT_WR))
        watchReading(true)
        server.leaves(self)
    }

    // MARK: Events

    private func makeEvents() {
        // Unretained: the server holds this object until ``close()``, which frees the events.
        let this = Unmanaged.passUnretained(self).toOpaque()
        readEvent = event_new(
            server.loop.base, descriptor, Int16(EV_READ | EV_CLOSED | EV_ET | EV_PERSIST),
            { _, what, context in
                guard let context else { return }
                let connection = Unmanaged<HTTPConnection>.fromOpaque(context).takeUnretainedValue()
                connection.readable(isEnding: what & Int16(EV_CLOSED) != 0)
            }, this)
        writeEvent = event_new(
            server.loop.base, descriptor, Int16(EV_WRITE | EV_ET | EV_PERSIST),
            { _, _, context in
                guard let context else { return }
                Unmanaged<HTTPConnection>.fromOpaque(context).takeUnretainedValue().writable()
            }, this)
    }

    func watchReading(_ wanted: Bool) {
        guard wanted != isReading, let readEvent else { return }
        isReading = wanted
        guard wanted else {
            event_del(readEvent)
            return
        }
        event_add(readEvent, nil)
        // What came meanwhile, and nothing more may come.
        event_active(readEvent, Int32(EV_READ | EV_CLOSED), 0)
    }

    private func watchWriting(_ wanted: Bool) {
        guard wanted != isWriting, let writeEvent else { return }
        isWriting = wanted
        if wanted { event_add(writeEvent, nil) } else { event_del(writeEvent) }
    }
}
