/// What came of one draft.
public enum AppendOutcome: Hashable, Sendable {
    /// Stored now.
    case appended(AppendReceipt)
    /// Stored before, with the same id and the same content: the stored outcome. Of an event that was erased since, the header is compared
    /// alone (``AppendReceipt/isErased``).
    case already(AppendReceipt)
    /// Not stored.
    case rejected(AppendRejection)

    /// Where the event is, unless it was rejected.
    public var receipt: AppendReceipt? {
        switch self {
        case .appended(let receipt), .already(let receipt): receipt
        case .rejected: nil
        }
    }
}

/// Where an event was stored.
public struct AppendReceipt: Hashable, Sendable {
    /// In this node's log.
    public let position: UInt64
    /// Everywhere.
    public let dot: Dot
    /// Its id, made here if the draft had none.
    public let id: EventID
    /// When it was recorded.
    public let hlc: HybridTime
    /// Whether its payload is gone: what was handed in cannot be compared with it, and was not stored.
    public internal(set) var isErased = false
}

/// Why a draft was not stored.
public enum AppendRejection: Error, Hashable, Sendable {
    /// It cannot be an event.
    case invalid(InvalidEvent)
    /// Its id belongs to an event with other content, at `position`.
    case idReused(position: UInt64)
    /// An earlier draft of the same request, the one at `index`, has the id and other content.
    case idTwice(index: Int)
    /// The conversation is not at the version the appender expected (``ExpectedVersion``).
    case conversationMoved(expected: UInt64, actual: UInt64)
    /// It begins a conversation that has events already, and its appender, a caller of the API, may begin new ones alone.
    case begun(conversation: String)
    /// It is fine, but its request is all or nothing and the draft at `index` is not.
    case batchRejected(index: Int)

    /// A stable name for machines.
    public var code: String {
        switch self {
        case .invalid(let invalid): invalid.code
        case .idReused, .idTwice: "E_ID_REUSED"
        case .conversationMoved: "E_VERSION"
        case .begun: "E_BEGUN"
        case .batchRejected: "E_BATCH"
        }
    }
}

extension AppendRejection: CustomStringConvertible {
    /// One sentence for people.
    public var description: String {
        switch self {
        case .invalid(let invalid): invalid.description
        case .idReused(let position): "id: already used for an event with other content, at position \(position)"
        case .idTwice(let index): "id: event \(index + 1) of the request has it, too, with other content"
        case .conversationMoved(let expected, let actual):
            "conversation: expected version \(expected), it is at \(actual)"
        case .begun(let conversation):
            "conversation.started: conversation \(conversation) has events already; a program (role app) can still say how it began"
        case .batchRejected(let index): "nothing of the request was stored, because of its event \(index + 1)"
        }
    }
}

/// What a rejected draft means for its neighbours in the request.
public enum Atomicity: Sendable {
    /// One rejected draft rejects the whole request.
    case whole
    /// Each draft stands for itself.
    case each
}

/// Optimistic concurrency (D6): the conversation must not have changed since the appender looked.
public struct ExpectedVersion: Hashable, Sendable {
    /// Which conversation.
    public let conversation: String
    /// How many events the appender believes it has on this node: ``ConversationSummary/events``, and 0 of one that no event speaks of.
    public let version: UInt64

    /// Expects `conversation` to have `version` events.
    public init(conversation: String, version: UInt64) {
        self.conversation = conversation
        self.version = version
    }
}

/// A draft that needs nothing more but a place in the log. Made on the caller's thread: checking and hashing the payload
/// do not wait in the writer's queue.
struct PreparedDraft: Sendable {
    let draft: EventDraft
    let salt: UUIDBits
    let payloadDigest: Digest

    var body: EventBody { .present(salt: salt, payload: draft.payload) }
}

/// What the appender expects of a conversation, and what it has. The writer counts what came since, and refuses what is not here
/// already: a request that is repeated because its answer was lost has moved the conversation itself.
package struct AppendCondition: Sendable {
    let expected: ExpectedVersion
    /// How many events the conversation had when the log was at `position`.
    let found: UInt64
    let position: UInt64

    package init(_ expected: ExpectedVersion, found: UInt64, at position: UInt64) {
        self.expected = expected
        self.found = found
        self.position = position
    }
}

/// Which conversations a request may begin: those without any event. Who comes later could make himself their moderator. The writer looks at
/// what came since.
package struct NewConversations: Sendable {
    /// Those of the request that had events when the log was at `position`.
    let begun: TextSet
    let position: UInt64

    package init(but begun: TextSet, at position: UInt64) { (self.begun, self.position) = (begun, position) }
}

/// A batch on its way to the writer.
struct AppendRequest: Sendable {
    var drafts: [PreparedDraft] = []
    var condition: AppendCondition?
    /// `nil`: it may begin any conversation, at any time.
    var newOnly: NewConversations?
    var atomicity: Atomicity
}

extension EventDraft {
    /// Whether appending this again would say what `stored` says.
    package func matches(_ stored: Event) -> Bool {
        let header = stored.header
        if let time, time != header.time { return false }
        guard type.hasSameBytes(as: header.type), user.hasSameBytes(as: header.user),
            conversation.hasSameBytes(as: header.conversation), (author ?? user).hasSameBytes(as: header.author),
            cause == header.cause, version == header.version
        else { return false }
        // Of an erased event only the headers are left to compare. To refuse it would refuse who repeats what was stored (INV-8).
        return stored.isErased || stored.payload == payload
    }
}
