/// Whether this node's own origin is still what the node has signed and sealed of it.
///
/// A damaged or forged event must not be signed: the new head would contradict those that peers have, as if the origin had two histories,
/// or vouch for what others have written. So when a store is opened, and before anything is signed, the head signed last is compared with
/// the tree. Where there are events beyond it, the last one must carry the node's seal of the tree as it stands. That takes the stored
/// roots and at most 255 events, however long the log is; damage in front of those does not reach a new head, for the roots over it are
/// stored, and `verify` finds it.
enum OwnHead {
    /// The head signed last, if the log has one. Throws ``StoreError/corrupt(_:)`` if the events are others.
    ///
    /// - Parameter sealer: Without it only the presence of the seal is checked.
    static func check(
        _ origin: OriginState, _ merkle: MerkleStore, _ sealer: Sealer?
    ) throws(StoreError) -> SignedHead? {
        var last: SignedHead?
        var fault: String?
        try mapped { () throws(DatabaseError) in
            last = try merkle.head(of: origin.id, ref: origin.ref, atLeast: 1, largest: true)
            if let last {
                fault = try Self.fault(in: last, origin, merkle)
            }
            if fault == nil, origin.size > last?.head.size ?? 0,
                try !isSealed(origin, merkle, sealer)
            {
                let signed = last?.head.size ?? 0
                let position = try merkle.position(origin: origin.ref, at: signed + 1)
                fault =
                    "were not all written by this node: those behind \(signed), from position \(position ?? 0) on, which no head "
                    + "covers, lack its seal"
            }
        }
        guard let fault else { return last }
        throw .corrupt(
            "the last events of this node's own origin \(origin.id) \(fault); nothing more is signed. `syncctl verify` "
                + "names the damage, `syncctl doctor` says what to do")
    }

    private static func fault(
        in last: SignedHead, _ origin: OriginState, _ merkle: MerkleStore
    ) throws(DatabaseError) -> String? {
        let size = last.head.size
        var names = InternedStrings()
        let isIntact =
            if size == origin.size {
                origin.range.root(using: merkle.sha) == last.head.root
            } else if size < origin.size {
                try merkle.root(origin: origin.ref, size: size, names: &names) == last.head.root
            } else {
                false
            }
        return isIntact && last.isValid(for: origin.key) ? nil : "are not the \(size) that it signed"
    }

    /// Whether the last event carries the seal of the whole tree. Logs of version 1 have none.
    private static func isSealed(
        _ origin: OriginState, _ merkle: MerkleStore, _ sealer: Sealer?
    ) throws(DatabaseError) -> Bool {
        guard try Schema.hasSeals(merkle.connection) else { return true }
        guard let seal = try merkle.seal(origin: origin.ref, at: origin.size) else { return false }
        return sealer.map { $0.seal(origin.head(using: merkle.sha)) == seal } ?? true
    }
}

extension MerkleStore {
    /// Where an event stands in the log.
    fileprivate func position(origin: Int64, at seq: UInt64) throws(DatabaseError) -> Int64? {
        try connection.integer(
            "SELECT position FROM event WHERE origin = ? AND seq = ?", .integer(origin), .unsigned(seq))
    }

    /// The seal of an event; `nil` if it has none.
    func seal(origin: Int64, at seq: UInt64) throws(DatabaseError) -> UUIDBits? {
        try connection.first(
            "SELECT seal FROM event WHERE origin = ? AND seq = ?", [.integer(origin), .unsigned(seq)]
        ) { $0.isBlob(0) ? $0.uuid(0) : nil }
    }
}

extension LogReader {
    /// Whether the events of this node's own origin are what it signed, and sealed beyond that; throws ``StoreError/corrupt(_:)`` if
    /// not.
    ///
    /// - Parameter key: The node's; without it only the presence of the seal is checked.
    package func checkOwnHead(_ key: SigningKey? = nil) throws(StoreError) {
        let own = try StoreIdentity(self).origin
        guard let state = try originState(own) else { return }
        _ = try OwnHead.check(state, MerkleStore(connection: connection, sha: SHA256()), key?.sealer)
    }

    /// How an origin stands; `nil` if it is not here.
    private func originState(_ id: OriginID) throws(StoreError) -> OriginState? {
        guard let key = try key(of: id), let size = Optional(try vector()[id]), size > 0,
            let last = try event(Dot(origin: id, seq: size))
        else { return nil }
        let merkle = MerkleStore(connection: connection, sha: SHA256())
        return try mapped { () throws(DatabaseError) in
            guard let ref = try names.originRef(id, on: connection) else { return nil }
            return OriginState(
                ref: ref, id: id, key: key, tree: try merkle.tree(origin: ref, size: size, names: &names),
                hlc: last.event.header.hlc, stamp: last.event.header.isOpaque ? nil : last.event.header.hlc)
        }
    }
}
