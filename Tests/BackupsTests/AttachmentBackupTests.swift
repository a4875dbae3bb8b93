import Foundation
import TestSupport
import Testing

@testable import Backups
@testable import EventStore

/// FORMATS.md §11: a backup has the bytes of attachments, each once, in files that say which bytes they are to who has the key.
struct AttachmentBackupTests {
    private func files(_ archive: Archive) throws -> [String] {
        try archive.repository().attachmentNames()
    }

    private func bytes(_ files: StoreFiles, _ digest: Digest) throws -> [UInt8]? {
        try SmallFile.read(AttachmentFolder(files).blob(digest))
    }

    private func path(_ archive: Archive, _ digest: Digest, _ key: StreamKey?) -> String {
        "\(archive.repositoryPath)/\(AttachmentForm.name(of: digest, key: key))"
    }

    @Test(
        "Of any length, empty ones and those that end with a chunk, they come back; a file has the length that the page says",
        arguments: [false, true])
    func lengths(isSealed: Bool) throws {
        let key = isSealed ? testKey : nil
        let archive = try Archive()
        var random = SplitMix64(state: 690)
        let counts = [
            0, 1, AttachmentForm.chunk - 1, AttachmentForm.chunk, AttachmentForm.chunk + 1, 3 * AttachmentForm.chunk,
        ]
        var all: [Digest: [UInt8]] = [:]
        for count in counts {
            let content = (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            all[try archive.attach(content)] = content
        }
        let report = try archive.create(key: key)
        #expect(
            report.attachmentsAdded == counts.count
                && report.manifest.attachments.map(\.digest) == all.keys.sorted { $0.description < $1.description })
        // Readers hold the lock, so none stays.
        for attachment in report.manifest.attachments {
            #expect(try archive.repository(key: key).has(attachment), "\(attachment.bytes)")
        }
        let names = Set(try files(archive).compactMap { $0.split(separator: "/").last.map(String.init) })
        #expect(isSealed == names.isDisjoint(with: all.keys.map(\.description)))
        let checked = try archive.check(key: key)
        #expect(checked.attachments == counts.count && checked.proven.count == 1 && checked.leftovers.isEmpty)
        let restored = try archive.restore("r", key: key)
        for (digest, content) in all { #expect(try bytes(restored, digest) == content) }
        #expect(try AttachmentCopy(restored).verify().damagedCount == 0)
        // A second backup writes none of them again.
        let before = try archive.files(of: archive.repositoryPath).count
        #expect(try archive.create(key: key).attachmentsAdded == 0)
        #expect(try archive.files(of: archive.repositoryPath).count == before + 1)
    }

    @Test(
        "A file that is cut, changed, gone, another's or a pipe is named, no other is kept from coming back",
        arguments: [false, true])
    func damaged(isSealed: Bool) throws {
        let key = isSealed ? testKey : nil
        let archive = try Archive()
        let good = try archive.attach(Array("하나".utf8)), victim = try archive.attach(Array("둘".utf8))
        let manifest = try archive.create(key: key).manifest
        let path = self.path(archive, victim, key)
        let whole = try Data(contentsOf: URL(filePath: path))
        let other = try Data(contentsOf: URL(filePath: self.path(archive, good, key)))
        for (number, content) in [whole.dropLast(), whole + Data([0]), Data(), other, nil].enumerated() {
            try FileManager.default.removeItem(atPath: path)
            if let content { try content.write(to: URL(filePath: path)) } else { #expect(mkfifo(path, 0o600) == 0) }
            let report = try archive.check(key: key)
            #expect(
                report.broken == [manifest.id] && "\(report.findings)".contains("attachments/"),
                "\(number): \(report.findings)")
            #expect(try !archive.drill(manifest, key: key).isGood)
            let restored = try archive.restore("r\(number)", key: key)
            #expect(try bytes(restored, good) != nil && bytes(restored, victim) == nil, "\(number)")
        }
        // What is not there, or not as long as it was, is written again.
        #expect(try archive.create(key: key).attachmentsAdded == 1)
        #expect(try archive.check(key: key).broken.isEmpty)
    }

    @Test(
        "What events name and is not here is counted; what only the repository has stays in the next backup, and heals the restored store"
    )
    func missing() throws {
        let archive = try Archive()
        let lost = try archive.attach(Array("잃을 것".utf8))
        try archive.create()
        let attachments = try archive.store.attachments()
        try attachments.named([AttachmentWant(digest: lost, bytes: 10)], through: 2, of: "views")
        try FileManager.default.removeItem(atPath: AttachmentFolder(archive.files).blob(lost))
        let never = try #require(Digest(bytes: [UInt8](repeating: 7, count: 32)))
        try archive.name(never, 5)
        try attachments.named([AttachmentWant(digest: never, bytes: 5)], through: 3, of: "views")
        let report = try archive.create()
        #expect(report.attachmentsMissing == 1 && report.manifest.attachments.map(\.digest) == [lost])
        #expect(try bytes(archive.restore("r"), lost) == Array("잃을 것".utf8))
    }

    @Test("A file that is gone is counted, be it noted or not, and be its folder gone; what is restored lacks it")
    func lost() throws {
        let archive = try Archive()
        let lost = try archive.attach(Array("잃을 것".utf8)), kept = try archive.attach(Array("남을 것".utf8))
        let wants = [lost, kept].map { AttachmentWant(digest: $0, bytes: 10) }
        try archive.store.attachments().named(wants, through: 2, of: "views")
        try FileManager.default.removeItem(atPath: AttachmentFolder(archive.files).blob(lost))
        let report = try archive.create()
        #expect(report.attachmentsMissing == 1 && report.manifest.attachments.map(\.digest) == [kept])
        func restore() throws -> RestoreReport {
            let repository = try archive.repository()
            return try BackupRestore(into: archive.folder.file("r"), withKey: true) { _, _ in true }
                .run(repository.backup(nil), of: repository)
        }
        // Readers hold the lock, so none stays.
        let restored = try restore()
        #expect(restored.attachments == 1 && restored.missing.isEmpty && restored.lacking == 1)
        try FileManager.default.removeItem(atPath: archive.files.attachments)
        let second = try archive.create()
        #expect(second.attachmentsMissing == 1 && second.manifest.attachments.map(\.digest) == [kept])
    }

    @Test(
        "What is being erased is in no backup, though its file is still here; what another event names, too, is (INV-11)"
    )
    func leaving() throws {
        let archive = try Archive()
        let own = try archive.attach(Array("지울 것".utf8), user: "u-1"),
            shared = try archive.attach(Array("둘의 것".utf8), user: "u-1")
        try archive.name(shared, 10, user: "u-2")
        #expect(try archive.create().manifest.attachments.count == 2)
        try archive.erase("u-1")
        #expect(try bytes(archive.files, own) != nil, "no view is made anew here")
        let copy = StoreFiles(archive.folder.file("copy"))
        _ = try PlainCopy.make(
            of: archive.files, in: copy.folder, withKey: false, withAttachments: true, goesOn: { true })
        #expect(try bytes(copy, own) == nil)
        let report = try archive.create()
        #expect(report.manifest.attachments.map(\.digest) == [shared])
        #expect(
            try files(archive).count == 1
                && archive.repository().manifests().good.allSatisfy { $0.attachments.count == 1 })
    }

