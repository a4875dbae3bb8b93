import EventStore
import Foundation
import Interchange
import TestSupport
import Testing

/// Archives, of people and of attackers.
@Suite struct ArchiveTests {
    /// A ZIP archive of stored entries; what is said of them may be false.
    struct Zip {
        struct Entry {
            var name: String
            var bytes: [UInt8]
            var method: UInt64 = 0
            var flags: UInt64 = 0
            var size: UInt64?
            var sum: UInt64?
            var offset: UInt64?
            var mode: UInt64 = 0o100644
        }
        var entries: [Entry]

        private static func number(_ value: UInt64, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * UInt64($0))) }
        }

        static func sum(_ bytes: [UInt8]) -> UInt64 {
            var sum: UInt32 = 0xffff_ffff
            for byte in bytes {
                sum ^= UInt32(byte)
                for _ in 0..<8 { sum = sum & 1 == 1 ? sum >> 1 ^ 0xedb8_8320 : sum >> 1 }
            }
            return UInt64(~sum)
        }

        var bytes: [UInt8] {
            var out: [UInt8] = [], table: [UInt8] = []
            for entry in entries {
                let offset = entry.offset ?? UInt64(out.count)
                let sum = entry.sum ?? Self.sum(entry.bytes), size = entry.size ?? UInt64(entry.bytes.count)
                let name = Array(entry.name.utf8)
                let common =
                    Self.number(20, 2) + Self.number(entry.flags, 2) + Self.number(entry.method, 2)
                    + Self.number(0, 4)
                    + Self.number(sum, 4) + Self.number(UInt64(entry.bytes.count), 4) + Self.number(size, 4)
                    + Self.number(UInt64(name.count), 2) + Self.number(0, 2)
                out += [0x50, 0x4b, 3, 4] + common + name + entry.bytes
                table +=
                    [0x50, 0x4b, 1, 2] + Self.number(20, 2) + common + Self.number(0, 2) + Self.number(0, 4)
                    + Self.number(entry.mode << 16, 4) + Self.number(offset, 4) + name
            }
            let start = UInt64(out.count)
            out += table + [0x50, 0x4b, 5, 6] + Self.number(0, 4) + Self.number(UInt64(entries.count), 2)
            return out + Self.number(UInt64(entries.count), 2) + Self.number(UInt64(table.count), 4)
                + Self.number(start, 4) + Self.number(0, 2)
        }
    }

    static let conversation = #"""
        [{"title":"t","create_time":1700000000.5,"conversation_id":"c1","current_node":"n4","mapping":{
        "n2":{"id":"n2","parent":"n1","children":["n3","n4"],"message":{"id":"n2","author":{"role":"user"},"create_time":1700000001,"content":{"content_type":"multimodal_text","parts":[{"content_type":"image_asset_pointer","asset_pointer":"sediment://file_abc","width":3,"height":2,"size_bytes":9},"그림"]}}},
        "n1":{"id":"n1","parent":null,"children":["n2"]},
        "n3":{"id":"n3","parent":"n2","children":[],"message":{"id":"n3","author":{"role":"assistant"},"content":{"content_type":"text","parts":["처음 답"]},"metadata":{"model_slug":"gpt-4o"}}},
        "n4":{"id":"n4","parent":"n2","children":[],"message":{"id":"n4","author":{"role":"assistant"},"create_time":1700000009,"content":{"content_type":"text","parts":["다시 만든 답"]}}},
        "n5":{"id":"n5","parent":"gone","children":[],"message":{"id":"n5","author":{"role":"user"},"create_time":1700000010,"content":{"content_type":"text","parts":["부모 없음"]}}},
        "n6":{"id":"n6","parent":"n7","children":["n7"],"message":{"id":"n6","author":{"role":"user"},"create_time":1700000011,"content":{"content_type":"text","parts":["고리"]}}},
        "n7":{"id":"n7","parent":"n6","children":["n6"],"message":null}}}]
        """#

    private func refusal(_ entry: Zip.Entry) throws -> String {
        let folder = try TemporaryFolder.made()
        let path = try folder.write(Data(Zip(entries: [entry]).bytes), to: "a.zip")
        do {
            _ = try Imported(path, as: .chatgpt)
            return ""
        } catch let error as ImportError {
            return error.description
        }
    }

    @Test("A ChatGPT archive: branches by causes, an answer without a time, a picture with its bytes")
    func chatgpt() throws {
        let folder = try TemporaryFolder.made()
        let picture: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00]
        let zip = Zip(entries: [
            .init(name: "user.json", bytes: Array(#"{"id":"user-x"}"#.utf8)),
            .init(name: "conversations.json", bytes: Array(Self.conversation.utf8)),
            .init(name: "user-x/file_abc-picture.png", bytes: picture),
        ])
        let imported = try Imported(try folder.write(Data(zip.bytes), to: "export.zip"), as: nil, ImportOptions())
        #expect(imported.format == .chatgpt)
        #expect(imported.counts == ["conversation.started": 1, "message.posted": 3, "bot.replied": 2])
        let question = imported.events[1]
        #expect(question.user == "chatgpt:user-x" && question.text == "그림")
        let answers = imported.events.filter { $0.type == "bot.replied" }
        #expect(answers.map(\.cause) == [question.id, question.id])
        #expect(answers.map(\.text) == ["처음 답", "다시 만든 답"])
        #expect(answers[0].time == question.time.map { $0 + 1 })
        let item = try #require(question.object.elements("attachments")?.first?.object)
        #expect(item.string("mediaType") == "image/png" && item.integer("bytes") == 9)
        #expect(item.string("sha256") == SHA256().digest(picture).description && item["data"] == nil)
        #expect(try imported.attachments.map { try $0.bytes() } == [picture])
        #expect(imported.events[0].object.string("currentMessage") == answers[1].id?.description)
    }

    @Test("An archive that Python packs with deflate is read like the folder it was made of")
    func deflate() throws {
        let folder = try TemporaryFolder.made()
        let inner = folder.file("slack/general")
        try FileManager.default.createDirectory(atPath: inner, withIntermediateDirectories: true)
        let many = (0..<2_000).map {
            #"{"type":"message","user":"U1","text":"a &lt; b &amp;amp; \#($0)","ts":"1700000000.\#(100_000 + $0)"}"#
        }
        try Data("[\(many.joined(separator: ","))]".utf8).write(to: URL(filePath: inner + "/2023-11-14.json"))
        try Data(#"[{"id":"C1","name":"general","created":1,"members":["U1","U1"]}]"#.utf8).write(
            to: URL(filePath: folder.file("slack/channels.json")))
        try python([
            "-c", "import shutil,sys; shutil.make_archive(sys.argv[1], 'zip', sys.argv[2])",
            folder.file("slack-export"), folder.file("slack"),
        ])
        let archive = try Imported(folder.file("slack-export.zip")), plain = try Imported(folder.file("slack"))
        #expect(archive.format == .slack && archive.counts["message.posted"] == 2_000)
        #expect(archive.events == plain.events)
        #expect(archive.texts[0] == "a < b &amp; 0")
        #expect(archive.events[0].conversation == "slack:C1")
    }

    @Test("Names that lead out, links, encryption, other packing and false sizes are refused")
    func hostile() throws {
        let bytes = Array("[]".utf8)
        for name in [
            "../conversations.json", "/conversations.json", "a/../../conversations.json", "a\\..\\conversations.json",
            "a\u{0}b",
        ] {
            #expect(try refusal(.init(name: name, bytes: bytes)).contains("leads out of the archive"), "\(name)")
        }
        #expect(
            try refusal(.init(name: "conversations.json", bytes: bytes, mode: 0o120777)).contains("symbolic link"))
        #expect(try refusal(.init(name: "conversations.json", bytes: bytes, flags: 1)).contains("encrypted"))
        #expect(
            try refusal(.init(name: "conversations.json", bytes: bytes, method: 12)).contains("(12) that is not read")
        )
        #expect(
            try refusal(.init(name: "conversations.json", bytes: bytes, size: 1 << 31)).contains("more than it can"))
        #expect(try refusal(.init(name: "conversations.json", bytes: bytes, size: 3)).contains("checksum"))
        #expect(
            try refusal(.init(name: "conversations.json", bytes: bytes, size: 1)).contains(
                "more than the archive says"))
        #expect(try refusal(.init(name: "conversations.json", bytes: bytes, sum: 5)).contains("checksum"))
        #expect(try refusal(.init(name: "conversations.json", bytes: [0xff, 0xff], method: 8)).contains("damaged"))
        #expect(
            try refusal(.init(name: "conversations.json", bytes: bytes, offset: 4)).contains("no entry stands there"))
        #expect(
            try refusal(.init(name: "conversations.json", bytes: bytes, offset: 4_000_000)).contains(
                "reach into its table"))
    }

    @Test("Names that are not UTF-8, as an older Windows packs them, are refused with the way out")
    func encoded() throws {
        let folder = try TemporaryFolder.made()
        let zip = Zip(entries: [
            .init(name: "conversations.json", bytes: Array("[]".utf8)), .init(name: "ABCD.png", bytes: []),
        ])
        // 사진, as CP949 has it.
        let old = Data(zip.bytes).replacing(Data("ABCD".utf8), with: Data([0xbb, 0xe7, 0xc1, 0xf8]))
        let path = try folder.write(old, to: "a.zip")
        let error = #expect(throws: ImportError.self) { try ExportFiles(path) }
        #expect(error?.reason.hasSuffix(".png' of an entry is not UTF-8; unpack it and import the folder") == true)
    }

    @Test("Entries that lie in each other, as bombs have them, are refused; so is an archive cut anywhere")
    func damaged() throws {
        let folder = try TemporaryFolder.made()
        let bytes = Array("[]".utf8)
        let overlapping = Zip(entries: [
            .init(name: "conversations.json", bytes: bytes), .init(name: "b.json", bytes: bytes, offset: 0),
        ])
        let path = try folder.write(Data(overlapping.bytes), to: "a.zip")
        #expect(throws: ImportError.self) { try ExportFiles(path) }
        let whole = Zip(entries: [.init(name: "conversations.json", bytes: Array(Self.conversation.utf8))]).bytes
        for count in stride(from: 4, to: whole.count - 1, by: 37) {
            let cut = try folder.write(Data(whole.prefix(count)), to: "cut.zip")
            #expect(throws: ImportError.self) { try Imported(cut, as: .chatgpt) }
        }
    }
}
