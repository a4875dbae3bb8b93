internal import CommandLineKit
internal import EventStore
internal import Glibc
internal import SillokAPI
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
        for issuer in api.issuers {
            look("api.jwt") { () throws(CommandFailure) in _ = try TokenIssuers.read([issuer]) }
        }
        look("api.tls.certificate") { () throws(CommandFailure) in _ = try APIServer.tls(api) }
        if !isDevelopment {
            look("storage.dir") { () throws(CommandFailure) in
                try requirePlace(configuration.storage.dir)
                try requirePrivate(configuration.storage.dir)
            }
            look("api.socket.path") { () throws(CommandFailure) in
                try requireSocket(api, store: configuration.storage.dir)
            }
        }
        for (path, place) in [
            ("api.listen", api.listen), ("metrics.listen", configuration.metrics.listen),
            ("peers.listen", configuration.peers.listen),
        ] {
            guard let place, let error = ListeningAddress.problem(host: place.host, port: place.port) else {
                continue
            }
            found.append((path, "\(path): \(error)"))
        }
        return found
    }

    /// Refuses a folder for a store that is none, that this user cannot write in, or that cannot be made: the daemon makes it, and no
    /// folder above it.
    static func requirePlace(_ folder: String) throws(CommandFailure) {
        var entry = stat()
        if stat(folder, &entry) == 0 {
            guard entry.st_mode & S_IFMT == S_IFDIR else { throw unusable("\(folder) is no folder") }
            guard access(folder, R_OK | W_OK | X_OK) == 0 else { throw CommandFailure(StoreError.system(folder)) }
            return
        }
        guard errno == ENOENT || errno == ENOTDIR else { throw CommandFailure(StoreError.system(folder)) }
        if lstat(folder, &entry) == 0 { throw unusable("\(folder) is a link that leads nowhere") }
        let parent = Settings.parent(of: folder)
        guard stat(parent, &entry) == 0, entry.st_mode & S_IFMT == S_IFDIR else {
            throw unusable("there is no folder \(parent) to make \(folder) in")
        }
        guard access(parent, W_OK | X_OK) == 0 else { throw CommandFailure(StoreError.system(parent)) }
    }

    private static func unusable(_ what: String) -> CommandFailure {
        CommandFailure(
            code: "E_IO", "storage.dir: \(what)", hint: "another storage.dir (--data-dir)", exitCode: .cannotCreate)
    }

    /// Refuses the folder of a store in which others may write, or that is another's. Root asks for the user as whom systemd starts the
    /// daemon: of root it says nothing that the folder is that user's.
    private static func requirePrivate(_ folder: String) throws(CommandFailure) {
        var entry = stat()
        guard stat(folder, &entry) == 0, geteuid() != 0 || entry.st_uid == 0 || entry.st_mode & 0o022 != 0 else {
            return
        }
        do throws(StoreError) { try StoreLock.requirePrivate(folder) } catch { throw CommandFailure(error) }
    }

    /// systemd makes folders below /run when it starts the daemon: whether they are there is a remark.
    private static func requireSocket(
        _ api: DaemonConfiguration.API, store: String
    ) throws(CommandFailure) {
        guard let path = api.socket.path else { return }
        var entry = stat()
        guard lstat(path, &entry) != 0 || entry.st_mode & S_IFMT == S_IFSOCK else {
            throw CommandFailure(
                code: "E_SOCKET", "api.socket.path: \(path) exists and is not a socket", exitCode: .cannotCreate)
        }
        let folder = Settings.parent(of: path)
        if folder.hasPrefix("/run/"), access(folder, F_OK) != 0 { return }
        try APIServer.requirePlace(api, store: store)
    }
}
