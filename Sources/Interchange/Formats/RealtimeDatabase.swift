internal import EventStore

/// A Firebase Realtime Database: the messenger's `Users`, `ChatRooms` and `Chats`, and Dr.Bot's first store, a child for each name.
///
/// The messenger's dates count from 1970 or from 2001. The keys of messages have their time in them, and say which.
final class RealtimeDatabase: ExportReader {
    private struct Room {
        var one: String
        var other: String
        var lastMessage: [String: String] = [:]
        var first: Int64?
    }

    private let options: ImportOptions
    private var rooms: [String: Room] = [:]
    /// Dates that fit each beginning.
    private var votes = (unix: 0, apple: 0)
    private var first: Int64?
    private static let mostRooms = 5_000_000

    init(_ options: ImportOptions) { self.options = options }

    /// Whether these are names of its members.
    static func isKnown(_ members: Set<String>) -> Bool {
        !members.isDisjoint(with: ["Chats", "ChatRooms"]) || members.isSuperset(of: ["Users", "id"])
            || members.isSuperset(of: ["user", "assistant"])
    }

    func read(_ files: ExportFiles, into output: ImportOutput) throws(ImportError) {
        let names = try files.json(Self.isKnown)
        // Rooms and their first messages are known before the first is written.
        if output.isCheck {
            let nowhere = ImportOutput(isCheck: true, file: files.path) { _ in true }
            for name in names { try read(try files.reader(name), nowhere, isSurvey: true) }
        }
        for name in names { try read(try files.reader(name), output, isSurvey: false) }
        guard votes.unix + votes.apple > 0 else { return }
        output.remark("dates count from \(isApple ? "2001" : "1970")")
    }

    private var isApple: Bool { votes.apple > votes.unix }

    private func read(_ reader: ByteReader, _ output: ImportOutput, isSurvey: Bool) throws(ImportError) {
        let json = try JSONPull(reader, repeats: output.noteRepeated)
        try json.openObject()
        var disagreements = 0
        while let member = try json.nextName() {
            switch member {
            case "Users": if isSurvey { try json.skip() } else { try users(json, output) }
            case "ChatRooms":
                if isSurvey { try survey(json) } else { try json.skip() }
            case "Chats": try chats(json, output, isSurvey)
            default:
                if isSurvey {
                    try json.skip()
                } else if try json.peek() == UInt8(ascii: "{") {
                    try person(member, try json.value(), json.place, output)
                } else {
                    output.skip("a member of an unknown form", at: json.place)
                    try json.skip()
                }
            }
        }
        try json.finish()
        guard !isSurvey else { return }
        for (id, room) in rooms.sorted(by: { $0.key < $1.key }) {
            try start(id, room, output)
            if Set(room.lastMessage.values).count > 1 { disagreements += 1 }
        }
        for _ in 0..<disagreements {
            output.skip(
                "a room whose two entries disagree about the last message; messages decide", at: "$.ChatRooms")
        }
    }

    private func user(_ id: String) -> String { id == options.me ? options.user ?? id : id }

    private func users(_ json: JSONPull, _ output: ImportOutput) throws(ImportError) {
        try children(json) { key, value, place throws(ImportError) in
            guard let person = value.object else { return output.skip("a member of an unknown form", at: place) }
            let id = person.string("id") ?? key
            var fields = Payload()
            for (name, member) in [
                ("name", "name"), ("phoneNumber", "phoneNumber"), ("photoURL", "profileURL"),
                ("description", "description"),
            ] {
                fields.add(name, person.string(member))
            }
            var payload = Payload()
            payload.add("fields", fields)
            payload.addSource("firebase", "Users/\(key)")
            // The file does not say when. No user was here before the first message, and what is newer here stays.
            let time = max(0, (self.first ?? 1) - 1)
            try output.emit(
                EventDraft(
                    id: EventID(
                        record: Naming.hash(String(decoding: fields.json, as: UTF8.self)), of: "firebase:Users/\(key)"
                    ),
                    type: "profile.changed", time: time, user: self.user(id), payload: payload.json), at: place,
                .value)
        }
    }

    /// Members of an object, or of an array that was one whose keys were numbers.
    private func children(
        _ json: JSONPull, _ body: (String, JSONValue, String) throws(ImportError) -> Void
    ) throws(ImportError) {
        if try json.peek() == UInt8(ascii: "[") {
            try json.openArray()
            var index = 0
            while try json.nextElement() {
                let value = try json.value()
                if !value.isNull { try body(String(index), value, json.place) }
                index += 1
            }
        } else {
            try json.openObject()
            while let key = try json.nextName() { try body(key, try json.value(), json.place) }
        }
    }

