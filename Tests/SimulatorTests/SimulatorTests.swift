import Foundation
import SyncTestKit
import Testing

/// The cluster in virtual time (docs/internals/simulator.md). Without the optimizer a seed takes half a second: some run here, hundreds by
/// `make sim`, which also asks whether every fault is met.
@Suite(.serialized)
struct SimulatorTests {
    @Test(
        "Twelve seeds hold, and six with snapshots of logs that are set back (INV-1 to 5, 7 to 10, 12)",
        arguments: [(1..<13, []), (181..<187, SimFault.aboutSnapshots)] as [(Range<UInt64>, Set<SimFault>)])
    func seeds(_ seeds: Range<UInt64>, with faults: Set<SimFault>) async {
        let batch = await SimBatch.run(seeds: seeds, jobs: 2, with: faults)
        let more = faults.isEmpty ? "" : " --with " + faults.sorted().map { "\($0)" }.joined(separator: ",")
        for (seed, violation) in batch.failures {
            Issue.record("sillok-sim replay \(seed)\(more): \(violation.rule): \(violation.text)")
        }
        #expect(batch.virtualSeconds > 0)
        for fault in faults { #expect((batch.coverage.faults[fault] ?? 0) > 0, "\(fault) is not met") }
    }

    @Test("A failing plan is shrunk to one that fails in the same way")
    func shrinks() throws {
        let found = (UInt64(1)..<50).lazy.compactMap { seed in
            let plan = SimPlan(seed: seed)
            return Simulation(plan, mutation: .noReconnect).run().violation.map { (plan, $0) }
        }.first
        let (plan, violation) = try #require(found)
        var shrinker = SimShrinker(plan, failing: violation, mutation: .noReconnect, limit: 60)
        shrinker.shrink()
        #expect(shrinker.plan.steps.count < plan.steps.count)
        #expect(Simulation(shrinker.plan, mutation: .noReconnect).run().violation?.rule == violation.rule)
    }

    @Test("A seed reproduces a run byte for byte, whatever order Swift's dictionaries take")
    func reproduces() throws {
        for seed in ["3", "17", "40"] {
            let plain = try trace(seed, [:])
            #expect(plain.count > 10_000)
            #expect(try trace(seed, [:]) == plain)
            #expect(try trace(seed, ["SWIFT_DETERMINISTIC_HASHING": "1"]) == plain)
        }
    }

    /// What the program prints.
    private func trace(_ seed: String, _ more: [String: String]) throws -> Data {
        var folder = Bundle.main.bundleURL
        if folder.pathExtension == "xctest" { folder.deleteLastPathComponent() }
        let process = Process()
        process.executableURL = folder.appending(path: "sillok-sim")
        process.arguments = ["trace", seed]
        process.environment = ProcessInfo.processInfo.environment
            .filter { $0.key != "SWIFT_DETERMINISTIC_HASHING" }.merging(more) { $1 }
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        return data
    }
}
