import Foundation
import TestSupport
import Testing

@testable import EventStore

/// Following a store: each event once, in the order of the log, when it is durable (INV-1, INV-2).
@Suite(.timeLimit(.minutes(5)))
struct SubscriptionTests {
    private static func drafts(_ count: Int) -> [EventDraft] {
        (0..<count).map { .message("\($0)", user: "u-\($0 % 7)") }
    }

    /// The positions that a subscription gives, until `count` of them are here.
    private static func collect(_ events: EventStore.Subscription, _ count: Int) async throws -> [UInt64] {
        var found: [UInt64] = []
        for try await stored in events {
            found.append(stored.position)
            if found.count == count { break }
        }
        return found
    }

    @Test("What is stored, then what is committed: under concurrent appends none is lost, none comes twice")
    func concurrent() async throws {
        let (folder, store) = try makeStore()
        defer { withExtendedLifetime(folder) {} }
        _ = try await store.append(Self.drafts(700))
        let total = 1 + 700 + 4 * 25 * 20
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<25 { _ = try await store.append(Self.drafts(20)) }
                }
            }
            for start in [0, 1, 650, 701] {
                group.addTask {
                    let found = try await Self.collect(store.subscribe(after: UInt64(start)), total - start)
                    #expect(found == (start + 1...total).map { UInt64($0) })
                }
            }
            // One that begins in the midst of it, and does other things meanwhile.
            group.addTask {
                var iterator = store.subscribe().makeAsyncIterator()
                var last: UInt64 = 0
                while last < total, let stored = try await iterator.next() {
                    #expect(stored.position == last + 1)
                    last = stored.position
                    if last % 400 == 0 { try await Task.sleep(for: .milliseconds(5)) }
                }
            }
            try await group.waitForAll()
        }
        store.close()
    }

    @Test("A lone event reaches one who waits for it, again and again")
    func oneByOne() async throws {
        let (folder, store) = try makeStore()
        defer { withExtendedLifetime(folder) {} }
        var iterator = store.subscribe(after: 1).makeAsyncIterator()
        for number in 1...200 {
            async let appended = store.append([.message("\(number)", user: "u-1")])
            let stored = try await iterator.next()
            #expect(try await stored?.event.header.id == appended.first?.receipt?.id)
        }
        store.close()
    }

    @Test("A task that is cancelled ends: while it waits, between events, and before it begins")
    func cancelled() async throws {
        let (folder, store) = try makeStore()
        defer { withExtendedLifetime(folder) { store.close() } }
        for delay in [0, 1, 30] {
            let task = Task { try await Self.collect(store.subscribe(after: 1), 1) }
            try await Task.sleep(for: .milliseconds(delay))
            task.cancel()
            #expect(try await task.value == [])
        }
        _ = try await store.append(Self.drafts(10))
        let task = Task {
            var count = 0
            for try await _ in store.subscribe() {
                count += 1
                if count == 3 { withUnsafeCurrentTask { $0?.cancel() } }
            }
            return count
        }
        #expect(try await task.value == 3)
    }

    @Test("When the store closes, what is stored still comes, then the sequence ends; a later one is empty")
    func closed() async throws {
        let (folder, store) = try makeStore()
        defer { withExtendedLifetime(folder) {} }
        var iterator = store.subscribe().makeAsyncIterator()
        #expect(try await iterator.next()?.position == 1)
        let events = store.subscribe(after: 1)
        _ = try await store.append(Self.drafts(999))
        let waiting = Task { try await Self.collect(store.subscribe(after: 1_000), 1) }
        let last = try await store.append(Self.drafts(0))
        #expect(last.isEmpty)
        store.close()
        #expect(try await waiting.value == [])
        #expect(try await Self.collect(events, .max) == (2...1_000).map { UInt64($0) })
        #expect(try await Self.collect(store.subscribe(), .max) == [])
        store.close()
    }

    @Test(
        "A kept place that the log does not have, or where another event stands, ends a subscription: nothing is passed over (INV-10)"
    )
    func lostPlaces() async throws {
        let (folder, store) = try makeStore()
        let ids = try await store.append(Self.drafts(9)).compactMap { $0.receipt?.id }
        #expect(try await Self.collect(store.subscribe(after: 5, id: ids[3]), 1) == [6])
        for place in [11, 1 << 63, UInt64.max] {
            let error = await #expect(throws: StoreError.self, "\(place)") {
                try await Self.collect(store.subscribe(after: place), 1)
            }
            #expect(error == .lostPlace(place) && error?.code == "E_CURSOR")
            #expect(try EventReader(store).events(after: place).isEmpty, "\(place)")
        }
        store.close()
        // Put back: where the last event stood another one stands when the node has gone on.
        let copy = TemporaryFolder()
        try FileManager.default.copyItem(atPath: folder.path, toPath: copy.path)
        let again = try EventStore(opening: copy.path)
        _ = try await again.append(Self.drafts(9))
        #expect(again.originChange != nil)
        await #expect(throws: StoreError.lostPlace(11)) {
            try await Self.collect(again.subscribe(after: 11, id: ids[8]), 1)
        }
        #expect(try await Self.collect(again.subscribe(after: 10, id: ids[8]), 1) == [11])
        again.close()
    }

    @Test("What the disk does not have yet is not given")
    func durable() async throws {
        let folder = TemporaryFolder()
        try EventStore.create(in: folder.path, name: "disk")
        let files = StoreFiles(folder.path)
        let pem = try #require(try SmallFile.read(files.key))
        let key = try #require(SigningKey(pem: pem))
        let disk = Monitor(false)
        let writer = try LogWriter(
            files: files, durability: .full, signer: HeadSigner(key: key), witness: nil, wall: { WallClock.now },
            waitForDisk: { _ throws(StoreError) in disk.wait { $0 ? .done(()) : .forever } })
        let reading = SubscriptionReading(files, writer)
        let request = try #require(DraftValidation([.message("나중에", user: "u-1")], .each).request(nil))
        writer.submit([.append(request) { _ in }])
        let isGiven = Lock(false)
        let task = Task {
            let page = try await reading.page(after: SubscriptionPlace(position: 1, id: nil), isolation: nil)
            isGiven.withLock { $0 = true }
            return page.map(\.position)
        }
        let log = try LogReader(files)
        while try log.top() < 2 { try await Task.sleep(for: .milliseconds(1)) }
        try await Task.sleep(for: .milliseconds(50))
        #expect(isGiven.withLock { $0 } == false, "it is in the log, and not on the disk")
        disk.update { isAwake in
            isAwake = true
            return true
        }
        #expect(try await task.value == [2])
        writer.close()
    }
}
