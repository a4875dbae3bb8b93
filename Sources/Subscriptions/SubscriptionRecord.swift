package import EventStore

/// A subscription that there is: made by an event of its home, which tells nodes and names apart.
package struct SubscriptionRecord: Hashable, Sendable {
    package static let created = "subscription.created"
    package static let deleted = "subscription.deleted"
    package static let parked = "subscription.parked"
    package static let retried = "subscription.retried"
    package static let moved = "subscription.moved"
    package static let placed = "subscription.placed"
    package static let changed = "subscription.changed"
    package static let sought = "subscription.sought"

    /// An event by which its members were changed.
    struct Change: Hashable, Sendable {
        let dot: Dot
        /// All that was where it was made: before it.
        let through: VersionVector
    }

    package let name: String
    package private(set) var definition: SubscriptionDefinition
    /// As it was made: a program that makes it when it is not there asks for these for ever.
    private let first: SubscriptionDefinition
    /// Who had it made; `nil` where that is not known.
    package let owner: EventActor?
    /// The event that made it.
    package let id: EventID
    package let dot: Dot
    /// The event that set its place: what made it, or sought. What is done is known under it.
    package private(set) var place: EventID
    /// Changes of its members since.
    private(set) var changes: [Change] = []
    /// What was there when its place was set anew: what that asks for was asked of an older place.
    package private(set) var soughtBehind = VersionVector()
    /// The node that delivers.
    package private(set) var home: NodeID
    /// How often it has moved.
    package private(set) var term: UInt64 = 0

    init(
        name: String, definition: SubscriptionDefinition, owner: EventActor? = nil, id: EventID, dot: Dot,
        home: NodeID
    ) {
        (self.name, self.definition, self.owner, first) = (name, definition, owner, definition)
        (self.id, self.dot, self.home, place) = (id, dot, home, id)
    }

    /// Whether a request that makes one asks for this one: as it is, or as it was made.
    package func isMade(as other: SubscriptionDefinition) -> Bool {
        if other == first { return true }
        var other = other
        other.replaced = definition.replaced
        if place != id { other.start = definition.start }
        return definition == other
    }

    /// Whether the node delivers.
    package func isHome(_ node: NodeID) -> Bool { definition.home == .local || home == node }

    mutating func set(_ definition: SubscriptionDefinition, changes: [Change]) {
        (self.definition, self.changes) = (definition, changes)
    }

    mutating func set(place: EventID, behind: VersionVector) { (self.place, soughtBehind) = (place, behind) }

    /// What is done, as a home has told it, without what it cannot have known: what it passed over before it knew of a change may be
    /// wanted now. It is looked at again.
    package func admit(_ state: SubscriptionState) -> SubscriptionState {
        var state = state
        for change in changes where !state.needs.contains(change.dot) {
            state.clip(to: change.through)
            state.needs.advance(to: change.dot)
        }
        return state
    }

    mutating func move(to node: NodeID, term: UInt64) { (home, self.term) = (node, term) }

    /// Whether `text` may be a name: 1 to 64 of `a-z 0-9 . _ -`. A path with `.` or `..` as a name leads elsewhere (RFC 3986 §5.2.4).
    package static func isName(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count) && text != "." && text != ".."
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

    /// It is known of what was changed since.
    func note(_ state: inout SubscriptionState) {
        for change in changes { state.needs.advance(to: change.dot) }
    }

    /// Whether what was looked at so far was looked at rightly: all of it lay before what was changed since.
    package func isRight(for machine: SubscriptionMachine) -> Bool {
        changes.allSatisfy { change in
            machine.needs.contains(change.dot) || machine.seen.entries.allSatisfy(change.through.contains)
        }
    }

    /// The event that ends it.
    package func deletion(at node: NodeID) -> EventDraft { Self.draft(Self.deleted, subject, at: node) }

    /// The event by which `node` becomes its home.
    package func draft(movingTo node: NodeID) -> EventDraft {
        Self.draft(Self.moved, subject + #","term":\#(term + 1)"#, at: node)
    }

    /// The event by which `node` tells what is done.
    package func draft(placing state: SubscriptionState, at node: NodeID) -> EventDraft {
        let place = place == id ? "" : #","place":"\#(place)""#
        return Self.draft(Self.placed, subject + place + #","state":"\#(base64Text(state.bytes))""#, at: node)
    }

    /// The event that gives it other members at `node`, which has `here`.
    package func draft(
        changingTo definition: SubscriptionDefinition, through here: VersionVector, at node: NodeID
    ) -> EventDraft {
        Self.draft(Self.changed, subject + #","through":\#(quoted(here.text)),\#(definition.text)"#, at: node)
    }

    /// The event that sets another place at `node`, which has `here`.
    package func draft(
        seeking start: SubscriptionDefinition.Start, through here: VersionVector, reason: String?, at node: NodeID
    ) -> EventDraft {
        let start: SubscriptionDefinition.Start = start == .now ? .vector(here) : start
        var text = subject + #","start":\#(quoted(start.text)),"through":\#(quoted(here.text))"#
        if let reason { text += #","reason":\#(quoted(reason))"# }
        return Self.draft(Self.sought, text, at: node)
    }

    /// The event that says that one was set aside. It has an id of its own for each time, so that it is stored once.
    package func draft(parking: SubscriptionMachine.Parking, event: EventID, at node: NodeID) -> EventDraft {
        var text = subject + #","event":"\#(event)","dot":"\#(parking.dot)","attempts":\#(parking.attempts)"#
        text += #","reason":\#(quoted(parking.reason))"#
        if let error = parking.error { text += #","error":\#(quoted(error))"# }
        return Self.draft(Self.parked, text, at: node)
    }

    /// The event that says that parked ones are handed out once more; or, if they are `done`, that they are parked no more.
    ///
    /// - Parameter parkedBy: The events that set them aside (``SubscriptionRecords/proofs(of:_:)``).
    package func draft(
        retrying dots: [Dot], parkedBy proofs: [Dot], done: Bool = false, at node: NodeID
    ) -> EventDraft {
        func list(_ dots: [Dot]) -> String { "[" + dots.map { #""\#($0)""# }.joined(separator: ",") + "]" }
        let text = subject + #","dots":\#(list(dots)),"parked_by":\#(list(proofs))"#
        return Self.draft(Self.retried, text + (done ? #","done":true"# : ""), at: node)
    }

    /// The events that such an event wants to be handed out once more; none if it is of another subscription.
    static func retries(of id: EventID, in event: Event) -> [Dot] {
        guard let object = event.payload.map({ JSONObject(validated: $0) }),
            object.string("subscription").flatMap({ EventID(text: $0) }) == id, object.bool("done") != true
        else { return [] }
        return dots(object, "dots")
    }

    static func dots(_ object: JSONObject, _ member: String) -> [Dot] {
        (object.strings(member) ?? []).compactMap { dot($0) }
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
    /// The event that says so.
    package let proof: Dot
}
