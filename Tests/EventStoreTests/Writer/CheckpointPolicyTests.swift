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

    /// A writer, its WAL and a thread that copies so many pages while a commit is written.
    private struct Store {
        var wal = WAL()
        var plan = CheckpointPolicy()
        /// The WAL as it was when copying began, while a copy is under way; and how much of it is copied.
        var copying: (was: WAL, done: Int)?
        let speed: Int
        var begun = 0
        var waited = 0
        /// Most pages that were copied between two commits.
        var between = 0

        init(speed: Int) { self.speed = speed }

        mutating func copy(_ pages: Int) {
            guard let (was, done) = copying else { return }
            copying = (was, done + pages)
            guard was.copied + done + pages >= min(was.pages, was.readable) else { return }
            let copied = max(wal.copied, min(was.pages, was.readable))
            wal.copied = copied
            copying = nil
            plan.ended((pages: was.pages, copied: copied))
            // The thread asks, too.
            follow(plan.next())
        }

        mutating func follow(_ step: CheckpointPolicy.Step) {
            switch step {
            case .none: break
            case .beside:
                #expect(copying == nil && wal.copied < wal.pages)
                copying = (wal, 0)
                begun += 1
            case .giveWay:
                waited += 1
                copy(plan.patience == 20 ? speed : Int.max / 2)
            case .between: finish()
            }
        }

        private mutating func finish() {
            guard !plan.isCopying, plan.isNearlyCopied else { return }
            between = max(between, wal.pages - wal.copied)
            wal.copied = max(wal.copied, min(wal.pages, wal.readable))
            plan.ended((pages: wal.pages, copied: wal.copied))
        }

        mutating func commit(_ count: Int) {
            // The race of SQLite before 3.51.3: a WAL that begins anew while a copy of it begins.
            let begins = wal.commit(count)
            #expect(!begins || copying == nil)
            plan.committed(pages: wal.pages)
            follow(plan.next())
            copy(speed)
            #expect(plan.isCopying == (copying != nil))
        }
    }

    @Test("Copying begins only when something is left, one at a time; the WAL stays bounded", arguments: 0..<240)
    func anyOrder(seed: Int) throws {
        var random = SplitMix64(state: UInt64(seed))
        let largest = [8, 300, 2_500][seed % 3]
        // A disk that copies less than is written, as much, and far more.
        var store = Store(speed: max(1, largest * [1, 2, 16][seed / 3 % 3] / 4))
        var longest = 0
        let isRead = seed / 9 % 2 == 0
        for _ in 0..<4_000 {
            if isRead, Int.random(in: 0..<200, using: &random) == 0 { store.wal.readable = store.wal.pages }
            if Int.random(in: 0..<60, using: &random) == 0 { store.wal.readable = .max }
            store.commit(Int.random(in: 1...largest, using: &random))
            longest = max(longest, store.wal.pages)
        }
        #expect(store.begun > 0)
        // A WAL that begins anew with more than it had looks as if it went on.
        #expect(store.between <= largest + CheckpointPolicy.rest, "no commit waits for more")
        #expect(isRead || longest <= CheckpointPolicy.far * 3 / 2, "\(longest)")
        if !isRead, store.speed >= 4 * largest {
            #expect(store.waited == 0 && longest <= CheckpointPolicy.most)
        }
    }

    @Test(
        "However long a reader has kept it, a WAL becomes short again, and no commit waits for it",
        arguments: [20_000, 250_000])
    func afterReader(length: Int) throws {
        var store = Store(speed: 64)
        store.commit(10)
        store.wal.readable = 10
        while store.wal.pages < length { store.commit(16) }
        let begun = store.begun
        store.wal.readable = .max
        var commits = 0
        while store.wal.pages >= 1_000, commits < length {
            store.commit(16)
            commits += 1
        }
        #expect(store.wal.pages < 1_000, "it began anew after \(commits) commits")
        #expect(commits * 64 < 2 * length && store.begun > begun)
        #expect(store.waited == 0 && store.between <= CheckpointPolicy.rest)
    }

    @Test("Where commits outrun the copy they let it go first: a while, and until it ends once the WAL is very long")
    func outrun() throws {
        var store = Store(speed: 100)
        var lengths: [Int] = []
        for _ in 0..<3_000 {
            store.commit(150)
            lengths.append(store.wal.pages)
        }
        #expect(store.waited > 0)
        #expect(lengths.allSatisfy { $0 <= CheckpointPolicy.far + 300 })
        #expect(lengths.filter { $0 < 1_000 }.count > 3, "it begins anew again and again")
        var plan = CheckpointPolicy()
        plan.committed(pages: 2_000)
        #expect(plan.next() == .beside && plan.patience == 20)
        for pages in stride(from: 2_100, through: CheckpointPolicy.far, by: 100) {
            plan.committed(pages: pages)
            #expect(plan.next() == .none, "nobody knows yet that it is outrun")
        }
        plan.ended((pages: 2_000, copied: 2_000))
        #expect(plan.next() == .beside)
        plan.committed(pages: CheckpointPolicy.far + 1)
        #expect(plan.next() == .giveWay && plan.patience == 1_000)
    }

    @Test("A WAL that is copied and does not begin anew, for somebody always reads, is not copied with each commit")
    func inUse() throws {
        var plan = CheckpointPolicy()
        var (pages, copies) = (2_000, 0)
        plan.committed(pages: pages)
        #expect(plan.next() == .beside)
        plan.ended((pages: pages, copied: pages))
        for _ in 0..<1_000 {
            pages += 4
            plan.committed(pages: pages)
            switch plan.next() {
            case .none: continue
            case .beside, .between, .giveWay: copies += 1
            }
            plan.ended((pages: pages, copied: pages))
        }
        #expect((4_000 / CheckpointPolicy.rest...4_000 / CheckpointPolicy.rest * 3).contains(copies), "\(copies)")
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
