internal import CommandLineKit
internal import EventStore
internal import SillokAPI
internal import SyncEngine

/// `POST /v1/wait`: answers when the events of a vector are durable on so many nodes. A long poll: the client asks again.
extension Service {
    func wait(_ exchange: HTTPExchange) {
        let request = exchange.request
        // Each entry has one slash; counted before anything is read.
        let entries = request.body.reduce(0) { $1 == UInt8(ascii: "/") ? $0 + 1 : $0 }
        guard entries <= DurabilityWaiters.mostOrigins else {
            return exchange.refuse(
                .limit,
                "the vector has \(entries) origins; a wait is for up to \(DurabilityWaiters.mostOrigins)",
                hint: "only the origins that matter, or several waits")
        }
        guard let vector = VersionVector(utf8: request.body) else {
            return exchange.refuse(.parameter, "the body is <origin>/<seq> of each origin, blanks between")
        }
        let nodes = request.number("nodes") ?? 1
        let milliseconds = request.number("timeout_ms") ?? 0
        // What says nothing is durable everywhere; but it comes from a failed command.
        guard !vector.entries.isEmpty else { return exchange.refuse(.parameter, "the body has no vector") }
        let timeout = Duration.milliseconds(milliseconds)
        let known = [store.identity.name] + roster.peers.map(\.name)
        let isTaken = node.wait(for: vector, nodes: nodes, timeout: timeout) { durability in
            // Two may have one name.
            var missing = known
            for name in durability.nodes {
                if let index = missing.firstIndex(of: name) { missing.remove(at: index) }
            }
            var line = JSONLine(type: "durability")
            line.add("reached", durability.isReached)
            line.add("wanted", nodes)
            line.add("nodes", durability.nodes)
            line.add("missing", missing)
            exchange.send(line)
        }
        if !isTaken { exchange.refuse(.busy, "too many are waiting") }
    }
}
