/// What an erasure event says (FORMATS.md, section 2): whose payloads go, up to when, and why.
package struct Erasure: Hashable, Sendable {
    /// Whose events go, beside those that are named one by one.
    package enum Subject: Hashable, Sendable {
        /// A user's.
        case user(String)
        /// A conversation's.
        case conversation(String)
    }

    /// `nil` where only ``events`` go.
    package var subject: Subject?
    /// Whether what the user wrote in the histories of others goes, too.
    package var isWithAuthored = false
    /// Whether events of the user that hold for others (``SharedType``) go with the rest; false: only those that ``events`` names.
    package var isWithShared = true
    /// Whether what others say of the erased events goes, too, when it comes later: edits, retractions and transcripts.
    package var isWithReplies = false
    /// Events that go besides, whenever they were recorded.
    package var events: [Dot] = []
    /// Of the subject only events go that were recorded before this.
    package var before: HybridTime?
    /// Why, in the operator's words.
    package var reason = ""
    /// Who asked for it.
    package var who = ""
    /// The event of another node that this one confirms; `nil` for an erasure that an operator has ordered here.
    package var confirms: Dot?

    /// Most events that one erasure names, so that it fits into a payload.
    package static let mostEvents = 2_000

    package init(subject: Subject?) { self.subject = subject }

    /// Reads an event; `nil` if it is no erasure, if its payload is gone or cannot be read, or if a member of it has another form.
    package init?(_ event: Event) {
        guard ReservedType.isErasure(event.header.type), let payload = event.payload else { return nil }
        let isOfUser = event.header.type == ReservedType.userErased
        let object = JSONObject(validated: payload)
        let named = object[isOfUser ? "user" : "conversation"]
        if let named, !named.isNull {
            guard let text = named.text else { return nil }
            subject = isOfUser ? .user(text) : .conversation(text)
        } else if named == nil {
            let own = isOfUser ? event.header.user : event.header.conversation
            subject = own.map { isOfUser ? .user($0) : .conversation($0) }
        }
        if let text = object["before"] {
            guard let time = text.text.flatMap({ HybridTime(text: $0) }) else { return nil }
            before = time
        }
        isWithAuthored = object.bool("authored") ?? false
        isWithShared = object.bool("shared") ?? true
        isWithReplies = object.bool("replies") ?? false
        events = (object.strings("events") ?? []).compactMap { Dot(text: $0) }
        reason = object["reason"]?.text ?? ""
        who = object["who"]?.text ?? ""
        confirms = object["confirms"]?.text.flatMap { Dot(text: $0) }
    }

    /// The same, as another node confirms it.
    ///
    /// - Parameters:
    ///   - dot: Of the event that is confirmed.
    ///   - hlc: When that was recorded.
    func confirming(_ dot: Dot, recorded hlc: HybridTime) -> Erasure {
        var confirmation = self
        confirmation.before = min(before ?? hlc, hlc)
        confirmation.confirms = dot
        return confirmation
    }

    /// The event that says it.
    ///
    /// - Parameters:
    ///   - user: In whose history it stands where no user is erased.
    ///   - author: Who appends it; the user, if `nil`.
    package func draft(user: String, author: String? = nil) -> EventDraft {
        switch subject {
        case .user(let name): EventDraft(type: ReservedType.userErased, user: name, author: author, payload: payload)
        case .conversation(let name):
            EventDraft(
                type: ReservedType.conversationErased, conversation: name, user: user, author: author,
                payload: payload)
        case nil: EventDraft(type: ReservedType.userErased, user: user, author: author, payload: payload)
        }
    }

    private var payload: [UInt8] {
        var out: [UInt8] = []
        func add(_ name: String, _ value: (inout [UInt8]) -> Void) {
            out += "\(out.isEmpty ? "{" : ",")\"\(name)\":".utf8
            value(&out)
        }
        switch subject {
        case .user(let name): add("user") { JSONText.append(name, to: &$0) }
        case .conversation(let name): add("conversation") { JSONText.append(name, to: &$0) }
        case nil: add("user") { $0 += "null".utf8 }
        }
        if isWithAuthored { add("authored") { $0 += "true".utf8 } }
        if !isWithShared { add("shared") { $0 += "false".utf8 } }
        if isWithReplies { add("replies") { $0 += "true".utf8 } }
        if !events.isEmpty {
            add("events") { out in
                out += "[\(events.map { "\"\($0)\"" }.joined(separator: ","))]".utf8
            }
        }
        if let before { add("before") { $0 += "\"\(before)\"".utf8 } }
        if !reason.isEmpty { add("reason") { JSONText.append(reason, to: &$0) } }
        if !who.isEmpty { add("who") { JSONText.append(who, to: &$0) } }
        if let confirms { add("confirms") { $0 += "\"\(confirms)\"".utf8 } }
        out.append(UInt8(ascii: "}"))
        return out
    }
}

/// Types of events by which one user decides what others may read: who takes part in a conversation, and what becomes of messages. The erasure
/// of that user takes them only by name, lest it let in who was put out and show what was taken back.
enum SharedType {
    static let started = "conversation.started"
    static let joined = "participant.joined"
    static let left = "participant.left"

    static func contains(_ type: String) -> Bool {
        type == started || type == joined || type == left || AmendmentRule.isAmendment(type)
    }
}

extension Dot {
    /// Reads what `description` prints, and no other form of it: a dot has one name.
    package init?(text: some StringProtocol) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let origin = OriginID(text: String(parts[0])), let seq = UInt64(parts[1]),
            seq > 0, seq <= Limits.number
        else { return nil }
        self.init(origin: origin, seq: seq)
        guard description.utf8.elementsEqual(text.utf8) else { return nil }
    }
}
