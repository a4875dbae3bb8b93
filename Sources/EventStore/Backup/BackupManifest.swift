/// What a backup is (FORMATS.md §11): how far it goes, what proves it, and in which segments its rows are.
package struct BackupManifest: Hashable, Sendable {
    /// A range of positions, in a file of its own.
    package struct Segment: Hashable, Sendable {
        /// Its name in the repository.
        package var file: String
        package let after: UInt64
        package let last: UInt64
        /// Of the file.
        package var bytes: UInt64
        /// Of the file.
        package var digest: Digest
        /// SHA-256 over the leaves of its rows: the same rows, whether their payloads are there or not.
        package let leaves: Digest
        /// Up to which position of the log erasures were applied to it.
        package var erasures: UInt64
        package var holes: Holes

        package init(
            file: String, after: UInt64, last: UInt64, bytes: UInt64, digest: Digest, leaves: Digest,
            erasures: UInt64, holes: Holes
        ) {
            (self.file, self.after, self.last, self.bytes) = (file, after, last, bytes)
            (self.digest, self.leaves, self.erasures, self.holes) = (digest, leaves, erasures, holes)
        }
    }

    /// A small file or value of the store.
    package struct Part: Hashable, Sendable {
        package let name: String
        package let value: [UInt8]

        package init(name: String, value: [UInt8]) { (self.name, self.value) = (name, value) }
    }

    /// The bytes of an attachment.
    package struct Attachment: Hashable, Sendable {
        package let digest: Digest
        package let bytes: UInt64

        package init(digest: Digest, bytes: UInt64) { (self.digest, self.bytes) = (digest, bytes) }
    }

    /// Its name in the repository.
    package var id: String
    package var key: VerifyingKey
    package var node: NodeID { key.nodeID }
    package var name: String
    package var cluster: String
    package var incarnation: UInt64
    /// The origin that the node wrote to.
    package var origin: OriginID
    /// When it was made, Unix milliseconds.
    package var time: Int64
    package var position: UInt64
    package var origins: [BackupOrigin]
    package var segments: [Segment]
    /// Files of the store.
    package var files: [Part]
    /// Values of `cosigned.db`.
    package var cosignatures: [Part]
    /// Attachments, ascending.
    package var attachments: [Attachment] = []
    /// Erasures that came behind its end and were applied to its segments.
    package var erasures: [ProvenErasure] = []
    /// Whether the node has signed it.
    package private(set) var isSigned = false

    package init(
        id: String, key: VerifyingKey, identity: StoreIdentity, time: Int64, position: UInt64,
        origins: [BackupOrigin],
        segments: [Segment], files: [Part], cosignatures: [Part]
    ) {
        (self.id, self.key, self.time, self.position) = (id, key, time, position)
        (name, cluster, incarnation, origin) = (
            identity.name, identity.cluster, identity.incarnation, identity.origin
        )
        (self.origins, self.segments, self.files, self.cosignatures) = (origins, segments, files, cosignatures)
    }

    /// Releases before attachments read version 1, and what has none of the newer lines is that.
    private var version: UInt64 { attachments.isEmpty && erasures.isEmpty ? 1 : 2 }
    static let versions: ClosedRange<UInt64> = 1...2

    /// What the last line's signature is over.
    static func signedText(_ digest: Digest) -> [UInt8] { Array("sillok backup v1\n\(digest)\n".utf8) }

    /// The file's bytes, signed by the node if its key is there.
    package func bytes(signedWith key: SigningKey?) -> [UInt8] {
        var out = lines
        let digest = SHA256().digest(out)
        out += #"{"type":"end","v":\#(version),"sha256":"\#(digest)""#.utf8
        if let key, key.publicKey == self.key {
            out += #","signature":"\#(base64Text(key.sign(Self.signedText(digest))))""#.utf8
        }
        out += "}\n".utf8
        return out
    }

    private var lines: [UInt8] {
        var out: [UInt8] = []
        out += #"{"type":"backup","v":\#(version),"id":"\#(id)","node":"\#(node)","name":"#.utf8
        JSONText.append(name, to: &out)
        out += #","cluster":"#.utf8
        JSONText.append(cluster, to: &out)
        let incarnation = hexText(withUnsafeBytes(of: self.incarnation.bigEndian) { Array($0) })
        out += #","key":"\#(base64Text(key.rawBytes))","incarnation":"\#(incarnation)","origin":"\#(origin)","#.utf8
        out += #""time":"\#(Timestamp.text(time))","position":\#(position)}\#n"#.utf8
        for entry in origins {
            let progress = entry.progress
            out += #"{"type":"origin","origin":"\#(progress.origin)","node":"\#(entry.key.nodeID)","#.utf8
            out +=
                #""key":"\#(base64Text(entry.key.rawBytes))","size":\#(progress.size),"root":"\#(progress.root)","#
                .utf8
            out += #""head":"#.utf8
            JSONText.append(entry.coverage.head.head.checkpointText, to: &out)
            out += #","signature":"\#(base64Text(entry.coverage.head.signature))","proof":["#.utf8
            out += entry.coverage.proof.map { "\"\($0)\"" }.joined(separator: ",").utf8
            out += "]}\n".utf8
        }
        for segment in segments {
            out +=
                #"{"type":"segment","file":"\#(segment.file)","after":\#(segment.after),"last":\#(segment.last),"#
                .utf8
            out += #""bytes":\#(segment.bytes),"sha256":"\#(segment.digest)","leaves":"\#(segment.leaves)","#.utf8
            out += #""erasures":\#(segment.erasures),"empty":\#(segment.holes.count),"#.utf8
            out += #""which":"\#(segment.holes.digest)"}\#n"#.utf8
        }
        for (type, parts) in [("file", files), ("cosignatures", cosignatures)] {
            for part in parts {
                out += #"{"type":"\#(type)","name":"#.utf8
                JSONText.append(part.name, to: &out)
                out += #","value":"\#(base64Text(part.value))"}\#n"#.utf8
            }
        }
        for attachment in attachments {
            out += #"{"type":"attachment","sha256":"\#(attachment.digest)","bytes":\#(attachment.bytes)}\#n"#.utf8
        }
        for erasure in erasures { erasure.write(to: &out) }
        return out
    }
}

