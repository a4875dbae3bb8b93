/// Rows of a snapshot, read and found to be events in canonical form, each with its leaf. What depends on other rows
/// (order, dependencies, roots) is not checked here, so that all cores can do this at once.
package struct CheckedRows: Sendable {
    package struct Row: Sendable {
        var flags: UInt8 = 0
        /// Index of its origin in the runs.
        var run: Int32 = 0
        var type: Int32 = 0
        var user: Int32 = 0
        var conversation: Int32 = 0
        var author: Int32 = 0
        var version: UInt32 = 1
        /// Index into ``extras``; -1: none.
        var extra: Int32 = -1
        /// Where salt or digest, and payload begin.
        var salt: Int32 = 0
        var payload: Int32 = 0
        var payloadCount: Int32 = 0
        /// Whether only its place could be read (D13): the unknown fields are the whole header.
        var isOpaque = false
        /// Whether the payload is no payload, but bytes to be kept.
        var isUnreadable = false
        var seq: UInt64 = 0
        var hlc: UInt64 = 0
        var time: Int64 = 0
        var id = UUIDBits(high: 0, low: 0)
        var cause = UUIDBits(high: 0, low: 0)
        package internal(set) var leaf: Digest

        func has(_ flag: UInt8) -> Bool { flags & flag != 0 }
        /// Calls `body` with the number of each text it names.
        func eachName(_ body: (Int32) -> Void) {
            body(type)
            body(user)
            if has(SnapshotRows.Flag.conversation) { body(conversation) }
            if has(SnapshotRows.Flag.author) { body(author) }
        }

        var payloadRange: Range<Int> { Int(payload)..<Int(payload) + Int(payloadCount) }
    }

    /// What few rows have.
    struct Extra: Sendable {
        var dependencies: [Dot] = []
        /// Where the fields above 12 stand in the columns.
        var unknown = 0..<0
        /// Those fields but for the actor's, as column `unknown` of the log has them.
        var rest: [UInt8] = []
        /// Index of its actor in ``CheckedRows/actors``; -1: none.
        var actor: Int32 = -1
    }

    /// Where a name's length and its bytes stand.
    struct Name: Sendable {
        let start: Int
        let text: Int
        let end: Int

        var count: Int { end - text }
    }

    let rows: SnapshotRows
    let names: [Name]
    package private(set) var list: [Row] = []
    private(set) var extras: [Extra] = []
    /// The actors that occur, each once.
    private(set) var actors: [EventActor] = []
    /// First events of origins: the row's index and whose origin it is.
    private(set) var starts: [(row: Int, start: OriginStart)] = []

    package init(_ rows: SnapshotRows, using sha: SHA256) throws(SnapshotError) {
        self.rows = rows
        guard rows.count > 0, rows.count <= SnapshotRows.limit, rows.columns.count >= rows.count * 12 else {
            throw .malformed("\(rows.count) rows")
        }
        guard Set(rows.runs.map(\.origin)).count == rows.runs.count, rows.runs.allSatisfy({ $0.first > 0 }) else {
            throw .malformed("runs of origins")
        }
        let names = try rows.withBytes { bytes throws(SnapshotError) in try Self.names(bytes.names) }
        self.names = names
        list.reserveCapacity(rows.count)
        try rows.withBytes { bytes throws(SnapshotError) in
            var reader = RowDecoder(bytes, rows.runs, nameCount: names.count)
            var check = RowValidation(bytes, rows.runs, names)
            var indexes: [EventActor: Int32] = [:]
            var isUsed = [Bool](repeating: false, count: names.count)
            for index in 0..<rows.count {
                var row = try reader.next(&extras)
                try check.check(&row, extras)
                row.leaf = check.leaf(of: row, sha)
                if row.has(SnapshotRows.Flag.unknown) {
                    extras[Int(row.extra)].rest = check.unknown
                    if let actor = check.actor { extras[Int(row.extra)].actor = number(of: actor, &indexes) }
                }
                if row.seq == 1 { starts.append((index, try check.start(row))) }
                row.eachName { isUsed[Int($0)] = true }
                list.append(row)
            }
            guard !isUsed.contains(false) else { throw .malformed("a name that no row has") }
            guard reader.isAtEnd else { throw .malformed("bytes follow the last row") }
        }
    }

    private mutating func number(of actor: EventActor, _ indexes: inout [EventActor: Int32]) -> Int32 {
        if let last = actors.last, last == actor { return Int32(actors.count) - 1 }
        if let known = indexes[actor] { return known }
        indexes[actor] = Int32(actors.count)
        actors.append(actor)
        return Int32(actors.count) - 1
    }

    /// The rows as events.
    package func events() throws(SnapshotError) -> [Event] {
        try rows.withBytes { bytes throws(SnapshotError) in
            var check = RowValidation(bytes, rows.runs, names)
            var events: [Event] = []
            for var row in list {
                try check.check(&row, extras)
                events.append(try check.event(row))
            }
            return events
        }
    }

    private static func names(_ bytes: UnsafeRawBufferPointer) throws(SnapshotError) -> [Name] {
        var names: [Name] = []
        var cursor = ByteCursor(bytes)
        while !cursor.isAtEnd {
            let start = cursor.index
            let count = try cursor.count()
            let text = cursor.index
            guard count <= Limits.identifier else { throw .malformed("a name of \(count) bytes") }
            try cursor.skip(count)
            names.append(Name(start: start, text: text, end: cursor.index))
            let text8 = bytes[text..<cursor.index]
            guard text8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f }) else {
                throw .malformed("a name with a control character")
            }
            guard text8.allSatisfy({ $0 < 0x80 }) || String(validating: text8, as: UTF8.self) != nil else {
                throw .malformed("a name is not UTF-8")
            }
        }
        return names
    }

    /// Calls `body` with the texts of the names.
    func withNames<Success>(
        _ body: ([UnsafeRawBufferPointer]) throws(DatabaseError) -> Success
    ) throws(DatabaseError) -> Success {
        try rows.withBytes { bytes throws(DatabaseError) in
            try body(names.map { UnsafeRawBufferPointer(rebasing: bytes.names[$0.text..<$0.end]) })
        }
    }
}
