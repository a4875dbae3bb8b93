import Testing

@testable import EventStore

struct NativeLineWriterTests {
    /// SHA-256 of nothing.
    private let node = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

    private var writer: NativeLineWriter {
        let origin = OriginID(UUIDBits(high: 0x1111_1111_2222_4333, low: 0x8444_5555_5555_5555))
        return NativeLineWriter(nodes: [origin: NodeID(SHA256().digest([]))])
    }

    private func event(_ draft: EventDraft, body: EventBody) throws -> StoredEvent {
        let origin = try #require(OriginID(text: "11111111-2222-4333-8444-555555555555"))
        let header = EventHeader(
            dot: Dot(origin: origin, seq: 12), hlc: HybridTime(milliseconds: 1_785_549_735_121, counter: 3),
            time: draft.time, id: try #require(draft.id), type: draft.type, conversation: draft.conversation,
            user: draft.user, author: draft.author, cause: draft.cause, version: draft.version,
            actor: draft.actor)
        return StoredEvent(position: 99, event: Event(header: header, body: body))
    }

    private func full() -> EventDraft {
        EventDraft(
            id: EventID(text: "0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e5f"), type: "message.posted",
            time: 1_785_549_735_120, conversation: "방 \"1\"", user: "u-1029", author: "bot\u{2028}",
            cause: EventID(text: "0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e60"), version: 2,
            payload: Array("{\r\n\"text\":\n\"두통\\n\"}".utf8))
    }

    private let salt = UUIDBits(high: 1, low: 2)

    @Test("An author whose name looks like the user's and has other bytes is written (there is no normalisation)")
    func likeNames() throws {
        var draft = full()
        let (composed, decomposed) = ("\u{BBFC}\u{C218}", "\u{1106}\u{1175}\u{11AB}\u{1109}\u{116E}")
        #expect(composed == decomposed)
        (draft.user, draft.author) = (decomposed, composed)
        let line = writer.line(
            try event(draft, body: .present(salt: salt, payload: draft.payload)), leaf: SHA256().digest([]))
        let read = try NativeLineParser().parse(Array(line)).draft
        #expect(read.user.hasSameBytes(as: decomposed) && read.author.hasSameBytes(as: composed))
    }

    @Test func membersInOrder() throws {
        let draft = full()
        let leaf = SHA256().digest([])
        let line = writer.line(
            try event(draft, body: .present(salt: salt, payload: draft.payload)), leaf: leaf)
        let expected =
            #"{"specversion":"1.0","id":"0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e5f","type":"message.posted","#
            + #""source":"/nodes/\#(node)/11111111-2222-4333-8444-555555555555","#
            + #""time":"2026-08-01T02:02:15.120Z","subject":"conversation/방 \"1\"","user":"u-1029","#
            + "\"author\":\"bot\u{2028}\"," + #""cause":"0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e60","dataversion":2,"#
            + #""sequence":"12","position":"99","hlc":"019fbb0ec4d1-0003","leaf":"\#(leaf)","#
            + #""data":{  "text": "두통\n"}}"#
        #expect(String(decoding: line, as: UTF8.self) == expected)
    }

    @Test func leastMembers() throws {
        let draft = EventDraft(id: full().id, type: "t", time: 0, user: "u", payload: Array("{}".utf8))
        let line = writer.line(
            try event(draft, body: .present(salt: salt, payload: draft.payload)))
        let expected =
            #"{"specversion":"1.0","id":"0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e5f","type":"t","#
            + #""source":"/nodes/\#(node)/11111111-2222-4333-8444-555555555555","time":"1970-01-01T00:00:00.000Z","#
            + #""user":"u","sequence":"12","position":"99","hlc":"019fbb0ec4d1-0003","data":{}}"#
        #expect(String(decoding: line, as: UTF8.self) == expected)
    }

