/// What is known of an event beside its payload. Its canonical bytes are hashed and sent; see
/// docs/reference/FORMATS.md.
public struct EventHeader: Hashable, Sendable {
    /// Whose sequence, and the place in it.
    public var dot: Dot
    /// When the origin recorded it.
    public var hlc: HybridTime
    /// When it happened: Unix milliseconds. The hlc's milliseconds unless the appender said otherwise.
    public var time: Int64
    /// The idempotency key.
    public var id: EventID
    /// `message.posted`, `survey.answered`, … or an application's own type; empty only in an opaque header.
    public var type: String
    /// The conversation it belongs to, if any.
    public var conversation: String?
    /// Whose history it belongs to.
    public var user: String
    /// Who did it.
    public var author: String
    /// The event that led to it.
    public var cause: EventID?
    /// What the origin had applied when it appended, as the difference from its previous event: ascending by
    /// origin, at most one entry for each, never its own.
    public var dependencies: [Dot]
    /// Version of the payload's schema, from 1.
    public var version: UInt32
    /// Who had it appended, as the origin's node says; `nil` where that says nothing, or not in a form that this release knows.
    public var actor: EventActor?
    /// Fields of later header formats, verbatim in canonical form; empty for events this release makes. Of an opaque
    /// header (``isOpaque``) the whole, as it was received.
    public var unknownFields: [UInt8]

    /// A header with every field given.
    package init(
        dot: Dot, hlc: HybridTime, time: Int64? = nil, id: EventID, type: String, conversation: String? = nil,
        user: String, author: String? = nil, cause: EventID? = nil, dependencies: [Dot] = [], version: UInt32 = 1,
        actor: EventActor? = nil, unknownFields: [UInt8] = []
    ) {
        self.dot = dot
        self.hlc = hlc
        self.time = time ?? hlc.milliseconds
        self.id = id
        self.type = type
        self.conversation = conversation
        self.user = user
        self.author = author ?? user
        self.cause = cause
        self.dependencies = dependencies
        self.version = version
        self.actor = actor
        self.unknownFields = unknownFields
    }

    /// Texts are equal when their bytes are.
    public static func == (a: EventHeader, b: EventHeader) -> Bool {
        (a.dot, a.hlc, a.time, a.id, a.cause, a.version) == (b.dot, b.hlc, b.time, b.id, b.cause, b.version)
            && a.type.hasSameBytes(as: b.type) && a.conversation.hasSameBytes(as: b.conversation)
            && a.user.hasSameBytes(as: b.user) && a.author.hasSameBytes(as: b.author)
            && a.dependencies == b.dependencies && a.actor == b.actor && a.unknownFields == b.unknownFields
    }

    /// The key of display order: the same on every node. A time after the hlc counts as the hlc.
    public var displayKey: DisplayKey {
        DisplayKey(time: min(time, hlc.milliseconds), hlc: hlc, dot: dot)
    }
}

/// Orders events for people: `(time, hlc, origin, seq)`.
public struct DisplayKey: Hashable, Comparable, Sendable {
    /// Unix milliseconds, never after `hlc`.
    public let time: Int64
    /// When the origin recorded it.
    public let hlc: HybridTime
    /// Settles the rest.
    public let dot: Dot

    /// A key of these parts.
    public init(time: Int64, hlc: HybridTime, dot: Dot) {
        self.time = time
        self.hlc = hlc
        self.dot = dot
    }

    /// By time, then hlc, then origin, then seq.
    public static func < (a: DisplayKey, b: DisplayKey) -> Bool {
        if a.time != b.time { return a.time < b.time }
        if a.hlc != b.hlc { return a.hlc < b.hlc }
        return a.dot < b.dot
    }
}
