import Foundation
import TestSupport
import Testing

@testable import EventStore

private let conformance = URL(filePath: #filePath)
    .appending(path: "../../../../../shared/data/conformance").standardized
private let isConformanceThere = FileManager.default.fileExists(atPath: conformance.path)

@Suite(.enabled(if: isConformanceThere, "shared/data/conformance is not there"))
struct JSONConformanceTests {
    @Test func jsonTestSuite() throws {
        let folder = URL(filePath: TemporaryFolder.unusedPath())
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let archive = conformance.appending(path: "json_test_suite/json_test_suite.tar.zst").path
        let tar = Process()
        tar.executableURL = URL(filePath: "/usr/bin/tar")
        tar.arguments = ["--zstd", "-xf", archive, "-C", folder.path]
        try tar.run()
        tar.waitUntilExit()
        try #require(tar.terminationStatus == 0)

        var counts = ["y": 0, "n": 0, "i": 0]
        for file in try FileManager.default.contentsOfDirectory(
            at: folder.appending(path: "test_parsing"), includingPropertiesForKeys: nil)
        {
            let bytes = try [UInt8](Data(contentsOf: file))
            let accepted = (try? JSONScanner.validateValue(bytes)) != nil
            switch file.lastPathComponent.prefix(1) {
            case "y": #expect(accepted, "\(file.lastPathComponent)")
            case "n": #expect(!accepted, "\(file.lastPathComponent)")
            default: break  // implementation-defined: it is enough to come back
            }
            counts[String(file.lastPathComponent.prefix(1)), default: 0] += 1
        }
        #expect(counts == ["y": 95, "n": 188, "i": 35])
    }

    @Test func utf8Sequences() throws {
        struct Sequence: Decodable {
            var section: String
            var hex: String
            var valid_utf8: Bool
        }
        let data = try Data(contentsOf: conformance.appending(path: "utf8_kuhn/sequences.reconstructed.json"))
        let sequences = try JSONDecoder().decode([Sequence].self, from: data)
        #expect(sequences.count == 79)
        for sequence in sequences {
            let bytes = try #require(hexBytes(sequence.hex))
            let expected = sequence.valid_utf8 && bytes.allSatisfy { $0 >= 0x20 }
            for padding in 0..<10 {
                let blanks = [UInt8](repeating: 0x20, count: padding)
                let text = Array("{\"k\":\"".utf8) + blanks + bytes + Array("\"}".utf8)
                #expect((failure(text) == nil) == expected, "\(sequence.section) \(sequence.hex)")
                #expect(failure(Array("{\"k\":\"".utf8) + blanks + bytes) != nil)
            }
        }
    }

    @Test func naughtyStringsSurvive() throws {
        let bytes = try [UInt8](Data(contentsOf: conformance.appending(path: "naughty_strings/blns.json")))
        try JSONScanner.validateValue(bytes)
        let expected = try JSONDecoder().decode([String].self, from: Data(bytes))
        let wrapped = JSONObject(validated: Array(#"{"all":"#.utf8) + bytes + Array("}".utf8))
        let strings = try #require(wrapped.strings("all"))
        #expect(strings.map { Array($0.utf8) } == expected.map { Array($0.utf8) })
        #expect(strings.count == 515)
        for string in strings {
            var out = Array(#"{"s":"#.utf8)
            JSONText.append(string, to: &out)
            out.append(UInt8(ascii: "}"))
            let back = try #require(try JSONObject(validating: out).string("s"))
            #expect(Array(back.utf8) == Array(string.utf8))
        }
    }
}
