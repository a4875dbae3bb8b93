internal import Glibc

/// Applies the log to the views, one batch in one transaction. Not Sendable; there is one for each store at a time.
package final class Projector {
    private let files: StoreFiles
    private let source: ProjectionSource
    private let incarnation: String
    private var target: Target
    /// The last position applied.
    package private(set) var position: UInt64
    /// Where the log ended when this began: new views take the old ones' place when they have come so far, even if the
    /// log has gone on since.
    private let goal: UInt64

    /// A file of views under work.
    private struct Target {
        let path: String
        let store: ViewStore
        var views = ViewDatabase.makeViews()

        init(path: String, source: ProjectionSource) throws(SQLiteError) {
            self.path = path
            let connection = try Connection(path: path, mode: .write)
            try connection.execute(
                """
                PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0;
                PRAGMA cache_size = -32768;
                """)
            connection.countWALPages()
            store = try ViewStore(connection: connection, source: source)
        }
    }

    /// Opens the views of a store, or makes new ones beside them if they cannot be used; those take the old ones' place
    /// when they have caught up.
    package convenience init(_ files: StoreFiles) throws(StoreError) {
        try self.init(files, path: nil)
    }

    /// Builds views for `files` at another path, for a store that cannot be written.
    init(_ files: StoreFiles, path: String?) throws(StoreError) {
        self.files = files
        let source = try ProjectionSource(files)
        self.source = source
        let incarnation = try source.log.meta("incarnation") ?? ""
        self.incarnation = incarnation
        let top = try source.log.top()
        goal = top
        let usual = path ?? files.views
        if let found = ViewDatabase.progress(at: usual, incarnation: incarnation, top: top) {
            position = found
            target = try mapped { () throws(SQLiteError) in try Target(path: usual, source: source) }
        } else {
            let new = path ?? files.newViews
            let found = ViewDatabase.progress(at: new, incarnation: incarnation, top: top)
            position = found ?? 0
            target = try mapped { () throws(SQLiteError) in
                if found == nil { try ViewDatabase.create(at: new, incarnation: incarnation) }
                return try Target(path: new, source: source)
            }
        }
    }

    /// Begins new views because the present ones are damaged.
    private func rebuild() throws(StoreError) {
        position = 0
        target = try mapped { () throws(SQLiteError) in
            try ViewDatabase.create(at: files.newViews, incarnation: incarnation)
            return try Target(path: files.newViews, source: source)
        }
    }

    /// Whether new views are being built because the old ones could not be used.
    package var isRebuilding: Bool { target.path == files.newViews }

    /// The last position of the log.
    package func top() throws(StoreError) -> UInt64 { try source.log.top() }

    /// Applies up to `limit` events. Returns the last position applied; when it did not change there was nothing to do.
    @discardableResult
    package func step(limit: Int = 65_536) throws(StoreError) -> UInt64 {
        let events = try source.batch(after: position, limit: limit)
        guard let last = events.last else {
            if isRebuilding { try finishRebuild() }
            return position
        }
        do {
            try mapped { () throws(SQLiteError) in try apply(events, last.position) }
        } catch {
            // What was gathered for the failed batch must not reach the next one.
            if case .corrupt = error, target.path == files.views {
                // If it is the log that is damaged, building new views fails in the same place and says so.
                try rebuild()
                return position
            }
            target = try mapped { () throws(SQLiteError) in try Target(path: target.path, source: source) }
            throw error
        }
        position = last.position
        if isRebuilding, position >= goal { try finishRebuild() }
        if target.store.connection.walPages >= 1_000 { _ = try? target.store.connection.checkpoint() }
        return position
    }

    /// Applies everything that is in the log now.
    package func catchUp(progress: (UInt64, UInt64) -> Void = { _, _ in }) throws(StoreError) {
        let top = try top()
        while position < top {
            try step()
            progress(position, top)
        }
        if isRebuilding { try finishRebuild() }
    }

    private func apply(_ events: [ProjectedEvent], _ last: UInt64) throws(SQLiteError) {
        let store = target.store
        try store.connection.transaction { () throws(SQLiteError) in
            for event in events {
                try store.clocks.apply(event, store)
                try apply(event, try change(for: event))
            }
            for view in target.views { try view.flush(store) }
            try store.run("UPDATE progress SET position = ?", .integer(Int64(bitPattern: last)))
        }
    }

    /// Of all events with one id the one counts that was recorded first (D6); it may arrive last.
    private func change(for event: ProjectedEvent) throws(SQLiteError) -> ViewChange {
        guard let first = event.twinOf else { return .insert }
        let earlier = try source.predecessors(of: event, first: first)
        guard let counting = earlier.min(by: { $0.precedes($1) }) else { return .insert }
        guard event.precedes(counting) else { return .shadow }
        for view in target.views where Self.reads(view, counting) {
            _ = try view.apply(counting, .remove, target.store)
        }
        return .insert
    }

    private func apply(_ event: ProjectedEvent, _ change: ViewChange) throws(SQLiteError) {
        for view in target.views {
            let name = type(of: view).name
            if !Self.reads(view, event) {
                try quarantine(event, name, "its header is of a later format")
            } else if let reason = try view.apply(event, change, target.store) {
                try quarantine(event, name, reason)
            }
        }
    }

    /// An event whose header has unknown fields is listed, and not interpreted.
    private static func reads(_ view: any View, _ event: ProjectedEvent) -> Bool {
        let name = type(of: view).name
        return !event.isFromTheFuture || name == TimelineView.name || name == HistoryView.name
    }

    private func quarantine(_ event: ProjectedEvent, _ view: String, _ reason: String) throws(SQLiteError) {
        try target.store.run(
            "INSERT OR REPLACE INTO quarantine VALUES(?, ?, ?)", .integer(Int64(bitPattern: event.position)),
            .text(view), .text(reason))
    }

    private func finishRebuild() throws(StoreError) {
        let source = source
        let new = target.path
        let pages = try mapped { () throws(SQLiteError) in try target.store.connection.checkpoint(truncate: true) }
        guard pages.wal == pages.copied else { throw .busy("somebody reads the views that are being built") }
        // The file must not be open under its old name when it moves.
        target = try mapped { () throws(SQLiteError) in
            try ViewDatabase.create(at: new + ".done", incarnation: incarnation)
            return try Target(path: new + ".done", source: source)
        }
        for suffix in ["-wal", "-shm"] { unlink(new + suffix) }
        try ViewDatabase.swap(new, into: files.views)
        target = try mapped { () throws(SQLiteError) in try Target(path: files.views, source: source) }
        for suffix in ["", "-wal", "-shm"] { unlink(new + ".done" + suffix) }
    }

    /// The digest of every view, and of the quarantine.
    package func digests() throws(StoreError) -> [ViewDigest] {
        try mapped { () throws(SQLiteError) in try ViewDigests.read(target.store, target.views) }
    }
}

