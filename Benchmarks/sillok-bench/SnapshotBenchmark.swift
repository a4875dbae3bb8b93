internal import EventStore
internal import Glibc
internal import SyncEngine

enum SnapshotBenchmark {
    static func run(_ folder: String, _ drafts: [EventDraft]) throws {
        let measured = drafts.count
        let full = try makeStore(folder + "/a", name: "a")
        try full.fill(drafts[..<measured], batch: 4_000)
        try full.flushBlocking()
        let empty = try makeStore(folder + "/b", name: "b")
        for threads in [1, 2, 3, 4] {
            let cpu = cpuTime()
            let start = MonotonicClock.now
            let reader = try SnapshotReader(full.files)
            let plan = try reader.plan(ownHead: full.head())
            var pieces: [SnapshotRows] = []
            var after = UInt64(0)
            while after < plan.through {
                let rows = try reader.rows(after: after, through: plan.through, bytes: 900 << 10)
                pieces.append(rows)
                after = rows.last
            }
            let coverage = try reader.coverage(of: plan, ownHead: full.head())
            let mid = MonotonicClock.now
            print(
                "read \(measured) in \(pieces.count) pieces: \((mid - start) / 1_000_000) ms cpu \((cpuTime() - cpu) / 1_000_000)"
            )
            let cpu2 = cpuTime()
            let builder = try SnapshotBuilder(empty.files, own: empty.identity.origin, threads: threads)
            let count = Monitor(0)
            for rows in pieces {
                builder.add({ () throws(SnapshotError) in rows }) { result in
                    if case .failure(let error) = result { print(error) }
                    count.update {
                        $0 += 1; return true
                    }
                }
            }
            let n = pieces.count
            _ = count.wait { $0 == n ? true : nil }
            let end = MonotonicClock.now
            print("threads \(threads) pieces \((end - mid) / 1_000_000) ms cpu \((cpuTime() - cpu2) / 1_000_000)")
            try builder.finishBlocking(coverage, expecting: plan.progress)
            let end2 = MonotonicClock.now
            print("finish \((end2 - end) / 1_000_000) ms cpu total \((cpuTime() - cpu2) / 1_000_000)")
        }
    }
}
