internal import EventStore

/// Brings the views `count` events further. Their generations are small, so that merging them is counted too.
func project(_ folder: String, count: Int) throws {
    let projector = try Projector(StoreFiles(folder), tails: ViewMemtables(generation: 500))
    let end = projector.position + UInt64(count)
    while projector.position < end { try projector.step(limit: batchSize) }
}

/// Brings the views `count` events further, and what is searched behind them.
func index(_ folder: String, count: Int) throws {
    let projector = try Projector(StoreFiles(folder), tails: ViewMemtables(generation: 500))
    let end = projector.position + UInt64(count)
    while projector.position < end { try projector.step(limit: batchSize) }
    while projector.indexed < end { try projector.stepDeferred(through: end, limit: batchSize) }
}

/// Reads the last fifty events of a user, with their payloads, again and again until `count` events were read.
func history(_ folder: String, count: Int) throws {
    try Projector(StoreFiles(folder)).catchUp()
    let reader = try ViewReader(StoreFiles(folder))
    var query = TimelineQuery()
    query.limit = .last(50)
    var read = 0
    var bytes = 0
    var user = 0
    while read < count {
        try reader.history(user: Drafts.userName(user % Drafts.users), query) { entry in
            read += 1
            bytes += entry.stored.event.payload?.count ?? 0
            return true
        }
        user += 1
    }
    guard bytes > 0 else { throw GateError("the histories are empty") }
}

/// Reads the log from its beginning and writes it as native lines.
func replay(_ folder: String, count: Int) throws {
    let reader = try LogReader(StoreFiles(folder))
    let writer = NativeLineWriter(nodes: try reader.nodes())
    var line: [UInt8] = []
    var bytes = 0
    try reader.scan(after: 0, limit: count) { stored in
        line.removeAll(keepingCapacity: true)
        writer.append(stored, to: &line)
        bytes += line.count
        return true
    }
    guard bytes > 0 else { throw GateError("nothing was replayed") }
}

/// Reads native lines, as an import does.
func parse(_ lines: [[UInt8]], count: Int) throws {
    let parser = NativeLineParser()
    var bytes = 0
    for line in lines[..<count] { bytes += try parser.parse(line).draft.payload.count }
    guard bytes > 0 else { throw GateError("the lines are empty") }
}

/// The lines that an importer would hand to a daemon for `drafts`.
func nativeLines(_ drafts: [EventDraft]) -> [[UInt8]] {
    drafts.map { draft in
        var line: [UInt8] = []
        NativeLineWriter.append(draft, to: &line)
        return line
    }
}
