internal import Glibc

/// Reads a store: the events of its log, and the views that are made of them. A query sees all that was in the log when it began.
///
/// ```swift
/// let reader = try EventReader(open: "/var/lib/syncd")
/// for entry in try reader.history(of: "u-1029", limit: 20) { print(entry.stored.event.header.type) }
/// ```
///
/// ## Freshness
/// The log is read as it is. Views follow it: those of a store that is open in this process (``init(_:)``), or in another one as in a
/// daemon's, are waited for, two seconds at most; then a query throws `E_BUSY`. Views of a store that no process has open are brought up
/// to date by the query itself, under the writer's lock. Where this user may not write it, or the disk is full, they are built in a
/// temporary folder; the first query then reads the whole log. A store whose log is replaced, as by a snapshot, is opened again.
///
/// ## Concurrency model
/// Any thread may call anything. Queries read the disk and block, one at a time; several readers of one store do not wait for each
/// other. In tasks use ``read(_:)``, which runs them on a thread outside of Swift's cooperative pool.
public final class EventReader: Sendable {
    /// Most events or entries that one call gives. A larger limit counts as this one, one below 1 as 1; neither is
    /// refused.
    public static let maximumPage = LogReader.largestPage.events

    let files: StoreFiles
    private let state: Lock<OpenReaders>
    private let queue = BlockingQueue(name: "sillok-reader")

    /// Reads the store in `folder`, whether a process has it open or not. The folder is left as it is but for the views.
    ///
    /// - Throws: `E_NO_STORE` if there is none; `E_PARAMETER` if `folder` is empty; `E_STORE_FILE` if it is a file or too long;
    ///   `E_PERMISSION` if this user may not read it; `E_FORMAT`, `E_CORRUPT` or `E_IO` if the log cannot be read.
    public convenience init(open folder: String) throws(StoreError) {
        self.init(Freshness(try StoreFiles(named: folder)))
        // What cannot be read is told now.
        _ = try top()
    }

    /// Reads a store that is open in this process, and keeps its views up to date from now on until it is closed: other programs find
    /// them fresh, too.
    ///
    /// - Throws: As ``init(open:)``, and `E_CLOSED`.
    public convenience init(_ store: EventStore) throws(StoreError) {
        self.init(Freshness(store.files, projector: try ProjectorThread.following(store)))
        _ = try top()
    }

    package init(_ freshness: Freshness) {
        files = freshness.files
        state = Lock(OpenReaders(freshness))
    }

    // MARK: Tasks

    /// Runs queries on a thread outside of Swift's cooperative pool: what a task does instead of calling them itself.
    ///
    /// ```swift
    /// let fields = try await reader.read { try $0.profile(of: "u-1029") }
    /// ```
    ///
    /// - Parameter body: What is to be asked; it gets this reader. What it throws is thrown.
    public func read<Value: Sendable>(
        _ body: @escaping @Sendable (EventReader) throws -> Value
    ) async throws -> Value {
        try await queue.value { [self] in Result { try body(self) } }.get()
    }

    // MARK: The log

    /// The position of the last event; 0 in an empty log.
    ///
    /// - Throws: `E_NO_STORE`, `E_PERMISSION`, `E_CORRUPT`, `E_IO`, as all queries.
    public func top() throws(StoreError) -> UInt64 {
        try log { log throws(StoreError) in try log.top() }
    }

    /// The next events after `position`, in the order of this node's log. A page ends early when its payloads come to about 1 MiB; an
    /// empty one is the end of the log. ``EventStore/subscribe(after:id:)`` goes on from there.
    ///
    /// - Parameters:
    ///   - position: Where the last page ended; 0 for the first one.
    ///   - limit: At most so many, 1 to ``maximumPage``; what lies outside counts as the nearer of both.
    public func events(after position: UInt64 = 0, limit: Int = maximumPage) throws(StoreError) -> [StoredEvent] {
        try log { log throws(StoreError) in try log.page(after: position, limit: Self.clamped(limit)) }
    }

    /// The event at a position of this node's log; `nil` if the log does not reach so far.
    public func event(at position: UInt64) throws(StoreError) -> StoredEvent? {
        try log { log throws(StoreError) in try log.event(at: position) }
    }

    /// The event with this id; of several, which different nodes have appended, the one that was recorded first and counts. `nil` if there is none.
    public func event(_ id: EventID) throws(StoreError) -> StoredEvent? {
        try log { log throws(StoreError) in try log.countingEvent(id: id) }
    }

    // MARK: The views

