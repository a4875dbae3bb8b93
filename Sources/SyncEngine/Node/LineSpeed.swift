/// Whether a line is faster than zstd: pieces of a snapshot then go as they are. There fewer bytes save no time, and to
/// compress would be a fifth of the work of both sides.
///
/// A line that was fast once can be: what comes slower now is held up by a busy processor at one of its ends, which zstd would
/// keep busier still. Only far below that it is the line.
struct LineSpeed {
    /// Bytes a second that a processor compresses, with some threads.
    static let fast: UInt64 = 512 << 20
    /// Less than this, and it is the line.
    static let slow: UInt64 = fast / 4

    private var wasFast = false

    /// - Parameter rate: Bytes a second as last measured; `nil` if not known.
    mutating func isFast(_ rate: UInt64?) -> Bool {
        if let rate { wasFast = rate >= (wasFast ? Self.slow : Self.fast) }
        return wasFast
    }
}
