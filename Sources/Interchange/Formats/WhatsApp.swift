internal import CommandLineKit
internal import EventStore

/// Chats that WhatsApp writes as text, on Android and iOS, in the form of the phone's language.
///
/// Which of the numbers of a date is the day is not written. The whole file is looked at for that: a number that can be no month
/// decides, else the order in which time goes forward, else what the
/// one who imports says, else the day comes first.
final class WhatsApp: ExportReader {
    private let options: ImportOptions
    private let zone: Zone
    private var forms: [String: WhatsAppForm] = [:]

    init(_ options: ImportOptions) {
        self.options = options
        zone = options.zone ?? .local
    }

    func read(_ files: ExportFiles, into output: ImportOutput) throws(ImportError) {
        if options.zone == nil {
            output.remark("times are read as those of this machine's zone; --timezone ZONE says otherwise")
        }
        for name in files.names where files.isFile || name.hasSuffix(".txt") {
            let file = files.isFile ? files.path : files.path + "/" + name
            var conversation = options.conversation ?? ""
            if conversation.isEmpty { conversation = Naming.id("whatsapp", try self.room(files, name)) }
            var known = forms[name]
            if known == nil { known = try survey(files, name, file, conversation) }
            guard let form = known else { continue }
            forms[name] = form
            if form.isAmbiguous, options.dates == nil {
                output.leaveDatesOpen(of: conversation)
                let isHere = options.monthFirst.contains(conversation)
                output.remark(
                    "\(file): each date can be read in two ways; "
                        + (isHere
                            ? "the month is taken to come first, as in what is here"
                            : "the day is taken to come first, and --dates month-first says otherwise"))
            }
            try read(files, name, file, form, conversation, output)
        }
    }

    private func survey(
        _ files: ExportFiles, _ name: String, _ file: String, _ conversation: String
    ) throws(ImportError) -> WhatsAppForm {
        var survey = WhatsAppSurvey()
        var lines = TextLines(try files.reader(name))
        while let line = try lines.text() {
            if let head = WhatsAppHead(line) {
                survey.add(head)
            } else if survey.count == 0, !line.allSatisfy(\.isWhitespace) {
                throw ImportError(
                    .malformed, file, at: "line \(lines.number)", "no date, time and name as WhatsApp writes them")
            }
        }
        guard survey.count > 0 else { throw ImportError(.malformed, file, "no message in it") }
        let isMonthFirst = options.monthFirst.contains(conversation)
        guard let form = survey.form(options.dates, where: isMonthFirst ? .monthFirst : .dayFirst) else {
            throw ImportError(
                .malformed, file, "its dates do not have the \(options.dates == .monthFirst ? "month" : "day") first")
        }
        return form
    }

    private func read(
        _ files: ExportFiles, _ name: String, _ file: String, _ form: WhatsAppForm, _ conversation: String,
        _ output: ImportOutput
    ) throws(ImportError) {
        var room = WhatsAppRoom(conversation, file, (files, name), options, zone, output)
        var lines = TextLines(try files.reader(name))
        while let line = try lines.text() {
            guard let head = WhatsAppHead(line), form.style == head.style, let moment = form.moment(head) else {
                guard lines.number > 1 || WhatsAppHead(line) == nil else {
                    throw ImportError(.malformed, file, at: "line \(lines.number)", "its date is none")
                }
                try room.go(on: line)
                continue
            }
            try room.finish()
            guard let (name, text, named) = form.message(head.rest) else {
                output.skip("a line of the service, of nobody", at: "line \(lines.number)")
                continue
            }
            room.begin(moment, head.hasSeconds, name, (text, named), lines.number)
        }
        try room.finish()
    }

    /// The name of the chat, which only the file's name tells.
    private func room(_ files: ExportFiles, _ name: String) throws(ImportError) -> String {
        var room = Substring(ExportFiles.lastPart(name))
        if room == "_chat.txt" { room = Substring(files.isFile ? "" : files.name) }
        for suffix in [".txt", ".zip"] where room.hasSuffix(suffix) { room = room.dropLast(suffix.count) }
        for prefix in ["WhatsApp Chat with ", "WhatsApp Chat - ", "WhatsApp-Chat mit "] where room.hasPrefix(prefix) {
            room = room.dropFirst(prefix.count)
        }
        // What a browser adds to a second download.
        if room.hasSuffix(")"), let open = room.lastBytes(of: " ("),
            room[open.upperBound...].dropLast().allSatisfy(\.isNumber)
        {
            room = room[..<open.lowerBound]
        }
        guard !room.isEmpty else {
            throw ImportError(
                .needsOption, files.path, "neither the file nor its name says which chat it is: --conversation ID")
        }
        return String(room)
    }
}

extension CivilTime {
    /// What it is if its day is the month; `nil` where that is no date, or the same one.
    fileprivate var dayAndMonthExchanged: CivilTime? {
        guard day != month else { return nil }
        let other = CivilTime(year: year, month: day, day: month, millisecondOfDay: millisecondOfDay)
        return other.exists ? other : nil
    }
}

/// The message that is being read.
private struct WhatsAppRoom {
    private struct Open {
        let moment: CivilTime
        let hasSeconds: Bool
        let name: String
        var text: String
        /// The text as releases before took it, from which it has its name.
        var named: String
        let number: Int
    }

