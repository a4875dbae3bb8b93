import Foundation
import TestSupport
import Testing

@testable import EventStore

/// The real daemon on a disk that fails.
@Suite(.disabled(if: FaultInjector.isMissing, "no /usr/bin/gcc to make the faults with"), .timeLimit(.minutes(5)))
struct DiskFaultTests {
    private func append(_ node: DaemonProcess, _ number: Int) throws -> Programs.Result {
        try node.syncctl(
            "append", "--user", "u", "--text", "말 \(number)", "--id",
            "0198e2c4-77aa-7c01-8b1e-\(String(format: "%012d", number))")
    }

    @Test(
        "A failed sync is told to the client and in readyz, log, doctor; the daemon ends with 74; the next start has all that was promised",
        arguments: ["fdatasync.log.db-wal", "pwrite.log.db-wal"])
    func failed(fault: String) throws {
        let faults = try FaultInjector()
        let node = try DaemonProcess("n")
        try node.start(isTalking: true, environment: faults.environment)
        for number in 0..<5 { #expect(try append(node, number).code == 0) }
        let parts = fault.split(separator: ".", maxSplits: 1).map(String.init)
        try faults.fail(parts[0], of: parts[1])
        let refused = try append(node, 5)
        #expect(refused.code != 0 && refused.errors.contains("E_IO"), "\(refused)")
        // It is there still to say so.
        let ready = APIClient(socket: node.store + "/api.sock").ask("GET", "/readyz")
        #expect(ready?.0 == 503 && ready?.2.contains("[-]store: ") == true, "\(String(describing: ready))")
        let metrics = APIClient(socket: node.store + "/api.sock").ask("GET", "/metrics")
        #expect(metrics?.2.contains("\nsyncd_store_failed 1\n") == true)
        #expect(node.exitCode() == 74)
        #expect(node.said.contains("the disk has failed"), "\(node.said)")
        let doctor = try node.syncctl("doctor")
        #expect(doctor.code == 2 && doctor.output.contains("DISK_FAILED"), "\(doctor)")

        try faults.mend()
        try node.start(isTalking: true, environment: faults.environment)
        #expect(node.said.contains("was written anew"), "\(node.said)")
        #expect(!(try node.syncctl("doctor").output.contains("DISK_FAILED")))
        for number in 0..<6 { #expect(try append(node, number).code == 0) }
        #expect(try node.syncctl("export").output.split(separator: "\n").count == 7)
        #expect(node.terminate() == 0)
        #expect(try node.verified() == 0)
    }

    @Test("What a killed daemon left in the WAL is written again and synced before anybody can ask (INV-1)")
    func killed() throws {
        let faults = try FaultInjector()
        let node = try DaemonProcess("n")
        try node.start(environment: faults.environment)
        for number in 0..<20 { #expect(try append(node, number).code == 0) }
        // More than is read and written at a time.
        let long = String(repeating: "x", count: 100_000)
        for _ in 0..<12 { #expect(try node.syncctl("append", "--user", "u", "--text", long).code == 0) }
        try faults.fail("fdatasync", of: "log.db-wal")
        #expect(try append(node, 20).errors.contains("E_IO"))
        node.kill()
        try faults.mend()
        let length = try committed(node.store + "/log.db-wal")
        faults.forget()
        try node.start(environment: faults.environment)
        let calls = faults.calls.prefix { $0.call != "listen" }
        // All of the WAL's commits, a sync of them, then the pages, and a sync of those.
        var rewritten = 0
        let synced = try #require(calls.firstIndex { $0.call == "fdatasync" && $0.file == "log.db-wal" })
        for call in calls[..<synced] where call.call == "pwrite" && call.file == "log.db-wal" {
            #expect(call.offset == rewritten && call.result == call.count)
            rewritten += call.count
        }
        #expect(rewritten == length && length > 1 << 20)
        let copied = try #require(calls.firstIndex { $0.call == "pwrite" && $0.file == "log.db" })
        let done = try #require(
            calls.lastIndex { $0.call == "ftruncate" && $0.file == "log.db-wal" && $0.offset == 0 })
        #expect(synced < copied)
        #expect(calls[copied..<done].contains { $0.call == "fdatasync" && $0.file == "log.db" && $0.result == 0 })
        // What the start itself has written to the new WAL is synced, too.
        let writes = calls.lastIndex { $0.call == "pwrite" && $0.file == "log.db-wal" } ?? 0
        let syncs = calls.lastIndex { $0.call == "fdatasync" && $0.file == "log.db-wal" } ?? 0
        #expect(syncs >= writes)
        #expect(try append(node, 20).code == 0)
        #expect(node.terminate() == 0)
        #expect(try node.verified() == 0)
    }

    @Test(
        "After a failure nobody knows which pages the disk has: without a WAL all of log.db is written again (INV-1)")
    func withoutWAL() throws {
        let faults = try FaultInjector()
        let node = try DaemonProcess("n")
        try node.start(environment: faults.environment)
        for number in 0..<20 { #expect(try append(node, number).code == 0) }
        #expect(node.terminate() == 0)
        try Data().write(to: URL(filePath: node.store + "/disk-failed.json"))
        let path = node.store + "/log.db"
        let size = try #require(try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
        faults.forget()
        try node.start(environment: faults.environment)
        let calls = faults.calls.prefix { $0.call != "listen" }
        let written = calls.filter { $0.call == "pwrite" && $0.file == "log.db" && $0.result == 4_096 }
        #expect(Set(written.map(\.offset)) == Set(stride(from: 0, to: size, by: 4_096)))
        let last = try #require(calls.lastIndex { $0.call == "pwrite" && $0.file == "log.db" })
        #expect(calls[last...].contains { $0.call == "fdatasync" && $0.file == "log.db" && $0.result == 0 })
        #expect(node.terminate() == 0)
        #expect(try node.verified() == 0)
    }

    @Test("A start that a failed sync ends is not believed by the next one either (INV-1)")
    func failedStart() throws {
        let faults = try FaultInjector()
        let node = try DaemonProcess("n")
        try node.start(environment: faults.environment)
        for number in 0..<20 { #expect(try append(node, number).code == 0) }
        node.kill()
        try faults.fail("fdatasync", of: "log.db-wal")
        let failed = Process()
        failed.executableURL = Programs.folder.appending(path: "syncd")
        failed.arguments = ["--dev", node.store, "--node-name", "n", "--log-level", "error"]
        failed.environment = ProcessInfo.processInfo.environment.merging(faults.environment) { $1 }
        failed.standardError = FileHandle.nullDevice
        try failed.run()
        failed.waitUntilExit()
        #expect(failed.terminationStatus == 74)
        #expect(FileManager.default.fileExists(atPath: node.store + "/disk-failed.json"))
        try faults.mend()
        try node.start(isTalking: true, environment: faults.environment)
        #expect(node.said.contains("was written anew"), "\(node.said)")
        #expect(try node.syncctl("export").output.split(separator: "\n").count == 21)
        #expect(node.terminate() == 0)
        #expect(try node.verified() == 0)
    }

    /// Bytes of the WAL up to the last commit, as a second reader of the format counts them.
    private func committed(_ path: String) throws -> Int {
        let bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
        var (offset, end) = (32, 0)
        while offset + 4_120 <= bytes.count, bytes[offset + 8..<offset + 16].elementsEqual(bytes[16..<24]) {
            let isCommit = bytes[offset + 4..<offset + 8].contains { $0 != 0 }
            offset += 4_120
            if isCommit { end = offset }
        }
        return end
    }

    @Test(
        "A checkpoint that cannot be synced ends the daemon, with its WAL; nothing acknowledged is missing after it",
        arguments: [
            "fdatasync", "pwrite",
        ])
    func checkpoint(call: String) throws {
        let faults = try FaultInjector()
        let node = try DaemonProcess("n")
        try node.start(isTalking: true, environment: faults.environment)
        #expect(try append(node, 0).code == 0)
        try faults.fail(call, of: "log.db")
        let text = String(repeating: "가", count: 300)
        var acknowledged = 0
        for round in 0..<200 where node.isRunning {
            let lines = (0..<500).map {
                #"{"type":"message.posted","user":"u-\#($0 % 50)","data":{"text":"\#(round) \#($0) \#(text)"}}"#
            }
            let body = lines.joined(separator: "\n")
            guard
                let answer = APIClient(socket: node.store + "/api.sock").ask(
                    "POST", "/v1/events", body: body, seconds: 20)
            else { break }
            guard answer.0 == 200 else { break }
            acknowledged += 500
        }
        #expect(node.exitCode() == 74)
        #expect(node.said.contains("the disk has failed"), "\(node.said)")
        #expect(acknowledged > 0)
        try faults.mend()
        try node.start(isTalking: true, environment: faults.environment)
        let there = try node.syncctl("export").output.split(separator: "\n").count
        #expect(there >= acknowledged + 2)
        #expect(node.terminate() == 0)
        #expect(try node.verified() == 0)
    }

    @Test(
        "A disk that fails when the daemon ends in order is said, ends it with 74, and leaves the WAL (INV-1)",
        arguments: ["fdatasync", "pwrite"])
    func end(call: String) throws {
        let faults = try FaultInjector()
        let node = try DaemonProcess("n")
        try node.start(isTalking: true, environment: faults.environment)
        for number in 0..<20 { #expect(try append(node, number).code == 0) }
        try faults.fail(call, of: "log.db")
        #expect(node.terminate() == 74)
        #expect(node.said.contains("the disk has failed"), "\(node.said)")
        #expect(try committed(node.store + "/log.db-wal") > 20 * 4_120)
        try faults.mend()
        try node.start(isTalking: true, environment: faults.environment)
        #expect(try node.syncctl("export").output.split(separator: "\n").count == 21)
        #expect(node.terminate() == 0)
        #expect(try node.verified() == 0)
    }

    @Test("A full disk under a checkpoint loses nothing and ends nothing; a read-only file system is called that")
    func told() async throws {
        let faults = try FaultInjector()
        let node = try DaemonProcess("n")
        try node.start(isTalking: true, environment: faults.environment)
        #expect(try append(node, 0).code == 0)
        try faults.fail("pwrite", of: "log.db-wal", error: ENOSPC)
        let full = try append(node, 1)
        #expect(full.errors.contains("E_DISK"), "\(full)")
        try faults.mend()
        #expect(try append(node, 1).code == 0)
        node.kill()
        try faults.fail("pwrite", of: "log.db-wal", error: EROFS)
        var daemon = try Tool.named("syncd")
        daemon.environment.merge(faults.environment) { $1 }
        let readOnly = try await daemon.run(["--dev", node.store])
        #expect(readOnly.code == 74 && readOnly.errors.contains("read-only"), "\(readOnly)")
    }

    @Test(
        "A disk that cannot be read is E_IO and exit 74 for every command that reads; a damaged row is E_CORRUPT and 65, verify 3"
    )
    func reading() async throws {
        let faults = try FaultInjector()
        let node = try DaemonProcess("n")
        try node.start()
        for number in 0..<20 { #expect(try append(node, number).code == 0) }
        #expect(try node.syncctl("history", "u").code == 0)
        #expect(node.terminate() == 0)
        var syncctl = try Tool.named("syncctl")
        syncctl.environment.merge(faults.environment) { $1 }
        let commands = [["export"], ["history", "u"], ["show", "5"], ["verify"], ["replay", "--all"]]
        try faults.fail("pread", of: "log.db")
        for command in commands {
            let failed = try await syncctl.run(["--store", node.store] + command)
            #expect(failed.code == 74 && failed.errors.contains("E_IO"), "\(command): \(failed)")
        }
        try faults.mend()
        do {
            let log = try Connection(path: node.store + "/log.db", mode: .write)
            try log.execute("UPDATE event SET id = x'00' WHERE position = 5")
        }
        for command in [["export"], ["show", "5"], ["replay", "--all"]] {
            let damaged = try await syncctl.run(["--store", node.store] + command)
            #expect(damaged.code == 65 && damaged.errors.contains("E_CORRUPT"), "\(command): \(damaged)")
            #expect(damaged.errors.contains("event 5: its id is not 16 bytes"), "\(damaged)")
        }
        let verified = try await syncctl.run(["--store", node.store, "verify"])
        #expect(verified.code == 3 && !verified.errors.contains("E_IO"), "\(verified)")
    }
}
