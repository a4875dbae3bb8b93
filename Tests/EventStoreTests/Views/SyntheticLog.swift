import Foundation
import TestSupport

@testable import EventStore

/// Events of made-up origins with the dependencies they would have had, so that a test decides every field and the order
/// of arrival.
struct SyntheticLog {
    /// What each origin appended, by seq.
    private(set) var events: [[Event]] = []
    private let keys: [SigningKey]
    private let ids: [OriginID]
    /// What each origin has applied: seq by origin.
    private var applied: [[UInt64]]
    /// What each origin had applied after each of its events.
    private var history: [[[UInt64]]]
    private var named: [[UInt64]]

    init(origins: Int) {
        keys = (0..<origins).map { _ in SigningKey.generate() }
        ids = (0..<origins).map { OriginID(UUIDBits(high: 1, low: UInt64($0 + 1))) }
        applied = [[UInt64]](repeating: [UInt64](repeating: 0, count: origins), count: origins)
        history = [[[UInt64]]](repeating: [], count: origins)
        named = applied
        events = [[Event]](repeating: [], count: origins)
        for origin in 0..<origins {
            let draft = OriginStart(key: keys[origin].publicKey, name: "o\(origin)").draft
            append(draft, origin: origin, milliseconds: 1_000)
        }
    }

    /// `origin` takes in what `other` has appended up to `seq` (all of it by default), and what that depended on.
    mutating func exchange(_ origin: Int, from other: Int, through seq: Int? = nil) {
        let seq = min(seq ?? events[other].count, events[other].count)
        guard seq > 0, origin != other else { return }
        let known = history[other][seq - 1]
        for index in applied[origin].indices where index != origin {
            applied[origin][index] = max(applied[origin][index], known[index])
        }
        applied[origin][other] = max(applied[origin][other], UInt64(seq))
    }

    /// Appends at `milliseconds` of the origin's clock; later ones of an origin must not be earlier.
    mutating func append(_ draft: EventDraft, origin: Int, milliseconds: Int64, unknownFields: [UInt8] = []) {
        let seq = UInt64(events[origin].count + 1)
        applied[origin][origin] = seq
        let dependencies = applied[origin].indices.filter { index in
            index != origin && applied[origin][index] > named[origin][index]
        }.map { Dot(origin: ids[$0], seq: applied[origin][$0]) }
        named[origin] = applied[origin]
        history[origin].append(applied[origin])
        let header = EventHeader(
            dot: Dot(origin: ids[origin], seq: seq),
            hlc: HybridTime(milliseconds: milliseconds, counter: UInt16(truncatingIfNeeded: seq % 2)),
            time: draft.time, id: draft.id ?? EventID(UUIDBits(high: 100 + UInt64(origin), low: seq)),
            type: draft.type, conversation: draft.conversation, user: draft.user, author: draft.author,
            cause: draft.cause, dependencies: dependencies.sorted(), version: draft.version,
            unknownFields: unknownFields)
        let salt = UUIDBits(high: seq, low: UInt64(origin))
        events[origin].append(Event(header: header, body: .present(salt: salt, payload: draft.payload)))
    }

    /// A causal order: an event comes after everything it depends on; `choose` picks among those that may come next.
    func order(_ choose: ([Int]) -> Int) -> [Event] {
        var taken = [Int](repeating: 0, count: events.count)
        var out: [Event] = []
        while true {
            let ready = events.indices.filter { origin in
                guard taken[origin] < events[origin].count else { return false }
                let needs = history[origin][taken[origin]]
                return needs.indices.allSatisfy { $0 == origin || taken[$0] >= Int(needs[$0]) }
            }
            guard !ready.isEmpty else { return out }
            let origin = choose(ready)
            out.append(events[origin][taken[origin]])
            taken[origin] += 1
        }
    }
}

extension EventStore {
    /// Stores events of other origins as if they had been verified.
    func ingestUnverified(_ events: [Event]) throws {
        let sha = SHA256()
        let batch = VerifiedBatch(
            events: events.map { event in
                VerifiedEvent(
                    event: event,
                    leaf: sha.leaf(
                        header: event.header.canonicalBytes, payloadDigest: sha.payloadDigest(event.body)),
                    start: event.header.dot.seq == 1 ? OriginStart(event) : nil)
            })
        try blocking { ingest(batch, completion: $0) }
    }
}

/// Copies of one empty store: the same node, so that their views are equal when what arrived is equal.
struct StoreMold {
    let folder = TemporaryFolder()

    init() throws { try EventStore.create(in: folder.path, name: "mold") }

    /// A store with `events` in this order, and its views at that state.
    func store(_ events: [Event], limit: Int = 65_536, piece: Int = 2_048) throws -> (TemporaryFolder, Projector) {
        let copy = TemporaryFolder()
        try FileManager.default.copyItem(atPath: folder.path, toPath: copy.path)
        let store = try EventStore(opening: copy.path, durability: .normal)
        try store.ingestUnverified(events)
        store.close()
        // Small generations: most rows are moved into their tables, some are not.
        let projector = try Projector(store.files, tails: ViewMemtables(generation: 64))
        while try projector.position < projector.top() { try projector.step(limit: limit, piece: piece) }
        try projector.catchUp()
        return (copy, projector)
    }
}

extension EventDraft {
    /// A draft with a JSON text as its payload.
    static func json(
        _ type: String, _ payload: String, id: EventID? = nil, time: Int64? = nil, conversation: String? = "c",
        user: String = "u", author: String? = nil, cause: EventID? = nil
    ) -> EventDraft {
        EventDraft(
            id: id, type: type, time: time, conversation: conversation, user: user, author: author, cause: cause,
            payload: Array(payload.utf8))
    }
}
