import Foundation
import TestSupport
import Testing

/// Something else stands where the store has a file or a folder: `doctor` names it and the way out, with a daemon and without.
struct WrongKindTests {
    @Test("A folder for a file, and a file for a folder, are named with what to do")
    func named() throws {
        let node = try DaemonProcess("n")
        #expect(try node.syncctl("init", "--name", "n").code == 0)
        #expect(try node.syncctl("append", "-u", "u", "--text", "말").code == 0)
        #expect(try node.syncctl("doctor").code == 0)
        let files = FileManager.default
        for (name, action) in [
            ("views.db", "makes the file anew"), ("subs.db", "makes the file anew"),
            ("cosigned.db", "makes the file anew"), ("peers.json", "from a backup"),
            ("evidence", "from a backup"), ("attachments", "from a backup"),
        ] {
            let path = node.store + "/" + name
            let isFolder = ["evidence", "attachments"].contains(name)
            let aside = node.store + ".aside"
            let isThere = files.fileExists(atPath: path)
            if isThere { try files.moveItem(atPath: path, toPath: aside) }
            if isFolder {
                try Data("x".utf8).write(to: URL(filePath: path))
            } else {
                try files.createDirectory(atPath: path, withIntermediateDirectories: false)
            }
            let run = try node.syncctl("doctor")
            let told = "WRONG_KIND (warning): \(path) is no \(isFolder ? "folder" : "file")"
            #expect(run.code == 2 && run.output.contains(told) && run.output.contains(action), "\(run)")
            #expect(try node.syncctl("doctor", "--json").lines.first?["subject"] as? String == path)
            try files.removeItem(atPath: path)
            if isThere { try files.moveItem(atPath: aside, toPath: path) }
        }
        #expect(try node.syncctl("doctor").code == 0)
        // Beside a daemon what that says is told, too.
        try node.start()
        try files.createDirectory(atPath: node.store + "/erasures.ndjson", withIntermediateDirectories: false)
        let run = try node.syncctl("doctor", "--json")
        #expect(run.code == 2 && run.lines.contains { $0["code"] as? String == "WRONG_KIND" }, "\(run)")
        #expect(node.terminate() == 0)
    }
}
