/// What table `meta` calls the node, its cluster and the folder of its witness, held against the mark of the last run (FORMATS.md §1).
///
/// No event repeats cluster and witness. So a hand that writes others there is only seen by what the node has signed, and the node would sign
/// its word the next time.
struct MarkedSettings {
    let name: String
    let cluster: String
    /// Empty where there is none.
    let witness: String

    private var digest: Digest { Mark.settings(name: name, cluster: cluster, witness: witness) }

    /// The folder of the witness that the mark vouches for; what `meta` says where there is no mark of this store.
    ///
    /// - Parameter wanted: Where the witness is to be from now on, empty for nowhere: a start that was cut off may have noted it in the mark alone.
    /// - Throws: `E_CORRUPT` where `meta` has others than the mark.
    static func witness(
        _ reader: LogReader, _ identity: StoreIdentity, _ mark: Mark?, wanted: String? = nil
    ) throws(StoreError) -> String {
        let found = Self(
            name: identity.name, cluster: identity.cluster, witness: try reader.meta("witness") ?? "")
        guard let mark, mark.incarnation == identity.incarnation, found.digest != mark.settings else {
            return found.witness
        }
        if let wanted, Self(name: found.name, cluster: found.cluster, witness: wanted).digest == mark.settings {
            return wanted
        }
        throw .corrupt(
            "table meta has other settings than this node has signed in its mark: \(try found.difference(reader, mark)); "
                + "nothing is signed with them. Write back what it was (sqlite3 log.db \"UPDATE meta SET value = '…' WHERE key = '…'\"), "
                + "or take log.db from a copy: operating/trouble.md, 'Settings that another hand wrote'")
    }

    /// Which setting is another one, and what it was, as far as something here tells.
    private func difference(_ reader: LogReader, _ mark: Mark) throws(StoreError) -> String {
        let started = try reader.meta("origin").flatMap { Int64($0) }
        let own = try reader.origins().first { $0.ref == started }?.id
        let start = try own.flatMap { id throws(StoreError) in try reader.event(Dot(origin: id, seq: 1)) }
        let begun = start.flatMap { OriginStart($0.event)?.name } ?? name
        for name in [name, begun] {
            for cluster in [cluster, "default"] {
                for witness in [witness, ""] {
                    let known = Self(name: name, cluster: cluster, witness: witness)
                    if known.digest == mark.settings { return told(known) }
                }
            }
        }
        if name != begun { return "name is '\(name)', and was '\(begun)'; cluster or witness is another one, too" }
        return
            "cluster is '\(cluster)', witness '\(witness)', and one of them was another; a receipt, a backup and each peer name the cluster, "
            + "the configuration the witness"
    }

    private func told(_ known: Self) -> String {
        [("name", name, known.name), ("cluster", cluster, known.cluster), ("witness", witness, known.witness)]
            .filter { $0.1 != $0.2 }.map { "\($0.0) is '\($0.1)', and was '\($0.2)'" }.joined(separator: "; ")
    }
}

extension LogReader {
    /// Throws ``StoreError/corrupt(_:)`` where something else than this node has written what it would sign: events of its own behind the last
    /// head, or its settings. To be asked before anything is signed of a log that no writer of this process has open.
    ///
    /// - Parameter key: The node's; without it only the presence of the seal is checked.
    package func checkForSigning(_ files: StoreFiles, _ key: SigningKey?) throws(StoreError) {
        // A writer may append meanwhile, and sign what it has appended.
        try inOneTransaction { () throws(StoreError) in
            let identity = try StoreIdentity(self)
            try checkOwnHead(key)
            guard let own = try self.key(of: identity.node) else { return }
            _ = try MarkedSettings.witness(self, identity, Mark.read(files, key: own))
        }
    }
}
