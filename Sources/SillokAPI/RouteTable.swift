internal import Access

/// Every route of the API: who routes, checks roles and parameters, counts, and writes the OpenAPI document reads it here.
package enum RouteTable {
    package static let all: [RouteSpecification] =
        log + views + lists + attachments + subscriptions + deliveries + access + node + peers
        + [ownErasure, document]

    /// What a path and a method lead to. `HEAD` leads where `GET` does.
    ///
    /// - Parameter path: What stands between the slashes, decoded.
    package static func match(_ method: String, _ path: [String]) -> RouteMatch {
        guard path.count >= 2, path[0] == "v1" else { return .none }
        let method = method == "HEAD" ? "GET" : method
        var methods: [String] = []
        for route in byWord[path[1]] ?? [] {
            guard let values = route.values(in: path) else { continue }
            if route.method == method { return .found(route, values) }
            methods.append(route.method)
        }
        return methods.isEmpty ? .none : .otherMethod(methods)
    }

    package static func route(_ operation: Operation) -> RouteSpecification? {
        all.first { $0.operation == operation }
    }

    /// By the word behind `/v1/`.
    private static let byWord: [String: [RouteSpecification]] = Dictionary(grouping: all) { route in
        if case .word(let word)? = route.segments.dropFirst().first { word } else { "" }
    }

    /// What any route may answer with.
    package static let commonErrors: [ErrorCode] = [
        .http, .parameter, .unauthenticated, .tokenExpired, .role, .rate, .fault, .busy, .closed,
    ]

    // MARK: Who

    static let speakers: RoleKinds = [.user, .bot, .app]
    static let readers: RoleKinds = [.user, .bot, .app, .reader, .auditor]
    /// Those who read what belongs to many.
    private static let allReaders: RoleKinds = [.app, .reader, .auditor]
    static let workers: RoleKinds = [.bot, .app]
    static let keepers: RoleKinds = [.bot, .app, .operator]
    private static let watchers: RoleKinds = [.operator, .auditor, .admin]
    private static let admins: RoleKinds = [.admin]

    // MARK: Parameters

    static let limit = RouteParameter("limit", .number(1...500), "At most so many lines; 50 unless said.")
    static let cursor = RouteParameter(
        "cursor", .place, "`next` of the page before, with the same path and parameters.")
    /// Of lists that are told whole where they are short.
    static let listPaging = [
        RouteParameter("limit", .number(1...500), "At most so many lines; 500 unless said."),
        RouteParameter("cursor", .place, "`next` of the page before, with the same path."),
    ]
    private static let atLeast = RouteParameter(
        "at_least", .text, "A vector: the answer has at least that; it waits for it up to 2 s, else 503.")
    static let paging = [limit, cursor, atLeast]
    private static let types = RouteParameter("type", .text, repeatable: true, "Only events of this type.")
    private static let authors = RouteParameter("author", .text, repeatable: true, "Only events of this author.")
    private static let conversations = RouteParameter(
        "conversation", .text, repeatable: true, "Only events of this conversation.")
    private static let moments = [
        RouteParameter("as_of", .time, "Only what had happened by then; what came since then changes nothing."),
        RouteParameter(
            "known_at", .moment,
            "Only what this node's log had by then, or by that position. Who reads all is told the position of a time."
        ),
    ]
    private static let timeline =
        paging + [
            RouteParameter("order", .choice(["newest", "oldest"]), "Which end comes first; `newest` unless said."),
            RouteParameter("since", .time, "Only what happened from then on."),
            RouteParameter("until", .time, "Only what happened before then."),
            RouteParameter(
                "role", .choice(["user", "assistant", "all"]), "Only messages: of people, of bots, or both."),
            types, authors,
        ] + moments

    // MARK: Routes

    private static let log: [RouteSpecification] = [
        RouteSpecification(
            .appendEvents, "POST", "/v1/events", speakers, "Appends events, all or none unless said.",
            parameters: [
                RouteParameter(
                    "atomicity", .choice(["whole", "each"]), "`each`: each line stands for itself; else `whole`."),
                RouteParameter("expect", .text, "`<conversation>:<n>`: only if it has n events here."),
                RouteParameter("ids", .choice(["derived"]), "Lines without `id` get one from their content."),
                RouteParameter(
                    "ack", .text, repeatable: true,
                    "A delivery that is done when all lines are stored; a line `acked` tells what came of it."),
            ],
            request: RouteBody(
                "application/x-ndjson", schema: .ref("Event"),
                example:
                    #"{"type":"message.posted","user":"u-1","subject":"conversation/c-1","data":{"text":"안녕하세요"}}"#),
            answers: [
                .lines("All lines are stored, now or before.", .ref("AppendedLine")),
                RouteAnswer(207, "Some are.", "application/x-ndjson", .ref("AppendedLine")),
                RouteAnswer(
                    403, "None is: a line is not for who asks, or changes what another has written.",
                    "application/x-ndjson", .ref("AppendedLine")),
                RouteAnswer(
                    409, "None is: an id, a version or an earlier beginning stands against it.",
                    "application/x-ndjson",
                    .ref("AppendedLine")),
                RouteAnswer(422, "None is: a line is no event.", "application/x-ndjson", .ref("AppendedLine")),
            ], errors: [.empty, .bodySize, .batchSize, .disk, .readOnly, .io, .author, .notFound]),
        RouteSpecification(
            .listEvents, "GET", "/v1/events", allReaders, "The log in this node's order.",
            parameters: paging + [
                RouteParameter("wait_ms", .number(0...25_000), "So long an empty answer waits for an event.")
            ],
            answers: [.lines("A page; its last line is the end.", .oneOf([.ref("Event"), .ref("End")]))],
            errors: [.cursor, .scope]),
        RouteSpecification(
            .getEvent, "GET", "/v1/events/{id}", readers, "One event, of twins the one that counts.",
            parameters: [atLeast],
            answers: [.lines("The event.", .oneOf([.ref("Event"), .ref("End")]))],
            errors: [.notFound, .scope]),
        RouteSpecification(
            .getProof, "GET", "/v1/events/{id}/proof", allReaders,
            "An event, and those with its id, with all that proves them.", parameters: [atLeast],
            answers: [.lines("A proven answer (FORMATS.md, section 10).", .anyObject)], errors: [.notFound]),
        RouteSpecification(
            .getWhy, "GET", "/v1/events/{id}/why", readers, "What led to an event, and what followed from it.",
            parameters: [
                RouteParameter("limit", .number(1...500), "At most so many lines; 200 unless said."),
                RouteParameter("depth", .number(0...500), "At most so many steps from it; 50 unless said."),
                atLeast,
            ],
            answers: [.lines("A line for each event.", .oneOf([.ref("Why"), .ref("End")]))], errors: [.notFound]),
        RouteSpecification(
            .followChanges, "GET", "/v1/changes", readers, "Follows the log: a page, lines or server-sent events.",
            parameters: [
                RouteParameter(
                    "after", .place, "`now`, `first`, `last:N`, a time, a cursor or a vector; `now` unless said."),
                RouteParameter("limit", .number(1...1_000), "Of a page: at most so many events; 50 unless said."),
                RouteParameter("live", .choice(["0", "1"]), "`1`: a stream has live items, too."),
                RouteParameter("wait_ms", .number(0...25_000), "Of a page: so long an empty one waits."),
                types, RouteParameter("user", .text, repeatable: true, "Only events of this user."), authors,
                conversations,
                RouteParameter("origin", .text, repeatable: true, "Only what this origin, or `local`, appended."),
            ],
            answers: [
                .json("A page.", .ref("FeedPage")),
                .lines("An event, or a line with `control`.", .oneOf([.ref("FeedEvent"), .ref("Control")])),
                RouteAnswer(200, "Server-sent events.", "text/event-stream", .text),
            ], errors: [.cursor, .cursorAhead]),
    ]

    private static let views: [RouteSpecification] = [
        RouteSpecification(
            .listConversations, "GET", "/v1/conversations", allReaders, "Conversations, the latest active first.",
            parameters: paging + moments + ofConversations,
            answers: [.lines("A page.", .oneOf([.ref("Conversation"), .ref("End")]))], errors: [.cursor, .scope]),
        RouteSpecification(
            .getConversation, "GET", "/v1/conversations/{conversation}", readers,
            "A conversation, then who takes part.", parameters: paging + moments,
            answers: [.lines("A page.", .oneOf([.ref("Conversation"), .ref("Participant"), .ref("End")]))],
            errors: [.notFound, .cursor, .scope]),
        RouteSpecification(
            .listRows, "GET", "/v1/conversations/{conversation}/rows", readers,
            "A conversation's events, with what became of each message.", parameters: timeline,
            answers: [.lines("A page.", .oneOf([.ref("Row"), .ref("End")]))],
            errors: [.notFound, .cursor, .scope]),
        RouteSpecification(
            .listProofs, "GET", "/v1/conversations/{conversation}/proof", allReaders,
            "A page of a conversation's events with all that proves them; the header Link names the next.",
            parameters: timeline,
            answers: [.lines("A proven answer (FORMATS.md, section 10).", .anyObject)],
            errors: [.notFound, .cursor]),
        RouteSpecification(
            .tellLive, "POST", "/v1/conversations/{conversation}/live", speakers,
            "Tells followers what matters only now.",
            request: RouteBody(schema: .ref("LiveItem"), example: #"{"kind":"typing","author":"medibot"}"#),
            answers: [RouteAnswer(202, "It was told to those who follow.")], errors: [.json, .author, .limit]),
        RouteSpecification(
            .listUsers, "GET", "/v1/users", allReaders.union([.user]),
            "Users who have a name, by name; for users all others, where the node's `users.listed` lets them.",
            parameters: paging + [
                RouteParameter("match", .text, "Only whose names begin so, whatever the case.")
            ],
            answers: [.lines("A page.", .oneOf([.ref("User"), .ref("End")]))], errors: [.cursor]),
        RouteSpecification(
            .listFollowers, "GET", "/v1/followers", [.app],
            "Users who follow the changes at this node now, by stream.",
            answers: [
                .lines(
                    "All of them, by id.",
                    .oneOf([
                        .object([("type", .choice(["follower"])), ("user", .text), ("streams", .integer)]),
                        .ref("Count"),
                    ]))
            ]),
        RouteSpecification(
            .getProfile, "GET", "/v1/users/{user}", readers, "A user's profile.", parameters: paging + moments,
            answers: [.lines("A page.", .oneOf([.ref("ProfileField"), .ref("End")]))],
            errors: [.notFound, .cursor, .scope]),
        RouteSpecification(
            .listHistory, "GET", "/v1/users/{user}/history", readers, "A user's events across conversations.",
            parameters: timeline + [
                conversations,
                RouteParameter(
                    "received", .choice(["0", "1"]),
                    "`1`: messages of all in the user's conversations while they were there, the newest first."),
            ],
            answers: [.lines("A page.", .oneOf([.ref("Row"), .ref("End")]))],
            errors: [.notFound, .cursor, .scope]),
        RouteSpecification(
            .listReaders, "GET", "/v1/users/{user}/readers", [.user, .auditor, .admin],
            "Who has read what belongs to a user, as far as reads are recorded.", parameters: paging,
            answers: [.lines("A page.", .oneOf([.ref("AccessRead"), .ref("End")]))],
            errors: [.notFound, .cursor, .scope]),
        RouteSpecification(
            .search, "GET", "/v1/search", readers, "What was written, by the words in it, the newest first.",
            parameters: paging + [
                RouteParameter(
                    "q", .place, "Words that a text has; a phrase in quotation marks; `-word`: one that it has not."),
                RouteParameter("since", .time, "Only what was written from then on."),
                RouteParameter("until", .time, "Only what was written before then."),
                RouteParameter(
                    "role", .choice(["user", "assistant", "all"]), "Only messages: of people, of bots, or both."),
                RouteParameter("user", .text, repeatable: true, "Only of this user's history."), types, authors,
                conversations,
                RouteParameter(
                    "language", .text, repeatable: true, "Only messages that say they are in this language."),
                RouteParameter(
                    "order", .choice(["newest", "rank"]),
                    "`rank`: what fits best first, without a page behind it; `newest` unless said."),
                RouteParameter(
                    "count", .choice(["0", "1"]), "`1`: how many texts the index has, for who reads all; no hits."),
            ], answers: [.lines("A page.", .oneOf([.ref("Hit"), .ref("HitCount"), .ref("End")]))],
            errors: [.cursor]),
        RouteSpecification(
            .recordPackage, "POST", "/v1/users/{user}/package", admins,
            "Records that all that is here of a user is about to be given out.",
            request: RouteBody(
                schema: .object([("reason", .words(1...1_024)), ("who", .words(1...1_024))]),
                example: #"{"reason":"request 88","who":"kim"}"#),
            answers: [
                .json(
                    201, "It is recorded.",
                    .object([("type", .text), ("id", .uuid), ("event", .text), ("position", .integer)]))
            ], errors: [.json, .rejected]),
        RouteSpecification(
            .listSurveys, "GET", "/v1/surveys", allReaders, "Surveys.", parameters: paging + moments,
            answers: [.lines("A page.", .oneOf([.ref("Survey"), .ref("End")]))], errors: [.cursor, .scope]),
        RouteSpecification(
            .getSurvey, "GET", "/v1/surveys/{survey}", allReaders, "How often each answer was given.",
            parameters: paging + moments + [
                RouteParameter("question", .text, "Only of this question."),
                RouteParameter(
                    "by", .choice(["day", "bot", "persona", "conversation"]),
                    "Counts for each day, bot, bot with its persona, or conversation: `group` says which."),
                RouteParameter("choice", .text, "With `by`: only this answer."),
                RouteParameter("since", .time, "With `by`: only what was given from then on."),
                RouteParameter("until", .time, "With `by`: only what was given before then."),
                RouteParameter(
                    "offset", .text, "With `by=day`: by which clocks days begin, as `+09:00`; UTC unless said."),
            ],
            answers: [.lines("A page.", .oneOf([.ref("SurveyAnswer"), .ref("End")]))],
            errors: [.notFound, .cursor, .scope]),
    ]

    private static let access: [RouteSpecification] = [
        RouteSpecification(
            .getMe, "GET", "/v1/me", .all, "Who asks, and what they may.",
            answers: [.json("The caller.", .ref("Caller"))]),
        RouteSpecification(
            .openSession, "POST", "/v1/sessions", .all,
            "Gives a browser a cookie in place of the token that it shows.",
            answers: [.json(201, "The cookie is in the header Set-Cookie.", .ref("Session"))]),
        RouteSpecification(
            .closeSession, "DELETE", "/v1/sessions", .all, "Ends the session of the cookie.",
            answers: [RouteAnswer(204, "It is over.")]),
        RouteSpecification(
            .listCredentials, "GET", "/v1/credentials", admins, "Tokens that were given, without their secrets.",
            parameters: listPaging,
            answers: [.lines("A page, by id.", .oneOf([.ref("Credential"), .ref("ListEnd")]))]),
        RouteSpecification(
            .createCredential, "POST", "/v1/credentials", admins, "Gives a token; its secret is told once.",
            request: RouteBody(
                schema: .ref("CredentialRequest"),
                example: #"{"principal":"bot/medibot","roles":["bot:medibot"],"scope":"all"}"#),
            answers: [.json(201, "It, with its token.", .ref("Credential"))], errors: [.json]),
        RouteSpecification(
            .revokeCredential, "DELETE", "/v1/credentials/{id}", admins, "Takes a token back, for good.",
            answers: [RouteAnswer(204, "It counts no more.")], errors: [.notFound]),
        RouteSpecification(
            .listAccess, "GET", "/v1/access", [.auditor, .admin], "Who has read what, as far as reads are recorded.",
            parameters: paging,
            answers: [.lines("A page.", .oneOf([.ref("AccessRead"), .ref("End")]))], errors: [.cursor, .scope]),
    ]

    private static let node: [RouteSpecification] = [
        RouteSpecification(
            .getStatus, "GET", "/v1/status", watchers, "All about the node and its peers.",
            answers: [.json("The node.", .anyObject)]),
        RouteSpecification(
            .getReceipt, "GET", "/v1/receipt", allReaders.union(watchers),
            "What this node holds: signed heads, and who else holds them.",
            answers: [.lines("A receipt (FORMATS.md, section 9).", .anyObject)]),
        RouteSpecification(
            .waitForNodes, "POST", "/v1/wait", [.user, .bot, .app, .operator, .admin],
            "When a vector is durable on so many nodes.",
            parameters: [
                RouteParameter("nodes", .number(1...1_000), "On so many; 1 unless said."),
                RouteParameter("timeout_ms", .number(0...25_000), "At most so long."),
            ],
            request: RouteBody(
                "text/plain", schema: .text, example: "0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e5f/1"),
            answers: [
                .json(
                    "How far it came.",
                    .object([
                        ("reached", .boolean), ("wanted", .integer), ("nodes", .array(.text)),
                        ("missing", .array(.text)),
                    ]))
            ], errors: [.limit]),
        RouteSpecification(
            .settleFinding, "POST", "/v1/findings", admins, "Settles a finding that is open here.",
            request: RouteBody(
                schema: .object([("code", .text), ("subject?", .text), ("note?", .text)]),
                example: #"{"code":"CLOCK","subject":"","note":"ntp was repaired"}"#),
            answers: [.json(201, "It is settled.", .anyObject)], errors: [.json, .noFinding]),
        RouteSpecification(
            .listQuarantine, "GET", "/v1/quarantine", watchers, "Events that views cannot read, by position.",
            parameters: [
                limit,
                RouteParameter("cursor", .place, "`next` of the page before."),
                RouteParameter("after", .number(0...UInt64(Int64.max)), "Only what stands after this position."),
            ],
            answers: [
                .lines(
                    "Those, and how many there are in all.", .oneOf([.ref("Quarantined"), .ref("QuarantineEnd")]))
            ]),
        RouteSpecification(
            .listForks, "GET", "/v1/forks", watchers, "Origins with two histories, as far as that is proven here.",
            parameters: listPaging,
            answers: [.lines("A page, by name.", .oneOf([.ref("Fork"), .ref("ListEnd")]))]),
        RouteSpecification(
            .retryQuarantine, "POST", "/v1/quarantine/retry", [.operator, .admin],
            "Builds the views anew, with what was refused.",
            answers: [RouteAnswer(202, "It has begun.", "application/json", .anyObject)]),
        RouteSpecification(
            .verifyLog, "POST", "/v1/verifications", [.operator, .admin],
            "Verifies the log in the daemon; `verification` of the status tells how that ended.",
            answers: [
                RouteAnswer(
                    202, "It begins, or does when the one under way has ended.", "application/json", .anyObject)
            ]),
        RouteSpecification(
            .listErasures, "GET", "/v1/erasures", watchers, "Erasures, the latest first, and how far they have come.",
            parameters: listPaging,
            answers: [.lines("A page.", .oneOf([.ref("Erasure"), .ref("ListEnd")]))]),
        RouteSpecification(
            .createErasure, "POST", "/v1/erasures", admins,
            "Erases payloads for good; with dry_run it only tells which.",
            request: RouteBody(
                schema: .ref("ErasureRequest"),
                example: #"{"user":"u-1029","authored":true,"replies":false,"reason":"a request","who":"kim"}"#),
            answers: [
                RouteAnswer(202, "It is recorded, and has begun.", "application/json", .anyObject),
                .lines("What would go (dry_run).", .oneOf([.ref("ErasurePart"), .ref("Count")])),
            ], errors: [.json, .notFound, .planChanged, .rejected]),
    ]

    private static let ownErasure = RouteSpecification(
        .eraseOwn, "POST", "/v1/users/{user}/erasure", [.user],
        "Erases all that is the user's for good, where the node's `users.erase_own` lets them; with dry_run it only tells what.",
        request: RouteBody(
            schema: .object([("dry_run?", .boolean), ("plan?", .text), ("up_to?", .choice(["plan", "now"]))]),
            example: #"{"dry_run":true}"#),
        answers: [
            RouteAnswer(202, "It is recorded, and has begun.", "application/json", .anyObject),
            .lines("What would go (dry_run).", .oneOf([.ref("ErasurePart"), .ref("Count")])),
        ], errors: [.json, .notFound, .author, .rate, .planChanged, .rejected])

    private static let peers: [RouteSpecification] = [
        RouteSpecification(
            .listPeers, "GET", "/v1/peers", watchers, "The peers.", answers: [.json("They.", .anyObject)]),
        RouteSpecification(
            .addPeer, "POST", "/v1/peers", admins, "Lets a node in.",
            request: RouteBody(
                schema: .object([("name", .text), ("node", .text), ("address?", .text)]),
                example: #"{"name":"busan","node":"<64 hexadecimal digits>","address":"busan.example:7460"}"#),
            answers: [.json(201, "It is let in.", .anyObject)], errors: [.json, .name]),
        RouteSpecification(
            .removePeer, "DELETE", "/v1/peers/{name}", admins, "Lets a node in no more.",
            answers: [.json("It was removed.", .anyObject)], errors: [.noPeer, .configured]),
        RouteSpecification(
            .pausePeer, "POST", "/v1/peers/{name}/pause", admins, "Exchanges nothing with it for now.",
            answers: [.json("It is paused.", .anyObject)], errors: [.noPeer]),
        RouteSpecification(
            .resumePeer, "POST", "/v1/peers/{name}/resume", admins, "Goes on.",
            answers: [.json("It goes on.", .anyObject)], errors: [.noPeer]),
        RouteSpecification(
            .pingPeer, "POST", "/v1/peers/{name}/ping", [.operator, .admin], "Asks for a sign of life.",
            answers: [.json("It is there.", .anyObject)], errors: [.noPeer, .noPong]),
        RouteSpecification(
            .createInvitation, "POST", "/v1/invitations", admins, "Makes a line with which a node joins.",
            request: RouteBody(
                schema: .object([("name?", .text), ("valid_s?", .integer), ("addresses?", .array(.text))]),
                example: #"{"name":"busan","valid_s":3600}"#),
            answers: [.json(201, "The line.", .anyObject)], errors: [.json, .notListening]),
        RouteSpecification(
            .joinPeer, "POST", "/v1/join", admins, "Joins the node that gave a line.",
            request: RouteBody(
                schema: .object([("line", .text), ("name?", .text)]), example: #"{"line":"<of an invitation>"}"#),
            answers: [.json(201, "It has joined.", .anyObject)],
            errors: [.json, .invitation, .ownInvitation, .expired, .cluster, .refused, .unreachable, .name]),
    ]

    private static let document = RouteSpecification(
        .getOpenAPI, "GET", "/v1/openapi.json", .all, "This document.",
        answers: [.json("OpenAPI 3.1.", .anyObject)])
}
