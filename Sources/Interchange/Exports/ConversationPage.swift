package import CommandLineKit
package import EventStore

/// One conversation as one HTML file that needs no script and loads nothing (`--format html`).
///
/// Words stay under the name of who said them: an edit of the author stands with what was said before, an edit by another below it
/// under that one's name, and what was taken back is struck through.
package final class ConversationPage: ConversationWriter {
    /// How a page is written.
    package struct Settings {
        package var language: Language
        package var zone: Zone
        /// As people name it.
        package var zoneName: String
        /// When it is written, Unix milliseconds.
        package var now: Int64
        /// What users call themselves, by their ids.
        package var name: (String) -> String?
        /// What there is of the bytes that an item names, of which so many may stand in the page; `nil`: it was not looked for.
        package var bytes: (_ digest: Digest, _ item: JSONObject, _ most: Int) -> PageBytes? = { _, _, _ in nil }
        /// What the node held when the page was begun; `nil`: the page does not tell.
        package var receipt: Receipt?
        /// The part that is wanted: from then on, and before then.
        package var (since, until): (Int64?, Int64?)

        package init(
            language: Language, zone: Zone, zoneName: String, now: Int64, name: @escaping (String) -> String?
        ) {
            (self.language, self.zone, self.zoneName, self.now, self.name) = (language, zone, zoneName, now, name)
        }
    }

    package let types: [String] = []
    package let survey: SurveyWish? = nil
    package let leftOut: [String: Int] = [:]
    package private(set) var written = 0
    /// Events that the page shows words of beside those of its part: of its head, and what changed its messages.
    package var quoted: Set<EventID> { others.union([titled].compactMap(\.self)) }
    /// The file beside the page that proves it, and its SHA-256.
    package var proof: (name: String, digest: Digest)?
    private let settings: Settings
    private var conversation = ExportedConversation("")
    private var out = PageMarkup()
    private var day: CivilTime?
    private var previous: EventID?
    /// What has given the conversation its title, as far as is known.
    private var titled: EventID?
    private var others: Set<EventID> = []
    private var names: [String: String] = [:]
    /// Ids of messages on the page.
    private var addresses: Set<EventID> = []
    private var seen = Recent<EventID, (who: String, text: String)>(most: 20_000)
    /// So many bytes of pictures the page has room for.
    private var pictureRoom = PageAttachment.mostOfPage
    private static let mostNames = 10_000
    /// So many participants stand in the head.
    private static let mostParticipants = 50
    /// What the head is made of.
    package static let typesOfHead = ["conversation.started", "conversation.renamed", "participant.joined"]
    /// Most origins whose heads the page tells.
    private static let mostHeads = 20

    package init(_ settings: Settings) { self.settings = settings }

    private func word(_ word: PageWords, _ values: String...) -> String {
        word.phrase.text(settings.language, values)
    }

    private func clock(_ milliseconds: Int64) -> String { TimeFormat.local(milliseconds, in: settings.zone) }

    private func taken() -> [UInt8] {
        defer { out = PageMarkup() }
        return out.bytes
    }

    package func begin() -> [UInt8] { [] }

    package func begin(_ conversation: ExportedConversation) -> [UInt8] {
        self.conversation = conversation
        let title = conversation.title ?? conversation.id
        out.head(Sanitizer.line(title), language: settings.language.rawValue)
        term(.conversation, conversation.id)
        let participants = conversation.participants.prefix(Self.mostParticipants).map(shownName)
        if !participants.isEmpty {
            let more = conversation.participants.count - participants.count
            term(.participants, participants.joined(separator: ", ") + (more > 0 ? ", + \(more)" : ""))
        }
        if let first = conversation.firstTime, let last = conversation.lastTime {
            term(.period, "\(clock(first)) – \(clock(last))")
        }
        term(.part, part)
        if let receipt = settings.receipt { heads(receipt) }
        out.raw("</dl>\n")
        let count =
            conversation.messages == 1 ? word(.oneMessage) : word(.messages, String(conversation.messages))
        let fine = [count + ".", word(.zone, settings.zoneName), word(.exported, clock(settings.now)) + "."]
        out.element("p", "class=\"fine\"", fine.joined(separator: " "))
        out.raw("\n</header>\n<main>\n")
        return taken()
    }

    /// Takes note of an event of ``typesOfHead``, in display order, if the head has words of it.
    package func note(_ entry: TimelineEntry) {
        let event = entry.stored.event
        guard let payload = event.payload.map({ JSONObject(validated: $0) }) else { return }
        if let title = conversation.title, payload.string("title") == title { titled = event.header.id }
        let named = (payload.strings("participants") ?? []) + [payload.string("user")].compactMap(\.self)
        let shown = conversation.participants.prefix(Self.mostParticipants)
        if shown.contains(where: named.contains) { others.insert(event.header.id) }
    }

    private var part: String {
        switch (settings.since, settings.until) {
        case (nil, nil): word(.whole)
        case (let since?, nil): word(.since, clock(since))
        case (nil, let until?): word(.until, clock(until))
        case (let since?, let until?): word(.between, clock(since), clock(until))
        }
    }

    /// What the node held: the page has all of the conversation that is under these heads.
    private func heads(_ receipt: Receipt) {
        term(.node, "\(receipt.maker.name) (\(receipt.maker.key.nodeID))")
        term(.known, word(.position, String(receipt.maker.position)))
        for head in receipt.heads.prefix(Self.mostHeads).map(\.head.head) {
            term(.head, word(.headLine, "\(head.origin)", String(head.size), "\(head.root)"))
        }
        if receipt.heads.count > Self.mostHeads {
            term(.head, word(.moreHeads, String(receipt.heads.count - Self.mostHeads)))
        }
        if receipt.uncovered > 0 { term(.head, word(.uncovered, String(receipt.uncovered))) }
    }

    private func term(_ name: PageWords, _ value: String) {
        out.element("dt", "", word(name))
        out.element("dd", "dir=\"auto\"", Sanitizer.line(value))
        out.raw("\n")
    }

    package func end() -> [UInt8] {
        if written == 0 { out.element("p", "class=\"event\"", word(.nothing)) }
        out.raw("</main>\n<footer>\n")
        out.element("p", "class=\"fine\"", word(.forReading))
        out.raw("\n")
        if let proof {
            let text = word(.proof, proof.name, "\(proof.digest)")
            out.element("p", "class=\"fine\" dir=\"auto\"", Sanitizer.line(text))
            out.raw("\n")
        }
        out.raw("</footer>\n</body>\n</html>\n")
        return taken()
    }

    package func add(_ entry: TimelineEntry) -> [UInt8] {
        let header = entry.stored.event.header
        // They stand with the message that they are about.
        if header.type == "message.edited" || header.type == "message.retracted" { return [] }
        newDay(header.displayKey.time)
        guard let spoken = Spoken(entry), spoken.role == .user || spoken.role == .assistant else {
            event(entry)
            return taken()
        }
        written += 1
        message(spoken, entry)
        return taken()
    }

    private func newDay(_ time: Int64) {
        var civil = settings.zone.civil(at: time)
        civil.millisecondOfDay = 0
        guard civil != day else { return }
        day = civil
        let days = civil.milliseconds / 86_400_000
        let weekday = PageWords.weekday(Int(((days + 3) % 7 + 7) % 7), settings.language)
        out.element("h2", "", "\(Self.date(civil)) (\(weekday))")
        out.raw("\n")
    }

    private static func date(_ civil: CivilTime) -> String {
        String(TimeFormat.local(civil.milliseconds, in: .utc).prefix { $0 != " " })
    }

    /// The name of a user here: that of the profile, else the id.
    private func shownName(_ user: String) -> String {
        if let name = names[user] { return name }
        let name = settings.name(user) ?? user
        if names.count < Self.mostNames { names[user] = name }
        return name
    }

    /// The time of day; of what happened on another day than it is shown at, all of it.
    private func time(_ milliseconds: Int64) {
        let parts = clock(milliseconds).split(separator: " ").map(String.init)
        let isToday = parts.first == day.map { Self.date($0) }
        let shown = isToday ? parts.last ?? "" : parts.joined(separator: " ")
        out.element("time", "datetime=\"\(Timestamp.text(milliseconds))\"", shown)
    }

    // MARK: Messages

    private func message(_ spoken: Spoken, _ entry: TimelineEntry) {
        let header = spoken.header
        var who = shownName(header.author)
        if who == header.author, let name = spoken.payload?.string("name"), !name.isEmpty { who = name }
        let isOwn = header.author == conversation.startedBy
        let names = [isOwn ? "own" : nil, entry.isRetracted ? "back" : nil].compactMap(\.self)
        // Another may have given one of theirs the same id: the first on the page has it as its address.
        let isFirst = addresses.insert(header.id).inserted
        out.raw("<article id=\"e-\(header.id)\(isFirst ? "" : "-\(header.dot.origin)-\(header.dot.seq)")\"")
        if !names.isEmpty { out.raw(" class=\"\(names.joined(separator: " "))\"") }
        out.raw(">\n<p class=\"who\">")
        out.element("b", "dir=\"auto\"", Sanitizer.line(who))
        out.raw(" ")
        if spoken.role == .assistant {
            out.element("span", "class=\"tag\"", word(.bot))
            out.raw(" ")
        }
        time(header.time)
        out.raw("</p>\n")
        reply(header.cause)
        switch spoken.state {
        case .erased: out.element("p", "class=\"gone\"", word(.erased))
        case .unreadable: out.element("p", "class=\"gone\"", word(.unreadable))
        default: if let text = spoken.text, !text.isEmpty { out.said(text) }
        }
        for item in spoken.payload?.elements("attachments") ?? [] { item.object.map(attachment) }
        if let history = entry.history { changes(history, first: spoken.payload?.string("text")) }
        out.raw("</article>\n")
        previous = isFirst ? header.id : nil
        guard isFirst else { return }
        seen[header.id] = (who, String((spoken.state == .erased ? "" : spoken.text ?? "").prefix(80)))
    }

    /// A reply to what stands right above needs no word.
    private func reply(_ cause: EventID?) {
        guard let cause, cause != previous, let question = seen[cause] else { return }
        out.raw("<a class=\"re\" href=\"#e-\(cause)\">")
        out.text(Sanitizer.line(word(.inReply, question.who, question.text)))
        out.raw("</a>\n")
    }

    /// Who changed it, when, and what stood there before.
    private func changes(_ history: MessageHistory, first: String?) {
        others.formUnion(history.amendments.map(\.id))
        others.formUnion([history.edit, history.retraction].compactMap { $0?.id })
        let hidden = history.count - history.amendments.count
        if hidden > 0 { change(word(.hidden, String(hidden)), nil) }
        let own = history.amendments.filter { $0.isEdit && $0.counts }
        var before = first
        for (index, edit) in own.enumerated() {
            // What the message says now stands above.
            let isKnown = index > 0 || hidden == 0
            let at = clock(edit.time)
            change(isKnown ? word(.editedFrom, at) : word(.edited, at), isKnown ? before ?? "" : nil)
            before = edit.text
        }
        for other in history.amendments where other.isEdit && !other.counts {
            change(word(.correction, shownName(other.author), clock(other.time)), other.text ?? word(.erased))
        }
        for other in history.amendments where !other.isEdit && !other.counts {
            change(word(.refused, shownName(other.author), clock(other.time)), nil)
        }
        if let back = history.retraction {
            let (who, at) = (shownName(back.author), clock(back.time))
            change(back.reason.map { word(.retractedForReason, who, at, $0) } ?? word(.retracted, who, at), nil)
        }
    }

    private func change(_ note: String, _ text: String?) {
        out.raw("<div class=\"change\">")
        out.element("p", "class=\"note\"", Sanitizer.line(note))
        if let text { out.said(text) }
        out.raw("</div>\n")
    }

    private func attachment(_ item: JSONObject) {
        let attachment = PageAttachment(item: item, language: settings.language)
        let bytes = attachment.bytes(min(PageAttachment.mostBytes, pictureRoom), from: settings.bytes)
        if case .picture(let bytes) = bytes { pictureRoom -= bytes.count }
        attachment.write(bytes, to: &out)
    }

    // MARK: Other events

    private func event(_ entry: TimelineEntry) {
        let event = entry.stored.event
        let payload = event.payload.map { JSONObject(validated: $0) }
        let who = shownName(event.header.author)
        let text: String
        switch event.header.type {
        case "conversation.started": text = word(.started, who)
        case "conversation.renamed": text = word(.renamed, who, payload?.string("title") ?? "")
        case "participant.joined": text = word(.joined, shownName(payload?.string("user") ?? event.header.user))
        case "participant.left": text = word(.left, shownName(payload?.string("user") ?? event.header.user))
        case "bot.failed": text = word(.failed, who, payload?.string("reason") ?? "")
        case "bot.transcribed": text = word(.heard, who, payload?.string("text") ?? "")
        case "survey.answered":
            let value =
                payload?.string("choice") ?? payload?["rating"]?.numberText
                ?? payload?.strings("choices")?.joined(separator: ", ") ?? ""
            let question = [payload?.string("survey"), payload?.string("question")].compactMap(\.self)
            let comment = payload?.string("comment").map { " “\($0)”" } ?? ""
            text = word(.survey, who, question.joined(separator: " / "), value + comment)
        default: text = word(.other, who, event.header.type)
        }
        out.raw("<p class=\"event\" dir=\"auto\">")
        out.text(Sanitizer.line(String(text.prefix(2_000))) + " ")
        time(event.header.time)
        out.raw("</p>\n")
    }
}
