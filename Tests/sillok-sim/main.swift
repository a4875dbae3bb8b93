internal import Glibc
internal import SyncTestKit

let usage = """
    usage: sillok-sim run COUNT [--from SEED] [--jobs N] [--mutation NAME] [--with FAULT,…]
           sillok-sim replay SEED [--mutation NAME] [--with FAULT,…]
           sillok-sim trace SEED [--mutation NAME] [--with FAULT,…]
           sillok-sim mutations
           sillok-sim coverage [--jobs N]
           sillok-sim defects [--jobs N]
      run tries COUNT seeds and prints what they met; a failing seed ends it with status 1. replay runs one seed and,
      if it fails, prints the smallest plan found that fails in the same way, with its trace. trace prints everything.
      coverage tries 130 seeds, and fails where one of them fails, or a fault is met by none of those that should.
      defects plants each mutation, and fails where one is not found within 1,000 seeds.
      --with turns faults on in every seed, by their names in the table that run prints.
    """

/// The command line could not be understood.
struct UsageError: Error {
    var message: String
}

struct Options {
    var from = UInt64(1)
    var jobs = max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))
    var mutation: SimMutation?
    var faults: Set<SimFault> = []

    init(_ words: [String]) throws(UsageError) {
        var rest = words[...]
        while let name = rest.popFirst() {
            guard let value = rest.popFirst() else { throw UsageError(message: "\(name) needs a value") }
            switch name {
            case "--from": from = try number(value)
            case "--jobs": jobs = Int(try number(value))
            case "--mutation":
                guard let found = SimMutation(rawValue: value) else {
                    throw UsageError(message: "no mutation \(value)")
                }
                mutation = found
            case "--with":
                for word in value.split(separator: ",") {
                    guard let fault = SimFault.allCases.first(where: { "\($0)" == word }) else {
                        throw UsageError(message: "no fault \(word)")
                    }
                    faults.insert(fault)
                }
            default: throw UsageError(message: "unknown option \(name)")
            }
        }
    }
}

func number(_ text: String) throws(UsageError) -> UInt64 {
    guard let value = UInt64(text), value > 0 else { throw UsageError(message: "\(text) is no number from 1") }
    return value
}

func complain(_ text: String) {
    let bytes = Array((text + "\n").utf8)
    _ = write(STDERR_FILENO, bytes, bytes.count)
}

func runMany(_ count: UInt64, _ options: Options) async -> Bool {
    var told = 0
    let batch = await SimBatch.run(
        seeds: options.from..<options.from + count, jobs: options.jobs, with: options.faults,
        mutation: options.mutation
    ) { done, failures in
        for (seed, violation) in failures[told...] { complain("seed \(seed): \(violation.rule): \(violation.text)") }
        told = failures.count
        if done % 500 == 0 || done == count { complain("\(done) of \(count) seeds, \(told) failed") }
    }
    print(batch.coverage.text)
    print("\(count) seeds, \(batch.virtualSeconds) virtual seconds, \(batch.failures.count) failed")
    for (seed, violation) in batch.failures.prefix(20) {
        print("seed \(seed): \(violation.rule) at \(violation.at) ms: \(violation.text)")
    }
    return batch.failures.isEmpty
}

/// Whether some seeds hold, and meet all that they should: what never happens is not tested.
func meetsAll(_ options: Options) async -> Bool {
    typealias Counter = SimCoverage.Counter
    let common = Counter.allCases.filter { !Counter.rare.union(Counter.rarest).contains($0) }
    let batches: [(seeds: Range<UInt64>, with: Set<SimFault>, faults: [SimFault], counters: [Counter])] = [
        (1..<51, [], SimFault.allCases, common),
        (181..<241, SimFault.aboutSnapshots, [.snapshots], Array(Counter.rare)),
        (1..<21, [.subscriptions], [.subscriptions], Counter.ofDeliveries),
    ]
    var isMet = true
    for (seeds, with, faults, counters) in batches {
        let batch = await SimBatch.run(seeds: seeds, jobs: options.jobs, with: with)
        for (seed, violation) in batch.failures { print("seed \(seed): \(violation.rule): \(violation.text)") }
        let missed =
            faults.filter { (batch.coverage.faults[$0] ?? 0) == 0 }.map { "\($0)" }
            + counters.filter { (batch.coverage.counters[$0] ?? 0) == 0 }.map { "\($0)" }
        let names = with.sorted().map { "\($0)" }.joined(separator: ",")
        let what = with.isEmpty ? "seeds \(seeds)" : "seeds \(seeds) with \(names)"
        let told = missed.isEmpty ? "all is met" : "not met: \(missed.joined(separator: ", "))"
        print("\(what): \(batch.failures.count) failed, \(told)")
        isMet = isMet && batch.failures.isEmpty && missed.isEmpty
    }
    return isMet
}

/// Whether the checks of the simulator find each defect that is planted into it.
func findDefects(_ options: Options) async -> Bool {
    var isFound = true
    for mutation in SimMutation.allCases {
        let batch = await SimBatch.run(
            seeds: 1..<1_001, jobs: options.jobs, with: mutation.faults, mutation: mutation, stoppingAtFailure: true)
        let found = batch.failures.first.map { "found by seed \($0.0)" } ?? "NOT FOUND in 1,000 seeds"
        print("\(mutation.rawValue): \(found)")
        isFound = isFound && !batch.failures.isEmpty
    }
    return isFound
}

func replay(_ seed: UInt64, _ options: Options) -> Bool {
    let plan = SimPlan(seed: seed, with: options.faults)
    let outcome = Simulation(plan, mutation: options.mutation).run()
    guard let violation = outcome.violation else {
        print(plan)
        print(outcome.coverage.text)
        print("seed \(seed) holds, fingerprint \(String(outcome.fingerprint, radix: 16))")
        return true
    }
    var shrinker = SimShrinker(plan, failing: violation, mutation: options.mutation)
    shrinker.shrink()
    for line in Simulation(shrinker.plan, mutation: options.mutation, tracing: true).run().trace { print(line) }
    print("the smallest failing plan after \(shrinker.runs) runs:")
    print(shrinker.plan)
    print("seed \(seed): \(violation.rule) at \(violation.at) ms: \(violation.text)")
    return false
}

func trace(_ seed: UInt64, _ options: Options) -> Bool {
    let plan = SimPlan(seed: seed, with: options.faults)
    let outcome = Simulation(plan, mutation: options.mutation, tracing: true).run()
    for line in outcome.trace { print(line) }
    print("fingerprint \(String(outcome.fingerprint, radix: 16))")
    return outcome.violation == nil
}

do throws(UsageError) {
    let words = Array(CommandLine.arguments.dropFirst())
    let holds: Bool
    switch (words.first, words.count) {
    case ("run", 2...): holds = await runMany(try number(words[1]), try Options(Array(words.dropFirst(2))))
    case ("coverage", 1...): holds = await meetsAll(try Options(Array(words.dropFirst())))
    case ("defects", 1...): holds = await findDefects(try Options(Array(words.dropFirst())))
    case ("replay", 2...): holds = replay(try number(words[1]), try Options(Array(words.dropFirst(2))))
    case ("trace", 2...): holds = trace(try number(words[1]), try Options(Array(words.dropFirst(2))))
    case ("mutations", 1):
        for mutation in SimMutation.allCases { print(mutation.rawValue) }
        holds = true
    default: throw UsageError(message: "no such command, or not its arguments")
    }
    exit(holds ? 0 : 1)
} catch {
    complain("sillok-sim: \(error.message)")
    complain(usage)
    exit(2)
}
