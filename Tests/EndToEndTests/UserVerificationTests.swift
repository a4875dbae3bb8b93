@testable import EventStore
import Foundation
import TestSupport
import Testing

/// `verify --user`: one user's events against signed heads, without the rest of the log (docs/operating/receipts.md).
@Suite(.timeLimit(.minutes(2)))
struct UserVerificationTests {
    private func store() throws -> String {
        let store = TemporaryFolder.unusedPath()
        #expect(try Programs.syncctl(store, ["init", "--name", "n"]).code == 0)
        let lines = (0..<6).map {
            #"{"type":"message.posted","user":"\#($0 % 2 == 0 ? "가영" : "u-2")","subject":"conversation/c","data":{"text":"말 \#($0)"}}"#
        }
        #expect(try Programs.syncctl(store, ["append", "-"], input: lines.joined(separator: "\n")).code == 0)
        return store
    }

    @Test("All events of one user are proven, of a name in Korean too; of nobody nothing is")
    func proven() throws {
        let store = try store()
        let run = try Programs.syncctl(store, ["verify", "--user", "가영", "--json"])
        let end = try #require(run.lines.last)
        #expect(run.code == 0 && end["answer"] as? String == "proven" && end["events"] as? Int == 3, "\(run.output)")
        #expect(end["user"] as? String == "가영" && end["position"] as? Int == 7)
        #expect(run.lines.first?["type"] as? String == "origin" && run.lines.first?["size"] as? Int == 7)
        let nobody = try Programs.syncctl(store, ["verify", "--user", "가"])
        #expect(nobody.code == 1 && nobody.errors.contains("가"), "\(nobody.errors)")
    }

    @Test("A changed event of the user is told, with the exit code of a contradiction (INV-4)")
    func changed() throws {
        let store = try store()
        let log = try Connection(path: store + "/log.db", mode: .write)
        try log.execute("UPDATE event SET payload = replace(payload, '말 1', '거짓') WHERE position = 3")
        let told = try Programs.syncctl(store, ["verify", "--user", "u-2"])
        #expect(told.code == 3 && told.errors.contains("E_CORRUPT"), "\(told.output)\(told.errors)")
        #expect(!told.output.contains("PROVEN"))
    }

    @Test(
        "What is about all events does not go with one user's",
        arguments: ["--views", "--actors", "--daemon", "--diff"])
    func refused(_ option: String) throws {
        let store = TemporaryFolder.unusedPath()
        let run = try Programs.syncctl(store, ["verify", "--user", "u", option])
        #expect(run.code == 64 && run.errors.contains(option), "\(run.errors)")
    }
}
