import CommandLineKit
import EventStore
import Foundation
import Interchange
import TestSupport
import Testing

/// The HTML page of a conversation.
@Suite struct PageTests {
    private func page(
        _ script: Script, _ language: Language = .korean, names: [String: String] = [:],
        _ change: (inout ConversationPage.Settings) -> Void = { _ in }
    ) throws -> String {
        var settings = ConversationPage.Settings(
            language: language, zone: .fixed(seconds: 9 * 3_600), zoneName: "Asia/Seoul", now: 1_785_600_000_000
        ) { names[$0] }
        change(&settings)
        return try ExportStore(script.events).text(ConversationPage(settings), "c")
    }

    private static let hostile = [
        "<script>alert(1)</script>", "</style><script>x</script>", "\"><img src=x onerror=alert(1)>", "' onclick='x",
        "<svg onload=x>", "&lt;b&gt; &amp;", "javascript:alert(1)", "https://e.invalid/\"onmouseover=x",
        "a\u{202e}b\u{0}c",
        "]]><!--", "https://e.invalid/<script>", "{{0}} {1}", "<a href='https://x'>", "</article></main>",
    ]

    /// Names of the elements, and of their attributes, in a page whose quotes are all escaped where they are text.
    private func elements(_ page: String) -> [String: Set<String>] {
        var found: [String: Set<String>] = [:]
        for tag in page.matches(of: /<([a-zA-Z!\/][^\s>]*)([^>]*)>/) {
            let name = String(tag.1)
            let attributes = tag.2.matches(of: /([a-zA-Z-]+)="[^"]*"/).map { String($0.1) }
            found[name, default: []].formUnion(attributes)
        }
        return found
    }

