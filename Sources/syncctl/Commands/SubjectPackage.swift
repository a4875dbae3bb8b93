internal import Access
internal import CommandLineKit
internal import EventStore
internal import Glibc
internal import Interchange
internal import SillokAPI

/// Writes the files of a package, each event as it is read: memory does not grow with them.
final class SubjectPackage {
    /// What was written.
    struct Report {
        var events: UInt64 = 0
        var elsewhere: UInt64 = 0
        var context: UInt64 = 0
        var conversations = 0
        var reads = 0
        var files = 0
        var position: UInt64 = 0
        /// Events that no file proves: the person has written them in the history of another, outside of conversations.
        var unproven = 0
    }

    private let session: Session
    private let files: StoreFiles
    private let user: String
    private let folder: String
    private let views: ViewReader
    private let lines: EventLines
    private let erasures: OwnErasures
    private let isFull: Bool
    private var report = Report()
    private var sums = ""
    /// Conversations by the bytes of their ids; and those of others' histories in which the person has written, with where.
    private var conversations: Set<[UInt8]> = []
    private var elsewhere: [[UInt8]: [UInt64]] = [:]

    init(_ session: Session, _ files: StoreFiles, _ user: String, folder: String) throws(CommandFailure) {
        (self.session, self.files, self.user, self.folder) = (session, files, user, folder)
        isFull = session.arguments.value("others") == "full"
        let views = try FreshViews.open(session, files)
        self.views = views
        lines = try stored { try EventLines(views.log) }
        erasures = try stored { try OwnErasures(views.log) }
    }

    /// - Parameter record: Puts it on record that all of this is about to be given, once it is known that it can be; returns the event's name.
    func make(
        who: String, reason: String, record: () throws(CommandFailure) -> String
    ) throws(CommandFailure) -> (report: Report, record: String) {
        report.position = try stored { try views.log.top() }
        for name in ["conversations", "proofs"] { try makeFolder(name) }
        let events = try PackageFile("events.ndjson", in: folder)
        let table = try PackageFile("events.csv", in: folder)
        let context = try PackageFile("context.ndjson", in: folder)
        try table.write(Array(EventCSV.header.utf8))
        let own = try ownPositions()
        try write(own, to: events, table)
        report.events = UInt64(own.count)
        try writeElsewhere(to: events, table)
        let links = try pages(events, table, context)
        for entry in try stored({ try views.contactEntries(naming: user) }) where entry.position <= report.position {
            // What is of a conversation of the person stands there already.
            let conversation = entry.event.header.conversation
            if let conversation, conversations.contains(Array(conversation.utf8)) { continue }
            if !isOfUser(entry.event.header) { try takeOfOthers(entry, events, table, context) }
        }
        for file in [events, table, context] { try finish(file) }
        try proofs(own)
        try attachments()
        let event = try record()
        let reads = try readers()
        var head = SubjectPage.Head(
            user: user, reason: reason, who: who, node: try node(), record: event, isFull: isFull)
        (head.events, head.elsewhere, head.context) = (report.events, report.elsewhere, report.context)
        head.position = report.position
        for language in Language.allCases { try index(language, head, links[language] ?? [], reads) }
        try write("README.md", Array(SubjectReadme.text(head, report, self.proofNames).utf8))
        let all = sums
        try write("SHA256SUMS", Array(all.utf8))
        return (report, event)
    }

    private func makeFolder(_ name: String) throws(CommandFailure) {
        let path = folder + "/" + name
        guard mkdir(path, 0o700) == 0 else {
            throw CommandFailure.system("cannot make \(path)", errno: errno, exitCode: .cannotCreate)
        }
    }

    private func finish(_ file: PackageFile) throws(CommandFailure) {
        sums += try file.finish()
        report.files += 1
    }

    private func write(_ name: String, _ bytes: [UInt8]) throws(CommandFailure) {
        let file = try PackageFile(name, in: folder)
        try file.write(bytes)
        try finish(file)
    }

    private func node() throws(CommandFailure) -> String {
        let identity = try stored { try StoreIdentity(views.log) }
        return "\(identity.name) (\(identity.node))"
    }

    // MARK: Events

