/// What the first event of every origin says: whose it is. Its payload is
/// `{"node":"<64 hex digits>","key":"<base64>","name":"…"}`, its user and author `node/<64 hex digits>`. An origin that
/// takes the place of another adds `"previous":"<origin>","reason":"…","had":n,"known":n`, after a cut also `"evidence":"cut-…"`.
package struct OriginStart: Hashable, Sendable {
    package static let type = "origin.started"

    /// The key that signs the origin's heads.
    package let key: VerifyingKey
    /// What people call the node.
    package let name: String
    /// Which origin of the same node it follows, and why.
    package let succession: OriginSuccession?

    package init(key: VerifyingKey, name: String, succession: OriginSuccession? = nil) {
        self.key = key
        self.name = name
        self.succession = succession
    }

    /// The draft of the first event.
    package var draft: EventDraft {
        let user = "node/\(key.nodeID)"
        var payload = Array(#"{"node":"\#(key.nodeID)","key":"\#(base64Text(key.rawBytes))","name":"#.utf8)
        JSONText.append(name, to: &payload)
        if let succession {
            payload.append(
                contentsOf: #","previous":"\#(succession.previous)","reason":"\#(succession.change.rawValue)","#.utf8)
            payload.append(contentsOf: #""had":\#(succession.had),"known":\#(succession.known)"#.utf8)
            if let evidence = succession.evidence { payload.append(contentsOf: #","evidence":"\#(evidence)""#.utf8) }
        }
        payload.append(UInt8(ascii: "}"))
        return EventDraft(type: Self.type, user: user, payload: payload)
    }

    /// Reads the first event of an origin; `nil` if it does not say whose it is, or contradicts itself.
    package init?(_ event: Event) {
        guard event.header.type == Self.type, event.header.dot.seq == 1, let payload = event.payload else {
            return nil
        }
        let object = JSONObject(validated: payload)
        guard let text = object.string("key"), let raw = base64Bytes(text), let key = VerifyingKey(rawBytes: raw),
            object.string("node") == key.nodeID.description, event.header.user == "node/\(key.nodeID)"
        else { return nil }
        self.key = key
        name = object.string("name") ?? key.nodeID.short
        succession = OriginSuccession(object)
    }
}

extension OriginSuccession {
    /// Reads it from the payload of an origin's first event; `nil` if there is none, or one of a later release.
    fileprivate init?(_ object: JSONObject) {
        guard let previous = object.string("previous").flatMap({ OriginID(text: $0) }),
            let change = object.string("reason").flatMap(OriginChange.init(rawValue:))
        else { return nil }
        func count(_ name: String) -> UInt64 { UInt64(clamping: object.integer(name) ?? 0) }
        self.init(
            change, previous: previous, had: count("had"), known: count("known"),
            evidence: object.string("evidence").flatMap { CutEvidence.isName($0, .cut) ? $0 : nil })
    }
}
