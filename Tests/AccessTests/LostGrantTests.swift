import TestSupport
import Testing

@testable import Access
@testable import EventStore

/// Grants and revocations whose payloads a hand has taken away (INV-17).
struct LostGrantTests {
    private struct Given {
        let folder = TemporaryFolder()
        let store: EventStore
        let actor: EventActor
        var files: StoreFiles { store.files }

        init() throws {
            try EventStore.create(in: folder.path, name: "n")
            store = try EventStore(opening: folder.path)
            actor = try #require(EventActor(.socket, principal: "uid:0"))
        }

        func grant(_ principal: String) throws -> AccessToken {
            let token = AccessToken.random()
            let grant = AccessGrant(token.id, principal: principal, [.reader])
            _ = try store.recordBlocking([grant.draft(token.verifier, by: actor, at: store.identity.node)])
            return token
        }

        func revoke(_ token: AccessToken) throws {
            _ = try store.recordBlocking([
                AccessGrant.revocation(of: token.id, by: actor, at: store.identity.node)
            ])
        }

        /// Takes the payload of the only event of a type away that says `words`, as a hand does; returns its body.
        func empty(_ type: String, saying words: String) throws -> (position: UInt64, body: EventBody) {
            var found: (UInt64, EventBody)?
            try LogReader(files).scan(after: 0, limit: .max) { stored in
                let text = String(decoding: stored.event.payload ?? [], as: UTF8.self)
                let isIt = stored.event.header.type == type && text.contains(words)
                if isIt { found = (stored.position, stored.event.body) }
                return true
            }
            let (position, body) = try #require(found)
            try Connection(path: files.log, mode: .write).run(
                "UPDATE event SET salt = NULL, payload = NULL, digest = ? WHERE position = ?",
                .blob(SHA256().payloadDigest(body).bytes), .unsigned(position))
            return (position, body)
        }

        func read(_ records: inout AccessRecords) throws {
            _ = try Projector.catchUp(files)
            try records.update(ViewReader(files))
        }
    }

    @Test("A revocation that cannot be read may be of any token before it: none of these counts until it is back")
    func revocation() throws {
        let given = try Given()
        let now = WallClock.now
        let (first, second) = (try given.grant("a"), try given.grant("b"))
        try given.revoke(first)
        let third = try given.grant("c")
        let (position, body) = try given.empty(AccessGrant.revoked, saying: first.id.text)
        var records = AccessRecords(own: given.store.identity.node, trustsPeers: true)
        try given.read(&records)
        #expect(records.lost == 1)
        for token in [first, second] {
            #expect(records.grant(of: token, at: now) == nil && !records.stands(token.id, at: now))
        }
        #expect(records.grant(of: third, at: now) != nil && records.stands(third.id, at: now))
        let listed = Dictionary(uniqueKeysWithValues: records.all.map { ($0.grant.principal, $0) })
        #expect(listed["a"]?.isInDoubt == true && listed["b"]?.isInDoubt == true && listed["c"]?.isInDoubt == false)
        // A peer gives it back.
        guard case .present(let salt, let payload) = body else { return }
        try Connection(path: given.files.log, mode: .write).run(
            "UPDATE event SET salt = ?, payload = CAST(? AS TEXT), digest = NULL WHERE position = ?",
            .blob(salt.bytes), .blob(payload), .unsigned(position))
        try given.read(&records)
        #expect(records.lost == 0 && records.grant(of: first, at: now) == nil)
        #expect(records.grant(of: second, at: now) != nil)
        #expect(records.all.allSatisfy { !$0.isInDoubt } && records.isRevoked(first.id))
        given.store.close()
    }

    @Test("A grant that cannot be read gives nothing, and the list says that one is missing")
    func granted() throws {
        let given = try Given()
        let (first, second) = (try given.grant("a"), try given.grant("b"))
        _ = try given.empty(AccessGrant.granted, saying: first.id.text)
        var records = AccessRecords(own: given.store.identity.node, trustsPeers: true)
        try given.read(&records)
        #expect(records.lost == 1 && records.all.map(\.grant.principal) == ["b"])
        #expect(records.grant(of: first, at: WallClock.now) == nil)
        #expect(records.grant(of: second, at: WallClock.now) != nil)
        given.store.close()
    }
}
