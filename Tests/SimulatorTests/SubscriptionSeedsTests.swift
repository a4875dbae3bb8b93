import SyncTestKit
import Testing

/// Subscriptions of clusters in virtual time: machines, records and states as they are, homes that die, lose what was not synced, and move
/// (docs/internals/simulator.md).
@Suite(.serialized)
struct SubscriptionSeedsTests {
    @Test("Six seeds with subscriptions hold, and events were delivered, acked and parked (INV-14, INV-15, INV-16)")
    func seeds() async {
        let batch = await SimBatch.run(seeds: 1..<7, jobs: 2, with: [.subscriptions])
        for (seed, violation) in batch.failures {
            Issue.record("sillok-sim replay \(seed) --with subscriptions: \(violation.rule): \(violation.text)")
        }
        let counters: [SimCoverage.Counter] = [.deliveries, .acks, .parkedEvents]
        for counter in counters { #expect((batch.coverage.counters[counter] ?? 0) > 0, "\(counter)") }
    }
}
