internal import EventStore
internal import SyncEngine

/// Events in one commit, in every workload that writes batches.
let batchSize = 500

/// A store for the others to read: `count` drafts, and views that have seen none of them.
func prepare(_ folder: String, _ count: Int) throws {
    let store = try makeStore(folder)
    try store.flushBlocking()
    try Projector(store.files).catchUp()
    try store.fill(Drafts.make(count), batch: batchSize)
    store.close()
}

/// Durable commits of drafts, `batch` in each.
func append(_ folder: String, _ drafts: [EventDraft], count: Int, batch: Int) throws {
    let store = try makeStore(folder)
    try store.fill(Array(drafts[..<count]), batch: batch)
    store.close()
}

/// What a node does with frames of events from a peer: decode, verify, store.
func ingest(_ folder: String, _ frames: [Frame], count: Int) throws {
    let store = try makeStore(folder)
    let verifier = try store.makeVerifierBlocking()
    var stored = 0
    for frame in frames where stored < count {
        guard case .events(let received) = try Message(frame: frame) else { throw GateError("not an Events frame") }
        let batch = try verifier.verify(received.events, received.coverage)
        try blocking { store.ingest(batch, completion: $0) }
        stored += batch.count
    }
    store.close()
    guard stored == count else { throw GateError("\(stored) events were stored, not \(count)") }
}

/// What a node does to send `count` events to a peer that has none: read, cover, encode, compress.
func outgoing(_ source: String, count: Int) throws -> [Frame] {
    let store = try EventStore(opening: source)
    defer { store.close() }
    let reader = try OutgoingReader(store)
    var frames: [Frame] = []
    var position: UInt64 = 0
    var known = VersionVector([])
    while position < count {
        let limit = min(batchSize, count - Int(position))
        let batch = try reader.batch(
            after: position, lacking: known, limits: OutgoingLimits(events: limit, bytes: 1 << 20))
        let message = Message.events(EventBatch(events: batch.events, coverage: batch.coverage))
        frames.append(message.frame(compress: true))
        for dot in batch.advanced { known.advance(to: dot) }
        position = batch.through
    }
    return frames
}

private func makeStore(_ folder: String) throws -> EventStore {
    try EventStore.create(in: folder, name: "gates")
    return try EventStore(opening: folder)
}

extension EventStore {
    fileprivate func fill(_ drafts: [EventDraft], batch: Int) throws {
        for start in stride(from: 0, to: drafts.count, by: batch) {
            let outcomes = try appendBlocking(Array(drafts[start..<min(start + batch, drafts.count)]))
            guard outcomes.allSatisfy({ if case .appended = $0 { true } else { false } }) else {
                throw GateError("an event was not appended")
            }
        }
    }
}
