import Foundation
import TestSupport
import Testing

@testable import EventStore

/// The next commit is written while the last one is synced; nothing is said of either before the disk has it (INV-1).
@Suite(.timeLimit(.minutes(5)))
struct CommitPipelineTests {
    /// A disk that takes as long as a test wants.
    private final class Disk: Sendable {
        private struct State {
            var asked = 0
            var allowed = 0
            var failure: StoreError?
        }

        private let state = Monitor(State())

        /// For the writer.
        func sync() throws(StoreError) {
            state.update { state in
                state.asked += 1
                return true
            }
            let failure: StoreError? = state.wait { state in
                state.allowed >= state.asked || state.failure != nil ? .done(state.failure) : .forever
            }
            if let failure { throw failure }
        }

        func allow(_ count: Int = 1_000_000) {
            state.update { state in
                state.allowed += count
                return true
            }
        }

        func fail() {
            state.update { state in
                state.failure = .io("the disk is gone")
                return true
            }
        }

        /// Waits until so many syncs were asked for.
        func waitUntilAsked(_ count: Int) { _ = state.wait(milliseconds: 60_000) { $0.asked >= count ? true : nil } }
        var asked: Int { state.withLock { $0.asked } }
    }

    private struct Fixture {
        let folder = TemporaryFolder()
        let disk = Disk()
        let files: StoreFiles
        let signer: HeadSigner
        let writer: LogWriter
        let answers = Monitor<[String]>([])

        init() throws {
            try EventStore.create(in: folder.path, name: "flight")
            files = StoreFiles(folder.path)
            let pem = try #require(try SmallFile.read(files.key))
            signer = HeadSigner(key: try #require(SigningKey(pem: pem)))
            writer = try LogWriter(
                files: files, durability: .full, signer: signer, witness: nil, wall: { WallClock.now },
                waitForDisk: { [disk] _ throws(StoreError) in try disk.sync() })
        }

        func append(_ text: String) throws {
            let preparation = DraftValidation([.message(text, user: "u-1")], .each)
            let request = try #require(preparation.request(nil))
            let job = LogWriter.Job.append(request) { [answers] result in
                answers.update { answers in
                    switch result {
                    case .success(let outcomes): answers.append("\(text) \(outcomes[0].receipt?.position ?? 0)")
                    case .failure(let error): answers.append("\(text) \(error.code)")
                    }
                    return true
                }
            }
            writer.submit([job])
        }

        func waitForAnswers(_ count: Int) -> [String] {
            answers.wait(milliseconds: 60_000) { $0.count >= count ? $0 : nil } ?? []
        }

        /// Waits until the log has events up to `position`, durable or not.
        func waitForLog(_ position: UInt64) throws -> Bool {
            let reader = try LogReader(files)
            for _ in 0..<20_000 {
                if try reader.top() >= position { return true }
                usleep(1_000)
            }
            return false
        }
    }

    @Test("While one commit is synced the next is written; both are answered in order when the disk has them")
    func beside() throws {
        let fixture = try Fixture()
        defer { fixture.writer.close() }
        let tops = Monitor<[UInt64]>([])
        _ = fixture.writer.observe { notice in
            tops.update { tops in
                tops.append(notice.top)
                return true
            }
        }
        try fixture.append("first")
        fixture.disk.waitUntilAsked(1)
        try fixture.append("second")
        #expect(try fixture.waitForLog(3))
        // The disk has taken neither.
        #expect(fixture.answers.withLock { $0 } == [])
        #expect(tops.withLock { $0 } == [])
        #expect(fixture.signer.head()?.head.size == 1)
        fixture.disk.allow(1)
        #expect(fixture.waitForAnswers(1) == ["first 2"])
        fixture.disk.waitUntilAsked(2)
        #expect(fixture.answers.withLock { $0 } == ["first 2"])
        #expect(fixture.signer.head()?.head.size == 2)
        fixture.disk.allow()
        #expect(fixture.waitForAnswers(2) == ["first 2", "second 3"])
        #expect(tops.wait(milliseconds: 60_000) { $0.count == 2 ? $0 : nil } == [2, 3])
    }

