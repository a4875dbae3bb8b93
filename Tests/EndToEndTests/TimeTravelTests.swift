import Foundation
import TestSupport
import Testing

/// What stood there then: `as_of` by when things happened, `known_at` by when the node came to know them.
@Suite(.serialized)
struct TimeTravelTests {
    private let id = "0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e01"

    private func line(_ type: String, _ time: String, _ data: String, _ more: String = "") -> String {
        #"{"type":"\#(type)","user":"u","subject":"conversation/c","time":"2026-08-01T\#(time)+09:00","data":\#(data)\#(more)}"#
    }

    @Test(
        "An edit that came later changes nothing of what stood there; what came late was not known: API and files alike"
    )
    func timeline() async throws {
        let daemon = try DaemonProcess("n")
        try daemon.start()
        let api = APIClient(socket: daemon.store + "/api.sock")
        func append(_ line: String) { #expect(api.ask("POST", "/v1/events", body: line)?.0 == 200) }
        append(line("message.posted", "11:00:00", #"{"text":"처음"}"#, #","id":"\#(id)""#))
        append(line("message.edited", "11:05:00", #"{"message":"\#(id)","text":"고침"}"#))
        usleep(2_200_000)
        let moment = ISO8601DateFormatter().string(from: Date())
        usleep(1_200_000)
        append(line("message.posted", "10:00:00", #"{"text":"늦게 온 말"}"#))

        func texts(_ query: String) throws -> [String] {
            let answer = try #require(api.ask("GET", "/v1/conversations/c/rows?order=oldest&\(query)"))
            #expect(answer.0 == 200, "\(answer)")
            return answer.1.compactMap { $0["text"] as? String ?? ($0["event"] as? [String: Any]).flatMap(Self.text) }
        }
        let time = "2026-08-01T11:00:00%2B09:00"
        #expect(try texts("type=message.posted") == ["늦게 온 말", "고침"])
        #expect(try texts("type=message.posted&as_of=\(time)") == ["늦게 온 말", "처음"])
        #expect(try texts("type=message.posted&as_of=2026-08-01T11:05:00%2B09:00") == ["늦게 온 말", "고침"])
        #expect(try texts("type=message.posted&known_at=\(moment)") == ["고침"])
        #expect(try texts("type=message.posted&as_of=\(time)&known_at=\(moment)") == ["처음"])
        #expect(try texts("type=message.posted&known_at=2") == ["처음"])
        let end = try #require(api.ask("GET", "/v1/users/u/history?known_at=\(moment)")?.1.last)
        #expect(end["known_at"] as? Int == 3 && end["approximate"] == nil, "\(end)")
        for bad in ["known_at=yesterday", "known_at=-1", "as_of=7", "known_at=1&known_at=2"] {
            #expect(api.ask("GET", "/v1/users/u/history?\(bad)")?.0 == 400, "\(bad)")
        }

        let tool = try Tool.named("syncctl")
        func shown(_ options: String...) async throws -> [String] {
            let run = try await tool.run(
                ["conversation", "c", "--store", daemon.store, "--type", "message.posted", "--json"] + options)
            #expect(run.code == 0, "\(run.errors)")
            return try run.objects().compactMap {
                $0["text"] as? String ?? ($0["event"] as? [String: Any]).flatMap(Self.text)
            }
        }
        for isRunning in [true, false] {
            if !isRunning { #expect(daemon.terminate() == 0) }
            #expect(try await shown("--as-of", "2026-08-01 11:00:00") == ["늦게 온 말", "처음"])
            #expect(try await shown("--known-at", moment) == ["고침"])
            #expect(try await shown("--known-at", "seq:2") == ["처음"])
        }
        let told = try await tool.run(["history", "u", "--store", daemon.store, "--known-at", moment])
        #expect(told.errors.contains("as known at"), "\(told.errors)")
        let replay = try await tool.run(["replay", "--all", "--store", daemon.store, "--known-at", moment, "--json"])
        #expect(replay.lines.count == 4, "\(replay.text)")
    }

    private static func text(_ event: [String: Any]) -> String? {
        (event["data"] as? [String: Any])?["text"] as? String
    }
}
