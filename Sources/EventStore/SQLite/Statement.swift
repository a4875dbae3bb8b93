internal import CSQLite

/// A value bound to a parameter.
enum Binding {
    case null
    case integer(Int64)
    case text(String)
    case blob([UInt8])

    /// A number as columns hold it, of the same bits.
    static func unsigned(_ value: UInt64) -> Binding { .integer(Int64(bitPattern: value)) }
}

/// A prepared statement. Not Sendable; it belongs to its connection.
final class Statement {
    private let handle: OpaquePointer
    private let parameters: Int
    /// Where the UUIDs stand that are bound, 16 bytes for each parameter: SQLite reads them there.
    private let uuids: UnsafeMutablePointer<(UInt64, UInt64)>
    private unowned let connection: Connection
    private let sql: String

    init(_ sql: String, on connection: Connection, _ database: OpaquePointer) throws(DatabaseError) {
        var handle: OpaquePointer?
        let code = sqlite3_prepare_v3(database, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &handle, nil)
        guard code == SQLITE_OK, let handle else { throw connection.error(sql) }
        self.handle = handle
        self.connection = connection
        self.sql = sql
        parameters = Int(sqlite3_bind_parameter_count(handle))
        uuids = .allocate(capacity: parameters + 1)
    }

    deinit {
        sqlite3_finalize(handle)
        uuids.deallocate()
    }

    /// Makes the statement ready to run again; bindings stay.
    func reset() { sqlite3_reset(handle) }

    /// Moves to the next row; false at the end. After an error the statement is reset.
    func step() throws(DatabaseError) -> Bool {
        let code = sqlite3_step(handle)
        if code == SQLITE_ROW { return true }
        if code == SQLITE_DONE { return false }
        let error = connection.error(sql)
        sqlite3_reset(handle)
        throw error
    }

    /// Runs a statement that gives no rows, and resets it.
    func run() throws(DatabaseError) {
        while try step() {}
        reset()
    }

    func bind(_ index: Int, _ binding: Binding) throws(DatabaseError) {
        switch binding {
        case .null: try bindNull(index)
        case .integer(let value): try bind(index, value)
        case .text(let text): try bind(index, text: Array(text.utf8))
        case .blob(let bytes): try bind(index, blob: bytes)
        }
    }

    /// Makes all parameters NULL; the statement has to be ready to run.
    func unbind() { sqlite3_clear_bindings(handle) }

    func bindNull(_ index: Int) throws(DatabaseError) { try check(sqlite3_bind_null(handle, Int32(index))) }

    func bind(_ index: Int, _ value: Int64) throws(DatabaseError) {
        try check(sqlite3_bind_int64(handle, Int32(index), value))
    }

    func bind(_ index: Int, _ value: UInt64) throws(DatabaseError) { try bind(index, Int64(bitPattern: value)) }

    func bind(_ index: Int, blob bytes: [UInt8]) throws(DatabaseError) {
        let code = bytes.withUnsafeBytes { raw in
            // A NULL pointer would bind NULL, not an empty blob.
            raw.count == 0
                ? sqlite3_bind_zeroblob(handle, Int32(index), 0)
                : sqlite3_bind_blob(
                    handle, Int32(index), raw.baseAddress, Int32(raw.count), sillok_sqlite_transient())
        }
        try check(code)
    }

    func bind(_ index: Int, text bytes: [UInt8]) throws(DatabaseError) {
        let code = bytes.withUnsafeBytes { raw in
            raw.count == 0
                ? sqlite3_bind_text(handle, Int32(index), "", 0, sillok_sqlite_transient())
                : sqlite3_bind_text(
                    handle, Int32(index), raw.bindMemory(to: CChar.self).baseAddress, Int32(raw.count),
                    sillok_sqlite_transient())
        }
        try check(code)
    }

    func bind(_ index: Int, _ bits: UUIDBits) throws(DatabaseError) {
        guard index <= parameters else { throw connection.error(sql) }
        (uuids + index).initialize(to: (bits.high.bigEndian, bits.low.bigEndian))
        try check(sqlite3_bind_blob(handle, Int32(index), uuids + index, 16, nil))
    }

    /// Runs a statement that gives no rows and takes several, with a text for each of them that has one, as parameter `index` of
    /// the first row and so on every `index` parameters, and resets it. Nothing is copied: payloads go from the caller's arrays
    /// into SQLite's pages.
    func run(rows: Int, binding index: Int, texts: (_ row: Int) -> [UInt8]?) throws(DatabaseError) {
        let code = step(0, rows, index, texts)
        let failure = code == SQLITE_DONE ? nil : connection.error(sql)
        reset()
        // The pointers were good for this call only.
        for row in 1...rows { sqlite3_bind_null(handle, Int32(row * index)) }
        if let failure { throw failure }
    }

    private func step(_ row: Int, _ rows: Int, _ index: Int, _ texts: (_ row: Int) -> [UInt8]?) -> Int32 {
        guard row < rows else { return sqlite3_step(handle) }
        guard let text = texts(row) else { return step(row + 1, rows, index, texts) }
        return text.withUnsafeBytes { raw in
            let start = raw.count == 0 ? nil : raw.bindMemory(to: CChar.self).baseAddress
            let bound = sqlite3_bind_text(handle, Int32((row + 1) * index), start, Int32(raw.count), nil)
            return bound == SQLITE_OK ? step(row + 1, rows, index, texts) : bound
        }
    }

    private func check(_ code: Int32) throws(DatabaseError) {
        if code != SQLITE_OK { throw connection.error(sql) }
    }

