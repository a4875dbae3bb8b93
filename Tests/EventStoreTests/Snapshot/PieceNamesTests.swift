import Testing

@testable import EventStore

/// Names get numbers piece by piece, and their bytes stand in each piece once.
struct PieceNamesTests {
    private static func text(_ ref: Int64) -> [UInt8] {
        let counts = [0, 1, 7, 18, 19, 20, 21, 127, 128, 256]
        return (0..<counts[Int(ref) % counts.count]).map { UInt8(truncatingIfNeeded: Int(ref) * 31 + $0) }
    }

    private static func encoded(_ ref: Int64) -> [UInt8] {
        let text = text(ref)
        let count = text.count < 128 ? [UInt8(text.count)] : [UInt8(text.count & 127) | 128, UInt8(text.count >> 7)]
        return count + text
    }

    private func number(
        _ ref: Int64, _ names: inout PieceNames, _ out: inout [UInt8], last: Int64 = .max
    ) throws -> UInt64 {
        try names.number(ref, to: &out) { first, count, each in
            for ref in first..<first + Int64(count) where ref <= last {
                Self.text(ref).withUnsafeBytes { each(ref, $0) }
            }
        }
    }

    @Test("Each name of a piece has one number, and its length and bytes come once, also beyond the table's bound")
    func numbers() throws {
        var names = PieceNames()
        let refs: [Int64] = [1, 2, 3, 255, 256, 257, 258, 259, 5_000, 70_006, 1 << 20, 1 << 40, 2, 1 << 40, 5_000]
        for _ in 0..<3 {
            names.begin()
            var out: [UInt8] = []
            var known: [Int64: UInt64] = [:]
            var expected: [UInt8] = []
            for ref in refs {
                names.expect(ref)
                let number = try number(ref, &names, &out)
                #expect(number == known[ref] ?? UInt64(known.count))
                if known.updateValue(number, forKey: ref) == nil { expected += Self.encoded(ref) }
                #expect(names.number(ref, to: &out) ?? number == number)
            }
            #expect(out == expected)
        }
    }

    @Test("A name that is not there is damage", arguments: [Int64(0), -1, 11, 300, 1 << 30])
    func missing(ref: Int64) throws {
        var names = PieceNames()
        names.begin()
        var out: [UInt8] = []
        _ = try number(10, &names, &out, last: 10)
        #expect(throws: DatabaseError.self) {
            _ = try number(ref, &names, &out, last: ref < 1 ? -2 : 10)
        }
    }
}