    private func ownPositions() throws(CommandFailure) -> [UInt64] {
        var query = TimelineQuery()
        (query.withTwins, query.knownAt) = (true, report.position)
        return try stored { [query] in try views.positions(user: user, query) }
    }

    private func write(_ positions: [UInt64], to events: PackageFile, _ table: PackageFile) throws(CommandFailure) {
        let parts = try stored { try LogReplay(files, at: positions).parts() }
        while let part = try stored({ try parts.next() }) {
            for event in part { try add(event, to: events, table) }
        }
    }

    private func add(_ stored: StoredEvent, to events: PackageFile, _ table: PackageFile) throws(CommandFailure) {
        try events.write(try syncctl.stored { try lines.line(stored) })
        try table.write(Array(EventCSV.record(stored).utf8))
        if let conversation = stored.event.header.conversation { conversations.insert(Array(conversation.utf8)) }
    }

    private func writeElsewhere(to events: PackageFile, _ table: PackageFile) throws(CommandFailure) {
        var progress = Progress("headers", unit: "events", style: session.style())
        let top = report.position
        let found = try stored {
            try views.authored(by: user, upTo: top) { progress.update(done: $0, total: top) }
        }
        progress.finish(done: top, total: top)
        for position in found {
            guard let event = try stored({ try views.log.event(at: position) }) else { continue }
            try stored { try erasures.check(event.event) }
            try add(event, to: events, table)
            prove(event)
        }
    }

    /// An event of another's history is proven among those of its conversation.
    private func prove(_ event: StoredEvent) {
        report.elsewhere += 1
        guard let conversation = event.event.header.conversation else { return report.unproven += 1 }
        elsewhere[Array(conversation.utf8), default: []].append(event.position)
    }

    // MARK: Conversations

    private func pages(
        _ events: PackageFile, _ table: PackageFile, _ context: PackageFile
    ) throws(CommandFailure) -> [Language: [SubjectPage.Link]] {
        for name in try stored({ try views.memberships(of: user) }) { conversations.insert(Array(name.utf8)) }
        var links: [Language: [SubjectPage.Link]] = [:]
        let sorted = conversations.sorted { $0.lexicographicallyPrecedes($1) }
        for (index, bytes) in sorted.enumerated() {
            let conversation = String(decoding: bytes, as: UTF8.self)
            let digits = String(index + 1)
            let number = String(repeating: "0", count: max(0, 4 - digits.count)) + digits
            for (language, link) in try page(conversation, number, events, table, context) {
                links[language, default: []].append(link)
            }
        }
        report.conversations = sorted.count
        return links
    }

    private func page(
        _ conversation: String, _ number: String, _ events: PackageFile, _ table: PackageFile, _ context: PackageFile
    ) throws(CommandFailure) -> [(Language, SubjectPage.Link)] {
        var summary = ExportedConversation(conversation)
        if let found = try stored({ try views.conversationSummary(conversation) }) {
            summary.title = try shownTitle(found.title, of: conversation)
            summary.startedBy = found.startedBy
            (summary.messages, summary.firstTime, summary.lastTime) = (
                found.messages, found.firstTime, found.lastTime
            )
        }
        summary.participants = try stored { try views.participants(of: conversation) }.map(\.user)
        var writers: [(language: Language, page: ConversationPage, file: PackageFile)] = []
        for language in Language.allCases {
            let file = try PackageFile("conversations/\(number).\(language.rawValue).html", in: folder)
            let page = ConversationPage(settings(language))
            try file.write(page.begin(summary))
            writers.append((language, page, file))
        }
        var failure: CommandFailure?
        var count = 0
        var query = TimelineQuery()
        query.knownAt = report.position
        _ = try stored { [query] in
            try views.conversation(conversation, query) { entry in
                do throws(CommandFailure) {
                    try take(entry.stored, events, table, context)
                    let others = LeftOutWords(events: try leftOut(of: entry), user: user)
                    for writer in writers {
                        let words = SubjectWords.left.phrase.text(writer.language, [])
                        try writer.file.write(writer.page.add(others.masking(entry, with: words)))
                    }
                    count += 1
                } catch {
                    failure = error
                }
                return failure == nil
            }
        }
        if let failure { throw failure }
        var links: [(Language, SubjectPage.Link)] = []
        for writer in writers {
            try writer.file.write(writer.page.end())
            try finish(writer.file)
            links.append(
                (
                    writer.language,
                    SubjectPage.Link(file: writer.file.name, title: summary.title ?? conversation, events: count)
                ))
        }
        return links
    }

