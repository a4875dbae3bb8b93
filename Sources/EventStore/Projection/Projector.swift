internal import Glibc

/// Applies the log to the views, one batch in one transaction. Not Sendable; there is one for each store at a time.
package final class Projector {
    private let files: StoreFiles
    private let source: ProjectionSource
    /// Of which log the views are; another one once events got their payloads back.
    private var incarnation: String
    private let tails: ViewMemtables
    private var target: Target
    /// The last position applied; of new views, while those are being built.
    package private(set) var position: UInt64
    /// Where the log ended when this began: new views take the old ones' place when they have come so far, even if the
    /// log has gone on since.
    private var goal: UInt64
    /// What says whether another process has written the views; `nil` for views at another place.
    private let mark: ViewsMark?
    /// Why the views that were there are not believed and built anew, if so.
    package let distrust: String?

    /// Rows that another process reads through quickly.
    private static let shortTail = 4_096

    /// Pages of a WAL when it is copied back. Steps change much the same pages again and again, and only the copying syncs: with a
    /// shorter one it did so 25 times a second under small commits, in the way of the log's.
    private static let duePages = 8_000

    /// Where the views lack no more events than this, others go first.
    private static let near: UInt64 = 16_384
    /// How many events are applied before others may go first.
    private static let turn = 64

    /// A file of views under work.
    private struct Target {
        let path: String
        let store: ViewStore
        let views: [any View]
        /// Those of ``views`` that only list events, whatever is in them.
        let lists: [any View]
        /// How many events are quarantined here.
        var quarantined: UInt64

        init(path: String, source: ProjectionSource, tails: ViewMemtables) throws(DatabaseError) {
            self.path = path
            views = ViewDatabase.makeViews()
            lists = views.filter { type(of: $0).takesAll }
            let connection = try Connection(path: path, mode: .write)
            try connection.execute(
                """
                PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0;
                PRAGMA cache_size = -16384;
                """)
            try connection.execute(
                "PRAGMA journal_size_limit = \(Connection.walBytes(pages: 2 * Projector.duePages))")
            connection.countWALPages()
            // What another left in it counts, too.
            try connection.checkpoint()
            store = try ViewStore(connection: connection, source: source, tails: tails, sum: ConversationRow.self)
            try store.timeline.load(connection)
            try store.history.load(connection)
            quarantined = try ViewDatabase.quarantined(connection)
            connection.gatherWALWrites()
            connection.paceCopying()
        }

        /// The views that have something to do with an event. What this release cannot read is listed if it can be, and not
        /// interpreted; nor are messages and what has no meaning here.
        func views(for event: ProjectedEvent) -> [any View] {
            if let obstacle = event.obstacle { return obstacle.isListed ? lists : [] }
            return event.type?.isRead == true ? views : lists
        }
    }

    /// Opens the views of a store, or makes new ones beside them if they cannot be used; those take the old ones' place
    /// when they have caught up.
    ///
    /// - Parameter tails: What readers in the same process look into.
    package convenience init(_ files: StoreFiles, tails: ViewMemtables = ViewMemtables()) throws(StoreError) {
        try self.init(files, path: nil, tails: tails)
    }

    /// Builds views for `files` at another path, for a store that cannot be written.
    init(_ files: StoreFiles, path: String?, tails: ViewMemtables = ViewMemtables()) throws(StoreError) {
        self.files = files
        self.tails = tails
        let source = try ProjectionSource(files)
        self.source = source
        let incarnation = try source.log.viewMark()
        self.incarnation = incarnation
        let top = try source.log.top()
        goal = top
        let usual = path ?? files.views
        let mark = path == nil ? ViewsMark(files) : nil
        self.mark = mark
        var distrust: String?
        if case .changed(let how)? = mark?.verdict() {
            if ViewDatabase.progress(at: usual, incarnation: incarnation, top: top) != nil { distrust = how }
            // No one is to read them meanwhile either.
            ViewDatabase.remove(files)
        }
        if distrust == nil, mark != nil {
            for path in [usual, files.newViews] where distrust == nil { distrust = ViewDatabase.storedCode(at: path) }
            if distrust != nil { ViewDatabase.remove(files) }
        }
        self.distrust = distrust
        try mark?.begin()
        if let found = ViewDatabase.progress(at: usual, incarnation: incarnation, top: top),
            let usable = try Self.usable(usual, source, tails)
        {
            position = found
            target = usable
        } else {
            let new = path ?? files.newViews
            if let found = ViewDatabase.progress(at: new, incarnation: incarnation, top: top),
                let begun = try Self.usable(new, source, tails)
            {
                position = found
                target = begun
            } else {
                position = 0
                target = try mapped { () throws(DatabaseError) in
                    try ViewDatabase.create(at: new, incarnation: incarnation)
                    return try Target(path: new, source: source, tails: tails)
                }
            }
        }
    }

    /// The views at `path`; `nil` if they turn out to be damaged.
    private static func usable(
        _ path: String, _ source: ProjectionSource, _ tails: ViewMemtables
    ) throws(StoreError) -> Target? {
        do {
            return try Target(path: path, source: source, tails: tails)
        } catch .damage {
            return nil
        } catch {
            throw StoreError(error)
        }
    }

    /// Whether new views are being built because the old ones could not be used.
    package var isRebuilding: Bool { target.path == files.newViews }

    /// The last position of the log.
    package func top() throws(StoreError) -> UInt64 { try source.log.top() }

    /// Applies up to `limit` events in one transaction, whose summaries are written once for all of them. Returns the last
    /// position applied; when it did not change there was nothing to do. ``copyBack()`` is to follow when no reader waits for
    /// them any more.
    ///
    /// - Parameters:
    ///   - durable: The last position that a power cut leaves: views that know more than the log would have to be built anew.
    ///   - piece: How many events are in memory at a time.
    ///   - mayCommit: Asked when all is applied and no reader sees it yet; it may wait. If not, nothing of it stays, and it throws.
    @discardableResult
    package func step(
        through durable: UInt64 = UInt64(Int64.max), limit: Int = 65_536, piece: Int = 2_048,
        mayCommit: () -> Bool = { true }
    ) throws(StoreError) -> UInt64 {
        if target.store.connection.walPages >= WALStanding.most { try copyIntoDatabase() }
        let first = try mapped { () throws(DatabaseError) in
            try source.events(after: position, through: durable, limit: min(limit, piece))
        }
        guard !first.isEmpty else {
            if isRebuilding { try finishRebuild() }
            return position
        }
        var last = position
        guard
            try commit({ () throws(DatabaseError) in
                last = try apply(first, through: durable, limit: limit, piece: piece)
                guard mayCommit() else { throw .cancelled }
            })
        else {
            return position
        }
        position = last
        if isRebuilding, position >= goal { try finishRebuild() }
        return position
    }

    /// Commits a change of the views. Returns false where they turned out to be damaged and new ones were begun.
    private func commit(_ body: () throws(DatabaseError) -> Void) throws(StoreError) -> Bool {
        let store = target.store
        do throws(StoreError) {
            try mapped { () throws(DatabaseError) in
                try store.connection.transaction { () throws(DatabaseError) in try body() }
            }
        } catch {
            // What was gathered for the failed batch must not reach the next one.
            if case .corrupt = error, target.path == files.views {
                // The log has it all. If it is the log that is damaged, new views fail in the same place and say so.
                try beginRebuild()
                return false
            }
            target = try mapped { () throws(DatabaseError) in
                try Target(path: target.path, source: source, tails: tails)
            }
            throw error
        }
        store.timeline.committed()
        store.history.committed()
        return true
    }

    /// Whether the WAL is long.
    var isCopyDue: Bool { target.store.connection.walPages >= Self.duePages }

    /// Copies the WAL back if it is long.
    package func copyBack() throws(StoreError) {
        guard isCopyDue else { return }
        target.store.connection.writeBackWAL()
        try copyIntoDatabase()
    }

    /// Copies the WAL back. Where the disk refuses that, what of the views it has is unknown: they go, and the one that tries
    /// again builds new ones.
    private func copyIntoDatabase() throws(StoreError) {
        do throws(DatabaseError) {
            let left = try target.store.connection.checkpoint()
            guard left.wal >= WALStanding.most, left.copied < left.wal else { return }
        } catch {
            guard error.afterCopying == .store else { return }
            ViewDatabase.remove(target.path)
            throw StoreError(error)
        }
        let reader = WALReaders.oldest(of: target.path, marks: target.store.connection.readMarks())
        throw .busy(
            "views.db-wal has over 1 GiB: a reader, \(reader ?? "which cannot be found"), keeps an old state of it")
    }

    /// Whether a generation of rows is being moved into its table.
    package var isMerging: Bool { target.store.timeline.isMerging || target.store.history.isMerging }

    /// How many rows are in the tails.
    package var pending: Int { target.store.timeline.pending + target.store.history.pending }

    /// Moves rows of the tails into their tables.
    package func merge(rows: Int = 5_000) throws(StoreError) {
        let store = target.store
        store.timeline.freeze()
        store.history.freeze()
        _ = try commit { () throws(DatabaseError) in
            try store.timeline.flush(store.connection, atLeast: rows)
            try store.history.flush(store.connection, atLeast: rows)
        }
        try copyBack()
    }

    /// Gives back the memory of work that is done, and the pages that merged tails have left. If those cannot be given back
    /// now they are used again later.
    package func release() throws(StoreError) {
        try? target.store.connection.execute("PRAGMA incremental_vacuum")
        try copyIntoDatabase()
        target.store.connection.releaseMemory()
        source.log.connection.releaseMemory()
        returnFreeMemory()
    }

    /// Applies everything that is in the log now, and leaves the tails short: another process may open the views next.
    package func catchUp(progress: (UInt64, UInt64) -> Void = { _, _ in }) throws(StoreError) {
        let top = try top()
        while position < top {
            try step()
            try copyBack()
            progress(position, top)
        }
        if isRebuilding { try finishRebuild() }
        guard pending > Self.shortTail else { return }
        while pending > 0 { try merge() }
        try release()
    }

    /// Brings the views of `files` up to date and lets go of them. Returns why they had to be built anew because another process had written
    /// them, if so.
    ///
    /// - Parameter anew: Everything is applied again.
    @discardableResult
    package static func catchUp(
        _ files: StoreFiles, anew: Bool = false, progress: (UInt64, UInt64) -> Void = { _, _ in }
    ) throws(StoreError) -> String? {
        var projector: Projector? = try Projector(files)
        defer { close(&projector) }
        if anew { try projector?.beginRebuild() }
        try projector?.catchUp(progress: progress)
        return projector?.distrust
    }

    /// Lets go of the views in an orderly way, and signs what they are now. There must be no other reference to the projector.
    static func close(_ projector: inout Projector?) {
        guard let mark = projector?.closing() else { return projector = nil }
        projector = nil
        try? mark.end()
    }

    /// Gets ready to let go; gives the mark that is to be made when the views are closed.
    private func closing() -> ViewsMark? {
        _ = try? target.store.connection.checkpoint()
        return target.path == files.views ? mark : nil
    }

    /// Bytes of payloads after which a step ends: views keep what they have read until they write it (INV-9).
    private static let stepBytes = 16 << 20

    /// Applies the events of `first` and what follows them. Returns the position of the last.
    private func apply(
        _ first: [ProjectedEvent], through durable: UInt64, limit: Int, piece: Int
    ) throws(DatabaseError) -> UInt64 {
        let store = target.store
        var (events, left, last, refused) = (first, limit, position, UInt64(0))
        var room = Self.stepBytes
        let isNear = durable - position <= Self.near
        while let end = events.last {
            for (index, event) in events.enumerated() {
                if isNear, index % Self.turn == Self.turn - 1 { giveWay() }
                try store.clocks.apply(event, store)
                let (change, replaced) = try change(for: event)
                if let replaced { _ = try apply(replaced, .remove) }
                if try apply(event, change) { refused += 1 }
            }
            last = end.position
            left -= events.count
            room -= events.reduce(0) { $0 + ($1.payload?.bytes.count ?? 0) }
            guard left > 0, room > 0 else { break }
            // What cannot be read is no fault of the views: the next step meets it first, and says so.
            events = (try? source.events(after: last, through: durable, limit: min(left, piece))) ?? []
        }
        for view in target.views { try view.flush(store) }
        try store.run("UPDATE progress SET position = ?", .integer(Int64(bitPattern: last)))
        target.quarantined += refused
        return last
    }

    /// Of twins the one counts that was recorded first (D6); it may arrive last, and then takes the
    /// place of another.
    private func change(
        for event: ProjectedEvent
    ) throws(DatabaseError) -> (change: ViewChange, replaced: ProjectedEvent?) {
        guard let first = event.twinOf else { return (.insert, nil) }
        let earlier = try source.predecessors(of: event, first: first).filter(event.isTwin)
        guard let counting = earlier.min(by: { $0.precedes($1) }) else { return (.insert, nil) }
        return event.precedes(counting) ? (.insert, counting) : (.shadow, nil)
    }

    /// Returns whether the event was quarantined.
    private func apply(_ event: ProjectedEvent, _ change: ViewChange) throws(DatabaseError) -> Bool {
        var reasons: [(view: String, reason: String)] = []
        for view in target.views(for: event) {
            let reason = try view.apply(event, change, target.store)
            if let reason { reasons.append((type(of: view).name, reason)) }
        }
        // Hidden means hidden in both directions: what never went in is not taken out.
        guard change != .remove else { return false }
        if let obstacle = event.obstacle { reasons.append((QuarantinedEvent.everyView, obstacle.reason)) }
        if let malformed = event.malformed { reasons.append((MessagesView.name, malformed)) }
        for (view, reason) in reasons { try quarantine(event, view, reason) }
        return !reasons.isEmpty
    }

    private func quarantine(_ event: ProjectedEvent, _ view: String, _ reason: String) throws(DatabaseError) {
        try target.store.run(
            "INSERT OR REPLACE INTO quarantine VALUES(?, ?, ?)", .integer(Int64(bitPattern: event.position)),
            .text(view), .text(reason))
    }

    /// Leaves the views where they are, for readers, and begins new ones beside them: because the old ones are damaged,
    /// or to try everything again that was refused.
    package func beginRebuild() throws(StoreError) {
        incarnation = try source.log.viewMark()
        target = try mapped { () throws(DatabaseError) in
            try ViewDatabase.create(at: files.newViews, incarnation: incarnation)
            return try Target(path: files.newViews, source: source, tails: tails)
        }
        (position, goal) = (0, try source.log.top())
    }

    private func finishRebuild() throws(StoreError) {
        let source = source
        let new = target.path
        // Only what has left the WAL moves with the file.
        let left = try mapped { () throws(DatabaseError) in try target.store.connection.checkpoint(truncate: true) }
        guard left.wal <= left.copied else { throw .busy("somebody reads views that are being built") }
        // The file must not be open under its old name when it moves.
        target = try mapped { () throws(DatabaseError) in
            try ViewDatabase.create(at: new + ".done", incarnation: incarnation)
            return try Target(path: new + ".done", source: source, tails: tails)
        }
        for suffix in ["-wal", "-shm"] { unlink(new + suffix) }
        try ViewDatabase.swap(new, into: files.views)
        target = try mapped { () throws(DatabaseError) in try Target(path: files.views, source: source, tails: tails)
        }
        for suffix in ["", "-wal", "-shm"] { unlink(new + ".done" + suffix) }
    }

    /// How many events are quarantined.
    package var quarantined: UInt64 { target.quarantined }

    /// The digest of every view, and of the quarantine.
    package func digests() throws(StoreError) -> [ViewDigest] {
        try mapped { () throws(DatabaseError) in try ViewDigests.read(target.store, target.views) }
    }
}

