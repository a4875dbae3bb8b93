import EventStore
import Foundation
import TestSupport
import Testing

/// A rollback journal beside a database of the store: no node makes one there, and one that another hand has put there holds up
/// nothing.
@Suite(.timeLimit(.minutes(5)))
struct StrayJournalTests {
    private func plant(_ path: String) throws {
        try Data(repeating: 0x78, count: 4_096).write(to: URL(filePath: path))
    }

    @Test(
        "One stops neither readers nor the start nor appends, and costs no event (INV-1)",
        arguments: ["log.db-journal", "views.db-journal", "views.new-journal"])
    func killed(name: String) throws {
        let node = try DaemonProcess("n")
        try node.start(isTalking: true)
        for number in 1...3 { #expect(try node.syncctl("append", "--user", "u", "--text", "m\(number)").code == 0) }
        #expect(try node.verified() == 0)
        node.kill()
        let path = node.store + "/" + name
        try plant(path)
        for command in [["verify"], ["verify", "--views"], ["history", "u"], ["export"]] {
            let run = try Programs.syncctl(node.store, command)
            #expect(run.code == 0, "\(command): \(run)")
        }
        try plant(path)
        try node.start(isTalking: true)
        #expect(!FileManager.default.fileExists(atPath: path))
        #expect(try node.syncctl("append", "--user", "u", "--text", "later").code == 0)
        #expect(try node.syncctl("history", "u").output.contains("later"))
        let kept = (try? FileManager.default.contentsOfDirectory(atPath: node.store + "/evidence")) ?? []
        #expect(kept.count { $0.hasPrefix("log.db-journal.") } == (name == "log.db-journal" ? 1 : 0), "\(kept)")
        #expect(node.said.contains("/evidence/log.db-journal.") == (name == "log.db-journal"), "\(node.said)")
        #expect(node.terminate() == 0)
        #expect(try node.verified() == 0 && node.syncctl("export").output.split(separator: "\n").count == 5)
    }

    @Test(
        "A folder or a link in its place is no hindrance either", arguments: ["log.db-journal", "views.db-journal"])
    func oddKinds(name: String) throws {
        let folder = TemporaryFolder()
        #expect(try Programs.syncctl(folder.path, ["init", "--name", "n"]).code == 0)
        for make in [{ mkdir($0, 0o700) }, { symlink("/etc/passwd", $0) }, { mkfifo($0, 0o600) }]
            as [(String) -> Int32]
        {
            #expect(make(folder.file(name)) == 0)
            #expect(try Programs.syncctl(folder.path, ["append", "--user", "u", "--text", "a"]).code == 0)
            #expect(try Programs.syncctl(folder.path, ["history", "u"]).code == 0)
        }
        #expect(try Programs.syncctl(folder.path, ["verify"]).code == 0)
    }

    @Test(
        "A log that was never open, and is in no WAL mode yet, opens beside one; an interrupted creation is begun anew"
    )
    func fresh() throws {
        let folder = try TemporaryFolder.made()
        for name in ["log.new", "log.new-journal"] { try plant(folder.file(name)) }
        try EventStore.create(in: folder.path, name: "n")
        try plant(folder.file("log.db-journal"))
        #expect(try Programs.syncctl(folder.path, ["export"]).code == 0)
        let store = try EventStore(opening: folder.path)
        _ = try store.appendBlocking([
            EventDraft(type: "message.posted", user: "u", payload: Array(#"{"text":"a"}"#.utf8))
        ])
        store.close()
        #expect(try Programs.syncctl(folder.path, ["verify"]).code == 0)
    }
}
