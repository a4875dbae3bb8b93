import Foundation
import TestSupport
import Testing

/// An export that says otherwise what is there already: nothing is doubled, and what differs is told (INV-8, D63).
@Suite(.serialized, .timeLimit(.minutes(5)))
struct ImportAgainTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder.made() }

    private func store(_ name: String) throws -> String {
        let path = folder.file(name)
        #expect(try Programs.syncctl(path, ["init", "--name", name]).code == 0)
        return path
    }

    private func file(_ name: String, _ text: String) throws -> String {
        let path = folder.file(name)
        try Data(text.utf8).write(to: URL(filePath: path))
        return path
    }

    private func end(_ run: Programs.Result) -> [String: Int] {
        (run.lines.last ?? [:]).compactMapValues { $0 as? Int }
    }

    private func telegram(_ title: String, _ edited: String = "", text: String = "x") -> String {
        #"{"name":"\#(title)","type":"private_group","id":5,"messages":["#
            + #"{"id":1,"type":"message","date_unixtime":"1704103200","from":"영희","from_id":"user1","text":"\#(text)"\#(edited)}]}"#
    }

    @Test(
        "A conversation that has another title is told, with both and the way out; by the files and at a named node")
    func titles() throws {
        let daemon = try DaemonProcess("d")
        try daemon.start()
        defer { daemon.kill() }
        let alone = try store("alone")
        let socket = ["--url", "unix:\(daemon.store)/api.sock"]
        for (target, more) in [(alone, [String]()), (daemon.store, []), (alone, socket)] {
            let first = try file("result.json", telegram("방"))
            #expect(try Programs.syncctl(target, ["import", first] + more).code == 0)
            #expect(end(try Programs.syncctl(target, ["import", first, "--json"] + more))["already"] == 2)
            let again = try Programs.syncctl(
                target, ["import", try file("result.json", telegram("새 방")), "--json"] + more)
            #expect(again.code == 0 && end(again)["already"] == 2 && end(again)["differing"] == 0, "\(again.errors)")
            let told = try #require(again.lines.first { $0["type"] as? String == "described" })
            #expect(told["what"] as? String == "title of conversation.started" && told["events"] as? Int == 1)
            #expect(told["places"] as? [String] == [#"telegram:5: "방" there, "새 방" here"#])
            #expect(again.errors.contains("conversation.renamed"))
        }
        let dry = try Programs.syncctl(alone, ["import", folder.file("result.json"), "--dry-run"])
        #expect(dry.code == 0 && dry.output.contains("differs from what is there: 1, title"), "\(dry.output)")
    }

    @Test("An edited message may say something else than at first, and be nobody else's")
    func edited() throws {
        let store = try store("edited")
        #expect(try Programs.syncctl(store, ["import", try file("result.json", telegram("방"))]).code == 0)
        let edit = try file("result.json", telegram("방", #","edited_unixtime":"1704189600""#, text: "y"))
        let second = try Programs.syncctl(store, ["import", edit, "--json"])
        #expect(second.code == 0 && end(second)["appended"] == 1 && end(second)["already"] == 2, "\(second.output)")
        let other = try Programs.syncctl(store, ["import", edit, "--me", "영희", "--user", "yh", "--json"])
        #expect(other.code == 4 && end(other)["differing"] == 2, "\(other.output)")
        #expect(other.output.contains("(differs: user, text)") && other.output.contains("(differs: user)"))
    }

    @Test("The first message of a chat may stand elsewhere in its minute, but be of no other time and nobody else's")
    func firstMinute() throws {
        let store = try store("first")
        let head = "방 님과 카카오톡 대화\n저장한 날짜 : 2025년 10월 14일 오후 9:03\n\n2025년 10월 13일 오전 9:05\n"
        let (one, two) = ("2025년 10월 13일 오전 9:05, 홍길동 : 하나\n", "2025년 10월 13일 오전 9:05, 홍길동 : 둘\n")
        #expect(try Programs.syncctl(store, ["import", try file("a.txt", head + one + two)]).code == 0)
        // It begins in the middle of the minute.
        let later = try Programs.syncctl(store, ["import", try file("b.txt", head + two), "--json"])
        #expect(later.code == 0 && end(later)["already"] == 1, "\(later.output)")
        for words in [["--timezone", "UTC"], ["--me", "홍길동", "--user", "hong"]] {
            let other = try Programs.syncctl(store, ["import", folder.file("b.txt"), "--json"] + words)
            #expect(other.code == 4 && end(other)["differing"] == 1, "\(other.output)")
        }
    }

    @Test("A later chat of WhatsApp that begins within a minute adds what is new, and what is known is there (INV-8)")
    func withinMinute() throws {
        let store = try store("within")
        let name = "WhatsApp Chat with B.txt"
        let lines = ["A: one", "A: two", "B: three", "A: new"].map { "13/1/25, 09:00 - \($0)\n" }
        let first = try file(name, lines[..<3].joined())
        #expect(try Programs.syncctl(store, ["import", first, "--timezone", "UTC"]).code == 0)
        let second = try file(name, lines[1...].joined() + "13/1/25, 09:01 - B: last\n")
        let later = try Programs.syncctl(store, ["import", second, "--timezone", "UTC", "--json"])
        #expect(later.code == 0 && end(later)["already"] == 2 && end(later)["appended"] == 2, "\(later.output)")
        let other = try Programs.syncctl(store, ["import", second, "--timezone", "Asia/Seoul", "--json"])
        #expect(other.code == 4 && end(other)["differing"] == 4, "\(other.output)")
        // What came without its picture is told as such, though it stands elsewhere in the minute.
        let naming = "13/1/25, 10:00 - A: a.jpg (file attached)\n"
        let third = try file(name, "13/1/25, 10:00 - A: b\n" + naming)
        #expect(try Programs.syncctl(store, ["import", third, "--timezone", "UTC"]).code == 0)
        let whole = folder.file("whole")
        try FileManager.default.createDirectory(atPath: whole, withIntermediateDirectories: true)
        _ = try (file("whole/" + name, naming), file("whole/a.jpg", "x"))
        let told = try Programs.syncctl(store, ["import", whole, "--timezone", "UTC", "--json"])
        #expect(told.code == 0 && end(told)["already"] == 1, "\(told.output)")
        #expect(told.lines.contains { $0["what"] as? String == "attachments of message.posted" }, "\(told.output)")
    }

    @Test("What a release before has kept with other blanks and escapes is there, however much of it (D63)")
    func spelling() throws {
        let messages = (1...40).map {
            #"{"id":\#($0),"type":"message","date_unixtime":"1704103200","from":"a","from_id":"user1","text":["두 ",{"type":"bold","text":"\#($0)"}]}"#
        }
        let chat = try file(
            "result.json",
            #"{"name":"r","type":"private_group","id":5,"messages":[\#(messages.joined(separator: ","))]}"#)
        let new = try store("new")
        #expect(try Programs.syncctl(new, ["import", chat]).code == 0)
        let lines = try Programs.syncctl(new, ["export"]).output.replacing(
            #","entities":["두 ",{"#, with: #","entities": [ "\ub450 " , {"#)
        let old = try store("old")
        let native = try Programs.syncctl(old, ["import", try file("old.ndjson", lines), "--json"])
        #expect(native.code == 0 && end(native)["appended"] == 41, "\(native.output)")
        for more in [["--dry-run"], []] {
            let again = try Programs.syncctl(old, ["import", chat, "--json"] + more)
            #expect(again.code == 0 && end(again)["already"] == 41, "\(again.output)")
            #expect(!again.output.contains("described"), "\(again.output)")
        }
    }

    @Test("The owner of a phone is who --me names on Windows: nothing is doubled, nor what came without it (INV-8)")
    func owner() throws {
        let daemon = try DaemonProcess("d")
        try daemon.start()
        defer { daemon.kill() }
        let windows = try file(
            "win.txt",
            "방 님과 카카오톡 대화\n저장한 날짜 : 2025-10-14 21:03:11\n\n--------------- 2025년 10월 13일 월요일 ---------------\n"
                + "[홍길동] [오후 1:00] 점심 먹자\n[김영희] [오후 1:01] 그래\n")
        let head = "방 2 님과 카카오톡 대화\n저장한 날짜 : 2025년 10월 14일 오후 9:03\n\n2025년 10월 13일 오후 1:00\n"
        let phone = try file(
            "phone.txt", head + "2025년 10월 13일 오후 1:00, 회원님 : 점심 먹자\n2025년 10월 13일 오후 1:01, 김영희 : 그래\n")
        func run(_ store: String, _ path: String, _ me: String?, _ more: [String] = []) throws -> Programs.Result {
            let words = me.map { ["--me", $0, "--user", "hong"] } ?? []
            return try Programs.syncctl(store, ["import", path, "--json"] + words + more)
        }
        for (number, me) in ["홍길동", "회원님"].enumerated() {
            let store = try store("s\(number)")
            #expect(try end(run(store, windows, "홍길동"))["appended"] == 2)
            let second = try run(store, phone, me)
            #expect(second.code == 0 && end(second)["already"] == 2, "\(second.output)")
            #expect(second.output.contains("name of message.posted") == (me == "회원님"), "\(second.output)")
        }
        // What an import without it has taken is there under the name, as nobody's user.
        let socket = ["--url", "unix:\(daemon.store)/api.sock"]
        for (target, more) in [(try store("plain"), [String]()), (daemon.store, socket)] {
            #expect(try end(run(target, windows, nil, more))["appended"] == 2)
            for path in [windows, phone] {
                let named = try run(target, path, "홍길동", more)
                #expect(
                    named.code == 4 && end(named)["differing"] == 1 && end(named)["already"] == 1, "\(named.output)")
            }
        }
    }

    @Test("What a late export has put before earlier messages of its minute or second is there, and told (D63)")
    func order() throws {
        func told(_ run: Programs.Result) -> [String] {
            let lines = run.lines.filter { $0["what"] as? String == "order of message.posted" }
            return lines.flatMap { $0["places"] as? [String] ?? [] }
        }
        let lines = (0...4).map { "25/01/2024, \($0 == 0 ? "09:59" : $0 == 4 ? "10:01" : "10:00") - A: m\($0)\n" }
        let name = "WhatsApp Chat with z.txt"
        for (number, first) in [0, 1].enumerated() {
            let store = try store("s\(number)")
            let zone = ["--timezone", "UTC", "--json"]
            #expect(try Programs.syncctl(store, ["import", try file(name, lines[2...].joined())] + zone).code == 0)
            let whole = try Programs.syncctl(store, ["import", try file(name, lines[first...].joined())] + zone)
            #expect(whole.code == 0 && end(whole)["already"] == 3 && end(whole)["differing"] == 0, "\(whole.output)")
            let place = first == 0 ? "line 3" : "line 2"
            #expect(told(whole) == ["whatsapp:z: 2024-01-25T10:00:00.000Z there, \(place) here"], "\(whole.output)")
            #expect(!whole.errors.contains("conversation.renamed"))
            // The other way round all stands as it was said.
            let right = try self.store("r\(number)")
            for part in [first, 2] {
                let run = try Programs.syncctl(right, ["import", try file(name, lines[part...].joined())] + zone)
                #expect(run.code == 0 && told(run).isEmpty, "\(run.output)")
            }
        }
        func telegram(_ ids: [Int]) throws -> String {
            let messages = ids.map {
                #"{"id":\#($0),"type":"message","date_unixtime":"1704067200","from":"A","from_id":"user1","text":"m\#($0)"}"#
            }
            return try file("result.json", #"{"name":"r","id":5,"messages":[\#(messages.joined(separator: ","))]}"#)
        }
        let store = try store("telegram")
        #expect(try Programs.syncctl(store, ["import", try telegram([2])]).code == 0)
        let whole = try Programs.syncctl(store, ["import", try telegram([1, 2, 3]), "--json"])
        #expect(
            whole.code == 0 && told(whole) == ["telegram:5: 2024-01-01T00:00:00.000Z there, $.messages[1] here"],
            "\(whole.output)")
    }

    @Test("What is there and erased is counted as that")
    func erased() throws {
        let store = try store("erased")
        let chat = try file("WhatsApp Chat with z.txt", "25/01/2024, 10:00 - A: a\n25/01/2024, 10:00 - A: b\n")
        #expect(try Programs.syncctl(store, ["import", chat]).code == 0)
        let lines = try file("lines", try Programs.syncctl(store, ["export"]).output)
        let (erase, plan) = (["erase", "conversation", "whatsapp:z"], folder.file("plan"))
        #expect(try Programs.syncctl(store, erase + ["--plan", plan, "--reason", "r", "--who", "w"]).code == 0)
        #expect(try Programs.syncctl(store, erase + ["--confirm", plan]).code == 0)
        for more in [["--dry-run"], []] {
            for path in [chat, lines] {
                let run = try Programs.syncctl(store, ["import", path, "--json"] + more)
                #expect(run.code == 0 && end(run)["already"] == 2 && end(run)["erased"] == 2, "\(run.output)")
                let shown = try Programs.syncctl(store, ["import", path] + more)
                #expect(shown.output.contains("; 2 of those already there are erased"), "\(shown.output)")
            }
        }
    }

    @Test(
        "What a moderator of Matrix redacts after a first export is read by nobody: not where no opening names moderators (D24)"
    )
    func redacted() throws {
        func export(_ message: String) throws -> String {
            let rest = #""origin_server_ts":1700000000002,"event_id":"$2","sender":"@a:e","room_id":"!r:e""#
            return try file(
                "export.json", #"{"room_name":"r","messages":[{"type":"m.room.message",\#(rest),\#(message)}]}"#)
        }
        let store = try store("redacted")
        let said = try export(#""content":{"msgtype":"m.text","body":"주민번호"}"#)
        #expect(try Programs.syncctl(store, ["import", said]).code == 0)
        #expect(try Programs.syncctl(store, ["search", "주민번호"]).code == 0)
        let redaction = #"{"event_id":"$9","sender":"@mod:e","origin_server_ts":1700000009000,"content":{}}"#
        let taken = try export(#""content":{},"unsigned":{"redacted_because":\#(redaction)}"#)
        #expect(try end(Programs.syncctl(store, ["import", taken, "--json"]))["appended"] == 1)
        #expect(try Programs.syncctl(store, ["search", "주민번호"]).code == 1)
        #expect(try end(Programs.syncctl(store, ["import", taken, "--json"]))["already"] == 1)
    }

    @Test("A profile without times whose old value comes back is told: what was said in between stays")
    func profiles() throws {
        let daemon = try DaemonProcess("d")
        try daemon.start()
        defer { daemon.kill() }
        func export(_ name: String) throws -> String {
            try file(
                "r.json",
                #"{"Users":{"u1":{"id":"u1","name":"\#(name)","description":"d"}},"ChatRooms":{},"Chats":{}}"#)
        }
        for (target, more) in [(try store("alone"), [String]()), (daemon.store, [])] {
            for name in ["홍", "새이름"] {
                let run = try Programs.syncctl(target, ["import", try export(name), "--json"] + more)
                #expect(
                    run.code == 0 && end(run)["appended"] == 1 && !run.output.contains("described"), "\(run.output)")
            }
            let back = try Programs.syncctl(target, ["import", try export("홍"), "--json"] + more)
            let told = try #require(back.lines.first { $0["type"] as? String == "described" }, "\(back.output)")
            #expect(told["what"] as? String == "name of profile.changed" && end(back)["already"] == 1)
            #expect(told["places"] as? [String] == [#"u1: "새이름" there, "홍" here"#])
            #expect(
                !(try Programs.syncctl(target, ["import", try export("새이름"), "--json"])).output.contains("described"))
        }
    }

    @Test(
        "A file of no known format is refused once, and not line by line; what has objects in it is read as native lines"
    )
    func unknown() throws {
        let store = try store("unknown")
        let prose = try Programs.syncctl(store, ["import", try file("a.txt", "한 줄\n두 줄\n")])
        #expect(prose.code == 65 && prose.errors.contains("E_IMPORT_FORMAT"), "\(prose.errors)")
        let lines = #"no line\n{"type":"t","user":"u","data":{}}\n"#.replacing(#"\n"#, with: "\n")
        let native = try Programs.syncctl(store, ["import", try file("b.ndjson", lines)])
        #expect(native.code == 4 && native.output.contains("1 appended") && native.errors.contains("E_LINE_JSON"))
        #expect(try Programs.syncctl(store, ["import", try file("c.ndjson", "\n \n")]).code == 0)
    }

    private static let open = "01/02/24, 10:00 - Bob: a\n02/03/24, 10:00 - Bob: b\n"
    private static let clear = open + "03/25/24, 10:00 - Bob: c\n"

    @Test(
        "A chat that is here with day and month exchanged is refused as a whole, with ways out; nothing of it is doubled"
    )
    func exchanged() throws {
        let daemon = try DaemonProcess("d")
        try daemon.start()
        defer { daemon.kill() }
        let alone = try store("alone")
        for (target, more) in [(alone, [String]()), (alone, ["--url", "unix:\(daemon.store)/api.sock"])] {
            let first = try Programs.syncctl(
                target, ["import", try file("WhatsApp Chat with Bob.txt", Self.open)] + more)
            #expect(first.code == 0 && first.errors.contains("--dates month-first"))
            let path = try file("WhatsApp Chat with Bob.txt", Self.clear)
            let refused = try Programs.syncctl(target, ["import", path] + more)
            #expect(refused.code == 65 && refused.errors.contains("E_IMPORT_DATES"), "\(refused.errors)")
            #expect(
                refused.errors.contains("Nothing of this one was stored") && refused.errors.contains("--conversation")
            )
            #expect(
                end(try Programs.syncctl(target, ["import", path, "--conversation", "bob", "--json"] + more))[
                    "appended"] == 3)
        }
        let path = folder.file("WhatsApp Chat with Bob.txt")
        #expect(try Programs.syncctl(alone, ["import", path, "--dry-run"]).code == 65)
        // Nor does an order that is said double it: the first import may have been the wrong one.
        let said = try Programs.syncctl(alone, ["import", path, "--dates", "month-first"])
        #expect(said.code == 65 && said.errors.contains("E_IMPORT_DATES") && said.errors.contains("--twice"))
        let open = try file("WhatsApp Chat with Bob.txt", Self.open)
        #expect(try Programs.syncctl(alone, ["import", open, "--dates", "month-first"]).code == 65)
        #expect(end(try Programs.syncctl(alone, ["import", open, "--dates", "day-first", "--json"]))["already"] == 2)
        _ = try file("WhatsApp Chat with Bob.txt", Self.clear)
        let meant = try Programs.syncctl(alone, ["import", path, "--dates", "month-first", "--twice", "--json"])
        #expect(meant.code == 0 && end(meant)["appended"] == 3)
        let told = "whatsapp:Bob is here with day and month exchanged, about 2 messages of this file"
        #expect(meant.errors.contains(told), "\(meant.errors)")
        let again = try Programs.syncctl(alone, ["import", path, "--dates", "month-first"])
        #expect(again.code == 0 && !again.errors.contains("exchanged"), "\(again.errors)")
        // What a release before has doubled is not doubled again.
        #expect(end(try Programs.syncctl(alone, ["import", path, "--json"]))["already"] == 3)
    }

    @Test("Open dates are read as those of what is here already")
    func opened() throws {
        let store = try store("opened")
        let clear = try file("WhatsApp Chat with Bob.txt", Self.clear)
        #expect(end(try Programs.syncctl(store, ["import", clear, "--json"]))["appended"] == 3)
        let open = try file("WhatsApp Chat with Bob.txt", Self.open + "04/04/24, 10:00 - Bob: d\n")
        let run = try Programs.syncctl(store, ["import", open, "--json"])
        #expect(run.code == 0 && end(run)["appended"] == 1 && end(run)["already"] == 2, "\(run.output)")
        #expect(run.errors.contains("as in what is here"))
        #expect(try Programs.syncctl(store, ["import", open, "--dates", "year-first"]).code == 64)
    }

    @Test("A daily message at one minute is no sign of exchanged dates")
    func daily() throws {
        let store = try store("daily")
        func month(_ number: String) -> String {
            (1...28).map { day in
                let date = "\(day < 10 ? "0" : "")\(day)/\(number)/24"
                return
                    "\(date), 09:00 - Bob: 좋은 아침\n\(date), 09:01 - Bob: \(number)월 \(day)일\n\(date), 10:00 - Bob: 둘째 \(number) \(day)\n"
            }.joined()
        }
        let january = try file("WhatsApp Chat with Bob.txt", month("01"))
        #expect(end(try Programs.syncctl(store, ["import", january, "--json"]))["appended"] == 84)
        let february = try file("WhatsApp Chat with Bob.txt", month("02") + month("03"))
        #expect(end(try Programs.syncctl(store, ["import", february, "--json"]))["appended"] == 168)
    }
}
