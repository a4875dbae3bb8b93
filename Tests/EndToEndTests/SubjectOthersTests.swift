import Foundation
import TestSupport
import Testing

/// What a package of a person tells of others (docs/operating/auditing.md, "What is here of a person").
@Suite(.serialized)
struct SubjectOthersTests {
    private static let secrets = ["이가 준 제목", "이가 쓴 쪽지", "이의 말", "이의 이름"]
    private static let lines = [
        #"{"type":"profile.changed","user":"lee","data":{"fields":{"name":"이의 이름"}}}"#,
        #"{"type":"conversation.started","user":"lee","subject":"conversation/a","data":{"title":"이가 준 제목","participants":["lee","kim"],"note":"이가 쓴 쪽지"}}"#,
        #"{"type":"participant.joined","user":"lee","subject":"conversation/a","data":{"user":"kim","note":"이가 쓴 쪽지"}}"#,
        #"{"type":"message.posted","user":"lee","subject":"conversation/a","data":{"text":"이의 말"}}"#,
        #"{"type":"message.posted","user":"kim","subject":"conversation/a","data":{"text":"김의 말"}}"#,
        #"{"type":"conversation.started","user":"kim","subject":"conversation/b","data":{"title":"김이 준 제목"}}"#,
    ]

    @Test("Without --others full nothing that others have said is in it: no title, no name, no member of an event")
    func others() throws {
        let daemon = try DaemonProcess("n")
        #expect(try daemon.syncctl("init", "--name", "n").code == 0)
        #expect(try daemon.syncctl("append", "-", input: Self.lines.joined(separator: "\n")).code == 0)
        for isFull in [false, true] {
            let out = TemporaryFolder.unusedPath()
            let more = isFull ? ["--others", "full"] : []
            let run = try Programs.syncctl(
                daemon.store, ["subject", "kim", "--out", out, "--reason", "r", "--who", "w"] + more)
            #expect(run.code == 0, "\(run.errors)")
            var all = ""
            for name in try FileManager.default.subpathsOfDirectory(atPath: out) {
                let bytes = FileManager.default.contents(atPath: out + "/" + name) ?? Data()
                all += String(decoding: bytes, as: UTF8.self)
            }
            for secret in Self.secrets { #expect(all.contains(secret) == isFull, "\(secret) \(isFull)") }
            #expect(all.contains("김의 말") && all.contains("김이 준 제목"))
            #expect(all.contains(#""names_person":true"#) == !isFull)
        }
    }

    @Test("A user whose id is a dot or two is one of the daemon's users, too", arguments: [".", ".."])
    func dots(user: String) throws {
        let daemon = try DaemonProcess("n")
        try daemon.start()
        let line = #"{"type":"message.posted","user":"\#(user)","data":{"text":"점의 말"}}"#
        #expect(try daemon.syncctl("append", "-", input: line + "\n").code == 0)
        let out = TemporaryFolder.unusedPath()
        let run = try daemon.syncctl("subject", user, "--out", out, "--reason", "r", "--who", "w")
        #expect(run.code == 0, "\(run.errors)")
        let events = FileManager.default.contents(atPath: out + "/events.ndjson") ?? Data()
        #expect(String(decoding: events, as: UTF8.self).contains("점의 말"))
        #expect(daemon.terminate() == 0)
    }
}