    @Test(
        "Bytes of an erased attachment that a hand has put back are in no backup, and it is said (INV-11)",
        arguments: [false, true])
    func strays(isIndexGone: Bool) throws {
        let archive = try Archive()
        let text = Array("지운 그림".utf8)
        let erased = try archive.attach(text, user: "u-1"), kept = try archive.attach(Array("둘째".utf8))
        try archive.erase("u-1")
        let attachments = try archive.store.attachments()
        #expect(try attachments.settle(AttachmentWant(digest: erased, bytes: UInt64(text.count)), isNamed: false))
        try Data(text).write(to: URL(filePath: attachments.folder.blob(erased)))
        if isIndexGone {
            archive.store.close()
            for suffix in ["", "-wal", "-shm"] {
                try? FileManager.default.removeItem(atPath: attachments.folder.index + suffix)
            }
        }
        let report = try archive.create()
        #expect(report.manifest.attachments.map(\.digest) == [kept] && report.attachmentsUnnamed == 1)
        #expect(report.attachmentsMissing == 0)
        #expect(try files(archive).count == 1 && archive.check().findings.isEmpty)
        #expect(try bytes(archive.restore("r"), erased) == nil)
    }

    @Test("They go with the last backup that names them, and a backup of before has those of its own alone")
    func pruned() throws {
        let archive = try Archive()
        try archive.append(1)
        archive.store.close()
        let before = archive.folder.file("before")
        try FileManager.default.copyItem(atPath: archive.files.folder, toPath: before)
        archive.store = try EventStore(opening: archive.files.folder)
        let first = try archive.attach(Array("첫째".utf8))
        let old = try archive.create().manifest
        // The store is put back: what was said since is another history.
        archive.store.close()
        try FileManager.default.removeItem(atPath: archive.files.folder)
        try FileManager.default.moveItem(atPath: before, toPath: archive.files.folder)
        archive.store = try EventStore(opening: archive.files.folder)
        let second = try archive.attach(Array("둘째".utf8))
        let new = try archive.create().manifest
        #expect(old.attachments.map(\.digest) == [first] && new.attachments.map(\.digest) == [second])
        #expect(try files(archive).count == 2 && archive.check().leftovers.isEmpty)
        // Cut off before it was named, it is not wanted.
        let cut = try archive.restore("cut", new.id, end: .position(3))
        #expect(try bytes(cut, second) == nil)
        let report = try archive.repository(.writing).prune(Retention(count: 1, since: nil))
        #expect(report.files.contains { $0.hasPrefix("attachments/") } && report.removed.map(\.id) == [old.id])
        #expect(try files(archive).count == 1 && archive.check().proven.map(\.id) == [new.id])
        #expect(try bytes(archive.restore("r"), second) != nil)
    }

