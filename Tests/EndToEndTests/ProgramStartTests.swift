import Foundation
import TestSupport
import Testing

/// The programs' own start and death.
struct ProgramStartTests {
    /// Runs a shell command where /proc is empty; `nil` where that is not permitted.
    private func withoutProc(_ command: String, in folder: TemporaryFolder) async throws -> Tool.Run? {
        let shell = Tool(path: "/bin/sh")
        let hide = "mount -t tmpfs none /proc && test ! -e /proc/self"
        for unshare in ["unshare -m", "unshare -rm"] {
            guard try await shell.run(["-c", "\(unshare) sh -c '\(hide)'"]).code == 0 else { continue }
            return try await shell.run(
                ["-c", "\(unshare) sh -c '\(hide) && \(command)'"], in: folder.file(""))
        }
        print("skipped: no mount namespaces here")
        return nil
    }

    @Test("Where /proc cannot be read the words of the command line still count")
    func argumentsWithoutProc() async throws {
        let folder = try TemporaryFolder.made()
        let (syncd, syncctl) = (try Tool.named("syncd").path, try Tool.named("syncctl").path)
        guard let version = try await withoutProc("\(syncd) --version", in: folder) else { return }
        #expect(version.code == 0 && version.text.hasPrefix("syncd "), "\(version.errors)")
        let made = try await withoutProc("\(syncctl) init --store \(folder.file("store")) --name n", in: folder)
        #expect(made?.code == 0, "\(made?.errors ?? "")")
        #expect(FileManager.default.fileExists(atPath: folder.file("store/log.db")))
        let wrong = try await withoutProc("\(syncd) --no-such-option", in: folder)
        #expect(wrong?.code == 64)
    }

    @Test("A daemon whose store a command has at that moment waits for its end")
    func besideACommand() throws {
        let node = try DaemonProcess("n")
        try node.start()
        #expect(node.terminate() == 0)
        // As a query has it that brings the views up to date.
        let lock = open(node.store + "/lock", O_RDWR | O_CLOEXEC)
        #expect(flock(lock, LOCK_EX | LOCK_NB) == 0)
        let owner = Array("syncctl pid 1\n".utf8)
        #expect(pwrite(lock, owner, owner.count, 0) == owner.count)
        let command = Thread {
            usleep(700_000)
            ftruncate(lock, 0)
            close(lock)
        }
        command.start()
        try node.start()
        #expect(node.terminate() == 0)
    }

    @Test(
        "A start that is refused, for an address that another process has, leaves the views as proven as they were",
        arguments: ["peers", "metrics"])
    func refusedStart(section: String) async throws {
        let node = try DaemonProcess("n")
        try node.start()
        #expect(node.terminate() == 0)
        let taken = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(taken) }
        var address = sockaddr_in()
        (address.sin_family, address.sin_addr.s_addr) = (sa_family_t(AF_INET), UInt32(0x7F00_0001).bigEndian)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let port = withUnsafeMutablePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                guard bind(taken, address, length) == 0, listen(taken, 1) == 0 else { return UInt16(0) }
                return getsockname(taken, address, &length) == 0
                    ? address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                        UInt16(bigEndian: $0.pointee.sin_port)
                    } : 0
            }
        }
        #expect(port != 0)
        var syncd = try Tool.named("syncd")
        syncd.environment["SYNCD_\(section.uppercased())__LISTEN"] = "127.0.0.1:\(port)"
        let refused = try await syncd.run(["--data-dir", node.store, "--socket", "none"])
        #expect(refused.code == 69, "\(refused.code) \(refused.errors)")
        let mark = try String(contentsOfFile: node.store + "/views.mark", encoding: .utf8)
        #expect(mark.hasPrefix("closed "), "\(mark)")
    }

    @Test("What root reads of a node that has stopped leaves its views as they were left (INV-11)")
    func readingLeavesNothing() async throws {
        let node = try DaemonProcess("n")
        try node.start()
        _ = try node.syncctl("append", "--user", "u", "--text", "말")
        #expect(node.terminate() == 0)
        func changed() -> timespec {
            var entry = stat()
            return stat(node.store + "/views.db-wal", &entry) == 0 ? entry.st_ctim : timespec()
        }
        // What the views lacked at the end comes into them once.
        _ = try node.syncctl("history", "u")
        let before = changed()
        for _ in 0..<2 {
            let read = try await Tool.named("syncctl").run(["history", "u", "--store", node.store])
            #expect(read.code == 0 && read.text.contains("말") && !read.errors.contains("anew"), "\(read.errors)")
        }
        let after = changed()
        #expect(before.tv_sec > 0 && (before.tv_sec, before.tv_nsec) == (after.tv_sec, after.tv_nsec))
    }

    @Test("A program that is started without any word, its own name neither, refuses")
    func noArguments() async throws {
        let script = "import os; os.execve('\(try Tool.named("syncctl").path)', [], {})"
        let python = Tool(path: "/usr/bin/env")
        // Linux gives an empty name in place of none (since 5.18): then the program says what it can do.
        let run = try await python.run(["python3", "-c", script])
        if run.code == 127 { return print("skipped: no python3") }
        #expect(run.code == 64 || run.code == 0 || run.errors.contains("ValueError"), "\(run.code) \(run.errors)")
    }

    @Test(
        "A crash says its signal and its frames in one line, and ends the process by that signal",
        arguments: [
            ("SIGILL", SIGILL), ("SIGSEGV", SIGSEGV), ("SIGTRAP", SIGTRAP), ("SIGBUS", SIGBUS), ("SIGABRT", SIGABRT),
        ])
    func crash(name: String, signal: Int32) throws {
        let daemon = try DaemonProcess("n")
        // Tests run with the reports of Swift's runtime, which take the place of ours.
        try daemon.start(isTalking: true, environment: ["SWIFT_BACKTRACE": "enable=no"])
        #expect(daemon.end(with: signal) == signal)
        let lines = daemon.said.split(separator: "\n").filter { $0.contains("crashed") }
        #expect(lines.count == 1)
        let line = try #require(lines.first)
        #expect(
            line.hasPrefix("syncd: crashed: \(name) (") && line.contains("[E_CRASH] at ") && line.contains(" frames ")
        )
        let frames = line.components(separatedBy: " frames ")[1].split(separator: " ")
        #expect(frames.count > 2 && frames.allSatisfy { $0.hasPrefix("0x") || $0.hasPrefix("@0x") }, "\(line)")
        // What was acknowledged before is there.
        try daemon.start()
        #expect(daemon.terminate() == 0)
    }
}
