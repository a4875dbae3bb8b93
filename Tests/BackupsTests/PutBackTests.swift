import Foundation
import TestSupport
import Testing

@testable import Backups
@testable import EventStore

/// An older copy that was put back over a repository has what was erased since: each command that reads it says so, and the node takes it out (INV-11).
struct PutBackTests {
    private static func word() -> String { "비밀\(UInt64.random(in: 1 << 60 ... .max))" }

    /// Two backups, of which the copy is; an erasure; a third. Then the copy is put back over it.
    private func putBack(_ word: String, key: StreamKey? = nil) throws -> (archive: Archive, picture: Digest) {
        let archive = try Archive()
        try archive.append(20)
        try archive.create(key: key)
        try archive.append(5, user: "u-1", text: word)
        let picture = try archive.attach(Array(word.utf8), user: "u-1")
        try archive.create(key: key)
        let old = archive.folder.file("old")
        try FileManager.default.copyItem(atPath: archive.repositoryPath, toPath: old)
        try archive.erase("u-1")
        try archive.create(key: key)
        #expect(try archive.check(key: key).findings.isEmpty)
        try Self.rsync(old, archive.repositoryPath)
        return (archive, picture)
    }

    /// Every file of one folder over those of another.
    private static func rsync(_ from: String, _ to: String) throws {
        let files = FileManager.default
        for name in try #require(files.enumerator(atPath: from)).compactMap({ $0 as? String }) {
            var isFolder: ObjCBool = false
            #expect(files.fileExists(atPath: "\(from)/\(name)", isDirectory: &isFolder))
            if isFolder.boolValue {
                try files.createDirectory(atPath: "\(to)/\(name)", withIntermediateDirectories: true)
            } else {
                try? files.removeItem(atPath: "\(to)/\(name)")
                try files.copyItem(atPath: "\(from)/\(name)", toPath: "\(to)/\(name)")
            }
        }
    }

    /// A closed store with an erasure, and in its row what that has let go, put back by hand.
    private func putBackInLog(beside digest: Bool, isBackedUp: Bool = false) throws -> Archive {
        let archive = try Archive()
        try archive.append(5)
        try archive.append(1, user: "u-1")
        if isBackedUp { try archive.create() }
        let stored = try #require(try LogReader(archive.files).event(at: 7))
        guard case .present(let salt, let payload) = stored.event.body else { throw Missing() }
        try archive.erase("u-1")
        archive.store.close()
        let connection = try Connection(path: archive.files.log, mode: .write)
        let columns = "payload = '\(String(decoding: payload, as: UTF8.self))', salt = x'\(hexText(salt.bytes))'"
        try connection.execute(
            "UPDATE event SET \(columns)\(digest ? "" : ", digest = NULL") WHERE digest IS NOT NULL")
        return archive
    }

    private struct Missing: Error {}

    @Test(
        "A payload put back into the log, in rows that an earlier backup has, is told: no segment counts as without it (INV-11)"
    )
    func behindBackup() throws {
        let archive = try putBackInLog(beside: false, isBackedUp: true)
        let failure = failure { _ = try archive.create() }
        guard case .putBack? = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(try archive.repository().ids().count == 1)
    }

    @Test("A log with a payload that a hand has put back is not backed up (INV-11)", arguments: [false, true])
    func inLog(isBesideDigest: Bool) throws {
        let archive = try putBackInLog(beside: isBesideDigest)
        let error = failure { try archive.create() }
        #expect(error?.code == "E_BACKUP_LOG")
        #expect("\(error.map(\.description) ?? "")".contains(isBesideDigest ? "digest" : "before being erased"))
        #expect((try? archive.repository().manifests().good.isEmpty) ?? true)
    }

    @Test(
        "A log with the salt of an erased event that a hand has put back is not backed up: with it a guess can be tried (INV-11)",
        arguments: [nil, "'그 소금'", "zeroblob(17)"])
    func saltInLog(other: String?) throws {
        let archive = try Archive()
        try archive.append(5)
        try archive.append(1, user: "u-1")
        let stored = try #require(try LogReader(archive.files).event(at: 7))
        guard case .present(let salt, _) = stored.event.body else { throw Missing() }
        try archive.erase("u-1")
        archive.store.close()
        let connection = try Connection(path: archive.files.log, mode: .write)
        try connection.execute(
            "UPDATE event SET salt = \(other ?? "x'\(hexText(salt.bytes))'") WHERE digest IS NOT NULL")
        let error = failure { try archive.create() }
        #expect(error?.code == "E_BACKUP_LOG")
        #expect("\(error as Any)".contains("it has a salt, and the digest of an erased one"), "\(error as Any)")
        #expect((try? archive.repository().manifests().good.isEmpty) ?? true)
    }

    /// A backup as a release made it that did not look: it read the rows, and wrote what the table says of erasures.
    private func signedWithoutALook(_ archive: Archive) throws -> BackupManifest {
        let repository = try archive.repository(.making)
        let writer = try BackupWriter(archive.files) { _, _ in true }
        let (position, origins, _) = try writer.awaitHead()
        var segments: [BackupManifest.Segment] = []
        try writer.writeSegments(after: 0, through: position, 0, key: nil) { file throws(BackupError) in
            try FileSink(repository.path(ofSegment: file))
        } written: { sink, segment throws(BackupError) in
            try sink.finish()
            segments.append(segment)
            segments[segments.count - 1].erasures = position
        }
        let parts = try writer.parts(BackupPlan(withKey: false, isFull: true))
        let manifest = try writer.manifest(parts, position, origins, segments, [])
        try repository.write(manifest, signedWith: writer.signer)
        return manifest
    }

    @Test("A backup whose rows say that they are without what they have is found, signed or not (INV-11)")
    func signedAsErased() throws {
        let archive = try putBackInLog(beside: false)
        let manifest = try signedWithoutALook(archive)
        let report = try archive.check()
        #expect(report.findings.map(\.code) == ["E_BACKUP_DAMAGED"], "\(report.findings)")
        #expect(report.proven.isEmpty && report.broken == [manifest.id])
        #expect(try !archive.drill(manifest).isGood)
    }

    @Test("A backup that lacks a payload, with nothing in the repository that lets it go, is not proven (INV-4)")
    func signedAsEmptied() throws {
        let archive = try Archive()
        try archive.append(5)
        try archive.append(1, user: "u-1")
        let first = try archive.create().manifest
        try archive.erase("u-1")
        let second = try archive.create().manifest
        #expect(try archive.check().findings.isEmpty)
        // As a release made it that did not ask why the payload was gone.
        var manifest = try archive.repository().backup(first.id)
        #expect(manifest.segments.map(\.holes.count) == [1] && manifest.erasures.count == 1)
        manifest.erasures = []
        let key = try #require(SigningKey(pem: Array(try Data(contentsOf: URL(filePath: archive.files.key)))))
        try archive.repository(.writing).write(manifest, signedWith: key)
        try FileManager.default.removeItem(atPath: archive.repository().path(ofManifest: second.id))
        for id in [nil, manifest.id] {
            let report = try archive.check(id)
            #expect(report.findings.map(\.code) == ["E_BACKUP_DAMAGED"], "\(report.findings)")
            #expect(report.findings.allSatisfy { "\($0)".contains("it lacks what an event said") })
            #expect(report.proven.isEmpty && report.broken == [manifest.id])
        }
        #expect(try !archive.drill(manifest).isGood)
    }

    private func erased(_ report: RepositoryReport) -> [BackupError] {
        report.findings.filter { $0.code == "E_BACKUP_ERASED" }
    }

    private func hasWord(_ word: String, _ archive: Archive, _ key: StreamKey? = nil) throws -> Bool {
        try archive.repository(key: key).manifests().good.enumerated().contains { index, manifest in
            let name = "look-\(UInt32.random(in: 0 ... .max))-\(index)"
            return try !ByteScan.find([word], in: [archive.restore(name, manifest.id, key: key).folder]).isEmpty
        }
    }

    @Test(
        "An older copy over a repository is a finding that names the file, a drill is bad, a restore says so, and the next backup is clean again",
        arguments: [nil, testKey])
    func overIt(key: StreamKey?) throws {
        let word = Self.word()
        let (archive, picture) = try putBack(word, key: key)
        let ids = try archive.repository(key: key).ids()
        let report = try archive.check(key: key)
        #expect(erased(report).count == 1 && report.findings.count == 1, "\(report.findings)")
        let stale = try archive.repository(key: key).backup(ids[1]).segments[1].file
        #expect(erased(report).first == .erased(file: "segments/\(stale)", rows: 6))
        #expect(
            try erased(archive.check(ids[1], key: key)).count == 1 && erased(archive.check(ids[2], key: key)).isEmpty)
        let drill = try archive.drill(try archive.repository(key: key).backup(ids[1]), key: key)
        #expect(!drill.isGood && drill.findings.contains { "\($0)".contains("6 events") }, "\(drill.findings)")
        try look(archive, ids, key)

        let made = try archive.create(key: key)
        #expect(made.putBack == Array(ids[0...1]) && made.rewritten == 1, "\(made)")
        let after = try archive.check(key: key)
        #expect(after.findings.isEmpty && after.proven.count == 4 && after.leftovers.isEmpty, "\(after)")
        #expect(try !hasWord(word, archive, key))
        #expect(
            try archive.repository(key: key).manifests().good.allSatisfy {
                $0.attachments.allSatisfy { $0.digest != picture }
            })
        #expect(
            try !FileManager.default.fileExists(
                atPath: "\(archive.repositoryPath)/\(archive.repository(key: key).name(ofAttachment: picture))"))
        let again = try archive.create(key: key)
        #expect(again.putBack.isEmpty && again.rewritten == 0 && again.cleared.isEmpty)
    }

    /// What restores of the old backup and of the newest say.
    private func look(_ archive: Archive, _ ids: [String], _ key: StreamKey?) throws {
        let repository = try archive.repository(key: key)
        let come = try BackupRestore(into: archive.folder.file("r"), withKey: false) { _, _ in true }
            .run(repository.backup(ids[1]), of: repository)
        #expect(come.notErased == 6)
        #expect(try archive.drill(repository.backup(ids[2]), key: key).isGood)
    }

    @Test(
        "Where only the files came back, which no backup names, they are a finding, and the next backup takes them away"
    )
    func unnamed() throws {
        let word = Self.word()
        let (archive, picture) = try putBack(word)
        // The manifests are those of the erasure again.
        try archive.create()
        let clean = archive.folder.file("clean")
        try FileManager.default.copyItem(atPath: archive.repositoryPath, toPath: clean)
        for name in ["segments", "attachments"] {
            try Self.rsync(archive.folder.file("old") + "/" + name, archive.repositoryPath + "/" + name)
        }
        let report = try archive.check()
        #expect(erased(report).count == 1 && report.unnamed == 1, "\(report.findings)")
        // What a killed run had begun before the erasure.
        try Data(word.utf8).write(to: URL(filePath: archive.repositoryPath + "/segments/0.rows.tmp"))
        let made = try archive.create()
        #expect(made.cleared.count == 3 && made.putBack.isEmpty, "\(made.cleared)")
        let name = try archive.repository().name(ofAttachment: picture)
        #expect(!FileManager.default.fileExists(atPath: "\(archive.repositoryPath)/\(name)"))
        #expect(try archive.check().findings.isEmpty && archive.check().leftovers.isEmpty)
    }

    @Test(
        "Where the copy has replaced the whole repository, the node that has erased takes it out at its next backup")
    func replaced() throws {
        let word = Self.word()
        let (archive, _) = try putBack(word)
        try FileManager.default.removeItem(atPath: archive.repositoryPath)
        try FileManager.default.copyItem(atPath: archive.folder.file("old"), toPath: archive.repositoryPath)
        // Nothing in it says so.
        #expect(try archive.check().findings.isEmpty)
        let made = try archive.create()
        #expect(made.rewritten == 1)
        #expect(try !hasWord(word, archive) && archive.check().findings.isEmpty)
    }

    @Test(
        "After a restore positions of erasures begin anew: those of the old history do not hide what is erased in the new one"
    )
    func otherNumbers() throws {
        let word = Self.word()
        let archive = try Archive()
        try archive.append(5, user: "u-1", text: word)
        try archive.append(5, user: "u-2")
        let first = try archive.create().manifest
        try archive.append(50)
        try archive.erase("u-2")
        try archive.create()
        let rewound = try archive.restore("rewound", first.id)
        archive.store.close()
        try FileManager.default.removeItem(atPath: archive.files.folder)
        try FileManager.default.moveItem(atPath: rewound.folder, toPath: archive.files.folder)
        archive.store = try EventStore(opening: archive.files.folder)
        try archive.store.finishErasures()
        try archive.erase("u-1")
        let made = try archive.create()
        #expect(made.rewritten == 1, "\(made)")
        #expect(try ByteScan.find([word], in: [archive.restore("r", first.id).folder]).isEmpty)
        #expect(try ByteScan.find([word], in: [archive.restore("s", made.manifest.id).folder]).isEmpty)
    }

    @Test(
        "Copies of a history that the node has left are brought up, too, though theirs are greater positions of the same erasures"
    )
    func leftHistory() throws {
        let word = Self.word()
        let archive = try Archive()
        let peer = try Archive()
        try archive.append(5, user: "u-1", text: word)
        try carry(archive.store, peer.store)
        let first = try archive.create().manifest
        try archive.append(50)
        try peer.erase("u-2")
        try carry(peer.store, archive.store)
        try archive.create()
        let old = archive.folder.file("old")
        try FileManager.default.copyItem(atPath: archive.repositoryPath, toPath: old)
        try peer.erase("u-1")
        try carry(peer.store, archive.store)
        try archive.create()
        #expect(try !hasWord(word, archive))

        let rewound = try archive.restore("rewound", first.id)
        archive.store.close()
        try FileManager.default.removeItem(atPath: archive.files.folder)
        try FileManager.default.moveItem(atPath: rewound.folder, toPath: archive.files.folder)
        archive.store = try EventStore(opening: archive.files.folder)
        try carry(peer.store, archive.store)
        try Self.rsync(old, archive.repositoryPath)
        #expect(try ByteScan.find([word], in: [archive.restore("before", first.id).folder]).count > 0)
        try archive.create()
        #expect(try ByteScan.find([word], in: [archive.restore("after", first.id).folder]).isEmpty)
    }
}
