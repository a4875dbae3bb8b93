import Foundation
import TestSupport
import Testing

@testable import EventStore

/// A store that may have lost its memory starts a new origin before it appends (D12).
struct MemoryTests {
    private func append(_ store: EventStore, _ count: Int, _ text: String = "말") throws {
        _ = try store.appendBlocking((0..<count).map { .message("\(text) \($0)", user: "u-1") })
    }

    private func origins(_ store: EventStore) throws -> [OwnOrigin] {
        try LogReader(store.files).origins(of: store.identity.node)
    }

    @Test("A store that is opened again where it was goes on with its origin")
    func goesOn() throws {
        let (folder, store) = try makeStore()
        try append(store, 3)
        let origin = store.identity.origin
        store.close()
        for _ in 0..<3 {
            let again = try EventStore(opening: folder.path)
            #expect(again.identity.origin == origin && again.originChange == nil)
            again.close()
        }
        #expect(try EventStore(opening: folder.path, surroundings: .unknown).originChange == nil)
    }

    @Test("A copy starts a new origin whose first event says why and depends on everything there")
    func copied() throws {
        let (folder, store) = try makeStore()
        try append(store, 300)
        store.close()
        let copy = TemporaryFolder()
        try FileManager.default.copyItem(atPath: folder.path, toPath: copy.path)
        let other = try EventStore(opening: copy.path)
        #expect(other.originChange == .copied)
        try append(other, 2)
        let own = try origins(other)
        #expect(own.map(\.size) == [301, 3])
        #expect(own.map(\.isCurrent) == [false, true])
        #expect(own[1].id == other.identity.origin && own[1].id != store.identity.origin)
        #expect(
            own[1].succession
                == OriginSuccession(.copied, previous: store.identity.origin, had: 301, known: 301))
        let first = try #require(try LogReader(other.files).event(Dot(origin: own[1].id, seq: 1)))
        #expect(first.event.header.dependencies == [Dot(origin: own[0].id, seq: 301)])
        other.close()
        // Everything of the old origin is still covered by a signed head.
        let head = try LogReader(other.files).head(of: own[0].id, atLeast: 301)
        #expect(head?.head.size == 301)
        #expect(try Verifier(other.files).run().findings.isEmpty)
        #expect(try EventStore(opening: copy.path).originChange == nil)
        #expect(try EventStore(opening: folder.path).originChange == nil)
    }

    @Test("On another machine a new origin is started; a machine without an id decides nothing")
    func machine() throws {
        let folder = TemporaryFolder()
        try EventStore.create(in: folder.path, name: "a")
        func open(_ machine: String?) throws -> OriginChange? {
            let store = try EventStore(
                opening: folder.path, surroundings: HostFingerprint(machine: machine, file: nil))
            defer { store.close() }
            return store.originChange
        }
        #expect(try open("one") == nil)
        #expect(try open(nil) == nil)
        #expect(try open("other") == .machine)
        #expect(try open("other") == nil)
        let last = try EventStore(opening: folder.path, surroundings: .unknown)
        #expect(try origins(last).map(\.succession?.change) == [nil, .machine])
    }

    @Test("machine-id(5) is read, and never kept as it is")
    func machineID() throws {
        let folder = TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
        let path = folder.path + "/machine-id"
        let files = StoreFiles(folder.path)
        func found(_ text: String) throws -> String? {
            try text.write(toFile: path, atomically: false, encoding: .utf8)
            return HostFingerprint.found(around: files, machineID: path).machine
        }
        let digits = "0123456789abcdef0123456789abcdef"
        let name = try #require(try found(digits + "\n"))
        #expect(name != digits && name.count == 32)
        #expect(try found("uninitialized\n") == nil)
        #expect(try found("") == nil)
        #expect(HostFingerprint.found(around: files, machineID: path + ".missing").machine == nil)
        #expect(HostFingerprint.found(around: files).file == nil)
    }

    @Test(
        "Another history than the witness knows is told until it is settled, whatever the witness says later (INV-3)")
    func anotherHistory() throws {
        let (folder, store) = try makeStore()
        let outside = TemporaryFolder()
        try FileManager.default.createDirectory(atPath: outside.path, withIntermediateDirectories: true)
        store.close()
        let first = try EventStore(opening: folder.path, witness: .folder(outside.path))
        try append(first, 3)
        first.close()
        let old = LogImage(first.files)
        // Two histories of the same length: that of the witness, and the one that is put in its place.
        let second = try EventStore(opening: folder.path)
        try append(second, 2)
        second.close()
        let known = try Data(contentsOf: URL(filePath: try #require(second.witness?.path)))
        try old.restore(second.files)
        try FileManager.default.removeItem(atPath: try #require(second.witness?.path))
        let other = try EventStore(opening: folder.path)
        _ = try other.appendBlocking([.message("other", user: "u"), .message("words", user: "u")])
        other.close()
        try known.write(to: URL(filePath: try #require(second.witness?.path)))
        let origin = first.identity.origin
        #expect(try #require(try Outside.cut(of: other.files)).contains("origin \(origin) from seq 1 to 6"))
        let third = try EventStore(opening: folder.path)
        #expect(third.originChange == .witness && third.cut?.known?.size == 6)
        third.close()
        let report = try verify(folder)
        #expect(report.answer == .contradicted, report.text)
        #expect(report.says(.ends, "\(origin) from seq 1 to 6 are not all those that the witness"), report.text)
    }

    @Test("A rewound log is noticed by its witness, and by it alone")
    func rewound() throws {
        let (folder, store) = try makeStore()
        let outside = TemporaryFolder()
        try FileManager.default.createDirectory(atPath: outside.path, withIntermediateDirectories: true)
        store.close()
        let first = try EventStore(opening: folder.path, witness: .folder(outside.path))
        try append(first, 10)
        first.close()
        let old = LogImage(first.files)
        let second = try EventStore(opening: folder.path)
        try append(second, 600)
        #expect(second.originChange == nil && second.witness?.problem == nil)
        second.close()
        let lost = second.identity.origin
        try old.restore(second.files)
        // The place of the witness is remembered by the log: no program has to be told.
        let third = try EventStore(opening: folder.path)
        #expect(third.originChange == .witness)
        let own = try origins(third)
        #expect(own.last?.succession == OriginSuccession(.witness, previous: lost, had: 11, known: 611))
        third.close()
        // An auditor who has the folder alone is told of it, too.
        let told = try Verifier(StoreFiles(folder.path)).run()
        #expect(told.notes.contains { $0.hasPrefix("origin \(lost) ends at seq 11, and has had 611: ") }, told.text)
        #expect(told.answer == .notCovered)
        #expect(try EventStore(opening: folder.path).originChange == nil)
        // A configuration that names none, or another one, does not silence the one that is there.
        let elsewhere = TemporaryFolder()
        try FileManager.default.createDirectory(atPath: elsewhere.path, withIntermediateDirectories: true)
        for place in [WitnessPlace.none, .folder(elsewhere.path)] {
            try old.restore(third.files)
            let moved = try EventStore(opening: folder.path, witness: place)
            #expect(moved.originChange == .witness && moved.lostWitness == nil, "\(place)")
            moved.close()
        }
        // Where that has gone, too, nothing tells of the rewinding here: peers will name it. That it has gone is told.
        try FileManager.default.removeItem(atPath: outside.path)
        try FileManager.default.removeItem(atPath: elsewhere.path)
        try FileManager.default.createDirectory(atPath: elsewhere.path, withIntermediateDirectories: true)
        for place in [WitnessPlace.none, .folder(elsewhere.path)] {
            try old.restore(third.files)
            let alone = try EventStore(opening: folder.path, witness: place)
            #expect(alone.originChange == nil && alone.lostWitness?.text.contains(outside.path) == true, "\(place)")
            alone.close()
        }
    }

    @Test("The witness knows the last event of a run that ended in order, however soon it ended (INV-4)")
    func toldAtTheEnd() throws {
        let (folder, store) = try makeStore()
        let outside = TemporaryFolder()
        try FileManager.default.createDirectory(atPath: outside.path, withIntermediateDirectories: true)
        store.close()
        for size in UInt64(2)...9 {
            let run = try EventStore(opening: folder.path, witness: .folder(outside.path))
            try append(run, 1)
            run.close()
            guard case .seen(let seen)? = run.witness?.read(run.key.publicKey) else {
                Issue.record("no witness after \(size) events")
                continue
            }
            #expect(seen.head.head.size == size)
        }
    }

    @Test("A log rewound and written anew is another history: the witness sees that, too")
    func rewritten() throws {
        let (folder, store) = try makeStore()
        store.close()
        let outside = TemporaryFolder()
        try FileManager.default.createDirectory(atPath: outside.path, withIntermediateDirectories: true)
        let old = LogImage(store.files)
        let first = try EventStore(opening: folder.path, witness: .folder(outside.path))
        try append(first, 5)
        first.close()
        try old.restore(first.files)
        let second = try EventStore(opening: folder.path, witness: .none)
        try append(second, 7, "다른 말")
        second.close()
        let third = try EventStore(opening: folder.path, witness: .folder(outside.path))
        #expect(third.originChange == .witness)
    }

    @Test("A damaged, foreign or unwritable witness stops nothing, and says so")
    func damagedWitness() throws {
        let (folder, store) = try makeStore()
        store.close()
        let outside = TemporaryFolder()
        // A program that names a folder that is not there is told at once; a daemon goes on, and says so.
        for path in [outside.path, "", "relative", "/etc/passwd"] {
            let error = #expect(throws: StoreError.self, "\(path)") {
                try EventStore(opening: folder.path, witness: .folder(path))
            }
            #expect(error?.code == "E_STORE_FILE")
        }
        let missing = try EventStore(
            opening: folder.path, witness: .folder(outside.path),
            surroundings: .found(around: StoreFiles(folder.path)))
        try append(missing, 1)
        missing.close()
        #expect(missing.originChange == nil)
        #expect(missing.witness?.problem?.contains(outside.path) == true)
        try FileManager.default.createDirectory(atPath: outside.path, withIntermediateDirectories: true)
        let written = try EventStore(opening: folder.path, witness: .folder(outside.path))
        try append(written, 1)
        written.close()
        #expect(written.witness?.problem == nil)
        let path = try #require(written.witness?.path)
        let text = try String(contentsOfFile: path, encoding: .utf8)
        for damaged in ["", "{}", text.replacingOccurrences(of: "\"size\":\"3\"", with: "\"size\":\"4\"")] {
            #expect(damaged != text)
            try damaged.write(toFile: path, atomically: true, encoding: .utf8)
            let again = try EventStore(opening: folder.path)
            #expect(again.originChange == nil)
            #expect(again.witness?.problem == nil)
            again.close()
            // It is kept, and said until it is settled.
            let kept = try CutEvidence.list(again.files).filter { $0.kind == .witness }
            #expect(kept.contains { $0.settled == nil })
        }
        let mended = try EventStore(opening: folder.path)
        try append(mended, 1)
        mended.close()
        #expect(mended.witness?.problem == nil)
    }

    @Test(
        "A witness that is damaged, empty, gone or no file, beside a rewound log, is told until it is settled (D21)",
        arguments: ["damaged", "empty", "gone", "pipe", "folder"])
    func lostWitness(_ how: String) throws {
        let (folder, store) = try makeStore()
        store.close()
        let outside = try TemporaryFolder.made()
        let first = try EventStore(opening: folder.path, witness: .folder(outside.path))
        try append(first, 3)
        first.close()
        let path = try #require(first.witness?.path)
        #expect(first.lostWitness == nil)
        #expect(try Verifier(first.files).run().answer == .proven)
        let before = try String(contentsOfFile: path, encoding: .utf8)
        unlink(path)
        switch how {
        case "damaged":
            try before.replacingOccurrences(of: "\"signature\":\"", with: "\"signature\":\"AA")
                .write(toFile: path, atomically: false, encoding: .utf8)
        case "empty": try Data().write(to: URL(filePath: path))
        case "pipe": #expect(mkfifo(path, 0o600) == 0)
        case "folder": try FileManager.default.moveItem(atPath: outside.path, toPath: outside.path + "-away")
        default: break
        }
        func notes() throws -> [String] {
            let report = try Verifier(first.files).run()
            #expect(report.answer == (report.notes.isEmpty ? .proven : .notCovered), report.text)
            return report.notes.filter { $0.contains("witness") }
        }
        #expect(try notes().count == 1)
        #expect(try WitnessKeeper.fault(LogReader(first.files))?.isEmpty == false)
        // The next run writes a new one; that nothing could be compared is not forgotten.
        for _ in 0..<2 {
            let next = try EventStore(opening: folder.path)
            #expect(next.originChange == nil)
            try append(next, 2)
            next.close()
            let told = try notes()
            #expect(told.contains { $0.contains("when the log was opened") }, "\(told)")
        }
        let found = try CutEvidence.list(first.files)
        #expect(found.count == 1 && found[0].kind == .witness && found[0].text.contains(path), "\(found)")
        let aside = path + "." + found[0].name
        #expect(FileManager.default.fileExists(atPath: aside) == !["gone", "folder"].contains(how))
        if how == "folder" {
            try FileManager.default.moveItem(atPath: outside.path + "-away", toPath: outside.path)
        }
        // The old one is back, and agrees.
        try before.write(toFile: path, atomically: false, encoding: .utf8)
        let back = try EventStore(opening: folder.path)
        #expect(back.lostWitness == nil && back.originChange == nil)
        back.close()
        #expect(try notes().isEmpty)
        #expect(try CutEvidence.list(first.files).allSatisfy { $0.settled != nil })
    }

    @Test("A witness that is kept from now on is not missed, and stands there before anything is appended")
    func newWitness() throws {
        let (folder, store) = try makeStore()
        store.close()
        let outside = try TemporaryFolder.made()
        let first = try EventStore(opening: folder.path, witness: .folder(outside.path))
        let path = try #require(first.witness?.path)
        #expect(first.lostWitness == nil && FileManager.default.fileExists(atPath: path))
        first.close()
        #expect(try CutEvidence.list(first.files).isEmpty)
    }

    @Test("The log names a place only once a witness lies there; one that is missing after a power cut is lost (D21)")
    func namedOnceWritten() throws {
        let (folder, store) = try makeStore()
        store.close()
        let outside = TemporaryFolder()
        var place: String? {
            get throws { try LogReader(store.files).meta("witness").flatMap { $0.isEmpty ? nil : $0 } }
        }
        var boot = HostFingerprint.found(around: store.files)
        func run(_ place: WitnessPlace, then: (EventStore) throws -> Void) throws {
            let run = try EventStore(opening: folder.path, witness: place, surroundings: boot)
            try then(run)
        }
        try run(.folder(outside.path)) { run in
            try append(run, 1)
            run.close()
        }
        #expect(try place == nil)
        #expect(try Verifier(store.files).run().answer == .proven)
        try FileManager.default.createDirectory(atPath: outside.path, withIntermediateDirectories: true)
        let cut = TemporaryFolder()
        try run(.folder(outside.path)) { run in
            #expect(run.lostWitness == nil)
            #expect(try place == outside.path)
            try append(run, 1)
            try FileManager.default.copyItem(atPath: folder.path, toPath: cut.path)
            run.close()
        }
        // As the power left it, with another boot after it; the witness has gone with the power.
        try FileManager.default.removeItem(atPath: folder.path)
        try FileManager.default.moveItem(atPath: cut.path, toPath: folder.path)
        try FileManager.default.removeItem(atPath: outside.path)
        boot = HostFingerprint(machine: nil, file: nil, boot: "another")
        try run(.asBefore) { run in
            #expect(run.lostWitness?.text.contains("is not there") == true)
            run.close()
        }
    }

    @Test("A new origin takes appends at once, and what peers send of the old one is stored like any other's")
    func fetchesBack() throws {
        let (folder, full) = try makeStore()
        try append(full, 20)
        full.close()
        let copy = TemporaryFolder()
        try FileManager.default.copyItem(atPath: folder.path, toPath: copy.path)
        let ahead = try EventStore(opening: folder.path)
        try append(ahead, 30, "나중")
        try ahead.flushBlocking()

        let behind = try EventStore(opening: copy.path, surroundings: .unknown)
        let before = try behind.makeVerifierBlocking()
        try behind.startOriginBlocking(.behind, known: 51)
        try append(behind, 3, "새로")
        let reader = try OutgoingReader(ahead)
        let known = try LogReader(behind.files).vector()
        let batch = try reader.batch(
            after: try reader.start(for: known), lacking: known, limits: OutgoingLimits())
        #expect(batch.events.count == 30)
        #expect(throws: IngestError.self) { try before.verify(batch.events, batch.coverage) }
        let verified = try behind.makeVerifierBlocking().verify(batch.events, batch.coverage)
        try blocking { behind.ingest(verified, completion: $0) }
        #expect(try origins(behind).map(\.size) == [51, 4])
        behind.close()
        #expect(try Verifier(behind.files).run().findings.isEmpty)
    }

    @Test("An event names a bounded number of origins; the others follow with the next one")
    func boundedDependencies() {
        var state = LogState()
        state.dirty = Set(0..<5_000)
        let first = state.nextDependencies(2_000)
        #expect(first == Set(0..<2_000))
        state.dirty.subtract(first)
        #expect(state.nextDependencies(2_000) == Set(2_000..<4_000))
        state.dirty.subtract(state.nextDependencies(2_000))
        #expect(state.nextDependencies(2_000) == Set(4_000..<5_000))
    }
}
