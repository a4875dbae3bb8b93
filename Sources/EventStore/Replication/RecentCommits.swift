/// The events of one commit, if they are few.
struct FewEvents {
    /// Most events, and most bytes of payloads.
    static let most = (events: 32, bytes: 16 << 10)

    private(set) var events: [StoredEvent] = []
    private var bytes = 0
    /// Whether there may still be few.
    private(set) var hasRoom = true

    mutating func add(_ event: StoredEvent) {
        bytes += event.event.body.count
        events.append(event)
        guard events.count > Self.most.events || bytes > Self.most.bytes else { return }
        hasRoom = false
        events = []
    }
}

/// The end of a log, in memory: what was committed just now goes to the peers without being read back. Not Sendable; belongs
/// to those that are told of commits.
package final class RecentCommits {
    /// Without gaps, in the order of their positions.
    private var events: [StoredEvent] = []

    package init() {}

    /// Takes in a commit.
    package func add(_ notice: CommitNotice) {
        if let last = events.last, last.position + 1 != notice.events.first?.position { events = [] }
        events += notice.events
        var bytes = 0
        let kept = events.reversed().prefix(FewEvents.most.events).prefix { stored in
            bytes += stored.event.body.count
            return bytes <= FewEvents.most.bytes
        }
        events.removeFirst(events.count - kept.count)
    }
}

extension RecentCommits: OutgoingLog {
    package func scan(
        after position: UInt64, limit: Int, _ body: (StoredEvent) -> Bool
    ) throws(StoreError) -> UInt64 {
        guard let first = events.first?.position, position + 1 >= first else { throw Self.elsewhere }
        var last = position
        for stored in events.dropFirst(Int(clamping: position + 1 - first)).prefix(limit) {
            last = stored.position
            if !body(stored) { break }
        }
        return last
    }

    package func top() throws(StoreError) -> UInt64 { throw Self.elsewhere }
    package func vector() throws(StoreError) -> VersionVector { throw Self.elsewhere }
    package func event(_ dot: Dot) throws(StoreError) -> StoredEvent? { throw Self.elsewhere }

    package func head(
        of origin: OriginID, atLeast size: UInt64, largest: Bool
    ) throws(StoreError) -> SignedHead? { throw Self.elsewhere }

    package func consistency(
        of origin: OriginID, from old: UInt64, to new: UInt64, using sha: SHA256
    ) throws(StoreError) -> [Digest] { throw Self.elsewhere }

    package func reach(of origin: OriginID) throws(StoreError) -> PendingCoverage? { throw Self.elsewhere }

    package func coverage(ofFirst old: UInt64, by reach: PendingCoverage, using sha: SHA256) throws(StoreError)
        -> Coverage?
    {
        throw Self.elsewhere
    }

    /// The file has to be asked.
    private static let elsewhere = StoreError.busy("not in memory")
}
