/// Whether this node's own origin is still what the node has signed of it.
///
/// A damaged event must not be signed: the new head would contradict those that peers have, as if the origin had two
/// histories. So the head signed last is compared with the tree when a store is opened, and before anything is signed. That
/// takes the stored roots and at most 255 events, however long the log is; damage in front of those does not reach a new
/// head, for the roots over it are stored, and `verify` finds it.
enum OwnHead {
    /// The head signed last, if the log has one. Throws ``StoreError/corrupt(_:)`` if the events are others.
    static func check(
        _ origin: OriginID, ref: Int64, _ range: MerkleRange, _ merkle: MerkleStore
    ) throws(StoreError) -> SignedHead? {
        var last: SignedHead?
        var isIntact = true
        try mapped { () throws(SQLiteError) in
            last = try merkle.head(of: origin, ref: ref, atLeast: 1, largest: true)
            guard let head = last?.head else { return }
            isIntact = head.size <= range.size
            if head.size == range.size {
                isIntact = range.root(using: merkle.sha) == head.root
            } else if isIntact {
                var names = NameReader()
                isIntact = try merkle.root(origin: ref, size: head.size, names: &names) == head.root
            }
        }
        guard let last, !isIntact else { return last }
        throw .corrupt(
            "the last events of this node's own origin \(origin) are not the \(last.head.size) that it signed; nothing "
                + "more is signed. `syncctl verify` names the damage, `syncctl doctor` says what to do")
    }
}

extension LogReader {
    /// Whether the events of this node's own origin are what it signed; throws ``StoreError/corrupt(_:)`` if not.
    package func checkOwnHead() throws(StoreError) {
        let own = try StoreIdentity(self).origin
        let size = try vector()[own]
        let merkle = MerkleStore(connection: connection, sha: SHA256())
        let ref = try mapped { () throws(SQLiteError) in try names.originRef(own, on: connection) }
        guard let ref else { return }
        let range = try mapped { () throws(SQLiteError) in
            try merkle.range(origin: ref, size: size, names: &names)
        }
        _ = try OwnHead.check(own, ref: ref, range, merkle)
    }
}
