import Foundation
import TestSupport
import Testing

@testable import EventStore

/// An origin of another node, made by hand: its events can be anything a later release or an erasure may produce.
struct ForeignOrigin {
    let key = SigningKey.generate()
    let id: OriginID
    private(set) var received: [EncodedEvent] = []
    private(set) var tree = MerkleRange()
    private var last = HybridTime(rawValue: 0)
    private let since: Int64

    /// - Parameter since: The first event is recorded a millisecond after it, Unix milliseconds.
    init(_ number: UInt64, name: String, since: Int64 = 1_700_000_000_000) {
        self.since = since
        id = OriginID(UUIDBits(high: 0x1111_0000_0000_4000, low: 0x8000_0000_0000_0000 + number))
        add(OriginStart(key: key.publicKey, name: name).draft)
    }

    mutating func add(
        _ draft: EventDraft, needs dependencies: [Dot] = [], unknown: [UInt8] = [], isErased: Bool = false
    ) {
        let seq = tree.size + 1
        last = HybridTime(milliseconds: since + Int64(seq), counter: 7)
        let header = EventHeader(
            dot: Dot(origin: id, seq: seq), hlc: last, time: draft.time,
            id: draft.id ?? EventID(UUIDBits(high: id.bits.low, low: seq)), type: draft.type,
            conversation: draft.conversation, user: draft.user, author: draft.author, cause: draft.cause,
            dependencies: dependencies, version: draft.version, actor: draft.actor,
            unknownFields: unknown)
        let salt = UUIDBits(high: seq, low: 42)
        let sha = SHA256()
        let body: EventBody =
            isErased
            ? .erased(payloadDigest: sha.payloadDigest(salt: salt, payload: draft.payload))
            : .present(salt: salt, payload: draft.payload)
        append(header.canonicalBytes, body)
    }

    /// Any bytes for a header, as a later release or a faulty one may write them.
    mutating func append(_ header: [UInt8], _ body: EventBody) {
        let sha = SHA256()
        tree.append(sha.leaf(header: header, payloadDigest: sha.payloadDigest(body)), using: sha)
        received.append(EncodedEvent(header: header, body: body))
    }

    /// The canonical header that the next event would have.
    mutating func next(_ type: String = "message.posted", user: String = "u", needs: [Dot] = []) -> EventHeader {
        last = HybridTime(milliseconds: since + Int64(tree.size + 1), counter: 7)
        return EventHeader(
            dot: Dot(origin: id, seq: tree.size + 1), hlc: last,
            id: EventID(UUIDBits(high: id.bits.low, low: tree.size + 1)), type: type, conversation: "c", user: user,
            dependencies: needs)
    }

    /// The head of everything so far.
    func head(using sha: SHA256) -> SignedHead {
        SignedHead(signing: TreeHead(origin: id, size: tree.size, root: tree.root(using: sha), hlc: last), with: key)
    }

    /// Hands everything over to `store`, which must know what the events need.
    func send(to store: EventStore) throws {
        let batch = try store.makeVerifierBlocking().verify(
            received, [Coverage(head: head(using: SHA256()), proof: [])])
        try blocking { store.ingest(batch, completion: $0) }
    }
}

/// A closed store of three origins with every kind of column value in it, to be copied and damaged.
struct SampleStore {
    /// Positions of events that tests damage.
    enum Position {
        /// Own: conversation, author, cause, time, version and actor all given.
        static let full: Int64 = 20
        /// Own, right after foreign events came in: has dependencies.
        static let dependent: Int64 = 308
        /// Foreign: fields this release does not know.
        static let unknown: Int64 = 304
        /// Foreign: erased.
        static let erased: Int64 = 305
        /// Foreign: same id as ``full``.
        static let twin: Int64 = 306
    }
    static let fullID = EventID(UUIDBits(high: 0x0198_e2c4_77aa_7c01, low: 0x8b1e_0a1b_2c3d_4e5f))

    let folder: TemporaryFolder
    let own: OriginID
    let top: UInt64

    init() throws {
        folder = TemporaryFolder()
        try EventStore.create(in: folder.path, name: "seoul-1")
        let store = try EventStore(opening: folder.path)
        own = store.identity.origin
        var drafts = (2...301).map { EventDraft.message("말 \($0)", user: "u-\($0 % 5)", conversation: "c-\($0 % 3)") }
        drafts[Int(Position.full) - 2] = EventDraft(
            id: Self.fullID, type: "note.taken", time: 1_600_000_000_123, conversation: "c-full", user: "u-full",
            author: "doctor", cause: EventID(UUIDBits(high: 5, low: 6)), version: 2,
            payload: Array(#"{"text":"두통이 심해요","pain":7}"#.utf8))
        drafts[Int(Position.full) - 2].actor = EventActor(.token, principal: "bot/medibot", credential: "9f3c51d2")
        _ = try store.appendBlocking(drafts)

        var busan = ForeignOrigin(1, name: "busan-1")
        busan.add(.message("부산", user: "u-b"))
        // Field 13, a varint: what a later release might add.
        busan.add(.message("later", user: "u-b"), unknown: [0x68, 0x96, 0x01])
        busan.add(.message("gone", user: "u-b"), isErased: true)
        // It has the id of another event, and covers the one without payload.
        busan.add(EventDraft(id: Self.fullID, type: "user.erased", user: "u-b", payload: Array("{}".utf8)))
        try busan.send(to: store)
        let daegu = ForeignOrigin(2, name: "daegu-1")
        try daegu.send(to: store)
        _ = try store.appendBlocking((0..<20).map { .message("tail \($0)", user: "u-1", conversation: "c-1") })
        store.close()
        top = try LogReader(StoreFiles(folder.path)).top()
    }

    /// A copy, changed through `body` by a connection that knows nothing of the store.
    func damaged(_ body: (Connection) throws -> Void) throws -> TemporaryFolder {
        let copy = TemporaryFolder()
        try FileManager.default.copyItem(atPath: folder.path, toPath: copy.path)
        let connection = try Connection(path: StoreFiles(copy.path).log, mode: .write)
        try body(connection)
        return copy
    }

    func report(after sql: String) throws -> VerifyReport {
        try verify(try damaged { try $0.execute(sql) })
    }
}

func verify(_ folder: TemporaryFolder) throws -> VerifyReport { try Verifier(StoreFiles(folder.path)).run() }

extension VerifyReport {
    /// Whether a finding names the event at `position`.
    func names(position: Int64) -> Bool {
        !isIntact && findings.contains { $0.position == UInt64(position) && $0.dot != nil && $0.eventID != nil }
    }

    /// Whether a finding of `check` says `text`.
    func says(_ check: VerifyCheck, _ text: String) -> Bool {
        !isIntact && findings.contains { $0.check == check && $0.description.contains(text) }
    }

    var text: Comment { Comment(rawValue: findings.map(\.description).joined(separator: "\n")) }
}
