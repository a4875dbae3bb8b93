internal import EventStore
internal import Glibc

/// The command line could not be understood, or a measurement could not be made.
struct FleetError: Error, CustomStringConvertible {
    var description: String

    init(_ description: String) { self.description = description }
}

let usage = """
    usage: sillok-fleet cuts NODES RATE MILLISECONDS FILE…
           sillok-fleet stores FOLDER COUNT
           sillok-fleet shards FOLDER STORES CLIENTS EVENTS
      cuts: the dialogues in FILE (native NDJSON of sillok-convert), spread over NODES that exchange events through a relay with this
      latency, RATE events a second in all, in virtual time: what messages of one origin hold. stores: what COUNT open stores take of
      this process. shards: EVENTS appended by CLIENTS to STORES stores, each event in the commit of its group.
    Prints lines of metric and value.
    """

func number(_ text: String) throws(FleetError) -> Int {
    guard let value = Int(text), value >= 0 else { throw FleetError("\(text) is no count") }
    return value
}

/// Prints `metric TAB value`, as the other benchmarks do.
func report(_ metric: String, _ value: Double) {
    print("\(metric)\t\((value * 1_000).rounded() / 1_000)")
}

do {
    let words = Array(CommandLine.arguments.dropFirst())
    switch (words.first, words.count) {
    case ("cuts", 5...):
        try Cuts.run(
            nodes: try number(words[1]), rate: try number(words[2]), latency: try number(words[3]),
            files: Array(words[4...]))
    case ("stores", 3): try OpenStores.run(words[1], count: try number(words[2]))
    case ("shards", 5):
        try await Shards.run(
            words[1], stores: try number(words[2]), clients: try number(words[3]), events: try number(words[4]))
    default: throw FleetError(usage)
    }
} catch {
    let bytes = Array("sillok-fleet: \(error)\n".utf8)
    _ = write(STDERR_FILENO, bytes, bytes.count)
    exit(1)
}