/// Why the bytes are no manifest: which member of which line.
package struct InvalidManifest: Error, Hashable, Sendable {
    package let reason: String

    package init(reason: String) { self.reason = reason }
}

extension BackupManifest {
    /// Reads a manifest. Each line must be what ``bytes(signedWith:)`` writes, byte for byte; a signature must be the node's.
    package init(_ bytes: [UInt8]) throws(InvalidManifest) {
        var reading = ManifestReading()
        var start = 0
        var end: (digest: Digest, signature: [UInt8]?)?
        while start < bytes.count {
            let stop = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
            guard stop < bytes.count, end == nil else {
                throw InvalidManifest(reason: "it does not end with its last line")
            }
            do throws(InvalidEvidenceLine) {
                let object = JSONObject(bytes: bytes, range: start..<stop)
                let members = EvidenceMembers(object)
                if try members.string("type") == "end" {
                    end = (
                        try members.digest("sha256"), members.has("signature") ? try members.base64("signature") : nil
                    )
                    guard try members.digest("sha256") == SHA256().digest(Array(bytes[..<start])) else {
                        throw InvalidEvidenceLine(member: "sha256")
                    }
                } else {
                    try reading.take(members, object)
                }
            } catch {
                let isLater = error.member == "v"
                throw InvalidManifest(
                    reason: isLater ? "it is none, or of a later release" : "'\(error.member)' is missing or wrong")
            }
            start = stop + 1
        }
        guard let end, var manifest = reading.manifest else { throw InvalidManifest(reason: "it is cut") }
        guard manifest.isSound else {
            throw InvalidManifest(reason: "its segments or origins do not follow one another")
        }
        guard manifest.isOfNode else {
            throw InvalidManifest(reason: "it names \(manifest.node) as its node, and no origin of that")
        }
        guard manifest.hasOwnKey else {
            throw InvalidManifest(reason: "its node.key is not that of \(manifest.node), which it names as its node")
        }
        var again = manifest.bytes(signedWith: nil).dropLast(2)
        if let signature = end.signature {
            guard manifest.key.isValid(signature: signature, for: Self.signedText(end.digest)) else {
                throw InvalidManifest(reason: "its signature is not that of the node that it names")
            }
            manifest.isSigned = true
            again += #","signature":"\#(base64Text(signature))""#.utf8
        }
        guard again + "}\n".utf8 == bytes[...] else { throw InvalidManifest(reason: "its form is another") }
        self = manifest
    }

    /// Whether the segments reach from the first position to the last, and origins ascend. Names of files are plain: they are joined to the
    /// repository's path.
    private var isSound: Bool {
        var after = UInt64(0)
        for segment in segments {
            guard segment.after == after, segment.last > after, Self.isPlain(segment.file) else { return false }
            after = segment.last
        }
        let ascend = zip(origins, origins.dropFirst()).allSatisfy { $0.progress.origin < $1.progress.origin }
        let named = zip(attachments, attachments.dropFirst()).allSatisfy { $0.digest.words < $1.digest.words }
        let sum = origins.saturatedSum { $0.progress.size }
        return after == position && sum == position && ascend && named && Self.isPlain(id) && position > 0
    }

