import Foundation
import TestSupport

@testable import EventStore

/// A log filled by hand: any event, in any order of arrival that the test wants.
final class LogFixture {
    let folder = TemporaryFolder()
    let files: StoreFiles
    private let connection: Connection
    private var names = StringInterner()
    private var refs: [OriginID: Int64] = [:]
    private var firsts: [EventID: UInt64] = [:]
    private(set) var top = UInt64(0)

    init() throws {
        files = StoreFiles(folder.path)
        try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
        connection = try Connection(path: files.log, mode: .write)
        try connection.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;")
        try Schema.create(on: connection)
        try connection.execute("INSERT INTO meta(key, value) VALUES('incarnation', '00000000000000aa')")
    }

    func deliver(_ events: [Event]) throws {
        try connection.transaction { () throws(DatabaseError) in for event in events { try insert(event) } }
    }

    private func ref(_ origin: OriginID) throws(DatabaseError) -> Int64 {
        if let known = refs[origin] { return known }
        let made = Int64(refs.count + 1)
        let insert = try connection.statement("INSERT INTO origin(ref, id, node, key) VALUES(?,?,?,?)")
        try insert.bind(1, made)
        try insert.bind(2, origin.bits)
        try insert.bind(3, blob: [UInt8](repeating: 1, count: 32))
        try insert.bind(4, blob: [UInt8](repeating: 1, count: 32))
        try insert.run()
        refs[origin] = made
        return made
    }

    private func insert(_ event: Event) throws(DatabaseError) {
        let header = event.header
        let row = try EventRow.Refs(header, origin: try ref(header.dot.origin), names: &names, on: connection)
        var pairs: [(ref: Int64, seq: UInt64)] = []
        for dot in header.dependencies { pairs.append((try ref(dot.origin), dot.seq)) }
        top += 1
        let insert = try connection.statement(EventRow.insert(rows: 1))
        let leaf = SHA256().digest([1])
        try EventRow.store(
            header, event.body, position: top, refs: row, dependencies: EventRow.dependencyBytes(pairs),
            twin: firsts[header.id], leaf: leaf, with: insert)
        if firsts[header.id] == nil { firsts[header.id] = top }
    }

    /// Digests after applying everything in batches of `batch`.
    func digests(batch: Int = 65_536) throws -> [ViewDigest] {
        let projector = try Projector(files, tails: ViewMemtables(generation: 24))
        while projector.position < top { try projector.step(limit: batch) }
        try projector.catchUp()
        return try projector.allDigests()
    }
}

func origin(_ number: UInt64) -> OriginID { OriginID(UUIDBits(high: 0xaaaa, low: number)) }

func event(
    _ number: UInt64, _ seq: UInt64, hlc: Int64, id: UInt64? = nil, type: String = "message.posted",
    time: Int64? = nil, conversation: String? = "c", user: String = "u", author: String? = nil, cause: EventID? = nil,
    dependencies: [Dot] = [], actor: EventActor? = nil, unknown: [UInt8] = [],
    _ payload: String = #"{"text":"x"}"#
) -> Event {
    let header = EventHeader(
        dot: Dot(origin: origin(number), seq: seq), hlc: HybridTime(milliseconds: hlc, counter: 0), time: time,
        id: EventID(UUIDBits(high: id == nil ? number : 0x1d, low: id ?? seq)), type: type,
        conversation: conversation, user: user, author: author, cause: cause, dependencies: dependencies,
        actor: actor,
        unknownFields: unknown)
    return Event(
        header: header, body: .present(salt: UUIDBits(high: 1, low: 2), payload: Array(payload.utf8)))
}
