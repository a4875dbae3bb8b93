import Foundation
import TestSupport
import Testing

@testable import EventStore

/// A log with all that proves it, written to a file and taken in elsewhere (FORMATS.md §8; INV-3, INV-4, INV-12).
struct EvidenceTransferTests {
    private let sha = SHA256()

    private func exported(_ store: StoreFiles, origins: Set<OriginID>? = nil) throws -> [UInt8] {
        let export = try EvidenceExport(store, origins: origins)
        var out: [UInt8] = []
        while let piece = try export.next() { out += piece }
        return out
    }

    private func lines(_ file: [UInt8]) -> [[UInt8]] {
        file.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropLast().map(Array.init)
    }

    private struct Tally: Equatable {
        var appended: UInt64
        var already: UInt64
    }

    /// Takes a file in; the tally once it has ended.
    @discardableResult
    private func take(_ lines: [[UInt8]], into store: EventStore) throws -> Tally {
        let intake = try EvidenceImport(store)
        for line in lines { try intake.take(line, 0..<line.count) }
        try intake.finish()
        return Tally(appended: intake.appended, already: intake.already)
    }

    /// A store with twins, erased events, unreadable payloads, opaque headers, dependencies both ways, and an origin
    /// whose head speaks of more events than are here.
    private func sample() throws -> (TemporaryFolder, Set<OriginID>) {
        let sample = try SampleStore()
        let store = try EventStore(opening: sample.folder.path)
        var ulsan = ForeignOrigin(3, name: "ulsan-1")
        ulsan.add(.message("울산", user: "u"), needs: [Dot(origin: sample.own, seq: 300)])
        var header = ulsan.next()
        ulsan.append(header.canonicalBytes, .unreadable(salt: UUIDBits(high: 1, low: 1), bytes: [0x5b, 0xff, 0x5d]))
        header = ulsan.next()
        header.type = String(repeating: "t", count: 200)
        let opaque: EventBody = .present(salt: UUIDBits(high: 1, low: 2), payload: Array("{\r\n \"a\":\t1}".utf8))
        ulsan.append(header.canonicalBytes, opaque)
        for number in 0..<1_500 { ulsan.add(.message("\(number)", user: "u")) }
        try ulsan.send(to: store)
        var mokpo = ForeignOrigin(4, name: "mokpo-1")
        for number in 0..<10 { mokpo.add(.message("\(number)", user: "u")) }
        let leaves = mokpo.received.map { sha.leaf(header: $0.header, payloadDigest: sha.payloadDigest($0.body)) }
        let proof = MerkleProof.consistency(from: 7, to: 11, using: sha) { (level, index) throws(Never) in
            var range = MerkleRange()
            for leaf in leaves[Int(index) << level..<(Int(index) + 1) << level] { range.append(leaf, using: sha) }
            return range.root(using: sha)
        }
        let batch = try store.makeVerifierBlocking().verify(
            Array(mokpo.received.prefix(7)), [Coverage(head: mokpo.head(using: sha), proof: proof)])
        try blocking { store.ingest(batch, completion: $0) }
        _ = try store.appendBlocking((0..<30).map { .message("end \($0)", user: "u-1") })
        store.close()
        let origins = try LogReader(store.files).origins().map(\.id)
        return (sample.folder, Set(origins))
    }

    @Test(
        "Beside a running node no event is in the file without what it depends on: the other's head may be older (INV-5)"
    )
    func headsOfDifferentAges() throws {
        let (folder, store) = try makeStore()
        defer { withExtendedLifetime(folder) {} }
        let own = store.identity.origin
        try store.flushBlocking()
        _ = try store.appendBlocking((0..<3).map { .message("\($0)", user: "u") })
        // They have applied events that no stored head covers yet, and what depends on them in turn.
        var (busan, ulsan) = (ForeignOrigin(1, name: "busan-1"), ForeignOrigin(2, name: "ulsan-1"))
        for needs in 1...4 {
            busan.add(.message("\(needs)", user: "u"), needs: [Dot(origin: own, seq: UInt64(needs))])
        }
        try busan.send(to: store)
        for needs in 1...4 {
            ulsan.add(.message("\(needs)", user: "u"), needs: [Dot(origin: busan.id, seq: UInt64(needs))])
        }
        try ulsan.send(to: store)
        let export = try EvidenceExport(store.files)
        #expect(export.uncovered > 3 && export.count > 3)
        let (other, archive) = try makeStore(name: "archive")
        defer { withExtendedLifetime(other) {} }
        #expect(try take(lines(try exported(store.files)), into: archive).appended == export.count)
        // Of some origins alone nothing is left out for what the file does not have.
        let alone = try EvidenceExport(store.files, origins: [ulsan.id])
        #expect(alone.count == 5 && alone.uncovered == 0)
    }

