internal import CommandLineKit
internal import EventStore
internal import Glibc
internal import SyncEngine

/// What a start would refuse of the machine that a configuration speaks of; but for ports that others have, which may be free by then.
enum ConfigurationCheck {
    /// All of it, by key. `--dev` has a store and a socket of its own.
    static func refused(by configuration: DaemonConfiguration, isDevelopment: Bool) -> Settings.Refused {
        var found: Settings.Refused = []
        func look(_ path: String, _ body: () throws(CommandFailure) -> Void) {
            do throws(CommandFailure) { try body() } catch {
                found.append((path, error.hint.map { "\(error.what): \($0)" } ?? error.what))
            }
        }
        let api = configuration.api
        look("api.jwt") { () throws(CommandFailure) in _ = try TokenIssuers.read(api.issuers) }
        look("api.tls.certificate") { () throws(CommandFailure) in _ = try APIServer.tls(api) }
        if !isDevelopment {
            look("storage.dir") { () throws(CommandFailure) in try requirePlace(configuration.storage.dir) }
            if let problem = api.socket.path.flatMap(socketProblem) { found.append(("api.socket.path", problem)) }
        }
        for (path, place) in [
            ("api.listen", api.listen), ("metrics.listen", configuration.metrics.listen),
            ("peers.listen", configuration.peers.listen),
        ] {
            guard let place, let error = ListeningAddress.problem(host: place.host) else { continue }
            found.append((path, "\(path): \(error)"))
        }
        return found
    }

    /// Refuses a folder for a store that is none, or cannot be made: the daemon makes it, and no folder above it.
    static func requirePlace(_ folder: String) throws(CommandFailure) {
        var entry = stat()
        if stat(folder, &entry) == 0 {
            if entry.st_mode & S_IFMT == S_IFDIR { return }
            throw CommandFailure(
                code: "E_IO", "storage.dir: \(folder) is no folder", hint: "another storage.dir (--data-dir)",
                exitCode: .cannotCreate)
        }
        let parent = Settings.parent(of: folder)
        guard access(parent, F_OK) != 0 else { return }
        throw CommandFailure(
            code: "E_IO", "storage.dir: there is no folder \(parent) to make \(folder) in",
            hint: "make it, or another storage.dir (--data-dir)", exitCode: .cannotCreate)
    }

    /// systemd makes folders below /run when it starts the daemon: whether they are there is a remark.
    private static func socketProblem(_ path: String) -> String? {
        var entry = stat()
        if lstat(path, &entry) == 0, entry.st_mode & S_IFMT != S_IFSOCK {
            return "api.socket.path: \(path) exists and is not a socket"
        }
        let folder = Settings.parent(of: path)
        guard !folder.hasPrefix("/run/"), access(folder, F_OK) != 0 else { return nil }
        return "api.socket.path: there is no folder \(folder)"
    }
}
