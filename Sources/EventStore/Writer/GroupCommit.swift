/// A commit that stands in the WAL, with what is to be said when the disk has it.
struct GroupCommit: Sendable {
    /// Whom to tell if that fails.
    let jobs: [LogWriter.Job]
    let answers: [@Sendable () -> Void]
    let events: Int
    /// Whether it wrote anything.
    let hasWritten: Bool
    /// How the node's own origin stands with it.
    let own: OriginState?
    /// Where the log ends with it.
    var end: LogEnd?
    var notice: CommitNotice?
}

/// Commits on their way to the disk: one sync at a time, and the next commit is written beside it.
///
/// More would be smaller: what comes while one is synced and one waits makes the next larger.
struct CommitPipeline {
    /// How many events are being synced; `nil` while no thread syncs.
    private(set) var syncing: Int?
    private var waiting: [GroupCommit] = []

    /// Whether everything that was written is durable, and answered.
    var isEmpty: Bool { syncing == nil && waiting.isEmpty }
    /// Whether a thread should sync.
    var isSyncDue: Bool { syncing == nil && !waiting.isEmpty }

    /// Whether a commit of so many events should be written now. One of a few events would go ahead of the many that the sync
    /// under way is about to answer, and whose next ones are about to come.
    func hasRoom(for events: Int) -> Bool {
        guard waiting.isEmpty else { return false }
        return syncing.map { events * 2 >= $0 } ?? true
    }

    mutating func add(_ commit: GroupCommit) { waiting.append(commit) }

    /// Begins to sync what waits, and gives it; nothing if a thread syncs already, or if nothing waits.
    mutating func begin() -> [GroupCommit] {
        guard isSyncDue else { return [] }
        syncing = waiting.saturatedSum(of: \.events)
        defer { waiting = [] }
        return waiting
    }

    /// What was synced has been answered.
    mutating func end() { syncing = nil }

    /// Nothing more will be synced. Gives what waited.
    mutating func abandon() -> [GroupCommit] {
        defer { self = CommitPipeline() }
        return waiting
    }
}
