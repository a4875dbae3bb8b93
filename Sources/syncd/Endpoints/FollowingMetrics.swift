internal import EventStore
internal import SillokAPI
internal import Subscriptions

// Followers and workers in `GET /metrics`.
extension Service {
    /// The label of all subscriptions that have none of their own: none can have it for a name.
    private static let others = "(others)"

    func describeFollowing(_ text: inout MetricsText) {
        guard let following = following.withLock({ $0 }) else { return }
        describe(following.feed.figures, &text)
        describe(following.subscriptions.figures.series, &text)
    }

    private func describe(_ figures: FollowerFigures, _ text: inout MetricsText) {
        let faces = figures.followers.sorted { $0.key.rawValue < $1.key.rawValue }
        text.gauge(
            "syncd_followers", "Clients that follow the log, by how they are given it.",
            faces.map { ([("face", $0.key.rawValue)], Double($0.value)) })
        text.gauge(
            "syncd_followers_slow", "Those that have not taken what was written for them.", figures.slow)
        text.histogram(
            "syncd_commit_to_follower_duration_seconds",
            "From a commit until its events were written for a follower who waited.", [([], figures.delays)])
    }

    private func describe(_ all: [SubscriptionFigures.One], _ text: inout MetricsText) {
        func labels(_ one: SubscriptionFigures.One) -> MetricsText.Labels {
            [("subscription", one.name ?? Self.others)]
        }
        func series(_ value: (SubscriptionFigures.One) -> Double) -> [MetricsText.Sample] {
            all.map { (labels($0), value($0)) }
        }
        text.counter(
            "syncd_deliveries", "What came of deliveries.",
            all.flatMap { one in
                DeliveryTally.Outcome.allCases.map { outcome in
                    (labels(one) + [("outcome", outcome.rawValue)], Double(one.tally.outcomes[outcome] ?? 0))
                }
            })
        text.gauge(
            "syncd_subscription_behind_events", "Events from the first that is wanted and was not looked at.",
            series { Double($0.behind) })
        text.gauge(
            "syncd_subscription_open_events", "Events that were looked at and are not done.",
            series { Double($0.open) })
        text.gauge(
            "syncd_subscription_in_flight", "Events that are out at workers.", series { Double($0.inFlight) })
        text.gauge(
            "syncd_subscription_oldest_seconds", "For how long the first event that is not done has waited.",
            series { Double($0.oldest) / 1_000 })
        text.gauge("syncd_subscription_parked", "Events that are set aside.", series { Double($0.parked) })
        text.gauge(
            "syncd_subscription_stalled", "1 while so many events are not done that hardly any more are looked at.",
            series { Double($0.stalled) })
        text.gauge(
            "syncd_subscription_conversations_behind",
            "Conversations that have more events than are looked at of one: those wait, and hold up no other.",
            series { Double($0.conversationsBehind) })
        text.gauge(
            "syncd_subscription_workers", "Workers that have a stream or wait for deliveries.",
            series { Double($0.workers) })
        text.histogram(
            "syncd_settle_duration_seconds", "From handing out an event to its ack.",
            all.map { (labels($0), $0.tally.settling) })
    }
}
