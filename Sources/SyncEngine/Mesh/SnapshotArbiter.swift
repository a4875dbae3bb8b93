package import EventStore

/// Whose snapshot an empty node takes, and who waits meanwhile: a pure state machine beside the sessions, as ``SourcePlan``
/// is. One peer gives it, over one link; the others are dialled again when it is in place or refused.
package struct SnapshotArbiter: Sendable {
    /// Tells a node's links apart.
    package typealias Link = LinkID

    /// What the shell does with the node's links and its store.
    package enum Effect: Hashable, Sendable {
        /// End the links to all other nodes: what they send now would be lost when the snapshot takes the log's place.
        case stopOthers(than: NodeID)
        /// Throw away what is being built, and let the store go on without. What came stays for another attempt, or not.
        case drop(keepSpool: Bool)
        /// Call the peers that have waited.
        case dial
        /// The log is there: open the store again.
        case reopen
    }

    private enum Stage {
        case free
        case taking(from: NodeID, by: Link)
        case complete
    }

    private var stage = Stage.free
    /// Peers whose snapshots were refused: from them events come one by one.
    private var refused: Set<NodeID> = []

    package init() {}

    /// Whether a session with `node` may offer or want a snapshot, in a node whose log stands at `progress`.
    ///
    /// - Parameter after: From what lead on one is wanted; 0: never.
    package func policy(
        for node: NodeID, progress: LocalVector, own: OriginID, offers: Bool, after: UInt64
    ) -> SnapshotPolicy {
        let isEmpty = progress.entries.map(\.progress).allowsSnapshot(own: own)
        let isFree =
            switch stage {
            case .free: true
            // Its first link may be dead without being noticed.
            case .taking(let source, _): source == node
            case .complete: false
            }
        let isWanted = isEmpty && isFree && !refused.contains(node)
        return SnapshotPolicy(offers: offers && !isEmpty, after: isWanted ? after : 0)
    }

    /// Why there can be no session with `node` for now.
    package func obstacle(for node: NodeID) -> String? {
        switch stage {
        case .free: nil
        case .taking(let source, _): source == node ? nil : Self.reason
        case .complete: "the node is about to open its log again"
        }
    }

    /// What peers and clients are told meanwhile.
    package static let reason = "the node is receiving its first copy of the log"

    /// `node` offers one over `link`; `nil`: another one is being taken.
    package mutating func offered(by node: NodeID, _ link: Link) -> [Effect]? {
        switch stage {
        case .complete: return nil
        case .free:
            stage = .taking(from: node, by: link)
            return [.stopOthers(than: node)]
        case .taking(let source, _):
            guard source == node else { return nil }
            stage = .taking(from: node, by: link)
            return [.drop(keepSpool: true)]
        }
    }

    /// The session on `link` has refused what `node` offered.
    package mutating func refused(from node: NodeID, _ link: Link, _ failure: SessionFailure) -> [Effect] {
        if failure.code != .busy { refused.insert(node) }
        guard isTaking(by: link) else { return [] }
        stage = .free
        return [.drop(keepSpool: failure.code == .busy || failure.code == .slowPeer), .dial]
    }

    /// A snapshot is proved and durable.
    package mutating func completed() -> [Effect] {
        stage = .complete
        return [.reopen]
    }

    /// `link` is gone: the store goes on without; what came is kept for the next time.
    package mutating func ended(_ link: Link) -> [Effect] {
        guard isTaking(by: link) else { return [] }
        stage = .free
        return [.drop(keepSpool: true), .dial]
    }

    private func isTaking(by link: Link) -> Bool {
        if case .taking(_, link) = stage { true } else { false }
    }
}
