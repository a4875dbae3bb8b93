import Foundation
import TestSupport
import Testing

@testable import Backups
@testable import EventStore

/// Repositories that an earlier build has written: every later one must read them (FORMATS.md §11).
struct GoldenBackupTests {
    private static let root = "e7cb6bdfe43ee1c3a3f2d695127c8c45677b9b135d2722cd10223a7d577fc62b"

    /// A copy: a reader holds a lock in it.
    private func golden(_ name: String) throws -> (folder: TemporaryFolder, path: String) {
        let folder = try TemporaryFolder.made()
        let source = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Golden/\(name)").path
        try FileManager.default.copyItem(atPath: source, toPath: folder.file("repository"))
        return (folder, folder.file("repository"))
    }

    @Test("Both repositories are proven and restored", arguments: ["plain", "sealed"])
    func repositories(name: String) throws {
        let (folder, path) = try golden(name)
        let key = name == "sealed" ? testKey : nil
        let repository = try Repository(path, key: key, .reading)
        let report = try RepositoryCheck(repository) { _, _ in true }.run()
        #expect(report.findings.isEmpty && report.leftovers.isEmpty && report.unsigned.isEmpty, "\(report.findings)")
        #expect(report.proven.map(\.position) == [5, 305, 306] && report.events == 306)
        let manifest = try repository.backup(nil)
        #expect(manifest.origins.map { $0.progress.root.description } == [Self.root])
        #expect(manifest.name == "golden" && manifest.files.map(\.name) == ["peers.json"])
        #expect(manifest.segments.map(\.holes.count) == [1, 34, 0])
        let restore = try BackupRestore(into: folder.file("store"), withKey: true) { _, _ in true }
        #expect(try restore.run(manifest, of: repository).position == 306)
        let files = StoreFiles(folder.file("store"))
        #expect(try verify(files).isIntact)
        let texts = try events(files).compactMap { $0.payload.map { String(decoding: $0, as: UTF8.self) } }
        #expect(texts.contains(#"{"text":"첫 번째"}"#) && texts.contains(#"{"text":"말 299 말 말 말 말 말"}"#))
        #expect(try SmallFile.read(files.peers) != nil)
    }

    @Test(
        "Both repositories of version 2 are proven and restored: attachments, and a backup that is older than an erasure",
        arguments: ["plain-2", "sealed-2"])
    func secondVersion(name: String) throws {
        let (folder, path) = try golden(name)
        let key = name == "sealed-2" ? testKey : nil
        let repository = try Repository(path, key: key, .reading)
        let report = try RepositoryCheck(repository) { _, _ in true }.run()
        #expect(report.findings.isEmpty && report.leftovers.isEmpty && report.unsigned.isEmpty, "\(report.findings)")
        #expect(report.proven.map(\.erasures.count) == [1, 0] && report.attachments == 2)
        #expect(report.proven.map { $0.segments.saturatedSum(of: \.holes.count) } == [3, 3])
        let texts = ["고양이", String(repeating: "길다 ", count: 2_000)]
        for (index, manifest) in report.proven.enumerated() {
            let restore = try BackupRestore(into: folder.file("store\(index)"), withKey: true) { _, _ in true }
            let come = try restore.run(manifest, of: repository)
            #expect(come.erasedLater == (index == 0 ? 3 : 0) && come.attachments == 2 && come.missing.isEmpty)
            let files = StoreFiles(folder.file("store\(index)"))
            let found = try verify(files)
            #expect(found.count(of: .erasures) == 0 && found.erased == 3, "\(found.findings)")
            for text in texts {
                let digest = SHA256().digest(Array(text.utf8))
                #expect(try SmallFile.read(AttachmentFolder(files).blob(digest)) == Array(text.utf8))
            }
        }
    }

    @Test("A manifest is read as it is written, byte for byte", arguments: ["plain", "plain-2"])
    func manifests(name: String) throws {
        let (folder, path) = try golden(name)
        defer { withExtendedLifetime(folder) {} }
        for file in try FileManager.default.contentsOfDirectory(atPath: path + "/backups") {
            let bytes = Array(try Data(contentsOf: URL(filePath: "\(path)/backups/\(file)")))
            let manifest = try BackupManifest(bytes)
            #expect(manifest.isSigned && manifest.id + ".manifest" == file)
            // Without the node's key the same, but for the signature.
            #expect(bytes.starts(with: manifest.bytes(signedWith: nil).dropLast(2)))
        }
    }
}
