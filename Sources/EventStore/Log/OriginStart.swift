/// What the first event of every origin says: whose it is. Its payload is
/// `{"node":"<64 hex digits>","key":"<base64>","name":"…"}`, its user and author `node/<64 hex digits>`.
package struct OriginStart: Hashable, Sendable {
    package static let type = "origin.started"

    /// The key that signs the origin's heads.
    package let key: VerifyingKey
    /// What people call the node.
    package let name: String

    package init(key: VerifyingKey, name: String) {
        self.key = key
        self.name = name
    }

    /// The draft of the first event.
    package var draft: EventDraft {
        let user = "node/\(key.nodeID)"
        var payload = Array(#"{"node":"\#(key.nodeID)","key":"\#(base64Text(key.rawBytes))","name":"#.utf8)
        JSONText.append(name, to: &payload)
        payload.append(UInt8(ascii: "}"))
        return EventDraft(type: Self.type, user: user, payload: payload)
    }

    /// Reads the first event of an origin; `nil` if it does not say whose it is, or contradicts itself.
    init?(_ event: Event) {
        guard event.header.type == Self.type, event.header.dot.seq == 1, let payload = event.payload else {
            return nil
        }
        let object = JSONObject(validated: payload)
        guard let text = object.string("key"), let raw = base64Bytes(text), let key = VerifyingKey(rawBytes: raw),
            object.string("node") == key.nodeID.description, event.header.user == "node/\(key.nodeID)"
        else { return nil }
        self.key = key
        name = object.string("name") ?? key.nodeID.short
    }
}
