import Foundation
import TestSupport
import Testing

@testable import EventStore

/// The public way to read: always fresh, in pages, with errors that have a code.
@Suite(.timeLimit(.minutes(5)))
struct EventReaderTests {
    private func texts(_ entries: [TimelineEntry]) -> [String] {
        entries.map { JSONObject(validated: $0.stored.event.payload ?? []).string("text") ?? "?" }
    }

    /// What `body` gives. Busy is no answer: on a machine that has much to do it is asked again.
    private func patiently<Value>(_ body: () throws -> Value) throws -> Value {
        let end = Date().addingTimeInterval(60)
        while true {
            do { return try body() } catch StoreError.busy where Date() < end { usleep(10_000) }
        }
    }

    @Test("A query sees what was appended before it: in the process that has the store open, and beside it")
    func fresh() throws {
        let (folder, store) = try makeStore()
        defer { store.close() }
        let inside = try EventReader(store)
        let beside = try EventReader(open: folder.path)
        for number in 1...100 {
            let text = "안녕 \(number)"
            let outcomes = try store.appendBlocking([.message(text, user: "u-1", conversation: "c-1")])
            let id = try #require(outcomes.first?.receipt?.id)
            for reader in number % 10 == 0 ? [inside, beside] : [inside] {
                #expect(try patiently { try texts(reader.history(of: "u-1", limit: 1)) } == [text])
                #expect(try patiently { try texts(reader.conversation("c-1", limit: 1)) } == [text])
                #expect(try patiently { try reader.summary(of: "c-1")?.events } == UInt64(number))
                #expect(try reader.event(id)?.event.header.user == "u-1")
                #expect(try reader.events(after: reader.top() - 1).map(\.event.header.id) == [id])
            }
        }
    }

    @Test("A search finds texts as they are shown now, in pages; words that no text can have are refused by code")
    func search() throws {
        let (folder, store) = try makeStore()
        defer { withExtendedLifetime(folder) { store.close() } }
        let reader = try EventReader(store)
        let said = try store.appendBlocking([
            .message("두통이 심해요", user: "u-1", conversation: "c-1"),
            .message("감기예요", user: "u-1", conversation: "c-1"),
            .message("또 두통", user: "u-2", conversation: "c-2"),
        ]).compactMap(\.receipt?.position)
        let words = SearchQuery(try SearchWords("두통"))
        let first = try patiently { try reader.search(words, limit: 1) }
        #expect(first.hits.map(\.text) == ["또 두통"] && first.unindexed == 0)
        #expect(first.hits[0].kind == .message && first.hits[0].ranges == [4..<10])
        let next = try patiently { try reader.search(words, before: first.next, limit: 1) }
        #expect(next.hits.map(\.stored.position) == [said[0]] && next.next == nil)
        var mine = words
        mine.users = ["u-2"]
        #expect(try patiently { try reader.search(mine) }.hits.map(\.stored.position) == [said[2]])
        #expect(throws: SearchWords.Refusal.onlyExcluded) { try SearchWords("-두통") }
        let refusal: any SillokError = SearchWords.Refusal.empty
        #expect(refusal.code == "E_PARAMETER" && !refusal.isRetriable && refusal.description == "no words")
    }

