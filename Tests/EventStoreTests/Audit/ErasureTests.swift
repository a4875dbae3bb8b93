import Foundation
import TestSupport
import Testing

@testable import EventStore

/// Only an erasure lets a payload go (D27, INV-4), and only nodes write erasures.
struct ErasureTests {
    private func erase(_ folder: TemporaryFolder, position: Int64) throws {
        let files = StoreFiles(folder.path)
        let event = try #require(try LogReader(files).event(at: UInt64(position))).event
        let update = try Connection(path: files.log, mode: .write).statement(
            "UPDATE event SET payload = NULL, salt = NULL, digest = ? WHERE position = ?")
        try update.bind(1, blob: SHA256().payloadDigest(event.body).bytes)
        try update.bind(2, position)
        try update.run()
    }

    private func made(_ record: (EventStore) throws -> Void) throws -> TemporaryFolder {
        let (folder, store) = try makeStore()
        _ = try store.appendBlocking([
            .message("하나", user: "u-1", conversation: "c-1"), .message("둘", user: "u-2", conversation: "c-1"),
        ])
        try record(store)
        _ = try store.appendBlocking([.message("나중", user: "u-1", conversation: "c-1")])
        store.close()
        return folder
    }

    @Test("A payload taken away with nothing but a write to the file is found, and listed for healing")
    func withoutAuthority() throws {
        let folder = try made { _ in }
        #expect(try verify(folder).answer == .proven)
        try erase(folder, position: 2)
        let report = try verify(folder)
        #expect(report.answer == .contradicted && report.erased == 1, report.text)
        #expect(report.findings.map(\.check) == [.erasures] && report.findings.first?.position == 2, report.text)
        let reader = try LogReader(StoreFiles(folder.path))
        let own = try StoreIdentity(reader).origin
        #expect(try reader.uncoveredErasures() == [Dot(origin: own, seq: 2)])
    }

    @Test("An erasure covers what its user, or its conversation, said before it, and nothing else")
    func covered() throws {
        let byUser = EventDraft(type: "user.erased", user: "u-1", payload: Array("{}".utf8))
        let named = EventDraft(type: "user.erased", user: "operator", payload: Array(#"{"user":"u-1"}"#.utf8))
        let talk = EventDraft(
            type: "conversation.erased", conversation: "c-1", user: "operator", payload: Array("{}".utf8))
        for (draft, covered, others) in [(byUser, [2], [3, 5]), (named, [2], [3, 5]), (talk, [2, 3], [5])] {
            let folder = try made { _ = try $0.recordBlocking([draft]) }
            for position in covered { try erase(folder, position: Int64(position)) }
            let report = try verify(folder)
            #expect(report.answer == .proven, report.text)
            #expect(try LogReader(StoreFiles(folder.path)).uncoveredErasures().isEmpty)
            for position in others { try erase(folder, position: Int64(position)) }
            #expect(try verify(folder).count(of: .erasures) == UInt64(others.count), "\(draft.type)")
        }
    }

    @Test("A peer's erasure covers what that peer has recorded, and of others nothing: they are healed (INV-4)")
    func ofOthers() throws {
        let folder = try made { store in
            // Recorded after every event of this node.
            var peer = ForeignOrigin(1, name: "busan-1", since: WallClock.now + 10_000)
            peer.add(.message("부산", user: "u-1", conversation: "c-1"), isErased: true)
            let erasure = EventDraft(type: "user.erased", user: "u-1", payload: Array("{}".utf8))
            peer.add(erasure)
            peer.add(
                EventDraft(type: "conversation.erased", conversation: "c-1", user: "p", payload: Array("{}".utf8)))
            try peer.send(to: store)
        }
        #expect(try verify(folder).answer == .proven)
        try erase(folder, position: 2)
        let report = try verify(folder)
        #expect(report.findings.map(\.check) == [.erasures] && report.findings.first?.position == 2, report.text)
        let reader = try LogReader(StoreFiles(folder.path))
        #expect(try reader.uncoveredErasures() == [Dot(origin: try StoreIdentity(reader).origin, seq: 2)])
    }

    @Test("An erasure of another form proves nothing and damages nothing: no text, half a pair, no payload at all")
    func ofAnotherForm() throws {
        for payload in [
            #"{"user":5}"#, #"{"user":null}"#, #"{"user":{"a":1}}"#, #"{"user":"\ud800"}"#, #"{"user":""}"#,
            "[1,\u{1}]",
            String(repeating: "[", count: 200_000), #"{"user":"u-1","user":"u-1"}"#,
            #"{"user":\#(String(repeating: "9", count: 5_000))}"#,
        ] {
            let folder = try made { store in
                var peer = ForeignOrigin(1, name: "busan-1", since: WallClock.now + 10_000)
                peer.add(.message("부산", user: "u-1", conversation: "c-1"), isErased: true)
                peer.add(EventDraft(type: "user.erased", user: "u-1", payload: Array(payload.utf8)))
                try peer.send(to: store)
            }
            let report = try verify(folder)
            #expect(report.findings.map(\.check) == [.erasures] && report.unsigned == 0, "\(payload.prefix(40))")
        }
    }

    @Test(
        "Reserved types are refused in appends, each by itself and in a batch",
        arguments: [
            "origin.started", "origin.anything", "user.erased", "conversation.erased", "access.granted",
            "subscription.made", "finding.settled",
        ])
    func reserved(type: String) throws {
        let (folder, store) = try makeStore()
        defer { withExtendedLifetime(folder) { store.close() } }
        let draft = EventDraft(type: type, user: "u", payload: Array("{}".utf8))
        for atomicity in [Atomicity.each, .whole] {
            let outcomes = try store.appendBlocking([draft], atomicity: atomicity)
            guard case .rejected(let rejection) = outcomes.first else {
                Issue.record("\(outcomes)")
                continue
            }
            #expect(rejection.code == "E_RESERVED" && rejection.description.contains(type))
        }
        let mixed = try store.appendBlocking([.message("말", user: "u"), draft], atomicity: .each)
        #expect(mixed[0].receipt != nil && mixed[1].receipt == nil)
        // The node itself may.
        #expect(try store.recordBlocking([draft])[0].receipt != nil)
    }

    @Test(
        "Types that only look like them are free",
        arguments: ["original.text", "users.erased", "user.erasedness", "access"])
    func free(type: String) throws {
        let (folder, store) = try makeStore()
        defer { withExtendedLifetime(folder) { store.close() } }
        let draft = EventDraft(type: type, user: "u", payload: Array("{}".utf8))
        #expect(try store.appendBlocking([draft])[0].receipt != nil)
    }
}
