import EventStore
import Testing

@testable import BotKit

/// Streams as the specification of server-sent events has them, cut anywhere.
@Suite struct ServerSentEventsTests {
    private func read(_ text: String, cutAt cuts: [Int] = []) throws -> [String] {
        let bytes = Array(text.utf8)
        var reader = ServerSentEvents()
        var found: [String] = []
        var start = 0
        for end in cuts + [bytes.count] {
            found += try reader.take(bytes[start..<end]).map { String(decoding: $0, as: UTF8.self) }
            start = end
        }
        return found
    }

    @Test(
        "What a stream says is what the specification makes of it",
        arguments: [
            ("data: a\n\n", ["a"]), ("data:a\n\ndata:  b\n\n", ["a", " b"]),
            ("data: a\r\n\r\ndata: b\r\n\r\n", ["a", "b"]),
            ("data: a\r\rdata: b\r\r", ["a", "b"]), ("data: a\r\ndata: b\r\n\r\n", ["a\nb"]),
            ("data: a\ndata: b\n\n", ["a\nb"]),
            (": ping\n\ndata: a\n\n", ["a"]),
            ("event: x\nid: 7\nretry: 5\ndata: a\n\n", ["a"]), ("\u{FEFF}data: a\n\n", ["a"]), ("data\n\n", [""]),
            ("data: a\n", []), ("data: a", []), ("dat: a\n\n", []), ("data: a:b\n\n", ["a:b"]), ("\n\n\n", []),
            ("databases: a\n\n", []), ("data: 두통\n\n", ["두통"]),
        ] as [(String, [String])])
    func specification(text: String, events: [String]) throws {
        #expect(try read(text) == events)
        // Cut at every byte, also within a character and between CR and LF.
        for cut in 0...text.utf8.count { #expect(try read(text, cutAt: [cut]) == events) }
        #expect(try read(text, cutAt: Array(0...text.utf8.count)) == events)
    }

    @Test("A line without an end takes bounded memory (INV-9)")
    func bounded() {
        var reader = ServerSentEvents()
        let piece = [UInt8](repeating: UInt8(ascii: "x"), count: 64 << 10)
        #expect(throws: ServerSentEvents.TooLong.self) {
            for _ in 0..<17 { _ = try reader.take(piece) }
        }
        var events = ServerSentEvents()
        let line = Array("data: ".utf8) + piece + [UInt8(ascii: "\n")]
        #expect(throws: ServerSentEvents.TooLong.self) {
            for _ in 0..<17 { _ = try events.take(line) }
        }
    }
}
