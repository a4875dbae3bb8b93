internal import EventStore

/// Who reads and who receives snapshots for a node.
struct SnapshotEndpoint: Sendable {
    let server: SnapshotServer
    let intake: SnapshotReceiver
    let options: SnapshotOptions
    let onComplete: @Sendable () -> Void
}

/// What a link tells of a snapshot from its peer.
enum SnapshotNews {
    case opened(SnapshotOffer, after: UInt64)
    case refused(SessionFailure)
    case complete
}

// What ``SnapshotArbiter`` decides, done.
extension SyncNode.Core {
    /// Whether a session with `node` may offer or want a snapshot.
    func snapshotPolicy(for node: NodeID) -> SnapshotPolicy {
        snapshotTurn.policy(
            for: node, progress: progress, own: local.origin, offers: snapshots.options.offers,
            after: snapshots.options.after)
    }

    /// Why there can be no session with `node` for now.
    func obstacle(for node: NodeID) -> String? { snapshotTurn.obstacle(for: node) }

    /// Whether what the peer offers may be taken.
    func takesSnapshot(from link: PeerLink) -> Bool {
        guard let effects = snapshotTurn.offered(by: link.node, ObjectIdentifier(link)) else { return false }
        perform(effects)
        return true
    }

    func snapshotNews(_ link: PeerLink, _ news: SnapshotNews) {
        let name = entries[link.node]?.peer.name ?? link.node.short
        switch news {
        case .opened(let offer, let after):
            let from = after > 0 ? ", going on after \(after)" : ""
            log("snapshot of \(offer.events) events from \(name)\(from)")
        case .refused(let failure):
            log("snapshot from \(name) refused: \(failure.text); catching up event by event")
            perform(snapshotTurn.refused(from: link.node, ObjectIdentifier(link), failure))
        case .complete:
            log("snapshot from \(name) is complete and proved")
            perform(snapshotTurn.completed())
        }
    }

    func perform(_ effects: [SnapshotArbiter.Effect]) {
        for effect in effects {
            switch effect {
            case .stopOthers(let source):
                for node in entries.keys.sorted() where node != source {
                    for link in [entries[node]?.link, entries[node]?.candidate] {
                        link?.stop(SessionFailure(.busy, SnapshotArbiter.reason))
                    }
                }
            case .drop(let keepSpool): snapshots.intake.drop(keepSpool: keepSpool)
            case .dial: for node in entries.keys.sorted() { dial(node) }
            case .reopen: snapshots.onComplete()
            }
        }
    }
}
