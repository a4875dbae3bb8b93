internal import CLibevent
internal import COpenSSL
internal import Glibc

// Reading: whole frames out of libevent's input buffer.
extension TLSLink {
    /// Delivers no further frames, and lets the kernel's buffers hold the peer back.
    package func pauseReading() {
        loop.assertOnLoop()
        guard let bufferevent, !isPaused else { return }
        isPaused = true
        // Never libevent's high watermark: it makes the loop spin while a full buffer waits.
        bufferevent_disable(bufferevent, Int16(EV_READ))
    }

    /// Undoes ``pauseReading()``; frames that already came are delivered in a later turn of the loop.
    package func resumeReading() {
        loop.assertOnLoop()
        guard let bufferevent, isPaused else { return }
        isPaused = false
        bufferevent_enable(bufferevent, Int16(EV_READ))
        if evbuffer_get_length(bufferevent_get_input(bufferevent)) > 0 {
            bufferevent_trigger(bufferevent, Int16(EV_READ), Int32(BEV_OPT_DEFER_CALLBACKS.rawValue))
        }
    }

    func readable() {
        guard let bufferevent else { return }
        let input = bufferevent_get_input(bufferevent)
        guard state == .open else {
            // We are leaving: what still comes is thrown away, so that closing does not reset the connection.
            evbuffer_drain(input, evbuffer_get_length(input))
            return
        }
        do throws(LinkEnd) {
            // A callback may pause, close or abort; closing empties `self.bufferevent`.
            while state == .open, !isPaused, let (header, body) = try nextFrame(input) {
                onFrame?(header.type, header.flags, body)
            }
            if state == .open, !isPaused, evbuffer_get_length(input) > 0 { onPartialFrame?() }
        } catch {
            violated(error)
        }
    }

    private func violated(_ error: LinkEnd) {
        guard let tell = onViolation else { return end(error) }
        onViolation = nil
        tell(error)
        if state == .open { end(error) }
    }

    /// Whether nothing of the peer waits behind the frame that was delivered last.
    package var hasReadAll: Bool {
        bufferevent.map { evbuffer_get_length(bufferevent_get_input($0)) == 0 } ?? true
    }

    /// Takes one frame off `input`; nil when it is not whole yet.
    private func nextFrame(_ input: OpaquePointer?) throws(LinkEnd) -> (LinkFrameHeader, [UInt8])? {
        let available = evbuffer_get_length(input)
        guard available >= LinkFrameHeader.length else { return nil }
        var bytes = [UInt8](repeating: 0, count: LinkFrameHeader.length)
        evbuffer_copyout(input, &bytes, bytes.count)
        let header = try LinkFrameHeader(bytes, maximumBody: maximumBody)
        guard available >= LinkFrameHeader.length + header.bodyLength else { return nil }
        evbuffer_drain(input, LinkFrameHeader.length)
        return (header, takeBytes(from: input, count: header.bodyLength))
    }
}

/// Moves `count` bytes, which must be there, out of an evbuffer.
func takeBytes(from buffer: OpaquePointer?, count: Int) -> [UInt8] {
    guard count > 0 else { return [] }
    return [UInt8](unsafeUninitializedCapacity: count) { target, taken in
        taken = max(0, Int(evbuffer_remove(buffer, target.baseAddress, count)))
    }
}

// Writing: two queues of ours in front of libevent's output buffer.
extension TLSLink {
    /// Bytes, headers included, that the kernel has not accepted yet.
    package var queuedBytes: Int { outbox.bytes + outputLength }

    /// Bytes a second that the line has lately passed; `nil` if that is not known.
    package var deliveryRate: UInt64? { bufferevent.flatMap { SyncEngine.deliveryRate(of: bufferevent_getfd($0)) } }

    private var outputLength: Int {
        guard let bufferevent else { return 0 }
        return evbuffer_get_length(bufferevent_get_output(bufferevent))
    }

    /// Queues one frame. Frames sent before the link is open wait for that.
    /// - Returns: false when the link is closing or has ended, or ends now because too much is waiting
    ///   (``Limits/maximumQueuedBytes``, then ``LinkEnd/slowPeer``).
    @discardableResult
    package func send(type: UInt8, flags: UInt8 = 0, body: [UInt8], priority: Priority) -> Bool {
        loop.assertOnLoop()
        guard state == .open || state == .handshaking else { return false }
        let header = LinkFrameHeader(type: type, flags: flags, bodyLength: body.count)
        outbox.append(.init(header: header, body: body), priority: priority)
        guard queuedBytes <= limits.maximumQueuedBytes else {
            endSoon(.slowPeer)
            return false
        }
        refill()
        if queuedBytes > limits.writeAhead { wantsWritable = true }
        return true
    }

    /// Sends all that is queued, says goodbye (`close_notify`) and waits for the peer to leave, so that nothing sent
    /// is lost; after `limit` at the latest the connection is dropped. ``onClose`` then says
    /// ``LinkEnd/closedByUs``, or ``LinkEnd/slowPeer`` if not everything could be sent.
    package func close(afterFlush limit: Duration = .seconds(2)) {
        loop.assertOnLoop()
        switch state {
        case .handshaking: endSoon(.closedByUs)
        case .open:
            state = .flushing
            deadline = loop.schedule(after: limit) { [unowned self] in
                end(state == .flushing ? .slowPeer : .closedByUs)
            }
            // A paused link must read again, to notice that the peer has left.
            if let bufferevent { bufferevent_enable(bufferevent, Int16(EV_READ)) }
            lowWatermark(0)
            refill()
            if queuedBytes == 0 { loop.schedule(after: .zero) { [weak self] in self?.sayGoodbye() } }
        case .flushing, .lingering, .ended: break
        }
    }

