internal import CommandLineKit

/// What a line of a KakaoTalk export is.
enum KakaoLine {
    case day(CivilTime)
    /// `nil`: the day stands above.
    case message(CivilTime?, (milliseconds: Int64, hasSeconds: Bool), name: String, text: String)
    /// Of the service itself.
    case system
    case other

    // MARK: Headers

    struct Title {
        let room: String
        let isWindows: Bool
        /// When it was saved, as written.
        let saved: String
        /// Which part of the chat it is, if it says so: a long chat comes as several files.
        var part: Int?
    }

    /// The first two lines: `<room> 님과 카카오톡 대화` or `<room> with KakaoTalk Chats`, and when it was saved.
    static func title(_ first: String, _ second: String) -> Title? {
        var saved: Substring?
        for prefix in ["저장한 날짜 : ", "저장한 날짜: ", "Date Saved : ", "Date Saved: "] where second.hasPrefix(prefix) {
            saved = second.dropFirst(prefix.count)
        }
        guard let saved else { return nil }
        // Windows writes 2025-10-14 21:03:11 in every language.
        var clock = ClockText(saved)
        let isWindows = clock.number(4...4) != nil && clock.take("-")
        var room = Substring(first)
        var isKnown = false
        var part: Int?
        for suffix in [".txt"] where room.hasSuffix(suffix) { room = room.dropLast(suffix.count) }
        for end in ["과 카카오톡 대화", " with KakaoTalk Chats", " KakaoTalk Chats"] as [StaticString] {
            // iOS numbers the parts: -1.txt.
            guard let range = room.lastBytes(of: end),
                room[range.upperBound...].allSatisfy({ $0 == "-" || $0.isNumber })
            else { continue }
            part = Int(room[range.upperBound...].drop { $0 == "-" })
            room = room[..<range.lowerBound]
            isKnown = true
            break
        }
        if !isKnown, room.hasPrefix("KakaoTalk Chats with ") {
            room = room.dropFirst("KakaoTalk Chats with ".count)
            isKnown = true
        }
        guard isKnown else { return nil }
        if room.hasSuffix("님") { room = room.dropLast() }
        while room.last == " " { room = room.dropLast() }
        if !isWindows { room = withoutCount(room) }
        return Title(
            room: room.isEmpty ? "KakaoTalk" : String(room), isWindows: isWindows, saved: String(saved), part: part)
    }

    /// `동아리 방 3` and `동아리 방 (3명)`: how many are in a group changes, its name does not.
    private static func withoutCount(_ room: Substring) -> Substring {
        guard let blank = room.lastIndex(of: " ") else { return room }
        var last = room[room.index(after: blank)...]
        if last.hasPrefix("("), last.hasSuffix(")") { last = last.dropFirst().dropLast() }
        if last.hasSuffix("명") { last = last.dropLast() }
        guard !last.isEmpty, last.allSatisfy({ $0.isASCII && $0.isNumber }) else { return room }
        return room[..<blank]
    }

    /// The name of a file that is a part, before and behind the part's number: `Talk_2025.10.14-`, 2 and `.txt`.
    static func part(ofFile name: String) -> (before: Substring, number: Int, after: Substring)? {
        guard let dot = name.lastIndex(of: "."), let bar = name[..<dot].lastIndex(of: "-") else { return nil }
        let digits = name[name.index(after: bar)..<dot]
        guard digits.utf8.count <= 6, digits.allSatisfy({ $0.isASCII && $0.isNumber }), let number = Int(digits)
        else {
            return nil
        }
        return (name[...bar], number, name[dot...])
    }

    /// Whether the number at the end of a file's name is that of a part, and none of a date or of the room's own name.
    static func isPart(file name: String, of room: String) -> Bool {
        let name = ExportFiles.lastPart(name)
        guard let dot = name.lastIndex(of: "."), !room.contains("-") || !name[..<dot].hasSuffix(room) else {
            return false
        }
        let end = name[..<dot].reversed().prefix { $0 == "-" || $0.isASCII && $0.isNumber }
        return end.split(separator: "-").count < 3
    }

