internal import SyncTestKit

let arguments = CommandLine.arguments.dropFirst()
let seed = arguments.first.flatMap { UInt64($0) } ?? 1
let outcome = Simulation(SimPlan(seed: seed), tracing: true).run()
for line in outcome.trace { print(line) }
print(outcome.coverage.text)