    func writable() {
        refill()
        if state == .flushing && queuedBytes == 0 { sayGoodbye() }
        guard state == .open, wantsWritable, queuedBytes <= limits.writeAhead else { return }
        wantsWritable = false
        onWritable?()
    }

    /// A long frame goes to libevent bit by bit, so that its copy there takes the same little memory again and again: with what
    /// libevent keeps beside it 64 KiB.
    private static let longestPart = (64 << 10) - 128

    /// Hands frames on while libevent's output is short, so that later control frames can still go first.
    func refill() {
        guard let bufferevent, state == .open || state == .flushing else { return }
        let output = bufferevent_get_output(bufferevent)
        while evbuffer_get_length(output) <= limits.writeAhead, let part = outbox.next(most: Self.longestPart) {
            handedOver += UInt64(part.size)
            if evbuffer_get_length(output) == 0, isWritten(part) { continue }
            // In one piece, which becomes one record and one segment if it is short.
            evbuffer_expand(output, part.size)
            if let header = part.header { evbuffer_add(output, header.bytes, LinkFrameHeader.length) }
            part.body.withUnsafeBytes { _ = evbuffer_add(output, $0.baseAddress, $0.count) }
        }
        if outputLength > 0 && watchdog == nil { watchProgress(accepted: accepted, stalled: 0) }
    }

    /// Longest frame that is one TLS record.
    private static let record = 16 << 10

    /// Writes a short frame at once, with nothing before it. libevent would first ask the kernel whether it may, for which the
    /// loop has to turn; it tries again what could not be written, with the same bytes, as OpenSSL wants it.
    private func isWritten(_ part: LinkOutbox.Part) -> Bool {
        guard part.size <= Self.record, let header = part.header,
            let session = bufferevent.flatMap({ bufferevent_openssl_get_ssl($0) })
        else { return false }
        let bytes = header.bytes + part.body
        defer { ERR_clear_error() }
        return SSL_write(session, bytes, Int32(bytes.count)) == bytes.count
    }

    private var accepted: UInt64 { handedOver - UInt64(outputLength) }

    /// Looks four times within the allowed time; a peer that accepted nothing through all four is too slow.
    private func watchProgress(accepted before: UInt64, stalled: Int) {
        watchdog = loop.schedule(after: limits.writeProgressTimeout / 4) { [unowned self] in
            watchdog = nil
            guard outputLength > 0 else { return }
            let stalled = accepted == before ? stalled + 1 : 0
            if stalled == 4 { end(.slowPeer) } else { watchProgress(accepted: accepted, stalled: stalled) }
        }
    }

    private func lowWatermark(_ bytes: Int) {
        guard let bufferevent else { return }
        bufferevent_setwatermark(bufferevent, Int16(EV_WRITE), bytes, 0)
    }

    /// Sends `close_notify` and our FIN, and waits for the peer's. Closing at once instead could reset the connection
    /// and take with it bytes the peer has not read yet.
    private func sayGoodbye() {
        guard state == .flushing, let bufferevent else { return }
        let done = bufferevent_openssl_get_ssl(bufferevent).map { SSL_shutdown($0) } ?? 0
        ERR_clear_error()
        guard done >= 0 else {
            // The kernel's buffer is full; the deadline bounds the attempts.
            loop.schedule(after: .milliseconds(10)) { [weak self] in self?.sayGoodbye() }
            return
        }
        state = .lingering
        shutdown(bufferevent_getfd(bufferevent), Int32(SHUT_WR))
    }
}

/// Frames waiting to be written: all control frames go before all data frames, each kind in order. A pure value.
struct LinkOutbox {
    struct Entry {
        var header: LinkFrameHeader
        var body: [UInt8]
        var size: Int { LinkFrameHeader.length + body.count }
    }

    /// A frame, or a part of one: all of a frame's parts come one after the other.
    struct Part {
        /// In a frame's first part.
        var header: LinkFrameHeader?
        var body: ArraySlice<UInt8>
        var size: Int { (header == nil ? 0 : LinkFrameHeader.length) + body.count }
    }

    private var control = FrameQueue()
    private var data = FrameQueue()
    /// What is left of the body of the frame that was begun.
    private var rest: ArraySlice<UInt8> = []
    /// Headers and bodies of all waiting frames.
    private(set) var bytes = 0

    var isEmpty: Bool { control.isEmpty && data.isEmpty && rest.isEmpty }

    mutating func append(_ entry: Entry, priority: TLSLink.Priority) {
        switch priority {
        case .control: control.append(entry)
        case .data: data.append(entry)
        }
        bytes += entry.size
    }

    /// What to write next, with at most `most` bytes of a body.
    mutating func next(most: Int) -> Part? {
        var part = Part(header: nil, body: rest)
        if rest.isEmpty {
            guard let entry = control.next() ?? data.next() else { return nil }
            part = Part(header: entry.header, body: entry.body[...])
        }
        rest = part.body.dropFirst(most)
        part.body = part.body.prefix(most)
        bytes -= part.size
        return part
    }

    mutating func removeAll() { self = LinkOutbox() }
}

/// First in, first out; taking is O(1), and memory of taken frames is given back at once.
private struct FrameQueue {
    private var entries: [LinkOutbox.Entry?] = []
    private var head = 0

    var isEmpty: Bool { head == entries.count }

    mutating func append(_ entry: LinkOutbox.Entry) { entries.append(entry) }

    mutating func next() -> LinkOutbox.Entry? {
        guard !isEmpty else { return nil }
        defer { compact() }
        let entry = entries[head]
        entries[head] = nil
        head += 1
        return entry
    }

    private mutating func compact() {
        guard head == entries.count || head >= 1024 else { return }
        entries.removeFirst(head)
        head = 0
    }
}
