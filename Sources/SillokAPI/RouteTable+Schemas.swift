internal import EventStore

extension RouteTable {
    /// The forms that routes name, in the order of the document.
    package static let schemas = mostSchemas + listSchemas

    private static let mostSchemas: [(String, Schema)] = [
        (
            "Error",
            .object([
                ("type", .text), ("title", .text), ("status", .integer), ("detail", .text), ("code", .text),
                ("hint?", .text),
            ])
        ),
        (
            "Event",
            .object([
                ("specversion?", .text), ("id?", .uuid), ("type", .text), ("source?", .text), ("time?", .time),
                ("subject?", .text), ("user", .text), ("author?", .text), ("actor?", .text), ("cause?", .uuid),
                ("dataversion?", .integer), ("sequence?", .text), ("position?", .text), ("hlc?", .text),
                ("leaf?", .text), ("erased?", .boolean), ("data?", .anyObject),
            ])
        ),
        ("FeedEvent", .object([("id", .uuid), ("type", .text), ("user", .text), ("cursor", .text)])),
        (
            "FeedPage",
            .object([("items", .array(.ref("FeedEvent"))), ("cursor", .text), ("more", .boolean)])
        ),
        ("Control", .object([("control", .choice(["caught-up", "live", "heartbeat", "reset", "closing"]))])),
        (
            "AppendedLine",
            .oneOf([
                .object([
                    ("type", .choice(["appended", "already"])), ("line", .integer), ("position", .integer),
                    ("id", .uuid), ("origin", .uuid), ("sequence", .integer), ("hlc", .text), ("erased?", .boolean),
                ]),
                .object([
                    ("type", .choice(["rejected"])), ("line", .integer), ("code", .text), ("message", .text),
                ]),
                .object([
                    ("type", .choice(["acked"])), ("done", .integer), ("late", .array(.text)), ("code?", .text),
                    ("message?", .text),
                ]),
                .object([
                    ("type", .choice(["end"])), ("count", .integer), ("appended", .integer), ("already", .integer),
                    ("rejected", .integer),
                ]),
            ])
        ),
        (
            "End",
            .object([
                ("type", .choice(["end"])), ("count", .integer), ("position", .integer), ("more", .boolean),
                ("next?", .text), ("cut?", .choice(["rows", "bytes", "time"])), ("known_at?", .integer),
                ("approximate?", .boolean), ("unindexed?", .integer),
            ])
        ),
        (
            "Quarantined",
            .object([
                ("type", .choice(["quarantined"])), ("position", .integer), ("origin", .uuid), ("sequence", .integer),
                ("id", .nullable(.uuid)), ("event_type", .nullable(.text)), ("view", .text), ("reason", .text),
            ])
        ),
        (
            "QuarantineEnd",
            .object([
                ("type", .choice(["end"])), ("count", .integer), ("quarantined", .integer), ("more", .boolean),
                ("next?", .text),
            ])
        ),
        (
            "Fork",
            .object([
                ("type", .choice(["fork"])), ("name", .text), ("origin", .uuid), ("sequence", .integer),
                ("at", .nullable(.time)),
                (
                    "branches",
                    .array(.object([("leaf", .text), ("signed", .integer), ("here", .boolean)]))
                ),
            ])
        ),
        ("Session", .object([("type", .choice(["session"])), ("until", .time)])),
        (
            "ListEnd",
            .object([
                ("type", .choice(["end"])), ("count", .integer), ("more", .boolean), ("next?", .text),
                ("lost?", .integer),
            ])
        ),
        ("Count", .object([("type", .choice(["end"])), ("count", .integer)])),
        (
            "Row",
            .object([
                ("type", .choice(["event"])), ("event", .ref("Event")), ("text?", .text), ("original?", .text),
                ("edits?", .array(.anyObject)), ("retracted?", .anyObject), ("retractions?", .array(.anyObject)),
                ("amendments?", .integer),
            ])
        ),
        (
            "Hit",
            .object([
                ("type", .choice(["hit"])), ("kind", .choice(SearchHitKind.allCases.map(\.rawValue))),
                ("text", .text),
                ("ranges", .array(.object([("utf8", .array(.integer)), ("utf16", .array(.integer))]))),
                ("edit?", .uuid), ("time", .time), ("event", .ref("Event")),
            ])
        ),
        (
            "Attachment",
            .object([
                ("type", .choice(["attachment"])), ("sha256", .text), ("bytes", .integer),
                ("mediaType?", .nullable(.text)),
                ("state", .nullable(.choice(["present", "missing", "damaged", "leaving"]))), ("user?", .text),
                ("author?", .text), ("conversation?", .nullable(.text)), ("time?", .time), ("position?", .integer),
            ])
        ),
        (
            "StoredAttachment",
            .object([
                ("type", .choice(["stored"])), ("sha256", .text), ("bytes", .integer), ("mediaType", .text),
                ("new", .boolean),
            ])
        ),
        ("User", .object([("type", .choice(["user"])), ("user", .text), ("name", .text)])),
        ("HitCount", .object([("type", .choice(["hit_count"])), ("texts", .integer)])),
        (
            "Why",
            .object([
                ("type", .choice(["why"])), ("id", .uuid), ("parent", .nullable(.uuid)),
                ("relation", .nullable(.choice(["cause", "amends", "configuration"]))), ("depth", .integer),
                ("also?", .array(.object([("id", .uuid), ("relation", .text)]))),
                ("state?", .choice(["pending", "hidden"])), ("event?", .ref("Event")), ("text?", .text),
                ("original?", .text), ("edits?", .array(.anyObject)), ("retracted?", .anyObject),
                ("retractions?", .array(.anyObject)), ("amendments?", .integer),
                ("quarantined?", .array(.object([("view", .text), ("reason", .text)]))),
                ("cut?", .choice(["depth", "rows"])),
            ])
        ),
        (
            "Conversation",
            .object([
                ("type", .choice(["conversation"])), ("conversation", .text),
                ("title", .nullable(.text)), ("category", .nullable(.text)), ("started_by", .nullable(.text)),
                ("version", .integer), ("messages", .integer),
                ("first_time", .time), ("last_time", .time), ("participants?", .integer),
            ])
        ),
        (
            "Participant",
            .object([
                ("type", .choice(["participant"])), ("user", .text), ("messages", .integer), ("joined?", .boolean),
            ])
        ),
        (
            "ProfileField",
            .object([
                ("type", .choice(["field"])), ("name", .text), ("value", .any), ("author", .text), ("time", .time),
                ("event", .text), ("position", .integer), ("conflict", .boolean), ("concurrent", .array(.anyObject)),
            ])
        ),
        ("Survey", .object([("type", .choice(["survey"])), ("survey", .text), ("answers", .integer)])),
        (
            "SurveyAnswer",
            .object([
                ("type", .choice(["answer"])), ("survey", .text), ("question", .text), ("value", .text),
                ("count", .integer), ("group?", .nullable(.text)),
            ])
        ),
        (
            "LiveItem",
            .oneOf([
                .object([
                    ("kind", .choice(["delta"])), ("author?", .text), ("in_reply_to", .uuid),
                    ("n", .whole(0 ... .max)), ("text", .text),
                ]),
                .object([("kind", .choice(["typing", "progress"])), ("author?", .text), ("text?", .text)]),
            ])
        ),
        (
            "SubscriptionDefinition",
            .object(
                [
                    ("start", .words(1 ... .max)), ("home?", .choice(["single", "local"])),
                ] + changeable)
        ),
        (
            "SubscriptionChange",
            .object(changeable)
        ),
        (
            "Subscription",
            .object([
                ("type", .choice(["subscription"])), ("name", .text), ("id", .uuid), ("home", .text),
                ("owner?", .text), ("definition", .ref("SubscriptionDefinition")), ("open?", .integer),
                ("in_flight?", .integer), ("parked?", .integer), ("behind?", .integer),
                ("conversations_behind?", .integer),
                ("workers?", .integer),
            ])
        ),
        (
            "Delivery",
            .object([("delivery", .text), ("attempt", .integer), ("age_ms", .integer), ("event", .ref("Event"))])
        ),
        (
            "Parked",
            .object([
                ("type", .choice(["parked"])), ("event", .uuid), ("attempts", .integer), ("reason", .text),
                ("error?", .text), ("at", .time),
            ])
        ),
        (
            "Caller",
            .object([
                ("type", .choice(["caller"])), ("actor", .text), ("principal", .text), ("roles", .array(.text)),
                ("scope", .choice(["own", "all"])), ("node", .text),
                ("may?", .array(.choice(["list_users", "erase_own"]))),
            ])
        ),
        (
            "CredentialRequest",
            .object([
                ("principal", .text), ("roles", .array(.text)), ("scope?", .choice(["own", "all"])),
                ("until?", .time), ("valid_s?", .integer),
            ])
        ),
        (
            "Credential",
            .object([
                ("type", .choice(["credential"])), ("credential", .text), ("principal", .text),
                ("roles", .array(.text)), ("scope", .choice(["own", "all"])), ("until?", .time), ("token?", .text),
                ("state?", .choice(["valid", "expired", "revoked", "doubtful", "elsewhere"])), ("at?", .time),
                ("node?", .text),
            ])
        ),
        (
            "ErasureRequest",
            .object([
                ("user?", .text), ("conversation?", .text), ("events?", .array(.uuid)), ("authored?", .boolean),
                ("replies?", .boolean), ("shared?", .boolean), ("reason", .text), ("who", .text), ("plan?", .text),
                ("dry_run?", .boolean), ("up_to?", .choice(["plan", "now"])),
            ])
        ),
        (
            "ErasurePart",
            .object([
                ("type", .choice(["erasure_part"])), ("part", .choice(["own", "authored", "replies", "shared"])),
                ("event_type", .text), ("count", .integer),
            ])
        ),
        (
            "Erasure",
            .object([
                ("type", .choice(["erasure"])), ("event", .uuid), ("position", .integer), ("at", .time),
                ("node", .text), ("user?", .text), ("conversation?", .text), ("authored", .boolean),
                ("replies", .boolean), ("shared", .boolean), ("events", .integer), ("reason", .text), ("who", .text),
                ("state", .choice(["unconfirmed", "under_way", "views", "applied"])), ("done?", .integer),
                ("of?", .integer), ("confirmed", .array(.object([("node", .text), ("at", .time)]))),
                ("waiting", .array(.text)),
            ])
        ),
        (
            "AccessRead",
            .object([
                ("type", .choice(["read"])), ("at", .time), ("actor?", .text), ("route?", .text), ("subject?", .text),
                ("users?", .array(.text)), ("reason?", .text), ("who?", .text), ("lost?", .boolean), ("id", .uuid),
            ])
        ),
    ]

    /// Members of a subscription that may be given anew.
    private static let changeable: [(String, Schema)] = {
        let texts = Schema.list(.text, 1...1_000)
        return [
            (
                "filter?",
                .nullable(
                    .object([("type?", texts), ("user?", texts), ("author?", texts), ("conversation?", texts)]))
            ),
            ("late_ms?", .nullable(.whole(0...Int64.max / 2))), ("ack_wait_ms?", .whole(1_000...3_600_000)),
            ("attempts?", .whole(1...100)), ("backoff_ms?", .list(.whole(0...86_400_000), 1...16)),
            ("order?", .choice(["conversation", "none"])),
        ]
    }()
}
