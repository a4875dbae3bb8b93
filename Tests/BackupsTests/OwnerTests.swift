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
        // It says of the origins, too, that they are his: the rows do not. Nor would the node's key be his.
        forged.files = []
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

    private func key(of archive: Archive) throws -> SigningKey {
        try #require(SigningKey(pem: Array(try Data(contentsOf: URL(filePath: archive.files.key)))))
    }

    @Test("A manifest that calls its node otherwise than the node's events do is damaged, signed or not")
    func otherName() throws {
        let archive = try archive()
        var forged = try archive.repository().backup(nil)
        forged.name = "busan"
        try archive.repository(.writing).write(forged, signedWith: try key(of: archive))
        let report = try archive.check()
        #expect(report.broken == [forged.id] && report.proven.count == 1, "\(report.findings)")
        let told = report.findings.map { "\($0)" }.joined()
        #expect(told.contains("it calls the node 'busan'") && told.contains("'seoul'"))
        let error = failure { try archive.restore("r", forged.id) }
        #expect(error?.code == "E_BACKUP_DAMAGED" && "\(error as Any)".contains("busan"), "\(error as Any)")
    }

    @Test("A manifest that a peer has signed anew is damaged if the node's key is in it, else told as his")
    func otherPeer() throws {
        let archive = try Archive()
        let peer = try Archive()
        try peer.append(3)
        try carry(peer.store, archive.store)
        try archive.append(3)
        let good = try archive.create().manifest
        var forged = good
        (forged.key, forged.origin) = (try key(of: peer).publicKey, peer.store.identity.origin)
        try archive.repository(.writing).write(forged, signedWith: try key(of: peer))
        let report = try archive.check()
        let told = report.findings.map { "\($0)" }.joined()
        #expect(report.proven.isEmpty && told.contains("node.key"), "\(told)")
        forged.files.removeAll { $0.name == "node.key" }
        try archive.repository(.writing).write(forged, signedWith: try key(of: peer))
        #expect(try archive.check().nodes == [peer.store.identity.node])
    }

    @Test("Files and cosignatures that no store has are named, and the rows stay proven")
    func strangeParts() throws {
        let archive = try Archive()
        try archive.append(3)
        let good = try archive.create().manifest
        let head = try #require(good.origins.first?.coverage.head)
        let (own, other) = (try key(of: archive), SigningKey.generate())
        let (mine, told) = ("mine/\(head.head.origin)", "node/\(other.publicKey.nodeID)")
        func list(_ key: SigningKey) -> [UInt8] {
            CosignatureList([Cosignature(signing: head, at: 5, with: key)]).bytes
        }
        var more = good
        more.cosignatures = [.init(name: mine, value: list(own)), .init(name: told, value: list(other))]
        more.files.append(.init(name: "evidence/fork-1.json", value: [0x7b, 0x7d]))
        try archive.repository(.writing).write(more, signedWith: own)
        #expect(try archive.check().strange == [])
        // Another's words under the node's name, bytes that are no list, and names that no release has put there.
        more.cosignatures = [.init(name: mine, value: list(other)), .init(name: told, value: [1, 2, 3])]
        more.files += [.init(name: "odd.txt", value: [1]), .init(name: "evidence/../x", value: [1])]
        try archive.repository(.writing).write(more, signedWith: own)
        let report = try archive.check()
        #expect(report.proven.map(\.id) == [good.id] && report.findings.isEmpty)
        let names = ["file odd.txt", "file evidence/../x", "cosignatures \(mine)", "cosignatures \(told)"]
        #expect(report.strange == names.map { "\(good.id): \($0)" })
        // A list of the right form with a signature of no one.
        var bytes = list(own)
        bytes[bytes.count - 1] ^= 1
        (more.files, more.cosignatures) = (good.files, [.init(name: mine, value: bytes)])
        try archive.repository(.writing).write(more, signedWith: own)
        #expect(try archive.check().strange == ["\(good.id): cosignatures \(mine)"])
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
