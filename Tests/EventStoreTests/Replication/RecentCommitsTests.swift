import TestSupport
import Testing

@testable import EventStore

/// What was committed just now is read from memory exactly as it is read from the file.
struct RecentCommitsTests {
    /// A store, what its commits have left in memory, and a way to read that.
    private func follow(
        _ body: (EventStore, OutgoingReader, Notices) throws -> Void
    ) throws {
        let folder = TemporaryFolder()
        try EventStore.create(in: folder.path, name: "a")
        let store = try EventStore(opening: folder.path, durability: .normal)
        let notices = Notices(store)
        // Events are handed over from the second commit on after a peer has begun to follow.
        _ = try store.appendBlocking([.message("first", user: "u")])
        let recent = RecentCommits()
        for step in 1...3 {
            _ = try store.appendBlocking((0..<step).map { .message("\(step) \($0)", user: "u") })
        }
        for notice in try notices.all() { recent.add(notice) }
        try body(store, OutgoingReader(recent) { store.head() }, notices)
        store.close()
    }

    @Test("Memory and file give the same batch, with the same head")
    func same() throws {
        try follow { store, live, _ in
            let top = try LogReader(store.files).top()
            for position in top - 6...top {
                for limit in [1, 2, 100] {
                    let limits = OutgoingLimits(events: limit)
                    let mine = try? live.batch(after: position, lacking: VersionVector(), limits: limits)
                    let its = try OutgoingReader(store)
                        .batch(after: position, lacking: VersionVector(), limits: limits)
                    // The last events are under the present head itself; what ends before it needs a proof from the file.
                    guard its.through == top else {
                        #expect(mine == nil)
                        continue
                    }
                    #expect(mine?.events == its.events && mine?.coverage == its.coverage)
                    #expect(mine?.through == top && mine?.isAtTop == its.isAtTop && mine?.advanced == its.advanced)
                }
            }
        }
    }

    @Test("What is not in memory is asked of the file")
    func elsewhere() throws {
        try follow { _, live, _ in
            #expect(throws: StoreError.self) {
                _ = try live.batch(after: 0, lacking: VersionVector(), limits: OutgoingLimits())
            }
            #expect(throws: StoreError.self) { _ = try live.start(for: VersionVector()) }
        }
    }

    @Test("A commit of many events, or of many bytes, is not kept, nor what was before it")
    func large() throws {
        for (count, bytes) in [(33, 1), (2, 9_000)] {
            try follow { store, live, notices in
                let recent = RecentCommits()
                let text = String(repeating: "x", count: bytes)
                _ = try store.appendBlocking((0..<count).map { .message("\($0) \(text)", user: "u") })
                let all = try notices.all()
                #expect(all.last?.events.isEmpty == true)
                #expect(all.dropFirst().dropLast().allSatisfy { !$0.events.isEmpty })
                for notice in all { recent.add(notice) }
                let reader = OutgoingReader(recent) { store.head() }
                let top = try LogReader(store.files).top()
                #expect(throws: StoreError.self) {
                    _ = try reader.batch(after: top - 1, lacking: VersionVector(), limits: OutgoingLimits())
                }
                // From the next commit on there is something again.
                _ = try store.appendBlocking([.message("small", user: "u")])
                if let notice = try notices.all().last { recent.add(notice) }
                let next = try reader.batch(after: top, lacking: VersionVector(), limits: OutgoingLimits())
                #expect(next.events.count == 1 && next.through == top + 1)
            }
        }
    }

    @Test("Only so many of the last events are kept")
    func bounded() {
        let recent = RecentCommits()
        let origin = OriginID(UUIDBits(high: 1, low: 2))
        for position in UInt64(1)...100 {
            let header = EventHeader(
                dot: Dot(origin: origin, seq: position), hlc: HybridTime(rawValue: position), time: nil,
                id: EventID(UUIDBits(high: 3, low: position)), type: "t", conversation: nil, user: "u", author: "u",
                cause: nil, dependencies: [], version: 1)
            let body = EventBody.present(salt: UUIDBits(high: 0, low: 0), payload: Array("{}".utf8))
            let event = Event(header: header, body: body)
            recent.add(
                CommitNotice(top: position, advanced: [], events: [StoredEvent(position: position, event: event)]))
        }
        #expect(throws: StoreError.self) { _ = try recent.scan(after: 67, limit: 9) { _ in true } }
        var seen: [UInt64] = []
        let last = try? recent.scan(after: 68, limit: 3) { stored in
            seen.append(stored.position)
            return true
        }
        #expect(last == 71 && seen == [69, 70, 71])
        #expect((try? recent.scan(after: 100, limit: 3) { _ in true }) == 100)
    }
}

/// What the observers of a store were told.
private final class Notices: Sendable {
    private let told = Monitor([CommitNotice]())
    private let files: StoreFiles

    init(_ store: EventStore) {
        files = store.files
        _ = store.observeCommits { [told] notice in
            told.update { told in
                told.append(notice)
                return true
            }
        }
    }

    /// All, up to the log's end: the appender may have been answered before others are told.
    func all() throws -> [CommitNotice] {
        let top = try LogReader(files).top()
        return try #require(told.wait(milliseconds: 60_000) { $0.last?.top == top ? $0 : nil })
    }
}
