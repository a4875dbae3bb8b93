internal import Glibc

/// The command line could not be understood.
struct UsageError: Error {
    var message: String
}

/// Which records go to which store.
struct Place {
    let folder: String
    let data: String
    let from: Int
    let count: Int

    /// Reads `FOLDER DATA FROM COUNT`.
    init(_ words: ArraySlice<String>) throws(UsageError) {
        let words = Array(words)
        guard words.count >= 4 else { throw UsageError(message: "FOLDER DATA FROM COUNT") }
        (folder, data) = (words[0], words[1])
        (from, count) = (try number(words[2], least: 0), try number(words[3]))
    }
}

let usage = """
    usage: sillok-bench records --count COUNT > DATA
           sillok-bench fill FOLDER DATA FROM COUNT
           sillok-bench settle FOLDER
           sillok-bench batches FOLDER DATA FROM COUNT BATCH [--log-only]
           sillok-bench clients FOLDER DATA FROM COUNT CLIENTS [--log-only]
           sillok-bench history FOLDER QUERIES
           sillok-bench replay FOLDER
           sillok-bench catch-up FOLDER EMPTY-FOLDER
           sillok-bench snapshot FOLDER EMPTY-FOLDER
           sillok-bench live FOLDER DATA FROM COUNT OTHER-FOLDER
      Appends COUNT records of DATA from number FROM on to the store in FOLDER, which is made if it is not there; or reads from
      it. Prints lines of metric and value. Benchmarks/compare calls it.
    """

func run(_ words: [String]) async throws {
    let views = words.last != "--log-only"
    let plain = views ? words : Array(words.dropLast())
    switch (plain.first, plain.count) {
    case ("records", 3) where plain[1] == "--count": try Records.write(count: try number(plain[2]))
    case ("fill", 5): try AppendBenchmark.fill(try Place(plain[1...]))
    case ("settle", 2): try AppendBenchmark.settleCopy(plain[1])
    case ("batches", 6):
        try AppendBenchmark.batches(try Place(plain[1...]), batch: try number(plain[5]), withViews: views)
    case ("clients", 6):
        try await AppendBenchmark.clients(try Place(plain[1...]), clients: try number(plain[5]), withViews: views)
    case ("history", 3): try HistoryBenchmark.run(plain[1], queries: try number(plain[2]))
    case ("replay", 2): try ReplayBenchmark.run(plain[1])
    case ("catch-up", 3): try CatchUpBenchmark.run(plain[1], plain[2])
    case ("snapshot", 3): try SnapshotBenchmark.run(plain[1], plain[2])
    case ("live", 6): try LiveBenchmark.run(try Place(plain[1...]), plain[5])
    default: throw UsageError(message: "no such benchmark, or not its arguments")
    }
}

func number(_ text: String, least: Int = 1) throws(UsageError) -> Int {
    guard let value = Int(text), value >= least else { throw UsageError(message: "\(text) is no count") }
    return value
}

/// Writes one line to standard error.
func complain(_ text: String) {
    let bytes = Array((text + "\n").utf8)
    _ = write(STDERR_FILENO, bytes, bytes.count)
}

do {
    try await run(Array(CommandLine.arguments.dropFirst()))
} catch let error as UsageError {
    complain("sillok-bench: \(error.message)")
    complain(usage)
    exit(2)
} catch {
    complain("sillok-bench: \(error)")
    exit(1)
}
