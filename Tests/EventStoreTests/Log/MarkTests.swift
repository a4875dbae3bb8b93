import Foundation
import TestSupport
import Testing

@testable import EventStore

/// A node knows how its last run ended, and signs nothing that falls short of what it knows (D21).
struct MarkTests {
    private static let here = HostFingerprint(machine: nil, file: nil, boot: "11111111-2222-3333-4444-555555555555")
    private static let rebooted = HostFingerprint(
        machine: nil, file: nil, boot: "66666666-2222-3333-4444-555555555555")

    private func made(durability: Durability = .full) throws -> (TemporaryFolder, EventStore) {
        let folder = TemporaryFolder()
        try EventStore.create(in: folder.path, name: "a")
        return (folder, try EventStore(opening: folder.path, durability: durability, surroundings: Self.here))
    }

    private func append(_ store: EventStore, _ count: Int, _ text: String = "말") throws {
        for number in 0..<count { _ = try store.appendBlocking([.message("\(text) \(number)", user: "u")]) }
    }

    /// The files as a killed process leaves them.
    private func killed(_ store: EventStore) throws -> TemporaryFolder {
        let copy = TemporaryFolder()
        try FileManager.default.copyItem(atPath: store.files.folder, toPath: copy.path)
        return copy
    }

    private func key(_ files: StoreFiles) throws -> SigningKey {
        try #require(try SmallFile.read(files.key).flatMap { SigningKey(pem: $0) })
    }

