/// What the erasures of a log's own node have let go. A hand on the files may write a payload back while no start looks for it: it must not
/// leave the store, and least of all under the node's signature (INV-11).
package struct AppliedErasures: Sendable {
    private let erasures: Erasures
    private let nodes: [OriginID: NodeID]

    package init(_ log: LogReader) throws(StoreError) {
        erasures = try log.appliedErasures(of: try log.keeper())
        nodes = erasures.isEmpty ? [:] : try log.nodes()
    }

    /// Whether an event has a payload that was let go.
    func letGo(_ event: borrowing Event) -> Bool {
        guard !erasures.isEmpty, !event.isErased, let node = nodes[event.header.dot.origin] else { return false }
        return erasures.covers(Erasures.Place(event.header, of: node))
    }

    /// Refuses an event with a payload that was let go (`E_CORRUPT`).
    package func check(_ event: borrowing Event) throws(StoreError) {
        if letGo(event) { throw Self.failure(event.header.dot) }
    }

    static func failure(_ dot: Dot) -> StoreError {
        .corrupt(
            "event \(dot) was erased and has a payload again, which another hand has written: `syncctl verify` tells of all; a start of syncd takes them away"
        )
    }
}

extension LogReader {
    /// The erasures of a node in its own log that have been applied.
    func appliedErasures(of node: NodeID?) throws(StoreError) -> Erasures {
        var erasures = Erasures(keeper: node)
        guard let node else { return erasures }
        let done = try erasedThrough()
        for one in try self.erasures() where one.node == node && one.position <= done {
            erasures.take(one.event, of: node)
        }
        return erasures
    }
}
