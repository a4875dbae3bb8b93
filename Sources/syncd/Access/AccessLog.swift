internal import Access
internal import EventStore
internal import SyncEngine

/// Records who reads what others have said, before they read it (INV-17).
///
/// ## Concurrency model
/// One lock around what was recorded lately. Recording blocks the thread that is about to answer.
final class AccessLog: Sendable {
    /// One record, by what it says: the same again is not written for a while.
    private struct Read: Hashable {
        let actor: EventActor
        let said: Digest
    }

    /// What is recorded again after so long, milliseconds.
    static let validity: Int64 = 600_000
    private static let most = 4_096
    /// Most people that one event names.
    private static let mostUsers = 100
    private static let longestReason = 1_024
    private static let header = "Sillok-Reason"

    private let store: EventStore
    private let recent = Lock<[Read: Int64]>([:])
    private let recorded = Lock<UInt64>(0)

    init(_ store: EventStore) { self.store = store }

    /// Reads that were recorded since the start.
    var count: UInt64 { recorded.withLock { $0 } }

    /// What stands in a header for bytes that are no UTF-8. A reason with it says less than its writer meant.
    private static let garbled: Character = "\u{FFFD}"

    /// Why a recorded caller reads; `nil` where the request does not say.
    static func reason(_ request: HTTPRequest) -> String? {
        guard let text = request.header(header), !text.allSatisfy(\.isWhitespace),
            text.utf8.count <= longestReason, !text.contains(garbled)
        else { return nil }
        return text
    }

    /// Parameters that change how much of the same is told, from when, in which order or form: not whose. All others do.
    static let ofPages: Set<String> = [
        "limit", "cursor", "after", "order", "sort", "wait_ms", "at_least", "live", "count", "depth", "since",
        "until",
        "as_of", "known_at",
    ]

    /// What is read: the path, and each parameter that says of whom or what. Two reads of different people's are never the same.
    static func subject(_ request: HTTPRequest) -> String {
        let said = request.query.filter { !ofPages.contains($0.name) }.map { "\($0.name)=\($0.value)" }.sorted()
        return request.path + (said.isEmpty ? "" : "?" + said.joined(separator: "&"))
    }

    /// Records a read of a caller whose reads are recorded. It is durable when this returns.
    ///
    /// - Parameters:
    ///   - route: Its label: the path with each name as `{}`.
    ///   - subject: What is read: ``subject(_:)``.
    ///   - users: Whom it concerns; none: many. More than one event names are named by several.
    func record(
        _ caller: Caller, route: String, subject: String, users: some Sequence<String>, reason: String
    ) throws(StoreError) {
        let users = TextSet(users).sorted()
        let now = WallClock.now
        let sha = SHA256()
        var new: [(read: Read, draft: EventDraft)] = []
        for start in stride(from: 0, to: max(users.count, 1), by: Self.mostUsers) {
            let draft = AccessGrant.draft(
                reading: route, subject: subject, users: Array(users.dropFirst(start).prefix(Self.mostUsers)),
                reason: reason, by: caller.actor, at: store.identity.node)
            let read = Read(actor: caller.actor, said: sha.digest(draft.payload))
            let at = recent.withLock { $0[read] }
            if let at, now - at < Self.validity, now >= at { continue }
            new.append((read, draft))
        }
        guard !new.isEmpty else { return }
        _ = try store.recordBlocking(new.map(\.draft))
        recorded.withLock { $0 += UInt64(new.count) }
        recent.withLock { recent in
            if recent.count >= Self.most { recent = [:] }
            for (read, _) in new { recent[read] = now }
        }
    }

    /// Users, and those who take part in conversations, at most 100 of each of these: to whom a read is narrowed.
    static func concerned(
        _ users: [String], _ conversations: [String], _ views: ViewReader
    ) throws(StoreError) -> [String] {
        var users = users
        for conversation in conversations {
            users += try views.participants(of: conversation, limit: mostUsers).map(\.user)
        }
        return users
    }
}
