/// What the erasures of a log's own node let go. A hand on the files may write a payload back while no start looks for it: it must not leave the
/// store, and least of all under the node's signature (INV-11). Nor may an event that a hand has emptied leave it as an erased one (INV-1).
package struct OwnErasures: Sendable {
    private let all: Erasures
    private let applied: Erasures
    /// Of each node that has some: payloads are gone here from the moment that a peer has taken them away.
    private let known: [Erasures]
    private let nodes: [OriginID: NodeID]

    /// - Parameter key: The node's: with it a hand on what table `meta` says of erasures is seen, and the log is looked through for them.
    package init(_ log: LogReader, key: SigningKey? = nil) throws(StoreError) {
        let (keeper, found) = (try log.keeper(), try log.soundErasures(key))
        if let gone = found.first(where: { $0.node == keeper && $0.event.isErased }) {
            throw .corrupt(
                "the erasure at position \(gone.position) has lost its payload, which another hand has taken away: what it let go cannot be told, so nothing leaves the store; a peer that has it brings it back"
            )
        }
        all = Erasures(keeper: keeper, among: found)
        applied = Erasures(keeper: keeper, among: found, through: try log.erasedThrough())
        known = Set(found.map(\.node)).map { Erasures(keeper: $0, among: found) }
        nodes = try log.nodes()
    }

    /// Refuses an event with a payload that an erasure lets go.
    package func check(_ event: borrowing Event) throws(StoreError) {
        if let refusal = refusal(of: event) { throw refusal }
    }

    /// Why an event may not leave the store: `E_CORRUPT`, or `E_BUSY` where the erasure may be under way; `nil` if nothing keeps it.
    func refusal(of event: borrowing Event) -> StoreError? {
        let dot = event.header.dot
        guard event.isErased else { return refusal(ofPutBack: event) }
        guard !isLetGo(event) else { return nil }
        return .corrupt(
            "event \(dot) has no payload, and no erasure says so: another hand has taken it away. `syncctl verify` tells of all; a peer that has it brings it back"
        )
    }

    /// The same for an event that may be without its payload, for nothing is said of why it is.
    func refusal(ofPutBack event: borrowing Event) -> StoreError? {
        let dot = event.header.dot
        guard covers(event, by: all) else { return nil }
        guard covers(event, by: applied) else {
            return .busy("event \(dot) is being erased: a daemon, or its next start, takes the payload away")
        }
        return .corrupt(
            "event \(dot) was erased and has a payload again, which another hand has written: `syncctl verify` tells of all; a start of syncd takes them away"
        )
    }

    /// Whether an erasure of any node lets the payload go that is not here.
    private func isLetGo(_ event: borrowing Event) -> Bool {
        guard let node = nodes[event.header.dot.origin] else { return false }
        let place = Erasures.Place(event.header, of: node)
        return known.contains { $0.covers(place) }
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
