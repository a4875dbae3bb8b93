import CommandLineKit
import EventStore
import Foundation
import Interchange
import TestSupport
import Testing

/// What is to come of each sample.
struct Sample: Sendable, CustomTestStringConvertible {
    let path: String
    let format: ExportFormat
    let counts: [String: Int]
    let passedOver: Int
    /// Whether it is recognised without being told.
    var isRecognised = true

    var testDescription: String { path }

    init(
        _ path: String, _ format: ExportFormat, _ counts: [String: Int], passedOver: Int = 0,
        isRecognised: Bool = true
    ) {
        (self.path, self.format, self.counts, self.passedOver) = (path, format, counts, passedOver)
        self.isRecognised = isRecognised
    }

    static let posted = "message.posted"
    static let replied = "bot.replied"
    static let started = "conversation.started"

    static let formats = [
        Sample("kakaotalk/SYNTHETIC_windows_ko.txt", .kakaotalk, [posted: 7], passedOver: 1),
        Sample("kakaotalk/SYNTHETIC_windows_en_header.txt", .kakaotalk, [posted: 1]),
        Sample("kakaotalk/SYNTHETIC_android_ko.txt", .kakaotalk, [posted: 4], passedOver: 1),
        Sample("kakaotalk/SYNTHETIC_ios_ko.txt", .kakaotalk, [posted: 3], passedOver: 1),
        Sample("kakaotalk/SYNTHETIC_ios_24h_ko.txt", .kakaotalk, [posted: 2]),
        Sample("kakaotalk/SYNTHETIC_mac.csv", .kakaotalk, [posted: 3], passedOver: 1),
        Sample("whatsapp/SYNTHETIC_ko_android.txt", .whatsapp, [posted: 2], passedOver: 1),
        Sample("whatsapp/pustur-short-chat.txt", .whatsapp, [posted: 3], passedOver: 2),
        Sample("whatsapp/test_[mmddyy]_24hrs.txt", .whatsapp, [posted: 7], passedOver: 2),
        Sample("whatsapp/test_ddmmyy_24hrs.txt", .whatsapp, [posted: 7], passedOver: 2),
        Sample("whatsapp/test_mmddyy_24hrs.txt", .whatsapp, [posted: 7], passedOver: 2),
        Sample("whatsapp/test_mmddyyyy_12hrs.txt", .whatsapp, [posted: 7], passedOver: 2),
        Sample("whatsapp/test_yyyymmdd_24hrs.txt", .whatsapp, [posted: 7], passedOver: 2),
        Sample("telegram/test_single_export.json", .telegram, [started: 1, posted: 2]),
        Sample("telegram/test_batch_export.json", .telegram, [started: 1, posted: 2]),
        Sample(
            "slack/export", .slack, [started: 6, posted: 6, "participant.joined": 3, "profile.changed": 2],
            passedOver: 4),
        Sample("slack/export/random/2018-01-20.json", .slack, [posted: 6, "participant.joined": 3]),
        Sample("slack/zulip_normal_thread.json", .slack, [posted: 4]),
        Sample(
            "matrix/SYNTHETIC_element_export.json", .matrix,
            [started: 1, posted: 2, "message.edited": 1, "message.retracted": 1]),
        Sample("chatgpt_export/chatgpt-export.json", .chatgpt, [started: 2, posted: 5, replied: 5], passedOver: 11),
        Sample("chatgpt_export/chatgpt-tree.json", .chatgpt, [started: 1, posted: 5, replied: 6], passedOver: 1),
        Sample(
            "openai_jsonl/toy_chat_fine_tuning.first4.jsonl", .openai, [posted: 6, replied: 7, "bot.configured": 3]),
        Sample("firestore_json/sampleExportedDoc.json", .firestore, [:], passedOver: 1),
        Sample("firestore_json/sampleRootData.json", .firestore, [:], passedOver: 5),
        Sample("firebase_rtdb/SYNTHETIC_array_coercion.json", .firebase, [:], passedOver: 1, isRecognised: false),
        Sample("firebase_rtdb/SYNTHETIC_lmessenger_epoch1970.json", .firebase, messenger(users: 2)),
        Sample("firebase_rtdb/SYNTHETIC_lmessenger_epoch2001.json", .firebase, messenger(users: 2)),
        Sample(
            "coredata_sqlite/SYNTHETIC_default.store.sqlite", .swiftdata, [started: 1, posted: 1, replied: 1],
            passedOver: 1),
    ]

    /// Known by name, and read by no importer.
    static let strangers: [(String, String?)] = [
        ("other_chat_exports/librechat-export.json", "LibreChat"),
        ("other_chat_exports/librechat-linear.json", "LibreChat"),
        ("other_chat_exports/librechat-opts-nonr-branches.json", "LibreChat"),
        ("other_chat_exports/librechat-tree.json", "LibreChat"),
        ("other_chat_exports/chatbotui-export.json", "chatbot-ui"),
        ("other_chat_exports/instagram/test_export.json", "Instagram or Facebook Messenger"),
        ("other_chat_exports/instagram", "Instagram or Facebook Messenger"),
        ("other_chat_exports/signal/test_export.txt", "Signal"),
        ("other_chat_exports/signal", "Signal"),
    ]

