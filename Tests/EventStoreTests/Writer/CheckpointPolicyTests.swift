import Foundation
import TestSupport
import Testing

@testable import EventStore

/// The WAL is copied back beside the commits.
struct CheckpointPolicyTests {
    /// What SQLite does with a WAL, as far as it concerns ``CheckpointPolicy``.
    private struct WAL {
        var pages = 0
        var copied = 0
        /// How far readers let it be copied.
        var readable = Int.max

        /// Returns whether the WAL began anew.
        mutating func commit(_ count: Int) -> Bool {
            let begins = pages > 0 && copied == pages && readable >= pages
            if begins { (pages, copied) = (0, 0) }
            pages += count
            return begins
        }
    }

    @Test("Copying begins only when something is left, one at a time; the WAL stays bounded", arguments: 0..<200)
    func anyOrder(seed: Int) throws {
        var random = SplitMix64(state: UInt64(seed))
        var wal = WAL()
        var plan = CheckpointPolicy()
        /// The WAL as it was when copying began, while a copy is under way.
        var copying: WAL?
        var longest = 0
        var begun = 0
        func end() {
            guard let was = copying else { return }
            let copied = max(wal.copied, min(was.pages, was.readable))
            wal.copied = copied
            copying = nil
            plan.ended((pages: was.pages, copied: copied))
        }
        let largest = [8, 300, 2_500][seed % 3]
        let isRead = seed % 2 == 0
        for _ in 0..<4_000 {
            if isRead, Int.random(in: 0..<200, using: &random) == 0 { wal.readable = wal.pages }
            if Int.random(in: 0..<60, using: &random) == 0 { wal.readable = .max }
            // The race of SQLite before 3.51.3: a WAL that begins anew while a copy of it begins.
            let begins = wal.commit(Int.random(in: 1...largest, using: &random))
            #expect(!begins || copying == nil)
            plan.committed(pages: wal.pages)
            switch plan.next() {
            case .none: break
            case .beside:
                #expect(copying == nil && wal.copied < wal.pages)
                copying = wal
                begun += 1
            case .between:
                end()
                wal.copied = max(wal.copied, min(wal.pages, wal.readable))
                plan.ended((pages: wal.pages, copied: wal.copied))
            }
            #expect(plan.isCopying == (copying != nil))
            if Int.random(in: 0..<4, using: &random) == 0 { end() }
            longest = max(longest, wal.pages)
        }
        #expect(begun > 0)
        #expect(isRead || longest <= CheckpointPolicy.most + largest)
    }

    @Test("What failed is tried again when the WAL has grown, not with each commit")
    func failures() {
        var plan = CheckpointPolicy()
        var tries = 0
        for pages in stride(from: 10, through: 6_000, by: 10) {
            plan.committed(pages: pages)
            if plan.next() == .beside {
                tries += 1
                plan.ended(nil)
            }
        }
        #expect((2...12).contains(tries))
    }

    @Test("What ends after the WAL has begun anew says nothing of the new one")
    func overtaken() {
        var plan = CheckpointPolicy()
        plan.committed(pages: 1_200)
        #expect(plan.next() == .beside)
        plan.committed(pages: 4)
        #expect(plan.next() == .none)
        plan.ended((pages: 1_200, copied: 1_200))
        plan.committed(pages: 1_100)
        #expect(plan.next() == .beside)
    }

    @Test("A store that is written to without pause keeps its WAL short, and all pages whole")
    func wholeStore() throws {
        let (folder, store) = try makeStore()
        defer { withExtendedLifetime(folder) {} }
        let projector = ProjectorThread(store.files, top: 0)
        let observer = projector.observe(store)
        let text = String(repeating: "말씀 ", count: 60)
        var longest = 0
        for batch in 0..<120 {
            let drafts = (0..<250).map {
                EventDraft.message("\(batch) \($0) \(text)", user: "u-\($0 % 50)", conversation: "c-\($0 % 90)")
            }
            _ = try store.appendBlocking(drafts)
            let size = try FileManager.default.attributesOfItem(atPath: store.files.log + "-wal")[.size] as? Int
            longest = max(longest, size ?? 0)
        }
        #expect(projector.wait(for: 30_001, milliseconds: 60_000))
        store.removeObserver(observer)
        projector.stop()
        let database = try FileManager.default.attributesOfItem(atPath: store.files.log)[.size] as? Int
        #expect(try #require(database) > 8_000_000)
        #expect(longest < Connection.walBytes(pages: CheckpointPolicy.most + 512))
        store.close()
        let connection = try Connection(path: store.files.log, mode: .read)
        let check = try connection.statement("PRAGMA integrity_check")
        #expect(try check.step() && check.text(0) == "ok")
        #expect(try Verifier(store.files).run().isIntact)
    }
}
