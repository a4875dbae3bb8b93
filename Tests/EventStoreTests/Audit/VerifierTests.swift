import Foundation
import TestSupport
import Testing

@testable import EventStore

struct VerifierTests {
    @Test(
        "A store of one origin is intact, with node boundaries at 256 events",
        arguments: [0, 254, 255, 256, 511, 4_200])
    func clean(count: Int) throws {
        let (folder, store) = try makeStore()
        for start in stride(from: 0, to: count, by: 4_000) {
            _ = try store.appendBlocking((start..<min(count, start + 4_000)).map { .message("m\($0)", user: "u") })
        }
        store.close()
        var seen: [UInt64] = []
        let report = try Verifier(StoreFiles(folder.path)).run { done, total in
            #expect(total == UInt64(count) + 1)
            seen.append(done)
        }
        #expect(report.isIntact, report.text)
        #expect(report.top == UInt64(count) + 1 && report.events == report.top && report.unsigned == 0)
        #expect(seen.last == report.top && seen == seen.sorted())
        let origin = try #require(report.origins.first)
        #expect(
            report.origins.count == 1 && origin.origin == store.identity.origin && origin.node == store.identity.node)
        #expect(origin.size == report.top && origin.headSize == report.top)
        #expect(origin.root == store.head()?.head.root)
    }

    @Test("A store of three origins is intact: twins, erased and unknown parts included")
    func threeOrigins() throws {
        let sample = try SampleStore()
        let report = try verify(sample.folder)
        #expect(report.isIntact, report.text)
        #expect(report.top == 327 && report.events == 327 && report.erased == 1 && report.unsigned == 0)
        #expect(report.origins.map(\.size).sorted() == [1, 5, 321])
        #expect(report.origins.allSatisfy { $0.headSize == $0.size && $0.root != nil })
        #expect(VerifyCheck.allCases.allSatisfy { report.count(of: $0) == 0 })
    }

    @Test("More than 65,536 leaves: nodes of two levels, and a damage named among them")
    func large() throws {
        let (folder, store) = try makeStore()
        for batch in 0..<17 {
            _ = try store.appendBlocking((0..<4_000).map { .message("\(batch) \($0)", user: "u", conversation: "c") })
        }
        store.close()
        let clean = try verify(folder)
        #expect(clean.isIntact, clean.text)
        #expect(clean.events == 68_001 && clean.unsigned == 0)
        let connection = try Connection(path: StoreFiles(folder.path).log, mode: .write)
        try connection.execute(
            """
            UPDATE node SET hash = zeroblob(32) WHERE level = 16 AND number = 0;
            DELETE FROM node WHERE level = 8 AND number = 200;
            """)
        let report = try verify(folder)
        #expect(report.counts == [.tree: 2], report.text)
        #expect(report.says(.tree, "\(store.identity.origin): the node of level 16 over seqs 1 to 65536 is not"))
        #expect(report.says(.tree, "the node of level 8 over seqs 51201 to 51456 is missing"))
    }

    @Test("While a writer appends nothing false is found")
    func duringAppends() throws {
        let (folder, store) = try makeStore()
        _ = try store.appendBlocking((0..<300).map { .message("\($0)", user: "u") })
        let runs = Monitor(0)
        let isDone = Lock(false)
        let thread = WorkerThread(name: "appender") {
            for batch in 0..<500 {
                // Goes on only when one more run has ended, so that none of the three lies before or after all appends.
                if batch % 150 == 149 { _ = runs.wait(milliseconds: 30_000) { $0 > batch / 150 ? true : nil } }
                _ = try? store.appendBlocking((0..<10).map { .message("\(batch) \($0)", user: "u-\(batch)") })
            }
            isDone.withLock { $0 = true }
        }
        while !isDone.withLock({ $0 }) {
            let report = try verify(folder)
            #expect(report.isIntact, report.text)
            #expect(report.events == report.top && report.unsigned <= report.top)
            runs.update { count in
                count += 1
                return true
            }
        }
        thread.join()
        #expect(runs.withLock { $0 } >= 3)
        store.close()
        let report = try verify(folder)
        #expect(report.answer == .proven && report.top == 5_301 && report.unsigned == 0, report.text)
    }

    @Test("The first events of another node without their head are not covered; that is no damage")
    func headOnItsWay() throws {
        let (folder, store) = try makeStore()
        let foreign = ForeignOrigin(9, name: "busan-1")
        try foreign.send(to: store)
        let outside = try Connection(path: StoreFiles(folder.path).log, mode: .write)
        try outside.execute("DELETE FROM head WHERE origin = 2")
        let open = try verify(folder)
        #expect(open.answer == .notCovered && open.unsigned >= 1, open.text)
        store.close()
        withExtendedLifetime(store) {}
        let copy = TemporaryFolder()
        try FileManager.default.copyItem(atPath: folder.path, toPath: copy.path)
        let report = try verify(copy)
        #expect(report.answer == .notCovered && report.unsigned == foreign.tree.size, report.text)
    }

    @Test("A folder without a store, and a file of others, are errors")
    func notAStore() throws {
        let folder = TemporaryFolder()
        #expect(throws: StoreError.notFound(path: folder.path)) { _ = try verify(folder) }
        try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
        let files = StoreFiles(folder.path)
        do {
            let other = try Connection(path: files.log, mode: .write)
            try other.execute("CREATE TABLE t(x)")
        }
        let refusal = StoreError.corrupt("\(files.log) is no log of events: it is empty, or another file")
        #expect(throws: refusal) { _ = try verify(folder) }
        try Data("not a database, but long enough to be read as one".utf8).write(to: URL(filePath: files.log))
        #expect(throws: StoreError.self) { _ = try verify(folder) }
    }
}
