import Foundation
import Testing

@testable import EventStore

/// Header field 32 and the rule of ancillary fields, as FORMATS.md §2 has them.
struct EventActorTests {
    private static let plain = event(1, 1, hlc: 10, author: "bot").header

    /// A field of wire type 2, written here from the encoding's own page.
    private static func field(_ number: Int, _ value: [UInt8]) -> [UInt8] {
        varint(number << 3 | 2) + varint(value.count) + value
    }

    private static func varint(_ number: Int) -> [UInt8] {
        number < 128 ? [UInt8(number)] : [UInt8(number & 127 | 128)] + varint(number >> 7)
    }

    private static func actor(_ text: String) -> [UInt8] { field(32, Array(text.utf8)) }

    @Test(
        "Texts of actors have one reading each",
        arguments: [
            ("socket:uid:1000", EventActor.Method.socket, "uid:1000", ""), ("file:uid:0", .file, "uid:0", ""),
            ("node:a", .node, "a", ""), ("token:bot/medibot:9f3c", .token, "bot/medibot", "9f3c"),
            ("JWT:auth0|김:철수:k1", .jwt, "auth0|김:철수", "k1"), ("certificate::::x", .certificate, "::", "x"),
        ])
    func reading(text: String, method: EventActor.Method, principal: String, credential: String) throws {
        let read = try #require(EventActor(text: text))
        #expect((read.method, read.principal, read.credential) == (method, principal, credential))
        #expect(EventActor(method, principal: principal, credential: credential) == read)
        #expect(read.description == text)
    }

    @Test(
        "What has not the form is no actor",
        arguments: [
            "", "socket", "socket:", ":uid:1", "Socket:uid:1", "jwt:a:b", "passkey:a", "token:bot", "token:bot:",
            "token::x", "token:",
            "socket:a\u{1f}b", "socket:a\u{7f}", "socket:" + String(repeating: "x", count: 257),
            "token:a:" + String(repeating: "x", count: 65), "token:a:b\n",
        ])
    func noActor(text: String) throws {
        #expect(EventActor(text: text) == nil)
        // And its event is one without an actor, which keeps those bytes.
        let bytes = Self.plain.canonicalBytes + Self.actor(text)
        let header = try EventHeader(received: bytes)
        #expect(!header.isOpaque && header.actor == nil && !header.isOfLaterFormat)
        #expect(header.user == "u" && header.author == "bot" && header.canonicalBytes == bytes)
    }

    @Test("Longest parts, and parts that do not fit together")
    func bounds() {
        let (principal, credential) = (String(repeating: "p", count: 256), String(repeating: "c", count: 64))
        #expect(EventActor(.token, principal: principal, credential: credential)?.text.utf8.count == 327)
        #expect(EventActor(.token, principal: principal + "p", credential: "c") == nil)
        #expect(EventActor(.token, principal: "p", credential: credential + "c") == nil)
        #expect(
            EventActor(.token, principal: "p") == nil && EventActor(.socket, principal: "p", credential: "c") == nil)
        #expect(
            EventActor(.token, principal: "p", credential: "a:b") == nil && EventActor(.node, principal: "") == nil)
    }

    @Test("Field 32 of another type, in broken UTF-8 or twice says nothing, and the event is read")
    func malformed() throws {
        let good = Self.actor("socket:uid:1")
        for tail in [
            [0x80, 2, 1], Self.field(32, [0xff, 0xfe]), good + good, good + Self.actor("socket:uid:2"),
            [0x81, 2] + [UInt8](repeating: 7, count: 8),
        ] {
            let bytes = Self.plain.canonicalBytes + tail
            let header = try EventHeader(canonicalBytes: bytes)
            #expect(header.actor == nil && header.unknownFields == tail && !header.isOfLaterFormat)
            #expect(header.canonicalBytes == bytes)
        }
    }

    @Test("Fields 13 to 31 are critical, those from 32 on are not", arguments: Array(13...40) + [100, 4_000_000])
    func critical(number: Int) throws {
        let bytes = Self.plain.canonicalBytes + Self.field(number, [1, 2, 3])
        let header = try EventHeader(canonicalBytes: bytes)
        #expect(header.isOfLaterFormat == (number < 32))
        #expect(header.canonicalBytes == bytes)
        // An actor goes where its number stands.
        var named = header
        named.actor = number == 32 ? nil : EventActor(.socket, principal: "uid:1")
        #expect(try EventHeader(canonicalBytes: named.canonicalBytes) == named)
    }

    @Test("A field out of order makes the header opaque")
    func order() throws {
        let (actor, later) = (Self.actor("socket:uid:1"), Self.field(33, [1]))
        #expect(try EventHeader(received: Self.plain.canonicalBytes + later + actor).isOpaque)
        #expect(try EventHeader(received: Self.plain.canonicalBytes + actor + Self.field(31, [1])).isOpaque)
        #expect(try !EventHeader(received: Self.plain.canonicalBytes + actor + later).isOpaque)
    }

    @Test("Ancillary fields have 4,096 bytes together, and no more")
    func size() throws {
        let critical = Self.field(20, [UInt8](repeating: 0, count: 5_000))
        for (count, isOpaque) in [(4_096 - 20, false), (4_096 - 19, true)] {
            // The actor's field has 15 bytes, the head of the other has 5.
            let tail = Self.actor("socket:uid:1") + Self.field(2_100, [UInt8](repeating: 9, count: count))
            let header = try EventHeader(received: Self.plain.canonicalBytes + tail)
            #expect(tail.count == (isOpaque ? 4_097 : 4_096) && header.isOpaque == isOpaque)
            #expect(try EventHeader(received: Self.plain.canonicalBytes + critical + tail).isOpaque == isOpaque)
        }
    }

    @Test(
        "Views of events with actors and with ancillary fields of later formats are those of events without (INV-6)")
    func digests() throws {
        func views(_ actor: EventActor?, _ unknown: [UInt8]) throws -> [ViewDigest] {
            let log = try LogFixture()
            try log.deliver([
                event(1, 1, hlc: 10, actor: actor, unknown: unknown),
                event(1, 2, hlc: 11, author: "bot", actor: actor, unknown: unknown),
                event(
                    2, 1, hlc: 12, type: "survey.answered", actor: actor, unknown: unknown,
                    #"{"survey":"s","question":"q","choice":"a"}"#),
                event(2, 2, hlc: 13, type: "conversation.renamed", actor: actor, unknown: unknown, #"{"title":"t"}"#),
                event(
                    2, 3, hlc: 14, type: "profile.changed", actor: actor, unknown: unknown,
                    #"{"fields":{"name":"n"}}"#),
            ])
            return try log.digests()
        }
        let wanted = try views(nil, [])
        let actor = EventActor(.socket, principal: "uid:1000")
        #expect(try views(actor, []) == wanted)
        #expect(try views(nil, Self.field(33, [1, 2])) == wanted)
        #expect(try views(actor, Self.field(33, [1, 2]) + Self.field(99, [])) == wanted)
        #expect(try views(nil, Self.actor("passkey:x")) == wanted)
        #expect(try views(nil, Self.field(31, [1])) != wanted)
        #expect(try views(nil, Self.field(13, [1]) + Self.field(33, [1])) != wanted)
    }
}
