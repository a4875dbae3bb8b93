import Converters
import Foundation
import TestSupport
import Testing

/// Real processes, real dialogues.
@Suite(.serialized)
struct TwoDaemonsTests {
    static let data = DataFolder.find(from: #filePath)

    private static func convert(_ set: String, limit: Int? = nil) throws -> String {
        let path = TemporaryFolder.unusedPath()
        let type = try #require(ConverterRegistry.converter(named: set))
        try Data().write(to: URL(fileURLWithPath: path))
        let file = try #require(FileHandle(forWritingAtPath: path))
        var encoder = LineEncoder()
        let converter = type.init(options: ConversionOptions(frames: false, limit: limit))
        _ = try converter.convert(from: try #require(data) + "/" + set) { line in
            encoder.append(line)
            if encoder.bytes.count > 1 << 20 {
                file.write(Data(encoder.bytes))
                encoder.removeAll()
            }
        }
        file.write(Data(encoder.bytes))
        try file.close()
        return path
    }

    @Test(
        "Real dialogues imported at one node are all on the other, with equal views (INV-6)",
        .enabled(if: data != nil, "the dialogue sets are not here"))
    func realDialogues() throws {
        let (a, b) = try makePair()
        // The second set is twice as long, and `make soak` is for it.
        let isLong = ProcessInfo.processInfo.environment["SILLOK_SOAK_SECONDS"] != nil
        let (sets, posts, starts) =
            isLong ? (["ko_hgtods", "ko_songys"], 41_081, 13_418) : (["ko_hgtods"], 17_435, 1_595)
        for set in sets {
            let path = try Self.convert(set)
            defer { try? FileManager.default.removeItem(atPath: path) }
            let first = try a.syncctl("import", path, "--json")
            #expect(first.code == 0)
            let again = try a.syncctl("import", path, "--json").lines.last
            #expect(again?["appended"] as? Int == 0)
            #expect(again?["already"] as? Int == first.lines.last?["appended"] as? Int)
        }
        let digest = try converge(a, b)
        // 17,435 + 23,646 messages, 1,595 + 11,823 starts of conversations, 100 profiles, two starts of origins.
        #expect(digest.contains("view history \(posts + starts + 100 + 2) "))
        #expect(digest.contains("view timeline \(posts + starts) "))
        var messages = 0
        for line in try b.syncctl("conversations", "--json", "-n", "20000").lines {
            messages += line["messages"] as? Int ?? 0
        }
        #expect(messages == posts)
        #expect(try b.verified() == 0)
    }

    @Test("Killed at ten random moments during an import, no acknowledged event is lost or doubled (INV-1 to INV-8)")
    func killed() throws {
        let (a, b) = try makePair()
        let port = try a.port()
        var random = SystemRandomNumberGenerator()
        let seed = UInt64.random(in: 0...UInt64.max, using: &random)
        var acknowledged: [String: String] = [:]
        var sent = 0
        for round in 0..<10 {
            // Appends of 50 events with ids of their own, one request after another, until the daemon is gone.
            let victim = round % 2 == 0 ? a : b
            let delay = UInt32((seed >> UInt64(round * 5)) % 400) * 1_000
            let killer = Thread {
                usleep(delay + 30_000)
                victim.kill()
            }
            killer.start()
            for _ in 0..<40 {
                let batch = (0..<50).map { index in
                    #"{"id":"00000000-0000-7000-8000-\#(String(format: "%012d", sent + index))","type":"message.posted","#
                        + #""user":"u-\#(index % 7)","subject":"conversation/c-\#(index % 3)","data":{"text":"말 \#(index)"}}"#
                }
                sent += 50
                let result = try a.syncctl("append", "-", "--json", input: batch.joined(separator: "\n"))
                for line in result.lines where line["type"] as? String == "appended" {
                    if let id = line["id"] as? String {
                        acknowledged[id] = (line["position"] as? Int).map(String.init)
                    }
                }
                if !killer.isExecuting { break }
            }
            while killer.isExecuting { usleep(10_000) }
            if round % 2 == 0 { try a.start(port: port) } else { try b.start() }
        }
        _ = try converge(a, b)
        #expect(acknowledged.count > 100, "seed \(seed)")
        var stored: [String: String] = [:]
        for line in try a.syncctl("export").lines {
            guard let id = line["id"] as? String else { continue }
            #expect(stored.updateValue(line["position"] as? String ?? "", forKey: id) == nil, "doubled: \(id)")
        }
        for (id, position) in acknowledged { #expect(stored[id] == position, "lost: \(id), seed \(seed)") }
        #expect(try a.verified() == 0)
        #expect(try b.verified() == 0)
        #expect(a.terminate() == 0)
        #expect(b.terminate() == 0)
    }

    @Test("Both write while they cannot hear each other: one order, and the conflict is visible on both")
    func apart() throws {
        let (a, b) = try makePair()
        _ = try a.syncctl("append", "-u", "haneul", "--conversation", "c", "--text", "먼저")
        _ = try converge(a, b)
        b.kill()
        _ = try a.syncctl("append", "-u", "haneul", "--conversation", "c", "--text", "서울에서")
        _ = try a.syncctl(
            "append", "-u", "haneul", "--type", "profile.changed", "--data", #"{"fields":{"city":"서울"}}"#)
        _ = try b.syncctl("append", "-u", "haneul", "--conversation", "c", "--text", "부산에서")
        _ = try b.syncctl(
            "append", "-u", "haneul", "--type", "profile.changed", "--data", #"{"fields":{"city":"부산"}}"#)
        try b.start()
        _ = try converge(a, b)
        let histories = try [a, b].map { node in
            try node.syncctl("history", "haneul", "--json").lines.compactMap { line -> String? in
                let event = line["event"] as? [String: Any]
                return (event?["data"] as? [String: Any])?["text"] as? String ?? event?["id"] as? String
            }
        }
        #expect(histories[0] == histories[1])
        #expect(histories[0].count == 5)
        for node in [a, b] {
            let field = try #require(try node.syncctl("profile", "haneul", "--json").lines.first)
            #expect(field["conflict"] as? Bool == true)
            #expect(field["value"] as? String == "부산")
            #expect((field["concurrent"] as? [[String: Any]])?.first?["value"] as? String == "서울")
        }
    }
}