    @Test(
        "A stream restores what it and those before it have brought, and an attachment under another's name is refused"
    )
    func streams() throws {
        let archive = try Archive()
        let digests = try (0..<3).map { try archive.attach(Array("그림 \($0)".utf8)) }
        let out = archive.folder.file("stream")
        let file = open(out, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        _ = try BackupWriter(archive.files) { _, _ in true }
            .run(BackupPlan(withKey: true, isFull: false), into: StreamWriter(file), behind: nil, key: nil)
        close(file)
        func restore(_ bytes: [UInt8], _ name: String) throws -> RestoreReport {
            let path = try archive.folder.write(Data(bytes), to: "in")
            let file = open(path, O_RDONLY)
            defer { close(file) }
            return try BackupRestore(into: archive.folder.file(name), withKey: true) { _, _ in true }
                .run(StreamReader(file, key: nil))
        }
        let bytes = try #require(try SmallFile.read(out))
        let report = try restore(bytes, "r")
        #expect(report.attachments == 3 && report.missing.isEmpty)
        for digest in digests { #expect(try self.bytes(StoreFiles(archive.folder.file("r")), digest) != nil) }
        var text = bytes
        let (one, two) = (Array("그림 0".utf8), Array("그림 9".utf8))
        let place = try #require(text.indices.first { text[$0...].starts(with: one) })
        text.replaceSubrange(place..<place + one.count, with: two)
        #expect(failure { _ = try restore(text, "bad") }?.code == "E_BACKUP_DAMAGED")
        #expect(!FileManager.default.fileExists(atPath: archive.folder.file("bad")))
        #expect(!FileManager.default.fileExists(atPath: archive.folder.file("bad.restoring")))
    }

    @Test("A plain copy has those that are whole")
    func plainCopy() throws {
        let archive = try Archive()
        let digests = try (0..<2).map { try archive.attach(Array("그림 \($0)".utf8)) }
        let damaged = AttachmentFolder(archive.files).blob(digests[1])
        try Data("다른 것".utf8).write(to: URL(filePath: damaged))
        let copy = StoreFiles(archive.folder.file("copy"))
        let report = try PlainCopy.make(
            of: archive.files, in: copy.folder, withKey: false, withAttachments: true, goesOn: { true })
        #expect(report.attachments == 1 && report.damaged == 1)
        #expect(try bytes(copy, digests[0]) != nil && bytes(copy, digests[1]) == nil)
    }
}
