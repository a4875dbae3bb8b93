import Foundation
import TestSupport
import Testing

@testable import Backups
@testable import EventStore

/// A repository that lacks something, or has what is none of its files: it says so, goes on as well as it can, and takes nothing away that
/// may be needed (INV-1).
struct BrokenRepositoryTests {
    private func path(_ archive: Archive, _ name: String) -> String { "\(archive.repositoryPath)/\(name)" }

    /// Three backups, each with a segment of its own.
    private func archive(_ key: StreamKey? = nil) throws -> (archive: Archive, backups: [BackupManifest]) {
        let archive = try Archive()
        let backups = try (0..<3).map { _ in
            try archive.append(20)
            return try archive.create(key: key).manifest
        }
        return (archive, backups)
    }

    @Test(
        "Behind a backup whose segment is gone, or has another length, none is made: the next one goes on from one that is whole",
        arguments: [0, 1])
    func missingSegment(lost: Int) throws {
        let (archive, backups) = try archive()
        let segment = path(archive, "segments/\(backups[lost].segments[lost].file)")
        if lost == 0 {
            try FileManager.default.removeItem(atPath: segment)
        } else {
            #expect(truncate(segment, 40) == 0)
        }
        try archive.append(5)
        let report = try archive.create()
        #expect(report.base == (lost == 0 ? nil : backups[0].id) && !report.isOtherHistory)
        #expect(
            report.broken.count == 1 && report.broken.allSatisfy { "\($0)".contains("segments/") }, "\(report.broken)"
        )
        let drill = try BackupDrill(
            archive.repository(), in: archive.folder.path, restoring: { _, _ in true }, verifying: { _, _ in }
        ).run(archive.repository().backup(nil))
        #expect(drill.isGood && drill.events == report.manifest.position, "\(drill.findings)")
        #expect(try archive.check().proven.map(\.id).contains(report.manifest.id))
        // The next one goes on behind it.
        #expect(try archive.create().base == report.manifest.id)
    }

    @Test("A repository.json of another form, or of a later release, is refused by all that open it")
    func otherForm() throws {
        let (archive, _) = try archive()
        let before = try archive.files(of: archive.repositoryPath)
        for text in ["", "{}", "{\"type\":\"sillok-backups\",\"v\":2}\n", "{\"type\":\"sillok-backups\",\"v\":1}"] {
            try Data(text.utf8).write(to: URL(filePath: path(archive, "repository.json")))
            for use in [Repository.Use.reading, .writing, .making] {
                let error = failure { _ = try archive.repository(use) }
                #expect(error?.code == "E_BACKUP_DAMAGED" && error?.file == "repository.json", "\(text) \(use)")
            }
        }
        #expect(try archive.files(of: archive.repositoryPath) == before)
    }

    @Test(
        "A pipe, a folder or a link in the place of a file is named and keeps no one waiting", .timeLimit(.minutes(5))
    )
    func noFile() throws {
        for kind in ["pipe", "folder", "link"] {
            let (archive, backups) = try archive()
            func put(_ name: String) throws {
                try? FileManager.default.removeItem(atPath: path(archive, name))
                switch kind {
                case "pipe": #expect(mkfifo(path(archive, name), 0o600) == 0)
                case "folder": #expect(mkdir(path(archive, name), 0o700) == 0)
                default: #expect(symlink("/dev/zero", path(archive, name)) == 0)
                }
            }
            let segment = "segments/\(backups[2].segments[2].file)"
            try put(segment)
            var report = try archive.check()
            #expect(
                report.broken == [backups[2].id] && "\(report.findings)".contains(segment),
                "\(kind): \(report.findings)")
            #expect(failure { try archive.restore("r") }?.code == "E_BACKUP_DAMAGED")
            #expect(try archive.create().base == backups[1].id)
            let manifest = "backups/\(backups[1].id).manifest"
            try put(manifest)
            report = try archive.check()
            #expect(
                "\(report.findings)".contains(manifest) && report.proven.map(\.id).contains(backups[0].id), "\(kind)")
            #expect(failure { _ = try archive.repository(.writing).prune(Retention(count: 1, since: nil)) } != nil)
            try put("lock")
            #expect(failure { _ = try archive.repository() } != nil, "\(kind)")
        }
    }

    @Test("A link to a whole file is none of the repository's files: not its mark, not a manifest, not a segment")
    func links() throws {
        for name in ["repository.json", "manifest", "segment"] {
            let (archive, backups) = try archive()
            let file =
                switch name {
                case "manifest": "backups/\(backups[2].id).manifest"
                case "segment": "segments/\(backups[2].segments[2].file)"
                default: name
                }
            let aside = archive.folder.file("aside")
            try FileManager.default.moveItem(atPath: path(archive, file), toPath: aside)
            #expect(symlink(aside, path(archive, file)) == 0)
            let error = failure { try archive.restore("r") }
            #expect(
                error?.code == "E_BACKUP_DAMAGED" && error?.file == file, "\(file)")
        }
    }

    @Test("Where a manifest cannot be read, or was put aside, pruning takes nothing: what it names is not known")
    func pruning() throws {
        let (archive, backups) = try archive()
        let manifest = path(archive, "backups/\(backups[1].id).manifest")
        let good = try Data(contentsOf: URL(filePath: manifest))
        try good.dropLast(10).write(to: URL(filePath: manifest))
        func all() throws -> [String] { try archive.files(of: archive.repositoryPath) }
        var before = try all()
        func prune() -> BackupError? {
            failure { _ = try archive.repository(.writing).prune(Retention(count: 1, since: nil)) }
        }
        #expect(prune()?.code == "E_BACKUP_DAMAGED")
        #expect(try all() == before)
        try FileManager.default.moveItem(atPath: manifest, toPath: manifest + ".bad")
        before = try all()
        #expect("\(prune().map(\.description) ?? "")".contains(".bad"))
        #expect(try all() == before)
        #expect(try !archive.check().leftovers.contains { $0.hasSuffix(".bad") })
        // Taken out of the repository, it is given up.
        try FileManager.default.moveItem(atPath: manifest + ".bad", toPath: archive.folder.file("aside"))
        #expect(prune() == nil)
        #expect(try archive.check().proven.map(\.id) == [backups[2].id])
    }

    @Test(
        "Where a backup that would stay lacks a file, pruning takes nothing: the others may be all that can be restored"
    )
    func pruningBesideABroken() throws {
        let (archive, backups) = try archive()
        let last = try #require(backups[2].segments.last)
        try FileManager.default.removeItem(atPath: path(archive, "segments/\(last.file)"))
        let before = try archive.files(of: archive.repositoryPath)
        let error = failure { _ = try archive.repository(.writing).prune(Retention(count: 1, since: nil)) }
        #expect(error?.code == "E_BACKUP_DAMAGED" && "\(error.map(\.description) ?? "")".contains(backups[2].id))
        #expect(try archive.files(of: archive.repositoryPath) == before)
        #expect(try archive.repository(.writing).prune(Retention(count: 3, since: nil)).removed.isEmpty)
    }

    @Test("One encrypted manifest that was changed keeps no one from the others, and the next backup is made")
    func changedManifest() throws {
        let (archive, backups) = try archive(testKey)
        let manifest = path(archive, "backups/\(backups[2].id).manifest")
        var bytes = try Data(contentsOf: URL(filePath: manifest))
        bytes[40] ^= 1
        try bytes.write(to: URL(filePath: manifest))
        let report = try archive.check(key: testKey)
        #expect(report.proven.map(\.id) == [backups[0].id, backups[1].id] && report.findings.count == 1)
        #expect(try archive.create(key: testKey).base == backups[1].id)
        #expect(failure { try archive.create(key: otherKey) }?.code == "E_BACKUP_KEY")
    }
}
