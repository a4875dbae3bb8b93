import CommandLineKit
import EventStore
import Foundation
import Interchange
import TestSupport
import Testing

/// The HTML page of a conversation.
@Suite struct PageTests {
    private func page(_ script: Script, _ language: Language = .korean, names: [String: String] = [:]) throws
        -> String
    {
        let settings = ConversationPage.Settings(
            language: language, zone: .fixed(seconds: 9 * 3_600), zoneName: "Asia/Seoul", now: 1_785_600_000_000
        ) { names[$0] }
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
            var files = Payload()
            files.add("attachments", [item])
            files.add("name", text)
            script.add("message.posted", String(decoding: files.json, as: UTF8.self))
            var survey = Payload()
            for name in ["survey", "question", "choice", "comment"] { survey.add(name, text) }
            script.add("survey.answered", String(decoding: survey.json, as: UTF8.self))
            let page = try page(script, names: ["u": text])
            let found = elements(page)
            let allowed: Set = [
                "!doctype", "html", "head", "meta", "title", "style", "body", "header", "h1", "h2", "dl", "dt", "dd",
                "p",
                "main", "article", "b", "span", "time", "div", "a",
            ]
            let names = Set(found.keys.map { $0.hasPrefix("/") ? String($0.dropFirst()) : $0 })
            #expect(names.subtracting(allowed).isEmpty, "\(text)")
            #expect(
                Set(found.values.joined()).subtracting([
                    "lang", "charset", "http-equiv", "content", "name", "dir", "class", "id", "datetime", "rel",
                    "href",
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
}