    private func mark(_ files: StoreFiles) throws -> Mark? {
        let pem = try #require(try SmallFile.read(files.key))
        return try Mark.read(files, key: try #require(SigningKey(pem: pem)).publicKey)
    }

    /// Flips one bit of a file.
    private func flip(_ path: String, byte: Int, bit: UInt8 = 0) throws {
        var bytes = try #require(FileManager.default.contents(atPath: path))
        bytes[byte] ^= 1 << bit
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        try handle.write(contentsOf: bytes)
        try handle.close()
    }

    /// As if the process had been killed before it acknowledged what comes after its first `size` events.
    private func told(_ folder: TemporaryFolder, of size: UInt64) throws {
        let files = StoreFiles(folder.path)
        let bytes = try #require(FileManager.default.contents(atPath: files.end))
        let end = try #require(LogEnd([UInt8](bytes)))
        let key = try #require(try SmallFile.read(files.key).flatMap { SigningKey(pem: $0) })
        let earlier = LogEnd(
            incarnation: end.incarnation, position: size, origin: end.origin, size: size,
            history: try #require(try Self.seal(files, size)), key.endSealer, SHA256())
        try Data(earlier.bytes).write(to: URL(fileURLWithPath: files.end))
    }

    /// The seal that the event carries.
    private static func seal(_ files: StoreFiles, _ size: UInt64) throws -> UUIDBits? {
        let reader = try LogReader(files)
        return try MerkleStore(connection: reader.connection, sha: SHA256()).seal(origin: 1, at: size)
    }

    private func wal(_ folder: TemporaryFolder) -> String { StoreFiles(folder.path).log + "-wal" }

    @Test("A run begins with a mark that says so, and ends in order with one of its end, and without a WAL")
    func states() throws {
        let (folder, store) = try made()
        let files = store.files
        #expect(try mark(files)?.state == .running)
        try append(store, 3)
        #expect(try mark(files)?.position == 1)
        store.close()
        let last = try #require(try mark(files))
        #expect(last.state == .stopped && last.position == 4 && last.head.size == 4 && last.boot == Self.here.boot)
        let size = FileManager.default.contents(atPath: wal(folder))?.count ?? 0
        #expect(size == 0)
        let again = try EventStore(opening: folder.path, surroundings: Self.rebooted)
        #expect(again.originChange == nil && again.cut == nil)
        again.close()
    }

    @Test("A head that an orderly end cannot store is not in the mark, and the next start goes on (INV-3)")
    func refusedHead() throws {
        let (folder, store) = try made()
        try append(store, 1)
        let other = try Connection(path: store.files.log, mode: .write)
        try other.execute("BEGIN IMMEDIATE")
        let ended = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            store.close()
            ended.signal()
        }
        // The commit of the head was refused. The copying of the WAL is not.
        while store.obstacle == nil { usleep(1_000) }
        usleep(60_000)
        try other.execute("ROLLBACK")
        ended.wait()
        let report = try verify(folder)
        #expect(report.answer != .contradicted, report.text)
        let again = try EventStore(opening: folder.path, surroundings: Self.here)
        #expect(again.originChange == nil && again.cut == nil)
        again.close()
        #expect(try verify(folder).answer == .proven)
    }

    @Test("Where the mark of an orderly end cannot be written, the next start misses nothing of the WAL")
    func noRoomForMark() throws {
        let (folder, store) = try made()
        try append(store, 3)
        let temporary = store.files.mark + ".tmp"
        try FileManager.default.createDirectory(atPath: temporary, withIntermediateDirectories: false)
        store.close()
        try FileManager.default.removeItem(atPath: temporary)
        #expect(try mark(store.files)?.state == .running)
        let again = try EventStore(opening: folder.path, surroundings: Self.here)
        #expect(again.originChange == nil && again.cut == nil)
        again.close()
        #expect(try verify(folder).answer == .proven)
    }

    @Test("A mark that was changed is none, and the store is taken for a copy")
    func changedMark() throws {
        let (folder, store) = try made()
        store.close()
        let text = try String(contentsOfFile: store.files.mark, encoding: .utf8)
        try text.replacingOccurrences(of: "\"position\":\"1\"", with: "\"position\":\"2\"")
            .write(toFile: store.files.mark, atomically: false, encoding: .utf8)
        #expect(try mark(store.files) == nil)
        #expect(try verify(folder).answer == .notCovered)
        let again = try EventStore(opening: folder.path, surroundings: Self.here)
        #expect(again.originChange == .copied)
        again.close()
    }

    @Test(
        "A key of table meta that nobody has written is told: where the store found itself last may be lost with it")
    func strangeSetting() throws {
        let folder = TemporaryFolder()
        try EventStore.create(in: folder.path, name: "a")
        try EventStore(opening: folder.path, surroundings: HostFingerprint(machine: nil, file: 1)).close()
        #expect(try verify(folder).answer == .proven)
        let log = try Connection(path: StoreFiles(folder.path).log, mode: .write)
        try log.execute("UPDATE meta SET key = 'fmle' WHERE key = 'file'; PRAGMA wal_checkpoint(TRUNCATE);")
        let report = try verify(folder)
        #expect(report.answer == .notCovered && report.notes.contains { $0.contains("does not know: fmle") })
    }

    @Test(
        "Settings that another hand wrote are not signed: neither by a start nor in a receipt; it says which, and what it was"
    )
    func otherSettings() throws {
        for (change, text) in [
            ("value = 'elsewhere' WHERE key = 'cluster'", "cluster is 'elsewhere', and was 'default'"),
            ("value = 'b' WHERE key = 'name'", "name is 'b', and was 'a'"),
            ("value = '/x' WHERE key = 'witness'", "witness is '/x', and was ''"),
        ] {
            let folder = TemporaryFolder()
            try EventStore.create(in: folder.path, name: "a")
            try EventStore(opening: folder.path).close()
            let files = StoreFiles(folder.path)
            let log = try Connection(path: files.log, mode: .write)
            try log.execute("INSERT OR IGNORE INTO meta VALUES('witness', ''); UPDATE meta SET \(change);")
            #expect(try verify(folder).answer != .proven)
            let key = try key(files)
            for attempt in [
                { try EventStore(opening: folder.path).close() }, { _ = try ReceiptBuilder(files, key: key) },
            ] as [() throws -> Void] {
                #expect {
                    try attempt()
                } throws: {
                    ($0 as? StoreError)?.code == "E_CORRUPT" && "\($0)".contains(text)
                }
            }
            // Without a signature no one's word is given.
            _ = try ReceiptBuilder(files, key: nil)
            #expect(try verify(folder).answer != .proven)
        }
    }

