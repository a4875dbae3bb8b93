import Foundation
import TestSupport
import Testing

@testable import EventStore

/// Events that a node has signed and that are not here: the same files get the same answer, open or not.
@Suite(.timeLimit(.minutes(5)))
struct SignedBeyondTests {
    private let folder: TemporaryFolder
    private let isProving: Bool

    init() throws {
        folder = try TemporaryFolder.made()
        let probe = Process()
        probe.executableURL = URL(filePath: "/usr/bin/env")
        probe.arguments = ["python3", "-c", "import cryptography"]
        probe.standardError = FileHandle.nullDevice
        try probe.run()
        probe.waitUntilExit()
        isProving = probe.terminationStatus == 0
    }

    /// What both verifiers say of a store.
    private func check(_ store: String, _ place: Comment) async throws {
        let text = "has signed 15 events, of which 6 are here"
        let verified = try Programs.syncctl(store, ["verify", "--lang", "en"])
        #expect(verified.code == 2 && verified.output.contains(text), place)
        guard isProving else { return }
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Scripts/verify.py")
        let env = Tool(path: "/usr/bin/env", environment: ProcessInfo.processInfo.environment)
        let proven = try await env.run(["python3", "-B", script.path, store])
        #expect(proven.code == 2 && proven.text.contains(text), place)
    }

    @Test(
        "Beside a daemon, of a copy, a killed store, a stopped one and one that another holds, both verifiers say 2, and doctor how many there were (INV-4)"
    )
    func oneAnswer() async throws {
        let before = try DaemonProcess("n")
        try before.start()
        for number in 1...14 {
            #expect(try before.syncctl("append", "--user", "u", "--text", "\(number)").code == 0)
        }
        #expect(try before.syncctl("backup", "create", folder.file("repository")).code == 0)
        #expect(before.terminate() == 0)
        let node = try DaemonProcess("n")
        let restored = try Programs.syncctl(
            folder.file("nowhere"),
            ["backup", "restore", folder.file("repository"), "--into", node.store, "--to", "6"])
        #expect(restored.code == 0, "\(restored.errors)")
        try node.start()
        try await check(node.store, "beside its daemon")
        try doctor(node)
        let copy = folder.file("copy")
        try FileManager.default.createDirectory(
            atPath: copy, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        for name in try FileManager.default.contentsOfDirectory(atPath: node.store) where !name.hasSuffix(".sock") {
            try FileManager.default.copyItem(atPath: "\(node.store)/\(name)", toPath: "\(copy)/\(name)")
        }
        try await check(copy, "a copy")
        node.kill()
        try await check(node.store, "killed")
        try node.start()
        #expect(node.terminate() == 0)
        try await check(node.store, "stopped")
        try doctor(node)
        let lock = try StoreLock(StoreFiles(node.store), owner: "another")
        try await check(node.store, "held")
        withExtendedLifetime(lock) {}
    }

    private func doctor(_ node: DaemonProcess) throws {
        let lines = try node.syncctl("doctor", "--json", "--lang", "en").lines
        let found = try #require(lines.first { $0["code"] as? String == "NEW_ORIGIN" })
        let text = found["text"] as? String ?? ""
        for part in ["6 of at least 15 events", "9 of its own events are not back"] {
            #expect(text.contains(part), "\(text)")
        }
        #expect(found["severity"] as? String == "warning")
    }
}
