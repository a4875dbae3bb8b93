internal import EventStore
internal import Subscriptions

/// Says once when a subscription stalls or sets events aside, and when that is over.
///
/// A value; its owner looks from time to time.
struct SubscriptionTroubles {
    private struct Trouble {
        /// Unix milliseconds.
        var stalledSince: Int64?
        var parkedSince: Int64?
        var parked = 0
    }

    /// How a subscription is found.
    struct State {
        var open = 0
        var isStalled = false
        var parked = 0
        /// When the first of those was set aside, Unix milliseconds.
        var parkedSince: Int64?
        /// Why the last one was.
        var reason: String?
    }

    private var known: [String: Trouble] = [:]

    /// What is to be said of the change since the last look.
    mutating func look(_ name: String, _ state: State, now: Int64) -> [LogLine] {
        var trouble = known[name] ?? Trouble()
        var lines: [LogLine] = []
        if state.isStalled, trouble.stalledSince == nil {
            trouble.stalledSince = now
            lines.append(
                Self.line(
                    true, "SUBSCRIPTION_STALLED", name,
                    "\(state.open) events are not done, at most \(SubscriptionMachine.capacity) are looked at before some are",
                    [LogLine.Field("open", state.open)]))
        }
        if !state.isStalled, let since = trouble.stalledSince {
            trouble.stalledSince = nil
            lines.append(Self.end("SUBSCRIPTION_GOES_ON", name, "it goes on", since: since, now))
        }
        if state.parked > trouble.parked {
            let reason = state.reason.map { ": \($0)" } ?? ""
            lines.append(
                Self.line(
                    true, "SUBSCRIPTION_PARKED", name,
                    "\(state.parked - trouble.parked) events were set aside\(reason); \(state.parked) in all",
                    [LogLine.Field("parked", state.parked)]))
        }
        if state.parked == 0, trouble.parked > 0 {
            let since = trouble.parkedSince ?? now
            lines.append(
                Self.end("SUBSCRIPTION_NOTHING_PARKED", name, "no event is set aside any more", since: since, now))
        }
        (trouble.parked, trouble.parkedSince) = (state.parked, state.parkedSince)
        known[name] = trouble.stalledSince == nil && trouble.parked == 0 ? nil : trouble
        return lines
    }

    /// The subscription is no more, or elsewhere.
    mutating func forget(_ name: String) { known[name] = nil }

    private static func end(_ code: String, _ name: String, _ text: String, since: Int64, _ now: Int64) -> LogLine {
        let taken = UInt64(max(0, now - since))
        return line(
            false, code, name, "\(text), after \(LogLine.seconds(taken))", [.duration(milliseconds: taken)])
    }

    private static func line(
        _ isWarning: Bool, _ code: String, _ name: String, _ text: String,
        _ fields: [LogLine.Field]
    ) -> LogLine {
        LogLine(
            level: isWarning ? .warning : .info, code: code, text: "subscription \(name): \(text)",
            fields: [LogLine.Field("subscription", name)] + fields)
    }
}

extension SubscriptionDesk {
    /// Tells the daemon's log what has changed.
    func tellTroubles() {
        let now = WallClock.now
        let records = isParkingNew ? try? allRecords() : self.records
        isParkingNew = false
        for (name, one) in running {
            let parked = records?.parked(one.record.id) ?? [:]
            let state = SubscriptionTroubles.State(
                open: one.machine.open, isStalled: one.machine.isStalled, parked: parked.count,
                parkedSince: parked.values.map(\.at).min(), reason: parkingReasons[name])
            for line in troubles.look(name, state, now: now) { tell(line) }
        }
        parkingReasons = [:]
    }
}