    @Test("What stood at a moment is told as it stood, whatever came since (D24)")
    func past() throws {
        let (folder, store) = try makeStore()
        defer { withExtendedLifetime(folder) { store.close() } }
        let reader = try EventReader(store)
        let name = EventDraft.json("profile.changed", #"{"fields":{"name":"서연"}}"#, conversation: nil, user: "u-1")
        _ = try store.appendBlocking([.message("하나", user: "u-1", conversation: "c-1"), name])
        let then = PointInTime(knownAt: try reader.top())
        let renamed = EventDraft.json("profile.changed", #"{"fields":{"name":"민준"}}"#, conversation: nil, user: "u-1")
        _ = try store.appendBlocking([
            .message("둘", user: "u-1", conversation: "c-1"),
            .message("셋", user: "u-1", conversation: "c-2"), renamed,
        ])
        func told(_ moment: PointInTime) throws -> [String] {
            let past = reader.asOf(moment)
            return try patiently {
                var lines = try past.conversation("c-1").map { "\($0.stored.position)" }
                for conversation in try past.conversations() {
                    lines.append("\(conversation.conversation) \(conversation.events)")
                }
                let other = try past.summary(of: "c-2")
                lines.append("\(other?.events ?? 0)")
                return lines + (try past.profile(of: "u-1").map(\.winner.value))
            }
        }
        #expect(try told(then) == ["2", "c-1 1", "0", #""서연""#])
        #expect(try told(PointInTime()) == ["4", "2", "c-2 1", "c-1 2", "1", #""민준""#])
        #expect(try patiently { try reader.asOf(then).history(of: "u-1") }.map(\.stored.position) == [3, 2])
        #expect(try told(PointInTime(asOf: 0)) == ["0"])
    }

    @Test(
        "A receipt is what the checkers take, signed where the node's key is, and counts what it does not prove (INV-19)"
    )
    func receipt() throws {
        let (folder, store) = try makeStore()
        _ = try store.appendBlocking([.message("하나", user: "u-1"), .message("둘", user: "u-1")])
        store.close()
        let reader = try EventReader(open: folder.path)
        let made = try reader.receipt()
        #expect(made.isSigned && made.position == 3 && made.uncovered == 0 && made.time > 1_700_000_000_000)
        #expect(try checked(made.bytes).receipt.heads.map(\.events) == [3])
        try FileManager.default.removeItem(atPath: store.files.key)
        let unsigned = try reader.receipt()
        #expect(!unsigned.isSigned && unsigned.uncovered == 0)
        #expect(try checked(unsigned.bytes).receipt.maker.position == 3)
        try Connection(path: store.files.log, mode: .write).execute("DELETE FROM head")
        #expect(try reader.receipt().uncovered == 3)
    }

    @Test("While the views are built anew a query waits, and misses nothing")
    func rebuilt() throws {
        let (folder, store) = try makeStore()
        defer { withExtendedLifetime(folder) { store.close() } }
        let reader = try EventReader(store)
        let projector = try ProjectorThread.following(store)
        for number in 1...60 {
            _ = try store.appendBlocking([.message("\(number)", user: "u-1")])
            if number % 3 == 0 { projector.rebuild() }
            #expect(try patiently { try texts(reader.history(of: "u-1", limit: 3)) }.first == "\(number)")
        }
    }

    @Test("Views of a store that no process has open are brought up to date, also where none are left")
    func closedStore() throws {
        let (folder, store) = try makeStore()
        let files = store.files
        _ = try store.appendBlocking([.message("하나", user: "u-1")])
        store.close()
        let reader = try EventReader(open: folder.path)
        #expect(try texts(reader.history(of: "u-1")) == ["하나"])
        for round in 0..<3 {
            let again = try EventStore(opening: folder.path)
            _ = try again.appendBlocking([.message("\(round)", user: "u-1")])
            again.close()
            if round == 1 { ViewDatabase.remove(files) }
            #expect(try texts(reader.history(of: "u-1")).first == "\(round)")
        }
        #expect(try texts(reader.history(of: "u-1")) == ["2", "1", "0", "하나"])
    }

    @Test(
        "Beside a process that has the store open and keeps no views, a reader makes its own of a log that is not long"
    )
    func noKeeper() throws {
        let (folder, store) = try makeStore()
        _ = try store.appendBlocking([.message("하나", user: "u-1")])
        let reader = try EventReader(open: folder.path)
        #expect(try texts(reader.history(of: "u-1")) == ["하나"])
        _ = try store.appendBlocking([.message("둘", user: "u-1")])
        #expect(try texts(reader.history(of: "u-1")) == ["둘", "하나"])
        #expect(try reader.events().count == 3, "the log needs no one")
        store.close()
        #expect(try texts(reader.history(of: "u-1")) == ["둘", "하나"])
    }

    @Test(
        "Pages of a history join to the whole of it, newest first, also where stamps are equal",
        arguments: [1, 3, 7, 500])
    func pages(limit: Int) throws {
        // Three origins with the same stamps: only their dots tell which event comes first.
        let log = try LogFixture()
        for origin in [UInt64(2), 3, 1] {
            try log.deliver((1...40).map { event(origin, UInt64($0), hlc: Int64($0 / 2)) })
        }
        let reader = try EventReader(open: log.folder.path)
        var expected: [Dot] = []
        try reader.views().history(user: "u", TimelineQuery()) { entry in
            expected.append(entry.stored.event.header.dot)
            return true
        }
        #expect(expected.count == 120)
        for isHistory in [true, false] {
            var found: [Dot] = []
            var last: DisplayKey?
            while true {
                let page =
                    try isHistory
                    ? reader.history(of: "u", before: last, limit: limit)
                    : reader.conversation("c", before: last, limit: limit)
                guard let end = page.last else { break }
                #expect(page.count <= limit)
                found += page.map(\.stored.event.header.dot)
                last = end.key
            }
            #expect(found == expected.reversed())
        }
    }

    @Test("A page ends with its limit, or when its payloads come to a MiB (INV-9)")
    func bounds() throws {
        let (folder, store) = try makeStore()
        defer { withExtendedLifetime(folder) { store.close() } }
        let large = String(repeating: "가", count: 80_000)
        for _ in 0..<12 { _ = try store.appendBlocking([.message(large, user: "u-1")]) }
        _ = try store.appendBlocking((0..<600).map { .message("\($0)", user: "u-2") })
        let reader = try EventReader(store)
        #expect(try reader.history(of: "u-1", limit: 12).count == 5)
        #expect(try reader.events(after: 1).count == 5)
        #expect(try reader.events(after: 13).count == EventReader.maximumPage)
        #expect(try reader.history(of: "u-2", limit: 10_000).count == EventReader.maximumPage)
        #expect(try reader.history(of: "u-2", limit: -1).count == 1)
        var position: UInt64 = 0
        while let last = try reader.events(after: position, limit: 7).last { position = last.position }
        #expect(try position == reader.top())
    }

    @Test("Profiles, surveys, conversations and single events say what was appended")
    func views() throws {
        let (folder, store) = try makeStore()
        defer { withExtendedLifetime(folder) { store.close() } }
        func draft(_ type: String, _ conversation: String? = nil, _ payload: String) -> EventDraft {
            EventDraft(type: type, conversation: conversation, user: "u-1", payload: Array(payload.utf8))
        }
        let answers = (1...5).map { draft("survey.answered", nil, #"{"survey":"s","question":"q","rating":\#($0)}"#) }
        let outcomes = try store.appendBlocking(
            [
                draft("conversation.started", "c-1", #"{"title":"두통","category":"text"}"#),
                draft("profile.changed", nil, #"{"fields":{"name":"하늘"}}"#),
            ] + answers)
        let reader = try EventReader(store)
        #expect(try reader.profile(of: "u-1").map(\.name) == ["name"])
        #expect(try reader.profile(of: "u-1").first?.winner.value == #""하늘""#)
        #expect(try reader.conversations().map(\.title) == ["두통"])
        #expect(try reader.conversations(after: reader.conversations().last).isEmpty)
        #expect(try reader.summary(of: "c-2") == nil)
        var counts: [SurveyCount] = []
        while true {
            let page = try reader.survey("s", after: counts.last, limit: 2)
            if page.isEmpty { break }
            counts += page
        }
        #expect(counts.map(\.value) == ["1", "2", "3", "4", "5"] && counts.allSatisfy { $0.count == 1 })
        #expect(try reader.survey("s", question: "other").isEmpty)
        let receipt = try #require(outcomes.first?.receipt)
        #expect(try reader.event(at: receipt.position)?.event.header.id == receipt.id)
        #expect(try reader.event(at: 1_000) == nil)
        #expect(try reader.event(EventID(UUIDBits(high: 1, low: 2))) == nil)
    }

    @Test("Tasks read outside of the cooperative pool; what their queries throw reaches them")
    func tasks() async throws {
        let (folder, store) = try makeStore()
        defer { withExtendedLifetime(folder) {} }
        _ = try await store.append([.message("하나", user: "u-1")])
        let reader = try EventReader(store)
        let found = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<50 { group.addTask { try await reader.read { try $0.history(of: "u-1").count } } }
            return try await group.reduce(0, +)
        }
        #expect(found == 50)
        await #expect(throws: StoreError.closed) { try await reader.read { _ in throw StoreError.closed } }
        store.close()
        #expect(throws: StoreError.closed) { try EventReader(store) }
    }

    @Test("verify proves a whole store, and names what was changed")
    func verify() throws {
        let (folder, store) = try makeStore()
        _ = try store.appendBlocking((0..<10).map { .message("\($0)", user: "u-1") })
        store.close()
        let reader = try EventReader(open: folder.path)
        var seen: UInt64 = 0
        let report = try reader.verify { position, _ in seen = position }
        #expect(report.answer == .proven && report.events == 11 && seen == 11 && report.forked.isEmpty)
        let connection = try Connection(path: folder.path + "/log.db", mode: .write)
        try connection.execute(#"UPDATE event SET payload = '{"text":"x"}' WHERE position = 5"#)
        let damaged = try reader.verify()
        #expect(damaged.answer == .contradicted && damaged.findings.contains { $0.position == 5 })
    }

    @Test("A store that is not there, and one without its key, say so with a code")
    func errors() throws {
        let folder = TemporaryFolder()
        #expect(throws: StoreError.notFound(path: folder.path)) { try EventReader(open: folder.path) }
        #expect(throws: StoreError.notFound(path: folder.path)) { try EventStore(opening: folder.path) }
        try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
        do { _ = try EventReader(open: folder.path) } catch {
            #expect(error.code == "E_NO_STORE" && !error.isRetriable && error.description.contains(folder.path))
        }
        let (other, store) = try makeStore()
        _ = try store.appendBlocking([.message("하나", user: "u-1")])
        store.close()
        try FileManager.default.removeItem(atPath: other.path + "/node.key")
        #expect(throws: StoreError.noKey(path: other.path + "/node.key")) { try EventStore(opening: other.path) }
        #expect(try texts(EventReader(open: other.path).history(of: "u-1")) == ["하나"])
    }

    @Test("A log that is replaced under a reader is opened again; one that is taken away is no store any longer")
    func replaced() throws {
        let (folder, store) = try makeStore()
        _ = try store.appendBlocking([.message("옛것", user: "u-1")])
        store.close()
        let reader = try EventReader(open: folder.path)
        #expect(try texts(reader.history(of: "u-1")) == ["옛것"])
        let (other, new) = try makeStore()
        _ = try new.appendBlocking((0..<3).map { .message("새것 \($0)", user: "u-1") })
        new.close()
        let manager = FileManager.default
        try manager.moveItem(atPath: folder.path, toPath: folder.path + ".old")
        #expect(throws: StoreError.notFound(path: folder.path)) { try reader.top() }
        try manager.moveItem(atPath: other.path, toPath: folder.path)
        #expect(try reader.top() == 4)
        #expect(try texts(reader.history(of: "u-1")) == ["새것 2", "새것 1", "새것 0"])
    }
}
