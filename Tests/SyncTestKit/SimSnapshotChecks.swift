internal import EventStore
internal import SyncEngine

// What must hold of snapshots, seen from outside of the nodes.
extension SimChecks {
    /// INV-9: rows have credit, too.
    func sendingRows(_ frame: Frame, _ link: SimPeerLink, _ node: SimNode) {
        sim.coverage.count(.snapshotPieces)
        guard let allowance = link.allowance, allowance > 0 else {
            return sim.violate("INV-9", "\(node.name) sends rows without credit")
        }
        link.allowance = allowance - Int64(frame.count)
    }

    /// The windows that a snapshot changes.
    func receivedSnapshot(_ frame: Frame, _ end: SimPeerLink) {
        switch try? Message(frame: frame) {
        case .snapshotGet(let get)?:
            end.allowanceLimit = Int64(clamping: max(UInt64(sim.limits.window), min(get.window, 64 << 20)))
        case .snapshotDone?: end.allowanceLimit = Int64(clamping: sim.limits.window)
        default: return
        }
        end.allowance = end.allowanceLimit
    }

    /// A log that was received takes the place of the node's own: it begins with that, has of all other origins what was
    /// offered, and every event in it is the one known elsewhere. Its clients' events are still there, and it is the same node.
    func installed(_ node: SimNode, _ new: SimNode.Ready, over old: SimLog) {
        let log = new.file.log
        guard log.own == old.own, log.key(of: old.own) == node.key.publicKey else {
            return sim.violate("snapshot", "\(node.name): another identity came with a snapshot")
        }
        let isSame =
            old.events.count <= log.events.count
            && zip(old.events, log.events).allSatisfy { $0.event.header == $1.event.header }
        guard isSame else {
            return sim.violate("INV-2", "\(node.name): a snapshot does not begin with what was here")
        }
        guard log.size(of: old.own) == old.size(of: old.own) else {
            return sim.violate("INV-1", "\(node.name): own events changed with a snapshot")
        }
        for stored in log.events.dropFirst(old.events.count) {
            let leaf = sha.leaf(of: stored.event)
            guard written[stored.event.header.dot]?.contains(leaf) == true else {
                return sim.violate("INV-4", "\(node.name): nobody wrote the \(stored.event.header.dot) of a snapshot")
            }
        }
        let offered = new.offer.entries.filter { $0.origin != old.own }.map { Dot(origin: $0.origin, seq: $0.seq) }
        guard log.vector.entries.filter({ $0.origin != old.own }) == offered else {
            return sim.violate("snapshot", "\(node.name): a snapshot holds something else than was offered")
        }
        committed(node, before: old, after: log)
    }

    /// An honest node's snapshot is right: refused it may be for want of room or time, not for what is in it.
    func refusedSnapshot(_ failure: SessionFailure, from source: SimNode, by node: SimNode) {
        let isHonest =
            !source.disguise.isHostile && !sim.damaged.contains(source.index)
            && !sim.damaged.contains(node.index) && tainted.isEmpty && !hasForgotten(source) && !hasForgotten(node)
        guard isHonest else { return }
        switch failure.code {
        case .badFrame, .badChain, .badProof, .badSignature, .causalGap, .snapshot:
            sim.violate("snapshot", "\(node.name) refuses what \(source.name) has: \(failure.text)")
        default: break
        }
    }
}
