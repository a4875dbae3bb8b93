import EventStore
import Foundation
import Interchange
import TestSupport
import Testing

/// What lies in an export and is not taken is named, once each.
@Suite struct LeftOutTests {
    private static let notTaken = "a file of the export that is not taken"

    private func folder(_ files: [String: String]) throws -> (TemporaryFolder, String) {
        let folder = try TemporaryFolder.made()
        for (name, text) in files {
            let url = URL(filePath: folder.file("export/" + name))
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: url)
        }
        return (folder, folder.file("export"))
    }

    @Test("Pictures, films and lists beside a chat that no message names are counted, whatever the format")
    func files() throws {
        let telegram =
            #"{"id":5,"messages":[{"id":1,"type":"message","date_unixtime":"1","from_id":"user1","text":"","photo":"photos/1.jpg"}]}"#
        let kakao = "방 님과 카카오톡 대화\n저장한 날짜 : 2025-10-14 21:03:11\n"
        let day = #"[{"type":"message","user":"U1","text":"a","ts":"1704067201.000100"}]"#
        let conversations = #"[{"conversation_id":"k","mapping":{}}]"#
        for (format, given, left) in [
            (
                ExportFormat.whatsapp,
                [
                    "WhatsApp Chat with Z.txt": "13/03/24, 10:00 - Eve: IMG-1.jpg (file attached)\n",
                    "IMG-1.jpg": "x",
                    "IMG-2.jpg": "y",
                ], 1
            ),
            (.kakaotalk, ["KakaoTalkChats.txt": kakao, "a.jpg": "x", "b/c.mp4": "y"], 2),
            (.telegram, ["result.json": telegram, "photos/1.jpg": "x", "photos/2.jpg": "y"], 1),
            (.matrix, ["export.json": #"{"messages":[]}"#, "images/a.png": "x"], 1),
            (.chatgpt, ["conversations.json": conversations, "message_feedback.json": "[]", "chat.html": ""], 2),
            (
                .slack,
                [
                    "channels.json": #"[{"id":"C1","name":"g"}]"#, "g/2024-01-01.json": day,
                    "integration_logs.json": "[]",
                ], 1
            ),
        ] as [(ExportFormat, [String: String], Int)] {
            let (place, path) = try folder(given)
            defer { withExtendedLifetime(place) {} }
            let imported = try Imported(path, as: format)
            #expect(imported.skipped == [Self.notTaken: left], "\(format) \(imported.skipped)")
        }
        // Without the files beside it each message with one is counted.
        let (place, path) = try folder(["result.json": telegram])
        defer { withExtendedLifetime(place) {} }
        #expect(try Imported(path + "/result.json").skipped == ["the bytes of a file: its name is taken": 1])
    }

    @Test("A picture of ChatGPT that is not there is told, and one that is there is not")
    func pictures() throws {
        let message =
            #"{"author":{"role":"user"},"create_time":1,"content":{"content_type":"multimodal_text","parts":[{"content_type":"image_asset_pointer","asset_pointer":"file-service://file-abc"},"봐"]}}"#
        let conversations = #"[{"conversation_id":"k","mapping":{"a":{"parent":null,"message":\#(message)}}}]"#
        for isThere in [true, false] {
            var files = ["conversations.json": conversations]
            if isThere { files["file-abc-photo.png"] = "\u{1}PNG" + String(repeating: "x", count: 300_000) }
            let (place, path) = try folder(files)
            defer { withExtendedLifetime(place) {} }
            let imported = try Imported(path, as: .chatgpt)
            let told = "1 time: a picture that is not in what was given: its name is taken"
            #expect(imported.remarks.map { $0.hasPrefix(told) } == (isThere ? [] : [true]), "\(imported.remarks)")
            #expect(imported.attachments.map(\.count) == (isThere ? [300_004] : []))
            #expect(imported.passedOver == 0)
        }
    }
}
