internal import Access

/// What users have in lists of their own: conversations, contacts, what they looked for.
extension RouteTable {
    /// Of lists of conversations.
    static let ofConversations = [
        RouteParameter("category", .choice(["text", "image", "voice"]), "Only of this category."),
        RouteParameter("match", .place, "Only whose titles have these words, whatever the case."),
    ]

    private static let writers: RoleKinds = [.user, .app]

    /// An append of one line, and what came of it.
    private static let appended: [RouteAnswer] = [
        .lines("It is stored.", .ref("AppendedLine")),
        RouteAnswer(403, "It is not for who asks.", "application/x-ndjson", .ref("AppendedLine")),
        RouteAnswer(422, "It is no event.", "application/x-ndjson", .ref("AppendedLine")),
    ]

    private static let scope = RouteParameter(
        "scope", .choice(["messages", "users"]), "Only what was looked for there.")

    static let lists: [RouteSpecification] = [
        RouteSpecification(
            .listParticipants, "GET", "/v1/conversations/{conversation}/participants", readers,
            "Who takes part in a conversation, or has, by id.",
            parameters: paging + [RouteParameter("after", .place, "Only whose ids come after this one.")],
            answers: [.lines("A page.", .oneOf([.ref("Participant"), .ref("End")]))],
            errors: [.notFound, .cursor]),
        RouteSpecification(
            .listRooms, "GET", "/v1/users/{user}/conversations", readers,
            "A user's conversations, the latest message first, with what they have not read.",
            parameters: paging + ofConversations + [
                RouteParameter("all", .choice(["0", "1"]), "`1`: those, too, that they have hidden."),
                RouteParameter(
                    "first", .choice(["0", "1"]),
                    "`1`: with `first_text`, the first words of a person, where there is a message."),
                RouteParameter(
                    "language", .choice(["ko", "en"]), "Of `last_text` where it is no text; `ko` unless said."),
            ],
            answers: [.lines("A page.", .oneOf([.ref("Room"), .ref("End")]))],
            errors: [.notFound, .cursor, .scope]),
        RouteSpecification(
            .openDirect, "POST", "/v1/direct/{user}", writers,
            "The conversation of two: both get the same, which begins with the first of them.",
            parameters: [RouteParameter("as", .place, "Of an app: whose conversation with the other it is.")],
            answers: [
                .json("It is there.", .ref("Direct")),
                .json(201, "It was begun, or the caller had left and is in it again.", .ref("Direct")),
                RouteAnswer(403, "It is not for who asks.", "application/x-ndjson", .ref("AppendedLine")),
                RouteAnswer(422, "There can be no such asker.", "application/x-ndjson", .ref("AppendedLine")),
            ], errors: [.author]),
        RouteSpecification(
            .listContacts, "GET", "/v1/users/{user}/contacts", readers, "Whom a user keeps, by id.",
            parameters: paging, answers: [.lines("A page.", .oneOf([.ref("Contact"), .ref("End")]))],
            errors: [.notFound, .cursor]),
        RouteSpecification(
            .putContact, "PUT", "/v1/users/{user}/contacts/{contact}", writers,
            "Keeps a contact: appends a contact.added.",
            request: RouteBody(
                schema: .object([("name?", .text), ("phoneNumber?", .text), ("source?", .text)]), optional: true,
                example: #"{"name":"김하늘","phoneNumber":"010-0000-0000","source":"addressbook"}"#),
            answers: appended, errors: [.json, .author]),
        RouteSpecification(
            .deleteContact, "DELETE", "/v1/users/{user}/contacts/{contact}", writers,
            "Keeps a contact no longer: appends a contact.removed.", answers: appended, errors: [.author]),
        RouteSpecification(
            .listSearches, "GET", "/v1/users/{user}/searches", readers,
            "What a user looked for and has not forgotten: the newest 1,000.",
            parameters: paging + [
                scope, RouteParameter("match", .place, "Only what begins so, whatever the case."),
                RouteParameter("sort", .choice(["date", "query"]), "`date`: the newest first; that unless said."),
            ],
            answers: [.lines("A page.", .oneOf([.ref("RecentSearch"), .ref("End")]))],
            errors: [.notFound, .cursor]),
        RouteSpecification(
            .putSearch, "PUT", "/v1/users/{user}/searches", writers,
            "Remembers a search: appends a search.remembered.",
            request: RouteBody(
                schema: .object([("query", .words(1...1_024)), ("scope?", .choice(["messages", "users"]))]),
                example: #"{"query":"김","scope":"users"}"#), answers: appended, errors: [.json, .author]),
        RouteSpecification(
            .deleteSearch, "DELETE", "/v1/users/{user}/searches", writers,
            "Forgets a search, or all: appends a search.forgotten.",
            parameters: [
                RouteParameter("query", .place, "Which one; without it all."), scope,
            ], answers: appended, errors: [.author]),
    ]

    static let listSchemas: [(String, Schema)] = [
        (
            "Room",
            .object([
                ("type", .choice(["room"])), ("conversation", .text), ("title", .nullable(.text)),
                ("category", .nullable(.text)), ("started_by", .nullable(.text)), ("version", .integer),
                ("messages", .integer), ("first_time", .time), ("last_time", .time), ("last_text", .nullable(.text)),
                ("first_text?", .text),
                (
                    "last?",
                    .object([
                        ("id", .uuid), ("author", .text),
                        (
                            "kind",
                            .choice(["text", "image", "audio", "video", "file", "retracted", "erased"])
                        ),
                    ])
                ),
                ("unread", .integer), ("unread_more?", .boolean), ("hidden", .boolean), ("joined?", .boolean),
                ("participants", .integer),
                ("others", .array(.object([("user", .text), ("name?", .text)]))),
            ])
        ),
        (
            "Contact",
            .object([
                ("type", .choice(["contact"])), ("contact", .text), ("name", .nullable(.text)),
                ("profile_name", .nullable(.text)), ("phone_number", .nullable(.text)),
                ("source", .nullable(.text)), ("time", .time),
            ])
        ),
        (
            "RecentSearch",
            .object([
                ("type", .choice(["search"])), ("query", .text), ("scope", .choice(["messages", "users"])),
                ("time", .time),
            ])
        ),
        (
            "Direct",
            .object([
                ("type", .choice(["direct"])), ("conversation", .text), ("participants", .array(.text)),
                ("begun", .boolean),
            ])
        ),
    ]
}
