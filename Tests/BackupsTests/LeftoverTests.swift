import Foundation
import TestSupport
import Testing

@testable import Backups
@testable import EventStore

/// What a killed run leaves: no folder that looks whole, and nothing that the next run does not take away (INV-1, INV-11).
struct LeftoverTests {
    /// A folder with these files.
    private func put(_ path: String, _ files: String...) throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        for file in files { try Data("비밀".utf8).write(to: URL(filePath: "\(path)/\(file)")) }
    }

    private func isThere(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

    @discardableResult
    private func copy(_ archive: Archive, _ folder: String, goesOn: () -> Bool = { true }) throws -> PlainCopy.Report
    {
        try PlainCopy.make(
            of: archive.files, in: folder, withKey: true, withAttachments: true, goesOn: goesOn)
    }

    @Test("A copy gets its name when it is whole; what a killed one has left goes with the next")
    func copies() throws {
        let archive = try Archive()
        try archive.append(20)
        let folder = archive.folder.file("copy")
        let part = folder + ".copying"
        try put(part, "copying", "log.db.new")
        var seen: [Bool] = []
        try copy(archive, folder) {
            seen = [isThere(folder), isThere(part + "/log.db"), isThere(part + "/log.db.new")]
            return true
        }
        #expect(seen == [false, true, false] && !isThere(part))
        #expect(try events(StoreFiles(folder)) == events(archive.files))
        #expect(!isThere(folder + "/copying") && isThere(folder + "/node.key"))
        #expect(failure { try copy(archive, folder) }?.code == "E_STORE_FILE")
        // One that is stopped leaves nothing; a second one beside it waits; what is no copy stays.
        let other = archive.folder.file("other")
        let stopped = failure {
            try copy(archive, other) {
                #expect(failure { try copy(archive, other) }?.code == "E_BACKUP_BUSY")
                return false
            }
        }
        #expect(stopped == .interrupted && !isThere(other) && !isThere(other + ".copying"))
        try put(other + ".copying", "mine")
        #expect(failure { try copy(archive, other) }?.code == "E_STORE_FILE")
        #expect(isThere(other + ".copying/mine"))
    }

    @Test("A drill takes away what killed ones have left, and not what one at work has, or another's things")
    func drills() throws {
        let archive = try Archive()
        try archive.append(20)
        let manifest = try archive.create().manifest
        let scratch = archive.folder.path
        try put(scratch + "/sillok-drill-killed/store.restoring", "restoring", "log.db", "arrivals.part")
        try put(scratch + "/sillok-drill-later/store", "log.db")
        try put(scratch + "/sillok-drill-working/store", "log.db")
        try put(scratch + "/elsewhere/store", "log.db")
        #expect(symlink("elsewhere", scratch + "/sillok-drill-link") == 0)
        let held = open(scratch + "/sillok-drill-working", O_RDONLY)
        #expect(flock(held, LOCK_EX | LOCK_NB) == 0)
        #expect(try archive.drill(manifest).isGood)
        #expect(!isThere(scratch + "/sillok-drill-killed") && !isThere(scratch + "/sillok-drill-later"))
        #expect(isThere(scratch + "/sillok-drill-working/store/log.db"))
        #expect(isThere(scratch + "/elsewhere/store/log.db"))
        close(held)
        #expect(try archive.drill(manifest).isGood)
        let left = try FileManager.default.contentsOfDirectory(atPath: scratch).filter { $0.contains("drill") }
        #expect(left == ["sillok-drill-link"])
    }

    @Test("A drill at work holds its folder: a second one leaves it alone")
    func atWork() throws {
        let folder = try TemporaryFolder.made()
        let first = try ScratchFolder(in: folder.path)
        try put(first.files.folder, "log.db")
        let second = try ScratchFolder(in: folder.path)
        #expect(isThere(first.files.log) && first.files.folder != second.files.folder)
        withExtendedLifetime(first) {}
    }
}