    /// The value of a column as it is.
    func cell(_ column: Int) -> Cell {
        switch sqlite3_column_type(handle, Int32(column)) {
        case SQLITE_INTEGER: .integer(int64(column))
        case SQLITE_FLOAT: .real(sqlite3_column_double(handle, Int32(column)))
        case SQLITE_TEXT: .text(bytes(column))
        case SQLITE_BLOB: .blob(bytes(column))
        default: .null
        }
    }

    func isInteger(_ column: Int) -> Bool { sqlite3_column_type(handle, Int32(column)) == SQLITE_INTEGER }
    func isText(_ column: Int) -> Bool { sqlite3_column_type(handle, Int32(column)) == SQLITE_TEXT }
    func isBlob(_ column: Int) -> Bool { sqlite3_column_type(handle, Int32(column)) == SQLITE_BLOB }
    func isNull(_ column: Int) -> Bool { sqlite3_column_type(handle, Int32(column)) == SQLITE_NULL }
    /// Bytes of a TEXT or BLOB column; 0 for NULL.
    func count(_ column: Int) -> Int { Int(sqlite3_column_bytes(handle, Int32(column))) }
    func int64(_ column: Int) -> Int64 { sqlite3_column_int64(handle, Int32(column)) }
    func double(_ column: Int) -> Double { sqlite3_column_double(handle, Int32(column)) }
    func uint64(_ column: Int) -> UInt64 { UInt64(bitPattern: int64(column)) }

    /// An integer; `nil` for NULL.
    func int64IfAny(_ column: Int) -> Int64? {
        let value = sqlite3_column_value(handle, Int32(column))
        return sqlite3_value_type(value) == SQLITE_NULL ? nil : sqlite3_value_int64(value)
    }

    /// The bytes of a TEXT or BLOB column; empty for NULL.
    func bytes(_ column: Int) -> [UInt8] {
        withBytes(column) { Array($0) }
    }

    /// The bytes of a TEXT or BLOB column while `body` runs.
    func withBytes<Result>(_ column: Int, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        // To find the column costs more than what is then asked of it.
        let value = sqlite3_column_value(handle, Int32(column))
        let start = sqlite3_value_blob(value)
        return body(UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : Int(sqlite3_value_bytes(value))))
    }

    /// A column of the row at hand, until the next step. To find one costs more than what is then asked of it.
    @inline(__always)
    func value(_ column: Int) -> Value { Value(handle: sqlite3_column_value(handle, Int32(column))) }

    struct Value {
        fileprivate let handle: OpaquePointer?

        var isNull: Bool { sqlite3_value_type(handle) == SQLITE_NULL }
        var int64: Int64 { sqlite3_value_int64(handle) }
        var uint64: UInt64 { UInt64(bitPattern: int64) }
        /// Bytes of a TEXT or BLOB; 0 for NULL.
        var count: Int { Int(sqlite3_value_bytes(handle)) }

        /// Appends the `count` bytes of a BLOB or TEXT. False: it is NULL, has no bytes or another number of them.
        @inline(__always)
        func append(count: Int, to out: inout [UInt8]) -> Bool {
            guard let pointer = sqlite3_value_blob(handle), count == self.count else { return false }
            out.append(contentsOf: UnsafeRawBufferPointer(start: pointer, count: count))
            return true
        }
    }

    func text(_ column: Int) -> String {
        withBytes(column) { String(decoding: $0, as: UTF8.self) }
    }

    /// A UUID in a 16-byte BLOB; `nil` for NULL and other lengths.
    func uuid(_ column: Int) -> UUIDBits? {
        withBytes(column) { raw in
            guard raw.count == 16 else { return nil }
            return UUIDBits(
                high: UInt64(bigEndian: raw.loadUnaligned(as: UInt64.self)),
                low: UInt64(bigEndian: raw.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
        }
    }

    /// A digest in a 32-byte BLOB; `nil` for NULL and other lengths.
    func digest(_ column: Int) -> Digest? {
        withBytes(column) { raw in raw.count == 32 ? Digest(reading: raw) : nil }
    }
}

extension Connection {
    /// Runs a statement that returns no rows.
    func run(_ sql: String, _ bindings: Binding...) throws(DatabaseError) { try run(sql, bindings) }

    func run(_ sql: String, _ bindings: [Binding]) throws(DatabaseError) { try statement(sql, bindings).run() }

    /// A kept statement with values for its first parameters.
    func statement(_ sql: String, _ bindings: [Binding]) throws(DatabaseError) -> Statement {
        let statement = try statement(sql)
        for (index, binding) in bindings.enumerated() { try statement.bind(index + 1, binding) }
        return statement
    }

    /// Calls `body` for each row.
    func rows(
        _ sql: String, _ bindings: [Binding] = [], _ body: (Statement) throws(DatabaseError) -> Void
    ) throws(DatabaseError) {
        let statement = try statement(sql, bindings)
        defer { statement.reset() }
        while try statement.step() { try body(statement) }
    }

    /// What `read` makes of each row, without what it passes over.
    func all<Value>(
        _ sql: String, _ bindings: [Binding] = [], _ read: (Statement) throws(DatabaseError) -> Value?
    ) throws(DatabaseError) -> [Value] {
        var values: [Value] = []
        try rows(sql, bindings) { row throws(DatabaseError) in
            if let value = try read(row) { values.append(value) }
        }
        return values
    }

    /// What `read` makes of the first row; `nil` if there is none.
    func first<Value>(
        _ sql: String, _ bindings: [Binding] = [], _ read: (Statement) throws(DatabaseError) -> Value?
    ) throws(DatabaseError) -> Value? {
        let statement = try statement(sql, bindings)
        defer { statement.reset() }
        return try statement.step() ? try read(statement) : nil
    }
}
