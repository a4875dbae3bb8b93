internal import EventStore

/// What `GET` reads below `/v1/` (docs/operating/api.md), as both sides name it. Each has its own `path` and `parameters`.
package enum ReadRoute: Hashable, Sendable {
    /// The log, in the order of this node.
    case events
    case event(String)
    /// With what proves it.
    case proof(event: String)
    /// What led to an event, and what followed from it.
    case why(String)
    case conversations
    case conversation(String)
    /// A conversation's events, with what became of each message.
    case rows(conversation: String)
    /// The same events with what proves them.
    case proofs(conversation: String)
    case profile(user: String)
    /// A user's events across conversations.
    case history(user: String)
    case surveys
    case survey(String)
    /// Who has read what, as far as reads are recorded.
    case access
    /// Who has read what belongs to a user.
    case readers(user: String)
    /// What was written, by the words in it.
    case search
    /// Users by name.
    case users
    /// Who takes part in a conversation.
    case participants(conversation: String)
    /// The conversations in a user's list.
    case rooms(user: String)
    /// Whom a user keeps.
    case contacts(user: String)
    /// What a user looked for.
    case searches(user: String)
    /// Which events name which bytes.
    case attachments

    /// The route of what stands behind `/v1/`, decoded.
    package init?(_ path: some Collection<String>) {
        let path = Array(path)
        switch (path.first, path.count) {
        case ("events", 1): self = .events
        case ("events", 2): self = .event(path[1])
        case ("events", 3) where path[2] == "proof": self = .proof(event: path[1])
        case ("events", 3) where path[2] == "why": self = .why(path[1])
        case ("conversations", 1): self = .conversations
        case ("conversations", 2): self = .conversation(path[1])
        case ("conversations", 3) where path[2] == "rows": self = .rows(conversation: path[1])
        case ("users", 1): self = .users
        case ("conversations", 3) where path[2] == "proof": self = .proofs(conversation: path[1])
        case ("users", 2): self = .profile(user: path[1])
        case ("users", 3) where path[2] == "history": self = .history(user: path[1])
        case ("surveys", 1): self = .surveys
        case ("surveys", 2): self = .survey(path[1])
        case ("access", 1): self = .access
        case ("users", 3) where path[2] == "readers": self = .readers(user: path[1])
        case ("search", 1): self = .search
        case ("conversations", 3) where path[2] == "participants": self = .participants(conversation: path[1])
        case ("users", 3) where path[2] == "conversations": self = .rooms(user: path[1])
        case ("users", 3) where path[2] == "contacts": self = .contacts(user: path[1])
        case ("users", 3) where path[2] == "searches": self = .searches(user: path[1])
        case ("attachments", 1): self = .attachments
        default: return nil
        }
    }

    /// The route of a whole path, decoded.
    package init?(version1 segments: [String]) {
        guard segments.first == "v1" else { return nil }
        self.init(segments.dropFirst())
    }

    /// What stands behind `/v1/`, decoded.
    package var segments: [String] {
        switch self {
        case .events: ["events"]
        case .event(let id): ["events", id]
        case .proof(let id): ["events", id, "proof"]
        case .why(let id): ["events", id, "why"]
        case .conversations: ["conversations"]
        case .conversation(let id): ["conversations", id]
        case .rows(let conversation): ["conversations", conversation, "rows"]
        case .proofs(let conversation): ["conversations", conversation, "proof"]
        case .profile(let user): ["users", user]
        case .history(let user): ["users", user, "history"]
        case .surveys: ["surveys"]
        case .survey(let name): ["surveys", name]
        case .access: ["access"]
        case .readers(let user): ["users", user, "readers"]
        case .search: ["search"]
        case .users: ["users"]
        case .participants(let conversation): ["conversations", conversation, "participants"]
        case .rooms(let user): ["users", user, "conversations"]
        case .contacts(let user): ["users", user, "contacts"]
        case .searches(let user): ["users", user, "searches"]
        case .attachments: ["attachments"]
        }
    }

    /// The path with parameters, in this order; blanks and slashes in its parts are encoded.
    package func path(with query: [(name: String, value: String)]) -> String {
        let path = (["/v1"] + segments.map(percentEncoded)).joined(separator: "/")
        return query.isEmpty ? path : path + "?" + encodedQuery(query)
    }

    /// Whether it comes in pages; an event is one line, and a tree is told whole or cut.
    package var isPaged: Bool {
        switch self {
        case .event, .proof, .why: false
        default: true
        }
    }

    /// Whether it has what proves events, in a form of its own (FORMATS.md §10).
    package var isProof: Bool {
        switch self {
        case .proof, .proofs: true
        default: false
        }
    }

    /// Whether its pages end at such places.
    package func hasPlace(_ place: PagePlace) -> Bool {
        switch (self, place) {
        case (.rows, .entry), (.proofs, .entry), (.history, .entry), (.access, .entry), (.readers, .entry),
            (.search, .entry),
            (.conversations, .conversation), (.events, .log), (.attachments, .attachment):
            true
        case (.conversation, .names(let names)), (.profile, .names(let names)), (.surveys, .names(let names)):
            names.count == 1
        case (.participants, .names(let names)), (.contacts, .names(let names)): names.count == 1
        case (.survey, .names(let names)): names.count == 2 || names.count == 3
        case (.users, .names(let names)): names.count == 2
        case (.attachments, .names(let names)): AttachmentStanding(names: names) != nil
        case (.rooms, .names(let names)): RoomPlace(names: names) != nil
        case (.searches, .names(let names)): names.count == 3
        default: false
        }
    }
}
