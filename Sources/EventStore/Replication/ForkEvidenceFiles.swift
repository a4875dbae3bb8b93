internal import Glibc

/// Evidence is kept in the store's folder `evidence`, a JSON file for each fork: readable without this program.
extension ForkEvidence {
    /// Most files; a key that forks more often than this has made its point.
    package static let capacity = 100

    /// Every readable proof in the store, by name.
    package static func list(_ files: StoreFiles) throws(StoreError) -> [ForkEvidence] {
        var found: [ForkEvidence] = []
        for name in try names(files) {
            guard let bytes = try SmallFile.readOneOfMany(files.evidence + "/" + name),
                let evidence = ForkEvidence(json: bytes)
            else { continue }
            found.append(evidence)
        }
        return found
    }

    private static func names(_ files: StoreFiles) throws(StoreError) -> [String] {
        try SmallFile.names(in: files.evidence).filter { $0.hasPrefix("fork-") && $0.hasSuffix(".json") }
    }

    /// Writes the file, durably; false if it is there already or there are ``capacity`` others.
    func write(_ files: StoreFiles) throws(StoreError) -> Bool {
        guard mkdir(files.evidence, 0o700) == 0 || errno == EEXIST else {
            throw .system(files.evidence)
        }
        let names = try Self.names(files)
        // Roots say no more than any other proof does: one is enough, and what an operator has settled stays so.
        let isKnown = !namesEvent && names.contains { $0.hasPrefix("fork-\(origin)-") }
        guard !isKnown, !names.contains(name + ".json"), names.count < Self.capacity else { return false }
        try SmallFile.replace(files.evidence + "/\(name).json", with: json, mode: 0o600)
        try SmallFile.syncFolder(of: files.evidence)
        return true
    }

    /// `{"kind":"fork","origin":…,"seq":"…","branches":[{"head":"<checkpoint text>","signature":"<base64>",`
    /// `"header":"<base64>","payload_digest":"<hex>","proof":["<hex>",…]},…]}`, or `root` in place of header and digest.
    package var json: [UInt8] {
        var out = Array(#"{"kind":"fork","origin":"\#(origin)","seq":"\#(seq)","branches":["#.utf8)
        for (index, branch) in branches.enumerated() {
            out.append(contentsOf: (index == 0 ? "\n" : ",\n").utf8)
            branch.write(to: &out)
        }
        out.append(contentsOf: "\n]}\n".utf8)
        return out
    }

    /// Reads a file, which is JSON in any form; what it says is checked by who knows the key.
    private init?(json bytes: [UInt8]) {
        guard let object = try? JSONObject(validating: bytes), object.string("kind") == "fork",
            let origin = object.string("origin").flatMap({ OriginID(text: $0) }),
            let seq = object.string("seq").flatMap({ UInt64($0) }), seq <= Limits.number,
            object.string("origin") == origin.description, object.string("seq") == String(seq),
            let elements = object.elements("branches"), elements.count == 2,
            case let branches = elements.compactMap({ $0.object.flatMap { ForkBranch(proof: $0) } }),
            branches.count == 2
        else { return nil }
        self.origin = origin
        self.seq = seq
        self.branches = branches
    }
}

extension ForkBranch {
    /// Appends the branch as a JSON object on one line.
    func write(to out: inout [UInt8]) {
        out.append(literal: #"{"head":"#)
        JSONText.append(head.head.checkpointText, to: &out)
        let proof = proof.map { "\"\($0)\"" }.joined(separator: ",")
        out.append(contentsOf: #","signature":"\#(base64Text(head.signature))","#.utf8)
        switch content {
        case .root(let root):
            out.append(contentsOf: #""root":"\#(root)","#.utf8)
        case .event(let header, let digest):
            out.append(contentsOf: #""header":"\#(base64Text(header))","payload_digest":"\#(digest)","#.utf8)
        }
        out.append(contentsOf: #""proof":[\#(proof)]}"#.utf8)
    }

    /// Reads a branch of a file: each member once, and in its one form.
    fileprivate init?(proof object: JSONObject) {
        guard let distinct = try? JSONObject(validating: Array(object.bytes[object.range])),
            let branch = ForkBranch(distinct),
            branch.namesDigest(as: distinct),
            distinct.elements("proof")?.map(\.string) == branch.proof.map({ $0.description })
        else { return nil }
        self = branch
    }

    /// Whether the member that tells the branches apart has its one form.
    private func namesDigest(as object: JSONObject) -> Bool {
        switch content {
        case .root(let root): object.string("root") == root.description
        case .event(_, let digest): object.string("payload_digest") == digest.description
        }
    }

    init?(_ object: JSONObject) {
        guard let head = object.string("head").flatMap({ TreeHead(checkpointText: $0) }),
            let signature = object.string("signature").flatMap({ base64Bytes($0) }),
            let proof = object.strings("proof")?.map({ hexBytes($0).flatMap { Digest(bytes: $0) } }),
            !proof.contains(nil)
        else { return nil }
        let coverage = Coverage(
            head: SignedHead(head: head, signature: signature), proof: proof.compactMap { $0 })
        func digest(_ name: String) -> Digest? {
            object.string(name).flatMap { hexBytes($0) }.flatMap { Digest(bytes: $0) }
        }
        if object["root"] != nil {
            guard let root = digest("root") else { return nil }
            self.init(root: root, of: coverage)
            return
        }
        guard let header = object.string("header").flatMap({ base64Bytes($0) }), let digest = digest("payload_digest")
        else { return nil }
        self.init(head: coverage.head, header: header, payloadDigest: digest, proof: coverage.proof)
    }
}

extension TreeHead {
    /// Reads what ``checkpointText`` writes; `nil` for anything else.
    package init?(checkpointText text: String) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count == 5, lines[0].hasPrefix("sillok/"), lines[3].hasPrefix("hlc "),
            let origin = OriginID(text: lines[0].dropFirst(7)), let size = UInt64(lines[1]),
            size <= Limits.number,
            let root = base64Bytes(lines[2]).flatMap({ Digest(bytes: $0) }),
            let hlc = HybridTime(text: lines[3].dropFirst(4))
        else { return nil }
        self.init(origin: origin, size: size, root: root, hlc: hlc)
        guard checkpointText.hasSameBytes(as: text) else { return nil }
    }
}
