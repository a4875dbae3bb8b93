package import EventStore

// What is known of a subscription.
extension SubscriptionMachine {
    /// What this event asks for was done before the log was looked at so far.
    package mutating func heeded(_ dot: Dot) {
        guard !isHeeded(dot) else { return }
        revision += 1
        early.insert(dot)
    }

    /// Whether the event was looked at, or is done.
    package func isHeeded(_ dot: Dot) -> Bool { looked.through.contains(dot) || early.contains(dot) }

    /// What is to be kept.
    package var state: SubscriptionState {
        var state = SubscriptionState()
        state.looked = looked
        state.early = early.sorted()
        state.needs = needs
        // Marks are of use where conversations are behind alone, and are kept there alone.
        let isEven = looked.behind.isEmpty
        state.open = pending.map { .init($0.key, attempts: $0.value.attempts, mark: isEven ? nil : $0.value.mark) }
        for (dot, entry) in entries {
            if entry.isRetried {
                state.retried.append(.init(dot, attempts: entry.attempts))
            } else {
                state.open.append(.init(dot, attempts: entry.attempts, mark: isEven ? nil : entry.mark))
            }
        }
        state.open.sort { $0.dot < $1.dot }
        state.retried.sort { $0.dot < $1.dot }
        return state
    }

    var openDots: [(Dot, ConversationMark)] {
        entries.filter { !$0.value.isRetried }.map { ($0.key, $0.value.mark) }
            + pending.map { ($0.key, $0.value.mark) }
    }
    /// All that was looked at, but for conversations that are behind.
    package var seen: VersionVector { looked.through }
    /// Events that are not done.
    package var open: Int { entries.count + pending.count }
    package var inFlight: Int { workers.values.saturatedSum(of: \.dots.count) }
    /// The first event in the log that is not done and was not set aside before.
    package var oldestOpen: UInt64? {
        let places = entries.values.filter { !$0.isRetried }.map(\.position)
        return (places + (pending.isEmpty ? [] : [firstOpen].compactMap { $0 })).min()
    }
    /// Whether more events may be looked at.
    package var hasRoom: Bool { openCount < bounds.capacity }
    /// How many could be given now.
    package var deliverable: Int { ready.count }
    package func inFlight(of worker: UInt64) -> Int { workers[worker]?.dots.count ?? 0 }

    /// When ``tick(now:)`` is due, monotonic milliseconds.
    package var nextDeadline: UInt64? {
        let trials = ready.first == nil ? nil : silent.values.compactMap(\.next).min()
        return [delayed.last?.at, deadlines.first?.at, trials].compactMap { $0 }.min()
    }
}
