internal import CSQLite

/// Makes a connection hand the frames of a commit to the kernel in one piece. SQLite writes each in two, 24 bytes and a page,
/// and at a small commit the system calls take longer than all else but the sync.
///
/// The methods of the WAL's open file are replaced by a copy with others (https://sqlite.org/c3ref/io_methods.html). Frames are held back
/// while they are added at the WAL's end, each behind the other, until the one that commits has come. That one names the size of the
/// database (https://sqlite.org/fileformat2.html#wal_file_format), and before it no other thread may read any. Whatever else SQLite does
/// with the file finds them written. It ends when SQLite closes the file.
enum WALFrameBuffer {
    /// Where in the file a commit stands.
    typealias Written = (_ offset: Int64, _ count: Int) -> Void
    private typealias Methods = UnsafePointer<sqlite3_io_methods>

    private struct Held {
        /// First: SQLite takes the address of the whole for that of its methods.
        var methods: sqlite3_io_methods
        let original: Methods
        let bytes: UnsafeMutableRawPointer
        var count = 0
        /// Where they belong in the file.
        var offset: Int64 = 0
        /// The end of what was written, as far as it is known; what is written before it is written again.
        var end: Int64 = 0
        /// Whether the page of the last header is still to come.
        var awaitsPage = false
        /// Whether that header is of a frame that commits.
        var isLast = false
        /// Where the commit at hand begins, or the last one ended.
        var start: Int64 = 0
        /// Where the last commit ended, if that is known.
        var committed: Int64?
        /// Told of each commit that was written.
        let written: Written
        /// Makes room for a part of the WAL's index.
        let extend: (Int32) -> Int32
        /// How many parts of the index have room.
        var parts: Int32 = 0

        /// Makes room for a frame in the WAL's index. SQLite does so when the frames of a commit are written, and where the disk has none it refuses a
        /// commit that stands in the WAL as a whole.
        mutating func index(_ file: UnsafeMutablePointer<sqlite3_file>, frameAt place: Int64) -> Int32 {
            // https://sqlite.org/walformat.html: the first part has 4,062 frames, each further one 4,096.
            let part = Int32((place / Int64(WALFrameBuffer.frame) + 34) / 4_096)
            guard part >= parts else { return SQLITE_OK }
            let code = extend(part)
            guard code == SQLITE_OK else {
                (count, awaitsPage) = (0, false)
                cut(file)
                return code
            }
            parts = part + 1
            return SQLITE_OK
        }

        /// Takes in what is to be written, if it is the next part of a frame.
        mutating func take(_ part: UnsafeRawPointer, _ length: Int, at place: Int64) -> Bool {
            let isHeader = length == WALFrameBuffer.header
            guard place == end, isHeader != awaitsPage, count + length <= WALFrameBuffer.most else { return false }
            if count == 0 { offset = place }
            (bytes + count).copyMemory(from: part, byteCount: length)
            count += length
            end += Int64(length)
            awaitsPage = isHeader
            if isHeader { isLast = (4..<8).contains { part.load(fromByteOffset: $0, as: UInt8.self) != 0 } }
            return true
        }

        /// Writes what is held.
        mutating func flush(_ file: UnsafeMutablePointer<sqlite3_file>) -> Int32 {
            guard count > 0 else { return SQLITE_OK }
            defer { (count, awaitsPage) = (0, false) }
            let code = original.pointee.xWrite(file, bytes, Int32(count), offset)
            if code != SQLITE_OK { cut(file) }
            return code
        }

        /// A write has failed, and its commit with it. What was written of that must not stay behind a later, shorter one: a start would
        /// take it for a commit that cannot be read.
        private mutating func cut(_ file: UnsafeMutablePointer<sqlite3_file>) {
            // Where it cannot be cut, what part of it was written is not known.
            end = 0
            guard let committed, original.pointee.xTruncate(file, committed) == SQLITE_OK else { return }
            end = committed
        }

        /// A commit is written: it ends where the file does.
        private mutating func tell() {
            let count = Int(end - start)
            if count > 0 { written(start, count) }
            start = end
        }

