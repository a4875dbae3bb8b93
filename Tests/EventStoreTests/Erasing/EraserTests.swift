import Foundation
import TestSupport
import Testing

@testable import EventStore

/// What an erasure covers is in no file afterwards (INV-11), whenever it came, and all that is signed still holds (INV-3, D27).
struct EraserTests {
    private static func word() -> String { "비밀\(UInt64.random(in: 1 << 60 ... .max))" }

    private static func draft(
        _ type: String, _ payload: String, user: String, conversation: String? = nil, author: String? = nil
    ) -> EventDraft {
        EventDraft(
            type: type, conversation: conversation, user: user, author: author, payload: Array(payload.utf8))
    }

    private static func erasure(_ user: String) -> Erasure {
        var erasure = Erasure(subject: .user(user))
        (erasure.reason, erasure.who) = ("요청 88", "kim")
        return erasure
    }

    @discardableResult
    private func erase(_ store: EventStore, _ erasures: [Erasure]) throws -> [AppendOutcome] {
        let outcomes = try store.eraseBlocking(erasures, author: "operator")
        #expect(outcomes.allSatisfy { $0.receipt != nil })
        try store.finishErasures()
        return outcomes
    }

    @Test("Of every kind of payload that views read nothing is left in any file; what is appended afterwards stays")
    func everyKind() throws {
        let (folder, store) = try makeStore()
        let words = (0..<8).map { _ in Self.word() }
        let message = EventDraft.message(words[0], user: "u-1", conversation: "c-1")
        let first = try store.appendBlocking([message])[0].receipt?.id
        let edited = EventDraft(
            type: "message.edited", conversation: "c-1", user: "u-1", cause: first,
            payload: Array(#"{"text":"\#(words[1])"}"#.utf8))
        _ = try store.appendBlocking([
            edited,
            Self.draft("bot.replied", #"{"text":"\#(words[2])"}"#, user: "u-1", conversation: "c-1", author: "bot"),
            Self.draft("profile.changed", #"{"fields":{"name":"\#(words[3])"}}"#, user: "u-1"),
            Self.draft(
                "survey.answered", #"{"survey":"s","question":"q","rating":3,"comment":"\#(words[4])"}"#, user: "u-1"),
            Self.draft(
                "conversation.started", #"{"title":"\#(words[5])","category":"text"}"#, user: "u-1",
                conversation: "c-1"),
            Self.draft("conversation.renamed", #"{"title":"\#(words[6])"}"#, user: "u-1", conversation: "c-1"),
            Self.draft("message.posted", #"{"text":"\#(String(repeating: words[7], count: 800))"}"#, user: "u-1"),
            .message("남는 말", user: "u-2", conversation: "c-1"),
        ])
        try store.flushBlocking()
        _ = try Projector.catchUp(StoreFiles(folder.path))
        let traces = ByteScan.traces(words)
        #expect(Set(ByteScan.find(words, in: [folder.path]).map { $0.prefix { $0 != " " } }).count == words.count)
        // The word of 800 repetitions is cut into tokens.
        let indexed = ByteScan.find(traces, in: [folder.path]).filter { $0.hasSuffix("views.db") }
        #expect(indexed.count >= words.count - 1, "\(indexed)")

        try erase(store, [Self.erasure("u-1")])
        _ = try Projector.catchUp(StoreFiles(folder.path))
        #expect(ByteScan.find(traces, in: [folder.path]).isEmpty)
        #expect(ByteScan.find(["남는 말"], in: [folder.path]).isEmpty == false)
        let later = Self.word()
        _ = try store.appendBlocking([.message(later, user: "u-1", conversation: "c-1")])
        store.close()
        #expect(ByteScan.find(traces, in: [folder.path]).isEmpty)
        #expect(ByteScan.find([later], in: [folder.path]).isEmpty == false)
        let report = try verify(folder)
        #expect(report.answer == .proven && report.erased == 8, report.text)
        #expect(try LogReader(StoreFiles(folder.path)).uncoveredErasures().isEmpty)
    }

    @Test("Of a message alone no token is left in the search index or its WAL, and no search finds it (D15, INV-11)")
    func searched() throws {
        let (folder, store) = try makeStore()
        let words = (0..<200).map { _ in Self.word() }
        let traces = ByteScan.traces(words)
        _ = try store.appendBlocking(words.map { .message("\($0) 이야기", user: "u-1", conversation: "c-1") })
        _ = try store.appendBlocking([.message("남는 이야기", user: "u-2", conversation: "c-1")])
        let files = StoreFiles(folder.path)
        _ = try Projector.catchUp(files)
        let reader = try ViewReader(files)
        func found(_ words: String) throws -> Int {
            try reader.search(SearchQuery(SearchWords(words)), limit: 500).hits.count
        }
        #expect(try found("이야기") == 201 && found(traces[7]) == 0 && found(words[7]) == 1)
        let indexed = ByteScan.find(traces, in: [folder.path]).filter { $0.contains("views.db") }
        #expect(indexed.count >= words.count, "\(indexed.count)")

        try erase(store, [Self.erasure("u-1")])
        #expect(try found("이야기") == 1, "of the old views, too")
        _ = try Projector.catchUp(files)
        #expect(ByteScan.find(traces, in: [folder.path]).isEmpty)
        #expect(try found("이야기") == 1 && found(words[7]) == 0)
        // Beside the owner of the store it looks at a copy.
        let report = try ViewsCheck(files).run()
        #expect(report.isIntact, "\(report.differences)")
        store.close()
        #expect(ByteScan.find(traces, in: [folder.path]).isEmpty)
    }

    @Test("Copies that SQLite leaves where it moves rows between pages are overwritten (INV-11)")
    func slack() throws {
        let (folder, store) = try makeStore()
        let words = (0..<1_500).map { _ in Self.word() }
        for start in stride(from: 0, to: words.count, by: 100) {
            let drafts = words[start..<start + 100].enumerated().flatMap { index, word in
                [
                    EventDraft.message(
                        word + String(repeating: "가", count: index * 7), user: "u-1", conversation: "c-1"),
                    .message("남는 말 \(index)", user: "u-\(index % 5 + 2)", conversation: "c-2"),
                ]
            }
            _ = try store.appendBlocking(drafts)
        }
        var erasure = Erasure(subject: .conversation("c-1"))
        erasure.reason = "닫은 대화"
        try erase(store, [erasure])
        #expect(ByteScan.find(words, in: [folder.path]).isEmpty)
        #expect(try LogReader(StoreFiles(folder.path)).slackPages().isEmpty)
        store.close()
        #expect(ByteScan.find(words, in: [folder.path]).isEmpty)
        let report = try verify(folder)
        #expect(report.answer == .proven && report.erased == 1_500, report.text)
    }

    @Test("What comes late from a peer is stored without its payload if it is covered, and is not healed (INV-11)")
    func late() throws {
        let (folder, store) = try makeStore()
        _ = try store.appendBlocking([.message("먼저", user: "u-1")])
        try erase(store, [Self.erasure("u-1")])
        let (gone, kept) = (Self.word(), Self.word())
        var peer = ForeignOrigin(1, name: "busan-1")
        peer.add(.message(gone, user: "u-1", conversation: "c-1"))
        peer.add(.message(kept, user: "u-2", conversation: "c-1"))
        try peer.send(to: store)
        #expect(ByteScan.find([gone], in: [folder.path]).isEmpty)
        let reader = try LogReader(StoreFiles(folder.path))
        let event = try #require(try reader.event(Dot(origin: peer.id, seq: 2))?.event)
        #expect(event.isErased)
        #expect(try reader.event(Dot(origin: peer.id, seq: 3))?.event.isErased == false)
        // A peer that has it whole offers it.
        guard case .present(let salt, let payload) = peer.received[1].body else { return }
        let carried = CarriedPayload(dot: Dot(origin: peer.id, seq: 2), salt: salt, payload: payload)
        let healed = try blocking { store.writer.submit([.heal([carried], $0)]) }
        #expect(healed.isEmpty)
        #expect(ByteScan.find([gone], in: [folder.path]).isEmpty)
        store.close()
        #expect(try verify(folder).answer == .proven)
    }

    @Test(
        "A peer's erasure is confirmed by an event of this node, which covers all that is here; without that it covers nothing of others"
    )
    func confirmed() throws {
        let (folder, store) = try makeStore()
        let (own, third) = (Self.word(), Self.word())
        _ = try store.appendBlocking([.message(own, user: "u-1", conversation: "c-1")])
        var dead = ForeignOrigin(2, name: "gone-1")
        dead.add(.message(third, user: "u-1", conversation: "c-1"))
        try dead.send(to: store)
        var peer = ForeignOrigin(1, name: "busan-1", since: WallClock.now + 5_000)
        peer.add(Self.erasure("u-1").draft(user: "operator"))
        try peer.send(to: store)
        #expect(ByteScan.find([own, third], in: [folder.path]).count >= 2)
        let reader = try LogReader(StoreFiles(folder.path))
        #expect(try reader.erasureReports().map(\.standing) == [.unconfirmed])

        try store.confirmErasures()
        try waitWhile(reader.erasureReports().first?.standing != .applied)
        try store.finishErasures()
        #expect(ByteScan.find([own, third], in: [folder.path]).isEmpty)
        let report = try #require(try reader.erasureReports().first)
        #expect(report.standing == .applied && report.confirmed.map(\.node) == [store.identity.node])
        #expect(report.waiting == [dead.key.publicKey.nodeID])
        store.close()
        #expect(try verify(folder).answer == .proven)
        // Once is enough.
        let again = try EventStore(opening: folder.path)
        try again.confirmErasures()
        try again.finishErasures()
        #expect(try LogReader(StoreFiles(folder.path)).erasures().count == 2)
        again.close()
    }

    @Test("An erasure that was recorded and not applied goes on when the store is opened again")
    func resumed() throws {
        let (folder, store) = try makeStore()
        let words = (0..<400).map { _ in Self.word() }
        _ = try store.appendBlocking(words.map { .message($0, user: "u-1") })
        _ = try store.eraseBlocking([Self.erasure("u-1")], author: "operator")
        // Whatever it has come to.
        store.close()
        let again = try EventStore(opening: folder.path)
        try again.finishErasures()
        #expect(ByteScan.find(words, in: [folder.path]).isEmpty)
        #expect(try LogReader(StoreFiles(folder.path)).erasureReports().map(\.standing) == [.applied])
        again.close()
        #expect(try verify(folder).answer == .proven)
    }

    @Test("A copy from before the erasure is erased again when the erasure comes back to it")
    func restored() throws {
        let (folder, store) = try makeStore()
        let word = Self.word()
        let copy = TemporaryFolder()
        var peer = ForeignOrigin(1, name: "busan-1", since: WallClock.now)
        peer.add(.message(word, user: "u-1"))
        try peer.send(to: store)
        store.close()
        try? FileManager.default.removeItem(atPath: copy.path)
        try FileManager.default.copyItem(atPath: folder.path, toPath: copy.path)
        let restored = try EventStore(opening: copy.path)
        peer.add(Self.erasure("u-1").draft(user: "operator"))
        try peer.send(to: restored)
        try restored.confirmErasures()
        let reader = try LogReader(StoreFiles(copy.path))
        try waitWhile(reader.erasureReports().first?.standing != .applied)
        #expect(ByteScan.find([word], in: [copy.path]).isEmpty)
        restored.close()
    }

    @Test("What a node says for itself is never covered: keys, erasures and grants stay")
    func reserved() throws {
        let (folder, store) = try makeStore()
        let name = "node/\(store.identity.node)"
        try erase(store, [Self.erasure(name), Self.erasure(name)])
        store.close()
        let report = try verify(folder)
        #expect(report.answer == .proven && report.erased == 0, report.text)
    }

    @Test("A plan counts what goes, what was written elsewhere and what others replied; the choices decide")
    func plan() throws {
        let (folder, store) = try makeStore()
        let question = try store.appendBlocking([.message("물음", user: "u-1", conversation: "c-1")])[0].receipt?.id
        _ = try store.appendBlocking([
            EventDraft(
                type: "bot.replied", conversation: "c-9", user: "u-2", author: "bot", cause: question,
                payload: Array(#"{"text":"답"}"#.utf8)),
            Self.draft("message.posted", #"{"text":"남의 방"}"#, user: "u-3", conversation: "c-3", author: "u-1"),
            .message("상관없음", user: "u-2", conversation: "c-1"),
        ])
        let files = StoreFiles(folder.path)
        let plan = try ErasurePlan(.user("u-1"), LogReader(files))
        #expect(ErasurePlan.Part.allCases.map { plan.count($0) } == [1, 1, 1, 0] && plan.conversations == 3)
        let same = try ErasurePlan(.user("u-1"), LogReader(files), at: plan.moment).seen
        #expect(same == plan.seen && ErasurePlan.Seen(text: same.text) == same)
        try erase(store, #require(plan.erasures(authored: true, withReplies: true, reason: "r", who: "w")))
        let after = try ErasurePlan(.user("u-1"), LogReader(files), at: plan.moment)
        #expect(ErasurePlan.Part.allCases.map { after.count($0) } == [0, 0, 0, 0] && after.gone >= 2)
        #expect(after.seen != plan.seen)
        let named = try ErasurePlan(.events([try #require(question)]), LogReader(files))
        #expect(named.count(.own) == 0 && named.gone == 1)
        store.close()
        let report = try verify(folder)
        #expect(report.answer == .proven && report.erased == 3, report.text)
    }

    @Test("Single events go by name, whatever their stamps, and nothing else")
    func byName() throws {
        let (folder, store) = try makeStore()
        let words = (0..<3).map { _ in Self.word() }
        let ids = try store.appendBlocking(words.map { .message($0, user: "u-1") }).compactMap(\.receipt?.id)
        let plan = try ErasurePlan(.events([ids[1]]), LogReader(StoreFiles(folder.path)))
        #expect(plan.count(.own) == 1)
        try erase(store, #require(plan.erasures(authored: false, withReplies: false, reason: "r", who: "w")))
        store.close()
        let left = ByteScan.find(words, in: [folder.path])
        #expect(!left.contains { $0.hasPrefix(words[1]) } && left.contains { $0.hasPrefix(words[0]) })
        #expect(try verify(folder).erased == 1)
    }

    /// Changes the file as a hand without the node's key does, while no one has the store open.
    private func change(_ folder: TemporaryFolder, _ statement: String) throws {
        let connection = try Connection(path: StoreFiles(folder.path).log, mode: .write)
        try connection.execute(statement)
        #expect(try connection.integer("SELECT changes()") != 0)
    }

    @Test(
        "How far erasures are applied is not believed where another hand wrote it: they are applied, and verify names it (INV-11)",
        arguments: ["('erased', '4000')", "('erased', '2')", "('erased', '+2')", "('erased', '')"])
    func markOfAnother(value: String) throws {
        let (folder, store) = try makeStore()
        let word = Self.word()
        _ = try store.appendBlocking([.message(word, user: "u-1")])
        store.close()
        try change(folder, "INSERT OR REPLACE INTO meta VALUES\(value)")
        let found = try verify(folder)
        #expect(found.answer == .contradicted && found.findings.map(\.check) == [.erasures], found.text)
        #expect(try LogReader(StoreFiles(folder.path)).erasedThrough() == 0)
        let again = try EventStore(opening: folder.path)
        #expect(try LogReader(again.files).meta("erased") == nil)
        try erase(again, [Self.erasure("u-1")])
        #expect(ByteScan.find([word], in: [folder.path]).isEmpty)
        #expect(try LogReader(again.files).erasureReports().map(\.standing) == [.applied])
        again.close()
        #expect(try verify(folder).answer == .proven)
    }

    @Test("An erasure that was broken off goes on, whatever another hand has written of how far it came (INV-11)")
    func progressOfAnother() throws {
        let (folder, store) = try makeStore()
        let word = Self.word()
        _ = try store.appendBlocking([.message(word, user: "u-1")])
        let before = try LogReader(store.files).event(at: 2)?.event.body
        let recorded = try erase(store, [Self.erasure("u-1")])
        let position = try #require(recorded.first?.receipt?.position)
        store.close()
        // As it would stand if the process had ended before the payload went.
        try putBack(before, at: 2, in: folder)
        try change(folder, "DELETE FROM meta WHERE key = 'erased'")
        try change(folder, "INSERT OR REPLACE INTO meta VALUES('erasing', '\(position) \(position) log')")
        let found = try verify(folder)
        #expect(found.answer == .notCovered && found.isIntact, found.text)
        #expect(found.notes.contains { $0.contains("payloads which are here: 1, at position 2") }, "\(found.notes)")
        let again = try EventStore(opening: folder.path)
        try again.finishErasures()
        #expect(ByteScan.find([word], in: [folder.path]).isEmpty)
        again.close()
        #expect(try verify(folder).answer == .proven)
    }

    @Test(
        "What another hand has put back leaves the store by no way that proves or hands over (INV-11)",
        arguments: [1, 9])
    func putBackStays(events: Int) throws {
        let (folder, store) = try makeStore()
        _ = try store.appendBlocking((0..<events).map { .message("말 \($0)", user: "u-1") })
        try store.flushBlocking()
        let before = try LogReader(store.files).event(at: 2)?.event.body
        try erase(store, [Self.erasure("u-1")])
        let (files, key, top) = (store.files, store.key, try LogReader(store.files).top())
        func ways() -> [Result<UInt64, any Error>] { Self.ways(files, key, top) }
        for way in ways() { #expect(try way.get() > 0) }
        try putBack(before, at: 2, in: folder)
        for way in ways() {
            #expect(throws: StoreError.self) { try way.get() }
            if case .failure(let error) = way { #expect("\(error)".contains("was erased and has a payload again")) }
        }
        // A hand may take the node's own words away, too.
        for keys in ["= 'erased'", "LIKE 'erasure %'", "LIKE 'eras%'"] {
            try change(folder, "DELETE FROM meta WHERE key \(keys)")
            for way in ways() { #expect(throws: StoreError.self, "\(keys)") { try way.get() } }
        }
        store.close()
    }

    /// How many events leave the store by each way that proves or hands over.
    private static func ways(_ files: StoreFiles, _ key: SigningKey, _ top: UInt64) -> [Result<UInt64, any Error>] {
        func replayed(_ replay: LogReplay) throws -> UInt64 {
            var count: UInt64 = 0
            try replay.forEach { _ in
                count += 1
                return true
            }
            return count
        }
        return [
            Result {
                let export = try AnswerExport(files, .user("u-1"), at: [2], isFiltered: false, key: key, time: 1)
                while try export.next() != nil {}
                return export.written
            },
            Result {
                let export = try EvidenceExport(files)
                while try export.next() != nil {}
                return export.written
            },
            Result { try replayed(LogReplay(files, through: top)) },
            Result { try replayed(LogReplay(files, at: [2])) },
        ]
    }

    @Test("An event that another hand has emptied leaves the store by none of these ways as an erased one (INV-1)")
    func emptied() throws {
        let (folder, store) = try makeStore()
        _ = try store.appendBlocking((0..<3).map { .message("말 \($0)", user: "u-1") })
        try store.flushBlocking()
        let body = try #require(try LogReader(store.files).event(at: 2)?.event.body)
        let digest = SHA256().payloadDigest(body)
        try change(
            folder,
            "UPDATE event SET salt = NULL, payload = NULL, digest = x'\(hexText(digest.bytes))' WHERE position = 2")
        // Of another user's.
        try erase(store, [Self.erasure("u-2")])
        for (index, way) in Self.ways(store.files, store.key, try LogReader(store.files).top()).enumerated() {
            // Evidence says that a payload is not here, and not why.
            guard index != 1 else { continue }
            #expect(throws: StoreError.self) { try way.get() }
            if case .failure(let error) = way { #expect("\(error)".contains("no erasure says so"), "\(error)") }
        }
        store.close()
        #expect(try verify(folder).answer == .contradicted)
    }

    @Test(
        "Where a hand has emptied the erasure itself no one can tell what may leave the store, so nothing does (INV-11)"
    )
    func emptiedErasure() throws {
        let (folder, store) = try makeStore()
        _ = try store.appendBlocking([.message("말", user: "u-1")])
        try store.flushBlocking()
        let before = try LogReader(store.files).event(at: 2)?.event.body
        try erase(store, [Self.erasure("u-1")])
        let top = try LogReader(store.files).top()
        let position = try #require(try LogReader(store.files).erasures().first?.position)
        let body = try #require(try LogReader(store.files).event(at: position)?.event.body)
        let digest = SHA256().payloadDigest(body)
        try change(
            folder,
            "UPDATE event SET salt = NULL, payload = NULL, digest = x'\(hexText(digest.bytes))' WHERE position = \(position)"
        )
        try putBack(before, at: 2, in: folder)
        for way in Self.ways(store.files, store.key, top) {
            #expect(throws: StoreError.self) { try way.get() }
            if case .failure(let error) = way { #expect("\(error)".contains("has lost its payload"), "\(error)") }
        }
        store.close()
    }

    /// Puts what an erasure has let go back into its row.
    private func putBack(
        _ body: EventBody?, at position: UInt64, beside digest: Bool = false, in folder: TemporaryFolder
    ) throws {
        guard case .present(let salt, let payload)? = body else {
            Issue.record("no payload")
            return
        }
        try change(
            folder,
            """
            UPDATE event SET \(digest ? "" : "digest = NULL,") salt = x'\(hexText(salt.bytes))', \
            payload = '\(String(decoding: payload, as: UTF8.self))' WHERE position = \(position)
            """)
    }

    @Test(
        "Where another hand took the erasures out of table meta, they are found in the log, refuse what comes, and verify says so (INV-11)",
        arguments: [
            "key LIKE 'erasure %'", "key LIKE 'eras%'", "key = 'erasures'", "key IN ('erasures', 'erased')",
        ])
    func indexOfAnother(keys: String) throws {
        let (folder, store) = try makeStore()
        let word = Self.word()
        _ = try store.appendBlocking([.message(word, user: "u-1")])
        guard case .present(let salt, let payload)? = try LogReader(store.files).event(at: 2)?.event.body else {
            return
        }
        try erase(store, [Self.erasure("u-1")])
        store.close()
        try change(folder, "DELETE FROM meta WHERE \(keys)")
        if keys == "key LIKE 'erasure %'" {
            let found = try verify(folder)
            #expect(found.answer == .contradicted && Set(found.findings.map(\.check)) == [.erasures], found.text)
            #expect(try LogReader(StoreFiles(folder.path)).erasureReports(isSearched: true).count == 1)
        } else {
            #expect(try verify(folder).answer == .notCovered)
        }
        let again = try EventStore(opening: folder.path)
        let carried = CarriedPayload(
            dot: Dot(origin: again.identity.origin, seq: 2), salt: salt, payload: payload)
        #expect(try blocking { again.writer.submit([.heal([carried], $0)]) }.isEmpty)
        try again.finishErasures()
        #expect(try LogReader(again.files).erasureReports().map(\.standing) == [.applied])
        #expect(ByteScan.find([word], in: [folder.path]).isEmpty)
        again.close()
        let report = try verify(folder)
        #expect(report.answer == .proven && report.erased == 1, report.text)
    }

    @Test(
        "A payload that another hand put back is a finding, before and behind its erasure, and a daemon takes it away (INV-11)",
        arguments: [false, true])
    func putBack(isBesideDigest: Bool) throws {
        let (folder, store) = try makeStore()
        let words = [Self.word(), Self.word()]
        _ = try store.appendBlocking([.message(words[0], user: "u-1")])
        let before = try LogReader(store.files).event(at: 2)?.event.body
        try erase(store, [Self.erasure("u-1")])
        var peer = ForeignOrigin(1, name: "busan-1")
        peer.add(.message(words[1], user: "u-1", conversation: "c-1"))
        try peer.send(to: store)
        store.close()
        #expect(try verify(folder).answer == .proven)
        let top = try LogReader(StoreFiles(folder.path)).top()
        try putBack(before, at: 2, beside: isBesideDigest, in: folder)
        try putBack(peer.received[1].body, at: top, beside: isBesideDigest, in: folder)
        let found = try verify(folder)
        let check = isBesideDigest ? VerifyCheck.events : .erasures
        #expect(found.answer == .contradicted && found.findings.map(\.check) == [check, check], found.text)
        #expect(found.findings.map(\.position) == [2, top], found.text)
        let again = try EventStore(opening: folder.path)
        try again.confirmErasures()
        try again.finishErasures()
        #expect(ByteScan.find(words, in: [folder.path]).isEmpty)
        again.close()
        let report = try verify(folder)
        #expect(report.answer == .proven && report.erased == 2, report.text)
    }

    @Test("What an earlier release has noted of erasures is taken over; sound stores are not looked through again")
    func sealed() throws {
        let (folder, store) = try makeStore()
        _ = try store.appendBlocking([.message("말", user: "u-1")])
        try erase(store, [Self.erasure("u-1")])
        store.close()
        let reader = try LogReader(StoreFiles(folder.path))
        let (seal, done) = (try reader.meta("erasures"), try reader.meta("erased"))
        #expect(seal?.utf8.count == 34)
        for said in ["1", "1 00"] {
            try change(folder, "UPDATE meta SET value = '\(said)' WHERE key = 'erasures'")
            // Of an earlier release there is no seal; that of another hand is not the node's, which its key shows.
            #expect(try verify(folder).answer == (said == "1" ? .proven : .notCovered))
            let again = try EventStore(opening: folder.path)
            try again.finishErasures()
            #expect(try reader.meta("erasures") == seal && reader.meta("erased") == done)
            again.close()
        }
        let again = try EventStore(opening: folder.path)
        #expect(try LogReader(again.files).erasedThrough() == reader.erasedThrough())
        again.close()
        #expect(try reader.meta("erasures") == seal)
    }

    @Test("A dot in an erasure has one form: any other text names nothing (INV-11)")
    func dots() throws {
        let origin = OriginID(UUIDBits(high: 0x0198_e2c4_77aa_7c01, low: 0x8b1e_0a1b_2c3d_4e5f))
        #expect(Dot(text: "\(origin)/20") == Dot(origin: origin, seq: 20))
        let id = origin.description
        let endings = ["/020", "/+20", "/-20", "/20 ", "/", "/0", "/20/", "/２", "/17592186044416"]
        let others = ["\(id.uppercased())/20", " \(id)/20", "\(id.replacing("-", with: ""))/20"]
        for text in others + endings.map({ id + $0 }) { #expect(Dot(text: text) == nil, "\(text)") }
    }

    @Test(
        "What is appended under the id of an erased event is not stored, and the answer says that it is erased (INV-8)"
    )
    func appendedAgain() throws {
        let (folder, store) = try makeStore()
        var draft = EventDraft.message("먼저", user: "u-1")
        draft.id = EventID(UUIDBits(high: 0x0198_0000_0000_7000, low: 0x8000_0000_0000_0001))
        let first = try store.appendBlocking([draft])[0].receipt
        #expect(first?.isErased == false)
        #expect(try store.appendBlocking([draft])[0] == first.map(AppendOutcome.already))
        try erase(store, [Self.erasure("u-1")])
        let word = Self.word()
        let other = EventDraft.message(word, user: "u-1")
        for text in [draft, EventDraft(type: other.type, user: "u-1", payload: other.payload)] {
            var again = text
            again.id = draft.id
            for atomicity in [Atomicity.each, .whole] {
                guard case .already(let receipt) = try store.appendBlocking([again], atomicity: atomicity)[0] else {
                    Issue.record("not found")
                    continue
                }
                #expect(receipt.isErased && receipt.position == first?.position)
            }
        }
        #expect(ByteScan.find([word], in: [folder.path]).isEmpty)
        store.close()
    }

    @Test("An erasure is read as it is written; one of another form says nothing", arguments: [true, false])
    func forms(isOfUser: Bool) throws {
        var erasure = Erasure(subject: isOfUser ? .user("u \"1\"") : .conversation("대화"))
        (erasure.isWithAuthored, erasure.isWithReplies) = (isOfUser, isOfUser)
        erasure.events = [Dot(origin: OriginID(UUIDBits(high: 1, low: 2)), seq: 3)]
        erasure.before = HybridTime(milliseconds: 5, counter: 6)
        erasure.confirms = Dot(origin: OriginID(UUIDBits(high: 3, low: 4)), seq: 5)
        (erasure.reason, erasure.who) = ("까닭", "kim")
        let draft = erasure.draft(user: "operator")
        func event(_ payload: [UInt8]) -> Event {
            let header = EventHeader(
                dot: Dot(origin: OriginID(UUIDBits(high: 1, low: 1)), seq: 1), hlc: HybridTime(rawValue: 1),
                id: EventID(UUIDBits(high: 1, low: 1)), type: draft.type, conversation: draft.conversation,
                user: draft.user)
            return Event(header: header, body: .present(salt: UUIDBits(high: 0, low: 0), payload: payload))
        }
        #expect(Erasure(event(draft.payload)) == erasure)
        for text in [#"{"before":5}"#, #"{"before":"x"}"#, #"{"user":5,"conversation":5}"#] {
            #expect(Erasure(event(Array(text.utf8))) == nil, "\(text)")
        }
    }
}
