/// Checks a receipt or a proven answer line by line, with no store and no network (FORMATS.md §9, §10). What it has gathered counts once
/// ``finish()`` has not thrown. Memory grows with origins and witnesses, not with events. Not Sendable.
package final class ReceiptCheck {
    /// What an answer says beside its heads.
    package struct Answer: Hashable, Sendable {
        package let scope: AnswerScope
        /// Whether only a part of the scope's events was asked for.
        package let isFiltered: Bool
        package fileprivate(set) var events: UInt64 = 0
        /// Events without payload: header and digest are proven, what they said is not there.
        package fileprivate(set) var withoutPayload: UInt64 = 0
    }

    /// Whether the node that has made the file has signed it as a whole.
    package private(set) var isSigned = false
    /// `nil` for a receipt.
    package private(set) var answer: Answer?
    private var maker: ReceiptMaker?
    private var heads: [WitnessedHead] = []
    private var stated: (origins: UInt64, events: UInt64) = (0, 0)
    private var witnesses: [NodeID: VerifyingKey] = [:]
    private var lastWitness: NodeID?
    /// Those of them whose cosignature has come.
    private var heard: Set<NodeID> = []
    /// The head whose cosignatures are being read.
    private var open: WitnessedHead?
    private var byOrigin: [OriginID: TreeHead] = [:]
    /// The last event, and its hlc where its header can be read.
    private var last: (dot: Dot, hlc: HybridTime?)?
    /// How many origins have events here.
    private var answering: UInt64 = 0
    private var hasEnded = false
    private let sha = SHA256()
    private let digest = RunningSHA256()
    private let handle: (Event) -> Void

    /// - Parameter handle: Runs with each proven event of an answer; the file counts only once all of it was checked.
    package init(_ handle: @escaping (Event) -> Void = { _ in }) { self.handle = handle }

    /// Takes the next line, which stands at `range` of `bytes`, without its newline.
    package func take(_ bytes: [UInt8], _ range: Range<Int>) throws(ReceiptError) {
        let line: ReceiptLine
        do { line = try ReceiptLine(bytes, range) } catch {
            if maker == nil { throw .other }
            throw .line(error.member)
        }
        guard !hasEnded else { throw .place("a line after the last one") }
        if case .end(let count, let digest, let signature) = line { return try end(count, digest, signature) }
        digest.add(bytes[range])
        digest.add([UInt8(ascii: "\n")])
        switch line {
        case .receipt, .answer: break
        default: guard maker != nil else { throw .other }
        }
        switch line {
        case .receipt(let maker, let origins):
            guard self.maker == nil else { throw .place("a second beginning") }
            (self.maker, stated) = (maker, (origins, 0))
        case .answer(let maker, let scope, let isFiltered, let events, let origins):
            guard self.maker == nil else { throw .place("a second beginning") }
            (self.maker, stated) = (maker, (origins, events))
            answer = Answer(scope: scope, isFiltered: isFiltered)
        case .witness(let key): try add(key)
        case .head(let key, let events, let arrived, let note): try begin(key, events, arrived, note)
        case .cosigned(let note, let proof): try cosign(note, proof)
        case .event(let dot, let event, let proof): try add(dot, event, proof)
        case .end: break
        }
    }

    /// Takes whole lines, each with its newline.
    package func take(lines: [UInt8]) throws(ReceiptError) {
        var start = 0
        while let end = lines[start...].firstIndex(of: UInt8(ascii: "\n")) {
            try take(lines, start..<end)
            start = end + 1
        }
        guard start == lines.count else { throw .cut }
    }

    private func add(_ key: VerifyingKey) throws(ReceiptError) {
        let node = key.nodeID
        guard maker != nil, open == nil, lastWitness.map({ $0 < node }) ?? true else {
            throw .place("a witness out of order")
        }
        (witnesses[node], lastWitness) = (key, node)
    }

    private func begin(
        _ key: VerifyingKey, _ events: UInt64, _ arrived: Int64?, _ note: SignedNote
    ) throws(ReceiptError) {
        let head = note.head
        guard maker != nil, last == nil, open.map({ $0.head.head.origin < head.origin }) ?? true else {
            throw .place("an origin out of order")
        }
        guard head.size <= events, let signed = note.signed(by: key) else { throw .head(head.origin) }
        var cosignatures: [ProvenCosignature] = []
        for line in note.signatures.dropFirst() {
            cosignatures.append(try cosignature(line, over: signed, of: key, proof: []))
        }
        closeHead()
        open = WitnessedHead(key: key, events: events, head: signed, arrived: arrived, cosignatures: [])
        try put(cosignatures)
    }

    private func cosign(_ note: SignedNote, _ proof: [Digest]) throws(ReceiptError) {
        guard let open, last == nil, note.head.origin == open.head.head.origin, note.signatures.count == 2,
            note.head.size != open.head.head.size
        else { throw .place("a cosignature without its origin") }
        guard note.head.size <= open.events, let signed = note.signed(by: open.key) else {
            throw .head(note.head.origin)
        }
        try put([cosignature(note.signatures[1], over: signed, of: open.key, proof: proof)])
    }

    private func cosignature(
        _ line: NoteSignature, over signed: SignedHead, of owner: VerifyingKey, proof: [Digest]
    ) throws(ReceiptError) -> ProvenCosignature {
        guard let node = NodeID(text: line.name), let key = witnesses[node], key != owner,
            let cosignature = Cosignature(line, over: signed, by: key)
        else { throw .cosignature(signed.head.origin, line.name) }
        return ProvenCosignature(cosignature, key: key, proof: proof)
    }

    /// Adds cosignatures of the open head: at most one of each node.
    private func put(_ new: [ProvenCosignature]) throws(ReceiptError) {
        guard let open else { return }
        var all = open.cosignatures
        for one in new {
            let node = one.cosignature.node
            guard one.isValid(for: open.head.head, using: sha), !all.contains(where: { $0.cosignature.node == node }),
                all.last?.stands(before: one) ?? true
            else { throw .cosignature(open.head.head.origin, node.description) }
            all.append(one)
            heard.insert(node)
        }
        self.open = WitnessedHead(
            key: open.key, events: open.events, head: open.head, arrived: open.arrived, cosignatures: all)
    }

    private func closeHead() {
        guard let open else { return }
        heads.append(open)
        byOrigin[open.head.head.origin] = open.head.head
    }

    private func add(_ dot: Dot, _ encoded: EncodedEvent, _ proof: [Digest]) throws(ReceiptError) {
        guard let scope = answer?.scope else { throw .place("an event in a receipt") }
        if last == nil { closeHead() }
        guard last.map({ $0.dot < dot }) ?? true else { throw .place("event \(dot) is out of order") }
        if last?.dot.origin != dot.origin { answering += 1 }
        guard let head = byOrigin[dot.origin], let header = try? EventHeader(received: encoded.header),
            header.dot == dot, dot.seq > 0, proof.count <= MerkleProof.longestInclusion
        else { throw .event(dot) }
        let leaf = sha.leaf(header: encoded.header, payloadDigest: sha.payloadDigest(encoded.body))
        guard
            MerkleProof.isIncluded(
                leaf, index: dot.seq - 1, size: head.size, root: head.root, proof: proof, using: sha)
        else { throw .event(dot) }
        // A payload stands as text, and other bytes in base64: no writer has another form.
        guard encoded.body == encoded.body.judged else { throw .line("form") }
        guard scope.contains(header) else { throw .stranger(dot) }
        try checkStamp(of: header, head)
        answer?.events += 1
        if case .erased = encoded.body { answer?.withoutPayload += 1 }
        handle(Event(header: header, body: encoded.body))
    }

    /// Stamps are not compared where a header cannot be read (FORMATS.md §2).
    private func checkStamp(of header: EventHeader, _ head: TreeHead) throws(ReceiptError) {
        let dot = header.dot
        defer { last = (dot, header.isOpaque ? nil : header.hlc) }
        guard !header.isOpaque else { return }
        guard dot.seq < head.size || header.hlc == head.hlc else {
            throw .place("the head at event \(dot) has another hlc than the event")
        }
        guard let last, last.dot.origin == dot.origin, last.dot.seq + 1 == dot.seq, let hlc = last.hlc else { return }
        guard hlc < header.hlc else { throw .place("the hlc of event \(dot) is not after that of the one before it") }
    }

    private func end(_ count: UInt64, _ stated: Digest, _ signature: [UInt8]?) throws(ReceiptError) {
        guard let maker else { throw .other }
        if last == nil { closeHead() }
        hasEnded = true
        guard digest.finish() == stated else { throw .changed }
        // A log has each event of an origin at a position of its own.
        guard heads.saturatedSum(of: \.events) <= maker.position else {
            throw .place("its heads count more events than its position has")
        }
        guard count == answer?.events ?? UInt64(heads.count), self.stated.origins == UInt64(heads.count),
            answer.map({ $0.events == self.stated.events }) ?? true
        else { throw .place("the counts are not those of its lines") }
        guard heard.count == witnesses.count else { throw .place("a witness that has cosigned nothing here") }
        guard answer == nil || answering == self.stated.origins else { throw .place("an origin without events") }
        guard let signature else { return }
        let text = ReceiptLine.signedText(ofAnswer: answer != nil, stated)
        guard maker.key.isValid(signature: signature, for: text) else { throw .signature }
        isSigned = true
    }

    /// What the file says, all of which was checked.
    package func finish() throws(ReceiptError) -> Receipt {
        guard let maker else { throw .other }
        guard hasEnded else { throw .cut }
        return Receipt(maker: maker, heads: heads)
    }
}

