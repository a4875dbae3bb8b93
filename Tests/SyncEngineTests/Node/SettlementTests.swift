import Foundation
import TestSupport
import Testing

@testable import EventStore
@testable import SyncEngine

/// What settles a finding, and what does not.
@Suite(.serialized)
struct SettlementTests {
    private func notice(
        _ code: NodeNotice.Code, _ subject: String, at: Int64, _ matter: NodeNotice.Matter = .moment
    ) -> NodeNotice {
        NodeNotice(code, .warning, subject: subject, "text", action: "", at: at, matter)
    }

    private func settled(_ drafts: [EventDraft], _ node: TestNode) throws -> [Settlement] {
        _ = try node.store.recordBlocking(drafts)
        return try settlements(node)
    }

    private func settlements(_ node: TestNode) throws -> [Settlement] {
        _ = try Projector.catchUp(node.store.files)
        return try Settlement.all(in: ViewReader(node.store.files))
    }

    @Test("A settlement speaks of its code and subject; what can happen again is open again when it does")
    func scope() throws {
        let a = try TestNode("a")
        let node = a.store.identity.node
        func draft(_ code: String, _ subject: String, _ of: String, at: NodeID) -> EventDraft {
            Settlement.draft(code: code, subject: subject, of: of, note: "메모", at: at)
        }
        let stranger = try #require(NodeID(bytes: [UInt8](repeating: 7, count: 32)))
        let all = try settled(
            [
                draft("FORK", "o-1", "fork-1", at: node), draft("DUPLICATE_NODE_ID", "n-1", "", at: node),
                draft("FORK", "o-2", "fork-2", at: stranger),
            ], a)
        #expect(Set(all.map(\.subject)) == ["o-1", "n-1"], "not what another node is made to say")
        #expect(all.allSatisfy { $0.node == node && $0.note == "메모" })

        let now = try #require(all.first).at
        func isSettled(
            _ code: NodeNotice.Code, _ subject: String, _ after: Int64, _ matter: NodeNotice.Matter = .moment
        ) -> Bool {
            notice(code, subject, at: now + after, matter).settlement(among: all) != nil
        }
        #expect(isSettled(.fork, "o-1", 1_000, .once(["fork-1"], since: now + 1_000)), "of this fork there is one")
        #expect(!isSettled(.fork, "o-1", -1, .once(["fork-1", "fork-3"], since: now - 1)), "a second fork")
        #expect(!isSettled(.fork, "o-3", -1, .once(["fork-1"], since: now - 1)))
        #expect(!isSettled(.amnesia, "o-1", -1, .once(["fork-1"], since: now - 1)))
        #expect(isSettled(.duplicateNodeID, "n-1", -1))
        #expect(!isSettled(.duplicateNodeID, "n-1", 1_000), "it happened again")
        #expect(!isSettled(.duplicateNodeID, "n-1", -1, .state), "a state ends by itself")
        a.stop()
    }

