import Foundation
import TestSupport
import Testing

@testable import Backups
@testable import EventStore

/// A repository has one key, and its backups one node: what says otherwise is refused, or named (INV-4).
struct OwnerTests {
    private func archive(_ key: StreamKey? = nil) throws -> Archive {
        let archive = try Archive()
        for _ in 0..<2 {
            try archive.append(20)
            try archive.create(key: key)
        }
        return archive
    }

    @Test("A repository that is not encrypted takes no backup with a key, and nothing is written")
    func keyForPlain() throws {
        let archive = try archive()
        let before = try archive.files(of: archive.repositoryPath)
        try archive.append(5)
        for isFull in [false, true] {
            let error = failure { try archive.create(BackupPlan(withKey: true, isFull: isFull), key: testKey) }
            #expect(error?.code == "E_BACKUP_KEY", "\(String(describing: error))")
        }
        #expect(try archive.files(of: archive.repositoryPath) == before)
        // The other way, and with the right key.
        try archive.create()
        #expect(try archive.check().proven.count == 3)
        let sealed = try self.archive(testKey)
        #expect(failure { try sealed.create() }?.code == "E_BACKUP_KEY")
        try sealed.create(key: testKey)
    }

    @Test("A manifest that a stranger has signed anew with a key of his own is damaged for all that read it")
    func otherKey() throws {
        let archive = try archive()
        let stranger = SigningKey.generate()
        let good = try archive.repository().backup(nil)
        var forged = good
        forged.key = stranger.publicKey
        try archive.repository(.writing).write(forged, signedWith: stranger)
        let report = try archive.check()
        #expect(report.proven.count == 1, "\(report.findings)")
        let node = "\(stranger.publicKey.nodeID)"
        #expect(
            report.findings.contains { "\($0)".contains(good.id) && "\($0)".contains(node) }, "\(report.findings)")
        for id in [nil, good.id] {
            let error = failure { try archive.restore("r", id) }
            #expect(error?.code == "E_BACKUP_DAMAGED", "\(String(describing: error))")
        }
        #expect(failure { _ = try archive.repository().backup(nil) }?.code == "E_BACKUP_DAMAGED")
        // It says of the origins, too, that they are his: the rows do not.
        forged.origins = good.origins.map {
            BackupOrigin(key: stranger.publicKey, progress: $0.progress, coverage: $0.coverage)
        }
        try archive.repository(.writing).write(forged, signedWith: stranger)
        #expect(try archive.check().broken == [good.id])
        let error = failure { try archive.restore("r", good.id) }
        #expect(error?.code == "E_BACKUP_DAMAGED", "\(String(describing: error))")
        #expect(!FileManager.default.fileExists(atPath: archive.folder.file("r.restoring")))
        try archive.repository(.writing).write(
            good, signedWith: SigningKey(pem: Array(try Data(contentsOf: URL(filePath: archive.files.key)))))
        #expect(try archive.check().proven.count == 2)
    }

    @Test("In a repository that several nodes share each keeps its newest, and not all of them together")
    func prunedEach() throws {
        let archive = try archive()
        let other = try Archive()
        for _ in 0..<3 {
            try other.append(3)
            _ = try BackupWriter(other.files) { _, _ in true }
                .run(BackupPlan(withKey: true, isFull: false), in: archive.repository(.writing))
        }
        let all = try archive.repository().manifests().good
        #expect(all.count == 5 && Set(all.map(\.node)).count == 2)
        for (count, kept) in [(2, 4), (1, 2)] {
            let report = try archive.repository(.writing).prune(Retention(count: count, since: nil))
            #expect(report.kept.count == kept, "\(report.kept.map(\.id))")
            let newest = Dictionary(grouping: all, by: \.node).values.flatMap { $0.suffix(count) }
            #expect(Set(report.kept.map(\.id)) == Set(newest.map(\.id)))
        }
        // By their age alone, too, the newest of each stays.
        #expect(try archive.repository(.writing).prune(Retention(count: nil, since: .max)).kept.count == 2)
        let checked = try archive.check()
        #expect(checked.proven.count == 2 && checked.findings.isEmpty && checked.leftovers.isEmpty)
    }

    @Test("Of backups of two nodes none is the newest: the one that is meant is named")
    func twoNodes() throws {
        let archive = try archive()
        #expect(try archive.check().nodes.count == 1)
        let own = try archive.repository().backup(nil)
        let stranger = try Archive()
        try stranger.append(3)
        let other = try BackupWriter(stranger.files) { _, _ in true }
            .run(BackupPlan(withKey: true, isFull: false), in: archive.repository(.writing)).manifest
        let report = try archive.check()
        #expect(report.findings.isEmpty && Set(report.nodes) == [own.node, other.node])
        let error = failure { _ = try archive.repository().backup(nil) }
        #expect(
            error?.code == "E_BACKUP_DAMAGED" && "\(error as Any)".contains("\(own.node)"),
            "\(String(describing: error))")
        try archive.restore("r", own.id)
        try archive.restore("s", other.id)
    }

    @Test("A row that cannot be read ends a backup with E_BACKUP_LOG, and the earlier backups stay")
    func unreadableRow() throws {
        let archive = try archive()
        try archive.append(20)
        archive.store.close()
        do {
            let connection = try Connection(path: archive.files.log, mode: .write)
            try connection.execute("UPDATE event SET id = x'00' WHERE position = 50")
        }
        let error = failure { try archive.create() }
        #expect(error?.code == "E_BACKUP_LOG" && "\(error as Any)".contains("50"), "\(String(describing: error))")
        #expect(try archive.check().proven.count == 2)
    }
}