/// Digests of all views.
enum ViewDigests {
    /// Of the views at `path`, in one read transaction.
    static func read(_ files: StoreFiles, path: String) throws(StoreError) -> [ViewDigest] {
        let source = try ProjectionSource(files)
        let connection = try openForReading(path)
        return try mapped { () throws(SQLiteError) in
            try connection.transaction("BEGIN") { () throws(SQLiteError) in
                try read(try ViewStore(connection: connection, source: source), ViewDatabase.makeViews())
            }
        }
    }

    static func read(_ store: ViewStore, _ views: [any View]) throws(SQLiteError) -> [ViewDigest] {
        var digests: [ViewDigest] = []
        for view in views {
            var sum = DigestSum()
            try view.digest(store, into: &sum)
            digests.append(sum.digest(of: type(of: view).name))
        }
        var sum = DigestSum()
        let log = store.source.log
        try store.rows("SELECT position, view, reason FROM quarantine") { row throws(SQLiteError) in
            let dot = try log.dot(at: row.uint64(0))
            sum.add(dot.description, row.text(1), row.text(2))
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

extension LogReader {
    func dot(at position: UInt64) throws(SQLiteError) -> Dot {
        let select = try connection.statement("SELECT origin, seq FROM event WHERE position = ?")
        defer { select.reset() }
        try select.bind(1, position)
        guard try select.step() else {
            throw SQLiteError(extendedCode: 11, message: "no event at \(position)", context: "event")
        }
        return Dot(origin: try names.origin(select.int64(0), on: connection), seq: select.uint64(1))
    }
}
