/// An erasure event with all that proves it, for a log that does not have it (FORMATS.md §11): a backup that is older than the erasure is
/// without what was erased, and this says why.
package struct ProvenErasure: Hashable, Sendable {
    package let dot: Dot
    private let encoded: EncodedEvent
    /// Of the node that has recorded it.
    private let key: VerifyingKey
    /// A head of its origin, and the audit path of the event up to it.
    private let head: SignedHead
    private let proof: [Digest]

    /// The event; `nil` where it is not one that its node has signed, or no erasure.
    ///
    /// - Parameter node: Whose it must be.
    func event(of node: NodeID, using sha: SHA256) -> Event? {
        guard key.nodeID == node, head.head.origin == dot.origin, proof.count <= MerkleProof.longestInclusion,
            dot.seq > 0, head.isValid(for: key), let event = try? encoded.event(), event.header.dot == dot,
            Erasure(event) != nil,
            MerkleProof.isIncluded(
                sha.leaf(of: event), index: dot.seq - 1, size: head.head.size, root: head.head.root, proof: proof,
                using: sha)
        else { return nil }
        return event
    }

    // MARK: As a line

    /// Appends the line with its newline.
    package func write(to out: inout [UInt8]) {
        guard case .present(let salt, let payload) = encoded.body else { return }
        out +=
            #"{"type":"erasure","origin":"\#(dot.origin)","seq":\#(dot.seq),"key":"\#(base64Text(key.rawBytes))","#
            .utf8
        out += #""head":"#.utf8
        JSONText.append(head.head.checkpointText, to: &out)
        out += #","signature":"\#(base64Text(head.signature))","header":"\#(base64Text(encoded.header))","#.utf8
        out += #""salt":"\#(hexText(salt.bytes))","payload":"\#(base64Text(payload))","proof":["#.utf8
        out += proof.map { "\"\($0)\"" }.joined(separator: ",").utf8
        out += "]}\n".utf8
    }

    /// Reads a line; `nil` if it is none. What it says is not checked.
    package init?(_ line: JSONObject) {
        guard line.string("type") == "erasure", let origin = line.string("origin").flatMap({ OriginID(text: $0) }),
            let seq = line.integer("seq"), seq > 0,
            let key = line.string("key").flatMap({ base64Bytes($0) }).flatMap({ VerifyingKey(rawBytes: $0) }),
            let head = line.string("head").flatMap({ TreeHead(checkpointText: $0) }),
            let signature = line.string("signature").flatMap({ base64Bytes($0) }),
            let header = line.string("header").flatMap({ base64Bytes($0) }),
            let salt = line.string("salt").flatMap({ hexBytes($0) }).flatMap({ UUIDBits(bytes: $0) }),
            let payload = line.string("payload").flatMap({ base64Bytes($0) }), let steps = line.strings("proof")
        else { return nil }
        dot = Dot(origin: origin, seq: UInt64(seq))
        self.key = key
        self.head = SignedHead(head: head, signature: signature)
        encoded = EncodedEvent(header: header, body: .present(salt: salt, payload: payload))
        proof = steps.compactMap { hexBytes($0) }.compactMap { Digest(bytes: $0) }
        guard proof.count == steps.count else { return nil }
    }

    fileprivate init(_ event: Event, key: VerifyingKey, head: SignedHead, proof: [Digest]) {
        (dot, encoded) = (event.header.dot, EncodedEvent(event))
        (self.key, self.head, self.proof) = (key, head, proof)
    }

    // MARK: In a store

    /// What the store keeps of erasures that its log does not have; `nil` where the file is none of these.
    package static func kept(_ files: StoreFiles) throws(StoreError) -> [ProvenErasure]? {
        guard let bytes = try SmallFile.read(files.laterErasures) else { return [] }
        var found: [ProvenErasure] = []
        let whole = bytes.last == UInt8(ascii: "\n") ? bytes.dropLast() : bytes[...]
        guard !bytes.isEmpty else { return [] }
        for line in whole.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            guard let object = try? JSONObject(validating: Array(line)), let erasure = ProvenErasure(object) else {
                return nil
            }
            // Byte for byte what is written there: any other line is none (FORMATS.md §11).
            var again: [UInt8] = []
            erasure.write(to: &again)
            guard again.dropLast().elementsEqual(line) else { return nil }
            found.append(erasure)
        }
        return found
    }

    package static func keep(_ erasures: [ProvenErasure], _ files: StoreFiles) throws(StoreError) {
        var out: [UInt8] = []
        for erasure in erasures { erasure.write(to: &out) }
        try SmallFile.replace(files.laterErasures, with: out, mode: 0o600)
    }
}

extension LogReader {
    /// The erasures of `node` that the log has and a head covers. Reads the types of all rows.
    package func provenErasures(of node: NodeID) throws(StoreError) -> [ProvenErasure] {
        var events: [Event] = []
        try mapped { () throws(DatabaseError) in
            try eachErasure { event, owner in
                if owner == node, Erasure(event) != nil { events.append(event) }
            }
        }
        return try proven(events)
    }

    /// Those of these events of the log that a head covers.
    func proven(_ events: [Event]) throws(StoreError) -> [ProvenErasure] {
        guard !events.isEmpty else { return [] }
        let (sha, origins) = (SHA256(), try origins())
        var proven: [ProvenErasure] = []
        for event in events {
            let dot = event.header.dot
            guard let origin = origins.first(where: { $0.id == dot.origin }),
                let head = try head(of: dot.origin, atLeast: dot.seq, largest: true), head.head.size <= origin.size,
                let bridge = MerkleBridge(have: head.head.size, whole: head.head.size, proof: [])
            else { continue }
            let merkle = MerkleStore(connection: connection, sha: sha)
            let path = try mapped { () throws(DatabaseError) in
                try bridge.inclusion(of: dot.seq - 1, using: sha) { (level, index) throws(DatabaseError) in
                    try merkle.node(origin: origin.ref, level: level, index: index, names: &names)
                }
            }
            guard let path else { continue }
            proven.append(ProvenErasure(event, key: origin.key, head: head, proof: path))
        }
        return proven
    }
}
