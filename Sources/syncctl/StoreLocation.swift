internal import CommandLineKit
internal import EventStore
internal import Glibc

/// Which store a command is about.
extension Context {
    /// The folder named by `--store` or SYNCCTL_STORE, else the first of the usual places that has a store.
    func storeFiles(mustExist: Bool = true) throws(CommandFailure) -> StoreFiles {
        if let named = arguments.value("store") ?? terminal.environment["SYNCCTL_STORE"], !named.isEmpty {
            let files = StoreFiles(named)
            guard files.exists || !mustExist else { throw StoreError.notFound(path: named).failure }
            return files
        }
        for usual in ["./syncd-dev", "/var/lib/syncd"] where StoreFiles(usual).exists {
            remark("using the store in \(usual)")
            return StoreFiles(usual)
        }
        guard mustExist else { return StoreFiles("./syncd-dev") }
        throw StoreError.notFound(path: "./syncd-dev or /var/lib/syncd").failure
    }

    /// The log, for reading.
    func log() throws(CommandFailure) -> LogReader {
        let files = try storeFiles()
        return try stored { () throws(StoreError) in try LogReader(files) }
    }

    /// The views, as fresh as they can be: a running daemon is given two seconds to apply what is in the log now; without
    /// one this process applies it, in place where the store can be written and in a temporary copy otherwise.
    func views() throws(CommandFailure) -> ViewReader {
        let files = try storeFiles()
        return try stored { () throws(StoreError) in
            let top = try LogReader(files).top()
            if StoreLock.owner(files) == nil, let reader = try ownViews(files, top) { return reader }
            for _ in 0..<200 {
                if let reader = try? ViewReader(files), try reader.progress() >= top { return reader }
                sleepMilliseconds(10)
            }
            let reader = try ViewReader(files)
            let behind = top - min(top, try reader.progress())
            if behind > 0 { remark("the views are \(behind) events behind; the answer may lack them") }
            return reader
        }
    }

    /// Views that this process brings up to date itself; `nil` if another process took the store meanwhile.
    private func ownViews(_ files: StoreFiles, _ top: UInt64) throws(StoreError) -> ViewReader? {
        if let reader = try? ViewReader(files), try reader.progress() == top { return reader }
        do throws(StoreError) {
            let lock = try StoreLock(files, owner: "syncctl pid \(getpid())")
            defer { withExtendedLifetime(lock) {} }
            let projector = try Projector(files)
            var progress = Progress("Building views", unit: "events", style: progressStyle)
            try projector.catchUp { done, total in progress.update(done: done, total: total) }
            return try ViewReader(files)
        } catch {
            switch error {
            case .locked: return nil
            case .io: return try ViewReader(temporary: files)
            default: throw error
            }
        }
    }

    /// How progress is shown.
    var progressStyle: ProgressMeter.Style {
        ProgressMeter.style(terminal: terminal, json: form == .json, quiet: isQuiet)
    }
}
