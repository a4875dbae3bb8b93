internal import CommandLineKit
internal import EventStore
internal import SillokAPI

/// An event as the followers of a feed get it.
struct FeedItem: Sendable {
    let stored: StoredEvent
    let cursor: String
    /// The object with its member `cursor`, without a newline.
    let object: [UInt8]
    private let place: FeedCursor
    /// Bytes of `object` before its cursor.
    private let eventLength: Int

    init(_ stored: StoredEvent, incarnation: UInt64, _ lines: EventLines) throws(StoreError) {
        let (bytes, leaf) = try lines.object(stored)
        let place = LogPlace(
            incarnation: incarnation, position: stored.position, leaf: UInt32(truncatingIfNeeded: leaf.prefix64 >> 32)
        )
        // Before the brace at its end.
        self.init(stored, FeedCursor(place: place, dot: stored.event.header.dot), bytes.dropLast())
    }

    /// - Parameter event: The object without its cursor and the brace at its end.
    private init(_ stored: StoredEvent, _ place: FeedCursor, _ event: ArraySlice<UInt8>) {
        (self.stored, self.place, eventLength) = (stored, place, event.count)
        cursor = place.text
        object = event + Array(#","cursor":"\#(cursor)"}"#.utf8)
    }

    /// As one gets it who has had something from elsewhere.
    func with(_ marks: [FeedCursor.Mark]) -> FeedItem {
        guard !marks.isEmpty else { return self }
        let place = FeedCursor(place: place.place, dot: place.dot, marks: marks)
        return FeedItem(stored, place, object.prefix(eventLength))
    }
}

/// What a stream says beside events. No event has the member `control`, and these have no `specversion`.
enum FeedControl {
    /// All that was there has come; what follows is new.
    case caughtUp
    case heartbeat
    /// The cursor is of no use here any more.
    case reset(String)
    /// The stream ends for a reason that is not the follower's.
    case closing(String)

    private static let retry = 2_000

    var name: String {
        switch self {
        case .caughtUp: "caught-up"
        case .heartbeat: "heartbeat"
        case .reset: "reset"
        case .closing: "closing"
        }
    }

    /// - Parameters:
    ///   - cursor: How far the follower has come.
    ///   - vector: What the log holds of each origin up to there.
    func object(_ cursor: String?, _ vector: VersionVector?) -> [UInt8] {
        var line = JSONLine()
        line.add("control", name)
        switch self {
        case .caughtUp, .heartbeat: break
        case .reset(let reason): line.add("reason", reason)
        case .closing(let reason):
            line.add("reason", reason)
            line.add("retry_ms", Self.retry)
        }
        if let cursor { line.add("cursor", cursor) }
        if let vector { line.add("vector", vector.text) }
        return line.utf8
    }
}

extension FeedRequest.Face {
    var contentType: String {
        switch self {
        case .page: "application/json"
        case .lines: "application/x-ndjson"
        case .eventStream: "text/event-stream"
        }
    }

    /// What a stream begins with.
    var preamble: [UInt8] { self == .eventStream ? Array("retry: 2000\n\n".utf8) : [] }

    func append(_ item: FeedItem, to out: inout [UInt8]) {
        guard self == .eventStream else {
            out += item.object
            return out.append(UInt8(ascii: "\n"))
        }
        out += "id: \(item.cursor)\nevent: event\ndata: ".utf8
        out += item.object
        out += "\n\n".utf8
    }

    /// A live item has no place in the log: as a server-sent event it moves no `Last-Event-ID`.
    func append(live object: [UInt8], to out: inout [UInt8]) {
        if self == .eventStream { out += "event: live\ndata: ".utf8 }
        out += object
        out += (self == .eventStream ? "\n\n" : "\n").utf8
    }

    func append(_ control: FeedControl, _ cursor: String?, _ vector: VersionVector?, to out: inout [UInt8]) {
        guard self == .eventStream else {
            out += control.object(cursor, vector)
            return out.append(UInt8(ascii: "\n"))
        }
        if let cursor { out += "id: \(cursor)\n".utf8 }
        // A block without data fires nothing at the client, and moves its Last-Event-ID.
        if case .heartbeat = control { return out.append(UInt8(ascii: "\n")) }
        out += "event: \(control.name)\ndata: ".utf8
        out += control.object(cursor, vector)
        out += "\n\n".utf8
    }
}

/// What is written for followers.
enum FeedLines {
    static func page(_ items: [FeedItem], cursor: FeedCursor, hasMore: Bool) -> [UInt8] {
        var bytes = Array(#"{"items":["#.utf8)
        for (index, item) in items.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            bytes += item.object
        }
        bytes += #"],"cursor":"\#(cursor.text)","more":\#(hasMore)}"#.utf8
        bytes.append(UInt8(ascii: "\n"))
        return bytes
    }
}
