internal import Glibc

/// Copies the WAL of views back beside the steps, as the log's is (``Checkpointer``), by a thread that is there for that alone. Those who
/// ask wait for steps, and the disk takes half a second for 8,000 pages of a large file. In quiet it is copied at once.
///
/// Not Sendable; it belongs to who has the connection.
final class ViewsWAL {
    /// Pages of a WAL when it is copied back. Steps change much the same pages again and again, and only the copying syncs: with a
    /// shorter one it did so 25 times a second under small commits, in the way of the log's.
    static let duePages = 8_000
    /// How often to look after what is copied beside the steps, nanoseconds; and while a reader does not let it be copied.
    private static let pause: (copying: UInt64, held: UInt64) = (50_000_000, 1_000_000_000)

    private let connection: Connection
    private let path: String
    private var trimming: WALTrimming
    /// Pages after the last commit.
    private var pages = 0
    /// Pages when all of it was to be copied last, since it began anew.
    private var tried = 0
    /// Whether a reader kept some of it from being copied then.
    private var isHeld = false
    private var copier: Checkpointer?
    /// Whether it has asked for what is left to be copied between two steps.
    private var isAsked = false
    /// When it was looked after last, of the monotonic clock.
    private var looked = UInt64(0)

    private struct News {
        var isNearlyCopied = false
        var failure: DatabaseError?
    }

    private let news = Lock(News())

    /// - Parameter connection: The only one that writes.
    init(_ connection: Connection) {
        self.connection = connection
        path = connection.path
        trimming = WALTrimming(
            database: path, most: Connection.walBytes(pages: 2 * Self.duePages),
            usual: Connection.walBytes(pages: Self.duePages))
        connection.countWALPages { [unowned self] pages in committed(pages) }
    }

    deinit { copier?.stop(keepingWAL: false) }

    private func committed(_ now: Int) {
        if now < pages {
            trimming.begin()
            (tried, isHeld) = (0, false)
        }
        pages = now
        if let copier, copier.committed(pages: now) { isAsked = true }
    }

    /// Whether ``copyBack()`` has something to do at once.
    var isDue: Bool { due.map { $0 <= MonotonicClock.now } ?? false }

    /// When ``copyBack()`` has something to do, of the monotonic clock; `nil` if not before the next commit.
    var due: UInt64? {
        if let copier { return looked + (copier.isHeld && !isAsked ? Self.pause.held : Self.pause.copying) }
        return pages >= Self.duePages && pages > tried || mustWait ? 0 : trimming.due
    }

    /// Whether it is for a thread of its own to wait until the reader lets it be copied.
    private var mustWait: Bool { isHeld && pages >= WALStanding.long }

    /// What copies it; `nil` while it is short.
    var watch: Checkpointer? { copier }

    /// Lets it be copied back if it is long, and copies what is left when that is little.
    ///
    /// - Throws: What the disk has refused: then nothing that was copied is to be believed.
    func copyBack() throws(DatabaseError) {
        looked = MonotonicClock.now
        if let due = trimming.due, due <= looked { trimming.cut(used: Connection.walBytes(pages: pages)) }
        let told = news.withLock { news in
            defer { news.isNearlyCopied = false }
            return news
        }
        if let failure = told.failure { throw failure }
        guard let copier else {
            guard pages >= Self.duePages && pages > tried || mustWait else { return }
            return beginCopier()
        }
        if isAsked || told.isNearlyCopied || copier.isOnlyRead {
            isAsked = false
            // All of it is copied, and no one reads it: any commit begins it anew.
            if copier.finish(on: connection) { try connection.rewriteVersion() }
        }
        if pages < Self.duePages { endCopier() }
    }

    /// Copies all that readers let be copied, now.
    func copyAll() throws(DatabaseError) {
        guard copier == nil else { return }
        tried = pages
        let left = try connection.checkpoint()
        isHeld = left.copied < left.wal
    }

    /// Ends what goes on beside the steps, and copies all that readers let be copied.
    func close() {
        endCopier()
        _ = try? connection.checkpoint()
    }

    private func beginCopier() {
        let made = Checkpointer(database: path, name: "views-checkpt") { [news] told in
            news.withLock { news in
                switch told {
                case .nearlyCopied: news.isNearlyCopied = true
                case .failed(let error): news.failure = error
                }
            }
        }
        copier = made
        isAsked = made.committed(pages: pages)
    }

    private func endCopier() {
        copier?.stop(keepingWAL: false)
        (copier, isAsked) = (nil, false)
    }
}
