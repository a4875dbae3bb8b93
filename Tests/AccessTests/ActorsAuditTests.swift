import Access
import EventStore
import TestSupport
import Testing

/// `verify --actors`: whether the tokens that events name were granted.
struct ActorsAuditTests {
    private let id = CredentialID("9f3c0a11d2e4b567")

    private func found(_ drafts: [EventDraft]) throws -> ActorsAudit {
        let folder = try TemporaryFolder.made()
        try EventStore.create(in: folder.path + "/s", name: "n")
        let store = try EventStore(opening: folder.path + "/s")
        defer { store.close() }
        for draft in drafts { _ = try store.recordBlocking([draft]) }
        var audit = ActorsAudit()
        _ = try LogReader(store.files).scan(after: 0, limit: .max) { event in
            audit.take(event)
            return true
        }
        return audit
    }

    private func grant(_ principal: String, _ roles: Set<Role>, until: Int64? = nil) throws -> EventDraft {
        let admin = try #require(EventActor(.socket, principal: "uid:0"))
        return AccessGrant(try #require(id), principal: principal, roles, until: until)
            .draft(AccessToken.random().verifier, by: admin, at: NodeID(SHA256().digest([1])))
    }

    private func message(_ author: String, by principal: String, at time: Int64? = nil) throws -> EventDraft {
        var draft = EventDraft(type: "message.posted", user: author, payload: Array(#"{"text":"안녕"}"#.utf8))
        let credential = try #require(id).text
        draft.actor = EventActor(.token, principal: principal, credential: credential)
        return draft
    }

    @Test("A token that was granted before, for this principal and author, is in order")
    func granted() throws {
        for role in [Role.user("u"), .bot("u"), .app] {
            let audit = try found([grant("p", [role]), message("u", by: "p"), message("u", by: "p")])
            #expect(audit.findings.isEmpty && audit.checked == 2)
            // The node's first event, and the grant over the socket.
            #expect(audit.asserted + audit.nameless == 2)
        }
    }

    @Test(
        "One that was never granted, or later, to another one, for another author, is over: each is named with its first event"
    )
    func contradicted() throws {
        func problem(_ drafts: [EventDraft]) throws -> (ActorsAudit.Problem?, UInt64?, UInt64?) {
            let one = try found(drafts).findings
            #expect(one.count == 1)
            return (one.first?.problem, one.first?.position, one.first?.events)
        }
        let said = try message("u", by: "p")
        #expect(try problem([said, said.again]) == (.neverGranted, 2, 2))
        #expect(try problem([said, grant("p", [.app])]) == (.neverGranted, 2, 1))
        #expect(try problem([grant("other", [.app]), said]) == (.otherPrincipal, 3, 1))
        #expect(try problem([grant("p", [.user("v")]), said]) == (.author, 3, 1))
        #expect(try problem([grant("p", [.reader]), said]) == (.author, 3, 1))
        #expect(try problem([grant("p", [.app], until: 1_000), said]) == (.over, 3, 1))
    }

    @Test("A token that was taken back a moment ago may have had a request under way; later it may not")
    func revoked() throws {
        let admin = try #require(EventActor(.socket, principal: "uid:0"))
        let back = AccessGrant.revocation(of: try #require(id), by: admin, at: NodeID(SHA256().digest([1])))
        let audit = try found([grant("p", [.app]), back, message("u", by: "p")])
        #expect(audit.findings.isEmpty)
        var late = ActorsAudit()
        let folder = try TemporaryFolder.made()
        try EventStore.create(in: folder.path + "/s", name: "n")
        let store = try EventStore(opening: folder.path + "/s")
        defer { store.close() }
        for draft in [try grant("p", [.app]), back, try message("u", by: "p")] {
            _ = try store.recordBlocking([draft])
        }
        _ = try LogReader(store.files).scan(after: 0, limit: .max) { event in
            guard event.event.header.type == "message.posted" else {
                late.take(event)
                return true
            }
            var header = event.event.header
            header.hlc = HybridTime(milliseconds: header.hlc.milliseconds + 60_001, counter: 0)
            late.take(StoredEvent(position: event.position, event: Event(header: header, body: event.event.body)))
            return true
        }
        #expect(late.findings.map(\.problem) == [.revoked])
    }
}

extension EventDraft {
    /// Another event of the same content.
    fileprivate var again: EventDraft { self }
}
