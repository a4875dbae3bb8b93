package import EventStore

// What one home has set aside and another has acked.
extension SubscriptionRecords {
    /// Those set aside that one of `states` knows to be done by an ack. A state names the events that say what was parked: if it calls one done
    /// without them, a worker has said so. It is to be told before the states are put together, which leaves no trace of that.
    ///
    /// - Parameter states: What homes have told since the place was set, each by itself, as the record admits it.
    package func acked(
        _ record: SubscriptionRecord, _ states: [SubscriptionState], in log: LogReader
    ) throws(StoreError) -> [Dot] {
        guard !states.isEmpty, case let turns = turns(record.id), !turns.isEmpty else { return [] }
        var acked: [Dot] = []
        // One of two with the same content is done when the other one was set aside.
        var same: [EventID: [Dot]] = [:]
        for (dot, all) in turns {
            for id in Set(all.compactMap(\.parked?.event)) { same[id, default: []].append(dot) }
        }
        for (dot, parked) in parked(record.id) {
            let dots = same[parked.event] ?? []
            let all = dots.flatMap { turns[$0] ?? [] }
            // The log is asked about few.
            let sure = states.filter { $0.isHeeded(dot) && $0.isAcked(dots, all, since: record.soughtBehind) }
            guard !sure.isEmpty, let header = try log.event(dot)?.event.header, record.definition.handsOut(header)
            else { continue }
            let mark = ConversationMark(of: header)
            if sure.contains(where: { $0.isDone(dot, of: mark) }) { acked.append(dot) }
        }
        return acked.sorted()
    }
}

extension SubscriptionState {
    /// Whether, if these are done, the last thing that is known here of them is not that they were set aside.
    fileprivate func isAcked(_ dots: [Dot], _ turns: [SubscriptionRecords.Turn], since sought: VersionVector) -> Bool
    {
        guard !retried.contains(where: { dots.contains($0.dot) }) else { return false }
        let known = turns.filter { turn in
            turn.parked == nil
                ? isHeeded(turn.proof) && !sought.contains(turn.proof) : needs.contains(turn.proof)
        }
        return SubscriptionRecords.Turn.last(known)?.parked == nil
    }
}