    /// Whether it has an origin of the node that it names, and the one that the node wrote to is no other's. The rows say whose origins are, and
    /// so a key that has nothing to do with them signs no manifest.
    private var isOfNode: Bool {
        origins.contains { $0.key == key } && origins.allSatisfy { $0.progress.origin != origin || $0.key == key }
    }

    /// Whether the key that it keeps for the node, if it does, is the one that it is signed with.
    private var hasOwnKey: Bool {
        files.allSatisfy { $0.name != "node.key" || SigningKey(pem: $0.value)?.publicKey == key }
    }

    /// Whether a name has letters, digits, dots and hyphens alone, and does not begin with a dot.
    package static func isPlain(_ name: String) -> Bool {
        name.utf8.allSatisfy {
            (0x30...0x39).contains($0) || (0x41...0x5a).contains($0) || (0x61...0x7a).contains($0)
                || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".")
        } && !name.isEmpty && !name.hasPrefix(".") && name.utf8.count <= 128
    }
}

/// The lines of a manifest as they are read.
private struct ManifestReading {
    private var first: (id: String, key: VerifyingKey, identity: StoreIdentity, time: Int64, position: UInt64)?
    private var origins: [BackupOrigin] = []
    private var segments: [BackupManifest.Segment] = []
    private var files: [BackupManifest.Part] = []
    private var cosignatures: [BackupManifest.Part] = []
    private var attachments: [BackupManifest.Attachment] = []
    private var erasures: [ProvenErasure] = []

    var manifest: BackupManifest? {
        first.map {
            var manifest = BackupManifest(
                id: $0.id, key: $0.key, identity: $0.identity, time: $0.time, position: $0.position, origins: origins,
                segments: segments, files: files, cosignatures: cosignatures)
            (manifest.attachments, manifest.erasures) = (attachments, erasures)
            return manifest
        }
    }

    mutating func take(_ members: EvidenceMembers, _ line: JSONObject) throws(InvalidEvidenceLine) {
        let type = try members.string("type")
        guard (type == "backup") == (first == nil) else { throw InvalidEvidenceLine(member: "type") }
        switch type {
        case "backup": first = try members.backup()
        case "origin":
            let entry = try members.origin()
            let progress = BackupProgress(
                origin: entry.head.head.origin, size: entry.size, root: try members.digest("root"))
            origins.append(
                BackupOrigin(
                    key: entry.key, progress: progress,
                    coverage: Coverage(head: entry.head, proof: try members.proof())))
        case "segment":
            segments.append(
                BackupManifest.Segment(
                    file: try members.string("file"), after: try members.number("after"),
                    last: try members.number("last"), bytes: try members.number("bytes"),
                    digest: try members.digest("sha256"), leaves: try members.digest("leaves"),
                    erasures: try members.number("erasures"),
                    holes: Holes(count: try members.number("empty"), digest: try members.digest("which"))))
        case "file": files.append(try members.part())
        case "cosignatures": cosignatures.append(try members.part())
        case "attachment":
            attachments.append(
                BackupManifest.Attachment(
                    digest: try members.digest("sha256"), bytes: try members.number("bytes")))
        case "erasure":
            guard let erasure = ProvenErasure(line) else { throw InvalidEvidenceLine(member: "erasure") }
            erasures.append(erasure)
        default: throw InvalidEvidenceLine(member: "type")
        }
    }
}

extension EvidenceMembers {
    fileprivate func part() throws(InvalidEvidenceLine) -> BackupManifest.Part {
        BackupManifest.Part(name: try string("name"), value: try base64("value"))
    }

    fileprivate func backup() throws(InvalidEvidenceLine) -> (
        id: String, key: VerifyingKey, identity: StoreIdentity, time: Int64, position: UInt64
    ) {
        guard BackupManifest.versions.contains(try number("v")) else { throw InvalidEvidenceLine(member: "v") }
        guard let key = VerifyingKey(rawBytes: try base64("key")), try string("node") == key.nodeID.description else {
            throw InvalidEvidenceLine(member: "key")
        }
        guard let incarnation = UInt64(try string("incarnation"), radix: 16) else {
            throw InvalidEvidenceLine(member: "incarnation")
        }
        guard let origin = OriginID(text: try string("origin")) else { throw InvalidEvidenceLine(member: "origin") }
        guard let time = Timestamp.milliseconds(try string("time")) else { throw InvalidEvidenceLine(member: "time") }
        let (name, cluster) = (try string("name"), try string("cluster"))
        guard PlainName.isOne(name), PlainName.isOne(cluster) else { throw InvalidEvidenceLine(member: "name") }
        let identity = StoreIdentity(
            node: key.nodeID, name: name, cluster: cluster, origin: origin, incarnation: incarnation)
        return (try string("id"), key, identity, time, try number("position"))
    }
}
