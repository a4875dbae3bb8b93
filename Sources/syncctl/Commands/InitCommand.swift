internal import CommandLineKit
internal import EventStore
internal import Glibc

enum InitCommand {
    static let entry = Subcommand(
        Command(
            "init", "Makes an empty store", group: "Administration",
            options: [
                .value("name", "NAME", "What people call this node (default: the short host name)."),
                .value("cluster", "NAME", "Only nodes of one cluster exchange events (default: default)."),
            ],
            examples: [
                .init("syncctl init --store ./audit --name audit-1", "an empty store in ./audit"),
                .init("syncctl init", "one in ./syncd-dev, named after this host"),
            ],
            discussion: """
                A store holds a log, and the key and origin of its node. syncd makes one by itself on its first start; \
                this is for stores without a daemon.
                """), run: run)

    private static func run(_ session: Session) throws(CommandFailure) -> ExitCode {
        let files = try StoreLocation.place(for: session).files
        let name = session.arguments.value("name") ?? hostName()
        let cluster = session.arguments.value("cluster") ?? "default"
        for (option, value) in [("--name", name), ("--cluster", cluster)] {
            guard PlainName.isOne(value) else { throw usageFailure("\(option) '\(value)': \(PlainName.rule)") }
        }
        let identity = try stored {
            try EventStore.create(in: files.folder, name: name, cluster: cluster)
            return try StoreIdentity(LogReader(files))
        }
        if session.isJSON {
            var line = JSONLine(type: "store")
            line.add("store", files.folder)
            line.add("name", identity.name)
            line.add("cluster", identity.cluster)
            line.add("node", identity.node.description)
            line.add("origin", identity.origin.description)
            try session.output.line(line)
        } else {
            try session.output.line(Sanitizer.line(session.shown(.storeMade, files.folder)))
            for (label, value) in [
                (Wording.rowNode, "\(identity.name) \(identity.node)"), (.rowOrigin, "\(identity.origin)"),
            ] {
                try session.output.line("  " + DisplayWidth.pad(session.shown(label), to: 8) + Sanitizer.line(value))
            }
        }
        try session.end(count: 1)
        return .success
    }

    private static func hostName() -> String {
        var buffer = [CChar](repeating: 0, count: 256)
        guard gethostname(&buffer, buffer.count - 1) == 0 else { return "node" }
        let host = String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return host.split(separator: ".").first.map(String.init) ?? "node"
    }
}
