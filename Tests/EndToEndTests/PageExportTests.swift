import Foundation
import TestSupport
import Testing

@testable import EventStore

/// A conversation as one page, with its pictures and with what proves it.
@Suite(.serialized)
struct PageExportTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder.made() }

    /// Bytes that begin as a picture does.
    private static func png(_ count: Int) -> Data {
        var bytes = Data([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
        bytes.append(contentsOf: (bytes.count..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        return bytes
    }

    private func put(_ daemon: DaemonProcess, _ bytes: Data) throws -> String {
        let path = folder.file("put-\(UInt64.random(in: 0 ... .max))")
        try bytes.write(to: URL(filePath: path))
        let run = try daemon.syncctl("attachment", "put", path)
        #expect(run.code == 0, "\(run.errors)")
        return String(run.output.dropLast())
    }

    private func export(_ store: String, _ more: [String] = []) throws -> Programs.Result {
        try Programs.syncctl(
            store, ["export", "--format", "html", "--conversation", "c", "--lang", "ko", "--utc"] + more)
    }

    /// Without when it was made.
    private func comparable(_ page: String) -> String { page.replacing(/내보낸 시각: [0-9: -]*/, with: "") }

    private static let svg = Data(#"<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>"#.utf8)

    @Test("Pictures of the store are in the page or beside it, from a daemon, a named node and the files alike")
    func pictures() async throws {
        let daemon = try DaemonProcess("n")
        try daemon.start()
        let (small, large) = (Self.png(300_000), Self.png(3 << 20))
        let names = try [small, large, Self.svg].map { try put(daemon, $0) }
        let absent = String(repeating: "ab", count: 32)
        let items = [
            #"{"sha256":"\#(names[0])","bytes":300000,"mediaType":"image/png","alt":"들판 \"위\""}"#,
            // What the event says of them is not what they are.
            #"{"sha256":"\#(names[1])","bytes":1,"mediaType":"image/png","alt":"큰 들판"}"#,
            #"{"sha256":"\#(names[2])","bytes":70,"mediaType":"image/png"}"#,
            #"{"sha256":"\#(absent)","bytes":5,"mediaType":"image/jpeg"}"#,
        ]
        let data = #"{"text":"사진","attachments":[\#(items.joined(separator: ","))]}"#
        let posted = try daemon.syncctl(
            "append", "--user", "kim", "--conversation", "c", "--type", "message.posted", "--data", data)
        #expect(posted.code == 0, "\(posted.errors)")

        let page = try export(daemon.store)
        #expect(page.code == 0, "\(page.errors)")
        let image = "<img alt=\"들판 &quot;위&quot;\" src=\"data:image/png;base64,"
        #expect(page.output.contains(image + small.base64EncodedString() + "\">"))
        #expect(page.output.matches(of: /<img/).count == 1 && !page.output.contains("svg"))
        #expect(page.output.contains("SHA-256 \(names[1]) · 이 페이지에 넣기에는 너무 큼"))
        #expect(page.output.contains("SHA-256 \(absent) · 이 노드에 파일 내용이 없음"))
        #expect(page.output.contains("<dt>노드</dt><dd dir=\"auto\">n (\(try daemon.node()))</dd>"))
        #expect(page.output.contains(/<dt>헤드<\/dt><dd dir="auto">오리진 [0-9a-f-]{36}: 이벤트 [0-9]+건, [0-9a-f]{64}</))

        let remote = try await Tool.named("syncctl").run(
            [
                "export", "--format", "html", "--conversation", "c", "--lang", "ko", "--utc", "--url",
                "unix:\(daemon.store)/api.sock",
            ], in: folder.path)
        #expect(remote.code == 0 && comparable(remote.text) == comparable(page.output), "\(remote.errors)")

        // A user reads what is theirs, and no heads.
        let made = try #require(
            APIClient(socket: daemon.store + "/api.sock").ask(
                "POST", "/v1/credentials", body: #"{"principal":"x/y","roles":["user:kim"]}"#)?.1.first)
        let token = try folder.write(Data((made["token"] as? String ?? "").utf8), to: "token")
        let own = try await Tool.named("syncctl").run(
            [
                "export", "--format", "html", "--conversation", "c", "--lang", "ko", "--utc", "--url",
                "unix:\(daemon.store)/api.sock", "--token-file", token,
            ], in: folder.path)
        #expect(own.code == 0 && own.text.contains(image) && !own.text.contains("<dt>헤드"), "\(own.errors)")

        let out = folder.file("페이지 1.html")
        let written = try export(daemon.store, ["--out", out])
        #expect(written.code == 0 && written.output.isEmpty, "\(written.errors)")
        let text = try String(contentsOfFile: out, encoding: .utf8)
        let link = try #require(text.firstMatch(of: /<a href="([^"]*)">옆 폴더의 파일/)).1
        let path = try #require(String(link).removingPercentEncoding)
        #expect(path == "페이지 1.files/\(names[1]).png")
        #expect(try Data(contentsOf: URL(filePath: folder.file(path))) == large)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.file("페이지 1.files")).count == 1)
        // Nothing is overwritten.
        #expect(try export(daemon.store, ["--out", out]).code == 73)

        #expect(daemon.terminate() == 0)
        let alone = try export(daemon.store)
        #expect(alone.code == 0 && comparable(alone.output).contains(image))
        // Other bytes under the name are not drawn.
        let blob = daemon.store + "/attachments/\(names[0].prefix(2))/\(names[0])"
        try Self.png(300_001).write(to: URL(filePath: blob))
        let damaged = try export(daemon.store)
        #expect(damaged.code == 0 && !damaged.output.contains("<img"))
        #expect(damaged.output.contains("SHA-256 \(names[0]) · 이 노드에 파일 내용이 없음"))
    }

    @Test("With --proof the page names the file beside it that proves its events; without one there is no page")
    func proof() throws {
        let daemon = try DaemonProcess("n")
        try daemon.start()
        for text in ["하나", "<둘>"] {
            let run = try daemon.syncctl(
                "append", "--user", "kim", "--conversation", "c", "--type", "message.posted", "--data",
                #"{"text":"\#(text)"}"#)
            #expect(run.code == 0, "\(run.errors)")
        }
        let out = folder.file("c.html")
        let run = try export(daemon.store, ["--out", out, "--proof"])
        #expect(run.code == 0, "\(run.errors)")
        let page = try String(contentsOfFile: out, encoding: .utf8)
        let proof = folder.file("c.proof")
        let digest = SHA256().digest(Array(try Data(contentsOf: URL(filePath: proof))))
        #expect(page.contains("c.proof이고 SHA-256은 \(digest)입니다"))
        let check = try daemon.syncctl("check-proof", proof, "--json")
        #expect(check.code == 0 && check.lines.last?["events"] as? Int == 2, "\(check.errors)")
        // Each event of the page is in it, by the id that is its address there.
        let ids = page.matches(of: /id="e-([0-9a-f-]{36})"/).map { String($0.1) }
        let shown = try daemon.syncctl("conversation", "c", "--json")
        #expect(ids.count == 2 && ids.allSatisfy { shown.output.contains($0) })

        // Where the proof cannot be made nothing is left of the page.
        let other = folder.file("d.html")
        try Data().write(to: URL(filePath: folder.file("d.proof")))
        #expect(try export(daemon.store, ["--out", other, "--proof"]).code == 73)
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasPrefix("d.") }
        #expect(left == ["d.proof"])
        let named = try Programs.syncctl(
            daemon.store,
            ["export", "--format", "html", "--conversation", "c", "--out", other, "--proof", "--url", "unix:/x"])
        #expect(named.code == 64, "\(named.errors)")
    }

    @Test("The proof of a part has what changed its messages, and what its head says, whenever that came")
    func proofOfPart() throws {
        let daemon = try DaemonProcess("n")
        try daemon.start()
        let names = ["시작", "바꾼 이름", "먼저", "안", "나중"]
        let ids = Dictionary(uniqueKeysWithValues: names.map { ($0, UUID().uuidString.lowercased()) })
        func line(_ type: String, _ user: String, _ day: Int, _ data: String, _ name: String? = nil) -> String {
            let id = name.flatMap { ids[$0] }.map { #""id":"\#($0)","# } ?? ""
            return #"{\#(id)"type":"\#(type)","subject":"conversation/c","user":"\#(user)","#
                + #""time":"2026-01-0\#(day)T01:00:00Z","data":\#(data)}"#
        }
        let lines = [
            line("conversation.started", "kim", 1, #"{"title":"처음 이름","participants":["kim","lee"]}"#, "시작"),
            line("conversation.renamed", "kim", 1, #"{"title":"둘째 이름"}"#),
            line("message.posted", "kim", 2, #"{"text":"하나"}"#, "먼저"),
            line("message.posted", "kim", 3, #"{"text":"둘"}"#, "안"),
            line("message.edited", "kim", 5, #"{"message":"\#(ids["안"] ?? "")","text":"고친 둘"}"#, "나중"),
            line("message.edited", "kim", 5, #"{"message":"\#(ids["먼저"] ?? "")","text":"고친 하나"}"#),
            line("message.retracted", "kim", 6, #"{"message":"\#(ids["안"] ?? "")","reason":"물린 까닭"}"#),
            line("conversation.renamed", "kim", 7, #"{"title":"끝 이름"}"#, "바꾼 이름"),
        ]
        let run = try daemon.syncctl("append", "-", "--json", input: lines.joined(separator: "\n") + "\n")
        #expect(run.code == 0, "\(run.errors)")
        let out = folder.file("c.html")
        let made = try export(
            daemon.store,
            ["--out", out, "--proof", "--since", "2026-01-03T00:00:00Z", "--until", "2026-01-04T00:00:00Z"])
        #expect(made.code == 0, "\(made.errors)")
        let page = try String(contentsOfFile: out, encoding: .utf8)
        #expect(["끝 이름", "둘", "고친 둘", "물린 까닭"].allSatisfy(page.contains) && !page.contains("하나"))
        let proof = try String(contentsOfFile: folder.file("c.proof"), encoding: .utf8)
        for text in ["처음 이름", "끝 이름", #"\"둘\""#, "고친 둘", "물린 까닭"] {
            #expect(proof.contains(text), "\(text)")
        }
        // What the page does not show is no one's business.
        for text in ["둘째 이름", "하나"] { #expect(!proof.contains(text), "\(text)") }
        let check = try daemon.syncctl("check-proof", folder.file("c.proof"), "--json")
        #expect(check.code == 0 && check.lines.last?["events"] as? Int == 5, "\(check.output)")
    }
}