    @Test("A start that was cut off while the witness moved is gone on with by the same configuration")
    func movedWitness() throws {
        let (folder, outside) = (TemporaryFolder(), try TemporaryFolder.made())
        try EventStore.create(in: folder.path, name: "a")
        try EventStore(opening: folder.path, witness: .folder(outside.path)).close()
        #expect(try verify(folder).answer == .proven)
        // The mark has it, the log not yet.
        try Connection(path: StoreFiles(folder.path).log, mode: .write)
            .execute("UPDATE meta SET value = '' WHERE key = 'witness'")
        #expect(throws: StoreError.self) { try EventStore(opening: folder.path) }
        let again = try EventStore(opening: folder.path, witness: .folder(outside.path))
        #expect(again.lostWitness == nil && again.originChange == nil)
        again.close()
        #expect(try LogReader(again.files).meta("witness") == outside.path)
        #expect(try verify(folder).answer == .proven)
        for place in [WitnessPlace.none, .folder(outside.path), .asBefore] {
            try EventStore(opening: folder.path, witness: place).close()
            #expect(try verify(folder).answer == .proven, "\(place)")
        }
    }

    @Test("After kill -9 with a sound WAL the node goes on as it was, in the same boot and after another")
    func killedSound() throws {
        let (folder, store) = try made()
        try append(store, 30)
        for surroundings in [Self.here, Self.rebooted] {
            let copy = try killed(store)
            let again = try EventStore(opening: copy.path, surroundings: surroundings)
            #expect(again.originChange == nil)
            #expect(try LogReader(again.files).top() == 31)
            again.close()
        }
        store.close()
        withExtendedLifetime(folder) {}
    }

    @Test("A bit that flips in the WAL is noticed before anything is appended, and by verify until it is settled")
    func flippedWAL() throws {
        let (folder, store) = try made()
        try append(store, 30)
        let frame = 24 + 4_096
        let before = try #require(try WALInspection(path: store.files.log + "-wal"))
        #expect(before.bad == nil && before.commits >= 30 && before.framesBehind == 0)
        for byte in [4, 17, 32 + 5, 32 + 10, 32 + 20, 32 + 24 + 77, 32 + 5 * frame + 3_000] {
            let copy = try killed(store)
            try flip(wal(copy), byte: byte)
            let own = try StoreIdentity(try LogReader(StoreFiles(copy.path))).origin
            #expect(try verify(copy).says(.ends, "log.db-wal is damaged"), "byte \(byte)")
            let again = try EventStore(opening: copy.path, surroundings: Self.here)
            #expect(again.originChange == .cut && again.identity.origin != own, "byte \(byte)")
            let cut = try #require(again.cut)
            try append(again, 2)
            again.close()
            #expect(FileManager.default.fileExists(atPath: again.files.evidence + "/\(cut.name).wal"))
            #expect(try verify(copy).says(.ends, cut.name))
            // A second start says it again, and starts no further origin.
            let third = try EventStore(opening: copy.path, surroundings: Self.here)
            #expect(third.originChange == nil && third.cut == nil)
            third.close()
            let standing = try CutEvidence.standing(third.files, try LogReader(third.files))
            #expect(standing.map(\.name) == [cut.name] && standing[0].settled == nil)
            #expect(try !CutEvidence.settle("cut-0", third.files, at: 5))
        }
        store.close()
        withExtendedLifetime(folder) {}
    }

    /// A store whose log was cut, stopped again, and what was found.
    private func cutStore() throws -> (TemporaryFolder, CutEvidence) {
        let (folder, store) = try made()
        try append(store, 30)
        let copy = try killed(store)
        store.close()
        try flip(wal(copy), byte: 32 + 5 * (24 + 4_096) + 3_000)
        let again = try EventStore(opening: copy.path, surroundings: Self.here)
        let cut = try #require(again.cut)
        again.close()
        withExtendedLifetime(folder) {}
        return (copy, cut)
    }