    /// A user's events across conversations, the newest first, with what became of each message. A page ends early when its payloads come to
    /// about 1 MiB; an empty one is the end.
    ///
    /// - Parameters:
    ///   - user: Whose.
    ///   - key: ``TimelineEntry/key`` of the last entry of the page before; `nil` for the newest.
    ///   - limit: At most so many, 1 to ``maximumPage``; what lies outside counts as the nearer of both.
    /// - Throws: As all queries of views `E_BUSY`, which may pass; `E_DISK`, because a query first brings the views
    ///   up to date and writes down how far they are; and what ``top()`` throws.
    public func history(
        of user: String, before key: DisplayKey? = nil, limit: Int = 50
    ) throws(StoreError) -> [TimelineEntry] {
        try newest(limit, of: .user(user), TimelineQuery(), before: key)
    }

    /// A conversation's events, the newest first, as ``history(of:before:limit:)``.
    public func conversation(
        _ id: String, before key: DisplayKey? = nil, limit: Int = 50
    ) throws(StoreError) -> [TimelineEntry] {
        try newest(limit, of: .conversation(id), TimelineQuery(), before: key)
    }

    /// Conversations, the one that was active last first. A few more than `limit` when they were active at the same moment; none at
    /// the end.
    ///
    /// - Parameters:
    ///   - last: The last one of the page before; `nil` for the first page.
    ///   - limit: So many, 1 to ``maximumPage``; what lies outside counts as the nearer of both.
    public func conversations(
        after last: ConversationSummary? = nil, limit: Int = 50
    ) throws(StoreError) -> [ConversationSummary] {
        try fresh { views throws(StoreError) in
            try views.conversations(limit: Self.clamped(limit), before: last?.place)
        }
    }

    /// One conversation's title and counts; `nil` if no event speaks of it.
    public func summary(of conversation: String) throws(StoreError) -> ConversationSummary? {
        try fresh { views throws(StoreError) in try views.conversationSummary(conversation) }
    }

    /// What a user has said of themselves (`profile.changed`), fields by name. A field that was last set to `null` is left out, unless
    /// that is a conflict.
    public func profile(of user: String) throws(StoreError) -> [ProfileField] {
        try fresh { views throws(StoreError) in try views.profile(user: user) }
    }

    /// How often each answer of a survey was given, by question and answer; none at the end.
    ///
    /// - Parameters:
    ///   - name: Which survey.
    ///   - question: Only this one; `nil` for all.
    ///   - last: The last one of the page before; `nil` for the first page.
    ///   - limit: At most so many, 1 to ``maximumPage``; what lies outside counts as the nearer of both.
    public func survey(
        _ name: String, question: String? = nil, after last: SurveyCount? = nil, limit: Int = maximumPage
    ) throws(StoreError) -> [SurveyCount] {
        let limit = Self.clamped(limit)
        return try fresh { views throws(StoreError) in
            var counts: [SurveyCount] = []
            try views.survey(name, question: question, after: last) { count in
                counts.append(count)
                return counts.count < limit
            }
            return counts
        }
    }

    func newest(
        _ limit: Int, of owner: TimelineOwner, _ query: TimelineQuery, before key: DisplayKey?
    ) throws(StoreError) -> [TimelineEntry] {
        try fresh { views throws(StoreError) in
            var page = try views.newest(limit, of: owner, query, before: key)
            // What does not count fills pages that have nothing to show.
            while page.entries.isEmpty, let next = page.next {
                page = try views.newest(limit, of: owner, query, before: next)
            }
            return page.entries
        }
    }

    // MARK: Proof

    /// Proves the store from its files: every event is hashed again, every head's signature checked. Reads the whole log; other queries of
    /// this reader do not wait for it. Damage is reported, not thrown.
    ///
    /// - Parameter progress: Runs now and then with the last position seen and the last one there is.
    /// - Throws: What ``top()`` throws, for a store that cannot be read at all.
    public func verify(
        progress: (_ position: UInt64, _ top: UInt64) -> Void = { _, _ in }
    ) throws(StoreError) -> VerifyReport {
        try Verifier(files).run { progress($0, $1) }
    }

    // MARK: In this package

    /// Views of the caller's own that show all that is in the log now.
    ///
    /// - Parameter isIndexed: The deferred ones, too, where that does not take long.
    package func views(isIndexed: Bool = false) throws(StoreError) -> ViewReader {
        try state.withLock { (open: inout OpenReaders) throws(StoreError) in
            try open.makeFreshViews(isIndexed: isIndexed)
        }
    }

