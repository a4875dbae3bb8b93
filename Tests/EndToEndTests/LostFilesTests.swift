import Foundation
import TestSupport
import Testing

/// A daemon whose files are replaced or removed under it says so and ends: what it would acknowledge would never be found again (INV-1).
@Suite(.timeLimit(.minutes(5)))
struct LostFilesTests {
    private func started() throws -> DaemonProcess {
        let node = try DaemonProcess("n")
        try node.start(isTalking: true)
        #expect(try append(node).code == 0)
        return node
    }

    private func append(_ node: DaemonProcess) throws -> Programs.Result {
        try Programs.syncctl(node.store, ["append", "--user", "u", "--text", "말"])
    }

    private static let losses: [(name: String, words: String, body: @Sendable (String) throws -> Void)] = [
        (
            "another log in its place", "log.db was replaced",
            { store in
                try FileManager.default.copyItem(atPath: store + "/log.db", toPath: store + "/old.db")
                #expect(rename(store + "/old.db", store + "/log.db") == 0)
            }
        ),
        (
            "everything removed", "log.db was taken away",
            { store in
                for name in try FileManager.default.contentsOfDirectory(atPath: store) where name != "api.sock" {
                    // The daemon may be faster with its own files.
                    try? FileManager.default.removeItem(atPath: store + "/" + name)
                }
            }
        ),
        // A command that comes before the daemon has looked makes another one.
        ("the WAL removed", "log.db-wal was ", { store in unlink(store + "/log.db-wal") }),
        ("the lock removed", "lock was taken away", { store in unlink(store + "/lock") }),
    ]

    @Test(
        "Within moments nothing more is acknowledged, the log says why, and the daemon ends with 74",
        arguments: losses.indices)
    func lost(_ index: Int) throws {
        let loss = Self.losses[index]
        let node = try started()
        try loss.body(node.store)
        usleep(1_500_000)
        // Without its lock the store is whole: a command that comes after the daemon may have it.
        if loss.words != "lock was taken away" {
            let late = try append(node)
            #expect(late.code != 0, "\(loss.name): \(late)")
        }
        #expect(node.exitCode() == 74, "\(loss.name)")
        #expect(node.said.contains(loss.words) && node.said.contains("ending with code 74"), "\(node.said)")
        // What stands there now may be another's.
        #expect(!FileManager.default.fileExists(atPath: node.store + "/disk-failed.json"))
    }

    @Test(
        "Views that are taken away or replaced under the daemon are built anew, and no file gets its mark that it did not write (INV-10)",
        arguments: [false, true])
    func views(isReplaced: Bool) throws {
        let node = try started()
        let api = APIClient(socket: node.store + "/api.sock")
        func texts() -> Int? {
            guard let answer = api.ask("GET", "/v1/users/u/history?limit=500"), answer.0 == 200 else { return nil }
            return answer.1.count - 1
        }
        let old = node.store + "/old.db"
        #expect(texts() == 1)
        try FileManager.default.copyItem(atPath: node.store + "/views.db", toPath: old)
        #expect(try append(node).code == 0 && texts() == 2)
        for suffix in ["", "-wal", "-shm"] { unlink(node.store + "/views.db" + suffix) }
        if isReplaced { #expect(rename(old, node.store + "/views.db") == 0) }
        var found: Int?
        for _ in 0..<1_200 where found != 2 {
            usleep(50_000)
            // A reader may have the old file open still.
            found = node.said.contains("the views are built anew") ? texts() : nil
        }
        #expect(found == 2, "\(node.said)")
        #expect(try append(node).code == 0 && texts() == 3)
        // Again, and the end comes before it has looked.
        for suffix in ["", "-wal", "-shm"] { unlink(node.store + "/views.db" + suffix) }
        if isReplaced {
            try FileManager.default.copyItem(atPath: node.store + "/log.db", toPath: node.store + "/views.db")
        }
        #expect(node.terminate() == 0)
        unlink(old)
        try node.start()
        #expect(texts() == 3)
        #expect(node.terminate() == 0)
        let verified = try Programs.syncctl(node.store, ["verify", "--views"])
        #expect(verified.code == 0, "\(verified)")
    }

    @Test("A daemon that is told to stop before it has looked does not call that an end in order")
    func stopped() throws {
        let node = try started()
        try Self.losses[0].body(node.store)
        #expect(node.terminate() == 74)
        #expect(node.said.contains("log.db was replaced") && !node.said.contains(" stopped"), "\(node.said)")
    }

    @Test("While the views of a log are built anew, the status says so and what the start has found")
    func status() throws {
        let node = try started()
        #expect(node.terminate() == 0)
        let lines = (1...80_000).map {
            #"{"type":"message.posted","source":"/t","recordid":"\#($0)","subject":"conversation/c-\#($0 % 7)","user":"u","#
                + #""time":"2026-08-01T00:00:10Z","data":{"text":"말 \#($0)"}}"#
        }
        let taken = try Programs.syncctl(node.store, ["import", "-"], input: lines.joined(separator: "\n"))
        #expect(taken.code == 0, "\(taken.errors)")
        // A copy begins a new origin, which the operator has to look at, and its views are not those that this file had.
        let copy = try DaemonProcess("n")
        try FileManager.default.copyItem(atPath: node.store, toPath: copy.store)
        try copy.start()
        let status = try copy.status()
        #expect(status["rebuilding"] as? Bool == true, "\(status)")
        #expect((status["notices"] as? [[String: Any]])?.first?["code"] as? String == "NEW_ORIGIN", "\(status)")
        // Whether it is settled already stands in the views: until they do, no one can say.
        for _ in 0..<3_000 {
            let settled = try copy.syncctl("doctor", "settle", "NEW_ORIGIN")
            if settled.code == 0 { break }
            #expect(settled.code == 75 && settled.errors.contains("built anew"), "\(settled)")
            usleep(20_000)
        }
        #expect(try copy.syncctl("doctor").code == 0)
    }
}
