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
        let refused = [
            "known_at=yesterday", "known_at=-1", "as_of=7", "known_at=1&known_at=2", "type=message.*", "type=*",
        ]
        for bad in refused {
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

    @Test("Profiles, conversations, their list and surveys as they stood then: API and files alike")
    func views() async throws {
        let daemon = try DaemonProcess("n")
        try daemon.start()
        let api = APIClient(socket: daemon.store + "/api.sock")
        func append(_ line: String) { #expect(api.ask("POST", "/v1/events", body: line)?.0 == 200) }
        let paths = [
            "/v1/users/u", "/v1/conversations/c", "/v1/conversations", "/v1/surveys", "/v1/surveys/s",
            "/v1/surveys/s?question=q",
        ]
        /// All lines but the last.
        func answers(_ moment: String? = nil) throws -> [String] {
            try paths.flatMap { path in
                let query = moment.map { (path.contains("?") ? "&" : "?") + $0 } ?? ""
                let answer = try #require(api.ask("GET", path + query))
                #expect(answer.0 == 200, "\(path) \(answer)")
                return answer.2.split(separator: "\n").dropLast().map { "\(path) \($0)" }
            }
        }
        append(line("conversation.started", "09:00:00", #"{"title":"처음","participants":["u","v"]}"#))
        append(line("profile.changed", "09:01:00", #"{"fields":{"name":"김"}}"#))
        append(line("survey.answered", "09:02:00", #"{"survey":"s","question":"q","rating":3}"#))
        append(line("message.posted", "09:03:00", #"{"text":"하나"}"#))
        let then = try answers()
        #expect(then.count == 8, "\(then)")
        let end = try #require(api.ask("GET", "/v1/surveys")?.1.last?["position"] as? Int)
        append(line("conversation.renamed", "10:00:00", #"{"title":"나중"}"#))
        append(line("profile.changed", "10:01:00", #"{"fields":{"name":"이","city":"서울"}}"#))
        append(line("survey.answered", "10:02:00", #"{"survey":"s","question":"q","rating":5}"#))
        append(line("participant.left", "10:03:00", #"{"user":"v"}"#))
        let other = line("message.posted", "10:04:00", #"{"text":"둘"}"#)
        append(other.replacing("conversation/c", with: "conversation/d"))
        #expect(try answers() != then)
        let moments = ["known_at=\(end)", "as_of=2026-08-01T09:30:00%2B09:00"]
        for moment in moments { #expect(try answers(moment) == then, "\(moment)") }
        for path in paths { #expect(api.ask("GET", path + (path.contains("?") ? "&" : "?") + "as_of=7")?.0 == 400) }

        let tool = try Tool.named("syncctl")
        func shown(_ moment: [String]) async throws -> [String] {
            var all: [String] = []
            for command in [
                ["profile", "u"], ["conversations"], ["survey"], ["survey", "s"], ["conversation", "c"],
            ] {
                let run = try await tool.run(command + ["--store", daemon.store, "--plain"] + moment)
                #expect(run.code == 0, "\(run)")
                all += run.lines
            }
            return all
        }
        var first: [String]?
        for isRunning in [true, false] {
            if !isRunning { #expect(daemon.terminate() == 0) }
            for moment in [["--known-at", "seq:\(end)"], ["--as-of", "2026-08-01 09:30:00"]] {
                let lines = try await shown(moment)
                let text = lines.joined(separator: "\n")
                #expect(text.contains("처음") && text.contains("김") && !text.contains("나중") && !text.contains("서울"))
                #expect(first == nil || first == lines, "\(lines)")
                first = lines
            }
        }
    }

    private static func text(_ event: [String: Any]) -> String? {
        (event["data"] as? [String: Any])?["text"] as? String
    }
}
