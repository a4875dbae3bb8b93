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
    }

    /// What few rows have.
    struct Extra: Sendable {
        var dependencies: [Dot] = []
        /// Where the unknown fields stand in the columns.
        var unknown = 0..<0
    }

    let rows: SnapshotRows
    /// For each name where its length and its bytes stand.
    private(set) var names: [(start: Int, text: Int, end: Int)] = []
    package private(set) var list: [Row] = []
    private(set) var extras: [Extra] = []
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
        try readNames()
        var reader = RowReader(rows: rows, names: names)
        list.reserveCapacity(rows.count)
        for index in 0..<rows.count {
            var row = try reader.next(&extras)
            try check(&row, index, &reader, sha)
            list.append(row)
        }
        guard reader.isAtEnd else { throw .malformed("bytes follow the last row") }
    }

    private mutating func readNames() throws(SnapshotError) {
        var cursor = ByteCursor(rows.names)
        while !cursor.isAtEnd {
            let start = cursor.index
            let count = try cursor.count()
            let text = cursor.index
            guard count <= Limits.identifier else { throw .malformed("a name of \(count) bytes") }
            try cursor.skip(count)
            names.append((start, text, cursor.index))
            let bytes = rows.names[text..<cursor.index]
            guard bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7f }) else {
                throw .malformed("a name with a control character")
            }
            guard bytes.allSatisfy({ $0 < 0x80 }) || isUTF8(bytes) else { throw .malformed("a name is not UTF-8") }
        }
    }

    private mutating func check(
        _ row: inout Row, _ index: Int, _ reader: inout RowReader, _ sha: SHA256
    ) throws(SnapshotError) {
        let dot = Dot(origin: rows.runs[Int(row.run)].origin, seq: row.seq)
        guard row.hlc <= UInt64(Int64.max) else { throw .malformed("event \(dot): its hlc") }
        row.isOpaque = length(row.type) == 0
        if row.isOpaque {
            try checkOpaque(row, dot, &reader)
        } else {
            try checkHeader(row, dot, &reader)
        }
        try checkPayload(&row, dot)
        row.leaf = reader.leaf(of: row, sha)
        if row.seq == 1 { try readStart(row, index, reader) }
    }

    private func checkHeader(_ row: Row, _ dot: Dot, _ reader: inout RowReader) throws(SnapshotError) {
        typealias Flag = SnapshotRows.Flag
        let isNamed =
            length(row.type) <= Limits.type && length(row.user) > 0
            && (!row.has(Flag.conversation) || length(row.conversation) > 0)
            && (!row.has(Flag.author) || (length(row.author) > 0 && !isSame(row.author, row.user)))
        guard isNamed else { throw .malformed("event \(dot): its type, user, author or conversation") }
        if row.has(Flag.time) {
            let isInRange = row.time >= -62_135_596_800_000 && row.time <= 253_402_300_799_999
            guard isInRange, row.time != HybridTime(rawValue: row.hlc).milliseconds else {
                throw .malformed("event \(dot): its time")
            }
        }
        if row.has(Flag.version), row.version <= 1 { throw .malformed("event \(dot): its version") }
        if row.has(Flag.dependencies) { try checkDependencies(row, dot) }
        reader.encodeHeader(of: row, extras)
        guard reader.headerCount <= Limits.header else {
            throw .event(.header(.limits(.headerTooLarge(bytes: reader.headerCount))))
        }
        if row.has(Flag.unknown) {
            do { _ = try EventHeader(canonicalBytes: reader.header) } catch { throw .event(.header(error)) }
        }
    }

    /// The header of an event that nobody on the way could read is among the unknown fields, and the columns say what can be
    /// read of it. If this release could read it, the sender's columns would not do.
    private func checkOpaque(_ row: Row, _ dot: Dot, _ reader: inout RowReader) throws(SnapshotError) {
        typealias Flag = SnapshotRows.Flag
        let others = Flag.conversation | Flag.time | Flag.author | Flag.cause | Flag.version
        guard length(row.user) == 0, !row.has(others), row.has(Flag.unknown) else {
            throw .malformed("event \(dot): columns of a header that cannot be read")
        }
        reader.takeHeader(rows.columns[extras[Int(row.extra)].unknown])
        let header: EventHeader
        do { header = try EventHeader(received: reader.header) } catch { throw .event(.header(error)) }
        guard header.isOpaque, header.dot == dot, header.hlc.rawValue == row.hlc, header.id.bits == row.id,
            header.dependencies == extras[Int(row.extra)].dependencies
        else { throw .malformed("event \(dot): its header says something else, or can be read here") }
    }

    /// A payload that is none is kept as the bytes it is, as if it had come with the others.
    private func checkPayload(_ row: inout Row, _ dot: Dot) throws(SnapshotError) {
        guard !row.has(SnapshotRows.Flag.erased) else { return }
        guard row.payloadCount > 0, row.payloadCount <= Limits.carriedPayload else {
            throw .malformed("event \(dot): a payload of \(row.payloadCount) bytes")
        }
        row.isUnreadable = row.payloadCount > Limits.payload
        if row.isUnreadable { return }
        do throws(JSONError) {
            try JSONScanner.checkObject(rows.payloads, Int(row.payload)..<Int(row.payload + row.payloadCount))
        } catch {
            row.isUnreadable = true
        }
    }

    private func length(_ name: Int32) -> Int { names[Int(name)].end - names[Int(name)].text }

    private func checkDependencies(_ row: Row, _ dot: Dot) throws(SnapshotError) {
        let dependencies = extras[Int(row.extra)].dependencies
        guard !dependencies.isEmpty,
            zip(dependencies, dependencies.dropFirst()).allSatisfy({ $0.origin < $1.origin }),
            dependencies.allSatisfy({ $0.origin != dot.origin && $0.seq > 0 })
        else { throw .malformed("event \(dot): its dependencies") }
    }

    private mutating func readStart(_ row: Row, _ index: Int, _ reader: RowReader) throws(SnapshotError) {
        let origin = rows.runs[Int(row.run)].origin
        guard !row.has(SnapshotRows.Flag.erased), let header = try? EventHeader(canonicalBytes: reader.header) else {
            throw .event(.originStart(origin))
        }
        guard !row.isOpaque, !row.isUnreadable else { throw .event(.originStart(origin)) }
        let payload = Array(rows.payloads[Int(row.payload)..<Int(row.payload + row.payloadCount)])
        let body = EventBody.present(salt: UUIDBits(high: 0, low: 0), payload: payload)
        guard let start = OriginStart(Event(header: header, body: body)) else { throw .event(.originStart(origin)) }
        starts.append((index, start))
    }

    private func isSame(_ a: Int32, _ b: Int32) -> Bool {
        let (a, b) = (names[Int(a)], names[Int(b)])
        return a.end - a.text == b.end - b.text && rows.names[a.text..<a.end] == rows.names[b.text..<b.end]
    }

    /// The text of a name.
    func text(_ index: Int) -> ArraySlice<UInt8> { rows.names[names[index].text..<names[index].end] }
}

/// Whether the bytes are well-formed UTF-8.
private func isUTF8(_ bytes: ArraySlice<UInt8>) -> Bool {
    String(validating: bytes, as: UTF8.self) != nil
}

extension JSONScanner {
    /// As ``checkObject(_:)``, for a part of the bytes.
    static func checkObject(_ bytes: [UInt8], _ range: Range<Int>) throws(JSONError) {
        var scanner = JSONScanner(bytes, range)
        try scanner.start()
        _ = try scanner.distinctObject()
        try scanner.finish()
    }
}
