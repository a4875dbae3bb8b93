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
    /// Who had it made; `nil` where that is not known.
    package let owner: EventActor?
    /// The event that made it.
    package let id: EventID
    package let dot: Dot
    /// The node that delivers.
    package private(set) var home: NodeID
    /// How often it has moved.
    package private(set) var term: UInt64 = 0

    init(
        name: String, definition: SubscriptionDefinition, owner: EventActor? = nil, id: EventID, dot: Dot,
        home: NodeID
    ) {
        (self.name, self.definition, self.owner) = (name, definition, owner)
        (self.id, self.dot, self.home) = (id, dot, home)
    }

    mutating func move(to node: NodeID, term: UInt64) { (home, self.term) = (node, term) }

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

    /// The event that makes one at `node`, for `owner`.
    package static func draft(
        _ name: String, _ definition: SubscriptionDefinition, for owner: EventActor? = nil, at node: NodeID
    ) -> EventDraft {
        var draft = draft(created, #""name":\#(quoted(name)),\#(definition.text)"#, at: node)
        draft.actor = owner
        return draft
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

    /// The events that such an event wants to be handed out once more; none if it is of another subscription.
    static func retries(of id: EventID, in event: Event) -> [Dot] {
        guard let object = event.payload.map({ JSONObject(validated: $0) }),
            object.string("subscription").flatMap({ EventID(text: $0) }) == id
        else { return [] }
        return (object.strings("dots") ?? []).compactMap { dot($0) }
    }

    static func dot(_ text: String?) -> Dot? { text.flatMap { VersionVector(text: $0)?.entries.first } }

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
