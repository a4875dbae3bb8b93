import Testing

@testable import EventStore

/// The log in memory that the simulator runs a node's writer on.
@Suite
struct MemoryLogTests {
    private let key = SigningKey.generate()

    private func open(_ image: [UInt8]) throws -> MemoryLog { try MemoryLog(image, key: key, wall: 2_000, seed: 2) }

    private func made() throws -> [UInt8] {
        try MemoryLog.make(key: key, name: "n", cluster: "c", wall: 1_000, seed: 1)
    }

    private func drafts(_ count: Int) -> [EventDraft] {
        (0..<count).map { EventDraft(type: "message.posted", user: "u", payload: Array(#"{"n":\#($0)}"#.utf8)) }
    }

    @Test("A copy of its bytes is a copy of the log, and the same seed makes the same")
    func copies() throws {
        #expect(try made() == made())
        let log = try open(made())
        let before = log.image
        let written = try log.commit([.append(drafts(3)), .append(drafts(1))], wall: 2_000).get()
        #expect(written.answers.count == 2 && written.notice?.top == 5 && written.notice?.events.count == 4)
        #expect(try open(log.image).reader.top() == 5)
        #expect(try open(before).reader.top() == 1)
        #expect(try open(log.image).head() == log.head())
    }

    @Test(
        "A disk that refuses one event leaves nothing of the transaction, and later ones succeed unless the store is dead (INV-1)"
    )
    func refuses() throws {
        for (refusal, isDead) in [(DiskRefusal.full, false), (.busy, false), (.failed, true)] {
            let log = try open(made())
            let image = log.image
            try log.refuse(refusal, at: 3)
            let outcome = log.commit([.append(drafts(4))], wall: 2_000)
            guard case .failure(let failure) = outcome else {
                Issue.record("\(refusal): \(outcome)")
                continue
            }
            #expect(failure.isStoreDead == isDead)
            try log.refuse(refusal, at: nil)
            #expect(log.image == image)
            guard !isDead else { continue }
            #expect(try log.commit([.append(drafts(4))], wall: 2_000).get().notice?.top == 5)
        }
    }

    @Test("A log whose own last event was changed is refused when it is opened (INV-3)")
    func damaged() throws {
        let log = try open(made())
        _ = try log.commit([.append(drafts(2))], wall: 2_000).get()
        guard case .present(let salt, var payload)? = try log.reader.event(at: 3)?.event.body else {
            Issue.record("the event has no payload")
            return
        }
        payload[5] ^= 1
        let image = try MemoryLog.overwrite(3, with: .present(salt: salt, payload: payload), in: log.image)
        #expect(throws: StoreError.self) { try open(image) }
    }
}