    @Test("Whatever is said, nothing of it is markup, loads or runs, in texts, names, titles, reasons and files")
    func hostile() throws {
        for text in Self.hostile {
            var script = Script()
            var payload = Payload()
            payload.add("title", text)
            script.add("conversation.started", String(decoding: payload.json, as: UTF8.self))
            let first = script.say(text)
            for (type, member) in [
                ("message.edited", "text"), ("message.retracted", "reason"), ("bot.failed", "reason"),
            ] {
                var more = Payload()
                more.add("message", first.description)
                more.add(member, text)
                script.add(type, String(decoding: more.json, as: UTF8.self), cause: first)
                script.add(
                    type, String(decoding: more.json, as: UTF8.self), by: text.filter { $0 != "\0" }, cause: first)
            }
            var item = Payload()
            item.add("name", text)
            item.add("mediaType", text)
            item.add("data", base64Text(Array("<svg onload=x></svg>".utf8)))
            var named = Payload()
            for member in ["name", "alt", "transcript"] { named.add(member, text) }
            named.add("sha256", Self.digest("a"))
            named.add("bytes", Int64(10))
            var files = Payload()
            files.add("attachments", [item, named, Self.item("b", "image/png", [("alt", text), ("name", text)])])
            files.add("name", text)
            script.add("message.posted", String(decoding: files.json, as: UTF8.self))
            var survey = Payload()
            for name in ["survey", "question", "choice", "comment"] { survey.add(name, text) }
            script.add("survey.answered", String(decoding: survey.json, as: UTF8.self))
            let page = try page(script, names: ["u": text]) { settings in
                settings.bytes = { digest, _, _ in digest.description == Self.digest("b") ? .picture(Self.png) : nil }
            }
            #expect(page.contains("src=\"data:image/png;base64,"))
            let found = elements(page)
            let allowed: Set = [
                "!doctype", "html", "head", "meta", "title", "style", "body", "header", "h1", "h2", "dl", "dt", "dd",
                "p",
                "main", "article", "b", "span", "time", "div", "a", "figure", "img", "figcaption", "footer",
            ]
            let names = Set(found.keys.map { $0.hasPrefix("/") ? String($0.dropFirst()) : $0 })
            #expect(names.subtracting(allowed).isEmpty, "\(text)")
            #expect(
                Set(found.values.joined()).subtracting([
                    "lang", "charset", "http-equiv", "content", "name", "dir", "class", "id", "datetime", "rel",
                    "href", "alt", "src",
                ]).isEmpty, "\(text)")
            #expect(!page.contains("\u{202e}") && !page.contains("\0"))
            for link in page.matches(of: /href="([^"]*)"/) {
                #expect(link.1.hasPrefix("https://") || link.1.hasPrefix("#e-"))
            }
        }
    }

    @Test("The policy of the page is that of its style, and forbids all else")
    func policy() throws {
        var script = Script()
        script.say("안녕")
        let page = try page(script)
        let style = try #require(page.firstMatch(of: /<style>([\s\S]*?)<\/style>/)).1
        var digest: [UInt8] = []
        SHA256().digest(Array(style.utf8)).append(to: &digest)
        #expect(page.contains("default-src 'none'; style-src 'sha256-\(base64Text(digest))'; img-src data:;"))
        #expect(!page.contains("style=") && !page.contains("url("))
    }

    @Test(
        "Words stay with who said them: edits show what stood before, others' edits stand below, taken back is struck"
    )
    func changes() throws {
        var script = Script()
        script.add("conversation.started", #"{"title":"유심"}"#)
        let first = script.say("하나")
        script.add("message.edited", #"{"message":"\#(first)","text":"둘"}"#, cause: first)
        script.add("message.edited", #"{"message":"\#(first)","text":"셋"}"#, cause: first)
        script.add("message.edited", #"{"message":"\#(first)","text":"남의 말"}"#, by: "agent", cause: first)
        let back = script.say("비밀", by: "bot", cause: first)
        script.add("message.retracted", #"{"message":"\#(back)","reason":"실수"}"#, by: "bot", cause: back)
        script.say("이어서", cause: first)
        let page = try page(script, names: ["u": "김하늘", "agent": "이서준"])
        #expect(page.contains("<h1 dir=\"auto\">유심</h1>") && page.contains("<html lang=\"ko\">"))
        #expect(page.contains("<h2>2026-08-01 (토)</h2>"))
        let article = try #require(page.components(separatedBy: "<article").first { $0.contains(first.description) })
        let texts = article.matches(of: /<div class="text"[^>]*>([^<]*)<\/div>/).map { String($0.1) }
        #expect(texts == ["셋", "하나", "둘", "남의 말"])
        #expect(article.contains("class=\"own\"") && article.contains("다른 사람의 수정: 이서준, 2026-08-01 09:00:04"))
        #expect(article.contains("datetime=\"2026-08-01T00:00:01.000Z\">09:00:01<"))
        let taken = try #require(page.components(separatedBy: "<article").first { $0.contains(back.description) })
        #expect(taken.contains("class=\"back\"") && taken.contains("회수됨: bot") && taken.contains("사유: 실수"))
        // A reply to what does not stand right above names it.
        #expect(page.contains("<a class=\"re\" href=\"#e-\(first)\">답장 대상: 김하늘: 셋</a>"))
        let english = try self.page(script, .english)
        #expect(english.contains("edited at 2026-08-01") && english.contains("(Sat)"))
    }

    @Test(
        "Two messages of one id have addresses of their own, the same in each export, and a reply leads to the first")
    func addresses() throws {
        var script = Script()
        let first = script.say("하나")
        script.say("사이")
        script.say("답", cause: first)
        var entries = try ExportStore(script.events).entries("c")
        // As another has given one of theirs the same id.
        let (event, position) = (entries[1].stored.event, entries[1].stored.position)
        var header = event.header
        header.id = first
        let stored = StoredEvent(position: position, event: Event(header: header, body: event.body))
        entries.insert(TimelineEntry(stored: stored, history: nil), at: 2)
        func made() -> String {
            let page = ConversationPage(
                ConversationPage.Settings(
                    language: .korean, zone: .fixed(seconds: 9 * 3_600), zoneName: "Asia/Seoul",
                    now: 1_785_600_000_000
                ) { _ in nil })
            var bytes = page.begin(ExportedConversation("c"))
            for entry in entries { bytes += page.add(entry) }
            return String(decoding: bytes + page.end(), as: UTF8.self)
        }
        let ids = made().matches(of: /<article id="([^"]*)"/).map { String($0.1) }
        #expect(ids.count == 4 && Set(ids).count == 4, "\(ids)")
        #expect(ids[0] == "e-\(first)" && ids[2] == "e-\(first)-\(header.dot.origin)-\(header.dot.seq)")
        #expect(made().contains("href=\"#e-\(first)\">답장 대상: u: 하나</a>"))
        #expect(made() == made())
    }

    @Test("Pictures are what their bytes say; links are https alone and end before the point")
    func attachments() throws {
        var script = Script()
        var item = Payload()
        item.add("name", "x.html")
        item.add("mediaType", "text/html")
        item.add("width", Int64(3))
        item.add("data", base64Text([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2]))
        var payload = Payload()
        payload.add("attachments", [item])
        script.add("message.posted", String(decoding: payload.json, as: UTF8.self))
        script.say("보세요: https://e.invalid/a?b=1&c=2. http://no.invalid (https://f.invalid/x) https://한글.invalid")
        let page = try page(script)
        #expect(page.contains("<img alt=\"x.html\" width=\"3\" src=\"data:image/png;base64,iVBORw0KGgoBAg==\">"))
        let links = page.matches(of: /href="([^"]*)"/).map { String($0.1) }
        #expect(links == ["https://e.invalid/a?b=1&amp;c=2", "https://f.invalid/x"])
    }

    private static let png: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2]

    /// The SHA-256 of 64 times this digit, as far as a page cares.
    private static func digest(_ digit: String) -> String { String(repeating: digit, count: 64) }

    private static func item(_ digit: String, _ type: String, _ more: [(String, String)] = []) -> Payload {
        var item = Payload()
        item.add("sha256", digest(digit))
        item.add("bytes", Int64(10))
        item.add("mediaType", type)
        for (name, value) in more { item.add(name, value) }
        return item
    }

    @Test("Pictures of the store are drawn with what they show; what cannot be drawn says why, in both languages")
    func stored() throws {
        var script = Script()
        var voice = Self.item("7", "audio/mpeg", [("transcript", "안녕하세요\n여보세요")])
        voice.add("duration_ms", Int64(65_400))
        var first = Self.item("1", "image/png", [("alt", "고양이 \"나비\" <1>")])
        first.add("width", Int64(320))
        first.add("height", Int64(200))
        let others = ["2", "3", "4", "5"].map { Self.item($0, "image/jpeg", [("alt", "설명 \($0)")]) }
        var payload = Payload()
        payload.add("attachments", [first] + others + [Self.item("6", "application/pdf"), voice])
        script.add("message.posted", String(decoding: payload.json, as: UTF8.self))
        let found: [String: PageBytes] = [
            "1": .picture(Self.png), "2": .missing, "3": .erased, "4": .tooLarge, "5": .beside("c.files/5.jpg"),
            "6": .damaged, "7": .present,
        ]
        func lines(_ language: Language) throws -> [String] {
            let page = try page(script, language) { settings in
                settings.bytes = { digest, _, _ in found[String(digest.description.prefix(1))] }
            }
            let image =
                "<img alt=\"고양이 &quot;나비&quot; &lt;1&gt;\" width=\"320\" height=\"200\" "
                + "src=\"data:image/png;base64,"
            #expect(page.contains(image + base64Text(Self.png)) && !page.contains(Self.digest("1")))
            #expect(page.contains("<a href=\"c.files/5.jpg\">"))
            return page.matches(of: /<p dir="auto">([^<]*)/).map { String($0.1) }
        }
        let size = "10바이트 · SHA-256 "
        #expect(
            try lines(.korean) == [
                "사진: image/jpeg · \(size)\(Self.digest("2")) · 이 노드에 파일 내용이 없음", "사진 설명: 설명 2",
                "사진: image/jpeg · \(size)\(Self.digest("3")) · 파일 내용이 삭제됨", "사진 설명: 설명 3",
                "사진: image/jpeg · \(size)\(Self.digest("4")) · 이 페이지에 넣기에는 너무 큼", "사진 설명: 설명 4",
                "사진: image/jpeg · \(size)\(Self.digest("5")) · 이 페이지에 넣기에는 너무 큼 · ", "사진 설명: 설명 5",
                "파일: application/pdf · \(size)\(Self.digest("6")) · 이 노드의 파일 내용이 손상됨",
                "음성: audio/mpeg · 10바이트 · 길이 1:05 · SHA-256 \(Self.digest("7"))",
            ])
        let english = try lines(.english)
        for (number, words) in [
            (0, "its bytes are not at this node"), (2, "its bytes were erased"), (4, "too large for this page"),
            (8, "its bytes are damaged at this node"),
        ] {
            #expect(english[number].hasSuffix(words))
        }
        let said = "<p>음성 내용:</p>\n<div class=\"text\" dir=\"auto\" lang=\"ko\">안녕하세요\n여보세요<"
        #expect(try page(script).contains(said))
    }

    @Test("Bytes in the event count only if their SHA-256 says so; a page has room for so many bytes of pictures")
    func bounds() throws {
        var script = Script()
        var forged = Self.item("1", "image/png")
        forged.add("data", base64Text(Self.png))
        var payload = Payload()
        payload.add("attachments", [forged])
        script.add("message.posted", String(decoding: payload.json, as: UTF8.self))
        #expect(try !page(script).contains("<img"))
        var many = Script()
        for _ in 0..<40 {
            var payload = Payload()
            payload.add("attachments", [Self.item("1", "image/png")])
            many.add("message.posted", String(decoding: payload.json, as: UTF8.self))
        }
        var asked: [Int] = []
        let large = Self.png + [UInt8](repeating: 0, count: (2 << 20) - Self.png.count)
        let drawn = try page(many) { settings in
            settings.bytes = { _, _, most in
                asked.append(most)
                return large.count > most ? .tooLarge : .picture(large)
            }
        }
        #expect(asked == Array(repeating: 2 << 20, count: 32) + Array(repeating: 0, count: 8))
        #expect((85 << 20..<86 << 20).contains(drawn.utf8.count))
    }

    @Test("The head says which part it is, and the foot that it is no evidence, and where that is")
    func frame() throws {
        var script = Script()
        script.say("안녕")
        #expect(try page(script).contains("<dt>범위</dt><dd dir=\"auto\">전체</dd>"))
        let part = try page(script, .english) { ($0.since, $0.until) = (1_785_542_400_000, 1_785_542_500_000) }
        #expect(part.contains("from 2026-08-01 09:00:00 to before 2026-08-01 09:01:40"))
        #expect(try page(script).contains("증거가 되지 않습니다") && !part.contains("check-proof"))
    }
}
