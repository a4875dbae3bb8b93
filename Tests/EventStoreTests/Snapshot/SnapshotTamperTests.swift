import Foundation
import TestSupport
import Testing

@testable import EventStore

/// Whatever is changed in a snapshot, it is refused by name and leaves the store as it was.
struct SnapshotTamperTests {
    private static let pieces = Result { try SnapshotPieces(of: try SampleStore().folder, bytes: 6_000) }

    /// Why the pieces are refused after `change`.
    private func refusal(_ change: (inout SnapshotPieces) throws -> Void) throws -> SnapshotError? {
        var pieces = try Self.pieces.get()
        try change(&pieces)
        let empty = try makeEmptyStore()
        let before = try allEvents(empty)
        var refusal: SnapshotError?
        do { try pieces.build(in: empty) } catch let error as SnapshotError { refusal = error }
        if refusal != nil {
            #expect(!FileManager.default.fileExists(atPath: StoreFiles(empty.path).readyLog))
            #expect(!FileManager.default.fileExists(atPath: empty.path + "/snapshot/log.part"))
            let store = try EventStore(opening: empty.path)
            _ = try store.appendBlocking([.message("goes on", user: "u")])
            store.close()
            #expect(try Array(allEvents(empty).prefix(before.count)) == before)
            #expect(try verify(empty).isIntact)
        }
        return refusal
    }

    /// What the change of a byte of the content is found out by.
    private func isProof(_ error: SnapshotError?) -> Bool {
        if case .event(.badProof) = error { true } else { false }
    }

    private func isOrder(_ error: SnapshotError?) -> Bool {
        if case .event(.stampOrder) = error { true } else { false }
    }

    private func isSignature(_ error: SnapshotError?) -> Bool {
        if case .event(.badSignature) = error { true } else { false }
    }

    private func isMalformed(_ error: SnapshotError?) -> Bool {
        if case .malformed = error { true } else { false }
    }

    @Test("A flipped byte in payload, salt, id, time or name does not pass its origin's heads")
    func flippedContent() throws {
        #expect(isProof(try refusal { $0.pieces[2].payloads[12] ^= 1 }))
        #expect(isProof(try refusal { $0.pieces[2].salts[5] ^= 0x80 }))
        #expect(isProof(try refusal { $0.pieces[1].ids[200] ^= 4 }))
        // The last byte of the first row's hlc: it proves nothing then, or is not after that of the row before.
        let stamp = try refusal { $0.pieces[1].columns[9] ^= 1 }
        #expect(isProof(stamp) || isOrder(stamp))
        #expect(isProof(try refusal { $0.pieces[3].names[3] ^= 2 }))
    }

    @Test("An event left out, repeated, or out of order")
    func order() throws {
        for change: (inout SnapshotPieces) -> Void in [
            { $0.pieces.remove(at: 2) }, { $0.pieces.swapAt(1, 2) }, { $0.pieces.insert($0.pieces[1], at: 2) },
        ] {
            let error = try refusal(change)
            guard case .event(.gap) = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
        }
    }

    @Test("Heads and proofs are those the origins have signed, and cover everything")
    func heads() throws {
        func changed(_ head: SignedHead, size: UInt64? = nil, flip: Bool = false) -> SignedHead {
            var signature = head.signature
            if flip { signature[7] ^= 1 }
            return SignedHead(
                head: TreeHead(
                    origin: head.head.origin, size: size ?? head.head.size, root: head.head.root, hlc: head.head.hlc),
                signature: signature)
        }
        let flipped = try refusal { pieces in
            let cover = pieces.coverage[0]
            pieces.coverage[0] = Coverage(head: changed(cover.head, flip: true), proof: cover.proof)
        }
        #expect(isSignature(flipped), "\(String(describing: flipped))")
        guard case .event(.notCovered) = try refusal({ $0.coverage.removeLast() }) else {
            return #expect(Bool(false), "not covered")
        }
        guard case .event(.notCovered) = try refusal({ $0.coverage = [] }) else {
            return #expect(Bool(false), "nothing covered")
        }
        let index = try #require(try Self.pieces.get().pieces.firstIndex { !$0.heads.isEmpty })
        guard
            case .event(.badSignature) = try refusal({
                $0.pieces[index].heads[0] = changed($0.pieces[index].heads[0], flip: true)
            })
        else { return #expect(Bool(false), "a head among the rows") }
        #expect(
            isMalformed(
                try refusal { pieces in
                    pieces.pieces[index].heads[0] = changed(pieces.pieces[index].heads[0], size: 100_000)
                }))
        #expect(isMalformed(try refusal { $0.pieces[index].heads.append($0.pieces[index].heads[0]) }))
        let proof = try refusal { pieces in
            let cover = pieces.coverage[0]
            pieces.coverage[0] = Coverage(head: cover.head, proof: cover.proof + [SHA256().digest([1])])
        }
        #expect(isProof(proof))
    }

