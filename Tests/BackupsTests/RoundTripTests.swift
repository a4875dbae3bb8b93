import Foundation
import TestSupport
import Testing

@testable import Backups
@testable import EventStore

/// docs/operating/backup.md: what goes into a repository comes out of it as it was, and proves itself (INV-2, INV-3, INV-4).
struct RoundTripTests {
    @Test(
        "One full backup and three increments: each is restored as the log was then, and only new rows are written",
        arguments: [false, true])
    func increments(isSealed: Bool) throws {
        let archive = try Archive()
        let key = isSealed ? testKey : nil
        var reports: [BackupReport] = []
        for number in [900, 1, 0, 300] {
            if number > 0 { try archive.append(number) }
            reports.append(try archive.create(key: key))
        }
        #expect(reports.map(\.manifest.position) == [901, 902, 902, 1_202])
        #expect(
            reports.map(\.after) == [0, 901, 902, 902]
                && reports.map(\.base).map { $0 != nil } == [false, true, true, true])
        #expect(reports.map(\.manifest.segments.count) == [1, 2, 2, 3] && reports.allSatisfy { $0.uncovered == 0 })
        #expect(Set(reports.map(\.manifest.id)).count == 4)
        let checked = try archive.check(key: key)
        #expect(
            checked.findings.isEmpty && checked.proven.count == 4 && checked.events == 1_202
                && checked.unsigned.isEmpty)
        for (index, report) in reports.enumerated() {
            let restored = try archive.restore("r\(index)", report.manifest.id, key: key)
            #expect(try events(restored) == events(archive.files, through: report.manifest.position))
            let proven = try verify(restored)
            #expect(proven.isIntact && proven.unsigned == 0, "\(proven.findings)")
            #expect(
                FileManager.default.contents(atPath: restored.key)
                    == FileManager.default.contents(atPath: archive.files.key))
            let drill = try BackupDrill(
                archive.repository(key: key), in: archive.folder.path, restoring: { _, _ in true },
                verifying: { _, _ in }
            )
            .run(report.manifest)
            #expect(drill.isGood && drill.events == report.manifest.position, "\(drill.findings)")
        }
        #expect(try archive.repository(key: key).manifests().good.map(\.id) == reports.map(\.manifest.id))
    }

    @Test("A restored node goes on in a new origin and uses no seq twice (D12, INV-3)")
    func newOrigin() throws {
        let archive = try Archive()
        try archive.append(50)
        try archive.create()
        // What it loses: other events under the same seqs would be a fork.
        try archive.append(5)
        let before = archive.store.identity.origin
        let restored = try archive.restore("again")
        let store = try EventStore(opening: restored.folder)
        defer { store.close() }
        #expect(store.originChange == .copied && store.identity.origin != before)
        #expect(store.identity.node == archive.store.identity.node)
        _ = try store.appendBlocking([
            EventDraft(type: "t", conversation: nil, user: "u", author: nil, payload: Array("{}".utf8))
        ])
        try store.flushBlocking()
        let sizes = Dictionary(uniqueKeysWithValues: try LogReader(restored).origins().map { ($0.id, $0.size) })
        #expect(sizes == [before: 51, store.identity.origin: 2])
        // The next backup of it goes on from the same repository.
        let report = try BackupWriter(restored) { _, _ in true }
            .run(BackupPlan(withKey: true, isFull: false), in: archive.repository(.writing))
        #expect(
            report.after == 51 && report.manifest.position == 53 && report.manifest.origin == store.identity.origin)
    }

    @Test(
        "A log that goes on otherwise than the newest backup goes on from an older one, or begins anew, and says so")
    func otherHistory() throws {
        let archive = try Archive()
        try archive.append(10)
        let first = try archive.create()
        try archive.append(10)
        try archive.create()
        let restored = try archive.restore("rewound", first.manifest.id)
        let store = try EventStore(opening: restored.folder)
        try store.flushBlocking()
        let report = try BackupWriter(restored) { _, _ in true }
            .run(BackupPlan(withKey: true, isFull: false), in: archive.repository(.writing))
        #expect(report.base == first.manifest.id && !report.isOtherHistory)
        store.close()
        // Another store altogether.
        let stranger = try Archive()
        try stranger.append(3)
        let other = try BackupWriter(stranger.files) { _, _ in true }
            .run(BackupPlan(withKey: true, isFull: false), in: archive.repository(.writing))
        #expect(other.base == nil && other.isOtherHistory && other.after == 0)
        let checked = try archive.check()
        #expect(checked.findings.isEmpty && checked.proven.count == 4)
    }

    @Test("A position behind the end of the backup is refused, and nothing is restored")
    func beyond() throws {
        let archive = try Archive()
        try archive.append(3)
        let last = try archive.create().manifest.position
        let error = failure { try archive.restore("r", end: .position(last + 1)) }
        #expect(error == .beyond(position: last + 1, last: last) && error?.code == "E_POSITION")
        let left = try FileManager.default.contentsOfDirectory(atPath: archive.folder.path)
        #expect(left.sorted() == ["repository", "store"])
    }

    @Test(
        "Restored to a position: the events up to it, proven by later heads",
        arguments: [1, 2, 255, 256, 257, 700, 900, 901])
    func toPosition(position: UInt64) throws {
        let archive = try Archive()
        try archive.append(600)
        try archive.append(300)
        try archive.create()
        let restored = try archive.restore("r", end: .position(position))
        #expect(try events(restored) == events(archive.files, through: position))
        let report = try verify(restored)
        #expect(report.isIntact && report.unsigned == 0, "\(report.findings) \(report.answer)")
        let store = try EventStore(opening: restored.folder)
        defer { store.close() }
        #expect(store.originChange != nil)
        try store.flushBlocking()
        #expect(try verify(restored).isIntact)
    }

    @Test("Restored to a time: what had come by then, within a second")
    func toTime() throws {
        let archive = try Archive()
        try archive.append(20)
        try archive.create()
        Thread.sleep(forTimeInterval: 1.2)
        let moment = WallClock.now
        Thread.sleep(forTimeInterval: 1.2)
        try archive.append(30)
        try archive.create()
        let restored = try archive.restore("r", end: .time(moment))
        #expect(try LogReader(restored).top() == 21)
        // When events came is kept, too.
        let whole = try archive.restore("whole")
        #expect(try LogReader(whole).known(at: moment) == LogReader(archive.files).known(at: moment))
        #expect(failure { try archive.restore("never", end: .time(moment - 86_400_000)) } != nil)
        #expect(!FileManager.default.fileExists(atPath: archive.folder.file("never")))
    }

    @Test("A backup without key restores a store that can be read; one with it does so on demand")
    func withoutKey() throws {
        let archive = try Archive()
        try archive.append(3)
        try archive.create(BackupPlan(withKey: false, isFull: false))
        #expect(!FileManager.default.fileExists(atPath: try archive.restore("a").key))
        try archive.create()
        #expect(!FileManager.default.fileExists(atPath: try archive.restore("b", withKey: false).key))
        #expect(FileManager.default.fileExists(atPath: try archive.restore("c").key))
    }

    @Test("A folder that is there is not written to, and one with other things in it is no repository")
    func folders() throws {
        let archive = try Archive()
        try archive.append(3)
        try FileManager.default.createDirectory(atPath: archive.repositoryPath, withIntermediateDirectories: true)
        try Data().write(to: URL(filePath: archive.repositoryPath + "/mine"))
        #expect(failure { try archive.create() }?.code == "E_REPOSITORY")
        #expect(failure { _ = try archive.repository() }?.code == "E_NO_REPOSITORY")
        try FileManager.default.removeItem(atPath: archive.repositoryPath + "/mine")
        try archive.create()
        try FileManager.default.createDirectory(
            atPath: archive.folder.file("there"), withIntermediateDirectories: true)
        #expect(failure { try archive.restore("there") }?.code == "E_STORE_FILE")
        #expect(failure { try archive.restore("r", "20200101T000000Z-1") }?.code == "E_NO_BACKUP")
        #expect(failure { try archive.restore("r", "../../etc/passwd") }?.code == "E_NO_BACKUP")
        // One writes at a time; who reads meanwhile is told to wait.
        let held = try archive.repository(.writing)
        #expect(failure { try archive.create() }?.code == "E_BACKUP_BUSY")
        #expect(failure { _ = try archive.repository() }?.code == "E_BACKUP_BUSY")
        withExtendedLifetime(held) {}
    }

    @Test("Pruning keeps the newest, and what kept backups need")
    func pruning() throws {
        let archive = try Archive()
        var ids: [String] = []
        for _ in 0..<5 {
            try archive.append(10)
            ids.append(try archive.create().manifest.id)
        }
        try Data("x".utf8).write(to: URL(filePath: archive.repositoryPath + "/segments/left.rows.tmp"))
        #expect(try archive.check().leftovers == ["segments/left.rows.tmp"])
        let kept = try archive.repository(.writing).prune(Retention(count: 2, since: nil))
        #expect(kept.kept.map(\.id) == Array(ids.suffix(2)) && kept.files == ["segments/left.rows.tmp"])
        let checked = try archive.check()
        #expect(checked.proven.map(\.id) == Array(ids.suffix(2)) && checked.leftovers.isEmpty)
        try archive.create(BackupPlan(withKey: true, isFull: true))
        let last = try archive.repository(.writing).prune(Retention(count: nil, since: .max))
        #expect(last.kept.count == 1 && last.files.count == 5 && last.bytes > 0)
        #expect(try archive.check().proven.count == 1)
        #expect(try archive.repository(.writing).prune(Retention(count: nil, since: nil)).removed.isEmpty)
        try archive.restore("r")
    }

    @Test("Of a hundred small backups each names few segments, and each is whole")
    func manyBackups() throws {
        let archive = try Archive()
        var reports: [BackupReport] = []
        for _ in 0..<100 {
            try archive.append(3)
            reports.append(try archive.create())
        }
        #expect(
            reports.allSatisfy { $0.manifest.segments.count <= 32 }
                && reports.dropFirst().allSatisfy { $0.base != nil })
        #expect(Set(reports.flatMap(\.manifest.segments).map(\.last)).count == 100)
        let checked = try archive.check()
        #expect(checked.findings.isEmpty && checked.proven.count == 100, "\(checked.findings)")
        for index in [14, 15, 16, 99] {
            let restored = try archive.restore("r\(index)", reports[index].manifest.id)
            #expect(try events(restored) == events(archive.files, through: reports[index].manifest.position))
        }
    }

    @Test(
        "A file of cosignatures that is being made, or is none, keeps no backup from being made; one that is there comes back"
    )
    func cosignatures() throws {
        let archive = try Archive()
        try archive.append(3)
        do {
            let connection = try Connection(path: archive.files.cosignatures, mode: .write)
            try connection.execute("PRAGMA journal_mode = WAL; CREATE TABLE other(x)")
        }
        #expect(try archive.create().manifest.cosignatures.isEmpty)
        try Data("no database at all".utf8).write(to: URL(filePath: archive.files.cosignatures))
        #expect(try archive.create().manifest.cosignatures.isEmpty)
        let values = try NamedValues(path: archive.files.cosignatures)
        try values.put([("node/x", [1, 2, 3])])
        #expect(try archive.create().manifest.cosignatures == [.init(name: "node/x", value: [1, 2, 3])])
        let restored = try archive.restore("r")
        #expect(try NamedValues(reading: restored.cosignatures)?.value("node/x") == [1, 2, 3])
    }

    @Test("A log of one event, and of few, comes back: a table of one page", arguments: [0, 1, 2, 30])
    func small(count: Int) throws {
        let archive = try Archive()
        if count > 0 { try archive.append(count) }
        try archive.create()
        let restored = try archive.restore("r")
        #expect(try events(restored) == events(archive.files) && verify(restored).isIntact)
        let store = try EventStore(opening: restored.folder)
        _ = try store.appendBlocking(
            (0..<200).map { _ in
                EventDraft(type: "t", conversation: nil, user: "u", author: nil, payload: Array("{}".utf8))
            })
        try store.flushBlocking()
        #expect(try verify(restored).isIntact)
        store.close()
    }

    @Test("Large segments are cut, and rows stand in several")
    func severalSegments() throws {
        let archive = try Archive()
        try archive.append(3_000, text: String(repeating: "길다 ", count: 300))
        let writer = try BackupWriter(archive.files) { _, _ in true }
        let position = try writer.awaitHead().position
        var sizes: [UInt64] = []
        try writer.writeSegments(after: 0, through: position, 0, key: nil, limit: 20_000) { _ in
            MemoryBytes()
        } written: { _, segment in
            sizes.append(segment.last - segment.after)
        }
        #expect(sizes.count > 2 && sizes.reduce(0, +) == position)
    }
}
