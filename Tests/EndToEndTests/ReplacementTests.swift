import Foundation
import TestSupport
import Testing

/// Events of another node, recorded earlier by its own stamp, that change what was shown here: they are told, and nothing else is.
@Suite(.serialized)
struct ReplacementTests {
    private static let id = "0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e5f"
    private static let same = "0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e60"

    private func append(_ daemon: DaemonProcess, _ lines: String...) throws {
        let answer = APIClient(socket: daemon.store + "/api.sock").ask(
            "POST", "/v1/events", body: lines.joined(separator: "\n"))
        try #require(answer?.0 == 200, "\(String(describing: answer))")
    }

    private func line(_ type: String, _ user: String, in conversation: String, id: String? = nil, _ data: String)
        -> String
    {
        let name = id.map { #""id":"\#($0)","# } ?? ""
        return
            #"{\#(name)"type":"\#(type)","user":"\#(user)","subject":"conversation/\#(conversation)","data":\#(data)}"#
    }

    @Test(
        "What takes an older event's place, or opens a conversation late, is told at the node that has shown it otherwise, and in rows"
    )
    func told() throws {
        let (a, b) = (try DaemonProcess("a"), try DaemonProcess("b"))
        try a.start(isTalking: true)
        try b.start(isTalking: true)
        // While they are apart: first at a, then at b.
        try append(
            a, line("message.posted", "kim", in: "c", id: Self.id, #"{"text":"바꾼 말"}"#),
            line("message.posted", "kim", in: "d", id: Self.same, #"{"text":"같은 말"}"#),
            line("conversation.started", "mal", in: "e", #"{"moderators":["mal"]}"#))
        usleep(50_000)
        try append(
            b, line("message.posted", "kim", in: "c", id: Self.id, #"{"text":"처음 말"}"#),
            line("message.posted", "kim", in: "d", id: Self.same, #"{"text":"같은 말"}"#),
            line("message.posted", "kim", in: "e", #"{"text":"여기서 한 말"}"#))
        #expect(try a.syncctl("peers", "add", "b", b.node()).code == 0)
        #expect(try b.syncctl("peers", "add", "a", "\(a.node())@127.0.0.1:\(a.port())").code == 0)
        _ = try converge(a, b)
        func lines(_ daemon: DaemonProcess) -> [Substring] {
            daemon.said.split(separator: "\n").filter { $0.contains("recorded earlier by its own stamp") }
        }
        let end = Date(timeIntervalSinceNow: 60)
        while lines(b).count < 2, Date() < end { usleep(100_000) }
        #expect(lines(b).count == 2, "\(lines(b))")
        #expect(lines(b).contains { $0.contains(Self.id) } && !lines(b).contains { $0.contains(Self.same) })
        // Where the earlier one was, nothing has changed.
        #expect(lines(a).isEmpty, "\(lines(a))")
        #expect(try b.syncctl("doctor").output.contains("EVENT_REPLACED"))
        #expect(try !a.syncctl("doctor").output.contains("EVENT_REPLACED"))
        let api = APIClient(socket: b.store + "/api.sock")
        #expect(api.ask("GET", "/metrics")?.2.contains(#"syncd_finding{code="EVENT_REPLACED"} 1"#) == true)

        // Both nodes say that there is another text; of what says the same they do not.
        for daemon in [a, b] {
            let api = APIClient(socket: daemon.store + "/api.sock")
            let row = api.ask("GET", "/v1/conversations/c/rows")?.1.first
            #expect(row?["twins"] as? Int == 1, "\(String(describing: row))")
            #expect(api.ask("GET", "/v1/events/\(Self.id)")?.1.last?["twins"] as? Int == 1)
            #expect(api.ask("GET", "/v1/conversations/d/rows")?.1.first?["twins"] == nil)
            #expect(api.ask("GET", "/v1/events/\(Self.same)")?.1.last?["twins"] == nil)
            #expect(try daemon.syncctl("conversation", "c", "--lang", "en").output.contains("1 with other content"))
            #expect(try daemon.syncctl("conversation", "c", "--lang", "ko").output.contains("내용이 다른"))
            #expect(try daemon.syncctl("show", Self.id).output.contains("other content"))
        }
        #expect(try b.syncctl("doctor", "settle", "EVENT_REPLACED", "--note", "asked").code == 0)
        #expect(try b.verified() == 0)
    }
}
