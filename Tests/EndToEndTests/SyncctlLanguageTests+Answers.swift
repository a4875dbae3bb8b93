import Foundation
import TestSupport
import Testing

@testable import syncctl

/// What commands answer that change something, or compare: whole sentences, of which none stays behind in English.
extension SyncctlLanguageTests {
    /// Two English words in a row, where they are no command, path, name or code. Text of an error stays English below
    /// its Korean meaning, so commands that succeed are looked at.
    private static func english(_ text: String) -> [String] {
        let rest = text.replacing(/'[^']*'/, with: "·")
            .replacing(/syncctl( [a-z][a-z-]+)+/, with: "·").replacing(/--[a-z-]+/, with: "·")
            .replacing(/[^\s]*[\/._\-0-9:][^\s]*/, with: "·")
        return rest.matches(of: /[A-Za-z]{2,} [A-Za-z]{2,}/).map { String($0.output) }
    }

    @Test(
        "Two English words in a row are found beside what is the same in both languages",
        arguments: [
            ("made the store /tmp/x", ["made the"]), ("이벤트 3건 already there", ["already there"]),
            ("syncctl tokens revoke 0a1b", []), ("증명됨  20261128T01-a  이벤트 2건", []),
            ("추가 위치 2 ID 0198-a", []),
            ("'backup prune'을 실행하면 지웁니다", []), ("node name", ["node name"]),
        ])
    func found(text: String, words: [String]) {
        #expect(Self.english(text) == words)
    }

    /// A chat of KakaoTalk with a line of the service in it.
    private static let chat = """
        방 님과 카카오톡 대화
        저장한 날짜 : 2025-10-14 21:03:11

        --------------- 2025년 10월 13일 월요일 ---------------
        하늘님이 들어왔습니다.
        [하늘] [오전 9:05] 안녕하세요
        """

    /// The commands that need no daemon, in this order on one store; each with what it says in English, where `·` is
    /// what is not the same every time.
    private static let alone: [(words: [String], output: String, errors: String)] = [
        (["init", "--name", "n"], "made the store ·\n  node    n ·\n  origin  ·\n", ""),
        (
            ["append", "--user", "u", "--text", "하나", "--id", "0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e5f"],
            "appended position 2 id ·\n", ""
        ),
        (
            ["append", "--user", "u", "--text", "하나", "--id", "0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e5f"],
            "already position 2 id ·\n", ""
        ),
        (
            ["import", "IN/lines.ndjson"],
            "2 lines: 2 appended, 0 already there, 0 rejected\n", ""
        ),
        (["import", "IN/lines.ndjson", "--dry-run"], "2 lines: 0 new, 2 already there, 0 rejected\n", ""),
        (
            ["import", "IN/KakaoTalkChats.txt"],
            """
            message.posted  1
            passed over: 1, a line of the service: who came, left or was invited (line 5)
            1 event: 1 appended, 0 already there, 0 there with other content, 0 rejected; 1 records passed over

            """,
            """
            syncctl: · is read as KakaoTalk, text or CSV (--format kakaotalk)
            syncctl: times are read as those of Asia/Seoul; --timezone ZONE says otherwise

            """
        ),
        (["doctor", "settle", "FORK"], "", "syncctl: no open finding FORK\n"),
        (
            ["peers", "list"], "",
            "syncctl: no peers; syncctl peers invite here, or peers join with a line from another node\n"
        ),
        (["peers", "add", "busan-1", String(repeating: "5f", count: 32)], "added busan-1\n", ""),
        (["peers", "pause", "busan-1"], "paused busan-1\n", ""),
        (["peers", "resume", "busan-1"], "resumed busan-1\n", ""),
        (["peers", "remove", "busan-1"], "removed busan-1\n", ""),
        (["clocks"], "", "syncctl: no daemon runs here, so there are no peers to compare with\n"),
        (["attachment", "verify"], "0 attachments, 0 bytes: 0 damaged, 0 missing\n", ""),
        (["quarantine", "retry"], "0 events were quarantined, 0 still are\n", ""),
        (["backup", "copy", "IN/copy", "--without-key"], "copied positions 1..5 to ·, without node.key\n", ""),
    ]