    @Test("Somebody else's key, and a snapshot that is not the one that was offered")
    func signers() throws {
        let other = SigningKey.generate()
        let forged = try refusal { pieces in
            pieces.coverage = pieces.coverage.map {
                Coverage(head: SignedHead(signing: $0.head.head, with: other), proof: $0.proof)
            }
            pieces.pieces = pieces.pieces.map { rows in
                var rows = rows
                rows.heads = rows.heads.map { SignedHead(signing: $0.head, with: other) }
                return rows
            }
        }
        #expect(isSignature(forged), "\(String(describing: forged))")
        let stale = try refusal { pieces in
            let first = pieces.plan.progress[0]
            pieces.plan = SnapshotPlan(
                through: pieces.plan.through,
                progress: [OriginProgress(origin: first.origin, seq: first.seq + 1, rootPrefix: first.rootPrefix)]
                    + pieces.plan.progress.dropFirst())
        }
        let isStale = if case .stale = stale { true } else { false }
        #expect(isStale, "\(String(describing: stale))")
    }

    @Test("Bytes that are no rows")
    func malformed() throws {
        let changes: [(inout SnapshotRows) -> Void] = [
            { $0.columns.removeLast() }, { $0.columns.append(0) }, { $0.ids.removeLast(16) },
            { $0.salts.removeLast() },
            { $0.payloads.removeLast() }, { $0.payloads.append(0x20) }, { $0.count += 1 }, { $0.count -= 1 },
            { $0.count = 0 }, { $0.count = SnapshotRows.limit + 1 }, { $0.columns[1] = 9 }, { $0.columns[10] = 120 },
            { $0.names = [] }, { $0.names[0] = 200 }, { $0.names[1] = 7 }, { $0.names[1] = 0xff }, { $0.runs = [] },
            { $0.runs.append($0.runs[0]) }, { $0.columns[0] |= 0x20 }, { $0.columns[0] |= 0x40 },
            { $0.columns[2] = 0xff },
        ]
        for (index, change) in changes.enumerated() {
            let error = try refusal { change(&$0.pieces[1]) }
            #expect(error != nil, "change \(index)")
            if case .store = error { Issue.record("change \(index): \(String(describing: error))") }
        }
    }

