internal import CommandLineKit
internal import EventStore
internal import SillokAPI

/// Which events a reading command shows: the options that `history`, `conversation`, `tail`, `replay` and `export` share. Given several
/// times, an option means any of its values; different ones must all hold. A list that is empty means any.
struct EventSelection {
    static let times: [Command.Option] = [
        .value("since", "TIME", "From then on; seq:N is the time of the event at position N."),
        .value("until", "TIME", "Before then, in the same forms."),
    ]
    /// What all of them have.
    static let options: [Command.Option] =
        times + [
            .value("type", "TYPE", "Only events of this type.", repeatable: true, names: "types"),
            .value(
                "role", "ROLE", "Only messages: of people, of bots, or both.",
                allowed: DialogueRole.allCases.map(\.rawValue)),
            .value("author", "USER", "Only what this user or bot has written.", repeatable: true, names: "users"),
        ]
    static let knownAt = Command.Option.value(
        "known-at", "PLACE", "Only what this node's log had at this position (10412 or seq:10412), or at this time.")
    static let asOf = Command.Option.value("as-of", "TIME", "Only what had happened by then.")
    static let ids = Command.Option.flag("ids", "Show each event's id, which is the same on every node.")

    let range: TimeRange
    let types: [String]
    let authors: [String]
    let conversations: [String]
    let users: [String]

    init(_ session: Session) throws(CommandFailure) {
        let arguments = session.arguments
        range = try TimeRange(session)
        if let pattern = TypePattern.first(in: arguments.values("type")) {
            throw usageFailure(
                "--type '\(pattern)': a pattern is no type",
                hint: "each type by its name; subscriptions and /v1/changes take patterns")
        }
        let wanted = arguments.values("type")
        types = arguments.value("role").flatMap(DialogueRole.init)?.types(among: wanted) ?? wanted
        authors = arguments.values("author")
        conversations = session.has("conversation") ? arguments.values("conversation") : []
        users = session.has("user") ? arguments.values("user") : []
    }

    /// Whether it is about some users or conversations, whose events the views list.
    var hasScope: Bool { !users.isEmpty || !conversations.isEmpty }

    /// Whether everything is wanted.
    var isEverything: Bool { !hasScope && types.isEmpty && authors.isEmpty && range.isEmpty }

    /// The same for the views, without its scope.
    var query: TimelineQuery {
        var query = TimelineQuery()
        query.since = range.since
        query.until = range.until
        query.asOf = range.asOf
        query.types = types
        query.authors = authors
        switch range.known {
        case .position(let position)?: query.knownAt = position
        case .time(let time)?: query.knownTime = time
        case nil: break
        }
        return query
    }

    /// The same for an event of the log. The views go by the time of display, and so does this.
    func matches(_ header: EventHeader) -> Bool {
        if !types.isEmpty, !Self.contains(types, header.type) { return false }
        if !authors.isEmpty, !Self.contains(authors, header.author) { return false }
        if !users.isEmpty, !Self.contains(users, header.user) { return false }
        if !range.contains(header.displayKey.time) { return false }
        if conversations.isEmpty { return true }
        return header.conversation.map { Self.contains(conversations, $0) } ?? false
    }

    /// Byte by byte: canonically equivalent texts, which Swift's `==` holds for one, are two names.
    static func contains(_ names: [String], _ name: String) -> Bool {
        names.contains { $0.utf8.elementsEqual(name.utf8) }
    }
}
