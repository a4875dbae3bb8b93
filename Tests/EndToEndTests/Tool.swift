import Foundation
import TestSupport
import Testing

/// Runs one of the package's programs as its users do.
struct Tool: Sendable {
    /// What a run left behind.
    struct Run: Sendable {
        let output: Data
        let errors: String
        let code: Int32

        var text: String { String(decoding: output, as: UTF8.self) }
        var lines: [String] { text.split(separator: "\n").map(String.init) }
        /// The output as one JSON object for each line.
        func objects() throws -> [[String: Any]] {
            try lines.map { try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]) }
        }

        /// The events in JSON output, each in its native form.
        func events() throws -> [[String: Any]] { try objects().compactMap { $0["event"] as? [String: Any] } }
    }

    let path: String
    var environment: [String: String] = ["TZ": "Asia/Seoul", "PATH": "/usr/bin:/bin"]

    /// The program lies beside the test bundle.
    static func named(_ name: String) throws -> Tool {
        let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let path = URL(fileURLWithPath: tests).deletingLastPathComponent().appending(path: name).path
        try #require(FileManager.default.isExecutableFile(atPath: path), "no program at \(path)")
        return Tool(path: path)
    }

    /// Runs the program to its end.
    func run(_ arguments: [String], input: Data = Data(), in folder: String = "/tmp") async throws -> Run {
        let scratch = URL(filePath: TemporaryFolder.unusedPath())
        try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: scratch) }
        let files = ["in", "out", "err"].map { scratch.appending(path: $0) }
        try input.write(to: files[0])
        try Data().write(to: files[1])
        try Data().write(to: files[2])

        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        process.environment = environment
        process.currentDirectoryURL = URL(fileURLWithPath: folder)
        let streams = try StandardStreams(input: files[0], output: files[1], errors: files[2])
        defer { streams.close() }
        streams.give(to: process)
        try await Self.finish(process)
        let code =
            process.terminationReason == .uncaughtSignal ? -process.terminationStatus : process.terminationStatus
        return Run(
            output: try Data(contentsOf: files[1]),
            errors: String(decoding: try Data(contentsOf: files[2]), as: UTF8.self), code: code)
    }

    /// Waits without blocking a thread of the test pool.
    static func finish(_ process: Process) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            process.terminationHandler = { _ in continuation.resume() }
            do {
                try process.run()
                // One that hangs fails its test, and does not keep all others from their turn.
                DispatchQueue.global().asyncAfter(deadline: .now() + 200) {
                    if process.isRunning { kill(process.processIdentifier, SIGKILL) }
                }
            } catch {
                process.terminationHandler = nil
                continuation.resume(throwing: error)
            }
        }
    }
}

/// Files as the standard streams of a process. They are closed by name: a `Process` keeps its handles for good, and
/// Foundation's `Process.run()` reads past the end of a directory's buffer once some 1,360 descriptors are open.
struct StandardStreams {
    private let handles: [FileHandle]

    init(input: URL, output: URL, errors: URL) throws {
        handles = [
            try FileHandle(forReadingFrom: input), try FileHandle(forWritingTo: output),
            try FileHandle(forWritingTo: errors),
        ]
    }

    func give(to process: Process) {
        process.standardInput = handles[0]
        process.standardOutput = handles[1]
        process.standardError = handles[2]
    }

    func close() {
        for handle in handles { try? handle.close() }
    }
}

extension [String: Any] {
    /// What an event in its native form says.
    var text: String? { (self["data"] as? [String: Any])?["text"] as? String }
}
