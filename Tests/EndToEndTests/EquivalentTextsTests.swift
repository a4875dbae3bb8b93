import Access
import EventStore
import Foundation
import SillokAPI
import TestSupport
import Testing

/// Ids that Unicode takes for the same and that have other bytes are of two users, conversations, messages: syllables and their letters in
/// Korean, K and the sign of Kelvin. Swift's texts are equal then; what stands in the log is not.
@Suite(.serialized)
struct EquivalentTextsTests {
    static let pairs = [("가족방", "가족방".decomposedStringWithCanonicalMapping), ("Kim", "\u{212a}im")]
    private let daemon: DaemonProcess
    private let api: APIClient

    init() throws {
        daemon = try DaemonProcess("n")
        try daemon.start()
        api = APIClient(socket: daemon.store + "/api.sock")
    }

    private func token(_ principal: String, _ role: String) throws -> String {
        let answer = api.ask("POST", "/v1/credentials", body: #"{"principal":"\#(principal)","roles":["\#(role)"]}"#)
        return "Authorization: Bearer \(try #require(answer?.1.first?["token"] as? String))"
    }

    private func line(
        _ type: String, _ user: String, in conversation: String, id: String? = nil,
        _ data: String = #"{"text":"말"}"#
    ) -> String {
        let id = id.map { #""id":"\#($0)","# } ?? ""
        return
            #"{\#(id)"type":"\#(type)","user":"\#(user)","subject":"conversation/\#(conversation)","data":\#(data)}"#
    }

    private func append(
        _ lines: String..., as who: String? = nil, _ query: String = ""
    ) -> (status: Int, codes: [String]) {
        let headers = [who].compactMap(\.self)
        let answer = api.ask("POST", "/v1/events\(query)", body: lines.joined(separator: "\n"), headers: headers)
        return (answer?.0 ?? 0, answer?.1.compactMap { $0["code"] as? String } ?? [])
    }

    private func path(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? text
    }

    @Test("What one may write into a conversation says nothing of its namesake (INV-13)", arguments: pairs)
    func rights(_ room: String, _ twin: String) throws {
        try #require(room == twin && !room.hasSameBytes(as: twin))
        let eve = try token("u/eve", "user:eve")
        let list = #"{"participants":["alice"],"history":"all"}"#
        #expect(append(line("conversation.started", "alice", in: room, list)).status == 200)
        let began = append(
            line("conversation.started", "eve", in: twin, #"{"participants":["eve"]}"#),
            line("participant.joined", "eve", in: room, #"{"user":"eve"}"#),
            line("message.posted", "eve", in: room), as: eve)
        #expect(began.status == 403 && began.codes.contains("E_AUTHOR"), "\(began)")
        #expect(api.ask("GET", "/v1/conversations/\(path(room))/rows", headers: [eve])?.0 == 404)
        // Neither is what one has begun kept from them.
        let own = line("conversation.started", "eve", in: twin, #"{"participants":["eve"]}"#)
        #expect(append(own, as: eve).status == 200)
    }

    @Test("Reads of two people are two records (INV-17)", arguments: pairs)
    func recorded(_ one: String, _ other: String) throws {
        let auditor = try token("auditor/park", "auditor")
        for user in [one, other] {
            #expect(append(line("message.posted", user, in: "c")).status == 200)
            let headers = [auditor, "Sillok-Reason: case 1"]
            #expect(api.ask("GET", "/v1/users/\(path(user))/history", headers: headers)?.0 == 200)
        }
        for user in [one, other] {
            let reads = api.ask("GET", "/v1/users/\(path(user))/readers")?.1.filter { $0["type"] as? String != "end" }
            #expect(reads?.count == 1, "\(reads ?? [])")
        }
    }

    @Test("One id for two users' events rejects the whole request (INV-8)", arguments: pairs)
    func repeated(_ one: String, _ other: String) {
        let id = "0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e5f"
        let lines = [one, other].map { line("message.posted", $0, in: "c", id: id) }
        let answer = append(lines[0], lines[1])
        #expect(answer.status == 409 && answer.codes == ["E_BATCH", "E_ID_REUSED"], "\(answer)")
    }
}
