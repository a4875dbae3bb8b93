/// What a view has taken in: how many rows, and a digest that does not depend on their order. Two nodes whose logs and views agree have equal
/// ones (docs/reference/VIEWS.md).
package struct ViewDigest: Hashable, Sendable, CustomStringConvertible {
    /// The view's name.
    package let view: String
    /// How many rows.
    package let rows: UInt64
    /// The sum of their digests.
    package let digest: Digest

    package var description: String { "\(view) \(rows) \(digest)" }
}

/// SHA-256 of each row, summed word by word modulo 2^64. A row that goes is taken off again, so a sum is kept up at the cost of
/// what changes.
struct DigestSum {
    /// A part of a row.
    enum Field {
        case text(String)
        /// 16 bytes of the origin and 8 of the seq, or none.
        case dot(Dot?)
    }

    private let sha = SHA256()
    /// The row that is hashed; its memory is used again.
    private var row: [UInt8] = []
    private var words = SIMD4<UInt64>()
    private var rows = UInt64(0)
    /// Whether it is another one than what is stored.
    private var isChanged = false

    mutating func add(_ fields: [Field]) { add(summand(fields)) }
    mutating func remove(_ fields: [Field]) { remove(summand(fields)) }

    mutating func add(_ summand: SIMD4<UInt64>) {
        words &+= summand
        rows &+= 1
        isChanged = true
    }

    mutating func remove(_ summand: SIMD4<UInt64>) {
        words &-= summand
        rows &-= 1
        isChanged = true
    }

    /// What a row adds that says no more than which event it is: it is most of all rows, and takes no memory.
    static func summand(_ dot: Dot, _ sha: SHA256) -> SIMD4<UInt64> {
        withUnsafeTemporaryAllocation(byteCount: 26, alignment: 8) { row in
            (row[0], row[1]) = (0x0a, 24)
            let words = (dot.origin.bits.high, dot.origin.bits.low, dot.seq)
            row.storeBytes(of: words.0.bigEndian, toByteOffset: 2, as: UInt64.self)
            row.storeBytes(of: words.1.bigEndian, toByteOffset: 10, as: UInt64.self)
            row.storeBytes(of: words.2.bigEndian, toByteOffset: 18, as: UInt64.self)
            let digest = sha.digest(UnsafeRawBufferPointer(row)).words
            return SIMD4(digest.0, digest.1, digest.2, digest.3)
        }
    }

    /// Each field is length-prefixed, so that no two rows have one encoding.
    private mutating func summand(_ fields: [Field]) -> SIMD4<UInt64> {
        row.removeAll(keepingCapacity: true)
        for field in fields {
            row.appendVarint(1 << 3 | 2)
            switch field {
            case .text(let text):
                row.appendVarint(UInt64(text.utf8.count))
                row.append(contentsOf: text.utf8)
            case .dot(let dot?):
                row.appendVarint(24)
                dot.origin.bits.append(to: &row)
                row.appendBigEndian(dot.seq)
            case .dot(nil): row.appendVarint(0)
            }
        }
        let words = row.withUnsafeBytes { sha.digest($0) }.words
        return SIMD4(words.0, words.1, words.2, words.3)
    }
}

extension DigestSum {
    /// A row for each view, and one for the quarantine.
    static let table =
        "CREATE TABLE digest(view TEXT PRIMARY KEY, rows INTEGER NOT NULL, sum BLOB NOT NULL) WITHOUT ROWID;"

    /// What is stored for a view; nothing if it was just made.
    init(of view: String, _ connection: Connection) throws(DatabaseError) {
        self.init()
        let stored = try connection.first("SELECT rows, sum FROM digest WHERE view = ?", [.text(view)]) { row in
            (rows: row.uint64(0), sum: row.bytes(1))
        }
        guard let stored, let sum = Digest(bytes: stored.sum) else { return }
        rows = stored.rows
        words = SIMD4(sum.words.0, sum.words.1, sum.words.2, sum.words.3)
    }

    /// Stores it if it has changed.
    mutating func save(as view: String, _ connection: Connection) throws(DatabaseError) {
        guard isChanged else { return }
        try connection.run(
            "INSERT OR REPLACE INTO digest VALUES(?, ?, ?)", .text(view), .unsigned(rows), .blob(digest.bytes))
        isChanged = false
    }

    func told(of view: String) -> ViewDigest { ViewDigest(view: view, rows: rows, digest: digest) }

    private var digest: Digest { Digest(words: (words[0], words[1], words[2], words[3])) }
}
