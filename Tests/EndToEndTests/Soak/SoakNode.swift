import Foundation
import TestSupport
import Testing

/// A daemon under a soak: killed, stopped, continued, watched.
///
/// ## Concurrency model
/// `@unchecked Sendable`: `process` and the peak belong to the thread that runs the soak; `store` and `api` never change.
final class SoakNode: @unchecked Sendable {
    let name: String
    let store: String
    let port: Int
    let api: APIClient
    private var process: Process?
    /// The most memory seen, bytes.
    private(set) var peak = 0
    private(set) var isStopped = false

    init(_ name: String) throws {
        self.name = name
        store = TemporaryFolder.unusedPath()
        port = try freePort()
        api = APIClient(socket: store + "/api.sock")
    }

    deinit {
        if let process, process.isRunning { kill(process.processIdentifier, SIGKILL) }
        try? FileManager.default.removeItem(atPath: store)
        try? FileManager.default.removeItem(atPath: log)
    }

    /// Where it writes its messages, beside the store.
    var log: String { store + ".log" }

    /// Starts the daemon. Does not wait until it is ready.
    func start() throws {
        if !FileManager.default.fileExists(atPath: log) { try Data().write(to: URL(fileURLWithPath: log)) }
        let errors = try #require(FileHandle(forWritingAtPath: log))
        defer { try? errors.close() }
        try errors.seekToEnd()
        let process = Process()
        process.executableURL = Programs.folder.appending(path: "syncd")
        process.arguments = [
            "--dev", store, "--node-name", name, "--peer-listen", "127.0.0.1:\(port)", "--log-level", "info",
        ]
        process.standardError = errors
        process.standardOutput = errors
        try process.run()
        self.process = process
        isStopped = false
    }

    var isRunning: Bool { process?.isRunning ?? false }

    func waitUntilReady(seconds: Int = 60) -> Bool {
        for _ in 0..<seconds * 20 {
            if api.ask("GET", "/livez", seconds: 2)?.0 == 200 { return true }
            if !isRunning { return false }
            usleep(50_000)
        }
        return false
    }

    /// SIGKILL: nothing is said, nothing is flushed.
    func crash() { signalAndWait(SIGKILL) }

    /// SIGTERM, and its orderly end. Returns the exit code.
    @discardableResult
    func end() -> Int32 {
        signalAndWait(SIGTERM)
        return process?.terminationStatus ?? -1
    }

    private func signalAndWait(_ signal: Int32) {
        guard let process, process.isRunning else { return }
        measure()
        kill(process.processIdentifier, signal)
        if isStopped { kill(process.processIdentifier, SIGCONT) }
        process.waitUntilExit()
        isStopped = false
    }

    /// SIGSTOP: the process stands still, its connections stay.
    func freeze() {
        guard let process, process.isRunning else { return }
        kill(process.processIdentifier, SIGSTOP)
        isStopped = true
    }

    func thaw() {
        guard let process, isStopped else { return }
        kill(process.processIdentifier, SIGCONT)
        isStopped = false
    }

    /// Takes note of the memory in use (`VmHWM`, proc(5)).
    func measure() {
        guard let process, process.isRunning,
            let text = try? String(contentsOfFile: "/proc/\(process.processIdentifier)/status", encoding: .utf8),
            let line = text.split(separator: "\n").first(where: { $0.hasPrefix("VmHWM:") }),
            let kilobytes = line.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first.flatMap({
                Int($0)
            })
        else { return }
        peak = max(peak, kilobytes << 10)
    }

    /// Calls `body` with id and position of every event. The export may be hundreds of megabytes: C's functions look
    /// through it, and each line has its members in one order.
    func export(_ body: (String, String) -> Void) throws {
        let idStart = #"{"specversion":"1.0","id":""#.utf8.count
        let mark = #""position":""#
        try syncctl("export").output.withCString { text in
            var line = text
            while line.pointee != 0, let found = strstr(line, mark) {
                let start = found + mark.utf8.count
                let id = UnsafeRawBufferPointer(start: line + idStart, count: 36)
                let position = UnsafeRawBufferPointer(start: start, count: strcspn(start, "\""))
                body(String(decoding: id, as: UTF8.self), String(decoding: position, as: UTF8.self))
                guard let end = strchr(start, Int32(UInt8(ascii: "\n"))) else { break }
                line = UnsafePointer(end + 1)
            }
        }
    }

    func status() -> [String: Any]? { api.ask("GET", "/v1/status", seconds: 5)?.1.first }

    func syncctl(_ arguments: String...) throws -> Programs.Result { try Programs.syncctl(store, arguments) }
}