    private let conversation: String
    private let file: String
    private let source: (files: ExportFiles, name: String)
    private let options: ImportOptions
    private let zone: Zone
    private let output: ImportOutput
    private var open: Open?
    private var repeats = Repeats()
    private var order = FileOrder()

    init(
        _ conversation: String, _ file: String, _ source: (files: ExportFiles, name: String),
        _ options: ImportOptions, _ zone: Zone, _ output: ImportOutput
    ) {
        (self.conversation, self.file, self.source) = (conversation, file, source)
        (self.options, self.zone, self.output) = (options, zone, output)
    }

    /// What Android writes behind the name of a file.
    private static let markers: Set<Substring> = [
        "file attached", "파일 첨부됨", "Datei angehängt", "archivo adjunto", "fichier joint", "arquivo anexado",
        "file allegato", "bestand bijgevoegd", "添付ファイル",
    ]

    /// What a text may name a picture or file by. It is certain where no text of a person looks like that.
    private typealias Named = (name: String, isCertain: Bool)

    /// The names that a text of iOS has, in the language of the phone: `<attached: 1-PHOTO.jpg>`. What was said with it stands before it, on the
    /// same line or above, as do a document's title and pages; whether it was edited stands behind it.
    private static func bracketed(_ text: String) -> [Named] {
        var found: [Named] = []
        var rest = text[...]
        while let close = rest.firstBytes(of: ">") {
            let front = rest[..<close.lowerBound]
            rest = rest[close.upperBound...]
            guard let open = front.lastBytes(of: "<"), let colon = front[open.upperBound...].firstBytes(of: ": ")
            else { continue }
            let (before, name) = (text[..<open.lowerBound], front[colon.upperBound...])
            let isAlone = before.isEmpty && (rest.isEmpty || rest.first == "\n")
            if name.contains(".") { found.append((String(name), isAlone || before.hasSuffix("\u{200e}"))) }
        }
        return found
    }

    /// The name in the first line of a text of Android, in the language of the phone: `IMG-1-WA1.jpg (file attached)`.
    private static func attached(_ text: String) -> Named? {
        let line = text.prefix { $0 != "\n" }.drop { $0 == "\u{200e}" }
        guard line.hasSuffix(")"), let open = line.lastBytes(of: " (") else { return nil }
        let name = line[..<open.lowerBound]
        // In languages that are not known here the phone's mark before the name says it, or the name that it gave.
        let isMarked =
            text.hasPrefix("\u{200e}") || name.contains("-WA")
            || markers.contains(line[open.upperBound...].dropLast())
        let end = name.utf8.reversed().prefix { $0 != UInt8(ascii: ".") }.count
        return (String(name), isMarked && 1...8 ~= end && end < name.utf8.count)
    }

    /// What a text is about, with its name; `nil`: nothing, or it is not in the export.
    private func attachment(
        _ text: String, at place: String
    ) throws(ImportError) -> (name: String, file: ImportedAttachment)? {
        let named = Self.bracketed(text) + [Self.attached(text)].compactMap(\.self)
        for (name, _) in named {
            if let file = try source.files.attachment(name, of: source.name) { return (name, file) }
        }
        if named.contains(where: \.isCertain) { output.skip("the bytes of a file: its name is taken", at: place) }
        return nil
    }

    mutating func begin(
        _ moment: CivilTime, _ hasSeconds: Bool, _ name: String, _ text: (said: String, named: String), _ number: Int
    ) {
        open = Open(
            moment: moment, hasSeconds: hasSeconds, name: name, text: text.said, named: text.named, number: number)
    }

    mutating func go(on line: String) throws(ImportError) {
        open?.text += "\n" + line
        open?.named += "\n" + line
        guard let open, open.text.utf8.count > TextLines.longest else { return }
        throw ImportError(
            .malformed, file, at: "line \(open.number)", "a message is longer than \(TextLines.longest) bytes")
    }

    mutating func finish() throws(ImportError) {
        guard var message = open else { return }
        open = nil
        while message.text.utf8.last == 0x0a { message.text.removeLast() }
        while message.named.utf8.last == 0x0a { message.named.removeLast() }
        let written = message.moment.milliseconds
        let key = "\(written)\u{0}\(message.name)\u{0}\(message.named)"
        let count = repeats.count(key)
        let record = Naming.hash("\(key)\u{0}\(count)")
        let other = message.moment.dayAndMonthExchanged.map { moment in
            let key = "\(moment.milliseconds)\u{0}\(message.name)\u{0}\(message.named)"
            return EventID(
                record: Naming.hash("\(key)\u{0}\(count)"), of: conversation, time: moment.milliseconds)
        }
        let step: Int64 = message.hasSeconds ? 1_000 : 60_000
        let time = order.time(written, step: step)
        var payload = Payload()
        payload.add("text", message.text)
        payload.add("name", message.name)
        let place = "line \(message.number)"
        let attached = try attachment(message.text, at: place)
        if let attached { payload.add("attachments", [attached.file.item(name: attached.name)]) }
        payload.addSource("whatsapp", record)
        let user = message.name == options.me ? options.user : nil
        let draft = EventDraft(
            id: EventID(record: record, of: conversation, time: written), type: "message.posted",
            time: zone.instant(of: CivilTime(milliseconds: time)), conversation: conversation,
            user: user ?? Naming.id("whatsapp", message.name), payload: payload.json)
        try output.emit(
            draft, at: place, .time(within: step), otherReading: other,
            naming: attached.map { [$0.file] } ?? [])
    }
}