    /// How many events a conversation has, and when the log was at which position: for optimistic concurrency.
    package func conversationVersion(_ id: String) throws(StoreError) -> (version: UInt64, at: UInt64) {
        try fresh { views throws(StoreError) in try views.conversationVersion(id) }
    }

    static func clamped(_ limit: Int) -> Int { min(max(limit, 1), maximumPage) }

    /// Runs `body` on the log, for which no view is waited.
    package func log<Value>(_ body: (LogReader) throws(StoreError) -> Value) throws(StoreError) -> Value {
        try state.withLock { (open: inout OpenReaders) throws(StoreError) in try body(try open.currentLog()) }
    }

    /// Runs `body` on views that show all that is in the log now; once more, if they were built anew meanwhile.
    ///
    /// - Parameters:
    ///   - term: How long `body` may take.
    ///   - isIndexed: Whether deferred views are to be fresh, too, where that does not take long.
    package func fresh<Value>(
        _ term: AnswerTerm? = nil, isIndexed: Bool = false, _ body: (ViewReader) throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        try state.withLock { (open: inout OpenReaders) throws(StoreError) in try open.fresh(term, isIndexed, body) }
    }
}

/// What a reader has open, one for each: opened again when it is not what stands in the folder any longer.
package struct OpenReaders {
    private let freshness: Freshness
    private var log: LogReader?
    /// Of the log that is open.
    private var logFile: ino_t = 0
    private var views: ViewReader?

    package init(_ freshness: Freshness) { self.freshness = freshness }

    /// The log that is in the folder now; another reader than before, if another log has taken its place.
    package mutating func currentLog() throws(StoreError) -> LogReader {
        let files = freshness.files
        var entry = stat()
        guard stat(files.log, &entry) == 0 else {
            let error = files.absence
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
        _ term: AnswerTerm?, _ isIndexed: Bool, _ body: (ViewReader) throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        let top = try currentLog().top()
        while true {
            let reader = try current(top, isIndexed)
            let file = reader.inode
            do throws(StoreError) {
                // What was waited for until here is no work.
                term?.begin()
                reader.term = term
                defer { reader.term = nil }
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
    mutating func makeFreshViews(isIndexed: Bool) throws(StoreError) -> ViewReader {
        try freshness.views(upTo: try currentLog().top(), isIndexed: isIndexed)
    }

    private mutating func current(_ top: UInt64, _ isIndexed: Bool) throws(StoreError) -> ViewReader {
        if let views, views.shows(top, isIndexed) { return views }
        let reused = views
        views = nil
        let found = try freshness.views(upTo: top, isIndexed: isIndexed, reusing: reused)
        views = found
        return found
    }
}

/// The rule by which views are fresh: a query sees everything that was in the log when it began.
///
/// A projector of this process, or a running daemon, keeps them so; it gets two seconds. Without one they are brought up to date here,
/// under the writer's lock, or built in a temporary place when the store cannot be written. `syncctl` builds those of a log that is not
/// long there, too, when a daemon does not bring them up to date.
package struct Freshness: Sendable {
    /// What the one who asks is told meanwhile.
    package struct Told: Sendable {
        /// What other processes are told when they find the store in use.
        var owner = "a reader, pid \(getpid())"
        /// How many events were applied, and how many there are.
        var progress: @Sendable (UInt64, UInt64) -> Void = { _, _ in }
        /// A sentence for people.
        var remark: @Sendable (String) -> Void = { _ in }
        /// Told how many events are missing, when the answer is to be given without them; `nil`: it is refused.
        var lacking: (@Sendable (UInt64) -> Void)?

        /// Nothing.
        init() {}

        package init(
            owner: String, progress: @escaping @Sendable (UInt64, UInt64) -> Void,
            remark: @escaping @Sendable (String) -> Void, lacking: @escaping @Sendable (UInt64) -> Void
        ) {
            (self.owner, self.progress, self.remark, self.lacking) = (owner, progress, remark, lacking)
        }
    }

    /// How long the one who keeps the views is waited for, milliseconds.
    private static let patience = (all: 2_000, each: 20)
    /// Deferred views that lack more events than this are not waited for: the answer says what it lacks.
    private static let worthWaiting: UInt64 = 65_536
    /// Views of a log that is no longer, in bytes, are built anew in about a second.
    private static let worthBuilding = 64 << 20

    let files: StoreFiles
    private let told: Told
    /// Keeps the views up to date in this process.
    private let projector: ProjectorThread?

    package init(_ files: StoreFiles, projector: ProjectorThread? = nil, _ told: Told = Told()) {
        (self.files, self.projector, self.told) = (files, projector, told)
    }

    /// Views that show the log up to `top`.
    ///
    /// - Parameters:
    ///   - isIndexed: Whether deferred views are waited for, too.
    ///   - open: Views that were given before, if they are open still.
    func views(
        upTo top: UInt64, isIndexed: Bool, reusing open: ViewReader? = nil
    ) throws(StoreError) -> ViewReader {
        if let projector {
            guard projector.wait(for: top, milliseconds: Self.patience.all) else {
                throw projector.lastError ?? .busy("the views are behind")
            }
            let indexed = projector.indexed
            if isIndexed, top - min(top, indexed) <= Self.worthWaiting {
                _ = projector.waitUntilIndexed(top, milliseconds: Self.patience.all)
            }
            if let open, open.shows(top, false) { return open }
            return try ViewReader(files, tails: projector.tails)
        }
        let start = MonotonicClock.now
        while true {
            let isOpen = open?.isInPlace == true
            if let reader = isOpen ? open : existing(), reader.shows(top, isIndexed) { return reader }
            if isReadOnFullDisk(files.log) { return try temporary(isIndexed, "the disk is full") }
            if StoreLock.owner(files) == nil, access(files.folder, W_OK) == 0, !StoreLock.isForeign(files.folder) {
                if let reader = try caughtUp(isIndexed) { return reader }
            } else if StoreLock.owner(files) == nil {
                return try temporary(isIndexed)
            }
            if (MonotonicClock.now - start) / 1_000_000 >= Self.patience.all { return try stale(top, isIndexed) }
            sleepMilliseconds(Self.patience.each)
        }
    }

    /// The views that are there; `nil` if there are none yet, or none that can be read: they can be built anew.
    private func existing() -> ViewReader? {
        guard access(files.views, R_OK) == 0 else { return nil }
        // A daemon looks at its start, and knows what it has written since.
        if StoreLock.owner(files) == nil {
            if case .changed? = ViewsMark(files)?.verdict() { return nil }
            // What a killed process has left beside them goes when they are taken up.
            if access(files.newViews, F_OK) == 0, access(files.folder, W_OK) == 0 { return nil }
        }
        return try? ViewReader(files)
    }

    /// Brings the views up to date; `nil` if another process has just taken the store.
    private func caughtUp(_ isIndexed: Bool) throws(StoreError) -> ViewReader? {
        do throws(StoreError) {
            let lock = try StoreLock(files, owner: told.owner)
            defer { withExtendedLifetime(lock) {} }
            let distrust = try Projector.catchUp(files, isIndexed: isIndexed, progress: told.progress)
            if let distrust { told.remark("the views were built anew: \(distrust)") }
            return try ViewReader(files)
        } catch {
            switch error {
            case .locked: return nil
            case .io, .badFile, .diskFull: return try temporary(isIndexed)
            default: throw error
            }
        }
    }

    private func temporary(
        _ isIndexed: Bool, _ reason: String = "the store cannot be written"
    ) throws(StoreError) -> ViewReader {
        told.remark("\(reason): building its views in a temporary place")
        return try ViewReader(temporary: files, isIndexed: isIndexed)
    }

    private var isShort: Bool {
        [files.log, files.log + "-wal"].reduce(0) { sum, name in
            var entry = stat()
            return stat(name, &entry) == 0 ? sum + Int(entry.st_size) : sum
        } <= Self.worthBuilding
    }

    /// What the one who keeps the views does not bring up to date. Of a log that is not long it is built here; else it is what there is
    /// without the newest events, for one who takes it so.
    private func stale(_ top: UInt64, _ isIndexed: Bool) throws(StoreError) -> ViewReader {
        let there = existing()
        if isIndexed, let there, there.shows(top, false) { return there }
        // There may be no room for them either.
        if isShort, let built = try? temporary(isIndexed, "the views are behind") { return built }
        guard let lacking = told.lacking else {
            let owner = StoreLock.owner(files) ?? "another process"
            throw .busy(
                "the views are behind: \(owner) has the store open, and keeps an EventReader(store) open if it is to bring them up to date"
            )
        }
        guard let reader = there else { return try temporary(isIndexed) }
        let position = try reader.progress()
        if position < top { lacking(top - position) }
        return reader
    }
}

extension ViewReader {
    /// Whether the views show the log up to `top`.
    fileprivate func shows(_ top: UInt64, _ isIndexed: Bool) -> Bool {
        guard let position = try? progress(), position >= top else { return false }
        guard isIndexed else { return true }
        return (try? indexed()).map { $0 >= top } ?? false
    }
}
