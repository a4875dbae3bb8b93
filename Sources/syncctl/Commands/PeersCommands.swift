internal import CommandLineKit
internal import EventStore
internal import SyncEngine

enum PeersListCommand: Subcommand {
    static let command = Command(
        "peers list", "The nodes that are let in, and how it stands with them.", group: "NODES",
        examples: [.init("syncctl peers list", "with a running daemon: connection, lag, last error")])

    static func run(_ context: Context) throws(CommandFailure) -> ExitCode {
        let files = try context.storeFiles()
        if let client = try context.daemon(files) {
            let response = try client.request("GET", "/v1/peers")
            guard response.status == 200 else { throw response.failure }
            let peers = (response.object.elements("peers") ?? []).compactMap(\.object)
            if context.form == .json {
                try context.output.write(response.body)
            } else if !peers.isEmpty {
                try context.show(PeerTable.table(peers))
            }
            try context.end(peers.count)
            return peers.isEmpty ? .nothingFound : .success
        }
        let peers = try stored { () throws(StoreError) in try PeersFile.load(files) }
        var table = TextTable([.left("PEER"), .left("ADDRESS"), .left("NODE")])
        for peer in peers {
            if context.form == .json {
                var line = JSONLine(type: "peer")
                line.add("name", peer.name)
                line.add("node", peer.node.description)
                line.add("address", peer.address)
                try context.output.line(line)
            } else {
                table.add([.init(peer.name), .init(peer.address ?? "-"), .init(peer.node.description)])
            }
        }
        if context.form != .json, !peers.isEmpty { try context.show(table) }
        try context.end(peers.count)
        return peers.isEmpty ? .nothingFound : .success
    }
}

enum PeersAddCommand: Subcommand {
    static let command = Command(
        "peers add", "Lets a node in, and calls it if it has an address.", group: "NODES",
        arguments: [
            .init("name", "What to call it here."),
            .init(
                "peer",
                "NODEID@HOST:PORT, or NODEID alone if it calls us. NODEID is what 'syncctl status' shows there."),
        ],
        examples: [.init("syncctl peers add busan-1 4f0c…@203.0.113.7:7460", "both sides must add each other")])

    static func run(_ context: Context) throws(CommandFailure) -> ExitCode {
        let name = context.arguments.positional("name") ?? ""
        let parts = (context.arguments.positional("peer") ?? "").split(separator: "@", maxSplits: 1)
        guard let first = parts.first, let node = NodeID(text: first) else {
            throw CommandFailure(
                code: "E_NODE_ID", "'\(parts.first ?? "")' is not a node id of 64 hexadecimal digits",
                exitCode: .usage)
        }
        let address = parts.count > 1 ? String(parts[1]) : nil
        if let address, HostPort(address) == nil {
            throw CommandFailure(code: "E_ADDRESS", "'\(address)' is not host:port", exitCode: .usage)
        }
        let entry = PeerEntry(name: name, node: node, address: address)
        let files = try context.storeFiles()
        if let client = try context.daemon(files) {
            var line = JSONLine()
            line.add("name", name)
            line.add("node", node.description)
            if let address { line.add("address", address) }
            let response = try client.request("POST", "/v1/peers", body: line.utf8)
            guard response.status == 201 else { throw response.failure }
        } else {
            try stored { () throws(StoreError) in
                var peers = try PeersFile.load(files).filter { $0.node != node && $0.name != name }
                peers.append(entry)
                try PeersFile.save(peers, files)
            }
        }
        return try PeersRemoveCommand.report("added", name, context)
    }
}

enum PeersRemoveCommand: Subcommand {
    static let command = Command(
        "peers remove", "No longer lets a node in; its connection is closed.", group: "NODES",
        arguments: [.init("name", "The peer.")],
        examples: [.init("syncctl peers remove busan-1", "what it sent stays")])

    static func run(_ context: Context) throws(CommandFailure) -> ExitCode {
        let name = context.arguments.positional("name") ?? ""
        let files = try context.storeFiles()
        if let client = try context.daemon(files) {
            let response = try client.request("DELETE", "/v1/peers/\(urlEncoded(name))")
            if response.status == 404 { return try missing(name, context) }
            guard response.status == 200 else { throw response.failure }
        } else {
            let wasThere = try stored { () throws(StoreError) in
                let peers = try PeersFile.load(files)
                let rest = peers.filter { $0.name != name }
                if rest.count < peers.count { try PeersFile.save(rest, files) }
                return rest.count < peers.count
            }
            if !wasThere { return try missing(name, context) }
        }
        return try report("removed", name, context)
    }

    private static func missing(_ name: String, _ context: Context) throws(CommandFailure) -> ExitCode {
        context.remark("there is no peer called \(name)")
        try context.end(0)
        return .nothingFound
    }

    static func report(_ what: String, _ name: String, _ context: Context) throws(CommandFailure) -> ExitCode {
        if context.form == .json {
            var line = JSONLine(type: what)
            line.add("name", name)
            try context.output.line(line)
            try context.end(1)
        } else {
            try context.output.line(Sanitizer.line("\(what) \(name)"))
        }
        return .success
    }
}
