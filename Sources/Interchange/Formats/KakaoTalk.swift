internal import CommandLineKit
internal import EventStore
internal import Glibc

/// Chats that KakaoTalk writes as text (Windows, Android, iOS; Korean and English) or CSV (Mac).
///
/// No record has an id. So a message is named by its room, its minute or second as written, its author's name, its text, and how
/// often the same was said before in that minute. The id does not depend on the zone in which times are read.
///
/// A long chat comes in parts, which are cut wherever one is full. A part goes on from the part before it, in the same folder or
/// archive or beside the file: so it has the same ids as in one piece.
final class KakaoTalk: ExportReader {
    private let options: ImportOptions
    private let zone: Zone
    /// How the part that was read last has ended.
    private var ended: (part: KakaoPart, ending: KakaoEnding)?
    /// The files of a folder or archive that are parts. Looked for when the first of them needs another.
    private var parts: [KakaoPart: String]?

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
                try readText(&lines, first, files, name, output)
            }
        }
    }

    private func readText(
        _ lines: inout TextLines, _ first: String, _ files: ExportFiles, _ name: String, _ output: ImportOutput
    ) throws(ImportError) {
        let file = files.isFile ? files.path : files.path + "/" + name
        guard let title = KakaoLine.title(first, try lines.text() ?? "") else {
            throw ImportError(
                .malformed, file, at: "line 1", "no header of KakaoTalk: '… 님과 카카오톡 대화' and when it was saved")
        }
        let part = KakaoPart(title, name)
        let before = part.number > 1 ? try ending(before: part, files, name) : nil
        var room = KakaoRoom(Naming.id("kakaotalk", title.room), file, options, zone, output, after: before)
        try readMessages(&lines, title, file, &room, output)
        ended = (part, room.ending)
        let isPart = title.part != nil || KakaoLine.isPart(file: name, of: title.room)
        guard before == nil, isPart, part.number > 1, let first = room.first else { return }
        output.remark(
            "\(file) is part \(part.number) of a chat, and part \(part.number - 1) is not beside it. What one person says alike in both, in the "
                + "minute of the cut (\(Timestamp.text(first).prefix(16))), is taken for one message. With the parts in one folder "
                + "it is not: import the folder, now or later")
    }

    // MARK: Parts

    /// How the part before `part` has ended; `nil` where it is not there.
    private func ending(
        before part: KakaoPart, _ files: ExportFiles, _ name: String
    ) throws(ImportError) -> KakaoEnding? {
        let wanted = part.before
        if let ended, ended.part == wanted { return ended.ending }
        let isAlone = files.isFile
        guard let (files, name) = try file(of: wanted, files, name) else { return nil }
        do throws(ImportError) {
            return try ending(of: wanted, files, name)
        } catch {
            // What lies beside a file is not what was asked for: it refuses nothing.
            guard isAlone, error.kind == .malformed else { throw error }
            return nil
        }
    }

    private func ending(of wanted: KakaoPart, _ files: ExportFiles, _ name: String) throws(ImportError)
        -> KakaoEnding?
    {
        guard let ending = try ending(of: wanted, files, name, after: nil) else { return nil }
        // All in one minute, which may have begun in the part before.
        guard ending.isOneMinute, wanted.number > 1, let earlier = try self.ending(before: wanted, files, name) else {
            return ending
        }
        return try self.ending(of: wanted, files, name, after: earlier)
    }

    /// Reads a part for its end alone.
    private func ending(
        of part: KakaoPart, _ files: ExportFiles, _ name: String, after before: KakaoEnding?
    ) throws(ImportError) -> KakaoEnding? {
        let nowhere = ImportOutput(isCheck: true, file: files.path) { _ in true }
        var lines = TextLines(try files.reader(name))
        guard let title = KakaoLine.title(try lines.text() ?? "", try lines.text() ?? ""),
            KakaoPart(title, name) == part
        else { return nil }
        var room = KakaoRoom(Naming.id("kakaotalk", title.room), name, options, zone, nowhere, after: before)
        try readMessages(&lines, title, files.isFile ? files.path : files.path + "/" + name, &room, nowhere)
        return room.ending
    }

    /// The file of a part: of the same folder or archive, or beside the one that is imported, with its number in the name.
    private func file(
        of part: KakaoPart, _ files: ExportFiles, _ name: String
    ) throws(ImportError) -> (ExportFiles, String)? {
        guard files.isFile else {
            if parts == nil {
                var found: [KakaoPart: String] = [:]
                for name in files.names where name.hasSuffix(".txt") {
                    var lines = TextLines(try files.reader(name))
                    guard let title = KakaoLine.title(try lines.text() ?? "", try lines.text() ?? "") else {
                        continue
                    }
                    found[KakaoPart(title, name)] = name
                }
                parts = found
            }
            return parts?[part].map { (files, $0) }
        }
        guard let own = KakaoLine.part(ofFile: files.path), own.number == part.number + 1 else { return nil }
        let path = "\(own.before)\(part.number)\(own.after)"
        guard access(path, R_OK) == 0 else { return nil }
        let beside = try ExportFiles(path)
        return beside.isFile ? (beside, beside.name) : nil
    }

    private func readMessages(
        _ lines: inout TextLines, _ title: KakaoLine.Title, _ file: String, _ room: inout KakaoRoom,
        _ output: ImportOutput
    ) throws(ImportError) {
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
                // On Windows nothing tells it from a line of a message: what comes behind it does.
                if title.isWindows, room.isOpen {
                    try room.hold(line, number, isService: true)
                    continue
                }
                try room.finish()
                output.skip("a line of the service: who came, left or was invited", at: "line \(number)")
            case .other:
                if room.isHolding, line.allSatisfy(\.isWhitespace) || KakaoLine.goesOnService(line) {
                    try room.hold(line, number, isService: KakaoLine.goesOnService(line))
                } else if room.isOpen {
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
            var read = KakaoLine.fields(record)
            while read == .open {
                guard let more = try lines.text() else {
                    throw ImportError(.malformed, file, at: "line \(number)", "a quoted field does not end")
                }
                record += "\n" + more
                guard record.utf8.count <= TextLines.longest else {
                    throw ImportError(
                        .malformed, file, at: "line \(number)", "a record is longer than \(TextLines.longest) bytes")
                }
                read = KakaoLine.fields(record)
            }
            guard case .fields(let fields) = read else {
                throw ImportError(
                    .malformed, file, at: "line \(number)", "something stands behind the end of a quoted field")
            }
            guard fields.count == 3 else {
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

/// Which part of which chat a file is. What was saved at one moment is one export.
private struct KakaoPart: Hashable {
    let room: String
    let saved: String
    var number: Int

    /// The header says it, or the file's name; a chat in one piece is part 1.
    init(_ title: KakaoLine.Title, _ name: String) {
        (room, saved) = (title.room, title.saved)
        number = title.part ?? KakaoLine.part(ofFile: ExportFiles.lastPart(name))?.number ?? 1
    }

    var before: KakaoPart {
        var before = self
        before.number -= 1
        return before
    }
}

/// What the next part needs of a part.
private struct KakaoEnding {
    let repeats: Repeats
    let order: FileOrder
    /// Whether all of it was said in one minute.
    let isOneMinute: Bool
}

/// The message that is being read, and what tells it apart from its neighbours.
private struct KakaoRoom {
    private struct Open {
        let moment: CivilTime
        let hasSeconds: Bool
        let name: String
        var text: String
        let number: Int
        /// The text before the first line in it that could be of the service. Releases before took it for all of it, and the message has
        /// its name from that: so it is recognised.
        var named: String?
    }

    /// Within which a message has its name.
    private let scope: String
    private let conversation: String
    private let file: String
    private let options: ImportOptions
    private let zone: Zone
    private let output: ImportOutput
    private var open: Open?
    /// Lines behind the open message that are of the service, unless it goes on behind them.
    private var held: [(line: String, number: Int, isService: Bool)] = []
    private var heldBytes = 0
    private var repeats: Repeats
    private var order: FileOrder
    private(set) var first: Int64?
    private var last: Int64?
    private static let exporter = ["회원님", "Me"]

    init(
        _ scope: String, _ file: String, _ options: ImportOptions, _ zone: Zone, _ output: ImportOutput,
        after before: KakaoEnding? = nil
    ) {
        (self.scope, self.file, self.options, self.zone, self.output) = (scope, file, options, zone, output)
        conversation = options.conversation ?? scope
        (repeats, order) = (before?.repeats ?? Repeats(), before?.order ?? FileOrder())
    }

    var isOpen: Bool { open != nil }
    var isHolding: Bool { !held.isEmpty }
    var ending: KakaoEnding { KakaoEnding(repeats: repeats, order: order, isOneMinute: first == last) }

    mutating func begin(_ moment: CivilTime, _ hasSeconds: Bool, _ name: String, _ text: String, _ number: Int) {
        open = Open(moment: moment, hasSeconds: hasSeconds, name: name, text: text, number: number)
    }

    /// Keeps a line behind the open message until it is known whose it is.
    mutating func hold(_ line: String, _ number: Int, isService: Bool) throws(ImportError) {
        held.append((line, number, isService))
        heldBytes += line.utf8.count + 1
        if heldBytes > TextLines.longest { try finish() }
    }

    mutating func go(on line: String, _ number: Int) throws(ImportError) {
        if !held.isEmpty {
            // Behind a line of the service stands none of a message: what looked like one was said.
            if let message = open, message.named == nil { open?.named = Self.withoutEnd(message.text) }
            open?.text += held.reduce("") { $0 + "\n" + $1.line }
            (held, heldBytes) = ([], 0)
        }
        open?.text += "\n" + line
        guard let open, open.text.utf8.count > TextLines.longest else { return }
        throw ImportError(
            .malformed, file, at: "line \(open.number)", "a message is longer than \(TextLines.longest) bytes")
    }

    func skip(_ reason: String, _ number: Int) { output.skip(reason, at: "line \(number)") }

    /// - Parameter isWhole: Whether blank lines at the end are part of the text.
    mutating func finish(isWhole: Bool = false) throws(ImportError) {
        for line in held where line.isService {
            output.skip("a line of the service: who came, left or was invited", at: "line \(line.number)")
        }
        (held, heldBytes) = ([], 0)
        guard var message = open else { return }
        open = nil
        if !isWhole { message.text = Self.withoutEnd(message.text) }
        let written = message.moment.milliseconds
        let isOwner = message.name == options.me || Self.exporter.contains(message.name)
        let name = Self.exporter.contains(message.name) ? options.me ?? message.name : message.name
        let stamp = Timestamp.text(written).dropLast(message.hasSeconds ? 5 : 8)
        func key(_ name: String) -> String { "\(stamp)\u{0}\(name)\u{0}\(message.named ?? message.text)" }
        // A phone and Windows call its owner otherwise: by `--me` they are one.
        let isOne = isOwner && options.me != nil
        let called = isOne ? Self.exporter[0] : message.name
        let count = repeats.count(key(called))
        let step: Int64 = message.hasSeconds ? 1_000 : 60_000
        let time = order.time(written, step: step)
        first = first ?? written
        last = written
        func draft(_ called: String) -> EventDraft {
            let record = Naming.hash("\(key(called))\u{0}\(count)")
            var payload = Payload()
            payload.add("text", message.text)
            payload.add("name", name)
            payload.addSource("kakaotalk", record)
            return EventDraft(
                id: EventID(record: record, of: scope, time: written), type: "message.posted",
                time: zone.instant(of: CivilTime(milliseconds: time)), conversation: conversation,
                user: (isOwner ? options.user : nil) ?? Naming.id("kakaotalk", name), payload: payload.json)
        }
        // Releases before took the name that stands there, and so does an import without `--me`.
        let others = isOne ? Set([message.name, options.me ?? called]).subtracting([called]).sorted().map(draft) : []
        try output.emit(draft(called), at: "line \(message.number)", .time(within: step), others: others)
    }

    /// A text without the blank lines at its end.
    private static func withoutEnd(_ text: String) -> String {
        guard let last = text.utf8.lastIndex(where: { $0 != 0x0a }) else { return "" }
        return String(text[...last])
    }
}