    static let seeds = [
        Sample("drbot-firestore.json", .firestore, [posted: 3, replied: 3], passedOver: 1),
        Sample("drbot-rtdb.json", .firebase, [posted: 2, replied: 2], passedOver: 5),
        Sample("lmessenger-1970.json", .firebase, messenger(users: 3), passedOver: 1),
        Sample("lmessenger-2001.json", .firebase, messenger(users: 3), passedOver: 1),
        Sample("Search.sqlite", .coredata, ["search.remembered": 3]),
        Sample("default.store", .swiftdata, [started: 3, posted: 2, replied: 2]),
    ]

    private static func messenger(users: Int) -> [String: Int] { ["profile.changed": users, started: 1, posted: 3] }

    func check(in folder: String) throws -> Imported {
        let imported = try Imported(folder + "/" + path, as: isRecognised ? nil : format)
        #expect(imported.format == format)
        #expect(imported.counts == counts)
        #expect(imported.passedOver == passedOver, "\(imported.skipped)")
        #expect(Set(imported.events.map(\.id)).count == imported.events.count)
        return imported
    }
}

@Suite(.enabled(if: Shared.areFormatsThere, "shared/data/formats is not there"))
struct SampleTests {
    @Test("Each sample is recognised, and gives as many events as it has records", arguments: Sample.formats)
    func samples(_ sample: Sample) throws { _ = try sample.check(in: Shared.formats) }

    @Test(
        "A sample that no importer reads is refused by its name, and taken for no other one",
        arguments: Sample.strangers)
    func strangers(_ path: String, _ name: String?) throws {
        let files = try ExportFiles(Shared.formats + "/" + path)
        guard let name else {
            #expect(try Sniffer.look(at: files) == nil)
            return
        }
        let refusal = ImportError(
            .unknownFormat, files.path, "an export of \(name), which import does not read")
        #expect(throws: refusal) { try Sniffer.look(at: files) }
    }

    @Test("No sample is in neither table")
    func all() throws {
        let tables = Sample.formats.map(\.path) + Sample.strangers.map(\.0)
        let beside: Set = ["target.json", "README.md", "FORMATS.md", "date_format_vectors.json"]
        let files = try ExportFiles(Shared.formats).names
        #expect(files.count > 40)
        for file in files {
            let name = ExportFiles.lastPart(file)
            if beside.contains(name) || name.hasPrefix("LICENSE") { continue }
            #expect(tables.contains { file == $0 || file.hasPrefix($0 + "/") }, "\(file)")
        }
    }

    @Test("Exports of the apps whose users come here, made by a script of theirs")
    func seeds() throws {
        let folder = try TemporaryFolder.made()
        try python([Shared.makeSamples, folder.path])
        var found: [String: Imported] = [:]
        for sample in Sample.seeds { found[sample.path] = try sample.check(in: folder.path) }
        // The question whose answer was never stored.
        let path = folder.file("drbot-firestore.json")
        let partial = try Imported(path, as: nil, ImportOptions(takesPartial: true))
        #expect(partial.counts == [Sample.posted: 4, Sample.replied: 3] && partial.passedOver == 0)
        #expect(partial.texts.contains("답을 못 받은 말"))
        // Both beginnings of time give the same events.
        #expect(found["lmessenger-1970.json"]?.events == found["lmessenger-2001.json"]?.events)
        #expect(found["drbot-firestore.json"]?.events[0].moment == "2023-06-06T10:01:09.514Z")
        let picture = try #require(
            found["default.store"]?.events.compactMap { $0.object.elements("attachments")?.first?.object }.first)
        #expect(picture.integer("width") == 64 && picture.integer("height") == 48)
        let bytes = try Data(contentsOf: URL(filePath: folder.file("picture.png")))
        #expect(try found["default.store"]?.attachments.map { try $0.bytes() } == [Array(bytes)])
        #expect(picture.string("sha256") == SHA256().digest(Array(bytes)).description)
    }

    @Test("Two encodings of dates in a messenger's database are one set of events")
    func epochs() throws {
        let one = try Imported(Shared.formats + "/firebase_rtdb/SYNTHETIC_lmessenger_epoch1970.json")
        let other = try Imported(Shared.formats + "/firebase_rtdb/SYNTHETIC_lmessenger_epoch2001.json")
        #expect(one.events == other.events)
    }

    @Test("WhatsApp's forms of dates, each as its phone meant it")
    func dates() throws {
        let folder = try TemporaryFolder.made()
        let bytes = try Data(contentsOf: URL(filePath: Shared.formats + "/whatsapp/date_format_vectors.json"))
        let vectors = try #require(JSONSerialization.jsonObject(with: bytes) as? [[String: String]])
        #expect(vectors.count == 12)
        for vector in vectors {
            let line = try #require(vector["line"]), local = try #require(vector["local"])
            let path = try folder.write(line + "\n", to: "chat.txt")
            let imported = try Imported(path, as: .whatsapp, ImportOptions(zone: .fixed(seconds: 0)))
            #expect(imported.events.map(\.moment) == [local + ".000Z"], "\(line)")
            #expect(imported.texts == ["m"], "\(line)")
        }
    }
}
