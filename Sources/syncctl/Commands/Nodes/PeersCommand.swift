internal import CommandLineKit
internal import EventStore
internal import SillokAPI
internal import SillokClient
internal import SyncEngine

enum PeersCommand {
    static let list = Subcommand(
        Command(
            "peers list", "The nodes that are let in, and those that knock", group: "Nodes",
            examples: [.init("syncctl peers list", "with their state when the daemon runs")], discussion: columns),
        run: runList)

    private static let columns = """
        LACKS: events that are here and that the peer has not acknowledged as durable; OLDEST: how long ago the oldest of \
        them was recorded here. OWES: events that the peer says it has and that are not here.
        """

    /// The same, for those who type no more.
    static let all = Subcommand(
        Command(
            "peers", "The nodes that are let in, and those that knock", group: "Nodes",
            examples: [.init("syncctl peers", "the same as syncctl peers list")], discussion: columns), run: runList)

    static let add = Subcommand(
        Command(
            "peers add", "Lets a node in", group: "Nodes",
            arguments: [
                .init("name", "What to call it here."),
                .init("node", "NODEID@HOST:PORT, or NODEID alone when it calls us."),
            ],
            examples: [
                .init("syncctl peers add busan-1 5f3c…9a@203.0.113.7:7460", "a node that is called"),
                .init("syncctl peers add laptop 5f3c…9a", "a node that calls; its address does not matter"),
            ],
            discussion: """
                The node id is the 64 hexadecimal digits that 'syncctl status' shows there. Both nodes must add each \
                other. A known node gets the new name and address; without an address it keeps the one it has. A name that \
                another peer has is refused.
                """), run: runAdd)

    static let remove = Subcommand(
        Command(
            "peers remove", "Ends the exchange with a node that is gone for good", group: "Nodes",
            arguments: [.init("name", "What it is called.", names: "peers")],
            examples: [.init("syncctl peers remove laptop", "what it sent stays")]), run: runRemove)

    private static func runList(_ session: Session) throws(CommandFailure) -> ExitCode {
        var peers: [JSONObject] = []
        var pending: [JSONObject] = []
        switch try NodeOrFiles(session) {
        case .daemon(let daemon):
            let object = try daemon.get(Route.peers.path)
            guard let found = object.elements("peers") else {
                throw DaemonClient.misunderstood("no list of peers")
            }
            peers = found.compactMap(\.object)
            pending = (object.elements("pending") ?? []).compactMap(\.object)
        case .files(let files):
            peers = try stored { try PeersFile.load(files) }.map { JSONObject(validated: object($0).utf8) }
        }
        if session.isJSON {
            for (type, objects) in [("peer", peers), ("pending", pending)] {
                for object in objects {
                    var line = JSONLine(type: type)
                    for member in object { line.addRaw(member.name, member.value.raw) }
                    try session.output.line(line)
                }
            }
        } else {
            if peers.isEmpty {
                session.say(.noPeers)
            } else {
                try session.print(PeerTable.make(peers, session))
            }
            for caller in pending { try PeerTable.show(pending: caller, session) }
        }
        try session.end(count: peers.count + pending.count)
        return .success
    }

    private static func runAdd(_ session: Session) throws(CommandFailure) -> ExitCode {
        let peer = try entry(session)
        switch try NodeOrFiles(session) {
        case .daemon(let daemon): try daemon.post(Route.peers.path, object(peer))
        case .files(let files):
            let own = try stored { try StoreIdentity(LogReader(files)) }.node
            if peer.node == own { throw usageFailure("\(peer.node.short) is this node itself") }
            guard try edit(files, { $0.add(peer) }) else { throw taken(peer.name) }
        }
        return try confirm("added", .peerAdded, peer.name, session)
    }

    private static func runRemove(_ session: Session) throws(CommandFailure) -> ExitCode {
        let name = session.arguments.positional("name") ?? ""
        switch try NodeOrFiles(session) {
        case .daemon(let daemon): _ = try daemon.ask(ClientRequest(method: "DELETE", target: Route.peers.path(name)))
        case .files(let files):
            try edit(files, named: name) { peers, index in peers.remove(at: index) }
        }
        return try confirm("removed", .peerRemoved, name, session)
    }

    private static func taken(_ name: String) -> CommandFailure {
        CommandFailure(
            code: "E_NAME", "another peer is called \(name); give this one another name",
            hint: "another name, or 'syncctl peers remove \(name)' first", exitCode: .configuration)
    }

    private static func unknown(_ name: String) -> CommandFailure {
        CommandFailure(
            code: "E_NO_PEER", "there is no peer called \(name)", hint: "syncctl peers list", exitCode: .nothingFound)
    }

    /// Refuses what cannot be the name of a peer.
    static func check(name: String) throws(CommandFailure) {
        guard PlainName.isOne(name) else { throw usageFailure("'\(name)': a name has \(PlainName.rule)") }
    }

    static func check(address: String) throws(CommandFailure) {
        guard HostPort(address) != nil else {
            throw usageFailure("'\(address)' is no address", hint: "host:port, with brackets around IPv6")
        }
    }

    private static func entry(_ session: Session) throws(CommandFailure) -> Peer {
        let name = session.arguments.positional("name") ?? ""
        let text = session.arguments.positional("node") ?? ""
        let parts = text.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard let node = NodeID(text: parts[0]) else {
            throw usageFailure(
                "'\(parts[0])' is no node id", hint: "the 64 hexadecimal digits of syncctl status there")
        }
        try check(name: name)
        let address = parts.count > 1 ? parts[1] : nil
        if let address { try check(address: address) }
        return Peer(name: name, node: node, address: address)
    }

    /// Changes `peers.json` under the writer's lock, so that no daemon starts meanwhile.
    static func edit<Result>(
        _ files: StoreFiles, _ change: (inout [Peer]) -> Result
    ) throws(CommandFailure) -> Result {
        try stored {
            let lock = try StoreLock(files, owner: "syncctl peers")
            defer { withExtendedLifetime(lock) {} }
            var peers = try PeersFile.load(files)
            let result = change(&peers)
            try PeersFile.save(peers, files)
            return result
        }
    }

    /// Changes the peer of this name, which must be there.
    static func edit(
        _ files: StoreFiles, named name: String, _ change: (inout [Peer], Int) -> Void
    ) throws(CommandFailure) {
        let isThere = try edit(files) { peers in
            guard let index = peers.firstIndex(where: { $0.name == name }) else { return false }
            change(&peers, index)
            return true
        }
        guard isThere else { throw unknown(name) }
    }

    private static func object(_ peer: Peer) -> JSONLine {
        var line = JSONLine()
        line.add("name", peer.name)
        line.add("node", peer.node.description)
        if let address = peer.address { line.add("address", address) }
        if peer.isPaused { line.add("state", "paused") }
        return line
    }

    /// Says what was done: `type` to programs, `told` to people.
    static func confirm(
        _ type: String, _ told: Wording, _ name: String, _ session: Session
    ) throws(CommandFailure) -> ExitCode {
        try session.line(Sanitizer.line(session.shown(told, name)), type) { $0.add("name", name) }
        try session.end(count: 1)
        return .success
    }
}