    @Test func parsingGivesTheDraftBack() throws {
        var draft = full()
        for payload in [#"{"text":"두통"}"#, "{\n\"a\" : [ 1,\r\n2 ]\t}"] {
            draft.payload = Array(payload.utf8)
            let line = writer.line(try event(draft, body: .present(salt: salt, payload: draft.payload)))
            #expect(!line.contains(0x0a) && !line.contains(0x0d))
            let back = try NativeLineParser().parse(line)
            var expected = draft
            expected.payload = draft.payload.map { $0 == 0x0a || $0 == 0x0d ? 0x20 : $0 }
            #expect(back.draft == expected)
            #expect(!back.isDerivedID)
            #expect(back.source == "/nodes/\(node)/11111111-2222-4333-8444-555555555555")
        }
    }

    @Test func erasedEventsSaySo() throws {
        let draft = full()
        let line = writer.line(
            try event(draft, body: .erased(payloadDigest: SHA256().digest([1]))))
        #expect(String(decoding: line, as: UTF8.self).hasSuffix(#""hlc":"019fbb0ec4d1-0003","erased":true}"#))
        #expect(throws: InvalidLine.erased) { try NativeLineParser().parse(line) }
    }

    @Test("A twin names the event that counts; a reader is told that it is one")
    func twins() throws {
        let draft = full()
        let stored = try event(draft, body: .present(salt: salt, payload: Array("{}".utf8)))
        let counting = Dot(origin: OriginID(UUIDBits(high: 1, low: 2)), seq: 7)
        let line = writer.line(stored, twinOf: counting)
        let member = #","twinof":"00000000-0000-0001-0000-000000000002/7","data":{}}"#
        #expect(String(decoding: line, as: UTF8.self).hasSuffix(member))
        #expect(try NativeLineParser().parse(line).isTwin)
        #expect(try !NativeLineParser().parse(writer.line(stored)).isTwin)
    }

    @Test("The actor stands behind the author; whoever reads the line passes over it")
    func actor() throws {
        var draft = full()
        draft.payload = Array("{}".utf8)
        draft.actor = EventActor(.token, principal: "bot/\"1\"", credential: "9f3c")
        let line = writer.line(try event(draft, body: .present(salt: salt, payload: draft.payload)))
        let members = "\"author\":\"bot\u{2028}\"," + #""actor":"token:bot/\"1\":9f3c","cause":""#
        #expect(String(decoding: line, as: UTF8.self).contains(members))
        let back = try NativeLineParser().parse(line).draft
        #expect(back.actor == nil)
        draft.actor = nil
        #expect(back == draft)
        for claim in [#""token:ceo:1""#, "7", "{}", "null"] {
            let text = #"{"type":"t","user":"u","actor":\#(claim),"data":{}}"#
            #expect(try NativeLineParser().parse(Array(text.utf8)).draft.actor == nil)
        }
        // It is no part of what an id is derived from.
        let (one, other) = (
            #"{"type":"t","user":"u","data":{}}"#, #"{"type":"t","user":"u","data":{},"actor":"node:a"}"#
        )
        #expect(
            try NativeLineParser().parse(Array(one.utf8)).draft.id
                == NativeLineParser().parse(Array(other.utf8)).draft.id)
    }

    @Test func unreadableEventsShowTheirBytes() throws {
        let draft = full()
        let line = writer.line(try event(draft, body: .unreadable(salt: salt, bytes: Array("[1,\n2]".utf8))))
        #expect(
            String(decoding: line, as: UTF8.self).hasSuffix(#""hlc":"019fbb0ec4d1-0003","data_base64":"WzEsCjJd"}"#))
        #expect(throws: InvalidLine.unreadable) { try NativeLineParser().parse(line) }

        var header = try event(draft, body: .erased(payloadDigest: SHA256().digest([1]))).event.header
        header.type = String(repeating: "t", count: 200)
        let opaque = try EventHeader(received: header.canonicalBytes)
        let stored = StoredEvent(
            position: 1, event: Event(header: opaque, body: .present(salt: salt, payload: Array("{}".utf8))))
        let other = writer.line(stored)
        let text = String(decoding: other, as: UTF8.self)
        #expect(text.contains(#","type":"","#) && text.contains(#","user":"","#))
        #expect(text.hasSuffix(#","headerbytes":"\#(base64Text(header.canonicalBytes))","data":{}}"#))
        #expect(throws: InvalidLine.unreadable) { try NativeLineParser().parse(other) }
    }
}
