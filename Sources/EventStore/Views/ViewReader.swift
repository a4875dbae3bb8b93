internal import Glibc

/// Answers questions from the views, with the events themselves from the log. Not Sendable: one for each thread.
///
/// Each page is one read transaction on the views; the log is always ahead of them. The rest may see later views: a page
/// begins where the last one ended, in display order.
package final class ViewReader {
    package let log: LogReader
    private let path: String
    private var connection: Connection { didSet { connection.term = term } }
    /// Of the views that are open: another one once they were built anew.
    private(set) var inode: UInt64
    /// Whether ``inOneReading(_:)`` has a transaction open.
    private var isReading = false
    private let temporaryPlace: TemporaryPlace?
    let tails: ViewMemtables
    private let versions: ViewVersions
    /// Rows of a query for the last ones that are kept rather than read twice (INV-9).
    var tailCapacity = 10_000
    /// Rows that are looked at for one page, wanted or not: some milliseconds.
    var mostRows = 100_000
    /// How long the answer may take that is asked for now; `nil`: as long as it takes.
    package var term: AnswerTerm? {
        didSet { (connection.term, log.connection.term) = (term, term) }
    }

    /// Reads the views of `files`.
    ///
    /// - Parameters:
    ///   - tails: Those of the projector, if it runs in this process: they save reading the tails on disk.
    ///   - versions: Those of another release, in tests.
    package init(
        _ files: StoreFiles, tails: ViewMemtables = ViewMemtables(), versions: ViewVersions = .current
    ) throws(StoreError) {
        self.tails = tails
        self.versions = versions
        log = try LogReader(files)
        path = files.views
        inode = Self.inode(path)
        connection = try ViewDatabase.openReader(at: path, of: log, versions)
        temporaryPlace = nil
    }

    /// Builds views of `files` in a temporary place, for a store that has none and cannot be written.
    ///
    /// - Parameter isIndexed: The deferred views, too.
    init(temporary files: StoreFiles, isIndexed: Bool) throws(StoreError) {
        let place = try TemporaryPlace(.views)
        temporaryPlace = place
        tails = ViewMemtables()
        versions = .current
        path = place.path + "/views.db"
        log = try LogReader(files)
        try Projector(files, path: path).catchUp(isIndexed: isIndexed)
        connection = try ViewDatabase.connect(path)
        inode = Self.inode(path)
    }

    /// Whether the views that are open are those that are there now.
    var isInPlace: Bool { Self.inode(path) == inode }

    private static func inode(_ path: String) -> UInt64 {
        var status = stat()
        return stat(path, &status) == 0 ? UInt64(status.st_ino) : 0
    }

    /// Runs `body` in one read transaction, on the views that are in place now.
    func reading<Result>(
        _ body: (Connection) throws(DatabaseError) -> Result
    ) throws(StoreError) -> Result {
        if isReading { return try mapped { () throws(DatabaseError) in try body(connection) } }
        try follow()
        return try mapped { () throws(DatabaseError) in
            try connection.transaction("BEGIN") { () throws(DatabaseError) in try body(connection) }
        }
    }

    /// Runs `body`, whose calls of ``reading(_:)`` share one transaction. What is in memory of a tail must be asked for
    /// before the first of them.
    func inOneReading<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
        try follow()
        try mapped { () throws(DatabaseError) in try connection.statement("BEGIN").run() }
        isReading = true
        defer { isReading = false }
        do {
            let result = try body()
            try mapped { () throws(DatabaseError) in try connection.statement("COMMIT").run() }
            return result
        } catch {
            connection.rollback()
            throw error
        }
    }

    /// Opens the views that are in place now: those of the log as it is, which may be another one than it was (``LogReader/viewMark()``).
    private func follow() throws(StoreError) {
        let current = Self.inode(path)
        guard current != inode, current != 0 else { return }
        connection = try ViewDatabase.openReader(at: path, of: log, versions)
        inode = current
    }

    /// The digest of every view, and of the quarantine, of the state that is in place now.
    package func digests() throws(StoreError) -> [ViewDigest] {
        try reading { connection throws(DatabaseError) in try ViewDatabase.digests(connection) }
    }

    /// The digests of one state, and the position of the log that it has applied.
    ///
    /// - Parameter isIndexed: With those of deferred views, as far as those have come.
    package func digests(isIndexed: Bool) throws(StoreError) -> (position: UInt64, views: [ViewDigest]) {
        try reading { connection throws(DatabaseError) in
            let all = try ViewDatabase.digests(connection)
            guard !isIndexed else { return (try ViewDatabase.deferred(connection), all) }
            return (try ViewDatabase.position(connection), all.filter { !ViewDatabase.isDeferred($0.view) })
        }
    }

    // MARK: Timelines

    /// The last position the views have applied.
    package func progress() throws(StoreError) -> UInt64 {
        try reading { connection throws(DatabaseError) in
            try ViewDatabase.position(connection)
        }
    }

    /// The last position that deferred views have applied, too: what is behind it a search does not find yet.
    package func indexed() throws(StoreError) -> UInt64 {
        try reading { connection throws(DatabaseError) in try ViewDatabase.deferred(connection) }
    }

    // MARK: Conversations

    /// Conversations, the latest active first, ties by id; continues behind `place`. May give a few more than `limit`:
    /// conversations of equal activity come together.
    package func conversations(
        limit: Int, before place: ConversationPlace? = nil
    ) throws(StoreError) -> [ConversationSummary] {
        let bound = place.map { ConversationSum.Moment(time: $0.time, hlc: $0.hlc.ordered) } ?? .last
        let rows = try reading { connection throws(DatabaseError) in
            try ConversationList(connection).page(limit, before: bound)
        }
        return try self.summaries(rows)
    }

    /// The rows under their names, in the order of the list.
    func summaries(_ rows: [ConversationRow]) throws(StoreError) -> [ConversationSummary] {
        var summaries: [ConversationSummary] = []
        for row in rows { summaries.append(try named(row)) }
        return summaries.sorted { a, b in
            if (a.lastTime, a.lastHLC) != (b.lastTime, b.lastHLC) {
                return (a.lastTime, a.lastHLC) > (b.lastTime, b.lastHLC)
            }
            return ByteText(a.conversation) < ByteText(b.conversation)
        }
    }

    /// How many conversations there are: the entries of an index are counted, and the tail is read.
    package func conversationCount() throws(StoreError) -> UInt64 {
        try reading { connection throws(DatabaseError) in
            try ConversationList(connection).count()
        }
    }

    /// How many users have a name.
    package func userCount() throws(StoreError) -> UInt64 {
        try reading { connection throws(DatabaseError) in try UserNames.count(connection) }
    }

    /// One conversation; `nil` if there is none with this id.
    package func conversationSummary(_ id: String) throws(StoreError) -> ConversationSummary? {
        guard let ref = try log.ref(id) else { return nil }
        let known = tails.timeline.find(ref)
        let row = try reading { connection throws(DatabaseError) in
            try ConversationRow.load(ref, known: known, connection)
        }
        return row.isKnown ? try named(row) : nil
    }

    /// How many events a conversation had, and when the log was at which position: for optimistic concurrency.
    package func conversationVersion(_ id: String) throws(StoreError) -> (version: UInt64, at: UInt64) {
        let ref = try log.ref(id)
        let known = ref.map(tails.timeline.find) ?? Memtables.Found()
        return try reading { connection throws(DatabaseError) in
            let row = try ref.map { ref throws(DatabaseError) in
                try ConversationRow.load(ref, known: known, connection)
            }
            return (UInt64(bitPattern: row?.sum.events ?? 0), try ViewDatabase.position(connection))
        }
    }

    func named(_ row: ConversationRow) throws(StoreError) -> ConversationSummary {
        var starter: String?
        if let opening = row.opening { starter = try log.text(opening.value.starter) }
        return ConversationSummary(
            conversation: try log.text(row.conversation), title: row.title?.value, category: row.category?.value,
            startedBy: starter, events: UInt64(clamping: row.sum.events),
            messages: UInt64(clamping: row.sum.messages),
            firstTime: row.sum.first.time, lastTime: row.sum.last.time, lastHLC: row.sum.last.hlc,
            ref: row.conversation)
    }

    /// Who takes part, by name.
    package func participants(of id: String) throws(StoreError) -> [Participant] {
        guard let ref = try log.ref(id) else { return [] }
        let known = tails.timeline.find(ref)
        return try reading { connection throws(DatabaseError) in
            let pending = try SortedTable.timeline.pending(ref, known: known, connection)
            let rows = try ParticipantsView.rows(ref, pending, connection) { ref throws(DatabaseError) in
                try log.names.text(ref, on: log.connection)
            }
            return rows.map(Participant.init)
        }
    }

    // MARK: Profiles and surveys

    /// A user's profile, fields by name. Fields last set to `null` are left out, unless that is a conflict.
    package func profile(user: String) throws(StoreError) -> [ProfileField] {
        guard let ref = try log.ref(user) else { return [] }
        return try named(
            try reading { connection throws(DatabaseError) in try ProfilesView.fields(of: ref, connection) })
    }

    /// Fields with the writes that stand of each.
    func named(_ rows: [(name: String, writes: [ProfilesView.Write])]) throws(StoreError) -> [ProfileField] {
        var fields: [ProfileField] = []
        for (name, writes) in rows {
            guard let winner = writes.last else { continue }
            var concurrent: [ProfileWrite] = []
            for write in writes.dropLast() where write.isMaximal { concurrent.append(try named(write)) }
            let field = ProfileField(name: name, winner: try named(winner), concurrent: concurrent)
            if winner.value != "null" || field.isConflict { fields.append(field) }
        }
        return fields
    }

    private func named(_ write: ProfilesView.Write) throws(StoreError) -> ProfileWrite {
        let key = write.stamp.key
        return ProfileWrite(
            value: write.value, author: try log.text(write.author), time: key.time, dot: key.dot,
            position: write.position)
    }

    /// Names of surveys with the number of answers given in each.
    package func surveys() throws(StoreError) -> [(survey: String, answers: UInt64)] {
        try reading { connection throws(DatabaseError) in try SurveysView.all(connection) }
    }

    /// Calls `body` with how often each answer of a survey was given, by question, until it returns false.
    ///
    /// - Parameter last: Only what comes after it.
    package func survey(
        _ name: String, question: String? = nil, after last: SurveyCount? = nil, _ body: (SurveyCount) -> Bool
    ) throws(StoreError) {
        try reading { connection throws(DatabaseError) in
            try SurveysView.counts(of: name, question: question, after: last, connection, body)
        }
    }

    /// The next `limit` quarantined events after `position`, by position, with an entry for each view that refuses one.
    package func quarantine(
        after position: UInt64 = 0, limit: Int = 1_000
    ) throws(StoreError) -> [QuarantinedEvent] {
        try reading { connection throws(DatabaseError) in
            try ViewDatabase.quarantine(after: position, limit: limit, connection)
        }
    }

    /// The views that refuse the event at a position, with their reasons.
    func refusals(of position: UInt64) throws(StoreError) -> [QuarantinedEvent] {
        try reading { connection throws(DatabaseError) in
            try ViewDatabase.refusals(of: position, connection)
        }
    }

    /// How many events are quarantined.
    package func quarantined() throws(StoreError) -> UInt64 {
        try reading { connection throws(DatabaseError) in try ViewDatabase.quarantined(connection) }
    }
}

