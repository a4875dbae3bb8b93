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

    @Test("No random bytes are used twice: what an event's id shows says nothing of a salt")
    func randomness() throws {
        let event = try #require(try MemoryLog.reader(of: made()).event(at: 1)?.event)
        guard case .present(let salt, _) = event.body else {
            Issue.record("the first event has no payload")
            return
        }
        for half in [salt.high, salt.low] { #expect((half ^ event.header.id.bits.low) << 2 != 0) }
    }

    @Test(
        "A disk that refuses one event leaves nothing of the transaction, and later ones succeed unless the store is dead (INV-1)"
    )
    func refuses() throws {
        for (refusal, isDead) in [(DiskRefusal.full, false), (.busy, false), (.io, true)] {
            let log = try open(made())
            let image = log.image
            try log.refuse(refusal, at: 3)
            let outcome = log.commit([.append(drafts(4))], wall: 2_000)
            guard case .failure(let failure) = outcome else {
                Issue.record("\(refusal): \(outcome)")
                continue
            }
            if case .storeIsDead = failure { #expect(isDead) } else { #expect(!isDead) }
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
        let image = try MemoryLog.tamper(log.image, "UPDATE event SET payload = '{\"n\":7}' WHERE position = 3")
        #expect(throws: StoreError.self) { try open(image) }
    }
}
