internal import CLinux
internal import CSQLite
internal import Glibc

/// A database file as the kernel has it in memory, for all connections of this process that read it there.
///
/// SQLite's own mapping ends at 2 GiB, where the newest events of a larger log stand, and is made anew after each commit of
/// another connection. This one has no end, and stays: a log does not shrink, and of views that did no page beyond their end
/// is asked for. The file is mapped window by window, as it is read.
///
/// ## Concurrency model
/// Shared by connections on any thread, behind a lock; each keeps the windows that it has seen (``PageMap``).
private final class MappedFile: Sendable {
    /// Bytes of a window: a multiple of every page size, so that no page stands in two.
    static let window = 1 << 26

    /// Open as long as any connection of this process to the file: to close it gives back the locks of all of them
    /// (fcntl(2), POSIX record locks).
    private let descriptor: Int32
    private let windows = Lock<[Int: UnsafeRawPointer]>([:])

    /// The file `id` at `path`; `nil` if it cannot be opened, or another has taken its place.
    init?(path: String, id: OpenFiles.ID) {
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        var found = stat()
        guard descriptor >= 0, fstat(descriptor, &found) == 0, OpenFiles.ID(found) == id else { return nil }
    }

    deinit {
        for window in windows.withLock({ $0.values }) {
            munmap(UnsafeMutableRawPointer(mutating: window), Self.window)
        }
        close(descriptor)
    }

    /// Bytes of the file now.
    var size: Int64 {
        var found = stat()
        return fstat(descriptor, &found) == 0 ? Int64(found.st_size) : 0
    }

    /// The window of this number; `nil` if the system does not give it.
    func window(_ number: Int) -> UnsafeRawPointer? {
        windows.withLock { windows in
            if let known = windows[number] { return known }
            let mapped = mmap(nil, Self.window, PROT_READ, MAP_SHARED, descriptor, number * Self.window)
            guard let mapped, mapped != MAP_FAILED else { return nil }
            windows[number] = UnsafeRawPointer(mapped)
            return UnsafeRawPointer(mapped)
        }
    }
}

/// The files that connections of this process have open, by device and inode.
private enum OpenFiles {
    struct ID: Hashable {
        let device: UInt64
        let inode: UInt64

        init(_ found: stat) { (device, inode) = (UInt64(found.st_dev), UInt64(found.st_ino)) }
    }

    struct Entry {
        var connections = 0
        var mapped: MappedFile?
    }

    static let entries = Lock<[ID: Entry]>([:])

    static func id(_ path: String) -> ID? {
        var found = stat()
        return stat(path, &found) == 0 ? ID(found) : nil
    }
}

/// That a connection has a file open. Taken before SQLite opens it, given back after SQLite has closed it.
struct FileUse: ~Copyable {
    private var id: OpenFiles.ID?
    private let path: String

    init(_ path: String) {
        self.path = path
        id = OpenFiles.id(path)
        if let id { OpenFiles.entries.withLock { $0[id, default: OpenFiles.Entry()].connections += 1 } }
    }

    deinit {
        guard let id else { return }
        OpenFiles.entries.withLock { entries in
            entries[id]?.connections -= 1
            if entries[id]?.connections == 0 { entries[id] = nil }
        }
    }

    /// Whether the path still leads to that file.
    var isCurrent: Bool { id != nil && OpenFiles.id(path) == id }

    /// The file's mapping; `nil` if it cannot be mapped.
    fileprivate func mapped() -> MappedFile? {
        guard let id else { return nil }
        return OpenFiles.entries.withLock { entries in
            if let known = entries[id]?.mapped { return known }
            let made = MappedFile(path: path, id: id)
            entries[id]?.mapped = made
            return made
        }
    }
}

/// Makes a connection read pages in a ``MappedFile``: the methods of its open file are replaced by a copy with other `xFetch`
/// and `xUnfetch` (https://sqlite.org/c3ref/io_methods.html). Belongs to the connection; ends after it.
final class PageMap {
    private struct Methods {
        /// First: SQLite takes the address of the whole for that of its methods.
        var methods: sqlite3_io_methods
        let file: Unmanaged<MappedFile>
        /// Of the file, when it was last asked for.
        var size: Int64 = 0
        var windows: [UnsafeRawPointer?] = []
        /// Where the pages stand that were read a moment ago, each in the slot of its number's lower bits.
        var recent = [Int64](repeating: -1, count: 512)

        /// A page as it stands in memory. To find a row in it SQLite reads here and there, and each place is a miss of the
        /// processor's caches unless the page was read a moment ago, as the inner pages of a tree are: so it is fetched whole.
        mutating func page(_ offset: Int64, _ count: Int32) -> UnsafeRawPointer? {
            guard let page = place(offset, count) else { return nil }
            let slot = Int(truncatingIfNeeded: offset >> 12) & (recent.count - 1)
            if recent[slot] != offset {
                recent[slot] = offset
                sillok_prefetch(page, Int(count))
            }
            return page
        }

        private mutating func place(_ offset: Int64, _ count: Int32) -> UnsafeRawPointer? {
            if offset + Int64(count) > size {
                size = file._withUnsafeGuaranteedRef { $0.size }
                guard offset + Int64(count) <= size else { return nil }
            }
            let (number, rest) = Int(offset).quotientAndRemainder(dividingBy: MappedFile.window)
            if number < windows.count, let window = windows[number] { return window + rest }
            while windows.count <= number { windows.append(nil) }
            windows[number] = file._withUnsafeGuaranteedRef { $0.window(number) }
            return windows[number].map { $0 + rest }
        }
    }

    private let methods: UnsafeMutablePointer<Methods>

    /// `nil` if the file cannot be mapped: then it is read.
    init?(_ use: borrowing FileUse, _ handle: OpaquePointer) {
        var file: UnsafeMutablePointer<sqlite3_file>?
        guard sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK,
            let file, let own = file.pointee.pMethods, own.pointee.iVersion >= 3, let mapped = use.mapped()
        else { return nil }
        methods = .allocate(capacity: 1)
        methods.initialize(to: Methods(methods: own.pointee, file: .passRetained(mapped)))
        methods.pointee.methods.xFetch = { file, offset, count, page in
            let methods = UnsafeMutableRawPointer(mutating: file?.pointee.pMethods)?.assumingMemoryBound(
                to: Methods.self)
            page?.pointee = UnsafeMutableRawPointer(mutating: methods?.pointee.page(offset, count))
            return SQLITE_OK
        }
        methods.pointee.methods.xUnfetch = { _, _, _ in SQLITE_OK }
        file.pointee.pMethods = UnsafeRawPointer(methods).assumingMemoryBound(to: sqlite3_io_methods.self)
    }

    deinit {
        methods.pointee.file.release()
        methods.deinitialize(count: 1)
        methods.deallocate()
    }
}
