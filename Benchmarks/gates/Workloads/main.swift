internal import EventStore
internal import Glibc

/// What a workload could not do.
struct GateError: Error, CustomStringConvertible {
    var description: String

    init(_ description: String) { self.description = description }
}

let usage = """
    usage: sillok-gates prepare FOLDER EVENTS
           sillok-gates WORKLOAD SOURCE FOLDER EVENTS
      SOURCE is what `prepare` made. Everything a workload needs is made for all events of SOURCE, then EVENTS of them are
      done: the costs of a run with more of them less those of a run with fewer are the costs of the events alone.
      workloads: append-batches, append-single, ingest, send, views, search, history, replay, parse
    """

func run(_ words: [String]) throws {
    guard let count = words.last.flatMap({ Int($0) }), count > 0 else { throw GateError(usage) }
    if words.count == 3, words[0] == "prepare" { return try prepare(words[1], count) }
    guard words.count == 4 else { throw GateError(usage) }
    let (source, folder) = (words[1], words[2])
    // The first event says whose the origin is.
    let all = Int(try LogReader(StoreFiles(source)).top()) - 1
    guard count <= all else { throw GateError("\(source) has \(all) events only") }
    switch words[0] {
    case "append-batches": try append(folder, Drafts.make(all), count: count, batch: batchSize)
    case "append-single": try append(folder, Drafts.make(all), count: count, batch: 1)
    case "ingest": try ingest(folder, try outgoing(source, count: all), count: count)
    case "send": _ = try outgoing(source, count: count)
    case "views": try project(source, count: count)
    case "search": try index(source, count: count)
    case "history": try history(source, count: count)
    case "replay": try replay(source, count: count)
    case "parse": try parse(nativeLines(Drafts.make(all)), count: count)
    default: throw GateError(usage)
    }
}

do {
    try run(Array(CommandLine.arguments.dropFirst()))
} catch {
    let bytes = Array("sillok-gates: \(error)\n".utf8)
    _ = write(STDERR_FILENO, bytes, bytes.count)
    exit(1)
}
