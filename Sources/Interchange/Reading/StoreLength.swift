/// How long an SQLite file is, and how long it says that it is (sqlite.org/fileformat2.html, 1.3).
struct StoreLength {
    /// What an SQLite file begins with.
    static let mark = Array("SQLite format 3\u{0}".utf8)
    private static let header = 100

    private let bytes: Int
    /// Bytes of all of its pages.
    private let whole: Int
    /// Bytes of the pages that are whole, up to the first one that is not.
    fileprivate let sound: Int

    /// - Returns: `nil` where its header says nothing that could be. SQLite refuses it then.
    init?(_ store: ByteReader, _ path: String) throws(ImportError) {
        let head = try store.next(Self.header)
        guard Self.isStore(head) else { throw ImportError(.malformed, path, "it is no SQLite file") }
        guard head.count == Self.header else {
            throw ImportError(.malformed, path, "it is cut: not even its header of \(Self.header) bytes is whole")
        }
        func number(_ range: Range<Int>) -> Int { head[range].reduce(0) { $0 << 8 | Int($1) } }
        // 65,536 is no number of two bytes.
        let page = number(16..<18) == 1 ? 1 << 16 : number(16..<18)
        guard page >= 512, page & (page - 1) == 0 else { return nil }
        bytes = store.length ?? 0
        // A program that does not write how many pages there are leaves the count of changes behind at which the number was right.
        let pages = number(24..<28) == number(92..<96) ? number(28..<32) : 0
        whole = pages > 0 ? pages * page : (bytes + page - 1) / page * page
        sound = bytes / page * page
    }

    /// Bytes of the pages that are not whole.
    var missing: Int { whole - sound }

    /// Why it is refused; `nil`: it is whole.
    func cut(_ path: String, hasLog: Bool) -> ImportError? {
        guard bytes < whole else { return nil }
        return ImportError(
            .malformed, path,
            "it is cut: \(whole - bytes) of its \(whole) bytes are missing"
                + (hasLog ? ", and its log does not have them" : ""))
    }

    /// Whether an SQLite file begins so, or so much as is left of it.
    static func isStore(_ head: [UInt8]) -> Bool {
        head.starts(with: mark) || head.starts(with: mark.prefix(6)) && mark.starts(with: head)
    }
}

/// A store with other pages for those that are not whole, such as no database has. Where SQLite reads behind the end of a file it finds zeros,
/// and takes them for the end of a long text; what stands here it finds out, unless the log has something in its place.
final class StoreMender: ByteReader {
    private let reader: ByteReader
    private var (sound, missing): (Int, Int)

    init(_ reader: ByteReader, _ length: StoreLength) {
        self.reader = reader
        (sound, missing) = (length.sound, length.missing)
        super.init(reader.name)
    }

    override func read(into room: UnsafeMutableRawBufferPointer) throws(ImportError) -> Int {
        if sound > 0 {
            let room = UnsafeMutableRawBufferPointer(rebasing: room[..<min(sound, room.count)])
            let count = try reader.read(into: room)
            guard count > 0 else { throw ImportError(.malformed, name, "it ends too early") }
            sound -= count
            return count
        }
        let count = min(missing, room.count)
        UnsafeMutableRawBufferPointer(rebasing: room[..<count]).initializeMemory(as: UInt8.self, repeating: 0xff)
        missing -= count
        return count
    }
}
