internal import CommandLineKit
internal import EventStore
internal import Glibc

enum InitCommand: Subcommand {
    static let command = Command(
        "init", "Makes an empty store: key, origin, databases.", group: "WRITE",
        options: [
            .value("name", "NAME", "What people call the node. Default: the host name."),
            .value("cluster", "NAME", "Only nodes of the same cluster exchange events. Default: default."),
        ],
        examples: [.init("syncctl init --store ./records --name seoul-1", "a store in ./records")])

    static func run(_ context: Context) throws(CommandFailure) -> ExitCode {
        let files = try context.storeFiles(mustExist: false)
        var buffer = [CChar](repeating: 0, count: 256)
        gethostname(&buffer, buffer.count - 1)
        let host = String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let name = context.arguments.value("name") ?? host.split(separator: ".").first.map(String.init) ?? "node"
        let cluster = context.arguments.value("cluster") ?? "default"
        let identity = try stored { () throws(StoreError) in
            try EventStore.create(in: files.folder, name: name, cluster: cluster)
            return try StoreIdentity(try LogReader(files))
        }
        if context.form == .json {
            var line = JSONLine(type: "created")
            line.add("store", files.folder)
            line.add("name", identity.name)
            line.add("node", identity.node.description)
            line.add("cluster", identity.cluster)
            line.add("origin", identity.origin.description)
            try context.output.line(line)
            try context.end(1)
        } else {
            try context.output.line("made a store in \(files.folder)")
            try context.output.line("node \(identity.name) \(identity.node)")
        }
        return .success
    }
}
