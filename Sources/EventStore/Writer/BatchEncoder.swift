/// Own events with the places that they get in the log if each of them is new. What would be done for one after the other between two
/// rows, other threads do for a part of many: headers and leaves while the rows before it are written, the growing of the tree beside
/// them all. Where no thread is free, the thread that wants a part makes it.
struct BatchEncoder {
    /// What is given out one after the other.
    struct Place: Sendable {
        let hlc: HybridTime
        let id: EventID
    }

    /// Some of them, up to one whose header is too large.
    struct Part: Sendable {
        var headers: [EventHeader] = []
        var leaves: [Digest] = []

        var isWhole: Bool { headers.count == BatchEncoder.piece }
    }

    /// How many are in a part, but the last one: so many are worth the waking of another thread.
    private static let piece = 256

    let parts: [Deferred<Part>]
    private let tree: GrowingTree
    private let growth: Deferred<MerkleGrowth>

    /// The events of `drafts` at `places`, as the next ones of `origin`.
    init(_ drafts: [PreparedDraft], at places: [Place], of origin: OriginState) {
        let (id, size, tree) = (origin.id, origin.size, origin.tree)
        let parts = stride(from: 0, to: places.count, by: Self.piece).map { first in
            Deferred {
                let sha = SHA256()
                var encoding = ProtobufWriter()
                var part = Part()
                part.headers.reserveCapacity(Self.piece)
                part.leaves.reserveCapacity(Self.piece)
                for index in first..<min(places.count, first + Self.piece) {
                    let header = drafts[index].draft.header(
                        Dot(origin: id, seq: size + UInt64(index) + 1), places[index].hlc, places[index].id)
                    guard let leaf = sha.leaf(of: header, drafts[index].payloadDigest, encoding: &encoding) else {
                        break
                    }
                    part.headers.append(header)
                    part.leaves.append(leaf)
                }
                return part
            }
        }
        (self.parts, self.tree) = (parts, tree)
        growth = Deferred { MerkleGrowth(of: tree, by: Self.leaves(parts)) }
        guard parts.count > 1 else { return }
        // The first one is wanted at once.
        for part in parts.dropFirst() { part.offer() }
        growth.offer()
    }

    /// The origin's tree with the first `count` of them.
    func growth(_ count: Int) -> MerkleGrowth {
        let whole = growth.output()
        return whole.tree.range.size == tree.range.size + UInt64(count)
            ? whole : MerkleGrowth(of: tree, by: Self.leaves(parts).prefix(count))
    }

    private static func leaves(_ parts: [Deferred<Part>]) -> some Sequence<Digest> {
        let whole = parts.prefix { $0.output().isWhole }.count
        return parts.prefix(whole + 1).lazy.flatMap { $0.output().leaves }
    }
}

/// A tree that has grown.
struct MerkleGrowth: Sendable {
    let tree: GrowingTree
    /// The roots of subtrees that were completed, those that the log keeps.
    let nodes: [MerkleNode]

    init(of tree: GrowingTree, by leaves: some Sequence<Digest>) {
        let sha = SHA256()
        var tree = tree
        var nodes: [MerkleNode] = []
        for leaf in leaves { nodes += tree.grow(leaf, using: sha) }
        (self.tree, self.nodes) = (tree, nodes)
    }
}
