import Foundation
import Testing

/// Daemons under everything that happens to daemons. `make soak MINUTES=10 [SEED=…]` runs it for longer.
@Suite(.serialized)
struct SoakTests {
    @Test(
        "Killed, stopped, cut off and spoiled at random, a ring of daemons loses nothing and comes to agree (INV-1 to INV-12)"
    )
    func soak() throws {
        let environment = ProcessInfo.processInfo.environment
        let seconds = environment["SILLOK_SOAK_SECONDS"].flatMap { Int($0) } ?? 12
        let seed = environment["SILLOK_SOAK_SEED"].flatMap { UInt64($0) } ?? UInt64.random(in: 0...UInt64(UInt32.max))
        print("soak: seed \(seed), \(seconds) s of faults")
        let soak = try Soak(plan: SoakPlan(seed: seed, seconds: seconds))
        try soak.run()
        // Half-open connections are noticed after 30 s of silence; the longest pause before a call is 60 s.
        let convergence = try soak.converge(within: 150)
        try soak.checkLogs()
        try soak.checkDigests()
        try soak.checkAppends()
        try soak.checkProofs()
        soak.end(memory: 400 << 20)
        print(soak.summary(convergence))
    }

    @Test("A plan is a function of its seed")
    func plans() {
        let plans = [1, 1, 2].map { SoakPlan(seed: $0, seconds: 600) }
        func texts(_ plan: SoakPlan) -> [String] { plan.steps.map { "\($0.at) \($0.action)" } }
        #expect(texts(plans[0]) == texts(plans[1]) && texts(plans[0]) != texts(plans[2]))
        #expect(plans.allSatisfy { (3...5).contains($0.nodes) && $0.steps.count > 300 })
        let actions = Set(plans[0].steps.map { "\($0.action)".prefix { $0 != "(" } })
        #expect(actions.count == 4)
    }
}
