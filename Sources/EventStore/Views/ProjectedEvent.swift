/// An event as the views see it: interned refs of the log, and the payload only where a view reads it.
struct ProjectedEvent {
    let position: UInt64
    let user: Int64
    let conversation: Int64?
    let author: Int64
    let origin: Int64
    /// `nil`: one that no view interprets.
    let type: EventType?
    let id: EventID
    let cause: EventID?
    let key: DisplayKey
    /// Refs of origins and the seqs the event's origin had newly applied.
    let dependencies: [Dot]
    /// `nil` if no view reads this type's payload, or it was erased.
    let payload: JSONObject?
    let isErased: Bool
    /// What keeps this release from reading it, if anything does (D13).
    let obstacle: Obstacle?
    let twinOf: UInt64?

    /// Why an event cannot be interpreted.
    enum Obstacle: Hashable {
        /// The header has fields of a later format: what it says may mean something else.
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

    /// Whether it is a line of dialogue.
    var isMessage: Bool { type == .messagePosted || type == .botReplied }
}

/// The event types that views interpret (DESIGN, event catalogue).
enum EventType: String {
    case conversationStarted = "conversation.started"
    case conversationRenamed = "conversation.renamed"
    case participantJoined = "participant.joined"
    case participantLeft = "participant.left"
    case messagePosted = "message.posted"
    case messageEdited = "message.edited"
    case messageRetracted = "message.retracted"
    case botReplied = "bot.replied"
    case surveyAnswered = "survey.answered"
    case profileChanged = "profile.changed"

    /// Whether the payload is read while projecting; of messages it is only when they are shown.
    var isRead: Bool {
        switch self {
        case .messagePosted, .botReplied: false
        default: true
        }
    }
}

/// Reads the log for the projector.
final class ProjectionSource {
    let log: LogReader
    /// By their refs.
    private var types: [Int64: EventType] = [:]
    /// Payloads held at once; INV-9.
    private static let batchBytes = 4 << 20

    init(_ files: StoreFiles) throws(StoreError) { log = try LogReader(files) }

    /// Up to `limit` events after `position`. A twin comes alone: it may take another event's place in the views.
    func events(
        after position: UInt64, through last: UInt64 = UInt64(Int64.max), limit: Int
    ) throws(SQLiteError) -> [ProjectedEvent] {
        let select = try log.connection.statement(
            "SELECT \(EventRow.columns) FROM event WHERE position > ? AND position <= ? ORDER BY position LIMIT ?")
        defer { select.reset() }
        try select.bind(1, position)
        try select.bind(2, last)
        try select.bind(3, Int64(limit))
        var events: [ProjectedEvent] = []
        var bytes = 0
        while bytes < Self.batchBytes, try select.step() {
            let event = try projected(select)
            bytes += event.payload?.bytes.count ?? 0
            if event.twinOf != nil, !events.isEmpty { break }
            events.append(event)
            if event.twinOf != nil { break }
        }
        return events
    }

    /// The other events with the id of the twin, stored before it, by position.
    func predecessors(of twin: ProjectedEvent, first: UInt64) throws(SQLiteError) -> [ProjectedEvent] {
        let select = try log.connection.statement(
            """
            SELECT \(EventRow.columns) FROM event
            WHERE (position = ?1 OR twin = ?1) AND position < ?2 ORDER BY position
            """)
        defer { select.reset() }
        try select.bind(1, first)
        try select.bind(2, twin.position)
        var events: [ProjectedEvent] = []
        while try select.step() { events.append(try projected(select)) }
        return events
    }

    private func projected(_ row: Statement) throws(SQLiteError) -> ProjectedEvent {
        let (type, isOpaque) = try type(row.int64(EventRow.Column.type))
        let hlc = HybridTime(rawValue: row.uint64(EventRow.Column.hlc))
        let time = row.isNull(EventRow.Column.time) ? hlc.milliseconds : row.int64(EventRow.Column.time)
        let origin = row.int64(EventRow.Column.origin)
        guard let id = row.uuid(EventRow.Column.id) else {
            throw SQLiteError(
                extendedCode: 11, message: "event \(row.int64(0)): its id is not 16 bytes", context: "event")
        }
        let isErased = !row.isNull(EventRow.Column.digest)
        let obstacle = Self.obstacle(row, isOpaque: isOpaque)
        let wantsPayload = type?.isRead == true && !isErased && obstacle == nil
        let user = row.int64(EventRow.Column.user)
        return ProjectedEvent(
            position: row.uint64(EventRow.Column.position), user: user,
            conversation: row.isNull(EventRow.Column.conversation) ? nil : row.int64(EventRow.Column.conversation),
            author: row.isNull(EventRow.Column.author) ? user : row.int64(EventRow.Column.author), origin: origin,
            type: type, id: EventID(id), cause: row.uuid(EventRow.Column.cause).map(EventID.init),
            key: DisplayKey(
                time: min(time, hlc.milliseconds), hlc: hlc,
                dot: Dot(
                    origin: try log.names.origin(origin, on: log.connection), seq: row.uint64(EventRow.Column.seq))),
            dependencies: row.isNull(EventRow.Column.dependencies)
                ? []
                : try EventRow.dependencies(
                    row.bytes(EventRow.Column.dependencies), names: &log.names, on: log.connection),
            payload: wantsPayload ? JSONObject(validated: row.bytes(EventRow.Column.payload)) : nil,
            isErased: isErased, obstacle: obstacle,
            twinOf: row.isNull(EventRow.Column.twin) ? nil : row.uint64(EventRow.Column.twin))
    }

    /// The type behind a ref; opaque if the event's header could not be read.
    private func type(_ ref: Int64) throws(SQLiteError) -> (type: EventType?, isOpaque: Bool) {
        if let known = types[ref] { return (known, false) }
        let text = try log.names.text(ref, on: log.connection)
        types[ref] = EventType(rawValue: text)
        return (types[ref], text.isEmpty)
    }

    private static func obstacle(_ row: Statement, isOpaque: Bool) -> ProjectedEvent.Obstacle? {
        if isOpaque {
            let obstacle = EventHeader(opaque: row.bytes(EventRow.Column.unknown))?.obstacle
            return .opaqueHeader(reason: obstacle?.description ?? "it was kept as it came by an earlier release")
        }
        if !row.isNull(EventRow.Column.unknown) { return .laterFormat }
        guard row.isBlob(EventRow.Column.payload) else { return nil }
        do throws(InvalidEvent) {
            try JSONScanner.validateObject(row.bytes(EventRow.Column.payload))
            return .payload(reason: "payload: it was kept as it came by an earlier release")
        } catch {
            return .payload(reason: error.description)
        }
    }
}
