import Foundation
import TestSupport
import Testing

@testable import EventStore

/// Steps of the projector on the thread that has committed.
struct BorrowedStepTests {
    /// A reader that waits for one position after the other, up to `last`.
    private func reader(of thread: ProjectorThread, _ positions: ClosedRange<UInt64>, _ seen: Lock<UInt64>)
        -> WorkerThread
    {
        WorkerThread(name: "reader") {
            for position in positions {
                guard thread.wait(for: position, milliseconds: 60_000) else { return }
                seen.withLock { $0 = position }
            }
        }
    }

    private func until(_ condition: () -> Bool) -> Bool {
        let start = MonotonicClock.now
        while !condition() {
            guard MonotonicClock.now - start < 60_000_000_000 else { return false }
            usleep(500)
        }
        return true
    }

    @Test("What somebody waits for is applied when the call returns, and nobody is woken for it before")
    func here() throws {
        let (folder, store) = try makeStore()
        defer { withExtendedLifetime(folder) {} }
        let thread = ProjectorThread(store.files, top: 1)
        #expect(thread.wait(for: 1, milliseconds: 60_000))
        let seen = Lock(UInt64(0))
        let reader = reader(of: thread, 2...201, seen)
        var borrowed = 0
        for position in UInt64(2)...201 {
            _ = try store.appendBlocking([.message("\(position)", user: "u", conversation: "c")])
            thread.logAdvanced(to: position, isFollowedUp: true)
            thread.applyHere()
            if thread.applied == position { borrowed += 1 }
            #expect(until { seen.withLock { $0 } == position })
        }
        reader.join()
        #expect(borrowed > 0)
        thread.stop()
        #expect(try ViewReader(store.files).conversationVersion("c").version == 200)
    }

    @Test("Where nobody waits, or there is much to be done, the thread is woken")
    func woken() throws {
        let (folder, store) = try makeStore()
        defer { withExtendedLifetime(folder) {} }
        let thread = ProjectorThread(store.files, top: 1)
        #expect(thread.wait(for: 1, milliseconds: 60_000))
        _ = try store.appendBlocking([.message("one", user: "u", conversation: "c")])
        thread.logAdvanced(to: 2, isFollowedUp: true)
        thread.applyHere()
        #expect(until { thread.applied == 2 })
        let seen = Lock(UInt64(0))
        let reader = reader(of: thread, 102...102, seen)
        _ = try store.appendBlocking((0..<100).map { .message("\($0)", user: "u", conversation: "c") })
        thread.logAdvanced(to: 102, isFollowedUp: true)
        thread.applyHere()
        reader.join()
        #expect(seen.withLock { $0 } == 102)
        // There is nothing to be done: nothing happens.
        thread.applyHere()
        thread.stop()
        thread.applyHere()
        #expect(thread.applied == 102)
    }