    @Test("What is taken in is what was there, bit for bit, proven, once; and writes the same file again")
    func roundTrip() throws {
        let (folder, origins) = try sample()
        let file = try exported(StoreFiles(folder.path))
        let (other, store) = try makeStore(name: "archive")
        let total = try LogReader(StoreFiles(folder.path)).top()
        let first = try take(lines(file), into: store)
        #expect(first == Tally(appended: total, already: 0))
        #expect(try take(lines(file), into: store) == Tally(appended: 0, already: total))
        #expect(try exported(store.files, origins: origins) == file)
        let (here, there) = (try LogReader(StoreFiles(folder.path)), try LogReader(store.files))
        for position in 1...total {
            let event = try #require(try here.event(at: position)).event
            #expect(try there.event(event.header.dot)?.event == event)
        }
        store.close()
        #expect(try verify(other).isIntact)
        // Where it came from nothing is new, either.
        let source = try EventStore(opening: folder.path)
        #expect(try take(lines(file), into: source) == Tally(appended: 0, already: total))
    }

    @Test(
        "What was changed is not written: the event is named, or where its stored leaf was changed, too, the place (INV-4)"
    )
    func changedStore() throws {
        let (folder, store) = try makeStore()
        _ = try store.appendBlocking((0..<50).map { .message("말 \($0)", user: "u") })
        store.close()
        let dot = Dot(origin: store.identity.origin, seq: 30)
        let event = try #require(try LogReader(store.files).event(dot)).event
        guard case .present(let salt, _) = event.body else { return }
        let forged = Event(header: event.header, body: .present(salt: salt, payload: Array(#"{"text":"딴 말"}"#.utf8)))
        let connection = try Connection(path: store.files.log, mode: .write)
        try connection.execute(#"UPDATE event SET payload = '{"text":"딴 말"}' WHERE position = 30"#)
        var error = #expect(throws: StoreError.self) { try exported(StoreFiles(folder.path)) }
        #expect(error?.code == "E_CORRUPT" && error.map { "\($0)".contains("event \(dot) is not") } == true)
        try connection.execute(
            "UPDATE event SET leaf = \(EventRow.leafCheck(sha.leaf(of: forged))) WHERE position = 30")
        error = #expect(throws: StoreError.self) { try exported(StoreFiles(folder.path)) }
        #expect(error?.code == "E_CORRUPT" && error.map { "\($0)".contains("\(dot.origin) up to seq") } == true)
    }

    @Test("The file does not depend on the order in which events came (INV-6)")
    func order() throws {
        var random = SplitMix64(state: 6)
        var origins = (1...4).map { ForeignOrigin(UInt64($0), name: "o\($0)") }
        var placed: [(origin: Int, event: EncodedEvent)] = origins.indices.map { ($0, origins[$0].received[0]) }
        for number in 0..<3_000 {
            let index = Int.random(in: 0..<4, using: &random)
            let other = Int.random(in: 0..<4, using: &random)
            let needs = Dot(origin: origins[other].id, seq: origins[other].tree.size)
            let isFree = other == index || Int.random(in: 0..<3, using: &random) > 0
            origins[index].add(.message("\(number)", user: "u"), needs: isFree ? [] : [needs])
            placed.append((index, try #require(origins[index].received.last)))
        }
        func stored(_ events: [EncodedEvent]) throws -> (TemporaryFolder, EventStore) {
            let (folder, store) = try makeStore()
            let coverage = origins.map { Coverage(head: $0.head(using: sha), proof: []) }
            let batch = try store.makeVerifierBlocking().verify(events, coverage)
            try blocking { store.ingest(batch, completion: $0) }
            return (folder, store)
        }
        let one = try stored(placed.map(\.event))
        let wanted = Set(origins.map(\.id))
        let file = try exported(one.1.files, origins: wanted)
        let canonical = try lines(file).compactMap { line -> EncodedEvent? in
            if case .event(_, let event) = try EvidenceLine(line, 0..<line.count) { event } else { nil }
        }
        #expect(canonical != placed.map(\.event) && Set(canonical) == Set(placed.map(\.event)))
        // It is a causal order: a store takes it at once.
        let other = try stored(canonical)
        #expect(try exported(other.1.files, origins: wanted) == file)
        for (_, store) in [one, other] { store.close() }
    }

    @Test("The vector of docs/reference/FORMATS.md, made by another program: taken in, and written again")
    func vector() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let file = [UInt8](try Data(contentsOf: root.appending(path: "docs/reference/vectors/evidence.ndjson")))
        let (storeFolder, store) = try makeStore()
        defer { withExtendedLifetime(storeFolder) {} }
        defer { store.close() }
        #expect(try take(lines(file), into: store) == Tally(appended: 7, already: 0))
        let origins = try ["1b4e28ba-2fa1-11d2-883f-0016d3cca427", "6ba7b810-9dad-11d1-80b4-00c04fd430c8"].map {
            try #require(OriginID(text: $0))
        }
        #expect(try exported(store.files, origins: Set(origins)) == file)
    }

    @Test("A file that was cut is not taken for a whole one; what came is proven and stays")
    func cut() throws {
        let (folder, _) = try sample()
        let all = lines(try exported(StoreFiles(folder.path)))
        for count in [0, 1, 3, 6, 500, 1_100, all.count - 1] {
            let (copy, store) = try makeStore()
            #expect(throws: EvidenceError.cut) { try take(Array(all.prefix(count)), into: store) }
            store.close()
            #expect(try verify(copy).isIntact)
            // The whole file goes on where the cut one ended.
            let again = try EventStore(opening: copy.path)
            let tally = try take(all, into: again)
            #expect(tally.appended + tally.already == (try LogReader(StoreFiles(folder.path)).top()))
            again.close()
        }
        // Whole lines are missing, and the end is there.
        let (storeFolder, store) = try makeStore()
        defer { withExtendedLifetime(storeFolder) {} }
        #expect(throws: EvidenceError.self) { try take(Array(all.prefix(1) + all.suffix(1)), into: store) }
        store.close()
    }

    @Test("What was changed, left out or put in another place is refused, with the origin named")
    func tampering() throws {
        let (folder, _) = try sample()
        let source = try LogReader(StoreFiles(folder.path))
        let all = lines(try exported(StoreFiles(folder.path)))
        let ulsan = ForeignOrigin(3, name: "ulsan-1").id
        func index(_ dot: Dot) throws -> Int {
            let start = Array(#"{"type":"event","origin":"\#(dot.origin)","seq":\#(dot.seq),"#.utf8)
            return try #require(all.firstIndex { $0.starts(with: start) })
        }
        func result(_ change: (inout [[UInt8]]) throws -> Void) throws -> EvidenceError? {
            var changed = all
            try change(&changed)
            let (copy, store) = try makeStore()
            var found: EvidenceError?
            do { try take(changed, into: store) } catch let error as EvidenceError { found = error }
            store.close()
            // Nothing that is not proven got in.
            #expect(try verify(copy).isIntact)
            for origin in try LogReader(store.files).origins() where origin.id != store.identity.origin {
                for seq in 1...max(1, origin.size) where seq <= origin.size {
                    let dot = Dot(origin: origin.id, seq: seq)
                    #expect(try LogReader(store.files).event(dot)?.event == source.event(dot)?.event)
                }
            }
            return found
        }
        func replaced(_ text: String, by other: String, in line: [UInt8]) -> [UInt8] {
            Array(String(decoding: line, as: UTF8.self).replacingOccurrences(of: text, with: other).utf8)
        }
        let middle = try index(Dot(origin: ulsan, seq: 400))
        let payload = try result { $0[middle] = replaced(#"\"text\""#, by: #"\"tExt\""#, in: $0[middle]) }
        guard case .refused(.badProof(ulsan, _)) = payload else {
            Issue.record("a changed payload: \(String(describing: payload))")
            return
        }
        #expect(try result { $0.remove(at: middle) } == .refused(.gap(Dot(origin: ulsan, seq: 401), have: 399)))
        #expect(
            try result { $0.swapAt(middle, middle + 1) } == .refused(.gap(Dot(origin: ulsan, seq: 401), have: 399)))
        let start = try index(Dot(origin: ulsan, seq: 1))
        #expect(try result { $0.remove(at: start) } == .refused(.gap(Dot(origin: ulsan, seq: 2), have: 0)))
        // Another key for the origin; another signature; a head of another origin.
        let origins = all.indices.filter { all[$0].starts(with: #"{"type":"origin","#.utf8) }
        let place = try #require(origins.first { String(decoding: all[$0], as: UTF8.self).contains("\(ulsan)") })
        let forged = ForeignOrigin(3, name: "stranger")
        var line: [UInt8] = []
        EvidenceLine.origin(EvidenceOrigin(key: forged.key.publicKey, size: 1_504, head: forged.head(using: sha)))
            .write(to: &line)
        #expect(try result { $0[place] = line.dropLast() } != nil)
        let bad = try result { $0[place] = replaced(#""signature":""#, by: #""signature":"AAAA"#, in: $0[place]) }
        #expect(bad?.code == "E_EVIDENCE_PROOF")
        let proof = try #require(all.firstIndex { String(decoding: $0, as: UTF8.self).contains(#""proof":[""#) })
        #expect(try result { $0.remove(at: proof) } != nil)
        #expect(try result { $0[proof] = replaced(#""proof":[""#, by: #""proof":["00"#, in: $0[proof]) } != nil)
        #expect(
            try result { $0[0] = replaced(#""v":1"#, by: #""v":2"#, in: $0[0]) }
                == .line("another version of the format"))
        #expect(try result { $0.append($0[0]) } == .line("a line after the last one"))
        let counted = try result { $0[0] = replaced(#""events":"#, by: #""events":1"#, in: $0[0]) }
        #expect(counted?.code == "E_EVIDENCE_LINE", "\(String(describing: counted))")
        #expect(try result { $0[1] = Array("nonsense".utf8) } == .line("type: missing or wrong"))
        // All is proven, and yet the file is not the one that was written.
        #expect(try result { $0[0] = $0[0] + [0x20] } == .changed)
    }

    @Test("An event that is longer than a peer could send is in no file, and no store with it is proven (INV-4)")
    func longest() throws {
        for more in [0, 1] {
            var origin = ForeignOrigin(1, name: "busan-1")
            let bytes = [UInt8](repeating: 0x61, count: Limits.carriedPayload + more)
            origin.append(origin.next().canonicalBytes, .unreadable(salt: UUIDBits(high: 1, low: 1), bytes: bytes))
            let (folder, store) = try makeStore()
            // As a release that did not look has stored it.
            try origin.send(to: store)
            store.close()
            let report = try verify(folder)
            #expect(report.isIntact == (more == 0), "\(report.findings)")
            #expect(report.findings.allSatisfy { $0.message.contains("longer than an event can be") })
            let (other, archive) = try makeStore(name: "archive")
            let file = lines(try exported(StoreFiles(folder.path), origins: [origin.id]))
            let taken = Result { try take(file, into: archive) }.mapError { $0 as? EvidenceError ?? .cut }
            let reason = InvalidEvidenceLine.long.reason
            #expect(taken.map(\.appended) == (more == 0 ? .success(2) : .failure(.line(reason))))
            archive.close()
            withExtendedLifetime(other) {}
        }
    }

    @Test("A file without the newest events says so: the head alone knows of them (INV-3)")
    func newestLeftOut() throws {
        var origin = ForeignOrigin(1, name: "busan-1")
        for number in 2...8 { origin.add(.message("\(number)", user: "u")) }
        let (folder, store) = try makeStore()
        let proof = MerkleProof.consistency(from: 5, to: 8, using: sha) { (level, index) throws(Never) in
            var range = MerkleRange()
            for item in origin.received[Int(index) << level..<(Int(index) + 1) << level] {
                range.append(sha.leaf(header: item.header, payloadDigest: sha.payloadDigest(item.body)), using: sha)
            }
            return range.root(using: sha)
        }
        let batch = try store.makeVerifierBlocking().verify(
            Array(origin.received.prefix(5)), [Coverage(head: origin.head(using: sha), proof: proof)])
        try blocking { store.ingest(batch, completion: $0) }
        store.close()
        #expect(try verify(folder).answer == .notCovered)
        let (other, archive) = try makeStore(name: "archive")
        let intake = try EvidenceImport(archive)
        for line in lines(try exported(StoreFiles(folder.path), origins: [origin.id])) {
            try intake.take(line, 0..<line.count)
        }
        try intake.finish()
        #expect(intake.lacking.map(\.origin) == [origin.id])
        #expect(intake.lacking.first?.size == 5 && intake.lacking.first?.signed == 8)
        archive.close()
        var report = try verify(other)
        #expect(report.isIntact && report.answer == .notCovered)
        #expect(report.notes.contains { $0.contains("has signed 8 events, of which 5 are here") }, "\(report.notes)")
        // Beside a writer they are lacking, too, until they have come.
        let again = try EventStore(opening: other.path)
        report = try verify(other)
        #expect(report.answer == .notCovered && report.notes.contains { $0.contains("of which 5") })
        try origin.send(to: again)
        #expect(try verify(other).notes.isEmpty)
        again.close()
        #expect(try verify(other).answer == .proven)
    }

    @Test("A payload that the store has lost is put back from a file that has it; one that was erased is not (INV-4)")
    func healing() throws {
        let (folder, _) = try sample()
        let file = lines(try exported(StoreFiles(folder.path)))
        let (other, archive) = try makeStore(name: "archive")
        try take(file, into: archive)
        archive.close()
        let files = StoreFiles(other.path)
        let place = try #require(try LogReader(files).event(saying: "말 40"))
        let connection = try Connection(path: files.log, mode: .write)
        let update = try connection.statement(
            "UPDATE event SET salt = NULL, payload = NULL, digest = ? WHERE position = ?")
        try update.bind(1, blob: sha.payloadDigest(place.event.body).bytes)
        try update.bind(2, place.position)
        try update.run()
        #expect(try !verify(other).isIntact)
        let again = try EventStore(opening: other.path)
        let intake = try EvidenceImport(again)
        for line in file { try intake.take(line, 0..<line.count) }
        try intake.finish()
        #expect(intake.appended == 0 && intake.healed == 1)
        again.close()
        #expect(try verify(other).isIntact)
        #expect(try LogReader(files).event(at: place.position)?.event == place.event)
    }

    @Test(
        "A file of before an erasure brings nothing back that its node has erased, where the archive knows of that (INV-11, D27)"
    )
    func ofBeforeAnErasure() throws {
        let word = "비밀\(UInt64.random(in: 1 << 60 ... .max))"
        let (folder, store) = try makeStore()
        _ = try store.appendBlocking([
            .message(word, user: "u-1"), .message("남는 말", user: "u-2"), .message(word, user: "u-1"),
        ])
        try store.flushBlocking()
        let before = lines(try exported(store.files))
        _ = try store.eraseBlocking([Erasure(subject: .user("u-1"))], author: "operator")
        try store.finishErasures()
        try store.flushBlocking()
        let after = lines(try exported(store.files))
        store.close()
        // The archive has all of it without, and then only what says that it was erased.
        let (other, archive) = try makeStore(name: "archive")
        try take(after, into: archive)
        try take(before, into: archive)
        archive.close()
        #expect(ByteScan.find([word], in: [other.path]).isEmpty)
        #expect(!ByteScan.find(["남는 말"], in: [other.path]).isEmpty)
        let report = try verify(other)
        #expect(report.isIntact && report.erased == 2, report.text)
        // A folder that has never heard of it takes what the file has, as the pages on erasure say.
        let (fresh, new) = try makeStore(name: "fresh")
        try take(before, into: new)
        new.close()
        #expect(!ByteScan.find([word], in: [fresh.path]).isEmpty)
        // Opened once more it knows of the erasure from its log.
        let again = try EventStore(opening: other.path)
        let intake = try EvidenceImport(again)
        for line in before { try intake.take(line, 0..<line.count) }
        try intake.finish()
        #expect(intake.appended == 0 && intake.healed == 0)
        again.close()
        #expect(ByteScan.find([word], in: [other.path]).isEmpty)
        withExtendedLifetime(folder) {}
    }

    @Test("What a node has erased of its own comes to an archive without payload, whoever sends it (INV-11, D27)")
    func lateOfErased() throws {
        let (folder, archive) = try makeStore(name: "archive")
        var origin = ForeignOrigin(1, name: "busan-1")
        // By its name: so it goes whenever it was recorded.
        var erasure = Erasure(subject: nil)
        erasure.events = [Dot(origin: origin.id, seq: 3)]
        origin.add(erasure.draft(user: "node/\(origin.key.publicKey.nodeID)"))
        origin.add(.message("늦게 온 말", user: "u-1"))
        origin.add(.message("남는 말", user: "u-2"))
        try origin.send(to: archive)
        let log = try LogReader(archive.files)
        #expect(try log.event(Dot(origin: origin.id, seq: 3))?.event.isErased == true)
        #expect(try log.event(Dot(origin: origin.id, seq: 4))?.event.isErased == false)
        archive.close()
        withExtendedLifetime(folder) {}
    }

    @Test("Another history of an origin that is here is refused, and its first event is named")
    func forks() throws {
        let (folder, store) = try makeStore()
        defer { withExtendedLifetime(folder) {} }
        _ = try store.appendBlocking((0..<9).map { .message("같은 말 \($0)", user: "u") })
        store.close()
        let copy = TemporaryFolder()
        defer { withExtendedLifetime(copy) {} }
        try FileManager.default.copyItem(atPath: folder.path, toPath: copy.path)
        let one = try EventStore(opening: folder.path, surroundings: .unknown)
        let other = try EventStore(opening: copy.path, surroundings: .unknown)
        for (store, count) in [(one, 300), (other, 5)] {
            _ = try store.appendBlocking((0..<count).map { .message("말 \($0) \(count)", user: "u") })
            try store.flushBlocking()
        }
        let origin = one.identity.origin
        let (archiveFolder, archive) = try makeStore(name: "archive")
        defer { withExtendedLifetime(archiveFolder) {} }
        try take(lines(try exported(one.files)), into: archive)
        let before = try LogReader(archive.files).top()
        let theirs = lines(try exported(other.files))
        #expect(throws: EvidenceError.other(Dot(origin: origin, seq: 11))) { try take(theirs, into: archive) }
        #expect(try LogReader(archive.files).top() == before)
        let mine = lines(try exported(one.files))
        #expect(throws: EvidenceError.other(Dot(origin: origin, seq: 11))) { try take(mine, into: other) }
        for store in [one, other, archive] { store.close() }
    }

    @Test("A proven fork goes with the events, so that what depends on the other history is taken (D12)")
    func provenForks() throws {
        var one = ForeignOrigin(1, name: "forked")
        for number in 2...3 { one.add(.message("\(number)", user: "u")) }
        var other = one
        for number in 4...6 { one.add(.message("one \(number)", user: "u")) }
        for number in 4...9 { other.add(.message("other \(number)", user: "u")) }
        var witness = ForeignOrigin(2, name: "witness")
        witness.add(.message("대답", user: "u"), needs: [Dot(origin: one.id, seq: 9)])
        func branch(_ origin: ForeignOrigin) throws -> ForkBranch {
            let leaves = origin.received.map {
                sha.leaf(header: $0.header, payloadDigest: sha.payloadDigest($0.body))
            }
            let bridge = try #require(MerkleBridge(have: origin.tree.size, whole: origin.tree.size, proof: []))
            let proof = bridge.inclusion(of: 3, using: sha) { (level, index) throws(Never) in
                var range = MerkleRange()
                for leaf in leaves[Int(index) << level..<(Int(index) + 1) << level] { range.append(leaf, using: sha) }
                return range.root(using: sha)
            }
            let item = origin.received[3]
            return ForkBranch(
                head: origin.head(using: sha), header: item.header, payloadDigest: sha.payloadDigest(item.body),
                proof: try #require(proof))
        }
        let dot = Dot(origin: one.id, seq: 4)
        let evidence = try #require(ForkEvidence(dot, try branch(one), try branch(other), key: one.key.publicKey))
        let (storeFolder, store) = try makeStore()
        defer { withExtendedLifetime(storeFolder) {} }
        _ = try store.keep(evidence)
        try one.send(to: store)
        try witness.send(to: store)
        let origins: Set = [one.id, witness.id]
        let file = try exported(store.files, origins: origins)
        let (archiveFolder, archive) = try makeStore(name: "archive")
        defer { withExtendedLifetime(archiveFolder) {} }
        #expect(try take(lines(file), into: archive) == Tally(appended: 8, already: 0))
        #expect(try ForkEvidence.list(archive.files) == [evidence])
        #expect(try exported(archive.files, origins: origins) == file)
        // Without the proof it is unknown why that event is missing.
        let (strictFolder, strict) = try makeStore(name: "strict")
        defer { withExtendedLifetime(strictFolder) {} }
        let without = lines(file).filter { !$0.starts(with: #"{"type":"fork","#.utf8) }
        let needs = IngestError.causalGap(Dot(origin: witness.id, seq: 2), needs: Dot(origin: one.id, seq: 9))
        #expect(throws: EvidenceError.refused(needs)) { try take(without, into: strict) }
        for store in [store, archive, strict] { store.close() }
    }
}

extension LogReader {
    /// The first event whose payload has a text in it.
    fileprivate func event(saying text: String) throws -> StoredEvent? {
        var found: StoredEvent?
        try scan(after: 0, limit: 10_000) { stored in
            if let payload = stored.event.payload, String(decoding: payload, as: UTF8.self).contains(text) {
                found = stored
            }
            return found == nil
        }
        return found
    }
}
