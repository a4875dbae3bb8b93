import Foundation
import TestSupport
import Testing

@testable import Backups
@testable import EventStore

/// Who can write the folder of a repository, and has no key, puts nothing into the node's mouth (INV-19).
struct StrangerTests {
    private let peers = BackupManifest.Part(name: "peers.json", value: Array("[]".utf8))

    /// A manifest as anyone can write it.
    private func plant(_ manifest: BackupManifest, _ archive: Archive, as id: String? = nil) throws {
        var manifest = manifest
        manifest.files.append(peers)
        if let id {
            manifest.id = id
            manifest.time = try #require(Timestamp.milliseconds("2099-01-01T00:00:00Z"))
        }
        try archive.repository(.writing).write(manifest, signedWith: nil)
    }

    @Test("A manifest without the node's signature is written again without one after an erasure, and is named")
    func notSigned() throws {
        let archive = try Archive()
        try archive.append(20)
        try archive.append(5, user: "u-1", text: "비밀")
        let first = try archive.create().manifest
        try archive.append(5)
        let second = try archive.create().manifest
        try plant(first, archive)
        try archive.erase("u-1")
        let made = try archive.create()
        #expect(made.unsigned == [first.id] && made.unreached.isEmpty && made.base == second.id, "\(made)")
        #expect(try !archive.repository().manifest(first.id).isSigned)
        #expect(try archive.repository().manifest(second.id).isSigned && made.manifest.isSigned)
        let report = try archive.check()
        #expect(report.unsigned == [first.id] && report.findings.isEmpty, "\(report.findings)")
        let files = try archive.restore("r", first.id)
        #expect(!FileManager.default.fileExists(atPath: files.peers))
        #expect(ByteScan.find(["비밀"], in: [files.folder]).isEmpty)
        #expect(try archive.create().unsigned.isEmpty, "what is as it should be is not said again")
    }

    @Test(
        "What a manifest that is not signed says of a file does not count for one that is, and what it keeps is named"
    )
    func lies() throws {
        let archive = try Archive()
        try archive.append(5, user: "u-1", text: "비밀")
        let first = try archive.create().manifest
        try archive.erase("u-1")
        // It says that its segments are without what was erased, and comes first.
        let source = try BackupSource(archive.files)
        var lie = first
        lie.segments = try first.segments.map { segment in
            BackupManifest.Segment(
                file: segment.file, after: segment.after, last: segment.last, bytes: segment.bytes,
                digest: segment.digest, leaves: segment.leaves, erasures: segment.erasures,
                holes: try source.holes(after: segment.after, through: segment.last))
        }
        lie.id = "0-first"
        try archive.repository(.writing).write(lie, signedWith: nil)
        // Rows that are not those of the log cannot be written again.
        var odd = first
        odd.segments = first.segments.map { segment in
            BackupManifest.Segment(
                file: segment.file, after: segment.after, last: segment.last, bytes: segment.bytes,
                digest: segment.digest, leaves: .zero, erasures: segment.erasures, holes: segment.holes)
        }
        odd.id = "1-odd"
        try archive.repository(.writing).write(odd, signedWith: nil)
        let made = try archive.create()
        #expect(made.rewritten == 1 && Set(made.unreached) == [lie.id, odd.id], "\(made)")
        #expect(try ByteScan.find(["비밀"], in: [archive.restore("r", first.id).folder]).isEmpty)
        #expect(try archive.check(first.id).findings.isEmpty)
    }

    @Test("A newer one without a signature is not the newest, is gone on from by none, and pushes none out")
    func newest() throws {
        let archive = try Archive()
        try archive.append(20)
        let first = try archive.create().manifest
        let planted = "20990101T000000Z-1"
        try plant(first, archive, as: planted)
        let newest = try archive.repository().backup(nil)
        #expect(newest.id == first.id)
        #expect(try archive.repository().unsigned(after: newest) == [planted])
        #expect(try !FileManager.default.fileExists(atPath: archive.restore("r").peers))
        try archive.append(5)
        let made = try archive.create()
        #expect(made.base == first.id && made.unsigned == [planted] && !made.isOtherHistory, "\(made)")
        #expect(
            Retention(count: 1, since: nil).keeps(try archive.repository().manifests().good).map(\.id)
                == [made.manifest.id, planted])
        // Where the node has signed none it is the newest of them.
        for id in [first.id, made.manifest.id] { try archive.repository(.writing).remove(id) }
        #expect(try archive.repository().backup(nil).id == planted)
        let anew = try archive.create()
        #expect(anew.base == nil && anew.unsigned == [planted] && anew.manifest.isSigned, "\(anew)")
    }

    @Test("A stream goes on behind no backup that the node has not signed")
    func stream() throws {
        let archive = try Archive()
        try archive.append(5)
        var base = try archive.create().manifest
        base = try BackupManifest(base.bytes(signedWith: nil))
        let pipe = Pipe()
        let writer = try BackupWriter(archive.files) { _, _ in true }
        let stream = try StreamWriter(pipe.fileHandleForWriting.fileDescriptor)
        let refusal = failure {
            _ = try writer.run(BackupPlan(withKey: true, isFull: false), into: stream, behind: base, key: nil)
        }
        #expect(refusal?.code == "E_NO_BACKUP", "\(String(describing: refusal))")
    }

    @Test("No backup is signed of a store whose settings another hand wrote (INV-3)")
    func settings() throws {
        let archive = try Archive()
        try archive.append(5)
        archive.store.close()
        let connection = try Connection(path: archive.files.log, mode: .write)
        try connection.execute("UPDATE meta SET value = 'elsewhere' WHERE key = 'cluster'")
        let refusal = failure { try archive.create() }
        #expect(refusal?.description.contains("cluster is 'elsewhere', and was 'default'") == true)
        #expect(refusal?.code == "E_BACKUP_LOG")
    }
}
