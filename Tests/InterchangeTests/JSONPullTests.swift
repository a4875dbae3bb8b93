import EventStore
import Foundation
import Interchange
import TestSupport
import Testing

@Suite struct JSONPullTests {
    /// Walks everything, or takes it as one value; what was wrong, if anything.
    static func failure(_ bytes: [UInt8], most: Int, walks: Bool) -> ImportError? {
        do throws(ImportError) {
            let json = try JSONPull(MemoryReader(bytes, most: most))
            if walks { try json.skip() } else { _ = try json.value() }
            try json.finish()
            return nil
        } catch {
            return error
        }
    }

    @Test("Values, members and elements come out whole, however the bytes come in", arguments: [1, 2, 3, 7, 1 << 20])
    func pieces(most: Int) throws {
        let text = #" {"a\"b": [1, -2.5e3, "두통\\", {"x":[]}], "c":{}, "d":null } "#
        let json = try JSONPull(MemoryReader(Array(text.utf8), most: most))
        try json.openObject()
        #expect(try json.nextName() == "a\"b")
        try json.openArray()
        var values: [String] = []
        while try json.nextElement() { values.append(String(decoding: try json.value().raw, as: UTF8.self)) }
        #expect(values == ["1", "-2.5e3", #""두통\\""#, #"{"x":[]}"#])
        #expect(try json.nextName() == "c")
        try json.skip()
        #expect(try json.nextName() == "d")
        #expect(json.place == "$.d")
        #expect(try json.value().isNull)
        #expect(try json.nextName() == nil)
        try json.finish()
    }

    @Test("Errors say where: the path, and the line")
    func place() throws {
        let text = "{\"chats\":{\"list\":[\n{\"messages\":[\n{\"id\":1},\n{\"id\":}\n]}]}}"
        let error = try #require(Self.failure(Array(text.utf8), most: 5, walks: true))
        #expect(error.place == "$.chats.list[0].messages[1].id, line 4")
    }

    @Test("Depth and length have bounds")
    func bounds() throws {
        let deep = [UInt8](repeating: UInt8(ascii: "["), count: 1_000_000)
        #expect(Self.failure(deep, most: 4_096, walks: true)?.reason == "nested too deep")
        #expect(Self.failure(deep, most: 4_096, walks: false)?.reason == "nested too deep")
        let long = Array("\"".utf8) + [UInt8](repeating: UInt8(ascii: "x"), count: 4 << 20)
        #expect(throws: ImportError.self) {
            _ = try JSONPull(MemoryReader(long, most: 65_536), longest: 1 << 20).value()
        }
    }

    @Test(
        "JSONTestSuite: what the scanner takes is taken, what it refuses is refused",
        .enabled(
            if: FileManager.default.fileExists(atPath: Shared.conformance), "shared/data/conformance is not there"))
    func conformance() throws {
        let folder = try TemporaryFolder.made()
        let tar = Process()
        tar.executableURL = URL(filePath: "/usr/bin/tar")
        tar.arguments = [
            "--zstd", "-xf", Shared.conformance + "/json_test_suite/json_test_suite.tar.zst", "-C", folder.path,
        ]
        try tar.run()
        tar.waitUntilExit()
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.file("test_parsing"))
        var count = 0
        for name in names {
            let bytes = Array(try Data(contentsOf: URL(filePath: folder.file("test_parsing/" + name))))
            // A byte order mark stands at the front of many exports.
            if bytes.starts(with: [0xef, 0xbb, 0xbf]) || bytes.starts(with: [0xff, 0xfe])
                || bytes.starts(with: [0xfe, 0xff])
            {
                continue
            }
            let isValid: Bool
            do throws(JSONError) {
                try JSONScanner.validateValue(bytes)
                isValid = true
            } catch { isValid = false }
            for (walks, most) in [(false, 7), (true, 4_096)] {
                #expect((Self.failure(bytes, most: most, walks: walks) == nil) == isValid, "\(name) \(walks)")
            }
            count += 1
        }
        #expect(count > 300)
    }
}