    /// `KakaoTalk_Chat_<room>_2025-10-14-21-03-11.csv`
    static func room(ofFile name: String) -> String {
        var room = Substring(ExportFiles.lastPart(name))
        if let dot = room.lastIndex(of: "."), dot != room.startIndex { room = room[..<dot] }
        if room.hasPrefix("KakaoTalk_Chat_") { room = room.dropFirst("KakaoTalk_Chat_".count) }
        if let bar = room.lastIndex(of: "_"), bar != room.startIndex, room[bar...].count >= 11,
            room[bar...].dropFirst().allSatisfy({ $0.isNumber || $0 == "-" })
        {
            room = room[..<bar]
        }
        return String(room)
    }

    // MARK: Lines

    static func windows(_ line: String) -> KakaoLine {
        if line.utf8.starts(with: "---------------".utf8), line.hasSuffix("---------------") {
            let inner = line.drop { $0 == "-" }
            var clock = ClockText(inner[..<(inner.lastIndex { $0 != "-" } ?? inner.startIndex)])
            clock.skipBlanks()
            if let date = day(&clock) { return .day(date) }
        }
        if line.utf8.first == UInt8(ascii: "["), let found = bracketed(line) { return found }
        return isService(line) ? .system : .other
    }

    /// `[name] [오후 2:37] text`; the name may have brackets in it.
    private static func bracketed(_ line: String) -> KakaoLine? {
        var from = line.startIndex
        while let range = line[from...].firstBytes(of: "] [") {
            var clock = ClockText(line[range.upperBound...])
            if let time = clock.timeOfDay(), clock.take("]") {
                _ = clock.take(" ")
                let name = line[line.index(after: line.startIndex)..<range.lowerBound]
                return .message(nil, time, name: String(name), text: String(clock.text))
            }
            from = line.index(after: range.lowerBound)
        }
        return nil
    }

    static func mobile(_ line: String) -> KakaoLine {
        guard let first = line.unicodeScalars.first, first.properties.isAlphabetic || ("0"..."9").contains(first)
        else {
            return .other
        }
        var clock = ClockText(line[...])
        guard let date = day(&clock) else { return .other }
        clock.skipBlanks()
        if clock.isAtEnd { return .day(date) }
        _ = clock.take(",")
        _ = clock.take("at")
        clock.skipBlanks()
        guard let time = clock.timeOfDay() else { return .other }
        if clock.isAtEnd { return .day(date) }
        if clock.take(": ") { return .system }
        guard clock.take(", ") || clock.take(",") else { return .other }
        guard let colon = clock.text.firstBytes(of: " : ") else {
            // A message without a text ends in the colon.
            if clock.text.hasSuffix(" :") {
                return .message(date, time, name: String(clock.text.dropLast(2)), text: "")
            }
            return .system
        }
        return .message(
            date, time, name: String(clock.text[..<colon.lowerBound]), text: String(clock.text[colon.upperBound...]))
    }

    private static let weekdays = [
        "월요일", "화요일", "수요일", "목요일", "금요일", "토요일", "일요일",
    ]

