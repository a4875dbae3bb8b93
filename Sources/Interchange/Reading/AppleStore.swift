internal import CommandLineKit
internal import EventStore

/// A store of Core Data or SwiftData: an SQLite file whose tables and columns begin with Z. It is a single file, or the one such file of
/// a folder or an archive.
///
/// One of an archive, and one with a write-ahead log, is copied first, with that log: the newest rows stand there, and nothing of what
/// was given is written.
final class AppleStore {
    typealias Value = ForeignDatabase.Value

    private let database: ForeignDatabase
    private let files: ExportFiles
    private let name: String
    private let path: String
    private let copy: StoreCopy?
    private var known: [String: [String]] = [:]

    /// - Parameter isChecked: Whether SQLite looks at all of it first, as the first reading of an import has it do.
    init(_ files: ExportFiles, isChecked: Bool = false) throws(ImportError) {
        guard let name = try Self.name(in: files) else {
            throw ImportError(.malformed, files.path, "no SQLite file is in it")
        }
        (self.files, self.name) = (files, name)
        path = files.isFile ? files.path : files.path + "/" + name
        let beside = ExportFiles.lastPart(name)
        if let journal = try files.bytes(beside: name, beside + "-journal", followsLink: true),
            try !journal.next(1).isEmpty
        {
            throw ImportError(
                .unreadable, path, "a rollback journal stands beside it: open and close it with its app first")
        }
        let log = try files.bytes(beside: name, beside + "-wal", followsLink: true)?.length ?? 0
        // Of the log's index nothing is needed.
        for ending in ["", "-wal", "-shm"] { files.take(name + ending) }
        let length = try StoreLength(files.bytes(name), path)
        let cut = length?.cut(path, hasLog: log > 0)
        // A checkpoint that broke off leaves a store whose last pages stand in its log alone.
        if let cut, let length, length.missing > log { throw cut }
        let isCopied = log > 0 || files.isArchive
        if isCopied, files.copy == nil {
            var parts = [(ending: "", bytes: try files.bytes(name))]
            if cut != nil, let length { parts[0].bytes = StoreMender(parts[0].bytes, length) }
            if log > 0, let log = try files.bytes(beside: name, beside + "-wal", followsLink: true) {
                parts.append(("-wal", log))
            }
            files.copy = try StoreCopy(parts)
        }
        copy = isCopied ? files.copy : nil
        do throws(DatabaseError) {
            database = try ForeignDatabase(path: copy?.path ?? path, isOwnCopy: isCopied)
        } catch {
            throw ImportError(.unreadable, path, error.description)
        }
        guard isChecked || cut != nil else { return }
        do throws(ImportError) { try check(isLenient: cut == nil) } catch { throw cut ?? error }
    }

    /// Refuses a store in which SQLite finds damage. Indexes are not held against their tables: nothing of them is read.
    ///
    /// - Parameter isLenient: A store that SQLite cannot look at, as one that has an order which only its app knows, is taken as it is.
    func check(isLenient: Bool = true) throws(ImportError) {
        var found: String?
        do throws(ImportError) {
            try rows("PRAGMA quick_check(1)", 1) { row throws(ImportError) in found = Self.text(row[0]) }
        } catch {
            guard isLenient else { throw error }
            return try rows("SELECT count(*) FROM sqlite_master", 1) { _ throws(ImportError) in }
        }
        guard found != "ok" else { return }
        let words = found?.split(separator: "\n").last ?? ""
        throw ImportError(.malformed, path, "it is damaged, as SQLite finds: \(words)")
    }

    /// The one SQLite file; `nil` where a folder or an archive has none.
    static func name(in files: ExportFiles) throws(ImportError) -> String? {
        if files.isFile { return files.names.first }
        var found: String?
        for name in files.names.lazy.filter({ ExportFiles.ends($0, ".store", ".sqlite", ".sqlite3", ".db") })
            .prefix(ExportFiles.mostLookedInto)
        where StoreLength.isStore(try files.head(name, StoreLength.mark.count)) {
            if let found { throw ImportError(severalIn: files, found, name) }
            found = name
        }
        return found
    }

    /// The columns of a table; none if there is no such table.
    func columns(_ table: String) -> [String] {
        if let columns = known[table] { return columns }
        var columns: [String] = []
        _ = try? database.rows("PRAGMA table_info(\(Self.quoted(table)))", columns: 2) { row in
            if case .text(let name) = row[1] { columns.append(String(decoding: name, as: UTF8.self)) }
            return columns.count < 2_000
        }
        known[table] = columns
        return columns
    }

    /// The tables whose name has this in it.
    func tables(like part: String) throws(ImportError) -> [String] {
        var names: [String] = []
        try rows("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name", 1) { row throws(ImportError) in
            if case .text(let name) = row[0] { names.append(String(decoding: name, as: UTF8.self)) }
        }
        return names.filter { $0.contains(part) }
    }

    /// Calls `body` with each row.
    func rows(_ sql: String, _ columns: Int, _ body: ([Value]) throws(ImportError) -> Void) throws(ImportError) {
        var failure: ImportError?
        do throws(DatabaseError) {
            try database.rows(sql, columns: columns) { row in
                do throws(ImportError) { try body(row) } catch { failure = error }
                return failure == nil
            }
        } catch {
            throw ImportError(.malformed, path, error.description)
        }
        if let failure { throw failure }
    }

    static func quoted(_ name: String) -> String { "\"" + name.replacing(scalar: "\"", with: "\"\"") + "\"" }

    /// Seconds since 2001 as Unix milliseconds.
    static func time(_ value: Value) -> Int64? {
        switch value {
        case .real(let seconds): Moments.milliseconds(seconds: seconds + Moments.apple)
        case .integer(let seconds): Moments.milliseconds(seconds: Double(seconds) + Moments.apple)
        default: nil
        }
    }

    /// A text, or the 16 bytes of a UUID.
    static func identifier(_ value: Value) -> String? {
        switch value {
        case .text(let bytes): String(validating: bytes, as: UTF8.self)
        case .blob(let bytes): UUIDBits(bytes: bytes).map { EventID($0).description.uppercased() }
        case .integer(let number): String(number)
        default: nil
        }
    }

    static func text(_ value: Value) -> String? {
        switch value {
        case .text(let bytes), .blob(let bytes): String(validating: bytes, as: UTF8.self)
        default: nil
        }
    }

    /// A value of a row, read where it lies.
    func value(_ column: String, of table: String, row: Int64, at place: String) throws(ImportError) -> ByteReader {
        do throws(DatabaseError) {
            return ValueReader(try database.open(column, of: table, row: row), name: path + ": " + place)
        } catch {
            throw ImportError(.malformed, path, at: place, error.description)
        }
    }

    /// The name of the file of the store's own that has a value: then the value is 2 and the name, a UUID. `nil` for any other value.
    static func external(_ value: [UInt8]) -> String? {
        guard value.first == 2, let name = String(validating: value.dropFirst().prefix { $0 != 0 }, as: UTF8.self),
            UUIDBits(text: name) != nil
        else { return nil }
        return name
    }

    /// The bytes of such a file, in the folder ``support`` beside the store; `nil` if it is not there.
    func external(named external: String) throws(ImportError) -> ByteReader? {
        try files.bytes(beside: name, "\(support)/_EXTERNAL_DATA/\(external)", followsLink: false)
    }

    /// The name of the folder beside the store that has them.
    var support: String {
        var base = ExportFiles.lastPart(name)[...]
        if let dot = base.lastIndex(of: ".") { base = base[..<dot] }
        return ".\(base)_SUPPORT"
    }
}
