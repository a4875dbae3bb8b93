import Testing

@testable import EventStore
@testable import SyncEngine

/// What a shell does with answers that come when its link has ended.
struct SessionShellTests {
    /// A shell whose link has ended: the session hears nothing any more, the mesh does.
    private final class EndedShell: SessionShell {
        let id = LinkID(1)
        var session: SyncSession
        var isGreeted = true
        let isClosed = true
        let now = Moment(monotonic: 1_000_000, wall: 1_800_000_000_000)
        var mesh: Mesh
        var effects: [Mesh.Effect] = []

        init() throws {
            let key = SigningKey.generate()
            let node = NodeID(try #require(Digest(bytes: [UInt8](repeating: 1, count: 32))))
            let origin = OriginID(UUIDBits(high: 0, low: 9))
            let local = SyncSession.Local(
                StoreIdentity(node: node, name: "self", cluster: "default", origin: origin, incarnation: 1),
                software: "test")
            session = SyncSession(local: local, remote: node, progress: LocalVector())
            mesh = Mesh(local, key: key.publicKey, peers: [], seed: 1)
        }

        func perform(_ effect: SessionEffect, _ effects: inout [SessionEffect]) {}
        func settle() {}
        func tell(_ body: (inout Mesh, Moment, inout [Mesh.Effect]) -> Void) { body(&mesh, now, &effects) }
        func ownSize(of origin: OriginID) -> UInt64 { 0 }
    }

    @Test("The proof of a fork counts though its link ended while it was checked or stored (INV-12)")
    func proofOfAnEndedLink() throws {
        let origin = OriginID(UUIDBits(high: 0, low: 7))
        let evidence = try ForkSessionTests.evidence(origin, SigningKey.generate())

        let checked = try EndedShell()
        checked.inspected(RequestID(number: 1), .success(.proof(evidence, isNew: true)))
        #expect(checked.mesh.local.forked == [origin])
        #expect(checked.mesh.notices.map(\.code) == [.fork])

        let stored = try EndedShell()
        let frame = StoredFrame(events: 1, progress: [], reports: [.proven(evidence, isNew: true)])
        stored.stored(RequestID(number: 1), .success(frame))
        #expect(stored.mesh.local.forked == [origin])
    }
}