        mutating func write(
            _ file: UnsafeMutablePointer<sqlite3_file>, _ part: UnsafeRawPointer, _ length: Int, _ place: Int64
        ) -> Int32 {
            if length == WALFrameBuffer.header {
                let code = index(file, frameAt: place)
                guard code == SQLITE_OK else { return code }
            }
            if take(part, length, at: place) {
                let isComplete = isLast && !awaitsPage
                let isFull = !awaitsPage && count + WALFrameBuffer.frame > WALFrameBuffer.most
                guard isComplete || isFull else { return SQLITE_OK }
                let code = flush(file)
                if code == SQLITE_OK, isComplete {
                    committed = end
                    tell()
                }
                return code
            }
            var code = flush(file)
            guard code == SQLITE_OK else { return code }
            // The WAL begins anew, or goes on where it is not known yet to end.
            if place == 0 || place + Int64(length) > end { end = place + Int64(length) }
            if place == 0 { start = 0 }
            // What is written past the buffer may be a commit.
            committed = place == 0 ? end : nil
            code = original.pointee.xWrite(file, part, Int32(length), place)
            if code != SQLITE_OK { cut(file) }
            return code
        }
    }

    fileprivate static let header = 24
    fileprivate static let frame = header + 4_096
    /// Most bytes that are held.
    fileprivate static let most = 16 * frame

    /// From now on, for the connection `handle`; does nothing if it has no WAL yet.
    static func begin(_ handle: OpaquePointer, written: @escaping Written) {
        var file: UnsafeMutablePointer<sqlite3_file>?
        guard sqlite3_file_control(handle, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file) == SQLITE_OK,
            let file, let original = file.pointee.pMethods
        else { return }
        var database: UnsafeMutablePointer<sqlite3_file>?
        sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, &database)
        let held = UnsafeMutablePointer<Held>.allocate(capacity: 1)
        held.initialize(
            to: Held(
                methods: original.pointee, original: original, bytes: .allocate(byteCount: most, alignment: 16),
                written: written, extend: { [database] in IndexRoom.extend(database, to: $0) }))
        held.pointee.methods.xWrite = { file, part, length, place in
            guard let file, let part, let held = WALFrameBuffer.held(file) else { return SQLITE_IOERR }
            return held.pointee.write(file, part, Int(length), place)
        }
        held.pointee.methods.xRead = { file, part, length, place in
            WALFrameBuffer.flushed(file) { $0.pointee.xRead($1, part, length, place) }
        }
        held.pointee.methods.xSync = { file, flags in WALFrameBuffer.flushed(file) { $0.pointee.xSync($1, flags) } }
        held.pointee.methods.xFileSize = { file, size in
            WALFrameBuffer.flushed(file) { $0.pointee.xFileSize($1, size) }
        }
        held.pointee.methods.xTruncate = { file, size in
            WALFrameBuffer.flushed(file) { original, file in
                WALFrameBuffer.held(file)?.pointee.end = 0
                WALFrameBuffer.held(file)?.pointee.committed = nil
                return original.pointee.xTruncate(file, size)
            }
        }
        held.pointee.methods.xClose = { file in
            guard let file, let held = WALFrameBuffer.held(file) else { return SQLITE_IOERR }
            // What is held at the end belongs to no commit.
            let original = held.pointee.original
            file.pointee.pMethods = original
            held.pointee.bytes.deallocate()
            held.deinitialize(count: 1)
            held.deallocate()
            return original.pointee.xClose(file)
        }
        file.pointee.pMethods = UnsafeRawPointer(held).assumingMemoryBound(to: sqlite3_io_methods.self)
    }

    private static func held(_ file: UnsafeMutablePointer<sqlite3_file>) -> UnsafeMutablePointer<Held>? {
        UnsafeMutableRawPointer(mutating: file.pointee.pMethods)?.assumingMemoryBound(to: Held.self)
    }

    /// Calls a method of the file when all is written.
    private static func flushed(
        _ file: UnsafeMutablePointer<sqlite3_file>?,
        _ method: (Methods, UnsafeMutablePointer<sqlite3_file>) -> Int32
    ) -> Int32 {
        guard let file, let held = held(file) else { return SQLITE_IOERR }
        let code = held.pointee.flush(file)
        let original = held.pointee.original
        return code == SQLITE_OK ? method(original, file) : code
    }
}