    @Test(
        "What commands answer is in the user's language for people, and in English for scripts",
        arguments: ["en", "ko"])
    func answers(language: String) async throws {
        let folder = try TemporaryFolder.made()
        var tool = try Tool.named("syncctl")
        tool.environment["SYNCCTL_STORE"] = folder.file("store")
        tool.environment["LANG"] = language == "ko" ? "ko_KR.UTF-8" : "en_US.UTF-8"
        let lines = ["a", "b"].map { #"{"type":"t","user":"u","data":{"text":"\#($0)"}}"# + "\n" }.joined()
        try Data(lines.utf8).write(to: URL(filePath: folder.file("lines.ndjson")))
        try Data(Self.chat.utf8).write(to: URL(filePath: folder.file("KakaoTalkChats.txt")))
        for (words, output, errors) in Self.alone {
            let run = try await tool.run(
                words.map { $0.hasPrefix("IN/") ? folder.file(String($0.dropFirst(3))) : $0 })
            if language == "en" {
                #expect(Self.isMade(run.text, of: output), "\(words): \(run.text)")
                #expect(Self.isMade(run.errors, of: errors), "\(words): \(run.errors)")
            } else {
                for said in [run.text, run.errors] where !said.isEmpty {
                    #expect(Self.isHangul(said) && Self.english(said) == [], "\(words): \(said)")
                }
                #expect(output.isEmpty == run.text.isEmpty && errors.isEmpty == run.errors.isEmpty, "\(words)")
            }
        }
        try await digest(tool, language)
        try await backups(tool, folder.file("backups"), language)
    }

    /// Whether `text` is the same as `expected`, but for what stands as `·` there.
    private static func isMade(_ text: String, of expected: String) -> Bool {
        let parts = expected.split(separator: "·", omittingEmptySubsequences: false).map(String.init)
        let pattern = parts.map(NSRegularExpression.escapedPattern).joined(separator: "[^\\n]+")
        return text.range(of: "\\A\(pattern)\\z", options: .regularExpression) != nil
    }

    private func digest(_ tool: Tool, _ language: String) async throws {
        let told = try await tool.run(["digest"])
        let plain = try await tool.run(["digest", "--plain"])
        #expect(plain.lines.allSatisfy { $0.hasPrefix("origin ") || $0.hasPrefix("view ") }, "\(plain.text)")
        #expect(told.lines.count == plain.lines.count && told.lines.count > 5)
        let marks = language == "ko" ? ["오리진 ", "뷰 "] : ["origin ", "view "]
        #expect(told.lines.allSatisfy { line in marks.contains(where: line.hasPrefix) }, "\(told.text)")
    }

    /// What the commands of backups answer.
    private func backups(_ tool: Tool, _ path: String, _ language: String) async throws {
        let id = try await tool.run(["backup", "create", path])
        let verified = try await tool.run(["backup", "verify", path])
        let listed = try await tool.run(["backup", "list", path])
        let pruned = try await tool.run(["backup", "prune", path])
        let drilled = try await tool.run(["backup", "drill", path])
        #expect([id, verified, listed, pruned, drilled].allSatisfy { $0.code == 0 }, "\(id) \(verified)")
        guard language == "ko" else {
            #expect(
                id.text.contains(/^[^ ]+: \d+ events added, a full backup, [0-9.]+ KiB, up to position \d+\n$/),
                "\(id)")
            #expect(
                verified.text.contains(/^VERIFIED  [^ ]+  \d+ events, signed by [^ ]+ \([0-9a-f]{12}\)\n$/),
                "\(verified)")
            #expect(drilled.text.contains(/^GOOD [^ ]+  \d+ events,/), "\(drilled)")
            #expect(listed.text.contains("TIME (+09:00)"), "\(listed)")
            #expect(pruned.text == "1 backup kept, 0 files taken away, 0.0 KiB\n", "\(pruned)")
            return
        }
        for run in [id, verified, listed, pruned, drilled] {
            #expect(Self.isHangul(run.text) && Self.english(run.text + run.errors) == [], "\(run.text) \(run.errors)")
        }
        #expect(verified.text.contains(/^증명됨  [^ ]+  이벤트 \d+건, [^ ]+\([0-9a-f]{12}\)의 서명\n$/), "\(verified)")
        #expect(drilled.text.contains(/^정상 [^ ]+  이벤트 \d+건,/), "\(drilled)")
        let plain = try await tool.run(["backup", "verify", path, "--plain"])
        #expect(plain.text.contains(/^VERIFIED  [^ ]+  \d+ events, signed by [^ ]+ \([0-9a-f]{12}\)\n$/), "\(plain)")
    }

    @Test("A daemon's answers are in Korean for people, too")
    func answersOfDaemon() async throws {
        let folder = try TemporaryFolder.made()
        let daemon = try DaemonProcess("n")
        try daemon.start()
        var tool = try Tool.named("syncctl")
        tool.environment["SYNCCTL_STORE"] = daemon.store
        let file = folder.file("a.token")
        let made = try await tool.run(["tokens", "create", "bot/a", "--role", "bot:a", "--out", file, "--lang", "ko"])
        let id = String(made.text.drop { $0 != " " }.dropFirst().prefix(16))
        #expect(made.text == "토큰 \(id), 저장한 파일: \(file)\n")
        let listed = try await tool.run(["tokens", "--lang", "ko"])
        #expect(listed.text.contains("만료 (+09:00)"), "\(listed.text)")
        #expect(listed.text.contains("유효") && listed.text.contains("자기 대화"), "\(listed.text)")
        #expect(try await tool.run(["tokens", "--plain", "--lang", "ko"]).text.contains("\town\tvalid"))
        #expect(try await tool.run(["tokens", "revoke", id, "--lang", "ko"]).text == "폐기했습니다: \(id)\n")
        // None are as good as some.
        let clocks = try await tool.run(["clocks", "--lang", "ko"])
        #expect(clocks.code == 0 && clocks.text.isEmpty && clocks.errors.hasPrefix("syncctl: 피어가 없습니다"), "\(clocks)")
        // One that never comes.
        let absent = String(repeating: "5f", count: 32)
        #expect(try await tool.run(["peers", "add", "z", absent]).code == 0)
        let waited = try await tool.run(["wait", "--nodes", "2", "--timeout", "1s", "--lang", "ko"])
        #expect(waited.errors == "syncctl: 제한 시간까지 저장이 확인된 노드: 2개 중 1개\n", "\(waited)")
        let english = try await tool.run(["wait", "--nodes", "2", "--timeout", "1s", "--plain", "--lang", "ko"])
        #expect(english.errors == "syncctl: on 1 of 2 nodes when the time was over\n", "\(english)")
        let invited = try await tool.run(["peers", "invite", "--lang", "ko"])
        #expect(invited.errors.hasPrefix("syncctl: 노드 하나만 쓸 수 있습니다. 만료: "), "\(invited)")
        let subscribed = try await tool.run([
            "subscriptions", "create", "s", "--type", "message.posted", "--lang", "ko",
        ])
        #expect(subscribed.text == "구독을 만들었습니다: s\n", "\(subscribed)")
        #expect(try await tool.run(["subscriptions", "delete", "s"]).text == "deleted s\n")
        #expect(daemon.terminate() == 0)
    }

    @Test("What to try after an error is in Korean for people, and in English for programs")
    func hints() async throws {
        let tool = try Tool.named("syncctl")
        let words = ["history", "u", "--store", "/nowhere/store"]
        let told = try await tool.run(words + ["--lang", "ko"])
        #expect(told.code == 66 && told.errors.contains("\n  해결 방법: 있어야 할 저장소이면 경로를 확인하십시오. "), "\(told)")
        #expect(told.errors.hasSuffix("새로 만들려면 syncctl init --store /nowhere/store   [E_NO_STORE]\n"), "\(told)")
        let english = try await tool.run(words)
        #expect(english.errors.contains("\n  Try: the right path, if it should be there; "), "\(english)")
        let json = try await tool.run(words + ["--json", "--lang", "ko"])
        #expect(json.errors.contains(#""hint":"the right path, if it should be there; "#), "\(json)")
        for (english, korean) in [
            ("one --store", "--store 하나만 쓰십시오"), ("one of them", "그중 하나만 쓰십시오"),
            ("a number from 1 to 50", "쓸 수 있는 수: 1~50"), ("1 or more", "1 이상"),
            ("--text=TEXT if the value begins with a dash", "값이 줄표(-)로 시작하면 --text=TEXT"),
            ("chmod 700 /x, unless that is meant, as for an auditor", "chmod 700 /x. 감사자처럼 일부러 허용한 것이면 그대로 두십시오"),
        ] {
            #expect(KoreanTexts.hint(of: english) == korean)
        }
        #expect(KoreanTexts.hint(of: "syncctl peers list") == nil)
    }

    @Test("Korean texts of other modules' sentences are found by what is filled in")
    func sentences() {
        #expect(KoreanTexts.text(of: "an event of the type m.room.topic") == "이벤트 종류: m.room.topic")
        let remark = "2 times: the date of a message is no time: its key has one (line 3, line 9)"
        #expect(KoreanTexts.text(of: remark) == "2건: 메시지의 날짜가 시각이 아님. 키의 시각을 썼습니다 (line 3, line 9)")
        #expect(KoreanTexts.text(of: "something else") == nil)
        #expect(KoreanTexts.values(of: "a and b", in: "{0} and {1}") == ["a", "b"])
        #expect(KoreanTexts.values(of: "a or b", in: "{0} and {1}") == nil)
    }
}