    private func survey(_ json: JSONPull) throws(ImportError) {
        try children(json) { me, value, place throws(ImportError) in
            guard let others = value.object else { throw json.failure("rooms of a user are no object") }
            for member in others {
                guard let entry = member.value.object,
                    let id = entry.string("chatRoomId") ?? entry.string("chatRoomID")
                else {
                    throw json.failure("a room has no chatRoomId")
                }
                let other = entry.string("otherUserId") ?? entry.string("otherUserID") ?? member.name
                guard self.rooms.count < Self.mostRooms else {
                    throw json.failure("more than \(Self.mostRooms) rooms")
                }
                var room = self.rooms[id] ?? Room(one: "", other: "")
                // Messages that stand before have made it without its members.
                if room.one.isEmpty { (room.one, room.other) = (min(me, other), max(me, other)) }
                room.lastMessage[me] = entry.string("lastMessage")
                self.rooms[id] = room
            }
        }
    }

    private func conversation(_ room: String) -> String {
        if let conversation = options.conversation { return conversation }
        guard let pair = rooms[room], !pair.one.isEmpty else { return Naming.id("firebase", room) }
        return Naming.direct(user(pair.one), user(pair.other))
    }

    private func start(_ id: String, _ room: Room, _ output: ImportOutput) throws(ImportError) {
        guard !room.one.isEmpty else { return }
        var payload = Payload()
        payload.add("category", "text")
        payload.add("participants", [user(room.one), user(room.other)])
        payload.add("originalId", id)
        payload.addSource("firebase", "Chats/\(id)")
        try output.emit(
            EventDraft(
                id: EventID(record: "start", of: "firebase:Chats/\(id)"), type: "conversation.started",
                time: max(0, (room.first ?? first ?? 1) - 1), conversation: conversation(id), user: user(room.one),
                payload: payload.json), at: "$.ChatRooms.\(room.one).\(room.other)", .description)
    }

    private func chats(_ json: JSONPull, _ output: ImportOutput, _ isSurvey: Bool) throws(ImportError) {
        try json.openObject()
        while let room = try json.nextName() {
            try children(json) { key, value, place throws(ImportError) in
                guard let message = value.object else { throw json.failure("a message is no object") }
                guard let date = message["date"]?.double, date.isFinite else {
                    throw json.failure("a message has no date")
                }
                if isSurvey { return try self.survey(room, key, date, json) }
                try self.message(
                    room, key, message, self.time(date, room, key, place, output), place, json, output)
            }
        }
    }

    private func survey(_ room: String, _ key: String, _ date: Double, _ json: JSONPull) throws(ImportError) {
        let pushed = PushID.milliseconds(key).map { Double($0) / 1e3 }
        let seconds = date > 1e11 ? date / 1e3 : date
        if let pushed, abs(seconds - pushed) < 86_400 {
            votes.unix += 1
        } else if let pushed, abs(seconds + Moments.apple - pushed) < 86_400 {
            votes.apple += 1
        } else if seconds < 1e9 {
            votes.apple += 1
        } else {
            votes.unix += 1
        }
        // Which beginning holds is known at the end; the key's own time has it already.
        let own = PushID.milliseconds(key) ?? Moments.milliseconds(seconds: seconds) ?? 0
        let exact =
            Moments.milliseconds(
                seconds: abs(seconds * 1e3 - Double(own)) < 86_400_000 ? seconds : seconds + Moments.apple) ?? own
        guard rooms.count < Self.mostRooms else { throw json.failure("more than \(Self.mostRooms) rooms") }
        rooms[room, default: Room(one: "", other: "")].first = min(rooms[room]?.first ?? .max, exact)
        first = min(first ?? .max, exact)
    }

    private func time(
        _ date: Double, _ room: String, _ key: String, _ place: String, _ output: ImportOutput
    ) -> Int64 {
        // ServerValue.timestamp is in milliseconds.
        let seconds = date > 1e11 ? date / 1e3 : date + (isApple ? Moments.apple : 0)
        if let time = Moments.milliseconds(seconds: seconds) { return time }
        if let own = PushID.milliseconds(key) {
            output.note("the date of a message is no time: its key has one", at: place)
            return own
        }
        output.note(
            "the date of a message is no time, and its key has none: it stands at the beginning of 1970", at: place)
        return 0
    }

