internal import Glibc

/// What a reader has open, one for each: opened again when it is not what stands in the folder any longer.
struct OpenReaders {
    private let freshness: Freshness
    private var log: LogReader?
    /// Of the log that is open.
    private var logFile: ino_t = 0
    private var views: ViewReader?

    init(_ freshness: Freshness) { self.freshness = freshness }

    /// The log that is in the folder now.
    mutating func currentLog() throws(StoreError) -> LogReader {
        let files = freshness.files
        var entry = stat()
        guard stat(files.log, &entry) == 0 else {
            let isGone = errno == ENOENT || errno == ENOTDIR
            let error = isGone ? StoreError.notFound(path: files.folder) : .system(files.log)
            (log, views) = (nil, nil)
            throw error
        }
        if let log, logFile == entry.st_ino { return log }
        (log, views) = (nil, nil)
        guard access(files.log, R_OK) == 0 else { throw .system(files.log) }
        let opened = try LogReader(files)
        (log, logFile) = (opened, entry.st_ino)
        return opened
    }

    /// Runs `body` on views that show all that is in the log now.
    mutating func fresh<Value>(
        _ body: (ViewReader) throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        let top = try currentLog().top()
        while true {
            let reader = try current(top)
            let file = reader.inode
            do throws(StoreError) {
                let value = try body(reader)
                // Views that were built anew take the old ones' place when they have come as far as the log was then.
                if reader.inode == file { return value }
                if try reader.progress() >= top { return value }
            } catch {
                // Others took their place in the midst of it.
                guard case .busy = error, reader.inode != file || !reader.isInPlace else { throw error }
            }
            views = nil
        }
    }

    /// Views of the caller's own, that show all that is in the log now.
    mutating func makeFreshViews() throws(StoreError) -> ViewReader {
        try freshness.views(upTo: try currentLog().top())
    }

    private mutating func current(_ top: UInt64) throws(StoreError) -> ViewReader {
        if let views, (try? views.progress()).map({ $0 >= top }) == true { return views }
        let reused = views
        views = nil
        let found = try freshness.views(upTo: top, reusing: reused)
        views = found
        return found
    }
}
