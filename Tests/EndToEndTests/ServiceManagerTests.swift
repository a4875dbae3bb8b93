import Foundation
import TestSupport
import Testing

/// The daemon under systemd, played by the test: a socket that listens for its datagrams, and one that is handed over.
@Suite(.serialized)
struct ServiceManagerTests {
    /// What systemd would hear.
    private final class Listener {
        let path: String
        private let descriptor: Int32

        init() throws {
            path = TemporaryFolder.unusedPath()
            descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
            let result = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
            try #require(result == 0, "bind: \(errno)")
        }

        deinit { close(descriptor) }

        /// The next datagram; `nil` when none comes in time.
        func next(seconds: Int = 60) -> String? {
            var patience = timeval(tv_sec: seconds, tv_usec: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
            var bytes = [UInt8](repeating: 0, count: 4_096)
            let count = recv(descriptor, &bytes, bytes.count, 0)
            return count > 0 ? String(decoding: bytes[..<count], as: UTF8.self) : nil
        }

        /// Waits for a datagram with this line, passing over others.
        func hears(_ line: String) -> Bool {
            let end = Date().addingTimeInterval(60)
            while Date() < end, let text = next() {
                if text.split(separator: "\n").contains(Substring(line)) { return true }
            }
            return false
        }
    }

    @Test(
        "It says that it is ready, gives signs of life, says when it reads its configuration again, and that it stops"
    )
    func news() throws {
        let listener = try Listener()
        let daemon = try DaemonProcess("n")
        try daemon.start(
            isTalking: true, environment: ["NOTIFY_SOCKET": listener.path, "WATCHDOG_USEC": "1000000"])
        #expect(listener.next()?.hasPrefix("READY=1\nSTATUS=") == true)
        for _ in 0..<3 { #expect(listener.hears("WATCHDOG=1")) }
        // A stopped process gives none.
        daemon.signal(SIGSTOP)
        while listener.next(seconds: 2) != nil {}
        daemon.signal(SIGCONT)
        #expect(listener.hears("WATCHDOG=1"))
        daemon.signal(SIGHUP)
        var heard: String?
        for _ in 0..<20 {
            heard = listener.next()
            if heard?.hasPrefix("RELOADING=1\nMONOTONIC_USEC=") == true { break }
        }
        #expect(heard?.hasPrefix("RELOADING=1\nMONOTONIC_USEC=") == true)
        #expect(listener.hears("READY=1"))
        #expect(daemon.said.contains("reloaded: nothing has changed"))
        #expect(daemon.terminate() == 0)
        #expect(listener.hears("STOPPING=1"))
    }

    /// Listens at `$1` as `systemd-socket-activate(1)` does, says so, and becomes the program behind it.
    private static let activation = """
        import os, socket, sys
        s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen()
        os.dup2(s.fileno(), 3); os.set_inheritable(3, True)
        os.environ.update(LISTEN_FDS='1', LISTEN_PID=str(os.getpid()), LISTEN_FDNAMES='api')
        os.execv(sys.argv[2], sys.argv[2:])
        """

    @Test(
        "A socket that is handed over is served, callers that came before the daemon too; it is left when the daemon ends"
    )
    func handedOver() async throws {
        let folder = try TemporaryFolder.made()
        let path = folder.file("api")
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [
            "python3", "-c", Self.activation, path, try Tool.named("syncd").path, "--dev", folder.file("store"),
            "--log-level", "error",
        ]
        try process.run()
        defer { process.terminate() }
        waitWhile(!FileManager.default.fileExists(atPath: path))
        // From now on the kernel keeps callers, whether or not the daemon is there yet.
        let api = APIClient(socket: path)
        let event = #"{"type":"note","user":"u","data":{}}"#
        #expect(api.ask("POST", "/v1/events", body: event)?.0 == 200)
        #expect(api.ask("GET", "/readyz")?.0 == 200)
        let own = folder.file("store") + "/api.sock"
        #expect(!FileManager.default.fileExists(atPath: own), "no second socket")
        process.terminate()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        #expect(FileManager.default.fileExists(atPath: path), "it is systemd's")
    }

    private static let analyzer = "/usr/bin/systemd-analyze"

    @Test(
        "By systemd's own reckoning each unit is exposed to 1.6 at most, and the page has the figure of the daemon's",
        .enabled(if: FileManager.default.isExecutableFile(atPath: analyzer), "systemd-analyze is not here"))
    func exposure() async throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let tool = Tool(path: Self.analyzer)
        let names = try FileManager.default.contentsOfDirectory(atPath: root.appending(path: "ops/systemd").path)
            .filter { $0.hasSuffix(".service") }
        #expect(names.count > 2)
        var figures: [String: String] = [:]
        for name in names {
            let path = root.appending(path: "ops/systemd/\(name)").path
            let run = try await tool.run(["security", "--offline=true", "--threshold=16", "--no-pager", path])
            #expect(run.code == 0, "\(name): \(run.text.suffix(200))\(run.errors)")
            figures[name] = run.text.firstMatch(of: /exposure level for \S+: ([0-9.]+)/).map { String($0.output.1) }
        }
        // Releases of systemd count different things.
        let figure = try #require(figures["syncd.service"])
        let page = try String(contentsOf: root.appending(path: "docs/operating/install.md"), encoding: .utf8)
        guard try await tool.run(["--version"]).text.hasPrefix("systemd 252 ") else { return }
        #expect(page.contains("`systemd-analyze security syncd` says \(figure) by systemd 252"), "\(figure)")
    }

