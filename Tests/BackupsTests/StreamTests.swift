import Foundation
import TestSupport
import Testing

@testable import Backups
@testable import EventStore

/// Streams: the same backup, for a command's standard input.
struct StreamTests {
    private func stream(
        _ archive: Archive, _ name: String, behind base: BackupManifest? = nil, key: StreamKey?
    ) throws -> BackupReport {
        let path = archive.folder.file(name)
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        defer { close(file) }
        let writer = try BackupWriter(archive.files) { _, _ in true }
        return try writer.run(
            BackupPlan(withKey: true, isFull: false), into: StreamWriter(file), behind: base, key: key)
    }

    private func restore(_ archive: Archive, _ bytes: Data, _ name: String, key: StreamKey?) throws -> StoreFiles {
        let path = try archive.folder.write(bytes, to: "in")
        let file = open(path, O_RDONLY)
        defer { close(file) }
        let restore = try BackupRestore(into: archive.folder.file(name), withKey: true) { _, _ in true }
        _ = try restore.run(StreamReader(file, key: key))
        return StoreFiles(archive.folder.file(name))
    }

    @Test(
        "A full stream and two increments, one behind the other, are the log; some of them are refused",
        arguments: [false, true])
    func chain(isSealed: Bool) throws {
        let key = isSealed ? testKey : nil
        let archive = try Archive()
        try archive.append(300)
        var reports = [try stream(archive, "0", key: key)]
        for name in ["1", "2"] {
            try archive.append(10)
            reports.append(try stream(archive, name, behind: reports.last?.manifest, key: key))
        }
        #expect(reports.map(\.after) == [0, 301, 311])
        let parts = try (0..<3).map { try Data(contentsOf: URL(filePath: archive.folder.file("\($0)"))) }
        let restored = try restore(archive, parts[0] + parts[1] + parts[2], "all", key: key)
        #expect(try events(restored) == events(archive.files) && verify(restored).isIntact)
        #expect(try events(restore(archive, parts[0], "first", key: key)) == events(archive.files, through: 301))
        for (number, bytes) in [
            parts[1], parts[0] + parts[2], parts[1] + parts[0], parts[0] + parts[1] + parts[1], Data(),
        ].enumerated() {
            #expect(throws: BackupError.self, "\(number)") { try restore(archive, bytes, "bad\(number)", key: key) }
            #expect(!FileManager.default.fileExists(atPath: archive.folder.file("bad\(number)")))
        }
        var random = SplitMix64(state: 481)
        let whole = parts[0] + parts[1]
        for _ in 0..<25 {
            let count = Int.random(in: 0..<whole.count, using: &random)
            // What ends with the first stream is that one.
            if count != parts[0].count {
                #expect(throws: BackupError.self) { try restore(archive, whole.prefix(count), "cut", key: key) }
            }
            var bad = whole
            bad[count] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            #expect(throws: BackupError.self, "at \(count)") { try restore(archive, bad, "flipped", key: key) }
        }
    }

    @Test(
        "A stream behind a backup that the log does not go on from, or of which something was erased since, is refused"
    )
    func stale() throws {
        let archive = try Archive()
        try archive.append(5, user: "u-1")
        let first = try stream(archive, "0", key: nil)
        let stranger = try Archive()
        try stranger.append(5)
        #expect(failure { _ = try stream(stranger, "1", behind: first.manifest, key: nil) }?.code == "E_NO_BACKUP")
        _ = try archive.store.eraseBlocking([Erasure(subject: .user("u-1"))], author: "operator")
        try archive.store.finishErasures()
        try archive.store.flushBlocking()
        #expect(failure { _ = try stream(archive, "2", behind: first.manifest, key: nil) }?.code == "E_NO_BACKUP")
    }

    @Test("A stream behind a backup that the log of the same node once had, and has no more, is refused (INV-3)")
    func otherwise() throws {
        let archive = try Archive()
        try archive.append(5)
        archive.store.close()
        let copy = archive.folder.file("copy")
        try FileManager.default.copyItem(atPath: archive.files.folder, toPath: copy)
        archive.store = try EventStore(opening: archive.files.folder)
        try archive.append(5, text: "하나")
        let first = try stream(archive, "0", key: nil)
        archive.store.close()
        try FileManager.default.removeItem(atPath: archive.files.folder)
        try FileManager.default.moveItem(atPath: copy, toPath: archive.files.folder)
        archive.store = try EventStore(opening: archive.files.folder)
        try archive.append(9, text: "다른")
        #expect(failure { _ = try stream(archive, "1", behind: first.manifest, key: nil) }?.code == "E_NO_BACKUP")
    }

    @Test("Streams that are not in their order are the streams' fault, and said before all was read")
    func order() throws {
        let archive = try Archive()
        try archive.append(300)
        let first = try stream(archive, "0", key: nil)
        try archive.append(10)
        _ = try stream(archive, "1", behind: first.manifest, key: nil)
        let parts = try ["1", "0"].map { try Data(contentsOf: URL(filePath: archive.folder.file($0))) }
        let error = failure { _ = try restore(archive, parts[0] + parts[1], "r", key: nil) }
        guard case .damaged("the stream", let reason)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason.contains("301") && reason.contains("order"), "\(reason)")
        // A giver that has more to give is not the one that failed.
        for (bytes, hasEnded) in [(parts[1].dropLast(), true), (Data([1]) + parts[1].dropFirst(), false)] {
            let file = open(try archive.folder.write(Data(bytes), to: "in"), O_RDONLY)
            defer { close(file) }
            let reader = StreamReader(file, key: nil)
            let restore = try BackupRestore(into: archive.folder.file("r"), withKey: true) { _, _ in true }
            #expect(failure { _ = try restore.run(reader) }?.code == "E_BACKUP_DAMAGED")
            #expect(reader.hasEnded == hasEnded)
        }
    }

    @Test("A command that fails is named with its status; what it writes and reads comes whole")
    func commands() throws {
        let taker = try ShellCommand("cat > /dev/null; exit 3", .takes, environment: [:])
        try writeAll([1, 2, 3], to: taker.descriptor, named: "pipe")
        #expect(failure { try taker.finish() } == .command("cat > /dev/null; exit 3", status: 3))
        let giver = try ShellCommand("printf '%s' \"$WORD\"", .gives, environment: ["WORD": "말"])
        var bytes: [UInt8] = []
        while case let more = try readSome(giver.descriptor, named: "pipe"), !more.isEmpty { bytes += more }
        try giver.finish()
        #expect(bytes == Array("말".utf8))
    }
}
