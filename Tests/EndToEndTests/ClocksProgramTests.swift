import Foundation
import Testing

@testable import EventStore

@Suite(.serialized)
struct ClocksProgramTests {
    @Test("syncctl clocks shows the peers' offsets, and origins whose stamps were wrong")
    func clocks() throws {
        let (a, b) = try makePair()
        _ = try converge(a, b)
        let fine = try b.syncctl("clocks", "--json")
        #expect(fine.code == 0)
        let peer = try #require(fine.lines.first)
        #expect(peer["type"] as? String == "clock" && peer["name"] as? String == "a")
        #expect(abs(peer["clock_offset_ms"] as? Int ?? .max) < 5_000)
        #expect(try b.syncctl("clocks").output.contains("OFFSET"))

        // An hour in which the clock of a was a day ahead.
        #expect(a.terminate() == 0)
        let wrong = try EventStore(
            opening: a.store, surroundings: .found(around: StoreFiles(a.store)),
            wall: { WallClock.now + 86_400_000 })
        _ = try wrong.appendBlocking([EventDraft(type: "t", user: "u", payload: Array("{}".utf8))])
        let origin = wrong.identity.origin.description
        wrong.close()
        let evidence = try a.syncctl("export", "--evidence").output
        #expect(b.terminate() == 0)
        let imported = try b.syncctl("import", "--evidence", "-", input: evidence)
        #expect(imported.code == 0, "\(imported.errors)")
        try b.start()
        let flagged = try b.syncctl("clocks", "--json")
        #expect(flagged.code == 2)
        let flag = try #require(flagged.lines.first { $0["type"] as? String == "flagged" })
        #expect(flag["origin"] as? String == origin && flag["is_ahead"] as? Bool == true)
        #expect(try b.syncctl("clocks", "--plain").output.contains("Flagged: origin \(origin)"))
        #expect(try b.syncctl("doctor").output.contains("CLOCK"))
        try a.start()
        #expect(try b.syncctl("peers", "add", "a", "\(a.node())@127.0.0.1:\(a.port())").code == 0)
        // Its peers confirm that its clock is right now: it goes on with a new origin, and stamps that can be true.
        var own: [String] = []
        for _ in 0..<600 {
            own = try a.syncctl("doctor", "--json").lines.compactMap { $0["code"] as? String }
            if own.contains("NEW_ORIGIN") { break }
            usleep(100_000)
        }
        #expect(own.contains("NEW_ORIGIN"))
        #expect(try a.syncctl("append", "-u", "u", "--text", "지금").code == 0)
        _ = try converge(a, b)
        // What is over is told as that, though its stamps are ahead for a day.
        #expect(try b.syncctl("clocks", "--json").code == 0)
        let over = try #require(try b.syncctl("doctor", "--json").lines.first { $0["code"] as? String == "CLOCK" })
        let text = over["text"] as? String ?? ""
        #expect(over["severity"] as? String == "information" && over["action"] as? String == "", "\(over)")
        #expect(text.contains("that is over: the node has gone on with origin") && text.contains("Z; "), "\(text)")
        #expect(try [a, b].allSatisfy { try $0.verified() == 0 })
    }
}