    @Test("What SIGHUP brings is in effect at once, or nothing of it")
    func reload() async throws {
        let folder = try TemporaryFolder.made()
        let (store, socket) = (folder.file("store"), folder.file("a.sock"))
        func write(_ more: String) throws -> String {
            let text =
                "{storage: {dir: '\(store)', witness: null}, api: {socket: {path: '\(socket)', group: null}}}"
            try FileManager.default.createDirectory(atPath: folder.file("conf.d"), withIntermediateDirectories: true)
            _ = try folder.write(Data(more.utf8), to: "conf.d/50-more.conf")
            return try folder.write(Data(text.utf8), to: "c.json5")
        }
        let process = Process()
        process.executableURL = URL(filePath: try Tool.named("syncd").path)
        process.arguments = ["--config", try write("{storage: {min_free: '1MiB'}}")]
        let log = folder.file("log")
        try Data().write(to: URL(filePath: log))
        let errors = try FileHandle(forWritingTo: URL(filePath: log))
        process.standardError = errors
        try process.run()
        try errors.close()
        defer { process.terminate() }
        let api = APIClient(socket: socket)
        waitWhile(api.ask("GET", "/livez") == nil)
        func said(_ text: String) -> Bool {
            for _ in 0..<2_400 {
                if let log = try? String(contentsOfFile: log, encoding: .utf8), log.contains(text) { return true }
                usleep(25_000)
            }
            return false
        }
        let event = #"{"type":"note","user":"u","data":{}}"#
        #expect(api.ask("POST", "/v1/events", body: event)?.0 == 200)
        _ = try write("{storage: {min_free: '900TiB'}}")
        kill(process.processIdentifier, SIGHUP)
        #expect(said("reloaded: storage.min_free: \"1MiB\" is \"900TiB\" now"))
        #expect(api.ask("POST", "/v1/events", body: event)?.0 == 507)
        let ready = try #require(api.ask("GET", "/readyz"))
        #expect(ready.0 == 503 && ready.2.contains("[-]disk: "), "\(ready)")
        #expect(said("appends are refused: disk: "))
        _ = try write("{storage: {min_free: '1MiB'}, api: {max_body: '1MiB'}}")
        kill(process.processIdentifier, SIGHUP)
        #expect(said("reload refused, nothing has changed: a running daemon cannot take this: api.max_body: "))
        #expect(api.ask("POST", "/v1/events", body: event)?.0 == 507)
        _ = try write("{storage: {min_free: '1MiB'}}")
        kill(process.processIdentifier, SIGHUP)
        #expect(said("appends are taken again, after "))
        #expect(api.ask("POST", "/v1/events", body: event)?.0 == 200)
        #expect(api.ask("GET", "/readyz")?.0 == 200)
    }

    @Test("--check-config and --print-config for programs")
    func programs() async throws {
        let folder = try TemporaryFolder.made()
        let syncd = try Tool.named("syncd")
        let file = try folder.write(Data("{log: {levl: 'info'}}".utf8), to: "c.json5")
        let checked = try await syncd.run(["--config", file, "--check-config", "--json"])
        let problem = try #require(try checked.objects().first)
        #expect(checked.code == 78 && problem["line"] as? Int == 1 && problem["file"] as? String == file)
        #expect(problem["message"] as? String == "unknown key 'log.levl'; did you mean 'level'?")
        let fine = try folder.write(Data("{log: {level: 'error'}}".utf8), to: "d.json5")
        var told = syncd
        told.environment["SYNCD_STORAGE__MIN_FREE"] = "3GiB"
        let printed = try await told.run(["--config", fine, "--print-config", "--json", "--cluster", "clinic"])
            .objects()
        let origins = Dictionary(
            uniqueKeysWithValues: printed.compactMap { line in
                (line["key"] as? String).map { ($0, line["origin"] as? String ?? "") }
            })
        #expect(origins["log.level"] == "file" && origins["storage.min_free"] == "environment")
        #expect(origins["node.cluster"] == "flag" && origins["storage.dir"] == "built-in")
    }
}
