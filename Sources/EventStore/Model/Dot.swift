/// Names one event everywhere: the `seq`-th event of `origin`, counted from 1 without gaps.
public struct Dot: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// Whose sequence.
    public let origin: OriginID
    /// The place in it, from 1.
    public let seq: UInt64

    /// The `seq`-th event of `origin`.
    public init(origin: OriginID, seq: UInt64) {
        self.origin = origin
        self.seq = seq
    }

    /// By origin, then by seq.
    public static func < (a: Dot, b: Dot) -> Bool {
        a.origin != b.origin ? a.origin < b.origin : a.seq < b.seq
    }

    /// `<origin>/<seq>`.
    public var description: String { "\(origin)/\(seq)" }
}
