import Foundation
import TestSupport
import Testing

@testable import Backups
@testable import EventStore

/// A node that was restored from an older backup goes on beside backups of the history that it has left. Of these `create` names those
/// alone that hold what was erased: who takes one away loses what it alone has (INV-4, INV-11).
struct LeftHistoryTests {
    /// Goes on with what a backup has, as a node does that was restored from it.
    private func rewind(_ archive: Archive, to id: String) throws {
        let rewound = try archive.restore("rewound", id)
        archive.store.close()
        try FileManager.default.removeItem(atPath: archive.files.folder)
        try FileManager.default.moveItem(atPath: rewound.folder, toPath: archive.files.folder)
        archive.store = try EventStore(opening: archive.files.folder)
    }

    /// An erasure between two backups, of which the first one is what the node goes on from.
    private func erased() throws -> (archive: Archive, newest: BackupManifest) {
        let archive = try Archive()
        try archive.append(5, user: "u-1", text: "비밀")
        let first = try archive.create().manifest
        try archive.erase("u-1")
        try archive.append(5, user: "u-2", text: "소중")
        let newest = try archive.create().manifest
        try rewind(archive, to: first.id)
        return (archive, newest)
    }

    @Test("A backup of the history that was left is not named while it holds nothing that was erased")
    func clean() throws {
        let (archive, newest) = try erased()
        #expect(try archive.create().unreached.isEmpty, "no start has recorded the erasure once more")
        try archive.store.finishErasures()
        try archive.append(1)
        let made = try archive.create()
        #expect(made.unreached.isEmpty && made.unread.isEmpty, "\(made)")
        #expect(try archive.check().findings.isEmpty)
        #expect(try ByteScan.find(["소중"], in: [archive.restore("r", newest.id).folder]).count == 1)
        // What is erased now it has.
        try archive.erase("u-2")
        for _ in 0..<2 { #expect(try archive.create().unreached == [newest.id]) }
    }

    @Test("One that is damaged is named as such, and not as one that holds what was erased")
    func damaged() throws {
        let (archive, newest) = try erased()
        try archive.store.finishErasures()
        try archive.append(1)
        try archive.create()
        let own = try #require(try archive.repository().manifest(newest.id).segments.last)
        let path = "\(archive.repositoryPath)/segments/\(own.file)"
        let whole = try Data(contentsOf: URL(filePath: path))
        for bytes in [whole.dropLast(1), nil] {
            try FileManager.default.removeItem(atPath: path)
            try bytes?.write(to: URL(filePath: path))
            let made = try archive.create()
            #expect(made.unreached.isEmpty && made.unread == [newest.id], "\(made)")
            try whole.write(to: URL(filePath: path))
        }
        #expect(try archive.create().unread.isEmpty)
        let manifest = "backups/\(newest.id).manifest"
        try Data("?".utf8).write(to: URL(filePath: "\(archive.repositoryPath)/\(manifest)"))
        let made = try archive.create()
        #expect(made.unreached.isEmpty && made.unread.contains(manifest), "\(made)")
    }

    @Test("An attachment of erased events goes out of it, too, where it shares their rows with the log")
    func attachment() throws {
        let archive = try Archive()
        let picture = try archive.attach(Array("비밀".utf8), user: "u-1")
        let first = try archive.create().manifest
        let other = try archive.attach(Array("소중".utf8), user: "u-2")
        let newest = try archive.create().manifest
        try rewind(archive, to: first.id)
        try archive.erase("u-1")
        let made = try archive.create()
        #expect(made.unreached.isEmpty && made.unread.isEmpty, "\(made)")
        #expect(try archive.repository().manifest(newest.id).attachments.map(\.digest) == [other])
        let files = FileManager.default
        let repository = try archive.repository()
        for (digest, isThere) in [(picture, false), (other, true)] {
            let path = "\(archive.repositoryPath)/\(repository.name(ofAttachment: digest))"
            #expect(files.fileExists(atPath: path) == isThere)
        }
        #expect(try archive.check().findings.isEmpty && archive.check().proven.count == 3)
    }

    @Test("Backups of another node in the same repository are its own matter")
    func otherNode() throws {
        let archive = try Archive()
        let other = try Archive()
        try other.append(5, user: "u-1")
        _ = try BackupWriter(other.files) { _, _ in true }
            .run(BackupPlan(withKey: true, isFull: false), in: archive.repository(.making))
        try archive.append(5, user: "u-1")
        try archive.create()
        try archive.erase("u-1")
        let made = try archive.create()
        #expect(made.unreached.isEmpty && made.unread.isEmpty && made.rewritten == 1, "\(made)")
    }
}
