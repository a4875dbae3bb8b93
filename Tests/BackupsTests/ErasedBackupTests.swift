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

    @Test(
        "Backups of another history keep what was erased, and what comes back from them does not; 'verify' believes no one but the node (INV-4, INV-11)"
    )
    func erasedAgain() throws {
        let archive = try Archive()
        let word = Self.word()
        try archive.append(5, user: "u-1", text: word)
        let first = try archive.create().manifest
        let picture = try archive.attach(Array(word.utf8), user: "u-1")
        try archive.append(5, user: "u-2")
        let second = try archive.create().manifest
        // The node goes on from the first backup, and erases there.
        let rewound = try archive.restore("rewound", first.id)
        archive.store.close()
        try FileManager.default.removeItem(atPath: archive.files.folder)
        try FileManager.default.moveItem(atPath: rewound.folder, toPath: archive.files.folder)
        archive.store = try EventStore(opening: archive.files.folder)
        try archive.erase("u-1")
        #expect(try archive.create().unreached == [second.id])
        let restored = try archive.restore("r", second.id, withKey: false)
        #expect(ByteScan.find([word], in: [restored.folder]).isEmpty)
        #expect(try SmallFile.read(AttachmentFolder(restored).blob(picture)) == nil)
        let report = try verify(restored)
        #expect(report.count(of: .erasures) == 0 && report.erased == 6, "\(report.findings)")
        let drill = try archive.drill(try archive.repository().backup(second.id))
        #expect(drill.isGood && drill.erasedLater == 6, "\(drill.findings)")
        // Without what proves it, and with what another has signed, the rows are missed.
        let kept = try #require(try SmallFile.read(restored.laterErasures))
        for (from, to) in [("\"proof\":[", "\"proof\":[\"\(Digest.zero)\","), ("\"seq\":", "\"seq\":1")] {
            let lie = String(decoding: kept, as: UTF8.self).replacingOccurrences(of: from, with: to)
            try SmallFile.replace(restored.laterErasures, with: Array(lie.utf8), mode: 0o600)
            #expect(try verify(restored).count(of: .erasures) > 6, "\(to)")
        }
        #expect(unlink(restored.laterErasures) == 0)
        #expect(try verify(restored).count(of: .erasures) == 6)
    }

    private final class Slow: StoreFollower {
        func storeHasClosed() {}
    }

    @Test("While something else begins to follow the store, the erasure is recorded all the same")
    func recordedMeanwhile() throws {
        let archive = try Archive()
        try archive.append(5, user: "u-1")
        let before = try archive.create().manifest
        try archive.erase("u-1")
        try archive.create()
        let files = try archive.restore("old", before.id)
        let store = try EventStore(opening: files.folder)
        var isRecorded = false
        _ = try store.follower { () throws(StoreError) in
            for _ in 0..<1_200 where !isRecorded {
                isRecorded = access(files.laterErasures, F_OK) != 0
                if !isRecorded { usleep(50_000) }
            }
            return Slow()
        }
        #expect(isRecorded)
        try store.finishErasures()
        store.close()
    }

    @Test(
        "A store that comes back from before an erasure, or cut off before it, records it once more and has no file of it then (INV-11)"
    )
    func recordedAgain() throws {
        let archive = try Archive()
        let word = Self.word()
        try archive.append(5, user: "u-1", text: word)
        let before = try archive.create().manifest
        try archive.erase("u-1")
        try archive.append(1, user: "u-1", text: "새로")
        let after = try archive.create().manifest
        #expect(try archive.repository().backup(before.id).erasures.count == 1 && after.erasures.isEmpty)
        for (name, id, end) in [("old", before.id, RestoreEnd.all), ("cut", after.id, .position(6))] {
            let files = try archive.restore(name, id, end: end)
            #expect(
                try SmallFile.read(files.laterErasures) != nil && verify(files).count(of: .erasures) == 0, "\(name)")
            // A backup of it says the same, and so does what comes back from that.
            let store = try EventStore(opening: files.folder)
            try store.finishErasures()
            #expect(try SmallFile.read(files.laterErasures) == nil, "\(name)")
            try store.flushBlocking()
            store.close()
            let report = try verify(files)
            #expect(report.isIntact && report.erased == 5, "\(name): \(report.findings)")
            // What the user says from now on stays.
            #expect(try LogReader(files).erasures().count == 1)
            let again = try EventStore(opening: files.folder)
            _ = try again.appendBlocking([
                EventDraft(type: "message.posted", user: "u-1", payload: Array(#"{"text":"더"}"#.utf8))
            ])
            try again.finishErasures()
            #expect(try LogReader(files).erasures().count == 1)
            again.close()
            #expect(try events(files).last { $0.header.user == "u-1" }?.payload != nil)
        }
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
        let checked = try archive.check()
        #expect(checked.proven.count == 2 && checked.broken == [second.manifest.id], "\(checked.findings)")
        store.close()
    }
}