    private func message(
        _ room: String, _ key: String, _ message: JSONObject, _ time: Int64, _ place: String, _ json: JSONPull,
        _ output: ImportOutput
    ) throws(ImportError) {
        guard let sender = message.string("userId") ?? message.string("userID"), !sender.isEmpty else {
            throw json.failure("a message has no userId")
        }
        let photo = message.string("photoURL")
        guard message.string("message") != nil || photo != nil else {
            return output.skip("a message without text and picture", at: place)
        }
        var payload = Payload()
        payload.add("text", message.string("message"))
        if let photo {
            var item = Payload()
            item.add("url", photo)
            payload.add("attachments", [item])
            payload.add("photoURL", photo)
        }
        let record = message.string("chatId") ?? message.string("chatID") ?? key
        payload.addSource("firebase", "Chats/\(room)/\(record)")
        try output.emit(
            EventDraft(
                id: EventID(record: record, of: "firebase:Chats/\(room)", time: PushID.milliseconds(record) ?? 0),
                type: "message.posted", time: time, conversation: conversation(room), user: user(sender),
                payload: payload.json),
            at: place)
    }

    // MARK: Dr.Bot's first store

    private func person(
        _ name: String, _ value: JSONValue, _ place: String, _ output: ImportOutput
    ) throws(ImportError) {
        guard let object = value.object, object["user"] != nil || object["assistant"] != nil else {
            return output.skip("a member of an unknown form", at: place)
        }
        let questions = Self.lines(object["user"], place + ".user", output)
        let answers = Self.lines(object["assistant"], place + ".assistant", output)
        let user = user(name)
        let conversation = options.conversation ?? "drbot-" + name
        let source = "firebase:" + name
        var last: Int64 = 0
        for index in 0..<max(questions.count, answers.count) {
            var cause: EventID?
            if index < questions.count {
                let (key, text) = questions[index]
                last = PushID.milliseconds(key) ?? last + 2
                let id = EventID(record: "user/\(key)", of: source, time: last)
                cause = id
                var payload = Payload()
                payload.add("text", text)
                payload.addSource("firebase", "\(name)/user/\(key)")
                try output.emit(
                    EventDraft(
                        id: id, type: "message.posted", time: last, conversation: conversation, user: user,
                        payload: payload.json),
                    at: place + ".user." + key)
            }
            guard index < answers.count else { continue }
            let (key, text) = answers[index]
            let time = max(PushID.milliseconds(key) ?? 0, last + 1)
            var payload = Payload()
            payload.add("text", text)
            payload.addSource("firebase", "\(name)/assistant/\(key)")
            try output.emit(
                EventDraft(
                    id: EventID(record: "assistant/\(key)", of: source, time: time), type: "bot.replied", time: time,
                    conversation: conversation, user: user, author: "drbot", cause: cause, payload: payload.json),
                at: place + ".assistant." + key)
        }
        for member in object where member.name != "user" && member.name != "assistant" {
            let place = "\(place).\(member.name)"
            guard member.name == "messages", let messages = member.value.elements else {
                output.skip("a member of an unknown form", at: place)
                continue
            }
            for _ in messages { output.skip("a repetition of what stands under user and assistant", at: place) }
        }
    }

    /// Texts by their keys, which an array has lost.
    private static func lines(_ value: JSONValue?, _ place: String, _ output: ImportOutput) -> [(String, String)] {
        guard let value, !value.isNull else { return [] }
        let elements = value.elements?.enumerated().map { (String($0), $1) }.filter { !$1.isNull }
        guard let members = elements ?? value.object?.map({ ($0.name, $0.value) }) else {
            output.skip("a member of an unknown form", at: place)
            return []
        }
        let lines = members.compactMap { (key, value) -> (String, String)? in
            if let text = value.string { return (key, text) }
            output.skip("a line that is no text", at: "\(place).\(key)")
            return nil
        }
        return elements == nil ? lines.sorted { $0.0 < $1.0 } : lines
    }
}

/// Keys that Firebase makes: 8 characters of time and 12 of chance, in the order of ASCII.
enum PushID {
    private static let digits = Array("-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz".utf8)

    static func milliseconds(_ key: String) -> Int64? {
        let bytes = Array(key.utf8)
        guard bytes.count == 20 else { return nil }
        var value: Int64 = 0
        for (index, byte) in bytes.enumerated() {
            guard let digit = digits.firstIndex(of: byte) else { return nil }
            if index < 8 { value = value << 6 | Int64(digit) }
        }
        return value
    }
}