    @Test("Names are the texts that occur, each once, and pieces follow upon each other")
    func namesAndPlaces() throws {
        // The first row of the first piece is an origin.started: its type is the first name.
        let repeated = try Self.pieces.get().pieces[0].names
        let count = Int(try #require(repeated.first)) + 1
        for name in [[0], [6] + Array("nobody".utf8), Array(repeated.prefix(count))] {
            #expect(isMalformed(try refusal { $0.pieces[0].names += name }))
        }
        #expect(isMalformed(try refusal { $0.pieces[0].after = 1 }))
        #expect(isMalformed(try refusal { $0.pieces[1].after += 1 }))
    }

    @Test("A text that stands in the names twice, and is used by both numbers")
    func repeatedName() throws {
        let error = try refusal { pieces in
            let rows = pieces.pieces[1]
            // The first name is the first row's type, and that of others, too.
            let count = Int(rows.names[rows.names.startIndex]) + 1
            pieces.pieces[1].names = rows.names + rows.names.prefix(count)
            pieces.pieces[1].columns[10] = UInt8(numberOfNames(rows))
        }
        #expect(error == .malformed("a name occurs twice"))
    }

    private func numberOfNames(_ rows: SnapshotRows) -> Int {
        var (count, index) = (0, rows.names.startIndex)
        while index < rows.names.endIndex {
            // Lengths of two bytes have the upper bit set in the first.
            let first = Int(rows.names[index])
            let isLong = first > 0x7f
            let length = isLong ? first & 0x7f | Int(rows.names[index + 1]) << 7 : first
            index += length + (isLong ? 2 : 1)
            count += 1
        }
        return count
    }

    @Test("The rules of a header hold for rows too")
    func rules() throws {
        var rows = SnapshotRows(after: 0)
        rows.count = 1
        rows.runs = [.init(origin: OriginID(UUIDBits(high: 1, low: 2)), first: 2)]
        rows.ids = [UInt8](repeating: 1, count: 16)[...]
        rows.salts = [UInt8](repeating: 2, count: 16)[...]
        rows.payloads = Array("{}".utf8)[...]
        let hlc: [UInt8] = [0, 0, 0, 0, 0, 1, 0, 0]
        func check(_ columns: [UInt8], names: [UInt8] = [1, 0x74, 1, 0x75]) -> SnapshotError? {
            var rows = rows
            rows.names = names[...]
            rows.columns = columns[...]
            do throws(SnapshotError) {
                _ = try CheckedRows(rows, using: SHA256())
                return nil
            } catch { return error }
        }
        #expect(check([0, 0] + hlc + [0, 1, 2]) == nil)
        // An author that is the user; a time that is the hlc's; version 1; no conversation; no user.
        #expect(isMalformed(check([4, 0] + hlc + [0, 1, 1, 2])))
        #expect(isMalformed(check([2, 0] + hlc + [0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 2])))
        #expect(isMalformed(check([32, 0] + hlc + [0, 1, 1, 2])))
        #expect(isMalformed(check([1, 0] + hlc + [0, 1, 2, 2], names: [1, 0x74, 1, 0x75, 0])))
        #expect(isMalformed(check([0, 0] + hlc + [0, 1, 2], names: [1, 0x74, 0])))
        // A name that nothing uses.
        #expect(isMalformed(check([0, 0] + hlc + [0, 1, 2], names: [1, 0x74, 1, 0x75, 0])))
        // A dependency on itself; none; an hlc and a time beyond their range.
        let own = UUIDBits(high: 1, low: 2).bytes
        #expect(isMalformed(check([16, 0] + hlc + [0, 1, 1] + own + [1, 2])))
        #expect(isMalformed(check([16, 0] + hlc + [0, 1, 0, 2])))
        #expect(isMalformed(check([0, 0, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2])))
        #expect(isMalformed(check([2, 0] + hlc + [0, 1, 0x7f, 0, 0, 0, 0, 0, 0, 1, 2])))
    }

    @Test("A peer that has this node's own events must have the same, and no more")
    func ownEvents() throws {
        let (folder, store) = try makeStore(name: "full")
        _ = try store.appendBlocking((0..<20).map { .message("\($0)", user: "u") })
        let (own, empty) = try makeStore(name: "own")
        _ = try empty.appendBlocking([.message("mine", user: "u")])
        try empty.flushBlocking()
        let batch = try OutgoingReader(empty).batch(after: 0, lacking: VersionVector(), limits: OutgoingLimits())
        let verified = try store.makeVerifierBlocking().verify(batch.events, batch.coverage)
        try blocking { store.ingest(verified, completion: $0) }
        store.close()
        empty.close()
        var pieces = try SnapshotPieces(of: folder)
        let rows = pieces.pieces.count - 1
        pieces.pieces[rows].payloads[pieces.pieces[rows].payloads.count - 3] ^= 1
        #expect { try pieces.build(in: own) } throws: { error in
            if case .foreign? = error as? SnapshotError { true } else { false }
        }
        // A store with that origin, made anew: it has forgotten its second event.
        let forgetful = TemporaryFolder()
        try FileManager.default.copyItem(atPath: own.path, toPath: forgetful.path)
        let connection = try Connection(path: StoreFiles(forgetful.path).log, mode: .write)
        try connection.execute("DELETE FROM event WHERE position = 2; DELETE FROM head WHERE size > 1")
        #expect { try SnapshotPieces(of: folder).build(in: forgetful) } throws: { error in
            if case .event(.amnesia)? = error as? SnapshotError { true } else { false }
        }
    }

    @Test(
        "A row that depends on the next event of an origin, which is not there yet, is refused by that name (INV-5)")
    func missingDependency() throws {
        let (folder, store) = try makeStore(name: "full")
        var busan = ForeignOrigin(1, name: "busan-1")
        busan.add(.message("부산", user: "u-b"))
        try busan.send(to: store)
        _ = try store.appendBlocking([.message("끝", user: "u")])
        try store.flushBlocking()
        store.close()
        var pieces = try SnapshotPieces(of: folder)
        let id = busan.id.bits.bytes
        var changed = 0
        for index in pieces.pieces.indices {
            let columns = Array(pieces.pieces[index].columns)
            for place in columns.indices.dropLast(16) where columns[place..<place + 16].elementsEqual(id) {
                #expect(columns[place + 16] == 2)
                var other = columns
                other[place + 16] = 3
                pieces.pieces[index].columns = other[...]
                changed += 1
            }
        }
        #expect(changed == 1)
        let empty = try makeEmptyStore()
        #expect {
            try pieces.build(in: empty)
        } throws: { error in
            guard case .event(.causalGap(_, let needs))? = error as? SnapshotError else { return false }
            return needs == Dot(origin: busan.id, seq: 3)
        }
    }

    @Test("Any bit of any piece: either it is refused, or the log is the same")
    func anyBit() throws {
        let original = try Self.pieces.get()
        var random = SplitMix64(state: 7)
        var refused = 0
        for round in 0..<120 {
            let error = try refusal { pieces in
                let index = Int(random.next() % UInt64(pieces.pieces.count))
                let field = [
                    \SnapshotRows.columns, \SnapshotRows.names, \SnapshotRows.ids, \SnapshotRows.salts,
                    \SnapshotRows.payloads,
                ][round % 5]
                let place = Int(random.next() % UInt64(pieces.pieces[index][keyPath: field].count))
                pieces.pieces[index][keyPath: field][place] ^= 1 << UInt8(random.next() % 8)
            }
            #expect(error != nil, "round \(round)")
            if error != nil { refused += 1 }
        }
        #expect(refused == 120)
        #expect(original.pieces.count > 5)
    }
}