    @Test("A flush waits for commits that are being synced: the head that it stores covers them (INV-1, INV-3)")
    func flushing() throws {
        let fixture = try Fixture()
        defer { fixture.writer.close() }
        try fixture.append("first")
        fixture.disk.waitUntilAsked(1)
        let files = fixture.files
        let origin = try StoreIdentity(try LogReader(files)).origin
        fixture.writer.submit([
            .flush { [answers = fixture.answers] _ in
                // Later the thread that signs may have stored one, too.
                let head = try? LogReader(files).head(of: origin, atLeast: 1, largest: true)
                answers.update { answers in
                    answers.append("flushed \(head?.head.size ?? 0)")
                    return true
                }
            }
        ])
        // For what comes behind it another commit would have room beside the one that is being synced.
        try fixture.append("second")
        // It cannot be done before the disk has the commit; a flush that does not wait needs a moment to go wrong.
        usleep(100_000)
        #expect(fixture.answers.withLock { $0 } == [])
        fixture.disk.allow()
        #expect(fixture.waitForAnswers(3) == ["first 2", "flushed 2", "second 3"])
    }

    @Test("Who follows a commit up learns whether the disk has it, which is asked once; else nobody is told")
    func following() throws {
        let fixture = try Fixture()
        defer { fixture.writer.close() }
        let calls = Monitor([String]())
        @Sendable func note(_ call: String) {
            calls.update { calls in
                calls.append(call)
                return true
            }
        }
        _ = fixture.writer.observe { notice in
            note("durable \(notice.top)")
        } written: { [disk = fixture.disk] top, sync in
            note("written \(top)")
            let asked = disk.asked
            let isDurable = sync() && sync()
            note(isDurable ? "seen" : "not seen")
            #expect(disk.asked == asked + 1)
        }
        /// What runs up to `last`.
        func lead(_ text: String, until last: String) throws -> [String] {
            calls.withLock { $0 = [] }
            let preparation = DraftValidation([.message(text, user: "u-1")], .each)
            let job = LogWriter.Job.append(try #require(preparation.request(nil))) { result in
                note((try? result.get()) == nil ? "failed" : "answered")
            }
            fixture.writer.lead([job])
            return calls.wait(milliseconds: 60_000) { $0.last == last ? $0 : nil } ?? []
        }
        fixture.disk.allow()
        // A thread of the writer may have been about to sleep, and does it then.
        var led = 0
        for top in 2...21 {
            let found = try lead("\(top)", until: "durable \(top)")
            if found.count == 4 { led += 1 }
            let all = ["written \(top)", "seen", "answered", "durable \(top)"]
            #expect(found == all || found == Array(all[2...]))
        }
        #expect(led > 0)
        fixture.disk.fail()
        let found = try lead("last", until: "failed")
        #expect(found == ["written 22", "not seen", "failed"] || found == ["failed"])
        #expect(fixture.signer.head()?.head.size == 21)
    }

    @Test("When a sync fails nothing that was written is acknowledged, and nothing more is taken")
    func failing() throws {
        let fixture = try Fixture()
        defer { fixture.writer.close() }
        try fixture.append("first")
        fixture.disk.waitUntilAsked(1)
        try fixture.append("second")
        #expect(try fixture.waitForLog(3))
        try fixture.append("third")
        fixture.disk.fail()
        #expect(fixture.waitForAnswers(3).sorted() == ["first E_IO", "second E_IO", "third E_IO"])
        try fixture.append("fourth")
        #expect(fixture.waitForAnswers(4).last == "fourth E_IO")
        #expect(fixture.disk.asked == 1)
        #expect(fixture.signer.head()?.head.size == 1)
    }