extension Event {
    var isMessage: Bool {
        header.type == EventType.messagePosted.rawValue || header.type == EventType.botReplied.rawValue
    }
}

extension ViewReader {
    /// What was done to each message among `events`, by index, as of the open transaction of the views.
    ///
    /// - Parameters:
    ///   - knownAt: Only what was in the log by this position.
    ///   - asOf: Only what had happened by then, Unix milliseconds.
    ///   - isSeen: Whether the one who asks sees the amendment.
    func amendments(
        _ events: [StoredEvent], knownAt: UInt64, asOf: Int64 = .max, _ connection: Connection,
        isSeen: (MessagesView.Row) throws(DatabaseError) -> Bool = { _ in true }
    ) throws(DatabaseError) -> [Int: Amendments] {
        var found: [Int: Amendments] = [:]
        let messages = events.map { $0.event.isMessage ? $0.event.header.id : nil }
        func take(_ index: Int, _ row: MessagesView.Row) throws(DatabaseError) {
            guard row.stamp.key.time <= asOf, try isSeen(row) else { return }
            let header = events[index].event.header
            var all =
                try found[index].orLoad { () throws(DatabaseError) in
                    Amendments(
                        author: try log.names.ref(header.author, on: log.connection),
                        conversation: try header.conversation.map { text throws(DatabaseError) in
                            // A text that is no ref's is no conversation, not the one of those that have none.
                            try log.names.ref(text, on: log.connection) ?? 0
                        })
                } ?? Amendments(author: nil, conversation: nil)
            try all.take(row) { author throws(DatabaseError) in
                guard let conversation = row.conversation else { return false }
                let opening = try ConversationRow.load(conversation, connection).opening?.value
                return opening?.isModerator(try log.names.text(author, on: log.connection)) ?? false
            }
            found[index] = all
        }
        var replaced = knownAt < .max ? try self.replaced(messages, knownAt: knownAt, connection) : [:]
        try MessagesView.rows(of: messages, connection) { index, row throws(DatabaseError) in
            guard row.position <= knownAt else { return }
            while let earlier = replaced[index]?.last, earlier.stamp < row.stamp {
                replaced[index]?.removeLast()
                try take(index, earlier)
            }
            try take(index, row)
        }
        for (index, rows) in replaced { for row in rows.reversed() { try take(index, row) } }
        return found
    }

