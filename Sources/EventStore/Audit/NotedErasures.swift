/// What table `meta` says of erasures, against the log: which events are erasures, and which of them are applied. A hand on the files may write
/// there what it likes, and only the node itself can check the seal.
struct NotedErasures {
    /// Whether the table names all.
    private var isWhole = false
    private var noted: Set<UInt64> = []
    /// What it says of how far this node's are applied, as it stands there.
    private var said: String?
    /// Whose erasure stands where.
    private var found: [UInt64: NodeID] = [:]
    private var last: UInt64 = 0
    /// Those of this node that are said to be applied.
    private(set) var applied = Erasures()
    /// Those that are not said to be.
    private(set) var pending = Erasures()
    /// Whether it has a seal that is not the node's.
    private(set) var isForeign = false

    init() {}

    /// Reads the table.
    ///
    /// - Parameter sealer: The node's, of ``Sealer/Purpose/erasures``; `nil` where its key cannot be read.
    init(on connection: Connection, _ sealer: Sealer?) throws(DatabaseError) {
        if let sealer { isForeign = try ErasureIndex.isForeign(on: connection, sealer) }
        isWhole = try ErasureIndex.meta(ErasureIndex.looked, connection) != nil
        noted = Set(try ErasureIndex.positions(on: connection))
        said = try ErasureIndex.meta(ErasureIndex.erased, connection)
    }

    private var done: UInt64 { said.flatMap { ErasureIndex.position($0) } ?? 0 }

    /// Takes note of an event of the log.
    mutating func take(_ event: Event, of node: NodeID, at position: UInt64?, keeper: NodeID?) {
        guard let position, ReservedType.isErasure(event.header.type) else { return }
        found[position] = node
        guard node == keeper else { return }
        last = max(last, position)
        if position <= done {
            applied.keeper = keeper
            applied.take(event, of: node)
        } else {
            take(pending: event, of: node)
        }
    }

    /// Takes note of an erasure of the log's own node that nothing says to be applied.
    mutating func take(pending event: Event, of keeper: NodeID) {
        pending.keeper = keeper
        pending.take(event, of: keeper)
    }

    /// Whether the table says nothing of erasures though this node has some.
    var isMissing: Bool { !isWhole && last > 0 }

    /// Whether an erasure of this node is not applied, by the table's own word.
    var isUnderWay: Bool { last > done }

    /// What cannot be so.
    func faults(keeper: NodeID?) -> [(message: String, position: UInt64?)] {
        let missing = isWhole ? Set(found.keys).subtracting(noted) : []
        var faults = missing.sorted().map { position in
            (message: "is an erasure, and table meta does not name it", position: UInt64?.some(position))
        }
        for position in noted.subtracting(found.keys).sorted() {
            faults.append(("table meta names an erasure at position \(position), and none stands there", nil))
        }
        if let said, found[done] != keeper {
            let text =
                "table meta has erasures applied up to position \(said.prefix(20)): none of this node stands there"
            faults.append((text, nil))
        }
        return faults
    }
}
