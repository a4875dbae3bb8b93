/// One line of a receipt or of a proven answer (FORMATS.md §9, §10).
package enum ReceiptLine: Hashable, Sendable {
    /// The first line of a receipt: of how many origins it is.
    case receipt(ReceiptMaker, origins: UInt64)
    /// The first line of a proven answer; `isFiltered`: only a part of the scope's events was asked for.
    case answer(ReceiptMaker, AnswerScope, isFiltered: Bool, events: UInt64, origins: UInt64)
    /// The key of a node that has cosigned.
    case witness(VerifyingKey)
    /// An origin: its node's key, how many events were there, when the last one that the head covers came; the note.
    case head(VerifyingKey, events: UInt64, arrived: Int64?, SignedNote)
    /// A cosignature over another head of the origin before it, with the proof between the two.
    case cosigned(SignedNote, proof: [Digest])
    /// An event, and its audit path.
    case event(Dot, EncodedEvent, proof: [Digest])
    /// The last line: how many heads, or events; the SHA-256 of all bytes before; the node's signature over that.
    case end(count: UInt64, digest: Digest, signature: [UInt8]?)

    /// What the last line's signature is over.
    package static func signedText(ofAnswer isAnswer: Bool, _ digest: Digest) -> [UInt8] {
        Array("sillok \(isAnswer ? "answer" : "receipt") v1\n\(digest)\n".utf8)
    }

    /// Appends the line with its newline.
    package func write(to out: inout [UInt8]) {
        switch self {
        case .receipt(let maker, let origins):
            out += #"{"type":"receipt","v":\#(Receipt.version),"#.utf8
            Self.write(maker, to: &out)
            out += #","origins":\#(origins)"#.utf8
        case .answer(let maker, let scope, let isFiltered, let events, let origins):
            out += #"{"type":"answer","v":\#(Receipt.version),"#.utf8
            Self.write(maker, to: &out)
            out += #","\#(scope.member.name)":"#.utf8
            JSONText.append(scope.member.value, to: &out)
            out += #","filtered":\#(isFiltered),"events":\#(events),"origins":\#(origins)"#.utf8
        case .witness(let key):
            out += #"{"type":"witness","node":"\#(key.nodeID)","key":"\#(base64Text(key.rawBytes))""#.utf8
        case .head(let key, let events, let arrived, let note):
            out += #"{"type":"head","origin":"\#(note.head.origin)","node":"\#(key.nodeID)","#.utf8
            out += #""key":"\#(base64Text(key.rawBytes))","events":\#(events),"size":\#(note.head.size)"#.utf8
            if let arrived { out += #","arrived":"\#(Timestamp.text(arrived))""#.utf8 }
            out += #","note":"#.utf8
            JSONText.append(note.text, to: &out)
        case .cosigned(let note, let proof):
            out += #"{"type":"cosigned","origin":"\#(note.head.origin)","size":\#(note.head.size),"note":"#.utf8
            JSONText.append(note.text, to: &out)
            Self.write(proof, to: &out)
        case .event(let dot, let event, let proof):
            EvidenceLine.write(dot, event, to: &out)
            Self.write(proof, to: &out)
        case .end(let count, let digest, let signature):
            out += #"{"type":"end","v":\#(Receipt.version),"count":\#(count),"sha256":"\#(digest)""#.utf8
            if let signature { out += #","signature":"\#(base64Text(signature))""#.utf8 }
        }
        out.append(literal: "}\n")
    }

    private static func write(_ maker: ReceiptMaker, to out: inout [UInt8]) {
        out += #""node":"\#(maker.key.nodeID)","name":"#.utf8
        JSONText.append(maker.name, to: &out)
        out += #","cluster":"#.utf8
        JSONText.append(maker.cluster, to: &out)
        out += #","key":"\#(base64Text(maker.key.rawBytes))","time":"\#(Timestamp.text(maker.time))","#.utf8
        out += #""position":\#(maker.position)"#.utf8
    }

    private static func write(_ proof: [Digest], to out: inout [UInt8]) {
        out.append(literal: #","proof":["#)
        for (index, digest) in proof.enumerated() {
            out.append(literal: index == 0 ? "\"" : "\",\"")
            for byte in digest.bytes { out.appendHex(byte) }
        }
        out.append(literal: proof.isEmpty ? "]" : "\"]")
    }
}

extension ReceiptLine {
    /// Reads the line at `range` of `bytes`, without its newline. It must be what ``write(to:)`` writes, byte for byte.
    ///
    /// - Throws: The name of the member that is missing or wrong; "form" where only the bytes differ.
    package init(_ bytes: [UInt8], _ range: Range<Int>) throws(InvalidEvidenceLine) {
        let members = EvidenceMembers(JSONObject(bytes: bytes, range: range))
        switch try members.string("type") {
        case "receipt":
            self = .receipt(try members.maker(), origins: try members.number("origins"))
        case "answer":
            self = .answer(
                try members.maker(), try members.scope(), isFiltered: try members.bool("filtered"),
                events: try members.number("events"), origins: try members.number("origins"))
        case "witness": self = .witness(try members.key())
        case "head":
            self = .head(
                try members.key(), events: try members.number("events"), arrived: try members.time("arrived"),
                try members.note())
        case "cosigned": self = .cosigned(try members.note(), proof: try members.proof())
        case "event": self = .event(try members.dot("seq"), try members.event(), proof: try members.proof())
        case "end":
            self = .end(
                count: try members.number("count"), digest: try members.digest("sha256"),
                signature: members.has("signature") ? try members.base64("signature") : nil)
        default: throw InvalidEvidenceLine(member: "type")
        }
        var again: [UInt8] = []
        write(to: &again)
        guard again.dropLast() == bytes[range] else { throw InvalidEvidenceLine(member: "form") }
    }
}

extension EvidenceMembers {
    fileprivate func maker() throws(InvalidEvidenceLine) -> ReceiptMaker {
        guard try number("v") == UInt64(Receipt.version) else { throw InvalidEvidenceLine(member: "v") }
        guard let time = try time("time") else { throw InvalidEvidenceLine(member: "time") }
        return ReceiptMaker(
            key: try key(), name: try string("name"), cluster: try string("cluster"), time: time,
            position: try number("position"))
    }

    fileprivate func scope() throws(InvalidEvidenceLine) -> AnswerScope {
        if has("user") { return .user(try string("user")) }
        if has("conversation") { return .conversation(try string("conversation")) }
        guard let id = EventID(text: try string("event")) else { throw InvalidEvidenceLine(member: "event") }
        return .event(id)
    }

    /// The key, which must be that of `node`.
    fileprivate func key() throws(InvalidEvidenceLine) -> VerifyingKey {
        guard let key = VerifyingKey(rawBytes: try base64("key")) else { throw InvalidEvidenceLine(member: "key") }
        guard try string("node") == key.nodeID.description else { throw InvalidEvidenceLine(member: "node") }
        return key
    }

    fileprivate func time(_ name: String) throws(InvalidEvidenceLine) -> Int64? {
        guard has(name) else { return nil }
        guard let time = Timestamp.milliseconds(try string(name)) else { throw InvalidEvidenceLine(member: name) }
        return time
    }

    fileprivate func note() throws(InvalidEvidenceLine) -> SignedNote {
        guard let note = SignedNote(try string("note")), note.head.size > 0 else {
            throw InvalidEvidenceLine(member: "note")
        }
        return note
    }
}
