internal import CommandLineKit
internal import EventStore
internal import Glibc
internal import SyncEngine

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

    /// What is wrong, by the keys that say it.
    typealias Refused = [(path: String, message: String)]

    /// - Parameter look: What a start would refuse of the files that the configuration names, where that is asked.
    init(
        _ arguments: ParsedArguments, looking look: (DaemonConfiguration) -> Refused = { _ in [] }
    ) throws(CommandFailure) {
        let (source, loaded) = try Self.load(arguments, looking: look)
        (isDevelopment, self.source, self.loaded) = (arguments.flag("dev"), source, loaded)
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
        if configuration.api.maxPending < 2 * configuration.api.maxBody {
            remarks.append(
                "api.max_pending: less than twice api.max_body, which is taken in its place: "
                    + "\(2 * configuration.api.maxBody) bytes")
        }
        remarks += Self.openDoor(configuration.api.socket)
        self.configuration = configuration
    }

    /// That every program on the machine may speak for all users. To connect, one has to be allowed to write (unix(7)).
    private static func openDoor(_ socket: DaemonConfiguration.Socket) -> [String] {
        guard socket.path != nil, socket.group == nil, socket.roles.isEmpty, socket.mode & 0o002 != 0
        else { return [] }
        let mode = String(socket.mode, radix: 8)
        return [
            "api.socket: with mode 0\(mode), group null and no roles every user of this machine is a program (app), and "
                + "reads and writes for all; 0660, a group, or api.socket.roles says who may"
        ]
    }

    /// What is wrong with values that each are fine, by key: the daemon would not start, or others could read tokens on their way.
    private static func contradictions(_ loaded: LoadedConfiguration) -> Refused {
        var found: Refused = []
        let configuration = loaded.configuration
        let api = configuration.api
        // What is wrong in itself was meant to be there.
        let isTLSKnown = !loaded.isMistaken("api.tls.certificate") && !loaded.isMistaken("api.tls.key")
        if isTLSKnown, (api.tls.certificate == nil) != (api.tls.key == nil) {
            found.append(
                (
                    api.tls.certificate == nil ? "api.tls.key" : "api.tls.certificate",
                    "api.tls has a certificate or a key, but not both: api.tls.certificate and api.tls.key"
                ))
        }
        for (path, file) in [("api.tls.certificate", api.tls.certificate), ("api.tls.key", api.tls.key)] {
            guard let file, access(file, F_OK) != 0, errno == ENOENT || errno == ENOTDIR else { continue }
            found.append((path, "\(path): \(file) is not there; it takes the path of the file, in PEM"))
        }
        if let listen = api.listen, !listen.isLoopback, isTLSKnown, api.tls.certificate == nil {
            found.append(
                (
                    "api.listen",
                    "api.listen: \(listen) can be reached from elsewhere, and without TLS others can read the tokens on "
                        + "their way: api.tls.certificate and api.tls.key; or 127.0.0.1 and a proxy that ends TLS"
                ))
        }
        // unix(7): 108 bytes with the end.
        if let path = api.socket.path, path.utf8.count > 107 {
            found.append(
                (
                    "api.socket.path",
                    "api.socket.path has \(path.utf8.count) bytes, 107 are possible; a shorter path: \(path)"
                ))
        }
        let places = [
            ("api.listen", api.listen), ("metrics.listen", configuration.metrics.listen),
            ("peers.listen", configuration.peers.listen),
        ].compactMap { path, place in place.map { (path, $0) } }
        for (index, (path, place)) in places.enumerated() where place.port != 0 {
            let other = places[..<index].first { _, other in
                other.port == place.port && ListeningAddress.overlap(other.host, place.host)
            }
            guard let other else { continue }
            found.append(
                (
                    path,
                    "\(path) (\(place)) and \(other.0) (\(other.1)) are one place: another port for one of them"
                ))
        }
        return found
    }

    /// What all sources say together, and what is wrong with them; with the name of the file.
    static func load(
        _ arguments: ParsedArguments, looking look: (DaemonConfiguration) -> Refused
    ) throws(CommandFailure) -> (source: String, loaded: LoadedConfiguration) {
        let named = arguments.value("config")
        let source = named ?? usualFile
        var sources = ConfigurationSources(path: source, environment: Terminal.processEnvironment())
        sources.flags = ["data-dir", "node-name", "cluster", "socket", "peer-listen", "log-level"].compactMap {
            name in
            arguments.value(name).map { (name: "--\(name)", value: isPath(name, $0) ? absolute($0) : $0) }
        }
        if named != nil || !arguments.flag("dev") {
            do throws(StoreError) {
                sources.text = try SmallFile.read(source, .stream).map { bytes throws(StoreError) in
                    try text(bytes, source)
                }
                sources.additions = try additions(beside: source)
            } catch {
                throw CommandFailure(code: "E_CONFIG", error.description, exitCode: .configuration)
            }
            // Where nothing else is said, it is the file that was to be checked.
            let isWanted =
                arguments.flag("check-config") && sources.additions.isEmpty && sources.flags.isEmpty
                && !sources.environment.keys.contains { $0.hasPrefix("SYNCD_") }
            if sources.text == nil, named != nil || isWanted {
                throw CommandFailure(
                    code: "E_CONFIG", "there is no configuration at \(source)",
                    hint: "Start from Examples/syncd.json5, or try: syncd --dev", exitCode: .configuration)
            }
        }
        var loaded = sources.load()
        let refused = contradictions(loaded)
        loaded.report(refused)
        loaded.report(look(loaded.configuration).filter { one in !refused.contains { $0.path == one.path } })
        return (source, loaded)
    }

    /// What a file says. Bytes that are no text would become other names and paths.
    private static func text(_ bytes: [UInt8], _ path: String) throws(StoreError) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else { throw .io("\(path): it is not in UTF-8") }
        return text
    }

    /// `conf.d/*.conf` beside the file, by name. Those whose names begin with a dot are an editor's.
    private static func additions(beside source: String) throws(StoreError) -> [(path: String, text: String)] {
        let parts = source.split(separator: "/", omittingEmptySubsequences: false).dropLast()
        let folder = parts.isEmpty ? "conf.d" : parts.joined(separator: "/") + "/conf.d"
        guard let listing = opendir(folder) else {
            if errno == ENOENT || errno == ENOTDIR { return [] }
            throw .io("\(folder): \(String(cString: strerror(errno)))")
        }
        defer { closedir(listing) }
        var names: [String] = []
        while let entry = readdir(listing) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name.hasSuffix(".conf"), !name.hasPrefix(".") { names.append(name) }
        }
        var found: [(path: String, text: String)] = []
        for name in names.sorted(by: { Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8)) }) {
            let path = folder + "/" + name
            if let bytes = try SmallFile.read(path) {
                found.append((path, try text(bytes, path)))
            } else {
                // What was removed meanwhile is not there; a link that leads nowhere is.
                var entry = stat()
                guard lstat(path, &entry) != 0 else { throw .io("\(path): the link leads nowhere") }
            }
        }
        return found
    }

    /// What a start would miss on this machine as it is now.
    var surroundings: [String] {
        var found: [String] = []
        if case .folder(let folder) = configuration.storage.witness {
            var entry = stat()
            if stat(folder, &entry) != 0 {
                found.append(
                    "storage.witness: there is no folder \(folder); syncd makes none there, and keeps no witness")
            } else if entry.st_mode & S_IFMT != S_IFDIR {
                found.append("storage.witness: \(folder) is no folder; syncd keeps no witness there")
            }
        }
        guard let path = configuration.api.socket.path else {
            if configuration.api.listen == nil {
                found.append(
                    "api: neither socket.path nor listen; no one can ask this node, unless systemd hands over a socket"
                )
            }
            return found
        }
        for grant in configuration.api.socket.roles {
            switch grant.holder {
            case .uid: break
            case .user(let name):
                if getpwnam(name) == nil {
                    found.append("api.socket.roles: there is no user \(name); no one has the roles")
                }
            case .group(let name):
                if getgrnam(name) == nil {
                    found.append("api.socket.roles: there is no group \(name); no one has the roles")
                }
            }
        }
        let folder = Self.parent(of: path)
        if access(folder, F_OK) != 0 {
            found.append(
                "api.socket.path: there is no folder \(folder); systemd makes /run/syncd with RuntimeDirectory")
        }
        if let group = configuration.api.socket.group, getgrnam(group) == nil {
            found.append("api.socket.group: there is no group \(group); the socket stays the daemon's own")
        }
        return found
    }

    /// Where the pages for browsers are read from, for who works on them; `nil`: the binary has them.
    var pages: String? {
        guard isDevelopment, let folder = getenv("SYNCD_PAGES") else { return nil }
        return Self.absolute(String(cString: folder))
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

    /// The folder that a file is in.
    static func parent(of path: String) -> String {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
        if parts.isEmpty { return "." }
        let folder = parts.joined(separator: "/")
        return folder.isEmpty ? "/" : folder
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
