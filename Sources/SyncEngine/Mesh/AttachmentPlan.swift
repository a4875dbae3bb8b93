package import EventStore

/// Which peer is asked for which attachment: each is asked of one at a time, and of another when that one does not have it, sends other bytes
/// or goes away. A value without threads.
package struct AttachmentPlan: Sendable {
    private struct Entry {
        let want: AttachmentWant
        /// Who was asked in vain.
        var tried: Set<NodeID> = []
        /// Who has more bytes of it than there may be.
        var tooLarge: Set<NodeID> = []
        /// Who is asked now.
        var asked: NodeID?
        /// How often all were asked again since something came of it.
        var turns = 0

        func isToBeAsked(of node: NodeID) -> Bool {
            asked == nil && !tried.contains(node) && !tooLarge.contains(node)
        }
    }

    private var entries: [Digest: Entry] = [:]
    /// Who is connected.
    private var peers: Set<NodeID> = []
    /// Whether the next is chosen from among those that came to be wanted last.
    private var isLastFirst = false
    /// In the order in which they came to be wanted.
    private var order: [Digest] = []

    /// Most that are known at a time; the index on disk has the others (INV-9).
    package static let most = 1_024

    package init() {}

    package var isEmpty: Bool { entries.isEmpty }
    package var count: Int { entries.count }
    package var isFull: Bool { entries.count >= Self.most }

    /// These are wanted, too.
    package mutating func add(_ wants: [AttachmentWant]) {
        for want in wants where entries[want.digest] == nil && !isFull {
            entries[want.digest] = Entry(want: want)
            order.append(want.digest)
        }
    }

    /// Makes room where there is none: what no connected peer has goes, and comes again in its turn. So names of what is nowhere do not
    /// keep others from being asked for.
    package mutating func makeRoom() {
        guard isFull else { return }
        for (digest, entry) in entries where entry.asked == nil {
            if peers.allSatisfy({ !entry.isToBeAsked(of: $0) }) { entries[digest] = nil }
        }
        order.removeAll { entries[$0] == nil }
    }

    /// What to ask this peer for: in turns what has been wanted for longest, and what came last. So no one's many hold up another's one.
    package mutating func next(for node: NodeID) -> AttachmentWant? {
        func isWanted(_ digest: Digest) -> Bool { entries[digest]?.isToBeAsked(of: node) ?? false }
        let found = isLastFirst ? order.last(where: isWanted) : order.first(where: isWanted)
        guard let digest = found else { return nil }
        isLastFirst.toggle()
        entries[digest]?.asked = node
        entries[digest]?.turns = 0
        return entries[digest]?.want
    }

    /// Whether this peer is the one that is asked for it.
    package func isAsked(_ digest: Digest, of node: NodeID) -> Bool { entries[digest]?.asked == node }

    /// A piece of it came.
    package mutating func progressed(_ digest: Digest) { entries[digest]?.turns = 0 }

    /// It is here, or no one wants it any more.
    package mutating func done(_ digest: Digest) {
        entries[digest] = nil
        order.removeAll { $0 == digest }
    }

    /// This peer does not have it, or not as it should be.
    package mutating func failed(_ digest: Digest, at node: NodeID) {
        guard entries[digest]?.asked == node else { return }
        entries[digest]?.asked = nil
        entries[digest]?.tried.insert(node)
    }

    /// This peer has more bytes of it than there may be: it is not asked again while it is connected.
    package mutating func isTooLarge(_ digest: Digest, at node: NodeID) {
        guard entries[digest]?.asked == node else { return }
        entries[digest]?.asked = nil
        entries[digest]?.tooLarge.insert(node)
    }

    /// A peer has come: it may have what it had not before, and what it was asked over another link is not answered any more.
    package mutating func opened(_ node: NodeID) {
        lost(node)
        peers.insert(node)
        for digest in order {
            entries[digest]?.tried.remove(node)
            entries[digest]?.tooLarge.remove(node)
        }
    }

    /// A peer has gone.
    package mutating func lost(_ node: NodeID) {
        peers.remove(node)
        for digest in order where entries[digest]?.asked == node { entries[digest]?.asked = nil }
    }

    /// What was to be asked of this peer is not; it was not asked in vain.
    package mutating func letGo(of digest: Digest, _ node: NodeID) {
        if entries[digest]?.asked == node { entries[digest]?.asked = nil }
    }

    /// Who was asked for all in vain may be asked once more; so may others, of what one is asked of whom nothing comes.
    package mutating func retry() {
        let nodes = entries.values.reduce(into: Set<NodeID>()) { $0.formUnion($1.tried) }
        for node in nodes where !entries.values.contains(where: { $0.isToBeAsked(of: node) }) {
            for digest in order { entries[digest]?.tried.remove(node) }
        }
        for digest in order {
            entries[digest]?.turns += 1
            if let turns = entries[digest]?.turns, turns > Self.patience { entries[digest]?.asked = nil }
        }
    }

    /// So many turns a peer may take for one piece.
    private static let patience = 7
}
