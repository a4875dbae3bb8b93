import Foundation
import TestSupport
import Testing

@testable import EventStore

/// Lines of one request are judged in their order, as those of several requests would be.
@Suite(.serialized)
struct LinesInTurnTests {
    private let daemon: DaemonProcess
    private let api: APIClient

    init() throws {
        daemon = try DaemonProcess("n")
        try daemon.start()
        api = APIClient(socket: daemon.store + "/api.sock")
    }

    private func token(_ user: String) throws -> String {
        let answer = api.ask(
            "POST", "/v1/credentials", body: #"{"principal":"u/\#(user)","roles":["user:\#(user)"]}"#)
        return "Authorization: Bearer \(try #require(answer?.1.first?["token"] as? String))"
    }

    private func line(
        _ type: String, _ user: String, in conversation: String = "c", id: String? = nil,
        _ data: String = #"{"text":"말"}"#
    ) -> String {
        let id = id.map { #""id":"\#($0)","# } ?? ""
        return
            #"{\#(id)"type":"\#(type)","user":"\#(user)","subject":"conversation/\#(conversation)","data":\#(data)}"#
    }

    private func append(_ lines: String..., as who: String? = nil, _ query: String = "") -> (Int, [String]) {
        let headers = [who].compactMap(\.self)
        let answer = api.ask("POST", "/v1/events\(query)", body: lines.joined(separator: "\n"), headers: headers)
        return (answer?.0 ?? 0, answer?.1.compactMap { $0["code"] as? String } ?? [])
    }

    @Test("Who leaves by a line says nothing more behind it; who comes back by one does (INV-13)")
    func leaving() throws {
        #expect(append(line("conversation.started", "kim", #"{"participants":["kim","lee"]}"#)).0 == 200)
        let kim = try token("kim")
        let (left, said) = (line("participant.left", "kim", #"{"user":"kim"}"#), line("message.posted", "kim"))
        #expect(append(left, said, as: kim) == (403, ["E_BATCH", "E_AUTHOR"]))
        #expect(append(said, as: kim).0 == 200)
        let each = append(said, left, said, as: kim, "?atomicity=each")
        #expect(each == (207, ["E_AUTHOR"]), "\(each)")
        #expect(append(said, as: kim) == (403, ["E_AUTHOR"]))
    }

    @Test("A conversation is not begun behind what is said in it, nor twice (INV-13)")
    func beginning() throws {
        let kim = try token("kim")
        let id = "0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e5f"
        let started = #"{"participants":["kim"],"moderators":["kim"]}"#
        let begin = line("conversation.started", "kim", id: id, started)
        #expect(append(line("message.posted", "kim"), begin, as: kim) == (409, ["E_BATCH", "E_BEGUN"]))
        let twice = append(begin, line("conversation.started", "kim", started), as: kim)
        #expect(twice == (409, ["E_BATCH", "E_BEGUN"]), "\(twice)")
        // The same line again is that event.
        let again = append(begin, begin, line("message.posted", "kim"), as: kim)
        #expect(again == (200, []), "\(again)")
    }

    @Test("Of an id that two lines have the answer names the line, and no place where nothing was stored (INV-1)")
    func idTwice() throws {
        let id = "0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e60"
        let one = line("message.posted", "kim", id: id)
        let other = line("message.posted", "kim", id: id, #"{"text":"다른 말"}"#)
        let answer = try #require(api.ask("POST", "/v1/events", body: one + "\n" + other))
        let message = try #require(answer.1[1]["message"] as? String)
        #expect(answer.0 == 409 && answer.1[1]["code"] as? String == "E_ID_REUSED")
        #expect(message.contains("event 1 of the request") && !message.contains("position"), "\(message)")
        #expect(api.ask("GET", "/v1/events/\(id)")?.0 == 404)
    }

    @Test("A line of the most bytes may end with CR LF")
    func longest() throws {
        func body(_ bytes: Int, _ end: String) -> String {
            let event = #"{"type":"note","user":"u","data":{}}"#
            return event + String(repeating: " ", count: bytes - event.utf8.count) + end
        }
        let most = LineReader.longestLine
        for end in ["", "\n", "\r\n"] { #expect(append(body(most, end)).0 == 200, "\(end.debugDescription)") }
        #expect(append(body(most + 1, "\r\n")) == (422, ["E_LINE_SIZE"]))
    }
}
