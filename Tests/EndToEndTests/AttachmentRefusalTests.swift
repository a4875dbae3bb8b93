import Foundation
import TestSupport
import Testing

/// What `syncctl attachment put` does not take, and what false claims of attachments cost others.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct AttachmentRefusalTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder.made() }

    @Test("A pipe, a folder and a device are refused at once, in both tongues, by a daemon's store and by files")
    func noFile() async throws {
        let pipe = folder.file("pipe")
        #expect(mkfifo(pipe, 0o600) == 0)
        let daemon = try DaemonProcess("n")
        try daemon.start()
        let store = folder.file("store")
        #expect(try Programs.syncctl(store, ["init"]).code == 0)
        for place in [daemon.store, store] {
            for path in [pipe, folder.path, "/dev/null", "/dev/zero"] {
                let start = Date()
                let run = try Programs.syncctl(place, ["attachment", "put", path])
                #expect(run.code == 66 && run.errors.contains("E_NOT_A_FILE"), "\(path): \(run)")
                let korean = try Programs.syncctl(place, ["attachment", "put", path, "--lang", "ko"])
                #expect(korean.code == 66 && korean.errors.contains("일반 파일이 아닙니다"), "\(path): \(korean)")
                #expect(Date().timeIntervalSince(start) < 10)
            }
            let absent = try Programs.syncctl(place, ["attachment", "put", folder.file("absent"), "--lang", "ko"])
            #expect(absent.code == 66 && absent.errors.contains("읽기 또는 쓰기에 실패했습니다"), "\(absent)")
        }
        // A link to a file is a file.
        let file = try folder.write(Data("하나".utf8), to: "file")
        try FileManager.default.createSymbolicLink(atPath: folder.file("link"), withDestinationPath: file)
        #expect(try daemon.syncctl("attachment", "put", folder.file("link")).code == 0)
    }

    @Test("syncctl waits for a place while so many attachments of the same user are coming, and puts its own then")
    func waits() throws {
        let daemon = try DaemonProcess("n")
        try daemon.start()
        let file = try folder.write(Data("하나".utf8), to: "file")
        var slow = (0..<8).map { _ in
            HandRequest(daemon, "POST", "/v1/attachments", ["Content-Length: 100000"], body: "x")
        }
        usleep(300_000)
        let done = DispatchSemaphore(value: 0)
        let code = Exit()
        let store = daemon.store
        Thread.detachNewThread {
            code.note((try? Programs.syncctl(store, ["attachment", "put", file]))?.code)
            done.signal()
        }
        #expect(done.wait(timeout: .now() + 1.5) == .timedOut, "there was no place")
        slow.removeAll()
        #expect(done.wait(timeout: .now() + 60) == .success && code.value == 0)
    }

    @Test(
        "Whoever states false lengths, or names what is nowhere, does not keep others' pictures from coming unasked (INV-12)"
    )
    func falseClaims() throws {
        let (a, b) = try makePair()
        _ = try converge(a, b)
        func post(_ items: [(digest: String, bytes: Int)]) throws {
            let list = items.map { #"{"sha256":"\#($0.digest)","bytes":\#($0.bytes)}"# }.joined(separator: ",")
            let run = try a.syncctl(
                "append", "--user", "mallory", "--type", "message.posted", "--data", #"{"attachments":[\#(list)]}"#)
            #expect(run.code == 0, "\(run.errors)")
        }
        // More than are asked for at a time, of lengths that no node takes.
        for round in 0..<6 {
            try post(
                (0..<200).map { number in
                    let digits = String(round * 1_000 + number, radix: 16)
                    return (String(repeating: "0", count: 64 - digits.count) + digits, 1 << 43)
                })
        }
        func blob(_ name: String, _ seed: UInt64, claim: Int?) throws -> (path: String, digest: String) {
            var random = SplitMix64(state: seed)
            let path = try folder.write(
                Data((0..<200_000).map { _ in UInt8(truncatingIfNeeded: random.next()) }), to: name)
            let run = try a.syncctl("attachment", "put", path, "--json")
            let digest = try #require(run.lines.first?["sha256"] as? String)
            try post([(digest, claim ?? 200_000)])
            return (path, digest)
        }
        // One whose length is stated falsely, and one of another's that is honest.
        let pictures = [try blob("false", 1, claim: 1 << 43), try blob("honest", 2, claim: nil)]
        #expect(try a.syncctl("wait", "--nodes", "2").code == 0)
        for (path, digest) in pictures {
            let there = "\(b.store)/attachments/\(digest.prefix(2))/\(digest)"
            waitWhile(every: 100_000, !FileManager.default.fileExists(atPath: there))
            #expect((try? Data(contentsOf: URL(filePath: there))) == (try Data(contentsOf: URL(filePath: path))))
        }
    }
}

/// How a program ended, told by another thread.
private final class Exit: @unchecked Sendable {
    private let lock = NSLock()
    private var code: Int32?

    func note(_ code: Int32?) { lock.withLock { self.code = code } }
    var value: Int32? { lock.withLock { code } }
}
