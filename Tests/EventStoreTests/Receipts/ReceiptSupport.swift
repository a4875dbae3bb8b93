import Foundation
import TestSupport
import Testing

@testable import EventStore

extension ForeignOrigin {
    /// Hands over what was added since the first `sent` events.
    func send(after sent: Int, to store: EventStore) throws {
        let batch = try store.makeVerifierBlocking().verify(
            Array(received.dropFirst(sent)), [Coverage(head: head(using: SHA256()), proof: [])])
        try blocking { store.ingest(batch, completion: $0) }
    }
}

/// The lines of a file of NDJSON, each with its newline.
func ndjson(_ file: [UInt8]) -> [[UInt8]] {
    file.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropLast().map { Array($0) + [0x0a] }
}

/// What a receipt or a proven answer says, once all of it was checked.
@discardableResult
func checked(_ file: [UInt8]) throws -> (receipt: Receipt, check: ReceiptCheck) {
    let check = ReceiptCheck()
    for line in ndjson(file) { try check.take(line, 0..<(line.count - 1)) }
    return (try check.finish(), check)
}

func receipt(_ files: StoreFiles, key: SigningKey?, ownHead: SignedHead? = nil) throws -> (Receipt, [UInt8]) {
    let builder = try ReceiptBuilder(files, key: key, ownHead: ownHead)
    let made = try builder.receipt(at: 1_785_549_735_120)
    return (made, builder.bytes(of: made))
}

/// A store with 300 own events and 40 of another node, which that node's peers, `witnesses`, have cosigned at several sizes.
struct WitnessedStore {
    let folder: TemporaryFolder
    let store: EventStore
    var busan = ForeignOrigin(1, name: "busan-1")
    /// A third node; it has an origin here, so its key is known.
    let ulsan = ForeignOrigin(2, name: "ulsan-1")

    init() throws {
        (folder, store) = try makeStore(name: "seoul-1")
        _ = try store.appendBlocking(
            (0..<300).map {
                .message("말 \($0) 한글 \u{1112}\u{1161}\u{11ab}", user: "u-\($0 % 5)", conversation: "c-\($0 % 3)")
            })
        for number in 0..<39 { busan.add(.message("부산 \(number) 👩‍⚕️", user: "u-1", conversation: "c-1")) }
        try busan.send(to: store)
        try ulsan.send(to: store)
        try store.flushBlocking()
    }

    /// What `key` says it holds of the own origin, `size` events of it.
    func said(_ key: SigningKey, _ size: UInt64, at time: UInt64 = 1_785_549_700) throws -> Cosignature {
        let tree = try #require(try LogReader(store.files).tree(of: store.identity.origin, size: size))
        return Cosignature(signing: SignedHead(signing: tree, with: store.key), at: time, with: key)
    }

    /// Keeps what a node has told.
    func tell(_ said: [Cosignature], by key: SigningKey) throws {
        try Cosigner(store.files, key: store.key).take(CosignatureList(said), of: key.publicKey.nodeID)
    }
}