    /// The title, unless others have given it: then it is their words.
    private func shownTitle(_ title: String?, of conversation: String) throws(CommandFailure) -> String? {
        guard let title, !isFull else { return title }
        var query = TimelineQuery()
        (query.types, query.knownAt) = (["conversation.started", "conversation.renamed"], report.position)
        var isOwn = false
        _ = try stored { [query] in
            try views.conversation(conversation, query) { entry in
                let given = entry.stored.event.payload.flatMap { JSONObject(validated: $0).string("title") }
                if isOfUser(entry.stored.event.header), given?.hasSameBytes(as: title) == true { isOwn = true }
                return !isOwn
            }
        }
        return isOwn ? title : nil
    }

    private func isOfUser(_ header: EventHeader) -> Bool {
        header.user.hasSameBytes(as: user) || header.author.hasSameBytes(as: user)
    }

    /// Whether what an event says is in the package, in whatever file: else it is told that it was, by whom and when.
    private func isTold(_ header: EventHeader) -> Bool { isFull || isOfUser(header) }

    /// The events of an entry that are not told: it, and what was done to it, which may stand in another conversation. Where several have an
    /// id, all of them must be.
    private func leftOut(of entry: TimelineEntry) throws(CommandFailure) -> Set<EventID> {
        var left: Set<EventID> = isTold(entry.stored.event.header) ? [] : [entry.stored.event.header.id]
        for id in entry.history?.events ?? [] {
            let found = try stored { try views.log.events(id: id) }
            for event in found { try stored { try erasures.check(event.event) } }
            if !found.allSatisfy({ isTold($0.event.header) }) { left.insert(id) }
        }
        return left
    }

    /// Writes an event of a conversation where it belongs, unless it is written.
    private func take(
        _ entry: StoredEvent, _ events: PackageFile, _ table: PackageFile, _ context: PackageFile
    ) throws(CommandFailure) {
        guard isOfUser(entry.event.header) else { return try takeOfOthers(entry, events, table, context) }
        try stored { try erasures.check(entry.event) }
    }

    private func takeOfOthers(
        _ entry: StoredEvent, _ events: PackageFile, _ table: PackageFile, _ context: PackageFile
    ) throws(CommandFailure) {
        let header = entry.event.header
        try stored { try erasures.check(entry.event) }
        if isFull, entry.event.names(user) {
            try add(entry, to: events, table)
            return prove(entry)
        }
        report.context += 1
        if isTold(header) {
            try context.write(try stored { try lines.line(entry) })
        } else {
            var line = JSONLine()
            line.add("id", header.id.description)
            line.add("type", header.type)
            line.add("time", Timestamp.text(header.time))
            line.add("subject", header.conversation.map { "conversation/\($0)" })
            line.add("author", header.author)
            line.add("left_out", true)
            if entry.event.names(user) { line.add("names_person", true) }
            try context.write(line.utf8 + [UInt8(ascii: "\n")])
        }
    }