    @Test("A repeated append is not answered before what it repeats is durable (INV-8)")
    func repeated() throws {
        let fixture = try Fixture()
        defer { fixture.writer.close() }
        let id = EventID(UUIDBits(high: 1, low: 2))
        let draft = EventDraft(id: id, type: "message.posted", user: "u-1", payload: Array(#"{"text":"a"}"#.utf8))
        let answers = Monitor<[Bool]>([])
        func send() throws {
            let request = try #require(DraftValidation([draft, draft], .each).request(nil))
            let job = LogWriter.Job.append(request) { result in
                answers.update { answers in
                    if case .already = try? result.get()[1] { answers.append(true) } else { answers.append(false) }
                    return true
                }
            }
            fixture.writer.submit([job])
        }
        try send()
        fixture.disk.waitUntilAsked(1)
        try send()
        usleep(50_000)
        #expect(answers.withLock { $0 } == [])
        fixture.disk.allow()
        #expect(answers.wait(milliseconds: 60_000) { $0.count == 2 ? $0 : nil } == [true, true])
    }

    /// What a thread that appends at once was told, in order.
    private func appendAtOnce(_ fixture: Fixture, _ text: String, _ told: Monitor<[String]>) throws {
        let request = try #require(DraftValidation([.message(text, user: "u-1")], .each).request(nil))
        @Sendable func tell(_ what: String) {
            told.update { told in
                told.append(what)
                return true
            }
        }
        Thread.detachNewThread { [writer = fixture.writer] in
            do throws(StoreError) {
                let isDone = try writer.appendAtOnce(request, awake: false) { outcomes in
                    tell("\(text) is at \(outcomes.first?.receipt?.position ?? 0)")
                } answer: {
                    tell("\(text) is durable")
                }
                if !isDone { tell("\(text) was not taken") }
            } catch {
                tell("\(text) \(error.code)")
            }
        }
    }

    @Test("Who appends at once gets the outcome while the disk works, and may tell it when that is done")
    func atOnce() throws {
        let fixture = try Fixture()
        defer { fixture.writer.close() }
        let told = Monitor<[String]>([])
        func wait(_ count: Int) -> [String]? { told.wait(milliseconds: 60_000) { $0.count >= count ? $0 : nil } }
        try appendAtOnce(fixture, "first", told)
        fixture.disk.waitUntilAsked(1)
        #expect(told.withLock { $0 } == ["first is at 2"])
        #expect(fixture.signer.head()?.head.size == 1)
        try appendAtOnce(fixture, "second", told)
        #expect(wait(2) == ["first is at 2", "second was not taken"])
        try fixture.append("third")
        fixture.disk.allow()
        #expect(wait(3)?.last == "first is durable")
        #expect(fixture.waitForAnswers(1) == ["third 3"])
    }

    @Test("When the sync of what was appended at once fails it is not told as durable")
    func atOnceFailing() throws {
        let fixture = try Fixture()
        defer { fixture.writer.close() }
        let told = Monitor<[String]>([])
        fixture.disk.fail()
        try appendAtOnce(fixture, "first", told)
        let expected = ["first is at 2", "first E_IO"]
        #expect(told.wait(milliseconds: 60_000) { $0.count >= 2 ? $0 : nil } == expected)
        try appendAtOnce(fixture, "second", told)
        #expect(told.wait(milliseconds: 60_000) { $0.count >= 3 ? $0 : nil }?.last == "second was not taken")
    }

    @Test("A commit waits beside one that is synced, not beside two; few do not go ahead of many")
    func room() throws {
        func commit(_ events: Int) -> GroupCommit {
            GroupCommit(jobs: [], answers: [], events: events, hasWritten: true, own: nil, notice: nil)
        }
        var flight = CommitPipeline()
        #expect(flight.isEmpty && flight.hasRoom(for: 1) && !flight.isSyncDue)
        flight.add(commit(10))
        #expect(flight.isSyncDue && !flight.hasRoom(for: 100))
        #expect(flight.begin().map(\.events) == [10])
        #expect(!flight.isEmpty && flight.begin().isEmpty)
        #expect(!flight.hasRoom(for: 4) && flight.hasRoom(for: 5))
        flight.add(commit(5))
        #expect(!flight.hasRoom(for: 100) && flight.begin().isEmpty)
        flight.end()
        #expect(flight.begin().map(\.events) == [5])
        flight.add(commit(1))
        #expect(flight.abandon().map(\.events) == [1])
        #expect(flight.isEmpty)
        var queue = WriteQueue()
        #expect(try queue.add(commit(3)).get().count == 1)
        #expect(try queue.add(commit(3)).get().isEmpty)
        // Written while the sync of the one before failed.
        queue.failure = .io("gone")
        #expect(throws: StoreError.io("gone")) { try queue.add(commit(3)).get() }
    }
}