    /// Edits and retractions that counted when the log reached `knownAt`, and in whose place twins count that came later; of each message
    /// the last in display order first.
    private func replaced(
        _ messages: [EventID?], knownAt: UInt64, _ connection: Connection
    ) throws(DatabaseError) -> [Int: [MessagesView.Row]] {
        var rows: [Int: [MessagesView.Row]] = [:]
        try MessagesView.rows(of: messages, connection) { index, row throws(DatabaseError) in
            guard row.position > knownAt,
                let twin = try log.twin(countingBefore: row.position, at: knownAt),
                let event = try log.stored(at: twin.position)?.event, let amended = event.amended,
                amended == messages[index]
            else { return }
            let key = DisplayKey(time: event.header.time, hlc: twin.hlc, dot: twin.dot)
            rows[index, default: []].append(
                MessagesView.Row(
                    stamp: Stamp(key), position: twin.position, author: row.author, conversation: row.conversation,
                    isEdit: row.isEdit))
        }
        return rows.mapValues { $0.sorted { $0.stamp > $1.stamp } }
    }

    /// Bytes of texts after which earlier amendments of a message are left out (INV-9).
    private static let historyBytes = 1 << 20

    /// The same with texts, names and times.
    func history(_ amendments: Amendments) throws(StoreError) -> MessageHistory {
        var history = MessageHistory()
        (history.count, history.edits) = (amendments.count, amendments.edits)
        var left = Self.historyBytes
        for judged in amendments.rows.reversed() where left > 0 {
            let found = try amendment(judged.row, judged.counts)
            left -= found.bytes
            history.amendments.append(found)
        }
        history.amendments.reverse()
        if let edit = amendments.edit { history.edit = try amendment(edit, true) }
        if let retraction = amendments.retraction { history.retraction = try amendment(retraction, true) }
        return history
    }

    private func amendment(_ row: MessagesView.Row, _ counts: Bool) throws(StoreError) -> Amendment {
        guard let event = try log.event(at: row.position)?.event else {
            throw .corrupt("the views name event \(row.position), which the log does not have")
        }
        let data = event.payload.map { JSONObject(validated: $0) }
        return Amendment(
            id: event.header.id, author: event.header.author, time: event.header.time, hlc: event.header.hlc,
            conversation: event.header.conversation, isEdit: row.isEdit,
            text: row.isEdit ? data?.string("text") : nil, reason: row.isEdit ? nil : data?.string("reason"),
            counts: counts)
    }
}
