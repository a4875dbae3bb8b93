internal import CommandLineKit
internal import EventStore
internal import SillokAPI
internal import SyncEngine

enum JoinCommand {
    static let entry = Subcommand(
        Command(
            "peers join", "Joins the node that printed an invitation", group: "Nodes",
            arguments: [.init("line", "What 'syncctl peers invite' printed there, or '-' to read it from stdin.")],
            options: [.value("name", "NAME", "What to call the node here (default: what it calls itself).")],
            examples: [.init("syncctl peers join sillok://…", "both nodes know each other from then on")],
            discussion: """
                Connects, makes sure that the node is the one named in the line, and shows that it knows the secret without \
                sending it. Without a daemon the next start of syncd does so. Other users of this machine can see the arguments of a \
                process; what is read from stdin they cannot.
                """), run: run)

    private static func run(_ session: Session) throws(CommandFailure) -> ExitCode {
        var line = session.arguments.positional("line") ?? ""
        // The line has a secret, and every user of the machine can read the arguments of a process.
        if line == "-" { line = readLine() ?? "" }
        guard let invitation = Invitation(line) else {
            throw CommandFailure(
                code: "E_INVITATION", "this is no invitation, or a part of one",
                hint: "the whole line that syncctl peers invite printed", exitCode: .badInput)
        }
        let name = session.arguments.value("name") ?? invitation.name
        try PeersCommand.check(name: name)
        let files: StoreFiles
        switch try NodeOrFiles(session) {
        case .files(let found): files = found
        case .daemon(let daemon):
            var request = JSONLine()
            request.add("line", invitation.text)
            request.add("name", name)
            try daemon.post(Route.join.path, request, timeout: 90_000)
            return try PeersCommand.confirm("joined", .peerJoined, name, session)
        }
        try check(invitation, name, files, session)
        try PeersCommand.edit(files) { peers in
            peers.removeAll { $0.node == invitation.node }
            peers.append(
                Peer(
                    name: name, node: invitation.node, address: invitation.addresses.first, token: invitation.token))
        }
        session.remark(.joinsLater)
        return try PeersCommand.confirm("added", .peerAdded, name, session)
    }

    private static func check(
        _ invitation: Invitation, _ name: String, _ files: StoreFiles, _ session: Session
    ) throws(CommandFailure) {
        let (identity, peers) = try stored { (try StoreIdentity(LogReader(files)), try PeersFile.load(files)) }
        func refuse(_ code: String, _ what: String) -> CommandFailure {
            CommandFailure(code: code, what, exitCode: .configuration)
        }
        if invitation.node == identity.node { throw refuse("E_SELF", "this is an invitation of this node itself") }
        guard Array(invitation.cluster.utf8) == Array(identity.cluster.utf8) else {
            throw refuse(
                "E_CLUSTER",
                "the invitation is of cluster '\(invitation.cluster)', this node of '\(identity.cluster)'")
        }
        guard invitation.until > session.now / 1_000 else {
            throw refuse("E_EXPIRED", "the invitation has expired at \(Timestamp.text(invitation.until * 1_000))")
        }
        if peers.contains(where: { $0.name == name && $0.node != invitation.node }) {
            throw refuse("E_NAME", "another peer is called \(name); --name gives this one another name")
        }
    }
}
