import Foundation
import TestSupport
import Testing

@testable import EventStore

/// What a run leaves in `log.end` tells the next start what is missing, also where another hand took it (D21, INV-3).
struct LogEndTests {
    private let boot = "11111111-2222-3333-4444-555555555555"

    private func surroundings(_ files: StoreFiles, boot: String? = nil) -> HostFingerprint {
        var found = HostFingerprint.found(around: files)
        found.boot = boot ?? self.boot
        return found
    }

    /// A store whose process was killed after it had acknowledged messages, as copied while it was open.
    private func killed(
        durability: Durability = .full, _ change: (StoreFiles) throws -> Void = { _ in }
    ) throws -> (TemporaryFolder, StoreFiles) {
        let (folder, made) = try makeStore()
        made.close()
        let store = try EventStore(
            opening: folder.path, durability: durability, surroundings: surroundings(StoreFiles(folder.path)))
        defer { store.close() }
        for number in 0..<6 { _ = try store.appendBlocking([.message("m\(number)", user: "u")]) }
        let copy = TemporaryFolder()
        try FileManager.default.copyItem(atPath: folder.path, toPath: copy.path)
        let files = StoreFiles(copy.path)
        try change(files)
        return (copy, files)
    }

    /// Writes a log.end without the node's key, from the seal that an event has.
    private func make(_ files: StoreFiles, of size: UInt64, like bytes: [UInt8]) throws {
        let reader = try LogReader(files)
        let seal = try #require(
            try MerkleStore(connection: reader.connection, sha: SHA256()).seal(origin: 1, at: size))
        var forged = Array(bytes.prefix(16))
        forged.appendBigEndian(size)
        forged += bytes[24..<40]
        forged.appendBigEndian(size)
        seal.append(to: &forged)
        forged += SHA256().digest(forged).bytes.prefix(16)
        #expect(LogEnd(forged) != nil)
        try Data(forged).write(to: URL(fileURLWithPath: files.end))
    }

    private func open(_ files: StoreFiles, boot: String? = nil) throws -> EventStore {
        var found = surroundings(files, boot: boot)
        // The copy stands for the store that it is of.
        found.file = nil
        return try EventStore(opening: files.folder, surroundings: found)
    }

    @Test("What is no file in its place is told, in a copy without key and mark, too")
    func noFile() throws {
        let (folder, made) = try makeStore()
        made.close()
        for path in [made.files.key, made.files.mark, made.files.end] {
            try FileManager.default.removeItem(atPath: path)
        }
        #expect(try Verifier(made.files).run().answer == .proven)
        for make in [{ mkdir($0, 0o700) }, { mkfifo($0, 0o600) }, { symlink("log.end", $0) }] as [(String) -> Int32] {
            #expect(make(made.files.end) == 0)
            let report = try Verifier(made.files).run()
            #expect(report.answer == .notCovered && report.notes.contains { $0.hasPrefix("log.end cannot") })
            try FileManager.default.removeItem(atPath: made.files.end)
        }
        withExtendedLifetime(folder) {}
    }

    @Test("After a kill nothing is missing, and the node goes on")
    func whole() throws {
        let (folder, files) = try killed()
        let store = try open(files)
        defer { store.close() }
        #expect(store.originChange == nil && store.cut == nil)
        #expect(try LogReader(StoreFiles(folder.path)).top() == 7)
    }

    @Test(
        "What was taken out of the log or its WAL in the same run of the machine is told, and a new origin begun",
        arguments: [
            "no WAL", "empty WAL", "rows", "no WAL and no log.end", "log.end cut off", "rows and a made log.end",
            "empty WAL and a log.end of another log", "empty WAL and a made log.end", "heads",
        ])
    func taken(what: String) throws {
        var earlier: [UInt8] = []
        let (folder, files) = try killed { files in
            let wal = files.log + "-wal"
            switch what {
            case "no WAL": unlink(wal)
            case "empty WAL": truncate(wal, 0)
            case "no WAL and no log.end":
                unlink(wal)
                unlink(files.end)
            case "log.end cut off": truncate(files.end, 79)
            case "empty WAL and a log.end of another log":
                truncate(wal, 0)
                let (otherFolder, other) = try makeStore(name: "other")
                defer { withExtendedLifetime(otherFolder) {} }
                other.close()
                try FileManager.default.removeItem(atPath: files.end)
                try FileManager.default.copyItem(atPath: other.files.end, toPath: files.end)
            case "empty WAL and a made log.end":
                truncate(wal, 0)
                earlier = try #require(try SmallFile.read(files.end))
            case "heads":
                let connection = try Connection(path: files.log, mode: .write)
                try connection.execute("PRAGMA wal_autocheckpoint = 0; DELETE FROM head")
                connection.keepWAL()
            default:
                earlier = try #require(try SmallFile.read(files.end))
                let connection = try Connection(path: files.log, mode: .write)
                try connection.execute("PRAGMA wal_autocheckpoint = 0")
                try connection.execute("DELETE FROM event WHERE position > 4; DELETE FROM head WHERE size > 4")
                connection.keepWAL()
            }
        }
        if what.hasSuffix("made log.end") {
            // What stands in the log is all that a hand without the key has to make one of.
            try make(files, of: what.hasPrefix("rows") ? 4 : 1, like: earlier)
        }
        let store = try open(files)
        defer { store.close() }
        #expect(store.originChange == .cut)
        #expect(store.cut != nil, "\(what)")
        let text = store.cut?.text ?? ""
        #expect(text.contains("log.end") || what == "heads" && text.contains("the head at"), "\(text)")
        if ["no WAL", "empty WAL", "rows"].contains(what) { #expect(text.contains("log.end knows 7"), "\(text)") }
        withExtendedLifetime(folder) {}
    }

    @Test("Log and mark put back after an orderly end, and log.end not: a start tells it as verify does (INV-4)")
    func putBack() throws {
        let (folder, made) = try makeStore()
        made.close()
        let files = StoreFiles(folder.path)
        let first = try EventStore(opening: folder.path, surroundings: surroundings(files))
        _ = try first.appendBlocking([.message("a", user: "u")])
        first.close()
        let (old, mark) = (LogImage(files), try Data(contentsOf: URL(filePath: files.mark)))
        let second = try EventStore(opening: folder.path, surroundings: surroundings(files))
        for number in 0..<3 { _ = try second.appendBlocking([.message("\(number)", user: "u")]) }
        second.close()
        try old.restore(files, withMark: false)
        try mark.write(to: URL(filePath: files.mark))
        let report = try verify(folder)
        #expect(report.says(.ends, "the log ends at position 2; log.end knows 5"), report.text)
        #expect(report.findings.contains { $0.dot == Dot(origin: first.identity.origin, seq: 3) }, report.text)
        #expect(try Outside.cut(of: files) == "the log ends at position 2; log.end knows 5")
        let third = try EventStore(opening: folder.path, surroundings: surroundings(files))
        #expect(third.originChange == .cut && third.cut?.text == "the log ends at position 2; log.end knows 5")
        third.close()
    }

    @Test("Another history than the one that log.end has sealed is told, after an orderly end, too (INV-3)")
    func anotherHistory() throws {
        let (folder, made) = try makeStore()
        made.close()
        let files = StoreFiles(folder.path)
        func append(_ text: String) throws {
            let store = try EventStore(opening: folder.path, surroundings: surroundings(files))
            #expect(store.originChange == nil)
            _ = try store.appendBlocking([.message(text, user: "u")])
            store.close()
        }
        try append("a")
        let old = LogImage(files)
        try append("said")
        let end = try Data(contentsOf: URL(filePath: files.end))
        try old.restore(files)
        try append("never said")
        try end.write(to: URL(filePath: files.end))
        let report = try verify(folder)
        #expect(report.answer == .notCovered && report.notes.contains { $0.contains("log.end") }, report.text)
        let store = try EventStore(opening: folder.path, surroundings: surroundings(files))
        defer { store.close() }
        #expect(store.originChange == .cut && store.cut?.text.contains("other events of this node") == true)
    }

    @Test("A power cut may take what was not synced, and a log.end that was being written")
    func powerCut() throws {
        let (folder, files) = try killed { truncate($0.end, 40) }
        let store = try open(files, boot: "99999999-2222-3333-4444-555555555555")
        #expect(store.originChange == nil && store.cut == nil)
        store.close()
        // Without syncs a log may end before what was acknowledged.
        let (otherFolder, other) = try killed(durability: .normal) { truncate($0.log + "-wal", 0) }
        let second = try open(other, boot: "99999999-2222-3333-4444-555555555555")
        defer { second.close() }
        #expect(second.originChange != nil && second.cut == nil)
        withExtendedLifetime((folder, otherFolder)) {}
    }

    @Test("The bytes are those of FORMATS, and no others are read")
    func bytes() throws {
        let sealer = Sealer(.end, secret: [UInt8](0..<32)[...])
        let history = UUIDBits(high: 0x3333_3333_3333_3333, low: 0x4444_4444_4444_4444)
        let end = LogEnd(
            incarnation: 0x0102_0304_0506_0708, position: 7,
            origin: OriginID(UUIDBits(high: 0x1111_1111_1111_1111, low: 0x2222_2222_2222_2222)), size: 5,
            history: history, sealer, SHA256())
        #expect(
            hexText(Array(end.bytes.prefix(64)))
                == "53696c456e64310a01020304050607080000000000000007"
                + "111111111111111122222222222222220000000000000005" + "38d21d7ee97c398a4ade059e0af72e84")
        #expect(end.isSealed(history, by: sealer))
        #expect(!end.isSealed(history, by: Sealer(.events, secret: [UInt8](0..<32)[...])))
        let key = try #require(SigningKey(seed: [UInt8](0..<32)))
        #expect(end.isSealed(history, by: key.endSealer) && !end.isSealed(history, by: key.sealer))
        #expect(LogEnd(end.bytes) == end)
        for index in end.bytes.indices {
            var bytes = end.bytes
            bytes[index] ^= 1
            #expect(LogEnd(bytes) == nil)
        }
        #expect(LogEnd(Array(end.bytes.dropLast())) == nil && LogEnd(end.bytes + [0]) == nil)
    }

    @Test(
        "Where another program has written the log of an open store nothing more is stored or signed (D5)",
        arguments: [true, false])
    func otherHand(isCovered: Bool) throws {
        let (folder, store) = try makeStore()
        defer { store.close() }
        for number in 0..<4 { _ = try store.appendBlocking([.message("m\(number)", user: "u")]) }
        try store.flushBlocking()
        let size = try LogReader(store.files).top()
        let hand = try Connection(path: store.files.log, mode: .write)
        if isCovered {
            try hand.execute(
                "UPDATE event SET payload = '{\"text\":\"forged\"}', leaf = leaf + 1 WHERE position = 3; DELETE FROM head"
            )
        }
        try hand.execute(
            """
            INSERT INTO event(position, origin, seq, hlc, id, type, user, leaf, payload, salt)
            SELECT position + 1, origin, seq + 1, hlc + 1, randomblob(16), type, user, leaf, payload, salt
            FROM event ORDER BY position DESC LIMIT 1
            """)
        #expect(throws: StoreError.self) { try store.appendBlocking([.message("after", user: "u")]) }
        let told = Lock<StoreError?>(nil)
        store.observeFailure { error in told.withLock { $0 = error } }
        guard case .corrupt(let text)? = told.withLock({ $0 }) else {
            Issue.record("nobody was told")
            return
        }
        #expect(text.contains("another program has written log.db"))
        #expect(throws: StoreError.self) { try store.appendBlocking([.message("again", user: "u")]) }
        #expect(try hand.integer("SELECT count(*) FROM head WHERE size > \(size)") == 0)
        store.close()
        // Nor at the next start.
        #expect(throws: StoreError.self) { try EventStore(opening: folder.path) }
        #expect(DiskFailure(StoreFiles(folder.path)) == nil)
    }
}
