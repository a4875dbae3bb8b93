import Foundation
import Testing

@testable import EventStore
@testable import SyncEngine

/// An origin written by hand: its events may be anything that a later release, a faulty or a hostile one may sign.
struct ForeignOrigin {
    let key: SigningKey
    let id: OriginID
    private(set) var events: [EncodedEvent] = []
    private(set) var leaves: [Digest] = []
    private(set) var tree = MerkleRange()
    private var last = HybridTime(rawValue: 0)

    init(key: SigningKey = .generate(), name: String = "foreign") {
        self.key = key
        id = .random()
        let start = OriginStart(key: key.publicKey, name: name).draft
        append(header(start.type, user: start.user), start.payload)
    }

    /// The canonical header the next event would have.
    mutating func header(_ type: String = "message.posted", user: String = "u", needs: [Dot] = []) -> EventHeader {
        last = HybridTime(milliseconds: WallClock.now, counter: UInt16(truncatingIfNeeded: tree.size))
        return EventHeader(
            dot: Dot(origin: id, seq: tree.size + 1), hlc: last, id: EventID(OriginID.random().bits), type: type,
            user: user, dependencies: needs)
    }

    mutating func append(_ header: EventHeader, _ payload: [UInt8] = Array(#"{"text":"말"}"#.utf8)) {
        append(header.canonicalBytes, payload)
    }

    mutating func append(_ header: [UInt8], _ payload: [UInt8] = Array(#"{"text":"말"}"#.utf8)) {
        let sha = SHA256()
        let body = EventBody.present(salt: UUIDBits(high: 3, low: tree.size), payload: payload)
        let leaf = sha.leaf(header: header, payloadDigest: sha.payloadDigest(body))
        tree.append(leaf, using: sha)
        leaves.append(leaf)
        events.append(EncodedEvent(header: header, body: body))
    }

    /// The newest head, signed by `signer` (the origin's own key unless told otherwise).
    func head(signedBy signer: SigningKey? = nil, root: Digest? = nil) -> SignedHead {
        SignedHead(
            signing: TreeHead(origin: id, size: tree.size, root: root ?? tree.root(using: SHA256()), hlc: last),
            with: signer ?? key)
    }

    /// Everything from `first`, covered by the newest head.
    func batch(from first: Int = 0) -> EventBatch {
        EventBatch(events: Array(events[first...]), coverage: [Coverage(head: head(), proof: [])])
    }

    /// Hands everything to `store` as its session would. Before a peer has sent anything: a node has one verifier, which does
    /// not learn of what came past it, and would hold back for good what depends on that.
    func send(to store: EventStore) throws {
        let batch = batch()
        let verified = try store.makeVerifierBlocking().verify(batch.events, batch.coverage)
        try blocking { store.ingest(verified, completion: $0) }
    }

    var progress: OriginProgress {
        OriginProgress(origin: id, seq: tree.size, rootPrefix: tree.root(using: SHA256()).prefix64)
    }
}
