internal import EventStore
internal import Glibc

/// What was given to import: a file, a folder, or a ZIP archive, whose files are read by name.
package final class ExportFiles {
    private enum Content {
        case file(OpenFile)
        case archive(ZipArchive, OpenFile)
        case folder
    }

    /// As it was given.
    package let path: String
    private let content: Content
    /// The files in it, in order; of a file its own name alone.
    package let names: [String]
    /// The places in ``names`` of those that were read since ``beginReading()``.
    private var opened: Set<Int> = []
    /// The copy of a database in it, made once for all readings.
    var copy: StoreCopy?
    private static let mostFiles = 1_000_000
    private static let deepest = 16

    package init(_ path: String) throws(ImportError) {
        self.path = path
        var entry = stat()
        if stat(path, &entry) == 0, entry.st_mode & S_IFMT == S_IFDIR {
            content = .folder
            var names: [String] = []
            try Self.list(path, "", 0, into: &names)
            self.names = Self.sorted(names)
            return
        }
        let file = try OpenFile(path, followsLink: true, name: path)
        if file.size >= 4, try file.bytes(0..<4, path) == [0x50, 0x4b, 3, 4] {
            let archive = try ZipArchive(file, path: path)
            content = .archive(archive, file)
            names = Self.sorted(archive.entries.keys.map(\.text))
        } else {
            content = .file(file)
            names = [Self.lastPart(path)]
        }
    }

    /// Whether it is one file that is no archive.
    package var isFile: Bool { if case .file = content { true } else { false } }
    package var isFolder: Bool { if case .folder = content { true } else { false } }
    var isArchive: Bool { if case .archive = content { true } else { false } }

    /// The name of what was given, without folders.
    package var name: String { Self.lastPart(path) }

    /// Whether it is what it was when it was opened. (A folder may change in any case: its files are opened one by one.)
    package var isUnchanged: Bool {
        switch content {
        case .file(let file), .archive(_, let file): file.isUnchanged
        case .folder: true
        }
    }

    /// Bytes of the whole, if it is one file.
    package var size: Int? {
        switch content {
        case .file(let file), .archive(_, let file): file.size
        case .folder: nil
        }
    }

    /// A file of text from its beginning on. UTF-16, which its first two bytes tell, is read as UTF-8.
    package func reader(_ name: String) throws(ImportError) -> ByteReader {
        take(name)
        return try text(name)
    }

    private func text(_ name: String) throws(ImportError) -> ByteReader {
        let reader = try stored(name)
        let mark = try reader.next(2)
        if mark == [0xFF, 0xFE] { return UTF16Reader(reader, isBigEndian: false) }
        if mark == [0xFE, 0xFF] { return UTF16Reader(reader, isBigEndian: true) }
        return try stored(name)
    }

    /// From here on it counts which files are read.
    func beginReading() { opened = [] }

    /// The files of a folder or an archive that nothing has read.
    var unread: [String] { isFile ? [] : names.indices.filter { !opened.contains($0) }.map { names[$0] } }

    func has(_ name: String) -> Bool { place(of: name) != nil }

    /// Where a file stands in ``names``. A Mac takes the letters of a name apart, and what an export says of its files may have them whole: so
    /// names are equal as texts of Unicode are. Of two such names the one of the same bytes is meant.
    private func place(of name: String) -> Int? {
        var (low, high) = (0, names.count)
        while low < high {
            let middle = (low + high) / 2
            if names[middle] < name { low = middle + 1 } else { high = middle }
        }
        let equal = names[low...].prefix { $0 == name }
        return equal.firstIndex { $0.hasSameBytes(as: name) } ?? equal.indices.first
    }

    /// In the order of Unicode, which has equal names beside each other.
    private static func sorted(_ names: [String]) -> [String] {
        names.sorted { ($0, ByteText($0)) < ($1, ByteText($1)) }
    }

    /// The bytes of a file from its beginning on.
    package func bytes(_ name: String) throws(ImportError) -> ByteReader {
        take(name)
        return try stored(name)
    }

    /// A file counts as read, or has nothing of its own to read.
    func take(_ name: String) { if let place = place(of: name) { opened.insert(place) } }

    /// The bytes of what stands beside a file; `nil` if it is not there. Beside a single file it is looked for on the disk.
    func bytes(beside name: String, _ other: String, followsLink: Bool) throws(ImportError) -> ByteReader? {
        func place(_ path: String) -> String { path.dropLast(Self.lastPart(path).count) + other }
        guard isFile else { return has(place(name)) ? try bytes(place(name)) : nil }
        let path = place(path)
        guard access(path, F_OK) == 0 else { return nil }
        let file = try OpenFile(path, followsLink: followsLink, name: path)
        return FileReader(file, range: 0..<file.size, name: path)
    }

    private func stored(_ wanted: String) throws(ImportError) -> ByteReader {
        let name = place(of: wanted).map { names[$0] } ?? wanted
        switch content {
        case .file(let file): return FileReader(file, range: 0..<file.size, name: path)
        case .archive(let archive, _):
            guard let entry = archive.entries[ByteText(name)] else {
                throw ImportError(.missing, path + "/" + name, "no such file")
            }
            return try archive.reader(entry)
        case .folder:
            let file = try OpenFile(path + "/" + name, followsLink: false, name: path + "/" + name)
            return FileReader(file, range: 0..<file.size, name: path + "/" + name)
        }
    }

    /// The only file, or the one whose last part is `name`, at the top if there are several.
    package func file(named name: String) -> String? {
        let found = names.filter { Self.lastPart($0) == name }
        return found.min { ($0.utf8.count, $0) < ($1.utf8.count, $1) }
    }

    /// The first bytes of a file. Looked at is not read.
    package func head(_ name: String, _ count: Int = 64 << 10) throws(ImportError) -> [UInt8] {
        try text(name).next(count)
    }

    /// Whether a name ends in one of these, in letters of any case.
    static func ends(_ name: String, _ endings: String...) -> Bool {
        let small = name.lowercased()
        return endings.contains(where: small.hasSuffix)
    }

    package static func lastPart(_ path: String) -> String {
        path.split(separator: "/").last.map(String.init) ?? path
    }

    private static func list(_ root: String, _ folder: String, _ depth: Int, into names: inout [String])
        throws(ImportError)
    {
        let path = folder.isEmpty ? root : root + "/" + folder
        guard depth <= deepest else { throw ImportError(.malformed, path, "folders stand too deep in each other") }
        guard let directory = opendir(path) else {
            throw ImportError(.unreadable, path, String(cString: strerror(errno)))
        }
        defer { closedir(directory) }
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { raw in
                String(validating: raw.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard let name else { throw ImportError(.malformed, path, "a name in it is not UTF-8") }
            if name == "." || name == ".." { continue }
            let inner = folder.isEmpty ? name : folder + "/" + name
            var status = stat()
            guard lstat(root + "/" + inner, &status) == 0 else { continue }
            switch status.st_mode & S_IFMT {
            case S_IFDIR: try list(root, inner, depth + 1, into: &names)
            case S_IFREG: names.append(inner)
            default: continue
            }
            guard names.count <= mostFiles else {
                throw ImportError(.malformed, root, "more than \(mostFiles) files")
            }
        }
    }
}
