package import EventStore

/// What a session tells of a snapshot from its peer.
package enum SnapshotNews: Sendable {
    case opened(SnapshotOffer, after: UInt64)
    case refused(SessionFailure)
    case complete
}

// What ``SnapshotArbiter`` decides, put among the effects.
extension Mesh {
    /// Whether a session with `node` may offer or want a snapshot.
    ///
    /// - Parameter after: From what lead on one is wanted; 0: never.
    package func snapshotPolicy(for node: NodeID, offers: Bool, after: UInt64) -> SnapshotPolicy {
        snapshotTurn.policy(for: node, progress: log, own: local.origin, offers: offers, after: after)
    }

    /// Why there can be no session with `node` for now.
    func obstacle(for node: NodeID) -> String? { snapshotTurn.obstacle(for: node) }

    /// A peer offers a snapshot. False: it may not be taken.
    package mutating func snapshotOffered(
        by link: LinkID, of node: NodeID, now: Moment, effects: inout [Effect]
    ) -> Bool {
        guard let wanted = snapshotTurn.offered(by: node, link) else { return false }
        perform(wanted, now, &effects)
        return true
    }

    package mutating func snapshotNews(
        _ news: SnapshotNews, from link: LinkID, of node: NodeID, now: Moment, effects: inout [Effect]
    ) {
        let name = name(of: node)
        switch news {
        case .opened(let offer, let after):
            let from = after > 0 ? ", going on after \(after)" : ""
            let text = "snapshot of \(offer.events) events from \(name)\(from)"
            effects.append(.say(NodeRemark("SNAPSHOT_BEGINS", text, peer: name)))
        case .refused(let failure):
            let text = "snapshot from \(name) refused: \(failure.text); catching up event by event"
            effects.append(.say(NodeRemark("SNAPSHOT_REFUSED", text, peer: name)))
            perform(snapshotTurn.refused(from: node, link, failure), now, &effects)
        case .complete:
            effects.append(
                .say(NodeRemark("SNAPSHOT_COMPLETE", "snapshot from \(name) is complete and proved", peer: name)))
            perform(snapshotTurn.completed(), now, &effects)
        }
    }

    mutating func perform(_ wanted: [SnapshotArbiter.Effect], _ now: Moment, _ effects: inout [Effect]) {
        for effect in wanted {
            switch effect {
            case .stopOthers(let source):
                for node in entries.keys.sorted() where node != source {
                    for link in links(of: node) {
                        effects.append(.stop(link, SessionFailure(.busy, SnapshotArbiter.reason)))
                    }
                }
            case .drop(let keepSpool): effects.append(.dropSnapshot(keepSpool: keepSpool))
            case .dial: dialAll(now, &effects)
            case .reopen: effects.append(.reopen)
            }
        }
    }
}
