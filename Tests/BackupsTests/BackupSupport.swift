import Foundation
import TestSupport
import Testing

@testable import Backups
@testable import EventStore

/// A store with a repository beside it.
final class Archive {
    let folder: TemporaryFolder
    var store: EventStore
    private var count = 0

    init() throws {
        folder = try TemporaryFolder.made()
        try EventStore.create(in: folder.file("store"), name: "seoul")
        store = try EventStore(opening: folder.file("store"))
    }

    deinit { store.close() }

    var files: StoreFiles { StoreFiles(folder.file("store")) }
    var repositoryPath: String { folder.file("repository") }

    /// Appends messages, each with a text of its own, and waits for their head.
    func append(_ number: Int, user: String = "u", text: String = "말") throws {
        let drafts = (0..<number).map { index in
            EventDraft(
                type: "message.posted", conversation: "c-\(index % 7)", user: user, author: nil,
                payload: Array(#"{"text":"\#(text) \#(count + index)"}"#.utf8))
        }
        count += number
        for start in stride(from: 0, to: drafts.count, by: 4_000) {
            _ = try store.appendBlocking(Array(drafts[start..<min(start + 4_000, drafts.count)]))
        }
        try store.flushBlocking()
    }

    /// Puts the bytes of an attachment, and a message that names them where `user` is not `nil`.
    @discardableResult
    func attach(_ bytes: [UInt8], user: String? = "u") throws -> Digest {
        let attachments = try store.attachments()
        let writer = try attachments.begin(limit: .max)
        try writer.write(bytes[...])
        let digest = try attachments.finish(writer).digest
        if let user { try name(digest, bytes.count, user: user) }
        return digest
    }

    /// Appends a message that names bytes, be they here or not.
    func name(_ digest: Digest, _ bytes: Int, user: String = "u") throws {
        let payload = #"{"text":"사진","attachments":[{"sha256":"\#(digest)","bytes":\#(bytes)}]}"#
        _ = try store.appendBlocking([
            EventDraft(
                type: "message.posted", conversation: "c", user: user, author: nil, payload: Array(payload.utf8))
        ])
        try store.flushBlocking()
    }

    /// Records an erasure and waits until it is applied and signed.
    func erase(_ user: String) throws {
        _ = try store.eraseBlocking([Erasure(subject: .user(user))], author: "operator")
        try store.finishErasures()
        try store.flushBlocking()
    }

    func drill(_ manifest: BackupManifest, key: StreamKey? = nil) throws -> DrillReport {
        try BackupDrill(repository(key: key), in: folder.path, restoring: { _, _ in true }, verifying: { _, _ in })
            .run(manifest)
    }

    func repository(_ use: Repository.Use = .reading, key: StreamKey? = nil) throws -> Repository {
        try Repository(repositoryPath, key: key, use)
    }

    @discardableResult
    func create(_ plan: BackupPlan = BackupPlan(withKey: true, isFull: false), key: StreamKey? = nil) throws
        -> BackupReport
    {
        try BackupWriter(files) { _, _ in true }.run(plan, in: repository(.making, key: key))
    }

    func check(_ id: String? = nil, key: StreamKey? = nil) throws -> RepositoryReport {
        try RepositoryCheck(repository(key: key)) { _, _ in true }.run(only: id)
    }

    @discardableResult
    func restore(
        _ name: String, _ id: String? = nil, end: RestoreEnd = .all, withKey: Bool = true, key: StreamKey? = nil
    ) throws -> StoreFiles {
        let repository = try repository(key: key)
        let restore = try BackupRestore(into: folder.file(name), end: end, withKey: withKey) { _, _ in true }
        _ = try restore.run(repository.backup(id), of: repository)
        return StoreFiles(folder.file(name))
    }

    /// All files of the repository that hold something of a backup, by their names in it.
    func files(of repository: String) throws -> [String] {
        try ["backups", "segments"].flatMap { folder in
            try FileManager.default.contentsOfDirectory(atPath: "\(repository)/\(folder)").map { "\(folder)/\($0)" }
        }.sorted()
    }
}

/// The events of a log up to a position, as they were hashed.
func events(_ files: StoreFiles, through end: UInt64 = .max) throws -> [Event] {
    var found: [Event] = []
    try LogReader(files).scan(after: 0, limit: .max) { stored in
        guard stored.position <= end else { return false }
        found.append(stored.event)
        return true
    }
    return found
}

func verify(_ files: StoreFiles) throws -> VerifyReport { try Verifier(files).run() }

/// The key of the golden repository.
let testKey = StreamKey(bytes: Array(0..<32))
let otherKey = StreamKey(bytes: Array(1..<33))

/// What a body throws.
func failure(_ body: () throws -> Void) -> BackupError? {
    do {
        try body()
        return nil
    } catch { return error as? BackupError }
}

/// What `to` lacks of the events of `from`, as a peer sends it; with the erasures in it applied.
func carry(_ from: EventStore, _ to: EventStore) throws {
    try from.flushBlocking()
    let known = try LogReader(to.files).vector()
    let outgoing = try OutgoingReader(from)
    let batch = try outgoing.batch(
        after: try outgoing.start(for: known), lacking: known, limits: OutgoingLimits())
    let verified = try to.makeVerifierBlocking().verify(batch.events, batch.coverage)
    try blocking { to.ingest(verified, completion: $0) }
    // As the daemon does.
    try to.confirmErasures()
    try to.finishErasures()
    try to.flushBlocking()
}
