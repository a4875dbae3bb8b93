import Foundation
import TestSupport
import Testing

@testable import EventStore

/// Pictures of exports on their way into stores, before the events that name them.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct PictureImportTests {
    private let folder: TemporaryFolder
    private static let photo = png(300_000, 1), small = png(5_000, 2)
    private static let jpeg = Data([0xff, 0xd8, 0xff, 0xe0]) + Data(repeating: 7, count: 2_000)

    init() throws { folder = try TemporaryFolder.made() }

    /// Bytes that begin as a picture does.
    private static func png(_ count: Int, _ seed: UInt8) -> Data {
        var bytes = Data([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
        bytes.append(contentsOf: (bytes.count..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) ^ seed })
        return bytes
    }

    private static func name(_ bytes: Data) -> String { SHA256().digest(Array(bytes)).description }

    private func store(_ name: String) throws -> String {
        let path = folder.file(name)
        #expect(try Programs.syncctl(path, ["init", "--name", name]).code == 0)
        return path
    }

    private func write(_ bytes: Data, to name: String) throws {
        let path = URL(filePath: folder.file(name))
        try FileManager.default.createDirectory(
            at: path.deletingLastPathComponent(), withIntermediateDirectories: true)
        try bytes.write(to: path)
    }

    /// A chat of Telegram: a picture twice, and another one.
    private func telegram() throws -> String {
        let photos = ["a.png", "a.png", "b.png"].enumerated().map {
            #"{"id":\#($0 + 1),"type":"message","date_unixtime":"170000001\#($0)","from":"홍","from_id":"user1","photo":"photos/\#($1)","text":"사진 \#($0 + 1)"}"#
        }
        let export = #"{"name":"방","type":"personal_chat","id":5,"messages":[\#(photos.joined(separator: ","))]}"#
        try write(Self.photo, to: "telegram/photos/a.png")
        try write(Self.small, to: "telegram/photos/b.png")
        try write(Data(export.utf8), to: "telegram/result.json")
        return folder.file("telegram")
    }

    /// An archive of ChatGPT with these pictures, a message each.
    private func chatGPT(_ pictures: [Data]) async throws -> String {
        var nodes: [String] = []
        for (number, picture) in pictures.enumerated() {
            try write(picture, to: "chatgpt/user-x/file_\(number)-picture")
            nodes.append(
                #""n\#(number)":{"id":"n\#(number)","message":{"author":{"role":"user"},"create_time":\#(1_700_000_000 + number),"content":{"content_type":"multimodal_text","parts":[{"asset_pointer":"sediment://file_\#(number)"},"그림 \#(number)"]}}}"#
            )
        }
        let mapping = nodes.joined(separator: ",")
        let export = #"[{"conversation_id":"c","create_time":1700000000,"mapping":{\#(mapping)}}]"#
        try write(Data(export.utf8), to: "chatgpt/conversations.json")
        let script = "import shutil,sys; shutil.make_archive(sys.argv[1], 'zip', sys.argv[1])"
        let packed = try await Tool(path: "/usr/bin/env").run(["python3", "-c", script, folder.file("chatgpt")])
        #expect(packed.code == 0, "\(packed.errors)")
        return folder.file("chatgpt.zip")
    }

    private func end(_ run: Programs.Result) -> [String: Int] {
        (run.lines.last ?? [:]).compactMapValues { $0 as? Int }
    }

    /// What a store says of its attachments, by their digests.
    private func states(_ store: String) throws -> [String: String] {
        let lines = try Programs.syncctl(store, ["attachment", "list", "--json"]).lines
        return lines.reduce(into: [:]) { states, line in
            if let name = line["sha256"] as? String { states[name] = line["state"] as? String }
        }
    }

    /// The bytes, as the store gives them.
    private func bytes(_ name: String, _ store: String) throws -> Data? {
        let out = TemporaryFolder.unusedPath()
        defer { try? FileManager.default.removeItem(atPath: out) }
        guard try Programs.syncctl(store, ["attachment", "get", name, "--out", out]).code == 0 else { return nil }
        return try Data(contentsOf: URL(filePath: out))
    }

    private func blobs(_ store: String) -> Int {
        let paths = FileManager.default.enumerator(atPath: store + "/attachments")?.compactMap { $0 as? String } ?? []
        return paths.count { $0.split(separator: "/").last?.count == 64 }
    }

    @Test("Pictures come into the files once, a dry run counts them, and the page of the chat draws them (INV-8)")
    func files() throws {
        let (export, store) = (try telegram(), try store("s"))
        let dry = try Programs.syncctl(store, ["import", export, "--dry-run", "--json"])
        #expect(dry.code == 0 && end(dry)["attachments"] == 2 && end(dry)["attachment_bytes"] == 305_000, "\(dry)")
        #expect(end(dry)["attachments_new"] == 2 && blobs(store) == 0)
        let told = try Programs.syncctl(store, ["import", export, "--dry-run"])
        #expect(told.output.contains("2 attachments of 305000 bytes: 2 new, 0 already there, 0 not taken"))

        let first = try Programs.syncctl(store, ["import", export, "--json"])
        #expect(first.code == 0 && end(first)["appended"] == 4 && end(first)["attachments_new"] == 2, "\(first)")
        let (photo, small) = (Self.name(Self.photo), Self.name(Self.small))
        #expect(try states(store) == [photo: "present", small: "present"])
        #expect(try bytes(photo, store) == Self.photo && bytes(small, store) == Self.small)
        let events = try Programs.syncctl(store, ["export"]).lines
        let items = events.compactMap { ($0["data"] as? [String: Any])?["attachments"] as? [[String: Any]] }.flatMap(
            \.self)
        #expect(items.map { $0["sha256"] as? String } == [photo, photo, small])
        #expect(items.allSatisfy { $0["data"] == nil })

        let second = try Programs.syncctl(store, ["import", export, "--json"])
        #expect(second.code == 0 && end(second)["already"] == 4 && end(second)["appended"] == 0, "\(second)")
        #expect(end(second)["attachments"] == 2 && end(second)["attachments_new"] == 0 && blobs(store) == 2)
        let page = try Programs.syncctl(store, ["export", "--format", "html", "--conversation", "telegram:5"])
        #expect(page.code == 0, "\(page.errors)")
        #expect(page.output.matches(of: /<img/).count == 3)
        #expect(page.output.contains("src=\"data:image/png;base64," + Self.photo.base64EncodedString()))
    }

    @Test("A daemon takes what its configuration allows; the events of the rest come, and get their bytes later")
    func daemon() async throws {
        let export = try await chatGPT([Self.small, Self.photo, Self.jpeg])
        let daemon = try DaemonProcess("n")
        try daemon.start(environment: [
            "SYNCD_ATTACHMENTS__MAX_BYTES": "100KiB", "SYNCD_ATTACHMENTS__MEDIA_TYPES": #"["image/png"]"#,
        ])
        let words = ["import", export, "--user", "hana", "--json"]
        let first = try Programs.syncctl(daemon.store, words)
        #expect(first.code == 4 && end(first)["appended"] == 4, "\(first)")
        #expect(end(first)["attachments"] == 3 && end(first)["attachments_new"] == 1)
        #expect(end(first)["attachments_rejected"] == 2)
        let rejected = first.lines.filter { $0["type"] as? String == "rejected" }
        #expect(rejected.map { $0["code"] as? String } == ["E_ATTACHMENT_SIZE", "E_ATTACHMENT_TYPE"])
        #expect((rejected.first?["place"] as? String)?.hasSuffix(".mapping.n1") == true)
        let names = [Self.small, Self.photo, Self.jpeg].map(Self.name)
        #expect(try bytes(names[0], daemon.store) == Self.small)
        try waitWhile(every: 50_000, states(daemon.store).count < 3)
        #expect(try states(daemon.store) == [names[0]: "present", names[1]: "missing", names[2]: "missing"])

        #expect(daemon.terminate() == 0)
        try daemon.start()
        let second = try Programs.syncctl(daemon.store, words)
        #expect(second.code == 0 && end(second)["appended"] == 0 && end(second)["attachments_new"] == 2, "\(second)")
        #expect(try bytes(names[1], daemon.store) == Self.photo && bytes(names[2], daemon.store) == Self.jpeg)
        let third = try Programs.syncctl(daemon.store, words)
        #expect(third.code == 0 && end(third)["already"] == 4 && end(third)["attachments_new"] == 0)
        // At a node that is named, with a token for no more than that.
        let token = folder.file("app.token")
        #expect(try daemon.syncctl("tokens", "create", "app/importer", "--role", "app", "--out", token).code == 0)
        let place = ["--url", "unix:\(daemon.store)/api.sock", "--token-file", token]
        try waitWhile(every: 50_000, Programs.syncctl(daemon.store, ["whoami"] + place).code != 0)
        let far = try Programs.syncctl(folder.path, ["import", try telegram(), "--json"] + place)
        #expect(far.code == 0 && end(far)["appended"] == 4, "\(far)")
        // Of one of them the node knew.
        #expect(end(far)["attachments"] == 2 && end(far)["attachments_new"] == 0 && blobs(daemon.store) == 3)
        #expect(try daemon.verified() == 0)
    }

    @Test("Events of earlier builds stay as they are: nothing is doubled, what lacks its picture is told (INV-8)")
    func earlier() throws {
        let (export, one, other) = (try telegram(), try store("one"), try store("other"))
        #expect(try Programs.syncctl(one, ["import", export]).code == 0)
        let now = try Programs.syncctl(one, ["export"]).output
        // The first picture was named alone, the second stood in its event, the third is as it is today.
        var lines = now.split(separator: "\n").map(String.init)
        let item = #""sha256":"\#(Self.name(Self.photo))","bytes":300000,"#
        let data = #""data":"\#(Self.small.base64EncodedString())","#
        lines = lines.map { line in
            if line.contains("사진 1") { return line.replacing(item, with: "") }
            let begin = #""attachments":[{"#
            return line.contains("사진 3") ? line.replacing(begin, with: begin + data) : line
        }
        #expect(lines.joined().contains(data) && lines.joined().matches(of: /"sha256"/).count == 2)
        let native = folder.file("native.ndjson")
        try Data(lines.joined(separator: "\n").utf8).write(to: URL(filePath: native))
        #expect(try Programs.syncctl(other, ["import", native]).code == 0)
        let again = try Programs.syncctl(other, ["import", export, "--json"])
        #expect(again.code == 0 && end(again)["already"] == 4 && end(again)["differing"] == 0, "\(again)")
        let described = again.lines.filter { $0["type"] as? String == "described" }
        #expect(described.map { $0["what"] as? String } == ["attachments of message.posted"])
        #expect(described.first?["events"] as? Int == 1)
        for picture in [Self.photo, Self.small] { #expect(try bytes(Self.name(picture), other) == picture) }
    }

    @Test("Pictures of erased messages do not come back with another import (INV-11)")
    func erased() throws {
        let (export, store) = (try telegram(), try store("s"))
        #expect(try Programs.syncctl(store, ["import", export]).code == 0)
        let ids = try Programs.syncctl(store, ["export"]).lines.filter {
            (($0["data"] as? [String: Any])?["text"] as? String)?.hasPrefix("사진") == true
        }.compactMap { $0["id"] as? String }
        #expect(ids.count == 3)
        let plan = folder.file("plan")
        let what = ["erase", "events"] + ids
        #expect(try Programs.syncctl(store, what + ["--reason", "r", "--who", "w", "--plan", plan]).code == 0)
        #expect(try Programs.syncctl(store, what + ["--confirm", plan]).code == 0)
        #expect(blobs(store) == 0)
        let again = try Programs.syncctl(store, ["import", export, "--json"])
        #expect(again.code == 0 && end(again)["already"] == 4 && end(again)["attachments"] == 0, "\(again)")
        #expect(blobs(store) == 0)
    }

    @Test("Of an export with a damaged picture nothing is stored, neither events nor bytes")
    func malformed() async throws {
        let path = try await chatGPT([Self.jpeg, Self.small])
        var bytes = try Data(contentsOf: URL(filePath: path))
        let place = try #require(bytes.firstRange(of: Data("file_1-picture".utf8))).upperBound
        bytes[place + 40] ^= 0xff
        let damaged = try folder.write(bytes, to: "damaged.zip")
        let store = try store("s")
        let before = try Programs.syncctl(store, ["vector"]).output
        let run = try Programs.syncctl(store, ["import", damaged, "--user", "hana"])
        #expect(run.code == 65 && run.errors.contains("E_IMPORT_MALFORMED"), "\(run)")
        #expect(run.errors.contains("file_1-picture") && run.errors.contains("Nothing of it was stored"))
        #expect(try Programs.syncctl(store, ["vector"]).output == before && blobs(store) == 0)
    }

    @Test("Where bytes cannot be put, what was appended until then is counted, and no less (INV-1)")
    func failure() throws {
        let store = try store("failing")
        let name = "WhatsApp Chat with z.txt"
        let text = (0..<5_000).map { "13/1/25, 10:\(10 + $0 / 100) - A: \($0)\n" }.joined()
        try write(Data((text + "13/1/25, 11:00 - A: a.jpg (file attached)\n").utf8), to: "chat/" + name)
        try write(Self.jpeg, to: "chat/a.jpg")
        // Where the folder of the bytes should stand, there is a file.
        try? FileManager.default.removeItem(atPath: store + "/attachments")
        try Data().write(to: URL(filePath: store + "/attachments"))
        let run = try Programs.syncctl(store, ["import", folder.file("chat"), "--timezone", "UTC"])
        #expect(run.code != 0 && run.errors.contains("Until then 4000 were appended"), "\(run.code) \(run.errors)")
        let stored = try Programs.syncctl(store, ["export"]).output.split(separator: "\n").filter {
            $0.contains(#""text""#)
        }.count
        #expect(stored == 4_000)
    }
}
