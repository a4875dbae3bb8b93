package import EventStore

/// A subscription that there is: made by an event of its home, which tells nodes and names apart.
package struct SubscriptionRecord: Hashable, Sendable {
    package static let created = "subscription.created"
    package static let deleted = "subscription.deleted"
    package static let parked = "subscription.parked"
    package static let retried = "subscription.retried"

    package let name: String
    package let definition: SubscriptionDefinition
    /// The event that made it.
    package let id: EventID
    package let dot: Dot
    /// The node that delivers.
    package let home: NodeID

    package init(name: String, definition: SubscriptionDefinition, id: EventID, dot: Dot, home: NodeID) {
        (self.name, self.definition, self.id, self.dot, self.home) = (name, definition, id, dot, home)
    }

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

    /// Reads what nodes have written about their own subscriptions. Of two with one name the one that was made first stands.
    package init(_ views: ViewReader) throws(StoreError) {
        var query = TimelineQuery()
        query.types = [
            SubscriptionRecord.created, SubscriptionRecord.deleted, SubscriptionRecord.parked,
            SubscriptionRecord.retried,
        ]
        var writers: [OriginID: NodeID] = [:]
        for origin in try views.log.origins() { writers[origin.id] = origin.node }
        var made: [SubscriptionRecord] = []
        var stamps: [EventID: HybridTime] = [:]
        var ended: Set<EventID> = []
        for node in Set(writers.values).sorted() {
            var events: [StoredEvent] = []
            _ = try views.history(user: "node/\(node)", query) { entry in
                // A node speaks for itself alone.
                if writers[entry.stored.event.header.dot.origin] == node { events.append(entry.stored) }
                return true
            }
            for stored in events.sorted(by: { $0.position < $1.position }) {
                let header = stored.event.header
                guard let payload = stored.event.payload else { continue }
                let object = JSONObject(validated: payload)
                if header.type == SubscriptionRecord.created {
                    guard let name = object.string("name"), SubscriptionRecord.isName(name),
                        let definition = try? SubscriptionDefinition(object, besides: ["name"])
                    else { continue }
                    stamps[header.id] = header.hlc
                    made.append(
                        SubscriptionRecord(
                            name: name, definition: definition, id: header.id, dot: header.dot, home: node))
                } else if let id = object.string("subscription").flatMap({ EventID(text: $0) }),
                    made.contains(where: { $0.id == id && $0.home == node })
                {
                    take(header, object, of: id, &ended)
                }
            }
        }
        made.removeAll { ended.contains($0.id) }
        let first = HybridTime(rawValue: 0)
        for record in made.sorted(by: { (stamps[$0.id] ?? first, $0.dot) < (stamps[$1.id] ?? first, $1.dot) })
        where all[record.name] == nil {
            all[record.name] = record
        }
    }

    private mutating func take(
        _ header: EventHeader, _ object: JSONObject, of id: EventID, _ ended: inout Set<EventID>
    ) {
        switch header.type {
        case SubscriptionRecord.deleted: ended.insert(id)
        case SubscriptionRecord.parked:
            guard let dot = object.string("dot").flatMap({ VersionVector(text: $0)?.entries.first }),
                let event = object.string("event").flatMap({ EventID(text: $0) })
            else { return }
            parked[id, default: [:]][dot] = ParkedEvent(
                dot: dot, event: event, attempts: Int(clamping: object.integer("attempts") ?? 0),
                reason: object.string("reason") ?? "", error: object.string("error"), at: header.hlc.milliseconds)
        case SubscriptionRecord.retried:
            for text in object.strings("dots") ?? [] {
                if let dot = VersionVector(text: text)?.entries.first { parked[id]?[dot] = nil }
            }
        default: break
        }
    }
}