/// Digests of all views.
enum ViewDigests {
    /// Of the views at `path`, in one read transaction.
    static func read(_ files: StoreFiles, path: String) throws(StoreError) -> [ViewDigest] {
        let source = try ProjectionSource(files)
        let connection = try openForReading(path)
        return try mapped { () throws(DatabaseError) in
            try connection.transaction("BEGIN") { () throws(DatabaseError) in
                let store = try ViewStore(
                    connection: connection, source: source, tails: ViewMemtables(), sum: ConversationRow.self)
                try store.timeline.load(connection)
                return try read(store, ViewDatabase.makeViews())
            }
        }
    }

    static func read(_ store: ViewStore, _ views: [any View]) throws(DatabaseError) -> [ViewDigest] {
        var digests: [ViewDigest] = []
        for view in views {
            var sum = DigestSum()
            try view.digest(store, into: &sum)
            digests.append(sum.digest(of: type(of: view).name))
        }
        var sum = DigestSum()
        let log = store.source.log
        try store.rows("SELECT position, view FROM quarantine") { row throws(DatabaseError) in
            let dot = try log.dot(at: row.uint64(0))
            sum.add(dot.description, row.text(1))
        }
        digests.append(sum.digest(of: "quarantine"))
        return digests
    }
}

extension ProjectedEvent {
    /// Whether of two events with one id this is the one that counts.
    fileprivate func precedes(_ other: ProjectedEvent) -> Bool {
        key.hlc != other.key.hlc ? key.hlc < other.key.hlc : key.dot < other.key.dot
    }
}
