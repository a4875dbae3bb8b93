/// How many bytes of Events may be on their way to a peer at a time, so that what is urgent never waits long behind them: the
/// kernel's buffers and the line cannot be overtaken. A frame's time is measured from sending it to the credit for it; while
/// frames pass quickly the limit grows by what has passed (slow start, RFC 5681), when one takes long it is halved, as in
/// LEDBAT (RFC 6817).
package struct CongestionWindow: Sendable {
    /// The limit at first, and the least. Two frames of half of this take 1.3 s at 50 kbit/s.
    package static let first = 16 << 10
    package static let least = 8 << 10
    /// Milliseconds beyond a round trip below which the limit grows, and above which it is halved.
    static let quick: UInt64 = 250
    static let slow: UInt64 = 1_400

    private struct Sent: Sendable {
        /// All bytes sent up to the end of the frame.
        let end: UInt64
        let bytes: Int
        let at: UInt64
        /// Whether the limit left no room when it was sent.
        let fills: Bool
    }

    private let most: Int
    /// Most bytes on the way.
    package private(set) var limit: Int
    private var frames: [Sent] = []
    private var head = 0
    private var sent: UInt64 = 0
    private var credited: UInt64 = 0
    private var lastCredit: UInt64 = 0
    /// Frames sent before this do not halve the limit once more.
    private var halvedAt: UInt64 = 0

    /// Nothing is on its way to a peer that takes `window` bytes.
    package init(window: UInt64, first: Int = first) {
        most = max(Self.least, Int(clamping: window))
        limit = min(first, most)
    }

    /// Bytes on the way.
    package var bytes: Int { Int(clamping: sent - credited) }

    /// Whether another frame may go.
    package var hasRoom: Bool { bytes < limit }

    /// How large a frame should be.
    package var frame: Int { min(256 << 10, max(limit / 2, Self.least / 2)) }

    /// When the frame that is longest on its way is overdue, milliseconds: it has a minute, and a millisecond for each byte.
    package var deadline: UInt64? {
        guard head < frames.count else { return nil }
        return max(frames[head].at, lastCredit) + 60_000 + UInt64(frames[head].bytes)
    }

    mutating func send(_ bytes: Int, at now: UInt64) {
        sent += UInt64(bytes)
        frames.append(Sent(end: sent, bytes: bytes, at: now, fills: !hasRoom))
    }

    /// The peer has stored so many bytes more.
    mutating func credit(_ bytes: UInt64, roundTrip: UInt64, at now: UInt64) {
        // More than was sent is not taken for anything.
        credited += min(bytes, sent - credited)
        lastCredit = now
        while head < frames.count, frames[head].end <= credited {
            passed(frames[head], roundTrip, now)
            head += 1
        }
        if head > 64 || head == frames.count {
            frames.removeFirst(head)
            head = 0
        }
    }

    private mutating func passed(_ frame: Sent, _ roundTrip: UInt64, _ now: UInt64) {
        let time = now - frame.at
        let beyond = time - min(time, roundTrip)
        if beyond > Self.slow, frame.at >= halvedAt {
            limit = max(Self.least, limit / 2)
            halvedAt = now
        } else if beyond < Self.quick, frame.fills {
            limit = min(most, limit + frame.bytes)
        }
    }
}
