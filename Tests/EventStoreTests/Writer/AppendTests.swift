import Foundation
import TestSupport
import Testing

@testable import EventStore

struct AppendTests {
    @Test("An append is there after reopening, with gapless positions and seqs (INV-1, INV-2, INV-3)")
    func reopen() throws {
        let folder = TemporaryFolder()
        try EventStore.create(in: folder.path, name: "seoul-1")
        var store: EventStore? = try EventStore(opening: folder.path)
        let drafts = (1...700).map { EventDraft.message("m\($0)", user: "u-\($0 % 7)", conversation: "c-1") }
        let outcomes = try #require(try store?.appendBlocking(drafts))
        #expect(outcomes.compactMap(\.receipt?.position) == Array(2...701))
        store?.close()
        store = nil
        store = try EventStore(opening: folder.path)
        #expect(try store?.appendBlocking([.message("last", user: "u-1")])[0].receipt?.position == 702)
        let reader = try LogReader(StoreFiles(folder.path))
        var seqs: [UInt64] = []
        try reader.scan(after: 0, limit: 10_000) { event in
            #expect(event.position == event.event.header.dot.seq)
            seqs.append(event.event.header.dot.seq)
            return true
        }
        #expect(seqs == Array(1...702))
    }

    @Test("Callers that lead and callers that queue share one sequence of positions (INV-2, INV-8)")
    func manyCallers() throws {
        let (folder, store) = try makeStore()
        defer { withExtendedLifetime(folder) {} }
        let positions = Monitor<[UInt64]>([])
        let threads = (0..<8).map { thread in
            WorkerThread(name: "caller-\(thread)") {
                for number in 0..<60 {
                    let draft = EventDraft.message("\(thread) \(number)", user: "u-\(thread)")
                    if number % 3 == 0 {
                        store.append([
                            AppendCall(drafts: [draft], atomicity: .each) { result in
                                positions.update {
                                    $0 += (try? result.get().compactMap(\.receipt?.position)) ?? []; return true
                                }
                            }
                        ])
                    } else {
                        let outcome = try? store.appendBlocking([draft])
                        positions.update {
                            $0 += outcome?.compactMap(\.receipt?.position) ?? []; return true
                        }
                    }
                }
            }
        }
        for thread in threads { thread.join() }
        try store.flushBlocking()
        #expect(positions.withLock { $0.sorted() } == Array(2...481))
        #expect(store.head()?.head.size == 481)
        store.close()
        #expect(throws: StoreError.closed) { try store.appendBlocking([.message("late", user: "u-1")]) }
    }

    @Test("The same id and content gives the stored outcome, other content a conflict (INV-8)")
    func idempotence() throws {
        let (folder, store) = try makeStore()
        defer { withExtendedLifetime(folder) {} }
        var draft = EventDraft.message("한 번만", user: "u-1")
        draft.id = EventID(UUIDBits(high: 0x0198_e2c4_77aa_7c01, low: 0x8b1e_0a1b_2c3d_4e5f))
        let first = try store.appendBlocking([draft])[0]
        guard case .appended(let receipt) = first else {
            Issue.record("not appended: \(first)")
            return
        }
        #expect(try store.appendBlocking([draft, draft]) == [.already(receipt), .already(receipt)])
        var other = draft
        other.payload = Array(#"{"text":"다른 내용"}"#.utf8)
        #expect(
            try store.appendBlocking([other]) == [.rejected(.idReused(position: receipt.position))])
        let whole = try store.appendBlocking([.message("x", user: "u-2"), other], atomicity: .whole)
        #expect(whole == [.rejected(.batchRejected(index: 1)), .rejected(.idReused(position: receipt.position))])
        let each = try store.appendBlocking([.message("x", user: "u-2"), other], atomicity: .each)
        #expect(each[0].receipt?.position == receipt.position + 1)
    }

