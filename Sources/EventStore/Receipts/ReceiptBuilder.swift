/// Makes receipts of a log, and the parts that proven answers share with them. Not Sendable: it reads over a connection.
package final class ReceiptBuilder {
    private let reader: LogReader
    private let identity: StoreIdentity
    /// What each node has told of each origin.
    private let told: [OriginID: [Cosignature]]
    private let key: SigningKey?
    private let ownHead: SignedHead?
    private let sha = SHA256()

    /// - Parameters:
    ///   - key: The node's, which signs the whole; `nil`: the file is not signed. It signs nothing that another hand wrote.
    ///   - ownHead: A head of all that this node has appended, where it is the writer that asks.
    package init(_ files: StoreFiles, key: SigningKey?, ownHead: SignedHead? = nil) throws(StoreError) {
        reader = try LogReader(files)
        let identity = try StoreIdentity(reader)
        self.identity = identity
        self.ownHead = ownHead
        self.key = key?.publicKey.nodeID == identity.node ? key : nil
        if let key = self.key { try reader.checkForSigning(files, key) }
        let file = try CosignatureFile(reading: files)
        let others = try file?.told().flatMap(\.entries).filter { $0.node != identity.node } ?? []
        told = Dictionary(grouping: try (file?.mine(identity.node) ?? []) + others) { $0.head.origin }
    }

    /// What the node holds now.
    ///
    /// - Parameter wanted: Only these origins; `nil`: all.
    package func receipt(
        at time: Int64, of wanted: Set<OriginID>? = nil
    ) throws(StoreError) -> Receipt {
        // Of one moment: with what comes meanwhile its heads would count more events than its position has.
        try reader.inOneTransaction { () throws(StoreError) in try now(at: time, of: wanted) }
    }

    private func now(at time: Int64, of wanted: Set<OriginID>?) throws(StoreError) -> Receipt {
        let position = try reader.top()
        guard let own = try reader.key(of: identity.node) else {
            throw .corrupt("table origin does not have this store's own node")
        }
        let maker = ReceiptMaker(
            key: own, name: identity.name, cluster: identity.cluster, time: time, position: position)
        var heads: [WitnessedHead] = []
        for origin in try reader.origins() where wanted?.contains(origin.id) ?? true {
            if let head = try head(of: origin) { heads.append(head) }
        }
        return Receipt(maker: maker, heads: heads)
    }

    /// The largest head of what is here of an origin, and who else holds it; `nil` where no head covers anything yet.
    private func head(of origin: StoredOrigin) throws(StoreError) -> WitnessedHead? {
        var head = try reader.head(of: origin.id, atLeast: 1, largest: true)
        if let ownHead, ownHead.head.origin == origin.id, ownHead.head.size > head?.head.size ?? 0 { head = ownHead }
        guard let head, case let size = head.head.size, size <= origin.size else { return nil }
        var cosignatures: [ProvenCosignature] = []
        for said in told[origin.id] ?? [] {
            guard said.node != origin.node, said.head.size <= origin.size, said.signed.isValid(for: origin.key),
                let key = try reader.key(of: said.node)
            else { continue }
            let (old, new) = (min(size, said.head.size), max(size, said.head.size))
            let proof = try reader.consistency(of: origin.id, from: old, to: new, using: sha)
            let proven = ProvenCosignature(said, key: key, proof: proof)
            // What contradicts this log is no part of what it can prove: `verify` tells of it.
            if proven.isValid(for: head.head, using: sha) { cosignatures.append(proven) }
        }
        return WitnessedHead(
            key: origin.key, events: origin.size, head: head,
            arrived: try reader.arrival(of: Dot(origin: origin.id, seq: size)),
            cosignatures: cosignatures.sorted { $0.stands(before: $1) })
    }

    /// The lines of a receipt.
    package func bytes(of receipt: Receipt) -> [UInt8] {
        var out: [UInt8] = []
        ReceiptLine.receipt(receipt.maker, origins: UInt64(receipt.heads.count)).write(to: &out)
        Self.write(receipt.heads, to: &out)
        let digest = sha.digest(out)
        end(count: UInt64(receipt.heads.count), digest, isAnswer: false).write(to: &out)
        return out
    }

    /// The last line, signed if the key is here.
    func end(count: UInt64, _ digest: Digest, isAnswer: Bool) -> ReceiptLine {
        .end(
            count: count, digest: digest,
            signature: key?.sign(ReceiptLine.signedText(ofAnswer: isAnswer, digest)))
    }

    /// Whether what is made is signed as a whole.
    package var isSigned: Bool { key != nil }

    /// Witnesses and heads.
    static func write(_ heads: [WitnessedHead], to out: inout [UInt8]) {
        let keys = Set(heads.flatMap { $0.cosignatures.map(\.key) })
        for key in keys.sorted(by: { $0.nodeID < $1.nodeID }) { ReceiptLine.witness(key).write(to: &out) }
        for head in heads {
            let tree = head.head.head
            let (same, others) = (
                head.cosignatures.filter { $0.proof.isEmpty }, head.cosignatures.filter { !$0.proof.isEmpty }
            )
            let lines = [head.head.noteSignature(head.key)] + same.map { $0.cosignature.noteSignature($0.key) }
            ReceiptLine.head(
                head.key, events: head.events, arrived: head.arrived, SignedNote(tree, lines)
            ).write(to: &out)
            for one in others {
                let said = one.cosignature
                let note = SignedNote(
                    said.head, [said.signed.noteSignature(head.key), said.noteSignature(one.key)])
                ReceiptLine.cosigned(note, proof: one.proof).write(to: &out)
            }
        }
    }
}
