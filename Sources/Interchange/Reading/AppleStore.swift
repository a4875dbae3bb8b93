internal import CommandLineKit
internal import EventStore
internal import Glibc

/// A store of Core Data or SwiftData: an SQLite file whose tables and columns begin with Z.
///
/// One with a write-ahead log is copied first, with that log: the newest rows stand there, and nothing of what was given is written.
final class AppleStore {
    typealias Value = ForeignDatabase.Value

    private let database: ForeignDatabase
    private let path: String
    private let copy: TemporaryCopy?
    private var known: [String: [String]] = [:]

    init(_ files: ExportFiles) throws(ImportError) {
        guard files.isFile else { throw ImportError(.malformed, files.path, "a single SQLite file is expected") }
        path = files.path
        var journal = stat()
        if stat(path + "-journal", &journal) == 0, journal.st_size > 0 {
            throw ImportError(
                .unreadable, path, "a rollback journal stands beside it: open and close it with its app first")
        }
        var log = stat()
        let hasLog = stat(path + "-wal", &log) == 0 && log.st_size > 0
        copy = hasLog ? try TemporaryCopy(of: path) : nil
        do throws(DatabaseError) {
            database = try ForeignDatabase(path: copy?.path ?? path, isOwnCopy: hasLog)
        } catch {
            throw ImportError(.unreadable, path, error.description)
        }
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

    /// The bytes of such a file, in the folder ``support`` beside the store.
    func external(named name: String) throws(ImportError) -> ByteReader {
        let place = path.dropLast(ExportFiles.lastPart(path).count) + support + "/_EXTERNAL_DATA/" + name
        let file = try OpenFile(place, followsLink: false, name: place)
        return FileReader(file, range: 0..<file.size, name: place)
    }

    /// The name of the folder beside the store that has them.
    var support: String {
        var base = ExportFiles.lastPart(path)[...]
        if let dot = base.lastIndex(of: ".") { base = base[..<dot] }
        return ".\(base)_SUPPORT"
    }
}

/// A copy of a database and its log, in a folder that goes away with it.
private final class TemporaryCopy {
    private let folder: String
    let path: String

    init(of source: String) throws(ImportError) {
        let place = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array((place + "/sillok-import-XXXXXX").utf8CString)
        guard mkdtemp(&template) != nil else {
            throw ImportError(.unreadable, place, String(cString: strerror(errno)))
        }
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        path = folder + "/copy"
        for suffix in ["", "-wal"] { try Self.copy(source + suffix, path + suffix) }
    }

    deinit {
        for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) }
        rmdir(folder)
    }

    private static func copy(_ source: String, _ target: String) throws(ImportError) {
        let file = try OpenFile(source, followsLink: true, name: source)
        let out = open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard out >= 0 else { throw ImportError(.unreadable, target, String(cString: strerror(errno))) }
        defer { close(out) }
        let reader = FileReader(file, range: 0..<file.size, name: source)
        var chunk = [UInt8](repeating: 0, count: 1 << 20)
        while true {
            let count = try reader.fill(&chunk)
            if count == 0 { return }
            let written = chunk.withUnsafeBytes { write(out, $0.baseAddress, count) }
            guard written == count else { throw ImportError(.unreadable, target, String(cString: strerror(errno))) }
        }
    }
}
