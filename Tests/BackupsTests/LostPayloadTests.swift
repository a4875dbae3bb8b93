import Foundation
import TestSupport
import Testing

@testable import Backups
@testable import EventStore

/// A payload that a hand has taken out of the log, and no erasure says so: the node does not sign a backup of it.
struct LostPayloadTests {
    /// Takes the payload at a position of a closed store away, and leaves its digest as an erasure does. Returns the event.
    private func strip(_ position: UInt64, _ archive: Archive) throws -> Dot {
        archive.store.close()
        let stored = try #require(try LogReader(archive.files).event(at: position)).event
        let connection = try Connection(path: archive.files.log, mode: .write)
        try connection.run(
            "UPDATE event SET salt = NULL, payload = NULL, digest = ? WHERE position = ?",
            .blob(SHA256().payloadDigest(stored.body).bytes), .unsigned(position))
        return stored.header.dot
    }

    private func stream(_ archive: Archive) throws {
        let file = open("/dev/null", O_WRONLY)
        defer { close(file) }
        let plan = BackupPlan(withKey: true, isFull: false)
        let writer = try BackupWriter(archive.files) { _, _ in true }
        _ = try writer.run(plan, into: StreamWriter(file), behind: nil, key: nil)
    }

    @Test(
        "A log with a payload taken away without an erasure is not backed up, in any way, and the earlier backup stays whole (INV-4)"
    )
    func taken() throws {
        let archive = try Archive()
        try archive.append(5)
        try archive.append(2, user: "u-1")
        let before = try archive.create().manifest
        try archive.erase("u-1")
        try archive.append(5)
        let dot = try strip(11, archive)
        #expect(try verify(archive.files).count(of: .erasures) == 1)
        let full = BackupPlan(withKey: true, isFull: true)
        let refusals = [
            failure { try archive.create() }, failure { try archive.create(full) }, failure { try stream(archive) },
        ]
        for error in refusals {
            #expect(error == .lost(dot) && error?.code == "E_BACKUP_LOG", "\(String(describing: error))")
        }
        #expect(try archive.repository().manifests().good.map(\.id) == [before.id])
        #expect(try archive.check().findings.isEmpty)
        try archive.restore("r", before.id)
    }

    @Test("An erasure that comes later takes its own out of earlier backups, and nothing that a hand has taken away")
    func notWithAnother() throws {
        let archive = try Archive()
        try archive.append(5)
        try archive.append(2, user: "u-1")
        let before = try archive.create().manifest
        let dot = try strip(3, archive)
        archive.store = try EventStore(opening: archive.files.folder)
        try archive.erase("u-1")
        #expect(failure { try archive.create() } == .lost(dot))
        #expect(try events(archive.restore("r", before.id)).allSatisfy { !$0.isErased })
    }

    @Test("What a peer has erased of its own, and what came back from before an erasure, is backed up (INV-11)")
    func erasedElsewhere() throws {
        let archive = try Archive()
        let peer = try Archive()
        try peer.append(3, user: "u-2")
        try archive.append(3, user: "u-1")
        let before = try archive.create().manifest
        try peer.erase("u-2")
        try carry(peer.store, archive.store)
        #expect(try events(archive.files).count { $0.isErased } == 3)
        try archive.create()
        try archive.erase("u-1")
        try archive.create()
        // The restored log lacks the erasure: what proves it lies beside it.
        let files = try archive.restore("old", before.id)
        #expect(try verify(files).count(of: .erasures) == 0)
        let other = try Repository(archive.folder.file("other"), key: nil, .making)
        let made = try BackupWriter(files) { _, _ in true }.run(BackupPlan(withKey: true, isFull: false), in: other)
        #expect(made.manifest.segments.map(\.holes.count) == [3])
    }
}
