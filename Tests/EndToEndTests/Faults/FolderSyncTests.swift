import Foundation
import TestSupport
import Testing

/// In which order names get to the disk: a file system without a journal for them may lose any that no sync of their folder covers.
@Suite(.disabled(if: FaultInjector.isMissing, "no /usr/bin/gcc to record calls with"), .timeLimit(.minutes(5)))
struct FolderSyncTests {
    @Test(
        "The folder of a new store is synced in its own; new views take their name after the old WAL's has gone from the disk"
    )
    func order() throws {
        let faults = try FaultInjector()
        let node = try DaemonProcess("n")
        try node.start(environment: faults.environment)
        #expect(try node.syncctl("append", "--user", "u", "--text", "a").code == 0)
        let folder = URL(filePath: node.store)
        let (name, parent) = (folder.lastPathComponent, folder.deletingLastPathComponent().lastPathComponent)
        func calls() -> [String] { faults.calls.filter { $0.result == 0 }.map { "\($0.call) \($0.file)" } }
        let made = calls()
        let folderMade = try #require(made.firstIndex(of: "mkdir \(name)"))
        let logMade = try #require(made.firstIndex(of: "rename log.db"))
        #expect(made[folderMade..<logMade].contains("sync-folder \(parent)"))
        #expect(made[logMade...].contains("sync-folder \(name)"))

        faults.forget()
        #expect(try node.syncctl("quarantine", "retry").code == 0)
        // On a busy machine the first views may come only now.
        func swap(_ calls: [String]) -> (gone: Int, come: Int)? {
            guard let gone = calls.firstIndex(of: "unlink views.db"),
                let come = calls[gone...].firstIndex(of: "rename views.db")
            else { return nil }
            return (gone, come)
        }
        waitWhile(swap(calls()) == nil)
        usleep(300_000)
        let swapped = calls()
        let (gone, come) = try #require(swap(swapped))
        #expect(swapped[gone..<come].contains("sync-folder \(name)"), "\(swapped)")
        #expect(swapped[come...].contains("sync-folder \(name)"), "\(swapped)")
        #expect(node.terminate() == 0)
    }
}
