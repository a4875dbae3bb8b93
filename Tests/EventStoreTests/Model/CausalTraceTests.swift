import Foundation
import TestSupport
import Testing

@testable import EventStore

private let traces = URL(filePath: #filePath)
    .appending(path: "../../../../../shared/data/conformance/causal_traces/VectorClocksTests.ndjson").standardized
private let areTracesThere = FileManager.default.fileExists(atPath: traces.path)

/// 2,324 events of eight processes that really ran, with the vector clock of each, in no order: the causal traces that
/// TLA+'s CommunityModules test their definition of causal order with.
@Suite(.enabled(if: areTracesThere, "shared/data/conformance/causal_traces is not there"))
struct CausalTraceTests {
    /// One event of the trace: process `node`, whose clock then stood at `clock`. Its own entry counts its events from 1.
    struct Moment {
        let node: Int
        let clock: [Int]
        var number: Int { clock[node] }

        /// The definition of the traces' own specification, on its own data.
        func happened(before other: Moment) -> Bool {
            zip(clock, other.clock).allSatisfy { $0 <= $1 } && clock != other.clock
        }
    }

    static let processes = 8

    private func load() throws -> [Moment] {
        try String(contentsOf: traces, encoding: .utf8).split(separator: "\n").map { line in
            let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            let clock = try #require((object["pkt"] as? [String: Any])?["vc"] as? [String: Int])
            return Moment(
                node: try #require(object["node"] as? Int),
                clock: (0..<Self.processes).map { clock[String($0)] ?? 0 })
        }
    }

    private static func vector(_ clock: [Int]) -> VersionVector {
        VersionVector(clock.enumerated().map { Dot(origin: origin(UInt64($0.offset)), seq: UInt64($0.element)) })
    }

    @Test("Vectors compare as the clocks of the trace do, and merge into their least upper bound")
    func comparisons() throws {
        let moments = try load()
        #expect(moments.count == 2_324)
        var counts: [CausalOrder: Int] = [:]
        let some = stride(from: 0, to: moments.count, by: 4).map { moments[$0] }
        let vectors = some.map { Self.vector($0.clock) }
        for a in some.indices {
            for b in some.indices where a < b {
                let expected: CausalOrder =
                    if some[a].happened(before: some[b]) {
                        .before
                    } else if some[b].happened(before: some[a]) {
                        .after
                    } else {
                        .concurrent
                    }
                let found = vectors[a].order(vectors[b])
                if found != expected { Issue.record("\(some[a]) \(some[b]): \(found), not \(expected)") }
                counts[found, default: 0] += 1
            }
        }
        #expect(counts[.equal] == nil && (counts[.concurrent] ?? 0) > 1_000 && (counts[.before] ?? 0) > 10_000)
        for index in 1..<vectors.count {
            let merged = vectors[index - 1].merged(with: vectors[index])
            let clock = zip(some[index - 1].clock, some[index].clock).map { max($0, $1) }
            #expect(merged == Self.vector(clock))
        }
    }

    /// The trace as eight origins: event n of a process is seq n + 1, after the start. Dependencies are differences.
    private struct Replay {
        var origins: [ForeignOrigin] = []
        var heads: [[SignedHead]] = []

        init(_ moments: [Moment]) {
            let sha = SHA256()
            for node in 0..<CausalTraceTests.processes {
                origins.append(ForeignOrigin(UInt64(node), name: "p\(node)"))
                heads.append([origins[node].head(using: sha)])
            }
            for node in 0..<CausalTraceTests.processes {
                var before = [Int](repeating: 0, count: CausalTraceTests.processes)
                for moment in moments.filter({ $0.node == node }).sorted(by: { $0.number < $1.number }) {
                    let needs = moment.clock.indices.filter { $0 != node && moment.clock[$0] > before[$0] }
                        .map { Dot(origin: origins[$0].id, seq: UInt64(moment.clock[$0] + 1)) }
                    origins[node].add(.message("\(moment.number)", user: "p\(node)"), needs: needs.sorted())
                    heads[node].append(origins[node].head(using: sha))
                    before = moment.clock
                }
            }
        }

        /// Event `number` of a process alone, with the head of the log that ends with it.
        func batch(_ node: Int, _ number: Int) -> ([EncodedEvent], [Coverage]) {
            ([origins[node].received[number]], [Coverage(head: heads[node][number], proof: [])])
        }
    }

    @Test("Delivered in the order of the file, each event waits for its causes and no longer (INV-5)")
    func delivery() throws {
        let moments = try load()
        let replay = Replay(moments)
        let folder = TemporaryFolder()
        try EventStore.create(in: folder.path, name: "reader")
        let store = try EventStore(opening: folder.path, durability: .normal)
        let verifier = try store.makeVerifierBlocking()
        func deliver(_ node: Int, _ number: Int) throws {
            let (events, coverage) = replay.batch(node, number)
            let verified = try verifier.verify(events, coverage)
            try blocking { store.ingest(verified, completion: $0) }
        }
        for node in 0..<Self.processes { try deliver(node, 0) }

        let byOrigin = Dictionary(
            uniqueKeysWithValues: replay.origins.enumerated().map { ($0.element.id, $0.offset) })
        var applied = [Int](repeating: 0, count: Self.processes)
        var waiting: [Dot: [Moment]] = [:]
        var refused = 0
        var arrivals = moments[...]
        while let moment = arrivals.popFirst() {
            let isDue =
                moment.number == applied[moment.node] + 1
                && moment.clock.indices.allSatisfy { $0 == moment.node || moment.clock[$0] <= applied[$0] }
            do {
                try deliver(moment.node, moment.number)
            } catch let error as IngestError {
                #expect(!isDue, "\(moment): \(error)")
                refused += 1
                switch error {
                case .gap(let dot, _): waiting[Dot(origin: dot.origin, seq: dot.seq - 1), default: []].append(moment)
                case .causalGap(_, let needs): waiting[needs, default: []].append(moment)
                default: throw error
                }
                continue
            }
            #expect(isDue, "\(moment) was let in too early")
            applied[moment.node] += 1
            let dot = Dot(origin: replay.origins[moment.node].id, seq: UInt64(moment.number + 1))
            arrivals = (waiting.removeValue(forKey: dot) ?? []) + arrivals
        }
        #expect(waiting.isEmpty && refused > 1_000)
        store.close()

        // In the order of the log every event finds its causes before it, and its clock is the sum of the differences.
        var clocks = [[Int]](
            repeating: [Int](repeating: 0, count: Self.processes), count: Self.processes)
        let expected = Dictionary(uniqueKeysWithValues: moments.map { ([$0.node, $0.number], $0.clock) })
        applied = [Int](repeating: 0, count: Self.processes)
        var checked = 0
        try LogReader(store.files).scan(after: 1, limit: 10_000) { stored in
            let header = stored.event.header
            guard let node = byOrigin[header.dot.origin], header.dot.seq > 1 else { return true }
            clocks[node][node] += 1
            for needs in header.dependencies {
                if let other = byOrigin[needs.origin] { clocks[node][other] = Int(needs.seq) - 1 }
            }
            #expect(clocks[node] == expected[[node, Int(header.dot.seq) - 1]])
            applied[node] += 1
            #expect(zip(clocks[node], applied).allSatisfy { $0 <= $1 })
            checked += 1
            return true
        }
        #expect(checked == moments.count)
        #expect(try Verifier(store.files).run().findings.isEmpty)
    }

    @Test("Eight stores that live through the trace write down its very clocks (D4)")
    func stores() throws {
        // Sums of clocks ascend along causality, so this is a causal order.
        let moments = try load().sorted { $0.clock.reduce(0, +) < $1.clock.reduce(0, +) }
        let folders = (0..<Self.processes).map { _ in TemporaryFolder() }
        for (node, folder) in folders.enumerated() { try EventStore.create(in: folder.path, name: "p\(node)") }
        let stores = try folders.map { try EventStore(opening: $0.path, durability: .normal) }
        let own = stores.map(\.identity.origin)
        // Every node has heard of every other before the trace begins, and has said so: event n of the trace is seq n + 2.
        let starts = try stores.map { try event(1, of: $0) }
        for (node, store) in stores.enumerated() {
            try store.ingestUnverified(starts.enumerated().filter { $0.offset != node }.map(\.element))
            _ = try store.appendBlocking([.message("ready", user: "p\(node)")])
        }
        let ready = try stores.map { try event(2, of: $0) }

        var written: [(node: Int, number: Int, event: Event)] = []
        var applied = [[Int]](repeating: [Int](repeating: 0, count: Self.processes), count: Self.processes)
        var clocks = applied
        for moment in moments {
            let node = moment.node
            var new: [Event] = []
            for entry in written where entry.node != node && entry.number <= moment.clock[entry.node] {
                guard entry.number > applied[node][entry.node] else { continue }
                if entry.number == 1 { new.append(ready[entry.node]) }
                new.append(entry.event)
            }
            if !new.isEmpty { try stores[node].ingestUnverified(new) }
            applied[node] = moment.clock
            _ = try stores[node].appendBlocking([.message("\(moment.number)", user: "p\(node)")])
            let event = try event(UInt64(moment.number + 2), of: stores[node])
            written.append((node, moment.number, event))
            for needs in event.header.dependencies {
                clocks[node][try #require(own.firstIndex(of: needs.origin))] = Int(needs.seq) - 2
            }
            clocks[node][node] = moment.number
            #expect(clocks[node] == moment.clock)
        }
        for store in stores { store.close() }
    }

    /// The event at `seq` of a store's own origin.
    private func event(_ seq: UInt64, of store: EventStore) throws -> Event {
        try #require(try LogReader(store.files).event(Dot(origin: store.identity.origin, seq: seq))).event
    }
}
