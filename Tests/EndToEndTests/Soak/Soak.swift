import Foundation
import Testing

/// A ring of daemons with a spoiled network, writers at each, and a plan of faults.
final class Soak {
    let plan: SoakPlan
    let nodes: [SoakNode]
    /// Link i is the one over which node i calls the next.
    let links: [FaultyLink]
    private let writers: [SoakWriter]
    /// What has to be undone, and when.
    private var repairs: [(at: Date, repair: () throws -> Void)] = []
    private var done: [String: Int] = [:]

    init(plan: SoakPlan) throws {
        self.plan = plan
        nodes = try (0..<plan.nodes).map { try SoakNode("n\($0)") }
        let ring = nodes
        links = try ring.indices.map { try FaultyLink(to: ring[($0 + 1) % ring.count].port) }
        writers = ring.enumerated().map { SoakWriter($0.offset, to: $0.element) }
        for node in nodes {
            try node.start()
            try #require(node.waitUntilReady(), "\(node.name) did not start")
        }
        let names = try nodes.map { try #require($0.status()?["node"] as? String) }
        for (index, node) in nodes.enumerated() {
            let next = (index + 1) % nodes.count
            let previous = (index + nodes.count - 1) % nodes.count
            let added = [
                try node.syncctl("peers", "add", nodes[next].name, "\(names[next])@127.0.0.1:\(links[index].port)"),
                try node.syncctl("peers", "add", nodes[previous].name, names[previous]),
            ]
            try #require(added.allSatisfy { $0.code == 0 }, "\(added)")
        }
    }

    // MARK: Faults

    /// Carries out the plan while the writers write; everything is whole again at the end.
    func run() throws {
        for writer in writers { writer.start() }
        let start = Date()
        for step in plan.steps {
            let due = start.addingTimeInterval(Double(step.at) / 1_000)
            try repair(until: due)
            try perform(step.action)
        }
        try repair(until: nil)
        for node in nodes where !node.isRunning { try node.start() }
        for node in nodes { #expect(node.waitUntilReady(), "\(node.name) is not ready after the faults") }
        for writer in writers { writer.stop() }
    }

    private func perform(_ action: SoakPlan.Action) throws {
        switch action {
        case .crash(let index, let down):
            let node = nodes[index]
            count("kill -9")
            node.crash()
            later(down) { if !node.isRunning { try node.start() } }
        case .restart(let index):
            let node = nodes[index]
            guard node.isRunning, !node.isStopped else { return }
            count("restart")
            #expect(node.end() == 0, "\(node.name) did not end in order")
            try node.start()
        case .freeze(let index, let milliseconds):
            let node = nodes[index]
            count("SIGSTOP")
            node.freeze()
            later(milliseconds) { node.thaw() }
        case .spoil(let index, let weather, let milliseconds):
            let link = links[index]
            count(weather.rawValue)
            link.fault = weather.fault
            later(milliseconds) { link.fault = .none }
        }
    }

    private func count(_ what: String) { done[what, default: 0] += 1 }

    private func later(_ milliseconds: Int, _ repair: @escaping () throws -> Void) {
        repairs.append((Date().addingTimeInterval(Double(milliseconds) / 1_000), repair))
    }

    /// Undoes what is due until `end`, or everything.
    private func repair(until end: Date?) throws {
        while true {
            let now = Date()
            for node in nodes { node.measure() }
            for item in repairs where item.at <= now { try item.repair() }
            repairs.removeAll { $0.at <= now }
            if let end, now >= end { return }
            if end == nil, repairs.isEmpty { return }
            usleep(20_000)
        }
    }

    // MARK: What must hold

    /// Waits until all nodes have as many events and their views have applied them. Returns how many seconds that took.
    func converge(within seconds: Double) throws -> Double {
        let start = Date()
        while Date().timeIntervalSince(start) < seconds {
            let found = nodes.map { node in
                let status = node.status()
                return ["position", "views", "indexed"].map { status?[$0] as? Int }
            }
            if let position = found[0][0], found.allSatisfy({ $0.allSatisfy { $0 == position } }) {
                return Date().timeIntervalSince(start)
            }
            usleep(50_000)
        }
        Issue.record("not equal \(Int(seconds)) s after the last fault, seed \(plan.seed):\n\(try report())")
        return seconds
    }

    /// Vectors, roots and view digests are the same everywhere (INV-6).
    func checkDigests() throws {
        let digests = try nodes.map { try $0.syncctl("digest", "--search").output }
        #expect(
            digests.allSatisfy { $0 == digests[0] && !$0.isEmpty },
            "seed \(plan.seed):\n\(digests.joined(separator: "\n"))")
    }

    private func report() throws -> String {
        try nodes.map { node in
            let peers = (node.status()?["peers"] as? [[String: Any]] ?? []).map { peer in
                ["name", "state", "lacks", "owes", "error"].map { "\($0)=\(peer[$0] ?? "-")" }.joined(separator: " ")
            }
            let end =
                (try? String(contentsOfFile: node.log, encoding: .utf8))?.split(separator: "\n").suffix(15) ?? []
            return "\(node.name)\n\(peers.joined(separator: "\n"))\n\(try node.syncctl("digest", "--search").output)"
                + end.joined(separator: "\n")
        }.joined(separator: "\n")
    }

    /// Every acknowledged append is on every node exactly once, and nothing is there twice (INV-1, INV-8).
    func checkAppends() throws {
        for writer in writers { #expect(writer.surprise == nil, "seed \(plan.seed): \(writer.surprise ?? "")") }
        for (index, node) in nodes.enumerated() {
            var stored: [String: String] = [:]
            try node.export { id, position in
                if stored.updateValue(position, forKey: id) != nil {
                    Issue.record("seed \(plan.seed): \(id) twice on \(node.name)")
                }
            }
            for (other, writer) in writers.enumerated() {
                let lost = writer.acknowledged.filter { id, position in
                    other == index ? stored[id] != position : stored[id] == nil
                }
                #expect(
                    lost.isEmpty, "seed \(plan.seed): \(lost.count) lost on \(node.name), \(lost.first?.key ?? "")")
            }
            let sent = writers.reduce(0) { $0 + $1.sent }
            #expect(stored.count <= sent + nodes.count && stored.count >= nodes.count)
        }
    }

    /// Honest nodes never find a fault in what another sends: whatever breaks, it is the connection.
    func checkLogs() throws {
        let faults = [
            "BAD_", "CAUSAL_GAP", "FORK", "AMNESIA", "STORE_", "EVENT_TOO_LARGE", "FRAME_TOO_LARGE", "RATE_LIMITED",
            "VECTOR_MISMATCH", "DUPLICATE_NODE_ID", "Fatal error",
        ]
        for node in nodes {
            let log = try String(contentsOfFile: node.log, encoding: .utf8).split(separator: "\n")
            let found = log.filter { line in faults.contains { line.contains($0) } }
            #expect(found.isEmpty, "seed \(plan.seed), \(node.name): \(found.count) times \(found.first ?? "")")
        }
    }

    func checkProofs() throws {
        for node in nodes {
            let verify = try node.syncctl("verify")
            #expect(verify.code == 0, "seed \(plan.seed), \(node.name): \(verify.output)")
        }
    }

    /// All end in order, and none has taken more memory than `bytes` at any time (INV-9).
    func end(memory bytes: Int) {
        for node in nodes {
            node.measure()
            #expect(node.end() == 0, "\(node.name) did not end in order, seed \(plan.seed)")
            #expect(node.peak < bytes, "\(node.name) took \(node.peak >> 20) MiB, seed \(plan.seed)")
        }
        for link in links { link.close() }
    }

    /// What was done, in a line.
    func summary(_ convergence: Double) -> String {
        let faults = done.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
        let acknowledged = writers.reduce(0) { $0 + $1.acknowledged.count }
        let peak = nodes.map { $0.peak >> 20 }.max() ?? 0
        return "soak seed \(plan.seed): \(plan.nodes) nodes, \(faults); \(acknowledged) appends acknowledged; equal "
            + "\(String(format: "%.1f", convergence)) s after the last fault; at most \(peak) MiB"
    }
}
