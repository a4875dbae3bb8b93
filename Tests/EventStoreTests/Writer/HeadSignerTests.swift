import TestSupport
import Testing

@testable import EventStore

struct HeadSignerTests {
    private let key = SigningKey.generate()
    private let id = OriginID(UUIDBits(high: 7, low: 7))
    private let sha = SHA256()

    /// An origin of events that are told apart by their leaves.
    private func origin(_ leaves: String) -> OriginState {
        var tree = GrowingTree()
        for leaf in leaves.utf8 { _ = tree.grow(sha.digest([leaf]), using: sha) }
        return OriginState(
            ref: 1, id: id, key: key.publicKey, tree: tree, hlc: HybridTime(rawValue: UInt64(leaves.utf8.count)))
    }

    private func root(_ leaves: String) -> Digest { origin(leaves).range.root(using: sha) }

    @Test("What is signed ahead is handed out once it is committed, and not before")
    func ahead() throws {
        let signer = HeadSigner(key: key)
        let signed = Lock(0)
        signer.observeExpected {
            signed.withLock { $0 += 1 }
            signer.signAhead()
        }
        signer.committed(origin("a"))
        // No one has asked for a head yet: none is signed ahead.
        signer.expect(origin("ab"))?()
        #expect(signed.withLock { $0 } == 0)
        #expect(signer.head()?.head.root == root("a"))
        signer.expect(origin("ab"))?()
        #expect(signed.withLock { $0 } == 1)
        #expect(signer.head()?.head.size == 1)
        signer.committed(origin("ab"))
        let head = try #require(signer.head())
        #expect(head.head.root == root("ab") && head.head.size == 2 && head.isValid(for: key.publicKey))
    }

    @Test("What was signed ahead of a commit that failed is never handed out")
    func failed() throws {
        let signer = HeadSigner(key: key)
        signer.observeExpected { signer.signAhead() }
        signer.committed(origin("a"))
        _ = signer.head()
        signer.expect(origin("ab"))?()
        #expect(signer.head()?.head.root == root("a"))
        // Another event comes in its place, and is not signed ahead.
        signer.observeExpected(nil)
        signer.expect(origin("ac"))?()
        signer.committed(origin("ac"))
        let head = try #require(signer.head())
        #expect(head.head.root == root("ac") && head.isValid(for: key.publicKey))
    }

    @Test("A signature that comes too late does no harm")
    func late() {
        let signer = HeadSigner(key: key)
        signer.observeExpected {}
        signer.committed(origin("a"))
        _ = signer.head()
        signer.expect(origin("ab"))?()
        signer.committed(origin("ab"))
        signer.signAhead()
        #expect(signer.head()?.head.root == root("ab"))
        signer.committed(origin("abc"))
        #expect(signer.head()?.head.root == root("abc"))
    }

    @Test("Heads that peers ask for after each event are stored now and then, and at last")
    func stored() throws {
        let folder = TemporaryFolder()
        try EventStore.create(in: folder.path, name: "a")
        let store = try EventStore(opening: folder.path, durability: .normal)
        let origin = store.identity.origin
        let reader = try LogReader(store.files)
        for number in 0..<40 {
            _ = try store.appendBlocking([.message("\(number)", user: "u")])
            #expect(store.head()?.head.size == UInt64(number) + 2)
        }
        try store.flushBlocking()
        #expect(try reader.head(of: origin, atLeast: 1, largest: true)?.head.size == 41)
        store.close()
    }

    @Test("Of heads that wait to be stored one for each 4,096 events is kept, and none waits for long")
    func waiting() {
        let signer = HeadSigner(key: key)
        var tree = GrowingTree()
        var stored: [UInt64] = []
        for size in UInt64(1)...600 {
            _ = tree.grow(sha.digest([UInt8(size % 251)]), using: sha)
            signer.committed(
                OriginState(ref: 1, id: id, key: key.publicKey, tree: tree, hlc: HybridTime(rawValue: size)))
            _ = signer.head()
            stored += signer.takeUnstored(all: false).map(\.head.size)
            signer.endStoring(isCommitted: true)
        }
        #expect(stored == [1, 257, 513])
        #expect(signer.takeUnstored(all: true).map(\.head.size) == [600] && signer.hasUnstored)
        // It found no room, and is the one that the mark may not name yet.
        signer.endStoring(isCommitted: false)
        #expect(signer.hasUnstored && signer.stored?.head.size == 513)
        #expect(signer.takeUnstored(all: true).map(\.head.size) == [600])
        signer.endStoring(isCommitted: true)
        #expect(!signer.hasUnstored && signer.stored?.head.size == 600)
    }
}
