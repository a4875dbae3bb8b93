import EventStore
package import SyncEngine

/// Cuts a stream of bytes into frames, however the bytes arrive. A frame's header is checked as soon as it is there,
/// before any of its body is waited for; so what is held is at most one frame and what was fed after it. Take all
/// frames before feeding more.
package struct FrameDecoder: Sendable {
    private let limits: WireLimits
    private var buffer: [UInt8] = []
    private var start = 0
    private var sawFirst = false
    private var failure: WireError?

    /// Cuts what a peer sends that was told of `limits`. Its first frame is a Hello: none that is longer than a Hello
    /// passes.
    package init(limits: WireLimits = WireLimits()) {
        self.limits = limits
    }

    /// Bytes fed that have not come out as frames.
    package var buffered: Int { buffer.count - start }

    /// Takes the next bytes of the stream.
    package mutating func feed(_ bytes: some Sequence<UInt8>) {
        guard failure == nil else { return }
        if start == buffer.count {
            buffer.removeAll(keepingCapacity: buffer.capacity <= Self.keptCapacity)
            start = 0
        } else if start > buffer.count / 2 {
            buffer.removeFirst(start)
            start = 0
        }
        buffer.append(contentsOf: bytes)
    }

    /// The next whole frame; `nil` until more is fed. After an error the stream is lost: the same error comes again.
    package mutating func next() throws(WireError) -> Frame? {
        if let failure { throw failure }
        do {
            return try cut()
        } catch {
            failure = error
            buffer = []
            start = 0
            throw error
        }
    }

    private mutating func cut() throws(WireError) -> Frame? {
        guard buffered >= Frame.headerSize else { return nil }
        let length = Int(bigEndian(4, at: start))
        let type = buffer[start + 4]
        let flags = buffer[start + 5]
        let limit = limits.body(of: sawFirst ? type : MessageType.hello.rawValue)
        try Frame.check(
            type: type, flags: flags, reserved: UInt16(bigEndian(2, at: start + 6)), body: length, limit: limit)
        guard buffered >= Frame.headerSize + length else { return nil }
        let body = start + Frame.headerSize
        start = body + length
        sawFirst = true
        return Frame(type: type, flags: flags, body: Array(buffer[body..<start]))
    }

    private func bigEndian(_ count: Int, at index: Int) -> UInt32 {
        buffer[index..<index + count].reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// A buffer that a large frame has made longer is given back.
    private static let keptCapacity = 256 << 10
}

extension Frame {
    /// The bytes to transfer: header and body.
    package var bytes: [UInt8] {
        var out: [UInt8] = []
        out.reserveCapacity(Self.headerSize + body.count)
        out.appendBigEndian(UInt32(body.count))
        out.append(type)
        out.append(flags)
        out.appendBigEndian(UInt16(0))
        out.append(contentsOf: body)
        return out
    }
}
