internal import CommandLineKit
internal import EventStore

/// Chats that WhatsApp writes as text, on Android and iOS, in the form of the phone's language.
///
/// Which of the numbers of a date is the day is not written. The whole file is looked at for that: a number that can be no month
/// decides, else the order in which time goes forward, else the day comes first.
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
            var known = forms[name]
            if known == nil { known = try survey(files, name, file) }
            guard let form = known else { continue }
            forms[name] = form
            if form.isAmbiguous {
                output.remark("\(file): each date can be read in two ways; the day is taken to come first")
            }
            try read(files, name, file, form, output)
        }
    }

    private func survey(_ files: ExportFiles, _ name: String, _ file: String) throws(ImportError) -> WhatsAppForm {
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
        return survey.form
    }

    private func read(
        _ files: ExportFiles, _ name: String, _ file: String, _ form: WhatsAppForm, _ output: ImportOutput
    ) throws(ImportError) {
        var conversation = options.conversation ?? ""
        if conversation.isEmpty { conversation = Naming.id("whatsapp", try self.room(files, name)) }
        var room = WhatsAppRoom(conversation, file, options, zone, output)
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
            guard let (name, text) = form.message(head.rest) else {
                output.skip("a line of the service, of nobody", at: "line \(lines.number)")
                continue
            }
            room.begin(moment, head.hasSeconds, name, text, lines.number)
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
        if room.hasSuffix(")"), let open = room.lastRange(of: " ("),
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

/// The message that is being read.
private struct WhatsAppRoom {
    private let conversation: String
    private let file: String
    private let options: ImportOptions
    private let zone: Zone
    private let output: ImportOutput
    private var open: (moment: CivilTime, hasSeconds: Bool, name: String, text: String, number: Int)?
    private var repeats = Repeats()
    private var order = FileOrder()

    init(_ conversation: String, _ file: String, _ options: ImportOptions, _ zone: Zone, _ output: ImportOutput) {
        (self.conversation, self.file, self.options, self.zone, self.output) = (
            conversation, file, options, zone, output
        )
    }

    mutating func begin(_ moment: CivilTime, _ hasSeconds: Bool, _ name: String, _ text: String, _ number: Int) {
        open = (moment, hasSeconds, name, text, number)
    }

    mutating func go(on line: String) throws(ImportError) {
        open?.text += "\n" + line
        guard let open, open.text.utf8.count > TextLines.longest else { return }
        throw ImportError(
            .malformed, file, at: "line \(open.number)", "a message is longer than \(TextLines.longest) bytes")
    }

    mutating func finish() throws(ImportError) {
        guard var message = open else { return }
        open = nil
        while message.text.utf8.last == 0x0a { message.text.removeLast() }
        let written = message.moment.milliseconds
        let key = "\(written)\u{0}\(message.name)\u{0}\(message.text)"
        let record = Naming.hash("\(key)\u{0}\(repeats.count(key))")
        let time = order.time(written, step: message.hasSeconds ? 1_000 : 60_000)
        var payload = Payload()
        payload.add("text", message.text)
        payload.add("name", message.name)
        payload.addSource("whatsapp", record)
        let user = message.name == options.me ? options.user : nil
        let draft = EventDraft(
            id: EventID(record: record, of: conversation, time: written), type: "message.posted",
            time: zone.instant(of: CivilTime(milliseconds: time)), conversation: conversation,
            user: user ?? Naming.id("whatsapp", message.name), payload: payload.json)
        try output.emit(draft, at: "line \(message.number)")
    }
}