/// Why a file is no receipt or proven answer that can be believed.
package enum ReceiptError: Error, Hashable, Sendable {
    /// It is neither.
    case other
    /// A member is missing or wrong.
    case line(String)
    /// A line is not where it belongs.
    case place(String)
    /// A head is not signed by the node of its origin.
    case head(OriginID)
    /// A cosignature is not the node's, or not of this history.
    case cosignature(OriginID, String)
    /// An event is not part of the signed history.
    case event(Dot)
    /// An event is of another user or conversation than the answer.
    case stranger(Dot)
    /// The file ends before its last line.
    case cut
    /// The file is not as it was written.
    case changed
    /// The last line is not signed by the node that made the file.
    case signature

    /// A stable name for machines.
    package var code: String { self == .other ? "E_RECEIPT" : "E_RECEIPT_FALSE" }
}

extension ReceiptError: CustomStringConvertible {
    /// One sentence for people.
    package var description: String {
        switch self {
        case .other: "the file is neither a receipt nor a proven answer, or of a later release"
        case .line(let member): InvalidEvidenceLine(member: member).reason
        case .place(let what): what
        case .head(let origin): "the head of origin \(origin) is not signed by its node"
        case .cosignature(let origin, let name):
            "the cosignature of node \(name.prefix(12)) under origin \(origin) is not that node's, or not of this history"
        case .event(let dot): "event \(dot) is not part of the history that was signed"
        case .stranger(let dot): "event \(dot) is not of what the answer is about"
        case .cut: "the file ends before its last line: something is missing"
        case .changed: "the file is not as it was written: its SHA-256 is another"
        case .signature: "the last line is not signed by the node that the first one names"
        }
    }
}
