import Foundation
import TestSupport
import Testing

/// `peers add`, without a daemon and with one: no name is taken from a peer that has it, nothing is lost that was not named.
@Suite(.timeLimit(.minutes(5)))
struct PeerNamesTests {
    private static let one = String(repeating: "ab", count: 32)
    private static let other = String(repeating: "cd", count: 32)

    private func check(_ run: ([String]) throws -> Programs.Result) throws {
        func listed() throws -> [[String]] {
            try run(["peers", "list", "--json"]).lines.filter { $0["type"] as? String == "peer" }
                .map { [$0["name"], $0["node"], $0["address"]].compactMap { $0 as? String } }
        }
        #expect(try run(["peers", "add", "busan", Self.one + "@127.0.0.1:9"]).code == 0)
        let taken = try run(["peers", "add", "busan", Self.other])
        #expect(taken.code == 78 && taken.errors.contains("[E_NAME]"), "\(taken.errors)")
        #expect(try listed() == [["busan", Self.one, "127.0.0.1:9"]])
        #expect(try run(["peers", "add", "busan-2", Self.one]).code == 0)
        #expect(try listed() == [["busan-2", Self.one, "127.0.0.1:9"]], "a known node keeps its address")
        #expect(try run(["peers", "add", "busan", Self.other]).code == 0, "the name is free again")
        #expect(try run(["peers", "add", "busan-2", Self.one + "@127.0.0.1:10"]).code == 0)
        #expect(
            try listed().sorted { $0[0] < $1[0] } == [["busan", Self.other], ["busan-2", Self.one, "127.0.0.1:10"]])
    }

    @Test("Without a daemon: a taken name is E_NAME, and a known node keeps its address")
    func offline() throws {
        let store = TemporaryFolder.unusedPath()
        defer { try? FileManager.default.removeItem(atPath: store) }
        #expect(try Programs.syncctl(store, ["init", "--name", "n"]).code == 0)
        try check { try Programs.syncctl(store, $0) }
    }

    @Test("With a daemon, too")
    func running() throws {
        let daemon = try DaemonProcess("n")
        try daemon.start()
        try check { try Programs.syncctl(daemon.store, $0) }
    }
}
