import Foundation
import TestSupport
import Testing

@testable import EventStore

/// Proven answers: events with what proves them, checked with no store (INV-19).
struct AnswerTests {
    private func answer(
        _ store: EventStore, _ scope: AnswerScope, isFiltered: Bool = false, key: SigningKey?,
        where isWanted: (Event) -> Bool
    ) throws -> [UInt8] {
        var positions: [UInt64] = []
        try LogReader(store.files).scan(after: 0, limit: .max) { stored in
            if isWanted(stored.event) { positions.append(stored.position) }
            return true
        }
        let export = try AnswerExport(
            store.files, scope, at: positions.shuffled(), isFiltered: isFiltered, key: key, time: 1_785_549_735_120)
        var out: [UInt8] = []
        while let piece = try export.next() { out += piece }
        #expect(export.written == export.count && export.count == UInt64(positions.count))
        return out
    }

    private func history(_ sample: WitnessedStore, key: SigningKey?) throws -> [UInt8] {
        try answer(sample.store, .user("u-1"), key: key) { $0.header.user == "u-1" }
    }

    @Test("A user's events across two origins are proven, with the word of a peer; any changed byte is seen (INV-19)")
    func bytes() throws {
        let sample = try WitnessedStore()
        defer { withExtendedLifetime(sample.folder) {} }
        try sample.tell([try sample.said(sample.busan.key, 301)], by: sample.busan.key)
        let file = try history(sample, key: sample.store.key)
        let (receipt, check) = try checked(file)
        #expect(check.isSigned && check.answer?.events == 99 && check.answer?.withoutPayload == 0)
        #expect(check.answer?.scope == .user("u-1") && check.answer?.isFiltered == false)
        #expect(receipt.heads.count == 2 && receipt.heads.contains { !$0.cosignatures.isEmpty })
        for at in stride(from: 0, to: file.count, by: 1_009) {
            var broken = file
            broken[at] ^= 1
            #expect(throws: ReceiptError.self, "byte \(at)") { try checked(broken) }
        }
    }

    @Test("What cannot be read belongs to no user and no conversation (FORMATS §10)")
    func ofNoUser() throws {
        let sample = try WitnessedStore()
        defer { withExtendedLifetime(sample.folder) {} }
        let header = try #require(try LogReader(sample.store.files).event(at: 2)).event.header
        let opaque = try EventHeader(received: header.canonicalBytes + [0x32, 1, 0x61])
        #expect(opaque.isOpaque && !AnswerScope.user("").contains(opaque))
        #expect(!AnswerScope.conversation("").contains(opaque) && AnswerScope.event(opaque.id).contains(opaque))
        // A field of number 0 is none of Protocol Buffers: what stands behind it is not read.
        #expect(EventHeader(opaque: [0x02, 0] + header.canonicalBytes) == nil)
        #expect(EventHeader(opaque: header.canonicalBytes + [0x02, 0])?.dot == header.dot)
    }