    @Test("Tails that grew under borrowed steps are emptied when nothing happens (INV-9)")
    func idle() throws {
        let (folder, store) = try makeStore()
        let thread = ProjectorThread(store.files, top: 1)
        #expect(thread.wait(for: 1, milliseconds: 60_000))
        let seen = Lock(UInt64(0))
        let reader = reader(of: thread, 2...41, seen)
        for position in UInt64(2)...41 {
            _ = try store.appendBlocking([.message("\(position)", user: "u", conversation: "c")])
            thread.logAdvanced(to: position, isFollowedUp: true)
            thread.applyHere()
        }
        reader.join()
        let connection = try openForReading(StoreFiles(folder.path).views)
        #expect(
            until { (try? connection.integer("SELECT count(*) FROM history_tail")) == 0 })
        thread.stop()
    }

    @Test("Views that cannot be written here are left to the thread, which says why and tries again")
    func failing() throws {
        let (folder, store) = try makeStore()
        defer { withExtendedLifetime(folder) {} }
        let thread = ProjectorThread(store.files, top: 1)
        #expect(thread.wait(for: 1, milliseconds: 60_000))
        let seen = Lock(UInt64(0))
        let reader = reader(of: thread, 2...2, seen)
        let other = try Connection(path: store.files.views, mode: .write)
        try other.execute(
            "CREATE INDEX fault ON progress(CASE WHEN position > 1 THEN length(zeroblob(2000000000)) ELSE 0 END)")
        _ = try store.appendBlocking([.message("one", user: "u", conversation: "c")])
        thread.logAdvanced(to: 2, isFollowedUp: true)
        thread.applyHere()
        #expect(until { thread.lastError != nil } && thread.applied == 1)
        try other.execute("DROP INDEX fault")
        reader.join()
        #expect(seen.withLock { $0 } == 2 && thread.lastError == nil)
        thread.stop()
    }

    @Test("What the disk writes is applied meanwhile, and seen when it is durable; else nothing of it stays")
    func prepared() throws {
        let (folder, store) = try makeStore()
        defer { withExtendedLifetime(folder) {} }
        let thread = ProjectorThread(store.files, top: 1)
        #expect(thread.wait(for: 1, milliseconds: 60_000))
        let seen = Lock(UInt64(1))
        let reader = reader(of: thread, 2...51, seen)
        let views = try ViewReader(store.files)
        var syncs = 0
        for position in UInt64(2)...51 {
            #expect(until { thread.isAwaited })
            _ = try store.appendBlocking([.message("\(position)", user: "u", conversation: "c")])
            // The first time it turns out not to be durable.
            for isDurable in [false, true] {
                thread.logWritten(to: position) {
                    syncs += 1
                    #expect(seen.withLock { $0 } == position - 1 && thread.applied == position - 1)
                    #expect((try? views.progress()) == position - 1)
                    return isDurable
                }
                if !isDurable {
                    #expect(thread.applied == position - 1 && thread.top == position - 1)
                    #expect(try views.progress() == position - 1)
                }
            }
            thread.logAdvanced(to: position, isFollowedUp: true)
            thread.applyHere()
            #expect(until { seen.withLock { $0 } == position })
            #expect(try views.progress() == position)
        }
        reader.join()
        #expect(syncs > 0)
        // No reader waits: it is left to the thread.
        _ = try store.appendBlocking([.message("52", user: "u", conversation: "c")])
        thread.logWritten(to: 52) {
            Issue.record("nobody waits for it")
            return true
        }
        thread.logAdvanced(to: 52, isFollowedUp: true)
        thread.applyHere()
        #expect(until { thread.applied == 52 })
        thread.stop()
        #expect(try views.conversationVersion("c").version == 51)
    }

    @Test("A commit that is followed up on the calling thread is told of when it is written, and when it is durable")
    func told() throws {
        let (folder, store) = try makeStore()
        let (otherFolder, other) = try makeStore(name: "other")
        defer { withExtendedLifetime((folder, otherFolder)) {} }
        let calls = Lock([String]())
        let token = store.observeCommits { notice in
            calls.withLock { $0.append("durable \(notice.top)") }
        } written: { top, sync in
            calls.withLock { $0.append("written \(top)") }
            // It is synced once, whether this runs once, twice, or never.
            for _ in 0..<top % 3 { #expect(sync()) }
        }
        defer { store.removeObserver(token) }
        _ = try store.appendBlocking([.message("own", user: "u")])
        #expect(calls.withLock { $0 } == ["durable 2"])
        let verifier = try store.makeVerifierBlocking()
        var twice = 0
        for number in UInt64(0)..<60 {
            if number > 0 { _ = try other.appendBlocking([.message("x", user: "u")]) }
            let known = try VersionVector([
                Dot(
                    origin: other.identity.origin,
                    seq: LogReader(store.files).vector()[other.identity.origin])
            ])
            let batch = try OutgoingReader(other).batch(after: 0, lacking: known, limits: OutgoingLimits())
            let verified = try verifier.verify(batch.events, batch.coverage)
            calls.withLock { $0 = [] }
            let isDone = Lock(false)
            store.ingest(verified, leading: true) { _ in isDone.withLock { $0 = true } }
            #expect(until { isDone.withLock { $0 } })
            // The writer's thread may have been about to sleep, and does it then.
            let (written, durable) = ("written \(number + 3)", "durable \(number + 3)")
            #expect(until { calls.withLock { $0 == [written, durable] || $0 == [durable] } })
            if calls.withLock({ $0.count }) == 2 { twice += 1 }
        }
        #expect(twice > 0)
    }

    @Test("A batch that the calling thread stores is followed up there, once; one that the writer stores is not")
    func followUp() throws {
        let (folder, store) = try makeStore()
        let (otherFolder, other) = try makeStore(name: "other")
        defer { withExtendedLifetime((folder, otherFolder)) {} }
        let calls = Lock([String]())
        let token = store.observeCommits { notice in
            calls.withLock { $0.append(notice.isFollowedUp ? "told, more follows" : "told") }
        } afterwards: {
            calls.withLock { $0.append("afterwards") }
        }
        defer { store.removeObserver(token) }
        let verifier = try store.makeVerifierBlocking()
        func next() throws -> VerifiedBatch {
            _ = try other.appendBlocking([.message("x", user: "u")])
            let seq = try LogReader(store.files).vector()[other.identity.origin]
            let known = VersionVector([Dot(origin: other.identity.origin, seq: seq)])
            let batch = try OutgoingReader(other).batch(after: 0, lacking: known, limits: OutgoingLimits())
            return try verifier.verify(batch.events, batch.coverage)
        }
        let first = try next()
        try blocking { store.ingest(first, leading: false, completion: $0) }
        #expect(until { calls.withLock { $0 == ["told"] } })
        let second = try next()
        calls.withLock { $0 = [] }
        let isDone = Lock(false)
        // The writer's thread may be about to sleep.
        store.ingest(second, leading: true) { _ in isDone.withLock { $0 = true } }
        #expect(until { isDone.withLock { $0 } })
        #expect(until { calls.withLock { $0 == ["told, more follows", "afterwards"] || $0 == ["told"] } })
        calls.withLock { $0 = [] }
        _ = try store.appendBlocking([.message("own", user: "u")])
        #expect(calls.withLock { $0 } == ["told"])
    }
}
