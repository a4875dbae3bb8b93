/// One line of an evidence file (docs/reference/FORMATS.md §8): a log with all that proves it.
package enum EvidenceLine: Hashable, Sendable {
    /// The first line: of how many origins and events the file is.
    case beginning(origins: UInt64, events: UInt64)
    /// An origin, and what vouches for it.
    case origin(EvidenceOrigin)
    /// Proof that an origin has two histories; nothing is checked here.
    case fork(Dot, [ForkBranch])
    /// An event, as it travels between nodes.
    case event(Dot, EncodedEvent)
    /// The RFC 6962 consistency proof from the origin's first `size` events to its head.
    case proof(Dot, [Digest])
    /// The last line: counts, and the SHA-256 of all bytes before it.
    case end(origins: UInt64, events: UInt64, digest: Digest)

    /// The version that this release writes and reads.
    package static let version = 1
}

/// An origin as an evidence file has it.
package struct EvidenceOrigin: Hashable, Sendable {
    /// The key that signs its heads.
    package let key: VerifyingKey
    /// How many of its events the file has.
    package let size: UInt64
    /// A head of so many events, or of more where they are not here.
    package let head: SignedHead

    package var id: OriginID { head.head.origin }
}

extension EvidenceLine {
    /// Appends the line with its newline.
    package func write(to out: inout [UInt8]) {
        switch self {
        case .beginning(let origins, let events):
            out += #"{"type":"evidence","v":\#(Self.version),"origins":\#(origins),"events":\#(events)"#.utf8
        case .origin(let origin):
            out += #"{"type":"origin","origin":"\#(origin.id)","node":"\#(origin.key.nodeID)","#.utf8
            out += #""key":"\#(base64Text(origin.key.rawBytes))","size":\#(origin.size),"head":"#.utf8
            JSONText.append(origin.head.head.checkpointText, to: &out)
            out += #","signature":"\#(base64Text(origin.head.signature))""#.utf8
        case .fork(let dot, let branches):
            out += #"{"type":"fork","origin":"\#(dot.origin)","seq":\#(dot.seq),"branches":["#.utf8
            for (index, branch) in branches.enumerated() {
                if index > 0 { out.append(UInt8(ascii: ",")) }
                branch.write(to: &out)
            }
            out.append(UInt8(ascii: "]"))
        case .event(let dot, let event): Self.write(dot, event, to: &out)
        case .proof(let dot, let proof):
            out += #"{"type":"proof","origin":"\#(dot.origin)","size":\#(dot.seq),"proof":["#.utf8
            out += proof.map { "\"\($0)\"" }.joined(separator: ",").utf8
            out.append(UInt8(ascii: "]"))
        case .end(let origins, let events, let digest):
            out += #"{"type":"end","v":\#(Self.version),"count":\#(events),"origins":\#(origins),"#.utf8
            out += #""sha256":"\#(digest)""#.utf8
        }
        out.append(literal: "}\n")
    }

