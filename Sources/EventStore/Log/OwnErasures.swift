/// What the erasures of a log's own node let go. A hand on the files may write a payload back while no start looks for it: it must not leave the
/// store, and least of all under the node's signature (INV-11).
package struct OwnErasures: Sendable {
    private let all: Erasures
    private let applied: Erasures
    private let nodes: [OriginID: NodeID]

    /// - Parameter key: The node's: with it a hand on what table `meta` says of erasures is seen, and the log is looked through for them.
    package init(_ log: LogReader, key: SigningKey? = nil) throws(StoreError) {
        let (keeper, found) = (try log.keeper(), try log.soundErasures(key))
        all = Erasures(keeper: keeper, among: found)
        applied = Erasures(keeper: keeper, among: found, through: try log.erasedThrough())
        nodes = all.isEmpty ? [:] : try log.nodes()
    }

    /// Refuses an event with a payload that an erasure lets go.
    package func check(_ event: borrowing Event) throws(StoreError) {
        if let refusal = refusal(of: event) { throw refusal }
    }

    /// Why an event may not leave the store: `E_CORRUPT`, or `E_BUSY` where the erasure may be under way; `nil` if nothing keeps it.
    func refusal(of event: borrowing Event) -> StoreError? {
        guard covers(event, by: all) else { return nil }
        let dot = event.header.dot
        guard covers(event, by: applied) else {
            return .busy("event \(dot) is being erased: a daemon, or its next start, takes the payload away")
        }
        return .corrupt(
            "event \(dot) was erased and has a payload again, which another hand has written: `syncctl verify` tells of all; a start of syncd takes them away"
        )
    }

    private func covers(_ event: borrowing Event, by erasures: Erasures) -> Bool {
        guard !erasures.isEmpty, !event.isErased, let node = nodes[event.header.dot.origin] else { return false }
        return erasures.covers(Erasures.Place(event.header, of: node))
    }
}

extension LogReader {
    /// The erasure events of the log; looked for where table `meta` names none or, as the key tells, another hand has written of them.
    fileprivate func soundErasures(_ key: SigningKey?) throws(StoreError) -> [StoredErasure] {
        let noted = try erasures()
        let isForeign = try mapped { () throws(DatabaseError) in
            try key.map { key throws(DatabaseError) in try ErasureIndex.isForeign(on: connection, key.erasureSealer) }
        }
        return isForeign ?? noted.isEmpty ? try erasures(isSearched: true) : noted
    }
}
