import Foundation
import Testing

@testable import EventStore
@testable import SyncEngine

/// What a peer makes a node keep for it is bounded, however slow the store is (INV-9).
@Suite(.serialized)
struct LinkAccountTests {
    /// A store that tells no one of its commits until the gate is opened, so that nothing received is answered.
    private final class Gate: Sendable {
        private let isOpen = Monitor(false)

        init(_ store: EventStore) {
            _ = store.observeCommits { [isOpen] _ in _ = isOpen.wait(milliseconds: 60_000) { $0 ? true : nil } }
        }

        func open() {
            isOpen.update { isOpen in
                isOpen = true
                return true
            }
        }
    }

    /// A JSON text of so many bytes that shrinks to about a thirtieth.
    private func payload(_ count: Int) -> [UInt8] {
        let noise = hexText(randomBytes(count / 60))
        return Array(#"{"text":"\#(noise)\#(String(repeating: "x", count: max(0, count - noise.utf8.count)))"}"#.utf8)
    }

    /// Long frames: short ones the loop's own thread stores, which the gate would stop (`StoreWorkers.storeLeading`); a session's
    /// count of them is tested by `HostileStateDeltaTests`.
    @Test(
        "While the store is busy no more is read from a peer than its account has room for, and all of it later (INV-9)"
    )
    func busy() throws {
        let (frames, events, bytes) = (30, 4, 220_000)
        let scene = try HostilePeerTests.Scene()
        let gate = Gate(scene.a.store)
        defer {
            gate.open()
            scene.stop()
        }
        let client = try scene.client()
        try client.open()
        var origin = ForeignOrigin(key: client.key)
        for _ in 0..<frames {
            let first = origin.events.count
            for _ in 0..<events { origin.append(origin.header(), payload(bytes)) }
            client.send(.events(origin.batch(from: first == 1 ? 0 : first)), compress: true)
        }
        func account() -> LinkAccount? {
            scene.a.node.status().peers.first { $0.peer.name == "mallory" }?.account
        }
        #expect(eventually { account()?.isFull == true }, "\(String(describing: account())), \(scene.error ?? "")")
        usleep(300_000)
        let full = try #require(account())
        #expect(full.work < LinkAccount.mostWork + 1 << 20 && full.jobs <= LinkAccount.mostJobs + 1, "\(full)")
        #expect(full.work >= LinkAccount.mostWork || full.jobs >= LinkAccount.mostJobs)
        // A frame has 880 kB: so many are with the store's threads.
        #expect(full.jobs >= 10, "\(full)")
        gate.open()
        let size = UInt64(origin.events.count)
        #expect(try eventually { try scene.a.vector()[origin.id] == size }, "\(scene.error ?? "")")
        #expect(eventually { account()?.work == 0 })
    }
}
