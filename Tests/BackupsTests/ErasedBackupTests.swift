import Foundation
import TestSupport
import Testing

@testable import Backups
@testable import EventStore

/// What the log has erased is in no file of a repository after the next backup (INV-11, D14).
struct ErasedBackupTests {
    private static func word() -> String { "비밀\(UInt64.random(in: 1 << 60 ... .max))" }

    private func erase(_ archive: Archive, _ user: String) throws {
        _ = try archive.store.eraseBlocking([Erasure(subject: .user(user))], author: "operator")
        try archive.store.finishErasures()
        try archive.store.flushBlocking()
    }

    @Test(
        "Segments that hold it are written again, the others stay, and every backup is whole and restores without it")
    func rewritten() throws {
        let archive = try Archive()
        let word = Self.word()
        try archive.append(20)
        let first = try archive.create()
        try archive.append(5, user: "u-1", text: word)
        let second = try archive.create()
        try archive.append(20)
        let third = try archive.create()
        try erase(archive, "u-1")
        // The rows are compressed, so a copy that was restored tells.
        #expect(!ByteScan.find([word], in: [try archive.restore("before").folder]).isEmpty)
        let report = try archive.create()
        #expect(report.rewritten == 1 && report.unreached.isEmpty && report.base == third.manifest.id)
        let manifests = try archive.repository().manifests().good
        #expect(manifests.map(\.id) == [first, second, third, report].map(\.manifest.id))
        #expect(manifests[3].segments[0].file == first.manifest.segments[0].file)
        #expect(
            manifests[1].segments[1].file != second.manifest.segments[1].file
                && manifests[1].segments[1].holes.count == 5)
        #expect(
            !FileManager.default.fileExists(
                atPath: "\(archive.repositoryPath)/segments/\(second.manifest.segments[1].file)"))
        let checked = try archive.check()
        #expect(
            checked.proven.count == 4 && checked.leftovers.isEmpty && checked.unsigned.isEmpty, "\(checked.findings)")
        for (index, manifest) in manifests.enumerated() {
            let restored = try archive.restore("r\(index)", manifest.id)
            #expect(ByteScan.find([word], in: [restored.folder]).isEmpty)
            let drill = try BackupDrill(
                archive.repository(), in: archive.folder.path, restoring: { _, _ in true }, verifying: { _, _ in }
            ).run(manifest)
            #expect(
                drill.isGood && drill.erasedLater == ([1, 2].contains(index) ? 5 : 0), "\(index): \(drill.findings)")
        }
        // The next one has nothing to do.
        #expect(try archive.create().rewritten == 0)
    }

    @Test("A store that was restored from before the erasure erases again once its log has it")
    func restoredBefore() throws {
        let archive = try Archive()
        let word = Self.word()
        try archive.append(5, user: "u-1", text: word)
        let before = try archive.create()
        let restored = try archive.restore("before", before.manifest.id)
        let store = try EventStore(opening: restored.folder)
        #expect(!ByteScan.find([word], in: [restored.folder]).isEmpty)
        _ = try store.eraseBlocking([Erasure(subject: .user("u-1"))], author: "operator")
        try store.finishErasures()
        #expect(ByteScan.find([word], in: [restored.folder]).isEmpty)
        store.close()
    }

    @Test("A backup that was made while an erasure is under way is refused without a daemon that goes on with it")
    func underWay() throws {
        let archive = try Archive()
        try archive.append(5, user: "u-1")
        try erase(archive, "u-1")
        archive.store.close()
        let connection = try Connection(path: archive.files.log, mode: .write)
        try connection.execute("DELETE FROM meta WHERE key = 'erased'")
        #expect(failure { try archive.create() } == .erasing)
    }

    @Test("Backups of another history cannot be written again, and are named")
    func unreached() throws {
        let archive = try Archive()
        try archive.append(5, user: "u-1")
        let first = try archive.create()
        try archive.append(5, user: "u-1")
        let second = try archive.create()
        let rewound = try archive.restore("rewound", first.manifest.id)
        let store = try EventStore(opening: rewound.folder)
        _ = try store.eraseBlocking([Erasure(subject: .user("u-1"))], author: "operator")
        try store.finishErasures()
        try store.flushBlocking()
        let report = try BackupWriter(rewound) { _, _ in true }
            .run(BackupPlan(withKey: true, isFull: false), in: archive.repository(.writing))
        #expect(report.unreached == [second.manifest.id] && report.rewritten == 1)
        // They share their first segment.
        #expect(try archive.check().proven.count == 3)
        store.close()
    }
}