    private func settings(_ language: Language) -> ConversationPage.Settings {
        ConversationPage.Settings(
            language: language, zone: session.zone, zoneName: session.zoneName, now: session.now
        ) { [views, isFull, erasures, person = user] user in
            // What others call themselves is theirs, too.
            guard isFull || user.hasSameBytes(as: person) else { return nil }
            let fields = (try? views.profile(user: user)) ?? []
            guard let write = fields.first(where: { $0.name == "name" })?.winner,
                (try? Self.check(write, views, erasures)) != nil
            else { return nil }
            let text = JSONObject(validated: Array(#"{"v":\#(write.value)}"#.utf8)).string("v")
            return text.flatMap { $0.isEmpty ? nil : $0 }
        }
    }

    // MARK: Proofs, readers, pages

    private(set) var proofNames: [String] = []

    private func proofs(_ own: [UInt64]) throws(CommandFailure) {
        try proof("history", .user(user), own, isFiltered: false)
        for (index, bytes) in elsewhere.keys.sorted(by: { $0.lexicographicallyPrecedes($1) }).enumerated() {
            let conversation = String(decoding: bytes, as: UTF8.self)
            try proof("elsewhere-\(index + 1)", .conversation(conversation), elsewhere[bytes] ?? [], isFiltered: true)
        }
    }

    private func proof(
        _ name: String, _ scope: AnswerScope, _ positions: [UInt64], isFiltered: Bool
    ) throws(CommandFailure) {
        guard !positions.isEmpty else { return }
        let export = try ProofExport.make(session, files, scope, positions, isFiltered: isFiltered)
        let file = try PackageFile("proofs/\(name).proof", in: folder)
        while let piece = try stored({ try export.next() }) { try file.write(piece) }
        try finish(file)
        proofNames.append(file.name)
    }

    /// The bytes that the person's history names, as far as they are here, and a list of all of them.
    private func attachments() throws(CommandFailure) {
        var place: AttachmentPlace?
        var list: PackageFile?
        var seen: Set<Digest> = []
        let copy = try stored { try AttachmentCopy(files) }
        while true {
            let page = try stored { [place] in try views.attachments(of: .user(user), limit: 500, before: place) }
            guard let last = page.last else { break }
            if list == nil {
                try makeFolder("attachments")
                list = try PackageFile("attachments.ndjson", in: folder)
            }
            for named in page {
                let reader = try? copy.open(named.item.digest)
                try list?.write(JSONLine(named, reader == nil ? .missing : .present).utf8 + [UInt8(ascii: "\n")])
                guard let reader, seen.insert(named.item.digest).inserted else { continue }
                let file = try PackageFile("attachments/\(named.item.digest)", in: folder)
                var offset: UInt64 = 0
                while offset < reader.count {
                    let piece = try attached { [offset] in try reader.read(at: offset, most: 256 << 10) }
                    try file.write(piece)
                    offset += UInt64(piece.count)
                }
                try finish(file)
            }
            place = last.place
        }
        if let list { try finish(list) }
    }

    /// Who has looked at the person's data, as far as that is recorded, the oldest first. Whom else they looked at, and for what, is not the
    /// person's.
    private func readers() throws(CommandFailure) -> [SubjectPage.Read] {
        let file = try PackageFile("readers.ndjson", in: folder)
        var reads: [(key: DisplayKey, read: SubjectPage.Read, line: [UInt8])] = []
        var events = NodeEvents(types: [AccessGrant.read, AccessGrant.given])
        // The record of this very package has come since the others were opened.
        let views = try FreshViews.open(session, files)
        try stored {
            try events.update(views) { header, object, _ in
                let line = JSONLine(read: object, header, to: user).utf8 + [UInt8(ascii: "\n")]
                guard let object else {
                    let read = SubjectPage.Read(time: header.hlc.milliseconds, who: nil, what: nil, reason: "")
                    return reads.append((header.displayKey, read, line))
                }
                let isOfUser = object.strings("users")?.contains { $0.hasSameBytes(as: user) } ?? false
                guard isOfUser else { return }
                let read = SubjectPage.Read(
                    time: header.hlc.milliseconds, who: header.actor?.text ?? header.author,
                    what: "\(object.string("route") ?? "") \((object.string("subject") ?? "").prefix { $0 != "?" })",
                    reason: object.string("reason") ?? "")
                reads.append((header.displayKey, read, line))
            }
        }
        reads.sort { $0.key < $1.key }
        for read in reads { try file.write(read.line) }
        try finish(file)
        report.reads = reads.count
        return reads.map(\.read)
    }

    /// Refuses a value of a profile that another hand has put back.
    private static func check(
        _ write: ProfileWrite, _ views: ViewReader, _ erasures: OwnErasures
    ) throws(StoreError) {
        if let event = try views.log.event(at: write.position) { try erasures.check(event.event) }
    }

    private func index(
        _ language: Language, _ head: SubjectPage.Head, _ links: [SubjectPage.Link], _ reads: [SubjectPage.Read]
    ) throws(CommandFailure) {
        var page = SubjectPage(settings(language))
        let profile = try stored { try views.profile(user: user) }
        for write in profile.flatMap({ [$0.winner] + $0.concurrent }) {
            try stored { try Self.check(write, views, erasures) }
        }
        try write(
            "index.\(language.rawValue).html",
            page.page(head, profile: profile, conversations: links, reads: reads))
    }
}
