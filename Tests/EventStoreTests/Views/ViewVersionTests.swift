import Foundation
import TestSupport
import Testing

@testable import EventStore

/// Each view has a version of its own: one that changes is built anew, and no other (D1, INV-10).
struct ViewVersionTests {
    private static let names = ViewDatabase.types.map { $0.name }
    private static let generation = 60

    /// A log with something in every view, twins and refusals too.
    private func log(_ count: UInt64 = 400, seed: UInt64 = 1) throws -> LogFixture {
        var random = SplitMix64(state: seed)
        let log = try LogFixture()
        let target = EventID(UUIDBits(high: 0x1d, low: 5))
        var seqs: [UInt64: UInt64] = [:]
        var events: [Event] = []
        for number in 1...count {
            let (type, payload): (String, String) =
                switch Int.random(in: 0..<10, using: &random) {
                case 0:
                    ("conversation.started", #"{"title":"제목 \#(number)","participants":["p"],"moderators":["m"]}"#)
                case 1: ("profile.changed", #"{"fields":{"name":"김\#(number)","age":\#(number)}}"#)
                case 2: ("survey.answered", #"{"survey":"s","question":"q","rating":\#(number % 5)}"#)
                case 3: ("message.edited", #"{"message":"\#(target)","text":"고침 \#(number)"}"#)
                case 4: ("message.posted", #"{"text":7}"#)
                case 5: ("survey.answered", #"{"survey":7}"#)
                case 6: ("participant.joined", #"{"user":"q-\#(number % 9)"}"#)
                default: ("message.posted", #"{"text":"x"}"#)
                }
            let from = UInt64.random(in: 1...3, using: &random)
            seqs[from, default: 0] += 1
            let other = from % 3 + 1
            events.append(
                event(
                    from, seqs[from] ?? 1, hlc: 1_000 + Int64(number), id: number % 20 == 0 ? number - 15 : number,
                    type: type, conversation: "c-\(number % 5)", user: "u-\(number % 3)",
                    dependencies: number % 30 == 0
                        ? seqs[other].map { [Dot(origin: origin(other), seq: $0)] } ?? [] : [],
                    unknown: number % 70 == 0 ? [0xf8, 0x07, 0x01] : [], payload))
        }
        try log.deliver(events)
        return log
    }

    /// Views of the log, some rows compacted and some not, and their digests.
    private func filled(_ log: LogFixture) throws -> [ViewDigest] {
        let projector = try Projector(log.files, tails: ViewMemtables(generation: Self.generation))
        while projector.position < 250 { try projector.step(through: 250, limit: 40) }
        while projector.pending > 0 { try projector.merge() }
        while projector.position < log.top { try projector.step(limit: 40) }
        try projector.catchUp()
        return try projector.allDigests()
    }

    private func open(_ files: StoreFiles, _ versions: ViewVersions = .current) throws -> Projector {
        try Projector(files, tails: ViewMemtables(generation: Self.generation), versions: versions)
    }

    private func renewed(with name: String) -> Set<String> {
        switch name {
        case TimelineView.name: [TimelineView.name, ConversationsView.name, ParticipantsView.name]
        case HistoryView.name: [HistoryView.name, RoomsView.name]
        default: [name]
        }
    }

    @Test(
        "A view of another version is built anew, alone but for what is summed up of it; the answers are the same",
        arguments: names)
    func alone(name: String) throws {
        let log = try log()
        let digests = try filled(log)
        let versions = ViewVersions.current.changing(name)
        let projector = try open(log.files, versions)
        #expect(projector.isUnfinished && projector.position == log.top)
        #expect(projector.renewal?.contains(name) == true)
        // Nothing is answered meanwhile, stale or half; but a search says what it lacks.
        if name == SearchView.name {
            #expect(try ViewReader(log.files, versions: versions).unindexed() == log.top)
        } else {
            #expect(throws: StoreError.busy("the views must be built anew")) {
                try ViewReader(log.files, versions: versions)
            }
        }
        while projector.isUnfinished { try projector.goOn(limit: 33, piece: 7) }
        #expect(projector.given == Dictionary(uniqueKeysWithValues: renewed(with: name).map { ($0, log.top) }))
        #expect(try projector.allDigests() == digests)
        #expect(try ViewReader(log.files, versions: versions).allDigests(log.files) == digests)
        let report = try ViewsCheck(log.files, versions: versions).run()
        #expect(report.isIntact, "\(report.differences)")
        // Later events reach all views, and the next start has nothing to do.
        try log.deliver([event(4, 1, hlc: 9_000, type: "profile.changed", #"{"fields":{"name":"new"}}"#)])
        try projector.catchUp()
        #expect(try open(log.files, versions).renewal == nil)
        #expect(try ViewsCheck(log.files, versions: versions).run().isIntact)
    }

    @Test("What an earlier version of a view has refused is not kept against this one (INV-6)", arguments: names)
    func refused(name: String) throws {
        let log = try log()
        let digests = try filled(log)
        let connection = try Connection(path: log.files.views, mode: .write)
        try connection.execute("PRAGMA wal_autocheckpoint = 0")
        let isFree = { (position: Int64) in
            try connection.integer(
                "SELECT count(*) FROM quarantine WHERE position = \(position) AND view = '\(name)'") == 0
        }
        let position = try #require(try (1...100).first(where: isFree))
        try connection.run(
            "INSERT INTO quarantine VALUES(?, ?, 'as an earlier version had it')", .integer(position), .text(name))
        let projector = try open(log.files, ViewVersions.current.changing(name))
        while projector.isUnfinished { try projector.goOn(limit: 100) }
        #expect(projector.given == Dictionary(uniqueKeysWithValues: renewed(with: name).map { ($0, log.top) }))
        #expect(try projector.allDigests() == digests)
    }

    @Test("A process that is killed at any step goes on where it was (INV-10)", arguments: names)
    func killed(name: String) throws {
        let log = try log()
        let digests = try filled(log)
        let versions = ViewVersions.current.changing(name)
        let projector = try open(log.files, versions)
        var steps = 0
        while projector.isUnfinished {
            // What a process that is killed here leaves is what stands in the files now.
            let copy = TemporaryFolder()
            try FileManager.default.copyItem(atPath: log.folder.path, toPath: copy.path)
            let again = try open(StoreFiles(copy.path), versions)
            #expect(again.isUnfinished && again.renewal == nil)
            while again.isUnfinished { try again.goOn(limit: 100) }
            let left = log.top - UInt64(steps * 90)
            #expect(again.given == Dictionary(uniqueKeysWithValues: renewed(with: name).map { ($0, left) }))
            #expect(try again.allDigests() == digests, "\(steps)")
            #expect(try ViewsCheck(StoreFiles(copy.path), versions: versions).run().isIntact)
            try projector.goOn(limit: 90)
            steps += 1
        }
        #expect(steps == 5)
    }

    @Test("Views that are behind at different places all come to where the others stand")
    func several() throws {
        let log = try log()
        let digests = try filled(log)
        let first = ViewVersions.current.changing(ProfilesView.name)
        do {
            let projector = try open(log.files, first)
            for _ in 0..<2 { try projector.step(limit: 70) }
        }
        let second = first.changing(SurveysView.name).changing(TimelineView.name)
        let projector = try open(log.files, second)
        while projector.isRebuilding { try projector.step(limit: 50) }
        #expect(
            projector.given == [
                ProfilesView.name: 260, SurveysView.name: 400, TimelineView.name: 400, ConversationsView.name: 400,
                ParticipantsView.name: 400,
            ])
        #expect(try projector.allDigests() == digests)
        #expect(try ViewsCheck(log.files, versions: second).run().isIntact)
    }

    @Test("While views are built anew beside the old ones, one that changes starts again alone")
    func withinRebuild() throws {
        let log = try log()
        let digests = try filled(log)
        do {
            let projector = try open(log.files)
            try projector.beginRebuild()
            try projector.step(limit: 100)
        }
        try FileManager.default.removeItem(atPath: log.files.views)
        let versions = ViewVersions.current.changing(MessagesView.name)
        let projector = try open(log.files, versions)
        try projector.catchUp()
        #expect(projector.given[MessagesView.name] == 400 && projector.given[HistoryView.name] == 300)
        #expect(try projector.allDigests() == digests)
        #expect(try ViewsCheck(log.files, versions: versions).run().isIntact)
    }

    @Test("A thread that follows the log brings the view up before anyone sees it")
    func thread() throws {
        let log = try log()
        _ = try filled(log)
        let expected = try ViewReader(log.files).profile(user: "u-1")
        do {
            let connection = try Connection(path: log.files.views, mode: .write)
            try connection.execute("UPDATE view SET version = 0 WHERE name = 'profiles'")
        }
        #expect(throws: StoreError.self) { try ViewReader(log.files) }
        let told = Lock<[String]>([])
        let thread = ProjectorThread(log.files, top: log.top, renewed: { what in told.withLock { $0.append(what) } })
        defer { thread.stop() }
        #expect(thread.wait(for: log.top, milliseconds: 60_000))
        #expect(try ViewReader(log.files).profile(user: "u-1") == expected && !expected.isEmpty)
        #expect(told.withLock { $0 } == ["views of another version are built anew: profiles"])
    }

    @Test("Views of a release whose files have another form are built anew once, and it is said")
    func earlier() throws {
        let log = try log()
        let digests = try filled(log)
        let version = ViewDatabase.version - 1
        do {
            let connection = try Connection(path: log.files.views, mode: .write)
            try connection.execute("DROP TABLE view; PRAGMA user_version = \(version)")
        }
        #expect(throws: StoreError.self) { try ViewReader(log.files) }
        let projector = try open(log.files)
        #expect(projector.isRebuilding)
        #expect(projector.renewal == "the views of version \(version) are all built anew")
        try projector.catchUp()
        #expect(try projector.allDigests() == digests)
        #expect(try ViewReader(log.files).allDigests(log.files) == digests)
        #expect(try ViewsCheck(log.files).run().isIntact)
        #expect(try open(log.files).renewal == nil)
    }

    @Test("A view that only a later release has goes with its tables, and that release builds it anew")
    func later() throws {
        let log = try log()
        let digests = try filled(log)
        do {
            let connection = try Connection(path: log.files.views, mode: .write)
            try connection.execute(
                "CREATE TABLE \"odd \"\"name\"(a); INSERT INTO view VALUES('moods', 3, NULL)")
        }
        let projector = try open(log.files)
        #expect(!projector.isRebuilding && projector.renewal == nil)
        try projector.catchUp()
        #expect(projector.given.isEmpty)
        #expect(try projector.allDigests() == digests)
        let report = try ViewsCheck(log.files).run()
        #expect(report.isIntact, "\(report.differences)")
    }

    @Test("No two views have a table in common, and none one of those that all share")
    func tables() throws {
        let log = try log(10)
        try Projector(log.files).catchUp()
        let connection = try openForReading(log.files.views)
        var found: [String] = []
        let select = try connection.statement("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
        while try select.step() { found.append(select.text(0)) }
        let shared = ["digest", "progress", "quarantine", "view"]
        #expect((ViewDatabase.types.flatMap { $0.tables } + shared).sorted() == found)
    }
}

extension Projector {
    /// Whether a view is not yet where the others stand.
    fileprivate var isUnfinished: Bool { isRebuilding || indexed < position }

    fileprivate func goOn(limit: Int, piece: Int = 2_048) throws {
        if isRebuilding { try step(limit: limit, piece: piece) } else { try stepDeferred(limit: limit) }
    }
}