    /// Appends an event without the brace that ends it.
    static func write(_ dot: Dot, _ event: EncodedEvent, to out: inout [UInt8]) {
        out.append(literal: #"{"type":"event","origin":""#)
        dot.origin.bits.appendText(to: &out)
        out.append(literal: #"","seq":"#)
        out.append(decimal: dot.seq)
        out.append(literal: #","header":""#)
        out.append(base64: event.header)
        switch event.body {
        case .present(let salt, let payload):
            out.append(literal: #"","salt":""#)
            for byte in salt.bytes { out.appendHex(byte) }
            out.append(literal: #"","payload":"#)
            JSONText.append(utf8: payload, to: &out)
        case .unreadable(let salt, let bytes):
            out.append(literal: #"","salt":""#)
            for byte in salt.bytes { out.appendHex(byte) }
            out.append(literal: #"","payload_base64":""#)
            out.append(base64: bytes)
            out.append(UInt8(ascii: "\""))
        case .erased(let digest):
            out.append(literal: #"","digest":""#)
            for byte in digest.bytes { out.appendHex(byte) }
            out.append(UInt8(ascii: "\""))
        }
    }
}

/// Why a line is none of an evidence file.
package struct InvalidEvidenceLine: Error, Hashable, Sendable {
    /// Which member is missing or wrong; empty when the line is no JSON object.
    package let member: String

    package init(member: String) { self.member = member }

    /// Of a line, or the event in it, that is longer than any can be.
    package static let long = InvalidEvidenceLine(member: "length")

    /// In words for people.
    package var reason: String {
        switch member {
        case "v": "another version of the format"
        case "form": "not written in the form of FORMATS.md"
        case "length":
            "longer than any can be: a header has at most \(Limits.header) bytes, a payload \(Limits.carriedPayload)"
        default: "\(member): missing or wrong"
        }
    }
}

extension EvidenceLine {
    /// Reads the line at `range` of `bytes`, without its newline. Members of later releases are passed over.
    package init(_ bytes: [UInt8], _ range: Range<Int>) throws(InvalidEvidenceLine) {
        let members = EvidenceMembers(JSONObject(bytes: bytes, range: range))
        switch try members.string("type") {
        case "evidence":
            guard try members.number("v") == Self.version else { throw InvalidEvidenceLine(member: "v") }
            self = .beginning(origins: try members.number("origins"), events: try members.number("events"))
        case "origin": self = .origin(try members.origin())
        case "fork": self = .fork(try members.dot("seq"), try members.branches())
        case "event": self = .event(try members.dot("seq"), try members.event())
        case "proof": self = .proof(try members.dot("size"), try members.proof())
        case "end":
            self = .end(
                origins: try members.number("origins"), events: try members.number("count"),
                digest: try members.digest("sha256"))
        default: throw InvalidEvidenceLine(member: "type")
        }
    }
}

/// The members of a line, found in one pass.
struct EvidenceMembers {
    private var values: [String: JSONValue] = [:]

    init(_ object: JSONObject) {
        for member in object { values[member.name] = member.value }
    }

    private func required<Value>(_ name: String, _ read: (JSONValue) -> Value?) throws(InvalidEvidenceLine) -> Value {
        guard let value = values[name].flatMap(read) else { throw InvalidEvidenceLine(member: name) }
        return value
    }

    func string(_ name: String) throws(InvalidEvidenceLine) -> String { try required(name, \.string) }

    func bool(_ name: String) throws(InvalidEvidenceLine) -> Bool { try required(name, \.bool) }

    /// Whether there is one of this name.
    func has(_ name: String) -> Bool { values[name] != nil }

    /// A count within ``Limits/number``.
    func number(_ name: String) throws(InvalidEvidenceLine) -> UInt64 {
        try required(name) { value in
            value.integer.flatMap { $0 >= 0 && $0 <= Limits.number ? UInt64($0) : nil }
        }
    }

    func digest(_ name: String) throws(InvalidEvidenceLine) -> Digest {
        try required(name) { value in value.string.flatMap { hexBytes($0) }.flatMap { Digest(bytes: $0) } }
    }

    func base64(_ name: String) throws(InvalidEvidenceLine) -> [UInt8] {
        try required(name) { value in value.string.flatMap { base64Bytes($0) } }
    }

    func dot(_ number: String) throws(InvalidEvidenceLine) -> Dot {
        let origin = try required("origin") { value in value.string.flatMap { OriginID(text: $0) } }
        return Dot(origin: origin, seq: try self.number(number))
    }

    func origin() throws(InvalidEvidenceLine) -> EvidenceOrigin {
        let id = try dot("size")
        let key = try base64("key")
        guard let key = VerifyingKey(rawBytes: key) else { throw InvalidEvidenceLine(member: "key") }
        guard try string("node") == key.nodeID.description else { throw InvalidEvidenceLine(member: "node") }
        let head = try required("head") { value in value.string.flatMap { TreeHead(checkpointText: $0) } }
        guard head.origin == id.origin, id.seq > 0, head.size >= id.seq, head.size <= Limits.number else {
            throw InvalidEvidenceLine(member: "head")
        }
        let signed = SignedHead(head: head, signature: try base64("signature"))
        return EvidenceOrigin(key: key, size: id.seq, head: signed)
    }

    func branches() throws(InvalidEvidenceLine) -> [ForkBranch] {
        try required("branches") { value in
            let branches = value.elements?.compactMap { $0.object.flatMap(ForkBranch.init) }
            return branches?.count == 2 ? branches : nil
        }
    }

    func proof() throws(InvalidEvidenceLine) -> [Digest] {
        try required("proof") { value in
            guard let elements = value.elements, elements.count <= 128 else { return nil }
            let digests = elements.compactMap { $0.string.flatMap { hexBytes($0) }.flatMap { Digest(bytes: $0) } }
            return digests.count == elements.count ? digests : nil
        }
    }

    /// The event, no longer than any that a peer could have sent.
    func event() throws(InvalidEvidenceLine) -> EncodedEvent {
        let event = try anyEvent()
        guard event.header.count <= Limits.header, event.body.count <= Limits.carriedPayload else { throw .long }
        return event
    }

    private func anyEvent() throws(InvalidEvidenceLine) -> EncodedEvent {
        let header = try base64("header")
        if values["digest"] != nil {
            return EncodedEvent(header: header, body: .erased(payloadDigest: try digest("digest")))
        }
        let salt = try required("salt") { value in
            value.string.flatMap { hexBytes($0) }.flatMap { UUIDBits(bytes: $0) }
        }
        if values["payload_base64"] != nil {
            return EncodedEvent(header: header, body: .unreadable(salt: salt, bytes: try base64("payload_base64")))
        }
        let payload = try required("payload") { value in
            value.stringRange.map { JSONText.decoded($0, of: value.bytes) }
        }
        return EncodedEvent(header: header, body: .present(salt: salt, payload: payload))
    }
}