    /// Has the store's node, or another one of this name, settle what was found.
    private func settle(
        _ folder: TemporaryFolder, _ code: String, _ subject: String, as name: String? = nil,
        of: String = "2026-11-22T00:00:00Z"
    ) throws {
        let store = try EventStore(opening: folder.path, surroundings: Self.here)
        defer { store.close() }
        let payload = Array(#"{"code":"\#(code)","subject":"\#(subject)","of":"\#(of)"}"#.utf8)
        guard let name else {
            let user = "node/\(store.identity.node)"
            _ = try store.recordBlocking([EventDraft(type: "finding.settled", user: user, payload: payload)])
            return
        }
        var peer = ForeignOrigin(7, name: name)
        peer.add(EventDraft(type: "finding.settled", user: "node/\(peer.key.publicKey.nodeID)", payload: payload))
        try peer.send(to: store)
    }

    @Test("A cut is settled by an event of the store's own node alone, not by a file that anyone can write (D21)")
    func settledByOwnNode() throws {
        let (folder, cut) = try cutStore()
        let files = StoreFiles(folder.path)
        #expect(try CutEvidence.settle(cut.name, files, at: WallClock.now))
        #expect(try verify(folder).says(.ends, cut.name), "no one has signed what the file says")
        try settle(folder, "LOG_CUT", cut.name, as: "busan", of: Timestamp.text(cut.at))
        #expect(try verify(folder).says(.ends, cut.name), "another node has not seen this log")
        try settle(folder, "LOG_CUT", "cut-0000000000000000")
        try settle(folder, "WITNESS_LOST", cut.name)
        #expect(try verify(folder).says(.ends, cut.name))
        try settle(folder, "LOG_CUT", cut.name)
        let settled = try verify(folder)
        #expect(settled.answer == .proven, settled.text)
        #expect(settled.remarks.contains { $0.hasPrefix("\(cut.name), settled at ") }, settled.text)
        // Found after the settlement it is open again.
        let path = files.evidence + "/\(cut.name).json"
        let text = try String(contentsOfFile: path, encoding: .utf8)
        try text.replacingOccurrences(of: #""at":"\#(cut.at)""#, with: #""at":"\#(cut.at + 86_400_000)""#)
            .write(toFile: path, atomically: false, encoding: .utf8)
        #expect(try verify(folder).says(.ends, cut.name))
        // A clock that was ahead dates it later than what settles it: that names its time.
        try settle(folder, "LOG_CUT", cut.name, of: Timestamp.text(cut.at + 86_400_000))
        #expect(try verify(folder).answer == .proven)
    }

    @Test(
        "The start of an origin after a cut names what was found: taken away, it is missed until it is settled (D21)")
    func missingEvidence() throws {
        let (folder, cut) = try cutStore()
        let files = StoreFiles(folder.path)
        let log = try LogReader(files)
        let own = try log.origins(of: try StoreIdentity(log).node)
        #expect(own.last?.succession?.evidence == cut.name)
        // The file says that what was lost is there: no one has signed that.
        let path = files.evidence + "/\(cut.name).json"
        let written = try Data(contentsOf: URL(fileURLWithPath: path))
        var told = try #require(try JSONSerialization.jsonObject(with: written) as? [String: String])
        let start = try #require(own.last)
        let log1 = try LogReader(files)
        told["known"] = try #require(try log1.tree(of: start.id, size: 1)).checkpointText
        told["position"] = "1"
        try JSONSerialization.data(withJSONObject: told).write(to: URL(fileURLWithPath: path))
        #expect(try verify(folder).says(.ends, cut.name))
        try FileManager.default.removeItem(atPath: files.evidence)
        let report = try verify(folder)
        #expect(report.says(.ends, "evidence/\(cut.name).json, what was found then, is missing"), report.text)
        #expect(try CutEvidence.standing(files, log).map(\.name) == [cut.name], "doctor asks here")
        // It can be settled all the same.
        try settle(folder, "LOG_CUT", cut.name)
        let settled = try verify(folder)
        #expect(settled.answer == .proven && settled.remarks.count == 1, settled.text)
    }

    @Test("What a power cut leaves is no damage: another boot, and at most two commits that nobody was told of")
    func tornWAL() throws {
        let (folder, store) = try made()
        try append(store, 30)
        let size = try #require(try WALInspection(path: store.files.log + "-wal")).frames * (24 + 4_096) + 32
        func opened(_ boot: HostFingerprint, commitsBehind: Int) throws -> (EventStore, TemporaryFolder) {
            let copy = try killed(store)
            // A lone append has a few frames; the bad one is counted back from the end.
            var at = size - (24 + 4_096)
            while try lost(copy, at) < commitsBehind { at -= 24 + 4_096 }
            try flip(wal(copy), byte: at + 100)
            if commitsBehind == 2 { try told(copy, of: 29) }
            return (try EventStore(opening: copy.path, surroundings: boot), copy)
        }
        func lost(_ copy: TemporaryFolder, _ at: Int) throws -> Int {
            try flip(wal(copy), byte: at + 100)
            defer { try? flip(wal(copy), byte: at + 100) }
            return try #require(try WALInspection(path: wal(copy))).lostCommits
        }
        let (torn, tornFolder) = try opened(Self.rebooted, commitsBehind: 2)
        #expect(torn.originChange == .cut && torn.cut == nil)
        torn.close()
        #expect(try verify(tornFolder).answer == .proven)
        let (same, sameFolder) = try opened(Self.here, commitsBehind: 2)
        #expect(same.originChange == .cut && same.cut != nil)
        same.close()
        #expect(try verify(sameFolder).answer == .contradicted)
        let (more, moreFolder) = try opened(Self.rebooted, commitsBehind: 3)
        #expect(more.originChange == .cut && more.cut != nil)
        more.close()
        #expect(try verify(moreFolder).answer == .contradicted)
        store.close()
        withExtendedLifetime(folder) {}
    }

    @Test("A start that is cut off after the WAL was copied does not forget what it had found")
    func foundBefore() throws {
        let (folder, store) = try made()
        try append(store, 5)
        store.close()
        try FoundWAL.keep("log.db-wal is damaged", "cut-0123456789abcdef", store.files, key(store.files))
        let again = try EventStore(opening: folder.path, surroundings: Self.here)
        #expect(again.originChange == .cut && again.cut?.name == "cut-0123456789abcdef")
        again.close()
        #expect(!FileManager.default.fileExists(atPath: again.files.foundWAL))
        #expect(try verify(folder).says(.ends, "cut-0123456789abcdef"))
    }

    @Test("What no start has signed makes no whole log a cut one", arguments: [true, false])
    func foundByNone(hasSignature: Bool) throws {
        let (folder, store) = try made()
        try append(store, 5)
        store.close()
        let files = store.files
        if hasSignature {
            try FoundWAL.keep("log.db-wal is damaged", "cut-0123456789abcdef", files, SigningKey.generate())
        } else {
            try #"{"text":"log.db-wal is damaged","name":"cut-0123456789abcdef"}"#
                .write(toFile: files.foundWAL, atomically: false, encoding: .utf8)
        }
        let again = try EventStore(opening: folder.path, surroundings: Self.here)
        #expect(again.originChange == nil && again.cut == nil)
        again.close()
        #expect(!FileManager.default.fileExists(atPath: files.foundWAL))
        #expect(try verify(folder).answer == .proven)
    }

    @Test("A start that is cut off between what it finds and what it does leaves that to the next (INV-4)")
    func cutOff() throws {
        let (folder, store) = try made()
        try append(store, 30)
        let frames = try #require(try WALInspection(path: wal(folder))).frames
        let frame = 24 + 4_096
        for (byte, isDamaged) in [(32 + 5 * frame + 3_000, true), (32 + (frames - 1) * frame + 3_000, false)] {
            let copy = try killed(store)
            let files = StoreFiles(copy.path)
            try flip(wal(copy), byte: byte)
            if !isDamaged { try told(copy, of: 30) }
            let found = try FoundWAL(files, key(files), after: try mark(files), boot: Self.rebooted.boot)
            #expect(found.verdict != .whole && (found.kept != nil) == isDamaged)
            _ = try Recovery.run(files)
            // Nothing of it is in the WAL any more.
            #expect(try #require(try WALInspection(path: wal(copy))).size == 0)
            let again = try EventStore(opening: copy.path, surroundings: Self.rebooted)
            #expect(again.originChange == .cut && (again.cut != nil) == isDamaged)
            #expect(again.cut?.name == found.kept)
            again.close()
            #expect(!FileManager.default.fileExists(atPath: files.foundWAL))
        }
        store.close()
    }

    @Test(
        "A name in cut.json that no start has given leads nowhere, and what is told is not forgotten",
        arguments: ["../../victim", "cut-0123456789abcdef/../../victim", "cut-0123456789ABCDEF", "cut-01", ""])
    func foundElsewhere(_ name: String) throws {
        let (folder, store) = try made()
        try append(store, 5)
        store.close()
        let victim = folder.path + "/../victim.json"
        try? FileManager.default.removeItem(atPath: victim)
        try FoundWAL.keep("log.db-wal is damaged", name, store.files, key(store.files))
        let again = try EventStore(opening: folder.path, surroundings: Self.here)
        let kept = try #require(again.cut?.name)
        #expect(again.originChange == .cut && kept != name)
        again.close()
        #expect(!FileManager.default.fileExists(atPath: victim))
        #expect(try SmallFile.names(in: again.files.evidence).filter { !$0.hasPrefix(".") } == [kept + ".json"])
        #expect(try verify(folder).says(.ends, kept))
    }

    @Test("A WAL that was taken away from a run that did not end is not passed over")
    func missingWAL() throws {
        let (folder, store) = try made()
        try append(store, 5)
        let copy = try killed(store)
        try FileManager.default.removeItem(atPath: wal(copy))
        let seen = TemporaryFolder()
        try FileManager.default.copyItem(atPath: copy.path, toPath: seen.path)
        #expect(try verify(seen).answer == .contradicted)
        let again = try EventStore(opening: copy.path, surroundings: Self.here)
        #expect(again.originChange == .cut)
        again.close()
        // Also where all of it had been copied: then nothing is missing, and a new origin makes sure of that.
        let whole = try killed(store)
        _ = try Recovery.run(StoreFiles(whole.path))
        try FileManager.default.removeItem(atPath: wal(whole))
        let copied = try EventStore(opening: whole.path, surroundings: Self.here)
        #expect(copied.originChange == .cut && copied.cut == nil, "\(copied.cut?.text ?? "")")
        copied.close()
        store.close()
        withExtendedLifetime(folder) {}
    }

    @Test("With durability normal an unclean end and another boot mean a new origin before the first append")
    func normal() throws {
        let (folder, store) = try made(durability: .normal)
        try append(store, 5)
        let copy = try killed(store)
        let again = try EventStore(opening: copy.path, durability: .normal, surroundings: Self.rebooted)
        #expect(again.originChange == .boot)
        let own = try LogReader(again.files).origins(of: again.identity.node)
        #expect(own.last?.succession?.change == .boot && own.map(\.size) == [6, 1])
        again.close()
        #expect(try verify(copy).answer == .proven)
        // In the same boot the kernel has all that was written.
        let other = try killed(store)
        let same = try EventStore(opening: other.path, durability: .normal, surroundings: Self.here)
        #expect(same.originChange == nil)
        same.close()
        store.close()
        let stopped = try EventStore(opening: folder.path, durability: .normal, surroundings: Self.rebooted)
        #expect(stopped.originChange == nil)
        stopped.close()
    }

    @Test("A log put back to an earlier state is contradicted by the mark, is not signed, and heals when all is back")
    func rolledBack() throws {
        let (folder, store) = try made()
        try append(store, 3)
        store.close()
        let old = LogImage(store.files)
        let second = try EventStore(opening: folder.path, surroundings: Self.here)
        try append(second, 4)
        second.close()
        let whole = TemporaryFolder()
        try FileManager.default.copyItem(atPath: folder.path, toPath: whole.path)
        try old.restore(second.files, withMark: false)
        let report = try verify(folder)
        #expect(report.says(.ends, "ends at seq 4; the store's mark knows a head at 8"), report.text)
        #expect(report.says(.ends, "the log ends at position 4; the store's mark knows 8"), report.text)

        let third = try EventStore(opening: folder.path, surroundings: Self.here)
        let origin = second.identity.origin
        #expect(third.originChange == .cut && third.cut?.known?.size == 8)
        let own = try LogReader(third.files).origins(of: third.identity.node)
        let evidence = third.cut?.name
        #expect(
            own.last?.succession == OriginSuccession(.cut, previous: origin, had: 4, known: 8, evidence: evidence))
        #expect(try verify(folder).answer == .contradicted)
        // Its events come back from a peer.
        let full = try EventStore(opening: whole.path, surroundings: Self.here)
        let outgoing = try OutgoingReader(full)
        let known = try LogReader(third.files).vector()
        let batch = try outgoing.batch(
            after: try outgoing.start(for: known), lacking: known, limits: OutgoingLimits())
        let verified = try third.makeVerifierBlocking().verify(batch.events, batch.coverage)
        try blocking { third.ingest(verified, completion: $0) }
        third.close()
        let healed = try verify(folder)
        #expect(healed.answer == .proven, healed.text)
    }

    @Test(
        "The newest events of others cut off, with their heads, leave a log that ends before the position in the mark (INV-4)"
    )
    func othersCut() throws {
        let (folder, store) = try made()
        try append(store, 3)
        var busan = ForeignOrigin(1, name: "busan-1")
        busan.add(.message("부산", user: "u-b"))
        try busan.send(to: store)
        store.close()
        let log = try Connection(path: store.files.log, mode: .write)
        try log.execute(
            """
            DELETE FROM event WHERE origin = 2 AND seq = 2; DELETE FROM head WHERE origin = 2;
            DELETE FROM reach WHERE origin = 2; PRAGMA wal_checkpoint(TRUNCATE);
            """)
        let report = try verify(folder)
        #expect(report.says(.ends, "the log ends at position 5; the store's mark knows 6"), report.text)
        let again = try EventStore(opening: folder.path, surroundings: Self.here)
        #expect(again.originChange == .cut && again.cut?.position == 6)
        again.close()
    }

    @Test("A log as long as the mark knows, but with other events, is not gone on with (INV-4)")
    func otherEvents() throws {
        let (folder, store) = try made()
        try append(store, 3)
        store.close()
        let twin = TemporaryFolder()
        try FileManager.default.copyItem(atPath: folder.path, toPath: twin.path)
        for (path, text) in [(folder.path, "말"), (twin.path, "다른 말")] {
            let again = try EventStore(opening: path, surroundings: Self.here)
            #expect(again.originChange == nil)
            try append(again, 4, text)
            again.close()
        }
        try Data(contentsOf: URL(fileURLWithPath: StoreFiles(folder.path).mark))
            .write(to: URL(fileURLWithPath: StoreFiles(twin.path).mark))
        let report = try verify(twin)
        #expect(report.says(.ends, "from seq 1 to 8 are not all those that the store's mark knows"), report.text)
        let again = try EventStore(opening: twin.path, surroundings: Self.here)
        #expect(again.originChange == .cut && again.cut?.text.contains("other events") == true)
        #expect(again.identity.origin != store.identity.origin)
        again.close()
    }

    @Test("An end at which a reader keeps the WAL is not called one in order, and loses nothing (INV-1)")
    func readAtTheEnd() throws {
        let (folder, store) = try made()
        try append(store, 3)
        let reader = try Connection(path: store.files.log, mode: .read)
        try reader.execute("BEGIN")
        #expect(try reader.integer("SELECT count(*) FROM event") == 4)
        try append(store, 3)
        store.close()
        #expect(try mark(store.files)?.state == .running)
        #expect(try #require(FileManager.default.contents(atPath: wal(folder))).count > 0)
        try reader.execute("COMMIT")
        let again = try EventStore(opening: folder.path, surroundings: Self.rebooted)
        #expect(again.originChange == nil && again.cut == nil)
        again.close()
        #expect(try mark(store.files)?.state == .stopped)
        #expect(try LogReader(store.files).top() == 7)
    }

    @Test("With a witness that knows more, or other, nothing more of the old origin is signed")
    func signsNothing() throws {
        let outside = TemporaryFolder()
        try FileManager.default.createDirectory(atPath: outside.path, withIntermediateDirectories: true)
        let (folder, store) = try made()
        store.close()
        let first = try EventStore(opening: folder.path, witness: .folder(outside.path), surroundings: Self.here)
        try append(first, 6)
        let running = try killed(first)
        try append(first, 10)
        first.close()
        let origin = first.identity.origin
        // The witness knows 17 events; of the seven that are here some have no head.
        let files = StoreFiles(running.path)
        try Connection(path: files.log, mode: .write).execute("DELETE FROM head WHERE size > 1")
        #expect(try verify(running).says(.ends, "knows a head at 17"))
        let again = try EventStore(opening: running.path, surroundings: Self.here)
        #expect(again.originChange == .witness)
        try again.flushBlocking()
        again.close()
        let reader = try LogReader(files)
        #expect(try reader.head(of: origin, atLeast: 2) == nil)
        // No node could take over what depends on events that no head covers.
        let start = try #require(try reader.event(Dot(origin: again.identity.origin, seq: 1)))
        #expect(start.event.header.dependencies.isEmpty)
        #expect(try reader.head(of: again.identity.origin, atLeast: 1) != nil)
    }
}
