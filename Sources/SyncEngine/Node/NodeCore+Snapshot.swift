internal import EventStore

/// Who reads and who receives snapshots for a node.
struct SnapshotDesk: Sendable {
    let server: SnapshotServer
    let intake: SnapshotIntake
    let options: SnapshotOptions
    let onComplete: @Sendable () -> Void
}

/// What a link tells of a snapshot from its peer.
enum SnapshotNews {
    case offered(SnapshotOffer)
    case opened(SnapshotOffer, after: UInt64)
    case refused(SessionFailure)
    case complete
}

/// One peer at a time gives an empty node its snapshot; the others wait until it is in place or refused.
extension SyncNode.Core {
    /// Whether a session with `node` may offer or want a snapshot.
    func snapshotPolicy(for node: NodeID) -> SnapshotPolicy {
        let own = progress[local.origin]?.seq ?? 0
        let isEmpty =
            progress.entries.allSatisfy { $0.progress.origin == local.origin } && own <= EventStore.mostOwnEvents
        let isWanted = isEmpty && snapshotSource == nil && !isComplete && !refusedSnapshots.contains(node)
        return SnapshotPolicy(
            offers: snapshots.options.offers && !isEmpty, after: isWanted ? snapshots.options.after : 0)
    }

    /// Why there can be no session with `node` for now.
    func obstacle(for node: NodeID) -> String? {
        if isComplete { return "the node is about to open its log again" }
        if let snapshotSource, snapshotSource != node { return "the node is receiving its first copy of the log" }
        return nil
    }

    func snapshotNews(_ link: PeerLink, _ news: SnapshotNews) {
        let name = entries[link.node]?.peer.name ?? link.node.short
        switch news {
        case .offered:
            guard snapshotSource == nil, !isComplete else { return }
            snapshotSource = link.node
            // What they send now would be lost when the snapshot takes the log's place.
            for node in entries.keys.sorted() where node != link.node {
                entries[node]?.link?.stop(
                    SessionFailure(.busy, "the node is receiving its first copy of the log"))
            }
        case .opened(let offer, let after):
            let from = after > 0 ? ", going on after \(after)" : ""
            log("snapshot of \(offer.events) events from \(name)\(from)")
        case .refused(let failure):
            log("snapshot from \(name) refused: \(failure.text); catching up event by event")
            refusedSnapshots.insert(link.node)
            snapshots.intake.refuse(keepSpool: failure.code == .busy || failure.code == .slowPeer)
            leaveSnapshot()
        case .complete:
            log("snapshot from \(name) is complete and proved")
            isComplete = true
            snapshots.onComplete()
        }
    }

    /// The link that a snapshot came by is gone: the store goes on without; what came is kept for the next time.
    func snapshotLinkEnded(_ link: PeerLink) {
        guard snapshotSource == link.node, !isComplete else { return }
        switch link.session.snapshot.role {
        case .over, .complete: return
        default: break
        }
        snapshots.intake.drop(keepSpool: true)
        leaveSnapshot()
    }

    private func leaveSnapshot() {
        snapshotSource = nil
        for node in entries.keys.sorted() { dial(node) }
    }
}
