/// Many seeds, over several cores.
package struct SimBatch: Sendable {
    package private(set) var coverage = SimCoverage()
    /// Ascending by seed.
    package private(set) var failures: [(UInt64, Simulation.Violation)] = []
    package private(set) var virtualSeconds = UInt64(0)

    /// Runs `seeds` with `jobs` at a time, with these faults always on. `progress` hears how many are done, and of each
    /// seed that fails.
    package static func run(
        seeds: Range<UInt64>, jobs: Int, with faults: Set<SimFault> = [], mutation: SimMutation? = nil,
        stoppingAtFailure: Bool = false,
        progress: (_ done: UInt64, _ failures: [(UInt64, Simulation.Violation)]) -> Void = { _, _ in }
    ) async -> SimBatch {
        var batch = SimBatch()
        var done = UInt64(0)
        await withTaskGroup(of: (UInt64, Simulation.Outcome).self) { group in
            var next = seeds.lowerBound
            func add() {
                guard next < seeds.upperBound else { return }
                let seed = next
                next += 1
                group.addTask { (seed, Simulation(SimPlan(seed: seed, with: faults), mutation: mutation).run()) }
            }
            for _ in 0..<jobs { add() }
            while let (seed, outcome) = await group.next() {
                done += 1
                batch.coverage.merge(outcome.coverage)
                batch.virtualSeconds += outcome.virtualMilliseconds / 1_000
                if let violation = outcome.violation { batch.failures.append((seed, violation)) }
                progress(done, batch.failures)
                if stoppingAtFailure, !batch.failures.isEmpty { next = seeds.upperBound }
                add()
            }
        }
        batch.failures.sort { $0.0 < $1.0 }
        return batch
    }
}