    @Test(
        "A head with another hlc than its last event is over no answer, though its origin's node has signed it (INV-19)"
    )
    func stamps() throws {
        let sample = try WitnessedStore()
        defer { withExtendedLifetime(sample.folder) {} }
        let store = sample.store
        func all() throws -> [UInt8] {
            try answer(
                store, .event(try #require(try LogReader(store.files).event(at: 301)).event.header.id), key: store.key
            ) {
                $0.header.dot == Dot(origin: store.identity.origin, seq: 301)
            }
        }
        try checked(try all())
        let tree = try #require(try LogReader(store.files).tree(of: store.identity.origin, size: 301))
        let later = HybridTime(rawValue: tree.hlc.rawValue + 1)
        let head = SignedHead(
            signing: TreeHead(origin: tree.origin, size: 301, root: tree.root, hlc: later), with: store.key)
        store.close()
        let connection = try Connection(path: store.files.log, mode: .write)
        try connection.execute(
            "UPDATE head SET hlc = \(later.rawValue), signature = x'\(hexText(head.signature))' WHERE size = 301")
        #expect(throws: ReceiptError.self) { try checked(try all()) }
    }

    @Test("A file without its first line, or with another one, is neither answer nor receipt")
    func withoutFirstLine() throws {
        let sample = try WitnessedStore()
        defer { withExtendedLifetime(sample.folder) {} }
        let lines = ndjson(try history(sample, key: sample.store.key))
        for start in 1..<lines.count {
            #expect(throws: ReceiptError.other) { try checked(lines[start...].flatMap { $0 }) }
        }
        #expect(throws: ReceiptError.other) { try checked([lines[1], lines[0]].flatMap { $0 }) }
    }

    @Test("An event less, more, elsewhere or of another is seen in a signed file (INV-19)")
    func lines() throws {
        let sample = try WitnessedStore()
        defer { withExtendedLifetime(sample.folder) {} }
        let lines = ndjson(try history(sample, key: sample.store.key))
        let other = ndjson(
            try answer(sample.store, .user("u-2"), key: sample.store.key) { $0.header.user == "u-2" })
        let first = try #require(lines.firstIndex { $0.starts(with: Array(#"{"type":"event""#.utf8)) })
        for index in first..<(lines.count - 1) {
            var fewer = lines
            fewer.remove(at: index)
            #expect(throws: ReceiptError.self) { try checked(fewer.flatMap { $0 }) }
            var swapped = lines
            swapped.swapAt(index, index - 1)
            #expect(throws: ReceiptError.self) { try checked(swapped.flatMap { $0 }) }
            var strange = lines
            strange[index] = other[min(index, other.count - 2)]
            #expect(throws: ReceiptError.self) { try checked(strange.flatMap { $0 }) }
            #expect(throws: ReceiptError.self) { try checked((lines[...index] + lines[index...]).flatMap { $0 }) }
        }
        #expect(throws: ReceiptError.cut) { try checked(lines.dropLast().flatMap { $0 }) }
        #expect(throws: ReceiptError.other) { try checked(Array("{\"type\":\"evidence\"}\n".utf8)) }
    }

    /// A file with these lines between the first and the last, signed by `key` whatever it says.
    private func resigned(_ lines: [[UInt8]], by key: SigningKey, count: Int) -> [UInt8] {
        var out = lines.flatMap { $0 }
        let digest = SHA256().digest(out)
        ReceiptLine.end(
            count: UInt64(count), digest: digest,
            signature: key.sign(ReceiptLine.signedText(ofAnswer: true, digest))
        ).write(to: &out)
        return out
    }

    @Test(
        "What the node itself changes and signs again is seen, but for events that it leaves out: FORMATS.md says so")
    func liesOfTheMaker() throws {
        let sample = try WitnessedStore()
        defer { withExtendedLifetime(sample.folder) {} }
        let key = sample.store.key
        let lines = ndjson(try history(sample, key: key)).dropLast().map { $0 }
        let count = lines.count { $0.starts(with: Array(#"{"type":"event""#.utf8)) }
        // Origins stand in the order of their ids, which are drawn: it need not be the first event.
        let first = try #require(
            lines.firstIndex { line in
                let text = String(decoding: line, as: UTF8.self)
                return text.contains("부산") && text.contains(#""seq":2,"#)
            })
        try checked(resigned(lines, by: key, count: count))
        func changed(_ index: Int, _ old: String, _ new: String) -> [UInt8] {
            var all = lines
            let text = String(decoding: lines[index], as: UTF8.self)
            #expect(text.contains(old))
            all[index] = Array(text.replacing(old, with: new).utf8)
            return resigned(all, by: key, count: count)
        }
        // Another text, another user's name, an event of the user that stands elsewhere in the log.
        #expect(throws: ReceiptError.self) { try checked(changed(first, "부산", "대구")) }
        #expect(throws: ReceiptError.self) { try checked(changed(0, "u-1", "u-2")) }
        #expect(throws: ReceiptError.self) { try checked(changed(first, #""seq":2,"#, #""seq":3,"#)) }
        var swapped = lines
        swapped.swapAt(first, first + 1 < lines.count ? first + 1 : first - 1)
        #expect(throws: ReceiptError.self) { try checked(resigned(swapped, by: key, count: count)) }
        // A payload as base64, as if it were bytes that are none.
        let member = #/"payload":("(?:[^"\\]|\\.)*")/#
        let line = String(decoding: lines[first], as: UTF8.self)
        let payload = try #require(try member.firstMatch(in: line)).output
        let bytes = Array(try JSONDecoder().decode(String.self, from: Data(payload.1.utf8)).utf8)
        #expect(throws: ReceiptError.line("form")) {
            try checked(changed(first, String(payload.0), #""payload_base64":"\#(base64Text(bytes))""#))
        }
        // Left out, with its count: no file can show that.
        var fewer = lines
        fewer.remove(at: first)
        fewer[0] = Array(
            String(decoding: fewer[0], as: UTF8.self).replacing(
                #""events":\#(count)"#, with: #""events":\#(count - 1)"#
            )
            .utf8)
        #expect(try checked(resigned(fewer, by: key, count: count - 1)).check.answer?.events == UInt64(count - 1))
        // By a key that is not the maker's.
        #expect(throws: ReceiptError.signature) {
            try checked(resigned(lines, by: sample.busan.key, count: count))
        }
    }

    @Test("A file that no one has signed as a whole proves each event, and says that it does no more")
    func unsigned() throws {
        let sample = try WitnessedStore()
        defer { withExtendedLifetime(sample.folder) {} }
        let (_, check) = try checked(try history(sample, key: nil))
        #expect(!check.isSigned && check.answer?.events == 99)
    }

    @Test("Erased events stay provable by their digest; twins, opaque and unreadable events are proven as they are")
    func kinds() throws {
        let sample = try SampleStore()
        let store = try EventStore(opening: sample.folder.path)
        try store.flushBlocking()
        var kinds = Set<String>()
        var ids: [EventID] = []
        try LogReader(store.files).scan(after: 0, limit: .max) { stored in
            ids.append(stored.event.header.id)
            return true
        }
        for id in Set(ids) {
            let file = try answer(store, .event(id), key: store.key) { $0.header.id == id }
            let check = ReceiptCheck { event in
                if event.isErased { kinds.insert("erased") }
                if event.header.obstacle != nil { kinds.insert("obstacle") }
            }
            for line in ndjson(file) { try check.take(line, 0..<(line.count - 1)) }
            _ = try check.finish()
            if check.answer?.events ?? 0 > 1 { kinds.insert("twins") }
        }
        #expect(kinds.isSuperset(of: ["erased", "twins"]), "\(kinds)")
    }

    @Test("An answer without events is signed, too; events that no head covers yet are refused")
    func edges() throws {
        let sample = try WitnessedStore()
        defer { withExtendedLifetime(sample.folder) {} }
        let none = try answer(sample.store, .user("nobody"), key: sample.store.key) { _ in false }
        let (receipt, check) = try checked(none)
        #expect(check.isSigned && check.answer?.events == 0 && receipt.heads.isEmpty)
        let (folder, store) = try makeStore()
        defer { withExtendedLifetime(folder) {} }
        // A head follows an event within moments: one of these is faster.
        let isRefused = try (0..<100).contains { number in
            _ = try store.appendBlocking([.message("\(number)", user: "u-1")])
            let position = try LogReader(store.files).top()
            let export = try? AnswerExport(
                store.files, .user("u-1"), at: [position], isFiltered: false, key: store.key, time: 0)
            return export == nil
        }
        #expect(isRefused)
    }
}