    @Test("What a store found of itself only its own node settles; a fork any node but the one that made it (INV-8)")
    func whose() throws {
        let a = try TestNode("a")
        let b = try TestNode("b", peers: [a.peer()])
        let c = try TestNode("c", peers: [a.peer()])
        a.node.setPeers([b.peer(calling: false), c.peer(calling: false)])
        let nodes = [a, b, c]
        func name(_ node: TestNode) -> String { node.store.identity.name }
        let (origin, forked) = (a.store.identity.origin.description, b.store.identity.origin.description)
        #expect(try eventually { try nodes.allSatisfy { try $0.vector().entries.count == 3 } })
        func draft(_ code: NodeNotice.Code, _ subject: String, at node: TestNode) -> EventDraft {
            Settlement.draft(
                code: code.rawValue, subject: subject, of: "x", note: name(node), at: node.store.identity.node)
        }
        let own = NodeNotice.Code.allCases.filter { ![.fork, .clock].contains($0) }
        for node in nodes {
            let drafts = own.map { draft($0, origin, at: node) } + [draft(.fork, forked, at: node)]
            _ = try node.store.recordBlocking(drafts)
        }
        #expect(try eventually { try a.vector() == b.vector() && a.vector() == c.vector() })
        for node in nodes {
            let all = try settlements(node)
            for code in own {
                #expect(
                    all.filter { $0.code == code.rawValue }.map(\.note) == [name(node)], "\(code) at \(name(node))")
            }
            let forks = Set(all.filter { $0.code == "FORK" }.map(\.note))
            #expect(forks == (node === b ? ["a", "b", "c"] : ["a", "c"]), "at \(name(node))")
        }
        // Of an origin that is not here no other node can know.
        _ = try b.store.recordBlocking([draft(.fork, OriginID.random().description, at: b)])
        #expect(try eventually { try a.vector() == b.vector() })
        #expect(try settlements(a).allSatisfy { $0.note != "b" })
        for node in nodes { node.stop() }
    }

    @Test("What has not happened cannot be settled: without a name only what came about before counts")
    func beforehand() throws {
        let a = try TestNode("a")
        let payload = Array(#"{"code":"FORK","subject":"o-1","note":"nothing to see"}"#.utf8)
        let earlier = EventDraft(type: Settlement.type, user: "node/\(a.store.identity.node)", payload: payload)
        let guess = Settlement.draft(
            code: "AMNESIA", subject: "o-1", of: "", note: "", at: a.store.identity.node)
        let all = try settled([earlier, guess], a)
        let at = try #require(all.first).at
        for (code, since, isSettled) in [
            (NodeNotice.Code.fork, at - 5, true), (.fork, at + 5, false), (.amnesia, at - 5, false),
        ] {
            let notice = notice(code, "o-1", at: at - 10, .once(["its name"], since: since))
            #expect((notice.settlement(among: all) != nil) == isSettled, "\(code) \(since)")
        }
        a.stop()
    }

    @Test("A wrong clock is settled up to a stamp that was there, by another node; worse stamps are open again")
    func clocks() throws {
        let clock = TestClock()
        let year: Int64 = 365 * 86_400_000
        clock.set(10 * year)
        let a = try TestNode("a", wall: clock.wall)
        let b = try TestNode("b", peers: [a.peer()])
        a.node.setPeers([b.peer(calling: false)])
        let wrong = a.store.identity.origin
        func notice() throws -> NodeNotice? {
            try NodeNotice.flagged(LogReader(b.store.files), wall: WallClock.now).first {
                $0.subject == wrong.description
            }
        }
        func isSettled() throws -> Bool { try notice()?.settlement(among: settlements(b)) != nil }
        try a.append(3)
        #expect(try eventually { try a.vector() == b.vector() && notice() != nil })

        // The node itself, and one that names a stamp that is to come.
        let of = try #require(try notice()?.of)
        let last = try #require(try LogReader(a.store.files).event(at: 4)).event.header.hlc
        let later = HybridTime(milliseconds: last.milliseconds + year, counter: 0)
        func settle(_ node: TestNode, _ of: String?) throws {
            var payload = #"{"code":"CLOCK","subject":"\#(wrong)""#
            if let of { payload += #","of":"\#(of)""# }
            let user = "node/\(node.store.identity.node)"
            _ = try node.store.recordBlocking([
                EventDraft(type: Settlement.type, user: user, payload: Array((payload + "}").utf8))
            ])
        }
        try settle(a, of)
        try settle(a, nil)
        #expect(try eventually { try a.vector() == b.vector() })
        #expect(try !isSettled(), "nobody settles what is wrong with his own clock")
        #expect(try settlements(a).isEmpty, "not for itself either")
        try settle(b, "900 \(later)")
        try settle(b, "4 \(later)")
        #expect(try !isSettled(), "no such stamp")
        let now = try #require(try notice()?.of)
        try settle(b, now)
        #expect(try isSettled())
        try a.append(1)
        #expect(try eventually { try a.vector() == b.vector() })
        #expect(try isSettled(), "as wrong as before")
        clock.set(11 * year)
        try a.append(1)
        #expect(try eventually { try a.vector() == b.vector() })
        #expect(try !isSettled(), "worse than what was settled")
        a.stop()
        b.stop()
    }
}
