/// Finds a smaller plan that fails in the same way: fewer faults, fewer steps (Zeller, Hildebrandt, "Simplifying and
/// Isolating Failure-Inducing Input", 2002).
package struct SimShrinker {
    private let mutation: SimMutation?
    private let rule: String
    package private(set) var plan: SimPlan
    package private(set) var runs = 0
    private let limit: Int

    package init(_ plan: SimPlan, failing violation: Simulation.Violation, mutation: SimMutation?, limit: Int = 400) {
        self.plan = plan
        self.mutation = mutation
        self.limit = limit
        rule = violation.rule
    }

    /// Drops what is not needed until nothing more can go.
    package mutating func shrink() {
        var count = -1
        while count != plan.steps.count + plan.faults.count, runs < limit {
            count = plan.steps.count + plan.faults.count
            dropFaults()
            dropSteps()
        }
    }

    private mutating func keep(_ smaller: SimPlan) -> Bool {
        guard runs < limit else { return false }
        runs += 1
        guard Simulation(smaller, mutation: mutation).run().violation?.rule == rule else { return false }
        plan = smaller
        return true
    }

    private mutating func dropFaults() {
        for fault in plan.faults.sorted() {
            var smaller = plan
            smaller.faults.remove(fault)
            smaller.steps.removeAll { $0.fault == fault }
            _ = keep(smaller)
        }
    }

    private mutating func dropSteps() {
        var size = max(1, plan.steps.count / 2)
        while size >= 1 {
            var start = 0
            while start < plan.steps.count {
                var smaller = plan
                smaller.steps.removeSubrange(start..<min(start + size, plan.steps.count))
                if !keep(smaller) { start += size }
            }
            size /= 2
        }
    }
}

extension SimPlan: CustomStringConvertible {
    /// The plan for people.
    package var description: String {
        let names = faults.sorted().map { "\($0)" }.joined(separator: ", ")
        let lines = steps.map { "  \($0.at) ms: \($0.action)" }
        return (["seed \(seed): \(topology), \(nodes) nodes, \(duration) ms, faults: \(names)"] + lines)
            .joined(separator: "\n")
    }
}