    @Test("Bad drafts get their named error and nothing is stored")
    func rejected() throws {
        let (folder, store) = try makeStore()
        defer { withExtendedLifetime(folder) {} }
        func code(_ draft: EventDraft) throws -> String? {
            if case .rejected(let rejection) = try store.appendBlocking([draft])[0] { rejection.code } else { nil }
        }
        let text = [UInt8](repeating: UInt8(ascii: "a"), count: Limits.payload)
        #expect(
            try code(EventDraft(type: "t", user: "u", payload: Array(#"{"a":""#.utf8) + text + Array(#""}"#.utf8)))
                == "E_PAYLOAD_SIZE")
        #expect(try code(EventDraft(type: "t", user: "u", payload: [0x7b, 0xff, 0x7d])) == "E_PAYLOAD_JSON")
        #expect(try code(EventDraft(type: "t", user: "u", payload: Array("[1]".utf8))) == "E_PAYLOAD_JSON")
        #expect(try code(.message("x", user: "")) == "E_IDENTIFIER")
        #expect(
            try code(.message("x", user: "u", conversation: String(repeating: "가", count: 3_414))) == "E_IDENTIFIER")
        #expect(try code(EventDraft(type: "", user: "u", payload: Array("{}".utf8))) == "E_TYPE")
        #expect(try code(EventDraft(type: "t", time: .max, user: "u", payload: Array("{}".utf8))) == "E_TIME")
        #expect(try LogReader(StoreFiles(folder.path)).top() == 1)
    }

    @Test("Payload bytes come back verbatim (INV-4)")
    func verbatim() throws {
        let (folder, store) = try makeStore()
        defer { withExtendedLifetime(folder) {} }
        let payload = Array("{ \"text\" :\t\"\\uc548\\n녕 \\u0000\" , \"n\":1.0e+2 }\n".utf8)
        let outcome = try store.appendBlocking([EventDraft(type: "t", user: "u", payload: payload)])[0]
        let position = try #require(outcome.receipt?.position)
        #expect(try LogReader(StoreFiles(folder.path)).event(at: position)?.event.payload == payload)
    }

    @Test("Heads cover the whole log after a close and verify against the tree")
    func heads() throws {
        let folder = TemporaryFolder()
        try EventStore.create(in: folder.path, name: "n")
        let store = try EventStore(opening: folder.path)
        let origin = store.identity.origin
        for batch in 0..<3 {
            _ = try store.appendBlocking((0..<3_000).map { .message("\(batch) \($0)", user: "u") })
        }
        store.close()
        let reader = try LogReader(StoreFiles(folder.path))
        let ref = try #require(try reader.origins().first).ref
        let merkle = MerkleStore(connection: reader.connection, sha: SHA256())
        var names = InternedStrings()
        let head = try #require(try merkle.head(of: origin, ref: ref, atLeast: 1, largest: true))
        #expect(head.head.size == 9_001)
        #expect(head.isValid(for: store.key.publicKey))
        #expect(try merkle.root(origin: ref, size: 9_001, names: &names) == head.head.root)
        for size: UInt64 in [1, 255, 256, 257, 4_096, 8_999] {
            let proof = try reader.consistency(of: origin, from: size, to: 9_001, using: SHA256())
            let root = try merkle.root(origin: ref, size: size, names: &names)
            #expect(
                MerkleProof.isConsistent(
                    old: size, oldRoot: root, new: 9_001, newRoot: head.head.root, proof: proof, using: SHA256()))
        }
    }

    @Test("A second writer is told who has the store")
    func locked() throws {
        let (folder, store) = try makeStore()
        defer { withExtendedLifetime(store) {} }
        #expect(throws: StoreError.locked(path: folder.path, owner: "a process")) {
            _ = try EventStore(opening: folder.path)
        }
    }

    @Test("Concurrent appenders share commits and lose nothing")
    func concurrent() async throws {
        let (folder, store) = try makeStore()
        try await withThrowingTaskGroup(of: Int.self) { group in
            for task in 0..<20 {
                group.addTask {
                    let outcomes = try await store.append([.message("t\(task)", user: "u\(task)")])
                    return outcomes.compactMap(\.receipt).count
                }
            }
            let total = try await group.reduce(0, +)
            #expect(total == 20)
        }
        #expect(try LogReader(StoreFiles(folder.path)).top() == 21)
    }
}
