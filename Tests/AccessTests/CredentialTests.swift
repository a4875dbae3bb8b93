import TestSupport
import Testing

@testable import Access
@testable import EventStore

/// Roles and tokens: their texts, and what is kept of a secret.
struct CredentialTests {
    @Test("A role's text reads back; what is none is refused")
    func roles() {
        for text in [
            "app", "reader", "auditor", "operator", "admin", "user:kim", "bot:medibot", "user:a:b", "user:김",
        ] {
            #expect(Role(text: text)?.text == text)
        }
        let wrong = [
            "", "root", "user", "user:", "bot:", "App", "user:a\nb", "user:\u{7f}",
            "user:" + String(repeating: "x", count: 257), "group:x",
        ]
        for text in wrong { #expect(Role(text: text) == nil, "\(text)") }
        #expect(Role.roles(["app", "nothing"]) == nil && Role.roles([]) == [])
        #expect(Role.admin.isOfNodeAlone && Role.operator.isOfNodeAlone && !Role.app.isOfNodeAlone)
    }

    @Test("An id counts by its bytes: what only looks the same is another one")
    func bytes() throws {
        let actor = try #require(EventActor(.token, principal: "p", credential: "0"))
        let caller = Caller(actor, [.user("\u{e9}"), .bot("b")])
        #expect(caller.isUser("\u{e9}") && !caller.isUser("e\u{301}") && !caller.isUser("b") && caller.isBot("b"))
    }

    @Test("A token reads back and matches its verifier alone; any other character makes it another or none")
    func tokens() throws {
        let token = AccessToken.random()
        #expect(token.text.utf8.count == 65 && token.text.hasPrefix("slk1_\(token.id)_"))
        let read = try #require(AccessToken(text: token.text))
        #expect(read.id == token.id && read.matches(token.verifier))
        let bytes = Array(token.text.utf8)
        for index in bytes.indices {
            var changed = bytes
            changed[index] = changed[index] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
            let text = String(decoding: changed, as: UTF8.self)
            if let other = AccessToken(text: text) { #expect(!other.matches(token.verifier), "\(index)") }
        }
        for text in ["", "slk1_", token.text + "A", String(token.text.dropLast()), "slk2" + token.text.dropFirst(4)] {
            #expect(AccessToken(text: text) == nil)
        }
        #expect(AccessToken.random().text != token.text)
    }

    @Test("A grant's text reads back; one with a member of another form counts for no one")
    func grants() throws {
        let id = try #require(CredentialID("0123456789abcdef"))
        let grant = AccessGrant(
            id, principal: "bot/\"x\"", [.bot("x"), .reader], isInAll: true, until: 1_800_000_000_123)
        let object = try JSONObject(validating: Array("{\(grant.text)}".utf8))
        #expect(AccessGrant(object) == grant)
        #expect(!grant.isOver(at: 1_800_000_000_122) && grant.isOver(at: 1_800_000_000_123))
        let good = #""credential":"0123456789abcdef","principal":"p","roles":["app"]"#
        #expect(AccessGrant(try JSONObject(validating: Array("{\(good)}".utf8))) != nil)
        let wrong = [
            good.replacing("abcdef", with: "ABCDEF"), good.replacing("[\"app\"]", with: "[]"),
            good.replacing("[\"app\"]", with: "[\"app\",1]"), good.replacing("[\"app\"]", with: "\"app\""),
            good.replacing("\"p\"", with: "\"\""), good + #","until":"soon""#, good + #","until":5"#,
            good + #","scope":"most""#, good + #","scope":1"#,
        ]
        for text in wrong {
            #expect(AccessGrant(try JSONObject(validating: Array("{\(text)}".utf8))) == nil, "\(text)")
        }
    }

    @Test("An event never carries the verifier of a role that a node alone can give")
    func drafts() throws {
        let actor = try #require(EventActor(.socket, principal: "uid:0"))
        let token = AccessToken.random()
        let node = NodeID(Digest.zero)
        func text(_ roles: Set<Role>) -> String {
            let grant = AccessGrant(token.id, principal: "p", roles)
            return String(decoding: grant.draft(token.verifier, by: actor, at: node).payload, as: UTF8.self)
        }
        #expect(text([.app]).contains(token.verifier.description))
        #expect(
            !text([.app, .admin]).contains(token.verifier.description) && text([.admin]).contains(#""local":true"#))
        for roles: Set<Role> in [[.app], [.admin]] { #expect(!text(roles).contains(token.text)) }
    }
}
