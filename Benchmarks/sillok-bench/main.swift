internal import Glibc

/// The command line could not be understood.
struct UsageError: Error {
    var message: String
}

let usage = """
    usage: sillok-bench generate FILE COUNT
           sillok-bench append-one FOLDER DATA
           sillok-bench append-batches FOLDER DATA [--views]
           sillok-bench history FOLDER
           sillok-bench import SYNCCTL FOLDER NDJSON
           sillok-bench catch-up FOLDER DATA
           sillok-bench snapshot FOLDER DATA
           sillok-bench table RESULTS
      Each benchmark makes its store in FOLDER, which must not exist (history reads the one that append-batches --views
      left), and prints lines of metric, side and value. Benchmarks/run calls them all and prints the table.
    """

func run(_ words: [String]) throws {
    switch (words.first, words.count) {
    case ("generate", 3): try Records.generate(words[1], count: try number(words[2]))
    case ("append-one", 3): try AppendOneBenchmark.run(words[1], try Records.read(words[2]))
    case ("append-batches", 3):
        try AppendBatchesBenchmark.run(words[1], try Records.read(words[2]), withViews: false)
    case ("append-batches", 4) where words[3] == "--views":
        try AppendBatchesBenchmark.run(words[1], try Records.read(words[2]), withViews: true)
    case ("history", 2): try HistoryBenchmark.run(words[1])
    case ("import", 4): try ImportBenchmark.run(syncctl: words[1], words[2], lines: words[3])
    case ("catch-up", 3): try CatchUpBenchmark.run(words[1], try Records.read(words[2]))
    case ("snapshot", 3): try SnapshotBenchmark.run(words[1], try Records.read(words[2]))
    case ("table", 2): try ResultTable.write(words[1])
    default: throw UsageError(message: "no such benchmark, or not its arguments")
    }
}

func number(_ text: String) throws(UsageError) -> Int {
    guard let value = Int(text), value > 0 else { throw UsageError(message: "\(text) is no count") }
    return value
}

/// Writes one line to standard error.
func complain(_ text: String) {
    let bytes = Array((text + "\n").utf8)
    _ = write(STDERR_FILENO, bytes, bytes.count)
}

do {
    try run(Array(CommandLine.arguments.dropFirst()))
} catch let error as UsageError {
    complain("sillok-bench: \(error.message)")
    complain(usage)
    exit(2)
} catch {
    complain("sillok-bench: \(error)")
    exit(1)
}
