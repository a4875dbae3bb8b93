internal import CommandLineKit
internal import EventStore
internal import Glibc
internal import SillokAPI

/// Which store a command works on: `--store`, else `SYNCCTL_STORE`, else `./syncd-dev`, else `/var/lib/syncd`.
struct StoreLocation {
    let files: StoreFiles
    /// Whether the user named it.
    let isNamed: Bool

    static let usual = ["./syncd-dev", "/var/lib/syncd"]

    /// The place for a store that need not be there yet. An empty name is refused: a script with an unset variable meant a store, and
    /// not the usual one.
    static func place(for session: Session) throws(CommandFailure) -> StoreLocation {
        if session.url != nil {
            let isSaid = session.arguments.value("url") != nil
            throw usageFailure(
                "'\(session.arguments.command.name)', as it is asked for here, works on the files of a store, and "
                    + "\(isSaid ? "--url" : "SYNCCTL_URL") names a node",
                hint: isSaid
                    ? "the same on the node's own machine, with --store"
                    : "--store DIR for a store of this machine; or SYNCCTL_URL= before the command")
        }
        let option = session.arguments.value("store")
        guard let named = option ?? session.terminal.environment["SYNCCTL_STORE"] else {
            return StoreLocation(files: StoreFiles(usual[0]), isNamed: false)
        }
        guard !named.isEmpty else {
            throw usageFailure(
                option == nil ? "SYNCCTL_STORE is set, and empty" : "--store '' names no store",
                hint: option == nil ? "unset SYNCCTL_STORE, or a folder in it" : "--store DIR, or no --store")
        }
        return StoreLocation(files: StoreFiles(named), isNamed: true)
    }

    /// The store, which must be there. Says which one it is when none was named.
    static func find(for session: Session) throws(CommandFailure) -> StoreLocation {
        let named = try place(for: session)
        if named.isNamed {
            try require(named.files)
            return named
        }
        let found = usual.filter { StoreFiles($0).exists || isForbidden(StoreFiles($0)) }
        if let folder = found.first {
            let files = StoreFiles(folder)
            try require(files)
            // Where there is one alone there is no question which.
            if found.count > 1 { session.say(.usingStore, folder) }
            return StoreLocation(files: files, isNamed: false)
        }
        throw CommandFailure(
            code: "E_NO_STORE", "no store in \(usual.joined(separator: " nor in "))",
            hint: "--store DIR, or syncctl init --store DIR to make one", exitCode: .inputMissing)
    }

    /// Refuses to make something of what a store says within a store's own folder, whichever that is: no erasure reaches it there.
    static func requireOutside(_ path: String) throws(CommandFailure) {
        guard let place = real(path) else { return }
        let parts = place.split(separator: "/")
        // What is there already is refused by itself, a store as well.
        for count in 0..<(access(path, F_OK) == 0 ? parts.count : parts.count + 1) {
            let files = StoreFiles("/" + parts.prefix(count).joined(separator: "/"))
            guard files.exists else { continue }
            throw CommandFailure(
                code: "E_STORE_FILE", "\(path) lies in a store's own folder, where no erasure reaches it",
                hint: "name a place outside of \(files.folder)", exitCode: .cannotCreate)
        }
    }

    /// Where a path leads to; of one that is not there, where its nearest folder does.
    private static func real(_ path: String) -> String? {
        var path = path
        while true {
            if let found = realpath(path, nil) {
                defer { free(found) }
                return String(cString: found)
            }
            guard errno == ENOENT, path != "." else { return nil }
            while path.hasSuffix("/") { path.removeLast() }
            path = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        }
    }

    /// The open log of the store.
    func reader() throws(CommandFailure) -> LogReader {
        try stored { try LogReader(files) }
    }

    private static func require(_ files: StoreFiles) throws(CommandFailure) {
        if isForbidden(files) { throw CommandFailure(StoreError.forbidden(path: files.log)) }
        guard files.exists else { throw CommandFailure(files.absence) }
    }

    private static func isForbidden(_ files: StoreFiles) -> Bool {
        access(files.log, R_OK) != 0 && errno == EACCES
    }
}
