internal import Glibc

/// Applies the log to the views, one batch in one transaction. Not Sendable; there is one for each store at a time.
package final class Projector {
    private let files: StoreFiles
    private let source: ProjectionSource
    /// Of which log the views are; another one once events got their payloads back.
    private var incarnation: String
    private let tails: ViewMemtables
    private(set) var target: ProjectionTarget
    /// The last position applied; of new views, while those are being built.
    package private(set) var position: UInt64
    /// Where the log ended when this began: new views take the old ones' place when they have come so far, even if the
    /// log has gone on since.
    private var goal: UInt64
    /// What says whether another process has written the views; `nil` for views at another place.
    private let mark: ViewsMark?
    /// Why the views that were there are not believed and built anew, if so.
    package let distrust: String?
    /// What has become of views that were there and are of another release, if they are, as a sentence.
    package let renewal: String?
    private let versions: ViewVersions
    /// Whether deferred views have put nothing off, as far as is known.
    package private(set) var isTidy = false
    /// How many events each view was given, by its name.
    private(set) var given: [String: UInt64] = [:]

    /// Rows that another process reads through quickly.
    private static let shortTail = 4_096

    /// How many events deferred views are given before others may go first: some tenths of a millisecond.
    private static let deferredPiece = 16

    /// Where the views lack no more events than this, others go first.
    private static let near: UInt64 = 16_384
    /// How many events are applied before others may go first.
    private static let turn = 64

    /// Opens the views of a store, or makes new ones beside them if they cannot be used; those take the old ones' place
    /// when they have caught up.
    ///
    /// - Parameters:
    ///   - path: Another place for the views, of a store that cannot be written.
    ///   - tails: What readers in the same process look into.
    ///   - versions: Those of another release, in tests.
    package init(
        _ files: StoreFiles, path: String? = nil, tails: ViewMemtables = ViewMemtables(),
        versions: ViewVersions = .current
    ) throws(StoreError) {
        self.files = files
        self.tails = tails
        self.versions = versions
        let source = try ProjectionSource(files)
        self.source = source
        incarnation = try source.log.viewMark()
        goal = try source.log.top()
        let (usual, mark) = (path ?? files.views, path == nil ? ViewsMark(files) : nil)
        self.mark = mark
        var distrust: String?
        if case .changed(let how)? = mark?.verdict() {
            if try ViewDatabase.standing(at: usual, of: source.log, through: goal) != nil { distrust = how }
            // No one is to read them meanwhile either.
            ViewDatabase.remove(files)
        }
        if distrust == nil, mark != nil {
            for path in [usual, files.newViews] where distrust == nil { distrust = ViewDatabase.storedCode(at: path) }
            if distrust != nil { ViewDatabase.remove(files) }
        }
        self.distrust = distrust
        try mark?.begin(isProven: mark?.verdict() != .unproven)
        let opened = try ProjectionTarget.open(
            [usual, path ?? files.newViews], goal, source, tails, versions)
        position = opened.position
        target = opened.target
        renewal = opened.renewal
        if path == nil, opened.target.path == usual { ViewDatabase.removeUnfinished(files) }
    }

    /// The last position that the deferred views have applied, too: at most ``position``.
    package var indexed: UInt64 { target.indexed }

    /// Whether views are being built anew, all of them or some: no reader may see them yet.
    package var isRebuilding: Bool { isReplacing || !target.behind.isEmpty }
    /// Whether new views of all kinds are being built beside the old ones.
    private var isReplacing: Bool { target.path == files.newViews }

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
        through durable: UInt64 = UInt64(Int64.max), limit: Int = 32_768, piece: Int = 2_048,
        mayCommit: () -> Bool = { true }
    ) throws(StoreError) -> UInt64 {
        if target.store.connection.walPages >= WALStanding.most { try makeRoom() }
        if !target.behind.isEmpty {
            try advance(limit: limit, piece: piece)
            return position
        }
        let first = try mapped { () throws(DatabaseError) in
            try source.events(after: position, through: durable, limit: min(limit, piece))
        }
        guard !first.isEmpty else {
            if isReplacing { try finishRebuild() }
            return position
        }
        var last = position
        guard
            try commit({ () throws(DatabaseError) in
                last = try apply(
                    first, to: target.views, after: position, through: durable, limit: limit, piece: piece)
                try ViewDatabase.advance(to: last, of: source.log, target.store.connection)
                guard mayCommit() else { throw .cancelled }
            })
        else {
            return position
        }
        position = last
        if isReplacing, position >= goal { try finishRebuild() }
        return position
    }

    /// Brings the deferred views further, in one transaction: at most to where the others stand.
    ///
    /// - Parameters:
    ///   - last: No further than this.
    ///   - limit: At most so many events.
    ///   - mayGoOn: Asked after a few milliseconds each; if not, the step ends where it is.
    package func stepDeferred(
        through last: UInt64 = .max, limit: Int = 1_024, mayGoOn: () -> Bool = { true }
    ) throws(StoreError) {
        if target.store.connection.walPages >= WALStanding.most { try makeRoom() }
        let (start, end) = (indexed, min(last, position))
        guard target.behind.isEmpty, start < end else { return }
        let first = try mapped { () throws(DatabaseError) in
            try source.events(after: start, through: end, limit: min(limit, Self.deferredPiece))
        }
        guard !first.isEmpty else { throw .corrupt("event \(start + 1): there is none at this position") }
        var applied = start
        let isDone = try commit { () throws(DatabaseError) in
            applied = try apply(
                first, to: target.deferred, after: start, through: end, limit: limit, piece: Self.deferredPiece,
                mayGoOn: mayGoOn)
            for view in target.deferred.all {
                try ViewDatabase.note(type(of: view), behind: applied, target.store.connection)
            }
        }
        if isDone { (target.indexed, isTidy) = (applied, false) }
    }

    /// Does a little of what deferred views have put off.
    package func tidyDeferred() throws(StoreError) {
        var isMore = false
        _ = try commit { () throws(DatabaseError) in
            for view in target.deferred.all where try view.tidy(target.store) { isMore = true }
        }
        isTidy = !isMore
    }

    /// Brings the views that are furthest behind nearer to where the others stand. The last step of that and what says that they stand
    /// there now are one transaction, as all steps before it: a process that is killed goes on where it was.
    private func advance(limit: Int, piece: Int) throws(StoreError) {
        let places = target.behind.values.sorted()
        guard let start = places.first else { return }
        let end = max(start, places.first { $0 > start } ?? position)
        let group = ViewGroup(
            target.views.all.filter { target.behind[type(of: $0).name] == start }, isWhole: false)
        let first = try mapped { () throws(DatabaseError) in
            try source.events(after: start, through: end, limit: min(limit, piece))
        }
        guard !first.isEmpty || start == end else {
            throw .corrupt("event \(start + 1): there is none at this position")
        }
        var last = start
        let isDone = try commit { () throws(DatabaseError) in
            last = try apply(first, to: group, after: start, through: end, limit: limit, piece: piece)
            for view in group.all {
                try ViewDatabase.note(
                    type(of: view), behind: last < position ? last : nil, target.store.connection)
            }
        }
        guard isDone else { return }
        try mapped { () throws(DatabaseError) in try target.lookAgain() }
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
                try ProjectionTarget(path: target.path, source: source, tails: tails, versions)
            }
            throw error
        }
        for tree in target.trees { tree.committed() }
        return true
    }

    /// When something of the WAL is to be copied, of the monotonic clock; `nil` if nothing is before the next step.
    var copyDue: UInt64? { target.wal.due }
    /// Whether that is now.
    var isCopyDue: Bool { target.wal.isDue }
    /// Copies a WAL that readers have kept until it was long; `nil` if there is none.
    var longWAL: Checkpointer? { target.wal.watch }

    /// Copies the WAL back if it is long.
    package func copyBack() throws(StoreError) {
        try copying { wal throws(DatabaseError) in if wal.isDue { try wal.copyBack() } }
    }

    /// Copies the WAL back. Where the disk refuses that, what of the views it has is unknown: they go, and the one that tries
    /// again builds new ones.
    private func copying(_ body: (ViewsWAL) throws(DatabaseError) -> Void) throws(StoreError) {
        do throws(DatabaseError) {
            try body(target.wal)
        } catch {
            guard error.afterCopying == .store else { return }
            ViewDatabase.remove(target.path)
            throw StoreError(error)
        }
    }

    /// The WAL has its greatest length.
    private func makeRoom() throws(StoreError) {
        try copyBack()
        guard let standing = longWAL?.standing, standing.isFull, standing.held != nil else { return }
        throw .busy(standing.text)
    }

    /// The file that readers see, where it is open here.
    var held: HeldFiles? { target.path == files.views ? target.held : nil }

    /// Whether a generation of rows is being moved into its table.
    package var isMerging: Bool { target.trees.contains { $0.isCompacting } }

    /// How many rows are in the tails.
    package var pending: Int { target.trees.saturatedSum(of: \.pending) }

    /// Moves rows of the tails into their tables.
    package func merge(rows: Int = 5_000) throws(StoreError) {
        for tree in target.trees { tree.freeze() }
        _ = try commit { () throws(DatabaseError) in
            for tree in target.trees { try tree.flush(target.store.connection, atLeast: rows) }
        }
        try copyBack()
    }

    /// Gives back the memory of work that is done, and the pages that merged tails have left. If those cannot be given back
    /// now they are used again later.
    package func release() throws(StoreError) {
        try? target.store.connection.execute("PRAGMA incremental_vacuum")
        try copying { wal throws(DatabaseError) in try wal.copyAll() }
        target.store.connection.releaseMemory()
        source.log.connection.releaseMemory()
        returnFreeMemory()
    }

    /// Applies everything that is in the log now, and leaves the tails short: another process may open the views next.
    ///
    /// - Parameter isIndexed: Also to the deferred views.
    package func catchUp(
        isIndexed: Bool = true, progress: (UInt64, UInt64) -> Void = { _, _ in }
    ) throws(StoreError) {
        let top = try top()
        while position < top || !target.behind.isEmpty {
            try step()
            try copyBack()
            progress(target.behind.values.min() ?? position, top)
        }
        if isReplacing { try finishRebuild() }
        while isIndexed, indexed < position {
            try stepDeferred(limit: 32_768)
            while !isTidy { try tidyDeferred() }
            try copyBack()
            progress(indexed, position)
        }
        guard pending > Self.shortTail else { return }
        while pending > 0 { try merge() }
        try release()
    }

    /// Brings the views of `files` up to date and lets go of them. Returns why they had to be built anew because another process had written
    /// them, if so.
    ///
    /// - Parameters:
    ///   - isIndexed: The deferred views, too.
    ///   - anew: Everything is applied again.
    @discardableResult
    package static func catchUp(
        _ files: StoreFiles, isIndexed: Bool = true, anew: Bool = false,
        progress: (UInt64, UInt64) -> Void = { _, _ in }
    ) throws(StoreError) -> String? {
        var projector: Projector? = try Projector(files)
        defer { close(&projector) }
        if anew { try projector?.beginRebuild() }
        try projector?.catchUp(isIndexed: isIndexed, progress: progress)
        return projector?.distrust
    }

    /// Lets go of the views in an orderly way, and signs what they are now. There must be no other reference to the projector.
    static func close(_ projector: inout Projector?) {
        guard let mark = projector?.closing() else { return projector = nil }
        projector = nil
        try? mark.end()
    }

    /// Gets ready to let go; gives the mark that is to be made when the views are closed. A file that the node did not have open gets
    /// none.
    private func closing() -> ViewsMark? {
        target.wal.close()
        guard held?.loss == nil else {
            unlink(files.viewsMark)
            return nil
        }
        return target.path == files.views ? mark : nil
    }

    /// Bytes of payloads after which a step ends: views keep what they have read until they write it (INV-9).
    private static let stepBytes = 16 << 20

    /// Applies the events of `first`, which come after `start`, and what follows them. Returns the position of the last.
    private func apply(
        _ first: [ProjectedEvent], to group: ViewGroup, after start: UInt64, through durable: UInt64, limit: Int,
        piece: Int, mayGoOn: () -> Bool = { true }
    ) throws(DatabaseError) -> UInt64 {
        let store = target.store
        var (events, left, last, refused) = (first, limit, start, UInt64(0))
        var room = Self.stepBytes
        let isNear = durable - start <= Self.near
        while let end = events.last {
            for (index, event) in events.enumerated() {
                if isNear, index % Self.turn == Self.turn - 1 { giveWay() }
                for view in group.watching { try view.watch(event, store) }
                let (change, replaced) = try change(for: event)
                if let replaced { _ = try apply(replaced, .remove, to: group) }
                if try apply(event, change, to: group) { refused += 1 }
            }
            last = end.position
            left -= events.count
            room -= events.reduce(0) { $0 + ($1.payload?.bytes.count ?? 0) }
            guard left > 0, room > 0, mayGoOn() else { break }
            // What cannot be read is no fault of the views: the next step meets it first, and says so.
            events = (try? source.events(after: last, through: durable, limit: min(left, piece))) ?? []
        }
        for view in group.all {
            try view.flush(store)
            given[type(of: view).name, default: 0] += last - start
        }
        try target.saveDigests(group)
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
    private func apply(
        _ event: ProjectedEvent, _ change: ViewChange, to group: ViewGroup
    ) throws(DatabaseError) -> Bool {
        var reasons: [(view: String, reason: String)] = []
        for view in group.views(for: event) {
            let reason = try view.apply(event, change, target.store)
            if let reason { reasons.append((type(of: view).name, reason)) }
        }
        // Hidden means hidden in both directions: what never went in is not taken out.
        guard change != .remove else { return false }
        if let obstacle = event.obstacle, group.isWhole {
            reasons.append((QuarantinedEvent.everyView, obstacle.reason))
        }
        if let malformed = event.malformed, group.hasView(MessagesView.name) {
            reasons.append((MessagesView.name, malformed))
        }
        for (view, reason) in reasons { try target.quarantine(event, view, reason) }
        return !reasons.isEmpty
    }

    /// Leaves the views where they are, for readers, and begins new ones beside them: because the old ones are damaged,
    /// or to try everything again that was refused.
    package func beginRebuild() throws(StoreError) {
        incarnation = try source.log.viewMark()
        target = try mapped { () throws(DatabaseError) in
            try ViewDatabase.create(at: files.newViews, incarnation: incarnation, versions)
            return try ProjectionTarget(path: files.newViews, source: source, tails: tails, versions)
        }
        (position, goal) = (0, try source.log.top())
    }

    private func finishRebuild() throws(StoreError) {
        let (source, new) = (source, target.path)
        target.wal.close()
        // Only what has left the WAL moves with the file.
        let left = try mapped { () throws(DatabaseError) in try target.store.connection.checkpoint(truncate: true) }
        guard left.wal <= left.copied else { throw .busy("somebody reads views that are being built") }
        // The file must not be open under its old name when it moves.
        target = try mapped { () throws(DatabaseError) in
            try ViewDatabase.create(at: files.doneViews, incarnation: incarnation, versions)
            return try ProjectionTarget(path: files.doneViews, source: source, tails: tails, versions)
        }
        for suffix in ["-wal", "-shm"] { unlink(new + suffix) }
        try ViewDatabase.swap(new, into: files.views)
        target = try mapped { () throws(DatabaseError) in
            try ProjectionTarget(path: files.views, source: source, tails: tails, versions)
        }
        ViewDatabase.remove(files.doneViews)
        try mark?.begin(isProven: true)
    }

    /// How many events are quarantined.
    package var quarantined: UInt64 { target.quarantined }

    /// The digest of every view, and of the quarantine.
    package func digests() throws(StoreError) -> [ViewDigest] {
        try mapped { () throws(DatabaseError) in try ViewDatabase.digests(target.store.connection) }
    }
}

extension ProjectedEvent {
    /// Whether of two events with one id this is the one that counts.
    fileprivate func precedes(_ other: ProjectedEvent) -> Bool {
        key.hlc != other.key.hlc ? key.hlc < other.key.hlc : key.dot < other.key.dot
    }
}
