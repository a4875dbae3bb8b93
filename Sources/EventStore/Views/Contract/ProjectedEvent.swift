/// An event as the views see it: interned refs of the log, and the payload only where a view reads it.
struct ProjectedEvent {
    let position: UInt64
    let user: Int64
    let conversation: Int64?
    let author: Int64
    /// The ref of its type.
    let typeRef: Int64
    /// `nil`: one that no view interprets.
    let type: EventType?
    /// What its header names as its cause; an opaque one has none.
    let cause: EventID?
    let key: DisplayKey
    /// Refs of origins and the seqs the event's origin had newly applied.
    let dependencies: [Dot]
    /// `nil` if no view reads this type's payload, or it was erased.
    let payload: JSONObject?
    /// What keeps this release from reading it, if anything does (D13).
    let obstacle: Obstacle?
    /// Why its payload is that of no message, although its type is one.
    let malformed: String?
    let twinOf: UInt64?

    /// Why an event cannot be interpreted.
    enum Obstacle: Hashable {
        /// The header has critical fields of a later format: what it says may mean something else.
        case laterFormat
        /// Only the event's place can be read.
        case opaqueHeader(reason: String)
        /// The payload is no JSON object, or too large.
        case payload(reason: String)

        /// Whether conversation, user, type and times are known, so that it can be listed.
        var isListed: Bool { if case .opaqueHeader = self { false } else { true } }

        /// Why it is quarantined.
        var reason: String {
            switch self {
            case .laterFormat: "its header is of a later format"
            case .opaqueHeader(let reason): "header: \(reason)"
            case .payload(let reason): reason
            }
        }
    }

    /// Whether `other`, with the same id, is the same said twice (D6): the id alone takes nothing away from others.
    func isTwin(of other: ProjectedEvent) -> Bool {
        (user, conversation, author, typeRef) == (other.user, other.conversation, other.author, other.typeRef)
    }

    /// Whether it is a line of dialogue.
    var isMessage: Bool { type?.isMessage == true && malformed == nil }
}

/// The event types that views interpret (DESIGN, event catalogue).
enum EventType: String {
    case conversationStarted = "conversation.started"
    case conversationRenamed = "conversation.renamed"
    case conversationHidden = "conversation.hidden"
    case conversationShown = "conversation.shown"
    case participantJoined = "participant.joined"
    case participantLeft = "participant.left"
    case messagePosted = "message.posted"
    case messageEdited = "message.edited"
    case messageRetracted = "message.retracted"
    case messageRead = "message.read"
    case botReplied = "bot.replied"
    case botTranscribed = "bot.transcribed"
    case surveyAnswered = "survey.answered"
    case profileChanged = "profile.changed"
    case contactAdded = "contact.added"
    case contactRemoved = "contact.removed"
    case searchRemembered = "search.remembered"
    case searchForgotten = "search.forgotten"

    var isMessage: Bool { self == .messagePosted || self == .botReplied }

    /// Whether views besides the search read what it says.
    var isRead: Bool { !isMessage }
}

/// Reads the log for the projector.
final class ProjectionSource {
    let log: LogReader
    /// By their refs.
    private var types: [Int64: EventType] = [:]
    /// Most events are of the type that the one before had.
    private var lastType: (ref: Int64, type: EventType)?
    /// Payloads held at once; INV-9.
    private static let batchBytes = 4 << 20

    init(_ files: StoreFiles) throws(StoreError) { log = try LogReader(files) }

    /// Reads what another reads, too.
    init(reading log: LogReader) { self.log = log }

    /// The event at a position.
    func event(at position: UInt64) throws(DatabaseError) -> ProjectedEvent {
        let select = try log.connection.statement("SELECT \(Self.columns) FROM event WHERE position = ?")
        defer { select.reset() }
        try select.bind(1, position)
        guard try select.step() else { throw .damaged(.event(position), "the log does not have it") }
        return try projected(select)
    }

    /// Up to `limit` events after `position`.
    func events(
        after position: UInt64, through last: UInt64 = UInt64(Int64.max), limit: Int
    ) throws(DatabaseError) -> [ProjectedEvent] {
        let select = try log.connection.statement(
            "SELECT \(Self.columns) FROM event WHERE position > ? AND position <= ? ORDER BY position LIMIT ?")
        defer { select.reset() }
        try select.bind(1, position)
        try select.bind(2, last)
        try select.bind(3, Int64(limit))
        var events: [ProjectedEvent] = []
        var bytes = 0
        while bytes < Self.batchBytes, try select.step() {
            let event = try projected(select)
            bytes += event.payload?.bytes.count ?? 0
            events.append(event)
        }
        return events
    }

