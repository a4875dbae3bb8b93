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

    @Test("A manifest is read as it is written, byte for byte")
    func manifests() throws {
        let (folder, path) = try golden("plain")
        defer { withExtendedLifetime(folder) {} }
        for name in try FileManager.default.contentsOfDirectory(atPath: path + "/backups") {
            let bytes = Array(try Data(contentsOf: URL(filePath: "\(path)/backups/\(name)")))
            let manifest = try BackupManifest(bytes)
            #expect(manifest.isSigned && manifest.id + ".manifest" == name)
            // Without the node's key the same, but for the signature.
            #expect(bytes.starts(with: manifest.bytes(signedWith: nil).dropLast(2)))
        }
    }
}
