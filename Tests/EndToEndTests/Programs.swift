import Foundation
import TestSupport
import Testing

/// The real programs, run as processes.
enum Programs {
    /// Where the build put them: beside the test bundle.
    static let folder: URL = {
        var folder = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        for _ in 0..<4 {
            if FileManager.default.isExecutableFile(atPath: folder.appending(path: "syncd").path) { return folder }
            folder.deleteLastPathComponent()
        }
        return URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "../../.build/debug")
    }()

    struct Result {
        let output: String
        let errors: String
        let code: Int32

        var lines: [[String: Any]] {
            output.split(separator: "\n").compactMap {
                (try? JSONSerialization.jsonObject(with: Data($0.utf8))) as? [String: Any]
            }
        }
    }

    /// Runs syncctl on a store to its end.
    @discardableResult
    static func syncctl(_ store: String, _ arguments: [String], input: String? = nil) throws -> Result {
        let names = (0..<3).map { _ in URL(filePath: TemporaryFolder.unusedPath()) }
        defer { for name in names { try? FileManager.default.removeItem(at: name) } }
        try Data((input ?? "").utf8).write(to: names[0])
        for name in names[1...] { try Data().write(to: name) }
        let process = Process()
        process.executableURL = folder.appending(path: "syncctl")
        process.arguments = ["--store", store] + arguments
        let streams = try StandardStreams(input: names[0], output: names[1], errors: names[2])
        defer { streams.close() }
        streams.give(to: process)
        let ended = DispatchSemaphore(value: 0)
        process.terminationHandler = { _ in ended.signal() }
        try process.run()
        ended.wait()
        return Result(
            output: String(decoding: try Data(contentsOf: names[1]), as: UTF8.self),
            errors: String(decoding: try Data(contentsOf: names[2]), as: UTF8.self), code: process.terminationStatus)
    }
}

/// A daemon of the test's own, which can be killed and started again.
/// `@unchecked Sendable`: a test uses it from one thread; only ``kill()`` is used from a second one, while the first waits.
final class DaemonProcess: @unchecked Sendable {
    let store: String
    let name: String
    private var process: Process?

    init(_ name: String) throws {
        self.name = name
        store = TemporaryFolder.unusedPath()
    }

    deinit {
        kill()
        try? FileManager.default.removeItem(atPath: store)
        for log in [store + ".log", unasked] { try? FileManager.default.removeItem(atPath: log) }
    }

    /// Where it writes what no test asks for.
    private var unasked: String { store + ".unasked.log" }

    /// What the daemon has said in all its lives, once it was started with `isTalking`.
    var said: String { (try? String(contentsOfFile: store + ".log", encoding: .utf8)) ?? "" }

    func start(port: Int = 0, isTalking: Bool = false, environment: [String: String] = [:]) throws {
        let process = Process()
        process.executableURL = Programs.folder.appending(path: "syncd")
        process.arguments = [
            "--dev", store, "--node-name", name, "--peer-listen", "127.0.0.1:\(port)", "--log-level", "info",
        ]
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        // What it says is kept in any case: a start that fails tells why.
        let log = isTalking ? store + ".log" : unasked
        if !FileManager.default.fileExists(atPath: log) { try Data().write(to: URL(filePath: log)) }
        let file = try FileHandle(forWritingTo: URL(filePath: log))
        defer { try? file.close() }
        try file.seekToEnd()
        process.standardError = file
        try process.run()
        self.process = process
        // The socket is asked first, because that needs no process.
        let api = APIClient(socket: store + "/api.sock")
        let clock = ContinuousClock()
        let end = clock.now + .seconds(60)
        while process.isRunning, clock.now < end {
            if api.ask("GET", "/livez", seconds: 5)?.0 == 200, let found = try? status(), found["software"] != nil {
                return
            }
            usleep(10_000)
        }
        let state = process.isRunning ? "has not answered within 60 s" : "ended with \(process.terminationStatus)"
        let said = (try? String(contentsOfFile: log, encoding: .utf8))?.suffix(2_000) ?? ""
        let asked = try? Programs.syncctl(store, ["status", "--json"])
        let status = "\(asked?.output ?? "") \(asked?.errors ?? "")"
        Issue.record("\(name) did not start: it \(state)\n\(said)\nstatus: \(status)")
    }

    /// SIGKILL: nothing is said, nothing is flushed.
    func kill() {
        guard let process, process.isRunning else { return }
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// Sends a signal that does not end it.
    func signal(_ signal: Int32) {
        if let process, process.isRunning { Foundation.kill(process.processIdentifier, signal) }
    }

    var isRunning: Bool { process?.isRunning ?? false }

    /// How it ends by itself.
    func exitCode() -> Int32 {
        process?.waitUntilExit()
        return process?.terminationStatus ?? -1
    }

    /// Sends a signal and waits for the end; the signal that ended the process, or 0.
    func end(with signal: Int32) -> Int32 {
        guard let process, process.isRunning else { return 0 }
        Foundation.kill(process.processIdentifier, signal)
        process.waitUntilExit()
        return process.terminationReason == .uncaughtSignal ? process.terminationStatus : 0
    }

    /// Most memory it has had so far, kilobytes.
    var peakKilobytes: Int {
        guard let process,
            let text = try? String(contentsOfFile: "/proc/\(process.processIdentifier)/status", encoding: .utf8),
            let line = text.split(separator: "\n").first(where: { $0.hasPrefix("VmHWM:") })
        else { return 0 }
        return line.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) } ?? 0
    }

    func terminate() -> Int32 {
        process?.terminate()
        process?.waitUntilExit()
        return process?.terminationStatus ?? -1
    }

    func status() throws -> [String: Any] { try Programs.syncctl(store, ["status", "--json"]).lines.first ?? [:] }
    func node() throws -> String { try status()["node"] as? String ?? "" }
    func port() throws -> Int { try status()["port"] as? Int ?? 0 }
    func syncctl(_ arguments: String..., input: String? = nil) throws -> Programs.Result {
        try Programs.syncctl(store, arguments, input: input)
    }

    /// The exit code of `verify`; while the newest events await their signed head (2) it is asked again, for a minute at most.
    func verified() throws -> Int32 {
        for _ in 0..<600 {
            let code = try syncctl("verify").code
            if code != 2 { return code }
            usleep(100_000)
        }
        return 2
    }
}

/// Two daemons that know each other; b calls a.
func makePair() throws -> (DaemonProcess, DaemonProcess) {
    let (a, b) = (try DaemonProcess("a"), try DaemonProcess("b"))
    try a.start()
    try b.start()
    #expect(try a.syncctl("peers", "add", "b", b.node()).code == 0)
    #expect(try b.syncctl("peers", "add", "a", "\(a.node())@127.0.0.1:\(a.port())").code == 0)
    return (a, b)
}

/// Waits until both have equal vectors, roots and view digests.
func converge(_ a: DaemonProcess, _ b: DaemonProcess, seconds: Int = 120) throws -> String {
    for _ in 0..<seconds * 10 {
        let (one, other) = (try a.syncctl("digest", "--search"), try b.syncctl("digest", "--search"))
        if one.code == 0, one.output == other.output { return one.output }
        usleep(100_000)
    }
    let (one, other) = (try a.syncctl("digest", "--search"), try b.syncctl("digest", "--search"))
    for (node, digest) in [(a, one), (b, other)] {
        Issue.record("not equal: exit \(digest.code)\n\(digest.output)\n\(digest.errors)\n\(node.said.suffix(2_000))")
    }
    return ""
}
