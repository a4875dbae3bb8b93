internal import CommandLineKit
internal import EventStore
internal import Glibc

/// What the daemon was told, from flags, environment and file.
struct Settings {
    let configuration: DaemonConfiguration
    let loaded: LoadedConfiguration
    /// The file's name, for messages.
    let source: String
    let isDevelopment: Bool
    /// What was said and has no effect.
    private(set) var remarks: [String] = []

    private static let usualFile = "/etc/syncd/syncd.json5"

    init(_ arguments: ParsedArguments) throws(CommandFailure) {
        isDevelopment = arguments.flag("dev")
        let named = arguments.value("config")
        source = named ?? Self.usualFile
        var text: String?
        if named != nil || !isDevelopment {
            do throws(StoreError) {
                let bytes = try SmallFile.read(source, .stream)
                text = bytes.map { String(decoding: $0, as: UTF8.self) }
            } catch {
                throw CommandFailure(code: "E_CONFIG", error.description, exitCode: .configuration)
            }
            if text == nil, named != nil || arguments.flag("check-config") {
                throw CommandFailure(
                    code: "E_CONFIG", "there is no configuration at \(source)",
                    hint: "Start from Examples/syncd.json5, or try: syncd --dev", exitCode: .configuration)
            }
        }
        let flags = ["data-dir", "node-name", "cluster", "socket", "peer-listen", "log-level"].compactMap { name in
            arguments.value(name).map { (name: "--\(name)", value: Self.isPath(name, $0) ? Self.absolute($0) : $0) }
        }
        loaded = ConfigurationSources(
            path: source, text: text, environment: Terminal.processEnvironment(), flags: flags
        ).load()
        guard loaded.problems.isEmpty else {
            throw CommandFailure(
                code: "E_CONFIG", loaded.problems.map(\.description).joined(separator: "\n       "),
                hint: "syncd --print-config shows every key.", exitCode: .configuration)
        }
        var configuration = loaded.configuration
        if isDevelopment {
            if arguments.value("data-dir") == nil {
                configuration.storage.dir = Self.absolute(arguments.positional("dir") ?? "syncd-dev")
            }
            if arguments.value("socket") == nil {
                configuration.api.socket.path = configuration.storage.dir + "/api.sock"
            }
            (configuration.api.socket.mode, configuration.api.socket.group) = (0o600, nil)
            configuration.storage.minFree = 64 << 20
            if loaded.origin(of: "storage.witness") == .builtIn { configuration.storage.witness = .none }
            for path in Self.decidedByDevelopment {
                guard case .environment(let name) = loaded.origin(of: path) else { continue }
                remarks.append("\(name) has no effect: --dev decides \(path)")
            }
        }
        self.configuration = configuration
    }

    /// What a start would miss on this machine as it is now.
    var surroundings: [String] {
        var found: [String] = []
        if case .folder(let folder) = configuration.storage.witness, access(folder, F_OK) != 0 {
            found.append(
                "storage.witness: there is no folder \(folder); syncd makes none there, and keeps no witness")
        }
        guard let path = configuration.api.socket.path else { return found }
        let folder = path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
        if access(folder.isEmpty ? "/" : folder, F_OK) != 0 {
            found.append(
                "api.socket.path: there is no folder \(folder); systemd makes /run/syncd with RuntimeDirectory")
        }
        if let group = configuration.api.socket.group, getgrnam(group) == nil {
            found.append("api.socket.group: there is no group \(group); the socket stays the daemon's own")
        }
        return found
    }

    /// What `--dev` says itself, whatever the environment has.
    private static let decidedByDevelopment = [
        "storage.dir", "storage.min_free", "api.socket.path", "api.socket.mode", "api.socket.group",
    ]

    /// Why the store of `reader` is not the one that the configuration speaks of. Its name and cluster were decided when it
    /// was made; a configuration that says otherwise belongs to another store.
    func mismatch(with reader: LogReader) throws(StoreError) -> CommandFailure? {
        let said = [
            ("node.cluster", "cluster", configuration.node.cluster), ("node.name", "name", configuration.node.name),
        ]
        for (path, key, value) in said {
            guard let value, loaded.origin(of: path) != .builtIn, let stored = try reader.meta(key), stored != value
            else { continue }
            return CommandFailure(
                code: "E_OTHER_STORE",
                "\(path) is '\(value)' (\(loaded.origin(of: path))), the store in \(configuration.storage.dir) "
                    + "belongs to '\(stored)'",
                hint:
                    "\(path) '\(stored)', or none, for this store; another storage.dir (--data-dir) for another one",
                exitCode: .configuration)
        }
        return nil
    }

    private static func isPath(_ flag: String, _ value: String) -> Bool {
        flag == "data-dir" || (flag == "socket" && value != "none")
    }

    /// A path on the command line is meant from here.
    private static func absolute(_ path: String) -> String {
        guard !path.isEmpty, !path.hasPrefix("/"), let folder = getcwd(nil, 0) else { return path }
        defer { free(folder) }
        return String(cString: folder) + "/" + path
    }

    /// The short host name, when no other was given.
    var nodeName: String {
        if let name = configuration.node.name { return name }
        var buffer = [CChar](repeating: 0, count: 256)
        guard gethostname(&buffer, buffer.count - 1) == 0 else { return "node" }
        let host = String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return host.split(separator: ".").first.map(String.init) ?? "node"
    }
}
