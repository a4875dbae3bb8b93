import Foundation
import FuzzTargets
import Testing

/// Replays every input that the fuzzer has kept: those that reach all code it knows of, and those that once failed.
@Suite(.serialized) struct FuzzReplayTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()

    private static func inputs(_ kind: String, _ target: FuzzTarget) throws -> [URL] {
        let folder = folder.appending(path: kind).appending(path: target.rawValue)
        guard FileManager.default.fileExists(atPath: folder.path) else { return [] }
        return try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .sorted { $0.path < $1.path }
    }

    @Test("What the fuzzer has kept keeps every promise", arguments: FuzzTarget.allCases)
    func kept(target: FuzzTarget) throws {
        let inputs = try Self.inputs("corpus", target)
        #expect(inputs.count >= 3, "the corpus of \(target.rawValue) is lost")
        for input in inputs { try replay(input, target) }
    }

    @Test("What once failed does not fail again", arguments: FuzzTarget.allCases)
    func found(target: FuzzTarget) throws {
        for input in try Self.inputs("found", target) { try replay(input, target) }
    }

    private func replay(_ input: URL, _ target: FuzzTarget) throws {
        // A trap ends the process: then the last line tells which input it was.
        if ProcessInfo.processInfo.environment["SILLOK_FUZZ_VERBOSE"] != nil { print(input.path) }
        let bytes = try [UInt8](Data(contentsOf: input))
        do { try target.run(bytes) } catch {
            Issue.record("\(target.rawValue)/\(input.lastPathComponent): \(error)")
        }
    }
}
