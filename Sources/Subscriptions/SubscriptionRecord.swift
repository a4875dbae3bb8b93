package import EventStore

/// A subscription that there is: made by an event of its home, which tells nodes and names apart.
package struct SubscriptionRecord: Hashable, Sendable {
    package static let created = "subscription.created"
    package static let deleted = "subscription.deleted"
    package static let parked = "subscription.parked"
    package static let retried = "subscription.retried"
    package static let moved = "subscription.moved"
    package static let placed = "subscription.placed"

    package let name: String
    package let definition: SubscriptionDefinition
    /// The event that made it.
    package let id: EventID
    package let dot: Dot
    /// The node that delivers.
    package fileprivate(set) var home: NodeID
    /// How often it has moved.
    package fileprivate(set) var term: UInt64 = 0

    /// Whether `text` may be a name: 1 to 64 of `a-z 0-9 . _ -`.
    package static func isName(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."),
                    UInt8(ascii: "_"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }

    /// The event that makes one at `node`.
    package static func draft(_ name: String, _ definition: SubscriptionDefinition, at node: NodeID) -> EventDraft {
        draft(created, #""name":\#(quoted(name)),\#(definition.text)"#, at: node)
    }

    /// The event that ends it.
    package var deletion: EventDraft { Self.draft(Self.deleted, subject, at: home) }

    /// The event by which `node` becomes its home.
    package func draft(movingTo node: NodeID) -> EventDraft {
        Self.draft(Self.moved, subject + #","term":\#(term + 1)"#, at: node)
    }

    /// The event by which `node` tells what is done.
    package func draft(placing state: SubscriptionState, at node: NodeID) -> EventDraft {
        Self.draft(Self.placed, subject + #","state":"\#(base64Text(state.bytes))""#, at: node)
    }

    /// The event that says that one was set aside. It has an id of its own for each time, so that it is stored once.
    package func draft(parking: SubscriptionMachine.Parking, event: EventID) -> EventDraft {
        var text = subject + #","event":"\#(event)","dot":"\#(parking.dot)","attempts":\#(parking.attempts)"#
        text += #","reason":\#(quoted(parking.reason))"#
        if let error = parking.error { text += #","error":\#(quoted(error))"# }
        return Self.draft(Self.parked, text, at: home)
    }

    /// The event that says that parked ones are handed out once more.
    package func draft(retrying dots: [Dot]) -> EventDraft {
        let list = dots.map { #""\#($0)""# }.joined(separator: ",")
        return Self.draft(Self.retried, subject + #","dots":[\#(list)]"#, at: home)
    }

    private var subject: String { #""subscription":"\#(id)","name":\#(quoted(name))"# }

    private static func draft(_ type: String, _ members: String, at node: NodeID) -> EventDraft {
        EventDraft(type: type, user: "node/\(node)", payload: Array("{\(members)}".utf8))
    }
}

/// An event that was set aside.
package struct ParkedEvent: Hashable, Sendable {
    package let dot: Dot
    package let event: EventID
    package let attempts: Int
    package let reason: String
    package let error: String?
    /// When, Unix milliseconds.
    package let at: Int64
}

/// All subscriptions that the log tells of, by their names.
package struct SubscriptionRecords: Sendable {
    package private(set) var all: [String: SubscriptionRecord] = [:]
    /// What is set aside of each, by the event that made it.
    package private(set) var parked: [EventID: [Dot: ParkedEvent]] = [:]
    /// The nodes that were home of each.
    package private(set) var homes: [EventID: Set<NodeID>] = [:]
    /// What its homes have told to be done, put together.
    package private(set) var placed: [EventID: SubscriptionState] = [:]

    private static let types = [
        SubscriptionRecord.created, SubscriptionRecord.moved, SubscriptionRecord.deleted, SubscriptionRecord.parked,
        SubscriptionRecord.retried, SubscriptionRecord.placed,
    ]

    /// What a node has written of a subscription.
    fileprivate struct Note {
        let header: EventHeader
        let object: JSONObject
        let node: NodeID
    }

    /// Reads what nodes have written about subscriptions.
    ///
    /// Of two with one name the one that was made first stands. Its home is the node that has moved it to itself last: by term, then
    /// by the time of the event. Only those who were its home at some time say what is done or parked.
    package init(_ views: ViewReader) throws(StoreError) {
        let notes = try Self.notes(views)
        var made: [EventID: (record: SubscriptionRecord, hlc: HybridTime, moved: DisplayKey?)] = [:]
        for note in notes where note.header.type == SubscriptionRecord.created {
            guard let name = note.object.string("name"), SubscriptionRecord.isName(name),
                let definition = try? SubscriptionDefinition(note.object, besides: ["name"])
            else { continue }
            let id = note.header.id
            let record = SubscriptionRecord(
                name: name, definition: definition, id: id, dot: note.header.dot, home: note.node)
            made[id] = (record, note.header.hlc, nil)
            homes[id] = [note.node]
        }
        for note in notes where note.header.type == SubscriptionRecord.moved {
            guard let id = note.subscription, let one = made[id], let term = note.object.integer("term"), term > 0,
                term <= Int64(Limits.number)
            else { continue }
            homes[id, default: []].insert(note.node)
            let key = note.header.displayKey
            let isLater = one.moved.map { (one.record.term, $0) < (UInt64(term), key) } ?? true
            guard isLater else { continue }
            made[id]?.record.home = note.node
            made[id]?.record.term = UInt64(term)
            made[id]?.moved = key
        }
        for note in notes {
            guard let id = note.subscription, homes[id]?.contains(note.node) == true else { continue }
            take(note, of: id, &made)
        }
        let inOrder = made.values.sorted { ($0.hlc, $0.record.dot) < ($1.hlc, $1.record.dot) }
        for one in inOrder where all[one.record.name] == nil { all[one.record.name] = one.record }
    }

    /// In the order of the log.
    private static func notes(_ views: ViewReader) throws(StoreError) -> [Note] {
        var query = TimelineQuery()
        query.types = types
        var writers: [OriginID: NodeID] = [:]
        for origin in try views.log.origins() { writers[origin.id] = origin.node }
        var notes: [(note: Note, position: UInt64)] = []
        for node in Set(writers.values) {
            _ = try views.history(user: "node/\(node)", query) { entry in
                let header = entry.stored.event.header
                // A node speaks for itself alone.
                guard writers[header.dot.origin] == node, let payload = entry.stored.event.payload else {
                    return true
                }
                let note = Note(header: header, object: JSONObject(validated: payload), node: node)
                notes.append((note, entry.stored.position))
                return true
            }
        }
        return notes.sorted { $0.position < $1.position }.map(\.note)
    }

    private mutating func take(
        _ note: Note, of id: EventID,
        _ made: inout [EventID: (record: SubscriptionRecord, hlc: HybridTime, moved: DisplayKey?)]
    ) {
        let object = note.object
        switch note.header.type {
        case SubscriptionRecord.deleted: made[id] = nil
        case SubscriptionRecord.parked:
            guard let dot = object.string("dot").flatMap({ VersionVector(text: $0)?.entries.first }),
                let event = object.string("event").flatMap({ EventID(text: $0) })
            else { return }
            parked[id, default: [:]][dot] = ParkedEvent(
                dot: dot, event: event, attempts: Int(clamping: object.integer("attempts") ?? 0),
                reason: object.string("reason") ?? "", error: object.string("error"),
                at: note.header.hlc.milliseconds)
        case SubscriptionRecord.retried:
            for text in object.strings("dots") ?? [] {
                if let dot = VersionVector(text: text)?.entries.first { parked[id]?[dot] = nil }
            }
        case SubscriptionRecord.placed:
            let bytes = object.string("state").flatMap { base64Bytes($0) }
            guard let state = bytes.flatMap(SubscriptionState.init(bytes:)) else { return }
            placed[id, default: SubscriptionState()].merge(state)
        default: break
        }
    }
}

extension SubscriptionRecords.Note {
    fileprivate var subscription: EventID? { object.string("subscription").flatMap { EventID(text: $0) } }
}
