internal import Backups
internal import CommandLineKit
internal import EventStore
internal import Glibc
internal import SillokAPI

/// Runs something that works on backups; its errors become failures of the command.
@discardableResult
func backedUp<Result>(_ body: () throws(BackupError) -> Result) throws(CommandFailure) -> Result {
    do { return try body() } catch { throw CommandFailure(error) }
}

extension CommandFailure {
    init(_ error: BackupError) {
        if case .store(let error) = error {
            self.init(error)
            return
        }
        self.init(code: error.code, error.description, hint: Self.hint(error), exitCode: Self.exitCode(error))
    }

    private static func exitCode(_ error: BackupError) -> ExitCode {
        switch error {
        case .store, .command: .ioError
        case .noRepository, .noBackup: .inputMissing
        case .notEmpty: .cannotCreate
        case .beyond: .usage
        case .damaged, .erased, .log, .putBack, .lost: .integrityFailure
        case .key, .plain, .keyFile: .badInput
        case .busy, .erasing, .unsigned: .tryAgain
        case .interrupted: .interrupted
        }
    }

    private static func hint(_ error: BackupError) -> String? {
        switch error {
        case .store, .interrupted: nil
        case .noRepository: "'syncctl backup create FOLDER' makes one"
        case .notEmpty: "an empty folder, or one that is not there yet"
        case .beyond(_, let last): "a position up to \(last)"
        case .noBackup: "'syncctl backup list FOLDER' shows those that are there"
        case .damaged(Repository.markName, _):
            "a later release reads what it made; if none made it, the file is this one line again: \(Repository.mark)"
        case .damaged(StreamReader.name, _): "all streams, whole and in their order: the full one first"
        case .damaged: "'syncctl backup verify FOLDER' says which backups are whole; --backup ID names another one"
        case .erased: "'syncctl backup create FOLDER' with its node's store"
        case .key(_, false): "--key-file FILE, with the key that it was made with"
        case .key: "the key that it was made with; if that is the one, the file was changed: another copy of it"
        case .plain: "without --key-file; for a key begin another repository"
        case .keyFile: "openssl rand -hex 32 > FILE makes one"
        case .busy: "again when the other one is done"
        case .erasing: "again when 'syncctl erase status' says that it is done; a daemon goes on with it"
        case .unsigned: "start and stop the node once; it signs what it has"
        case .log, .putBack, .lost: "'syncctl verify' says what is wrong with the store"
        case .command: "what it has said itself stands above"
        }
    }
}

extension Session {
    /// What is wrong with a backup, as errors are told.
    func explained(_ error: BackupError) -> String { explained(error.description, code: error.code) }
}

/// What the commands of backups share.
struct BackupSession {
    let session: Session

    init(_ session: Session) { self.session = session }

    static let keyOption = Command.Option.value(
        "key-file", "FILE", "The key that files are encrypted with: 64 hexadecimal digits.")
    static let repositoryArgument = Command.Argument("repository", "The folder with the backups.")
    static let backupOption = Command.Option.value(
        "backup", "ID", "Which one (default: the newest that its node has signed).")

    /// The key of `--key-file`.
    func key() throws(CommandFailure) -> StreamKey? {
        guard let path = session.arguments.value("key-file") else { return nil }
        guard let bytes = try stored({ try SmallFile.read(path, .stream, most: 4_096) }) else {
            throw CommandFailure(
                code: "E_BACKUP_KEY_FILE", "no key file \(path)", hint: "openssl rand -hex 32 > FILE makes one",
                exitCode: .inputMissing)
        }
        guard let key = StreamKey(text: bytes) else { throw CommandFailure(BackupError.keyFile(path: path)) }
        return key
    }

    func repository(_ use: Repository.Use) throws(CommandFailure) -> Repository {
        let path = session.arguments.positional("repository") ?? ""
        guard !path.isEmpty else { throw usageFailure("repository: the empty text names none") }
        let key = try key()
        return try backedUp { () throws(BackupError) in try Repository(path, key: key, use) }
    }

    /// The backup of `--backup`, or the newest that its node has signed. What is passed over then is named.
    func manifest(in repository: Repository) throws(CommandFailure) -> BackupManifest {
        let id = session.arguments.value("backup")
        let (manifest, newer) = try backedUp { () throws(BackupError) in
            let manifest = try repository.backup(id)
            return (manifest, id == nil ? try repository.unsigned(after: manifest) : [])
        }
        if !newer.isEmpty {
            session.remark(.backupsPassedOver, newer.joined(separator: ", "), manifest.id)
        }
        return manifest
    }

    /// Shows how far something is, on standard error. False once the user has asked for the end.
    func progress(_ label: String) -> (UInt64, UInt64) -> Bool {
        var progress = Progress(label, unit: "events", style: session.style())
        var isShown = true
        return { done, total in
            guard isShown else { return !Interrupt.isRequested }
            progress.update(done: done, total: total == 0 ? nil : total)
            if total > 0, done >= total {
                progress.finish(done: done, total: total)
                isShown = false
            }
            return !Interrupt.isRequested
        }
    }

    /// Bytes as people read them, rounded up to a tenth.
    static func size(_ bytes: UInt64) -> String {
        let (unit, name): (UInt64, String) = bytes < 1 << 20 ? (1 << 10, "KiB") : (1 << 20, "MiB")
        let tenths = (bytes * 10 + unit - 1) / unit
        return "\(tenths / 10).\(tenths % 10) \(name)"
    }

    /// What is said of a backup in a line of JSON.
    static func describe(_ manifest: BackupManifest, _ line: inout JSONLine) {
        line.add("id", manifest.id)
        line.add("time", Timestamp.text(manifest.time))
        line.add("node", manifest.node.description)
        line.add("name", manifest.name)
        line.add("position", manifest.position)
        line.add("origins", manifest.origins.count)
        line.add("segments", manifest.segments.count)
        line.add("bytes", manifest.segments.saturatedSum(of: \.bytes))
        line.add("attachments", manifest.attachments.count)
        line.add("attachment_bytes", manifest.attachments.saturatedSum(of: \.bytes))
        line.add("erased", manifest.segments.saturatedSum(of: \.holes.count))
        line.add("key", manifest.files.contains { $0.name == "node.key" })
        line.add("signed", manifest.isSigned)
    }
}