    /// The other events with the id of the twin that are stored before it. Two searches take less time than one for both.
    func predecessors(of twin: ProjectedEvent, first: UInt64) throws(DatabaseError) -> [ProjectedEvent] {
        var events: [ProjectedEvent] = []
        for sql in [Self.firstSQL, Self.twinsSQL] {
            let select = try log.connection.statement(sql)
            defer { select.reset() }
            try select.bind(1, first)
            try select.bind(2, twin.position)
            while try select.step() { events.append(try projected(select)) }
        }
        return events
    }

    private static let firstSQL = "SELECT \(columns) FROM event WHERE position = ? AND position < ?"
    private static let twinsSQL = "SELECT \(columns) FROM event WHERE twin = ? AND position < ?"

    /// What views need of an event. The payload, which is last in the row, comes first, as in ``EventRow/columns``.
    private static let columns = """
        payload, position, user, conversation, time, hlc, origin, seq, type, author, cause, dependencies, unknown, twin
        """

    private enum Column {
        static let payload = 0
        static let position = 1
        static let user = 2
        static let conversation = 3
        static let time = 4
        static let hlc = 5
        static let origin = 6
        static let seq = 7
        static let type = 8
        static let author = 9
        static let cause = 10
        static let dependencies = 11
        static let unknown = 12
        static let twin = 13
    }

    private func projected(_ row: Statement) throws(DatabaseError) -> ProjectedEvent {
        let (type, isOpaque) = try type(row.int64(Column.type))
        let hlc = HybridTime(rawValue: row.uint64(Column.hlc))
        let obstacle = Self.obstacle(row, isOpaque: isOpaque)
        let isRead = type?.isRead == true && obstacle == nil
        let isMessage = type?.isMessage == true && obstacle == nil && !row.isNull(Column.payload)
        let user = row.int64(Column.user)
        return ProjectedEvent(
            position: row.uint64(Column.position), user: user, conversation: row.int64IfAny(Column.conversation),
            author: row.int64IfAny(Column.author) ?? user, typeRef: row.int64(Column.type), type: type,
            cause: row.uuid(Column.cause).map(EventID.init),
            key: DisplayKey(
                time: min(row.int64IfAny(Column.time) ?? .max, hlc.milliseconds), hlc: hlc,
                dot: Dot(
                    origin: try log.names.origin(row.int64(Column.origin), on: log.connection),
                    seq: row.uint64(Column.seq))),
            dependencies: row.isNull(Column.dependencies)
                ? []
                : try EventRow.dependencies(
                    row.bytes(Column.dependencies), at: row.uint64(Column.position), names: &log.names,
                    on: log.connection),
            payload: (isRead || isMessage) && !row.isNull(Column.payload)
                ? JSONObject(validated: row.bytes(Column.payload)) : nil,
            obstacle: obstacle,
            malformed: isMessage ? row.withBytes(Column.payload, MessageForm.refusal) : nil,
            twinOf: row.int64IfAny(Column.twin).map(UInt64.init(bitPattern:)))
    }

    /// The type behind a ref; opaque if the event's header could not be read.
    private func type(_ ref: Int64) throws(DatabaseError) -> (type: EventType?, isOpaque: Bool) {
        if let lastType, lastType.ref == ref { return (lastType.type, false) }
        if let known = types[ref] {
            lastType = (ref, known)
            return (known, false)
        }
        let text = try log.names.text(ref, on: log.connection)
        types[ref] = EventType(rawValue: text)
        return (types[ref], text.isEmpty)
    }

    private static func obstacle(_ row: Statement, isOpaque: Bool) -> ProjectedEvent.Obstacle? {
        if isOpaque {
            let obstacle = EventHeader(opaque: row.bytes(Column.unknown))?.obstacle
            return .opaqueHeader(reason: obstacle?.description ?? "it was kept as it came by an earlier release")
        }
        if !row.isNull(Column.unknown), EventHeader.isOfLaterFormat(row.bytes(Column.unknown)) { return .laterFormat }
        guard row.isBlob(Column.payload) else { return nil }
        do throws(InvalidEvent) {
            try JSONScanner.validateObject(row.bytes(Column.payload))
            return .payload(reason: "payload: it was kept as it came by an earlier release")
        } catch {
            return .payload(reason: error.description)
        }
    }
}
