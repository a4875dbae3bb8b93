/// The part of an event that erasure takes away.
public enum EventBody: Hashable, Sendable {
    /// The payload, byte for byte as it was accepted (a JSON object), and the 16 random bytes hashed before it.
    case present(salt: UUIDBits, payload: [UInt8])
    /// Bytes that this release does not take for a payload, because they are too many or no JSON object, as they were
    /// received (D13).
    case unreadable(salt: UUIDBits, bytes: [UInt8])
    /// Erased by law: only SHA-256(salt ‖ payload) is left.
    case erased(payloadDigest: Digest)

    /// Bytes of the payload that are there.
    var count: Int {
        switch self {
        case .present(_, let bytes), .unreadable(_, let bytes): bytes.count
        case .erased: 0
        }
    }
}

/// One immutable fact.
public struct Event: Hashable, Sendable {
    /// Everything but the payload.
    public let header: EventHeader
    /// The payload, or what is left of it.
    public let body: EventBody

    /// An event of these parts.
    package init(header: EventHeader, body: EventBody) {
        self.header = header
        self.body = body
    }

    /// The payload's bytes; `nil` once erased, and where they are no JSON object that this release takes.
    public var payload: [UInt8]? {
        if case .present(_, let payload) = body { payload } else { nil }
    }

    /// Whether the payload was erased.
    public var isErased: Bool {
        if case .erased = body { true } else { false }
    }
}

/// An event and its place in this node's log.
public struct StoredEvent: Hashable, Sendable {
    /// 1, 2, 3 … without gaps, local to the node.
    public let position: UInt64
    /// The event.
    public let event: Event
    /// The earlier position of an event with the same id from another origin, if there is one.
    public let twinOf: UInt64?

    /// An event at `position`.
    package init(position: UInt64, event: Event, twinOf: UInt64? = nil) {
        self.position = position
        self.event = event
        self.twinOf = twinOf
    }
}

/// What an appender hands in.
public struct EventDraft: Hashable, Sendable {
    /// The idempotency key; `nil` lets the store make a UUIDv7.
    public var id: EventID?
    /// `message.posted`, …
    public var type: String
    /// When it happened, Unix milliseconds; `nil` means now.
    public var time: Int64?
    /// The conversation it belongs to, if any.
    public var conversation: String?
    /// Whose history it belongs to.
    public var user: String
    /// Who did it; `nil` means the user.
    public var author: String?
    /// The event that led to it.
    public var cause: EventID?
    /// Version of the payload's schema, from 1.
    public var version: UInt32
    /// A JSON object as UTF-8, stored as it is.
    public var payload: [UInt8] { didSet { grammar.isChecked = false } }
    /// Who has it appended. No part of what a repeated append is compared by.
    package var actor: EventActor?
    /// What is known of the payload.
    var grammar = PayloadGrammar()

    /// Texts are equal when their bytes are.
    public static func == (a: EventDraft, b: EventDraft) -> Bool {
        (a.id, a.time, a.cause, a.version, a.actor) == (b.id, b.time, b.cause, b.version, b.actor)
            && a.type.hasSameBytes(as: b.type) && a.conversation.hasSameBytes(as: b.conversation)
            && a.user.hasSameBytes(as: b.user) && a.author.hasSameBytes(as: b.author) && a.payload == b.payload
    }

    /// A draft of these parts.
    public init(
        id: EventID? = nil, type: String, time: Int64? = nil, conversation: String? = nil, user: String,
        author: String? = nil, cause: EventID? = nil, version: UInt32 = 1, payload: [UInt8]
    ) {
        self.id = id
        self.type = type
        self.time = time
        self.conversation = conversation
        self.user = user
        self.author = author
        self.cause = cause
        self.version = version
        self.payload = payload
    }
}

/// Whether a payload was found to be a JSON object by the maker of the draft, so that it need not be looked at again. Drafts
/// that differ in this alone are equal.
struct PayloadGrammar: Hashable, Sendable {
    var isChecked = false

    static func == (a: PayloadGrammar, b: PayloadGrammar) -> Bool { true }
    func hash(into hasher: inout Hasher) {}
}
