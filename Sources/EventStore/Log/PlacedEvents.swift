/// Own events with the places that they get in the log if each of them is new. Of many, several threads do here what would else be
/// done for one after the other, between two rows: headers and leaves before there are any rows, the growing of the tree beside them.
struct PlacedEvents {
    /// So many are worth the waking of another thread.
    private static let piece = 256

    /// What is given out one after the other.
    struct Place: Sendable {
        let hlc: HybridTime
        let id: EventID
    }

    private struct Part: Sendable {
        var headers: [EventHeader] = []
        var leaves: [Digest] = []
        var refs: [EventRow.Refs?] = []
    }

    /// Of the first drafts, up to one whose header is too large.
    let count: Int
    private let parts: [Part]
    private let tree: MerkleRange
    /// Under way on another thread, if it is worth that.
    private let growth: WorkAside<MerkleGrowth>?

    /// The events of `drafts` at `places`, as the next ones of `origin`.
    init(_ drafts: [PreparedDraft], at places: [Place], of origin: OriginState, names: NameTable) {
        let (id, ref, size, tree) = (origin.id, origin.ref, origin.size, origin.range)
        let parts = concurrently((places.count + Self.piece - 1) / Self.piece) { number in
            let sha = SHA256()
            var encoding = ProtobufWriter()
            var part = Part()
            let range = number * Self.piece..<min(places.count, (number + 1) * Self.piece)
            part.headers.reserveCapacity(range.count)
            part.leaves.reserveCapacity(range.count)
            part.refs.reserveCapacity(range.count)
            for index in range {
                let header = drafts[index].draft.header(
                    Dot(origin: id, seq: size + UInt64(index) + 1), places[index].hlc, places[index].id)
                guard let leaf = sha.leaf(of: header, drafts[index].payloadDigest, encoding: &encoding) else { break }
                part.headers.append(header)
                part.refs.append(EventRow.Refs(header, origin: ref, names: names))
                part.leaves.append(leaf)
            }
            return part
        }
        let isWhole = parts.map { $0.leaves.count == Self.piece }
        let full = isWhole.firstIndex(of: false) ?? parts.count
        count = full * Self.piece + (full < parts.count ? parts[full].leaves.count : 0)
        (self.parts, self.tree) = (parts, tree)
        let count = count
        growth = parts.count > 1 ? WorkAside { Self.growth(of: tree, parts, count) } : nil
    }

    func header(_ index: Int) -> EventHeader { parts[index / Self.piece].headers[index % Self.piece] }
    func leaf(_ index: Int) -> Digest { parts[index / Self.piece].leaves[index % Self.piece] }
    /// What stands for its texts, if all of them were known.
    func refs(_ index: Int) -> EventRow.Refs? { parts[index / Self.piece].refs[index % Self.piece] }

    /// The origin's tree with the first `count` of them.
    func growth(_ count: Int) -> MerkleGrowth {
        if count == self.count, let growth { return growth.output() }
        return Self.growth(of: tree, parts, count)
    }

    private static func growth(of tree: MerkleRange, _ parts: [Part], _ count: Int) -> MerkleGrowth {
        MerkleGrowth(of: tree, by: parts.lazy.flatMap(\.leaves).prefix(count), using: SHA256())
    }
}

/// A tree that has grown.
struct MerkleGrowth: Sendable {
    let tree: MerkleRange
    /// The roots of subtrees that were completed, those that the log keeps.
    let nodes: [MerkleNode]

    init(of tree: MerkleRange, by leaves: some Sequence<Digest>, using sha: SHA256) {
        var tree = tree
        var nodes: [MerkleNode] = []
        for leaf in leaves { nodes += tree.grow(leaf, using: sha) }
        (self.tree, self.nodes) = (tree, nodes)
    }
}
