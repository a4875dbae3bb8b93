/// A value as a row has it, of whatever type. Ordered as SQLite orders: NULL, numbers, texts, blobs; each by its bytes.
enum Cell: Hashable, Comparable {
    case null
    case integer(Int64)
    case real(Double)
    case text([UInt8])
    case blob([UInt8])

    private var rank: Int {
        switch self {
        case .null: 0
        case .integer, .real: 1
        case .text: 2
        case .blob: 3
        }
    }

    static func < (a: Cell, b: Cell) -> Bool {
        switch (a, b) {
        case (.integer(let a), .integer(let b)): a < b
        case (.real(let a), .real(let b)): a < b
        case (.integer(let a), .real(let b)): Double(a) < b
        case (.real(let a), .integer(let b)): a < Double(b)
        case (.text(let a), .text(let b)), (.blob(let a), .blob(let b)): a.lexicographicallyPrecedes(b)
        default: a.rank < b.rank
        }
    }
}

extension Cell: CustomStringConvertible {
    /// For people; long texts are cut.
    var description: String {
        switch self {
        case .null: return "nothing"
        case .integer(let value): return String(value)
        case .real(let value): return String(value)
        case .blob(let bytes): return "x'\(hexText(bytes.prefix(40)))'"
        case .text(let bytes):
            let shown = String(decoding: bytes.prefix(200), as: UTF8.self)
            return bytes.count > 200 ? "'\(shown)...'" : "'\(shown)'"
        }
    }
}
