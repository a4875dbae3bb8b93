internal import CommandLineKit
internal import EventStore

/// Chats that KakaoTalk writes as text (Windows, Android, iOS; Korean and English) or CSV (Mac).
///
/// No record has an id. So a message is named by its room, its minute or second as written, its author's name, its text, and how
/// often the same was said before in that minute. The id does not depend on the zone in which times are read.
final class KakaoTalk: ExportReader {
    private let options: ImportOptions
    private let zone: Zone

    init(_ options: ImportOptions) {
        self.options = options
        zone = options.zone ?? ZoneDirectory.system.zone(named: "Asia/Seoul") ?? .fixed(seconds: 9 * 3_600)
    }

    func read(_ files: ExportFiles, into output: ImportOutput) throws(ImportError) {
        if options.zone == nil {
            output.remark("times are read as those of Asia/Seoul; --timezone ZONE says otherwise")
        }
        for name in files.names where files.isFile || name.hasSuffix(".txt") || name.hasSuffix(".csv") {
            let file = files.isFile ? files.path : files.path + "/" + name
            var lines = TextLines(try files.reader(name))
            guard let first = try lines.text() else { throw ImportError(.malformed, file, "it is empty") }
            if KakaoLine.isHeader(ofTable: first) {
                let scope = options.conversation ?? Naming.id("kakaotalk", KakaoLine.room(ofFile: name))
                var room = KakaoRoom(scope, file, options, zone, output)
                try readTable(&lines, file, &room)
            } else {
                try readText(&lines, first, file, output)
            }
        }
    }

    private func readText(
        _ lines: inout TextLines, _ first: String, _ file: String, _ output: ImportOutput
    ) throws(ImportError) {
        guard let saved = try lines.text(), let title = KakaoLine.title(first, saved) else {
            throw ImportError(
                .malformed, file, at: "line 1", "no header of KakaoTalk: '… 님과 카카오톡 대화' and when it was saved")
        }
        var room = KakaoRoom(Naming.id("kakaotalk", title.room), file, options, zone, output)
        var day: CivilTime?
        while let line = try lines.text() {
            let number = lines.number
            switch title.isWindows ? KakaoLine.windows(line) : KakaoLine.mobile(line) {
            case .day(let date):
                try room.finish()
                day = date
            case .message(let date, let time, let name, let text):
                guard var moment = date ?? day else {
                    throw ImportError(.malformed, file, at: "line \(number)", "a message stands before the first day")
                }
                try room.finish()
                moment.millisecondOfDay = time.milliseconds
                room.begin(moment, time.hasSeconds, name, text, number)
            case .system:
                try room.finish()
                output.skip("a line of the service: who came, left or was invited", at: "line \(number)")
            case .other:
                if room.isOpen {
                    try room.go(on: line, number)
                } else if !line.allSatisfy(\.isWhitespace) {
                    guard day != nil else {
                        throw ImportError(.malformed, file, at: "line \(number)", "neither a day nor a message")
                    }
                    output.skip("a line of the service: who came, left or was invited", at: "line \(number)")
                }
            }
        }
        try room.finish()
    }

    private func readTable(
        _ lines: inout TextLines, _ file: String, _ room: inout KakaoRoom
    ) throws(ImportError) {
        while let first = try lines.text() {
            let number = lines.number
            if first.isEmpty { continue }
            var record = first
            var fields = KakaoLine.fields(record)
            while fields == nil {
                guard let more = try lines.text() else {
                    throw ImportError(.malformed, file, at: "line \(number)", "a quoted field does not end")
                }
                record += "\n" + more
                guard record.utf8.count <= TextLines.longest else {
                    throw ImportError(
                        .malformed, file, at: "line \(number)", "a record is longer than \(TextLines.longest) bytes")
                }
                fields = KakaoLine.fields(record)
            }
            guard let fields, fields.count == 3 else {
                throw ImportError(
                    .malformed, file, at: "line \(number)", "a record has three fields: date, user and message")
            }
            guard let moment = KakaoLine.stamp(fields[0]) else {
                throw ImportError(.malformed, file, at: "line \(number)", "'\(fields[0].prefix(40))' is no time")
            }
            if KakaoLine.isTableRemark(fields[2], of: fields[1]) {
                room.skip("a line of the service: who came, left or was invited", number)
                continue
            }
            room.begin(moment, true, fields[1], fields[2], number)
            try room.finish(isWhole: true)
        }
    }
}

/// The message that is being read, and what tells it apart from its neighbours.
private struct KakaoRoom {
    private struct Open {
        let moment: CivilTime
        let hasSeconds: Bool
        let name: String
        var text: String
        let number: Int
    }

    /// Within which a message has its name.
    private let scope: String
    private let conversation: String
    private let file: String
    private let options: ImportOptions
    private let zone: Zone
    private let output: ImportOutput
    private var open: Open?
    private var repeats = Repeats()
    private var order = FileOrder()
    private var first: Int64?
    private static let exporter = ["회원님", "Me"]

    init(_ scope: String, _ file: String, _ options: ImportOptions, _ zone: Zone, _ output: ImportOutput) {
        (self.scope, self.file, self.options, self.zone, self.output) = (scope, file, options, zone, output)
        conversation = options.conversation ?? scope
    }

    var isOpen: Bool { open != nil }

    mutating func begin(_ moment: CivilTime, _ hasSeconds: Bool, _ name: String, _ text: String, _ number: Int) {
        open = Open(moment: moment, hasSeconds: hasSeconds, name: name, text: text, number: number)
    }

    mutating func go(on line: String, _ number: Int) throws(ImportError) {
        open?.text += "\n" + line
        guard let open, open.text.utf8.count > TextLines.longest else { return }
        throw ImportError(
            .malformed, file, at: "line \(open.number)", "a message is longer than \(TextLines.longest) bytes")
    }

    func skip(_ reason: String, _ number: Int) { output.skip(reason, at: "line \(number)") }

    /// - Parameter isWhole: Whether blank lines at the end are part of the text.
    mutating func finish(isWhole: Bool = false) throws(ImportError) {
        guard var message = open else { return }
        open = nil
        while !isWhole, message.text.utf8.last == 0x0a { message.text.removeLast() }
        let written = message.moment.milliseconds
        let isMe = message.name == options.me || options.me == nil && Self.exporter.contains(message.name)
        let name = Self.exporter.contains(message.name) ? options.me ?? message.name : message.name
        let user = isMe || Self.exporter.contains(message.name) ? options.user : nil
        let stamp = Timestamp.text(written).dropLast(message.hasSeconds ? 5 : 8)
        let key = "\(stamp)\u{0}\(message.name)\u{0}\(message.text)"
        let count = repeats.count(key)
        let step: Int64 = message.hasSeconds ? 1_000 : 60_000
        let time = order.time(written, step: step)
        first = first ?? written
        let record = Naming.hash("\(key)\u{0}\(count)")
        var payload = Payload()
        payload.add("text", message.text)
        payload.add("name", name)
        payload.addSource("kakaotalk", record)
        let draft = EventDraft(
            id: EventID(record: record, of: scope, time: written), type: "message.posted",
            time: zone.instant(of: CivilTime(milliseconds: time)), conversation: conversation,
            user: user ?? Naming.id("kakaotalk", name), payload: payload.json)
        // An export may begin in the middle of a minute: then its first messages stand elsewhere in it than before.
        try output.emit(draft, at: "line \(message.number)", written == first ? .time(within: step) : .none)
    }
}
