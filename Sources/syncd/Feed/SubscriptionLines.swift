internal import Access
internal import CommandLineKit
internal import EventStore
internal import SillokAPI
internal import Subscriptions
internal import SyncEngine

extension Caller {
    /// Whether a subscription is the caller's to work on or to keep: a bot's own, or any for programs and operators.
    func mayKeep(_ record: SubscriptionRecord) -> Bool {
        if isAny(of: [.app, .operator]) { return true }
        return record.owner?.principal.hasSameBytes(as: actor.principal) ?? false
    }
}

extension HTTPExchange {
    /// What a subscription hands out is decided by the log alone, the same on all nodes: not by who is in which conversation.
    func refuseOwnScope() {
        refuse(
            .role, "a subscription is for a bot of all conversations",
            hint: "a token with scope all; or the feed, GET /v1/changes, which has what the bot sees")
    }

    /// Whether all are deliveries of this subscription; else the request is refused.
    func takes(_ tokens: [DeliveryToken], _ member: String, of record: SubscriptionRecord) -> Bool {
        guard let other = tokens.first(where: { $0.subscription != record.id }) else { return true }
        refuse(.parameter, "\(member): '\(other.text)' is of another subscription")
        return false
    }
}

extension JSONLine {
    /// A subscription; how far it is where it is at home.
    init(_ record: SubscriptionRecord, _ desk: SubscriptionDesk, durable: UInt64) {
        self.init(type: "subscription")
        add("name", record.name)
        add("id", record.id.description)
        add("home", (record.definition.home == .local ? desk.store.identity.node : record.home).description)
        add("owner", record.owner?.text)
        addRaw("definition", Array("{\(record.definition.text)}".utf8)[...])
        if let one = desk.running[record.name] {
            add("open", one.machine.open)
            add("in_flight", one.machine.inFlight)
            add("parked", desk.records?.parked(record.id).count ?? 0)
            add("behind", durable - min(durable, one.position, one.machine.oldestCursor ?? .max))
            add("conversations_behind", one.machine.countBehind)
            add("workers", desk.streams.values.count(where: { $0.name == record.name }))
        }
    }

    /// One that was set aside.
    init(_ event: ParkedEvent) {
        self.init(type: "parked")
        add("event", event.event.description)
        add("attempts", event.attempts)
        add("reason", event.reason)
        if let error = event.error { add("error", error) }
        add("at", Timestamp.text(event.at))
    }
}