    /// `2025년 10월 13일 월요일`, `2025. 10. 13.`, `Monday, October 13, 2025`, `Oct 13, 2025`. The day of the week does not count.
    private static func day(_ clock: inout ClockText) -> CivilTime? {
        let before = clock
        if let year = clock.number(4...4) {
            let isKorean = clock.take("년")
            guard isKorean || clock.take(".") else {
                clock = before
                return nil
            }
            clock.skipBlanks()
            let month = clock.number(1...2)
            guard clock.take(isKorean ? "월" : ".") else {
                clock = before
                return nil
            }
            clock.skipBlanks()
            let number = clock.number(1...2)
            guard clock.take(isKorean ? "일" : "."), let month, let number,
                let date = existing(year.value, month.value, number.value)
            else {
                clock = before
                return nil
            }
            var left = clock
            left.skipBlanks()
            for weekday in weekdays where left.text.hasPrefix(weekday) {
                clock = ClockText(left.text.dropFirst(weekday.count))
            }
            return date
        }
        if let comma = clock.text.firstBytes(of: "day, "), clock.text[..<comma.lowerBound].count <= 6 {
            clock = ClockText(clock.text[comma.upperBound...])
        }
        guard let month = clock.month() else {
            clock = before
            return nil
        }
        clock.skipBlanks()
        let number = clock.number(1...2)
        _ = clock.take(",")
        clock.skipBlanks()
        guard let number, let year = clock.number(4...4), let date = existing(year.value, month, number.value) else {
            clock = before
            return nil
        }
        return date
    }

    private static func existing(_ year: Int, _ month: Int, _ day: Int) -> CivilTime? {
        let date = CivilTime(year: year, month: month, day: day)
        return date.exists ? date : nil
    }

    /// What the service says has no sign of its own on Windows. These are its sentences, from beginning to end.
    private static func isService(_ line: String) -> Bool {
        let ends = [
            "님을 초대했습니다.", "님이 나갔습니다.", "님이 들어왔습니다.", "님을 내보냈습니다.", " left this chatroom.",
            " joined this chatroom.",
        ]
        return ends.contains { line.hasSuffix($0) } && line.utf8.count < 1_000
            && (line.contains("님이 ") || line.hasSuffix("chatroom."))
    }

    /// What the service says only behind another line of its own: elsewhere it is text like any other.
    static func goesOnService(_ line: String) -> Bool { line.hasSuffix("메시지를 가렸습니다.") }

    // MARK: The table of the Mac

    static func isHeader(ofTable line: String) -> Bool {
        line == "Date,User,Message" || line == "\"Date\",\"User\",\"Message\""
    }

    /// What lines of a table come to (RFC 4180).
    enum Record: Equatable {
        case fields([String])
        /// A quoted field has not ended yet.
        case open
        /// Something stands behind the end of a quoted field.
        case broken
    }

    static func fields(_ record: String) -> Record {
        var fields: [String] = []
        var field: [UInt8] = []
        var isQuoted = false
        var rest = Array(record.utf8)[...]
        while let byte = rest.popFirst() {
            if isQuoted {
                if byte != UInt8(ascii: "\"") {
                    field.append(byte)
                } else if rest.first == UInt8(ascii: "\"") {
                    field.append(byte)
                    rest.removeFirst()
                } else {
                    isQuoted = false
                    if let next = rest.first, next != UInt8(ascii: ",") { return .broken }
                }
            } else if byte == UInt8(ascii: ",") {
                fields.append(String(decoding: field, as: UTF8.self))
                field = []
            } else if byte == UInt8(ascii: "\""), field.isEmpty {
                isQuoted = true
            } else {
                field.append(byte)
            }
        }
        return isQuoted ? .open : .fields(fields + [String(decoding: field, as: UTF8.self)])
    }

    /// `2025-10-13 09:05:26`
    static func stamp(_ text: String) -> CivilTime? {
        var clock = ClockText(text[...])
        guard let year = clock.number(4...4), clock.take("-"), let month = clock.number(2...2), clock.take("-"),
            let day = clock.number(2...2), var date = existing(year.value, month.value, day.value), clock.take(" "),
            let time = clock.timeOfDay(), clock.isAtEnd
        else { return nil }
        date.millisecondOfDay = time.milliseconds
        return date
    }

    static func isTableRemark(_ text: String, of user: String) -> Bool {
        guard text.hasPrefix(user + " "), !text.contains("\n") else { return false }
        let rest = text.dropFirst(user.count)
        return rest.hasPrefix(" invited ") && rest.hasSuffix(".") || rest == " left this chatroom."
            || rest == " joined this chatroom."
            || isService(text)
    }
}
