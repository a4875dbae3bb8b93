package import EventStore

/// A token's holder and what they may do: one event `access.granted`, or one entry of a node's own `credentials.json`.
package struct AccessGrant: Hashable, Sendable {
    package static let granted = "access.granted"
    package static let revoked = "access.revoked"
    package static let read = "access.read"
    /// All that is here of a person was put together for them.
    package static let given = "access.given"

    package let credential: CredentialID
    /// Whom it stands for: `bot/medibot`.
    package let principal: String
    package let roles: Set<Role>
    /// Whether users and bots among the roles may speak and read in all conversations.
    package let isInAll: Bool
    /// Until when it counts, Unix milliseconds; `nil`: until it is revoked.
    package let until: Int64?

    package init(
        _ credential: CredentialID, principal: String, _ roles: Set<Role>, isInAll: Bool = false, until: Int64? = nil
    ) {
        (self.credential, self.principal, self.roles) = (credential, principal, roles)
        (self.isInAll, self.until) = (isInAll, until)
    }

    /// Whether `text` may be a principal: what an event's actor can name.
    package static func isPrincipal(_ text: String) -> Bool {
        EventActor(.token, principal: text, credential: "0") != nil
    }

    /// Who asks with it.
    package var caller: Caller? {
        EventActor(.token, principal: principal, credential: credential.text).map {
            Caller($0, roles, isInAll: isInAll, credential: credential)
        }
    }

    package func isOver(at now: Int64) -> Bool { until.map { now >= $0 } ?? false }

    // MARK: Text

    /// The members of its JSON object but for the verifier.
    package var text: String {
        let list = roles.map(\.text).sorted().map(quotedText).joined(separator: ",")
        var text = #""credential":"\#(credential)","principal":\#(quotedText(principal)),"roles":[\#(list)]"#
        if isInAll { text += #","scope":"all""# }
        if let until { text += #","until":"\#(Timestamp.text(until))""# }
        return text
    }

    /// `nil` where a member is missing or of another form: then it counts for no one.
    package init?(_ object: JSONObject) {
        guard let credential = object.string("credential").flatMap(CredentialID.init),
            let principal = object.string("principal"), Self.isPrincipal(principal),
            let elements = object.elements("roles"), let texts = object.strings("roles"),
            texts.count == elements.count, !texts.isEmpty, let roles = Role.roles(texts)
        else { return nil }
        var until: Int64?
        if let value = object["until"] {
            guard let time = value.string.flatMap(Timestamp.milliseconds) else { return nil }
            until = time
        }
        let scope = object["scope"]
        guard scope == nil || scope?.string == "all" || scope?.string == "own" else { return nil }
        self.init(credential, principal: principal, roles, isInAll: scope?.string == "all", until: until)
    }

    // MARK: Events

    /// The event that grants it. What no event can grant is told without its verifier: it counts where a node's own file has it.
    package func draft(_ verifier: Digest, by actor: EventActor, at node: NodeID) -> EventDraft {
        let isOfNode = roles.contains(where: \.isOfNodeAlone)
        let proof = isOfNode ? #","local":true"# : #","verifier":"\#(verifier)""#
        return Self.draft(Self.granted, text + proof, by: actor, at: node)
    }

    /// The event that takes it back.
    package static func revocation(of credential: CredentialID, by actor: EventActor, at node: NodeID) -> EventDraft {
        draft(revoked, #""credential":"\#(credential)""#, by: actor, at: node)
    }

    /// The event that says who is about to read what.
    package static func draft(
        reading route: String, subject: String, users: [String], reason: String, by actor: EventActor, at node: NodeID
    ) -> EventDraft {
        let list = users.map(quotedText).joined(separator: ",")
        let members =
            #""route":\#(quotedText(route)),"subject":\#(quotedText(subject)),"users":[\#(list)]"#
            + #","reason":\#(quotedText(reason))"#
        return draft(read, members, by: actor, at: node)
    }

    /// The event that says that a user's data are about to be given out: to whom, and why.
    package static func draft(
        giving user: String, to who: String, reason: String, by actor: EventActor?, at node: NodeID
    ) -> EventDraft {
        let subject = "/v1/users/" + user
        let members =
            #""route":"package","subject":\#(quotedText(subject)),"users":[\#(quotedText(user))],"#
            + #""reason":\#(quotedText(reason)),"who":\#(quotedText(who))"#
        var draft = EventDraft(type: given, user: "node/\(node)", payload: Array("{\(members)}".utf8))
        draft.actor = actor
        return draft
    }

    /// Most bytes of a reason, and of who asked.
    package static let longestText = 1_024

    /// Whether a text may stand as a reason or as who asked.
    package static func isTold(_ text: String) -> Bool {
        !text.allSatisfy(\.isWhitespace) && text.utf8.count <= longestText
    }

    /// An event that a node writes about itself, for `actor`.
    static func draft(_ type: String, _ members: String, by actor: EventActor, at node: NodeID) -> EventDraft {
        var draft = EventDraft(type: type, user: "node/\(node)", payload: Array("{\(members)}".utf8))
        draft.actor = actor
        return draft
    }
}

/// A JSON string.
func quotedText(_ text: String) -> String {
    var bytes: [UInt8] = []
    JSONText.append(text, to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
}
