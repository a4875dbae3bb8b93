/// Whether bytes are well-formed UTF-8 (Unicode 15, table 3-7), byte by byte and without a branch: a state is a shift, and the row
/// of a byte has under each state the one that follows (Per Vognsen, shift-based DFA, 2021).
struct UTF8Steps {
    private enum State {
        static let between: UInt64 = 0
        /// Bytes of 80 to BF that are left.
        static let one: UInt64 = 6
        static let two: UInt64 = 12
        static let three: UInt64 = 18
        /// After leads that restrict the byte that follows.
        static let afterE0: UInt64 = 24
        static let afterED: UInt64 = 30
        static let afterF0: UInt64 = 36
        static let afterF4: UInt64 = 42
        static let broken: UInt64 = 48
        static let all = Array(stride(from: between, through: broken, by: 6))
    }

    /// A row for each byte. Unsafe for the compiler only: it is made once and never changed.
    private nonisolated(unsafe) static let table: UnsafePointer<UInt64> = {
        let rows = UnsafeMutablePointer<UInt64>.allocate(capacity: 256)
        for byte in 0..<256 {
            rows[byte] = State.all.reduce(0) { $0 | next($1, UInt8(byte)) << $1 }
        }
        return UnsafePointer(rows)
    }()

    private static func next(_ state: UInt64, _ byte: UInt8) -> UInt64 {
        switch (state, byte) {
        case (State.between, 0...0x7f): State.between
        case (State.between, 0xc2...0xdf): State.one
        case (State.between, 0xe0): State.afterE0
        case (State.between, 0xed): State.afterED
        case (State.between, 0xe1...0xef): State.two
        case (State.between, 0xf0): State.afterF0
        case (State.between, 0xf1...0xf3): State.three
        case (State.between, 0xf4): State.afterF4
        case (State.one, 0x80...0xbf): State.between
        case (State.two, 0x80...0xbf), (State.afterE0, 0xa0...0xbf), (State.afterED, 0x80...0x9f): State.one
        case (State.three, 0x80...0xbf), (State.afterF0, 0x90...0xbf), (State.afterF4, 0x80...0x8f): State.two
        default: State.broken
        }
    }

    private let rows = Self.table
    private var state = State.between

    /// Whether a character has just ended.
    var isBetween: Bool { state & 63 == State.between }
    /// Whether there was a character that is not well-formed.
    var isBroken: Bool { state & 63 == State.broken }

    /// Takes the lowest `count` bytes of `word`.
    @inline(__always)
    mutating func step(_ word: UInt64, count: Int) {
        if count == 8 {
            if word & 0x8080_8080_8080_8080 == 0, isBetween { return }
            for index in 0..<8 { state = rows[Int(word >> UInt64(index * 8) & 255)] &>> state }
        } else {
            for index in 0..<count { state = rows[Int(word >> UInt64(index * 8) & 255)] &>> state }
        }
    }
}
