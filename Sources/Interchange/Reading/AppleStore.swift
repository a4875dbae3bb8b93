internal import CommandLineKit
internal import EventStore
internal import Glibc

/// A store of Core Data or SwiftData: an SQLite file whose tables and columns begin with Z.
///
/// One with a write-ahead log is copied first, with that log: the newest rows stand there, and nothing of what was given is written. So is one
/// that comes in a folder or an archive.
final class AppleStore {
    typealias Value = ForeignDatabase.Value

    /// How such a file begins.
    static let signature = Array("SQLite format 3\u{0}".utf8)

    private let database: ForeignDatabase
    private let files: ExportFiles
    /// Where it is, or its name in the folder or archive.
    private let place: String
    private let path: String
    private let copy: TemporaryCopy?
    private var known: [String: [String]] = [:]

    init(_ files: ExportFiles) throws(ImportError) {
        guard let name = Self.name(in: files) else {
            throw ImportError(.malformed, files.path, "no .store or .sqlite file in it")
        }
        self.files = files
        let place = files.isFile ? files.path : name
        (self.place, path) = (place, files.isFile ? place : files.path + "/" + name)
        if try Self.part(place + "-journal", files)?.next(1).isEmpty == false {
            throw ImportError(
                .unreadable, path, "a rollback journal stands beside it: open and close it with its app first")
        }
        let hasLog = try Self.part(place + "-wal", files)?.next(1).isEmpty == false
        // SQLite makes this file anew from the log.
        files.passOver(place + "-shm")
        let isCopied = hasLog || !files.isFile
        copy = isCopied ? try TemporaryCopy { suffix throws(ImportError) in try Self.part(place + suffix, files) } : nil
        do throws(DatabaseError) {
            database = try ForeignDatabase(path: copy?.path ?? path, isOwnCopy: isCopied)
        } catch {
            throw ImportError(.unreadable, path, error.description)
        }
    }

    /// The store of a folder or an archive: the one at the top if there are several.
    static func name(in files: ExportFiles) -> String? {
        if files.isFile { return files.names.first }
        return files.names.filter { $0.hasSuffix(".store") || $0.hasSuffix(".sqlite") }
            .min { ($0.utf8.count, $0) < ($1.utf8.count, $1) }
    }

    /// A file by its path, or by its name in the folder or archive; `nil`: it is not there.
    private static func part(_ path: String, _ files: ExportFiles, followsLink: Bool = true) throws(ImportError)
        -> ByteReader?
    {
        do throws(ImportError) {
            guard files.isFile else { return try files.bytes(path) }
            let file = try OpenFile(path, followsLink: followsLink, name: path)
            return FileReader(file, range: 0..<file.size, name: path)
        } catch {
            guard error.kind == .missing else { throw error }
            return nil
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

    /// The file of the store's own that has a value, in the folder beside it: then the value is 2 and the file's name, a UUID. `nil` for any
    /// other value.
    static func external(_ value: [UInt8]) -> String? {
        guard value.first == 2, let name = String(validating: value.dropFirst().prefix { $0 != 0 }, as: UTF8.self),
            UUIDBits(text: name) != nil
        else { return nil }
        return name
    }

    /// The bytes of such a file; `nil`: it is not there, or cannot be read.
    func external(named name: String) -> ByteReader? {
        let folder = place.dropLast(ExportFiles.lastPart(place).count)
        return try? Self.part("\(folder)\(support)/_EXTERNAL_DATA/\(name)", files, followsLink: false)
    }

    /// The name of the folder beside the store that has them.
    var support: String {
        var base = ExportFiles.lastPart(place)[...]
        if let dot = base.lastIndex(of: ".") { base = base[..<dot] }
        return ".\(base)_SUPPORT"
    }
}

/// A copy of a database and its log, in a folder that goes away with it.
private final class TemporaryCopy {
    private let folder: String
    let path: String

    /// - Parameter part: What stands under the store's name with this behind it.
    init(_ part: (_ suffix: String) throws(ImportError) -> ByteReader?) throws(ImportError) {
        let place = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array((place + "/sillok-import-XXXXXX").utf8CString)
        guard mkdtemp(&template) != nil else {
            throw ImportError(.unreadable, place, String(cString: strerror(errno)))
        }
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        path = folder + "/copy"
        for suffix in ["", "-wal"] {
            if let reader = try part(suffix) { try Self.copy(reader, path + suffix) }
        }
    }

    deinit {
        for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) }
        rmdir(folder)
    }

    private static func copy(_ reader: ByteReader, _ target: String) throws(ImportError) {
        let out = open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard out >= 0 else { throw ImportError(.unreadable, target, String(cString: strerror(errno))) }
        defer { close(out) }
        var chunk = [UInt8](repeating: 0, count: 1 << 20)
        while true {
            let count = try reader.fill(&chunk)
            if count == 0 { return }
            let written = chunk.withUnsafeBytes { write(out, $0.baseAddress, count) }
            guard written == count else { throw ImportError(.unreadable, target, String(cString: strerror(errno))) }
        }
    }
}
