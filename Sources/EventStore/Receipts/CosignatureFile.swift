/// `cosigned.db`: what this node has cosigned, each origin's last, and what its peers have told that they hold. Not Sendable.
package final class CosignatureFile {
    private let values: NamedValues

    /// Opens the file, or makes it.
    package init(_ files: StoreFiles) throws(StoreError) { values = try NamedValues(path: files.cosignatures) }

    /// Opens the file for reading; `nil` if the store has none.
    package init?(reading files: StoreFiles) throws(StoreError) {
        guard let values = try NamedValues(reading: files.cosignatures) else { return nil }
        self.values = values
    }

    /// What this node, `own`, has cosigned last of each origin.
    package func mine(_ own: NodeID) throws(StoreError) -> [Cosignature] {
        try values.all("mine/").compactMap { name, bytes in
            let entry = CosignatureList(bytes, of: own)?.entries.first
            return entry.flatMap { "mine/\($0.head.origin)" == name ? $0 : nil }
        }
    }

    /// What other nodes have told.
    package func told() throws(StoreError) -> [CosignatureList] {
        try values.all("node/").compactMap { name, bytes in
            Self.node(named: name).flatMap { CosignatureList(bytes, of: $0) }
        }
    }

    /// The node of which a value is named `node/<id>`, in that one form.
    private static func node(named name: String) -> NodeID? {
        NodeID(text: name.dropFirst(5)).flatMap { "node/\($0)" == name ? $0 : nil }
    }

    /// The names of values that are no list of cosignatures, or not of what they are named after: with them nothing can be compared.
    package func strange(to own: NodeID) throws(StoreError) -> [String] {
        let foreign = try values.foreign()
        return foreign + (try values.all("").filter { Self.list($0.bytes, named: $0.name, own) == nil }.map(\.name))
    }

    /// What a value says in the file of node `own`; `nil` if it is no list of cosignatures, or not of what it is named after.
    private static func list(_ bytes: [UInt8], named name: String, _ own: NodeID) -> CosignatureList? {
        if name.hasPrefix("node/") { return node(named: name).flatMap { CosignatureList(bytes, of: $0) } }
        return CosignatureList(bytes, of: own).flatMap { list in
            list.entries.map { "mine/\($0.head.origin)" } == [name] ? list : nil
        }
    }

    /// Whether a value can be of the file of node `own`, its signatures, too, as far as `keys` has those of the nodes.
    package static func isSound(
        _ bytes: [UInt8], named name: String, _ own: NodeID, _ keys: [NodeID: VerifyingKey]
    ) -> Bool {
        list(bytes, named: name, own)?.entries.allSatisfy { said in
            keys[said.node].map { said.isValid(for: $0) } ?? true
        } ?? false
    }

    /// Keeps what this node is about to say, and waits until the disk has it: it must not be forgotten once others know it.
    func remember(_ mine: [Cosignature]) throws(StoreError) {
        try values.put(mine.map { ("mine/\($0.head.origin)", CosignatureList([$0]).bytes) })
        try values.sync()
    }

    /// Keeps what a node has told.
    func keep(_ list: CosignatureList, of node: NodeID) throws(StoreError) {
        try values.put([("node/\(node)", list.bytes)])
    }
}
