import Access
import EventStore
import Foundation
import TestSupport
import Testing

/// Tokens of identity providers. `Vectors/jwt.json` is written by `make-jwt.py`, which shares no code with the node.
struct TokenIssuerTests {
    private static var vectors: [String: Any] {
        let path = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Vectors/jwt.json")
        return (try? JSONSerialization.jsonObject(with: Data(contentsOf: path))) as? [String: Any] ?? [:]
    }

    static func texts(_ name: String) -> [String: String] { vectors[name] as? [String: String] ?? [:] }
    static func file(_ name: String) throws -> [UInt8] {
        Array(try JSONSerialization.data(withJSONObject: try #require(vectors[name])))
    }

    private static var firstKey: String {
        let keys = (vectors["keys"] as? [String: Any])?["keys"] as? [[String: Any]]
        let data = keys?.first.flatMap { try? JSONSerialization.data(withJSONObject: $0) } ?? Data()
        return String(decoding: data, as: UTF8.self)
    }

    /// Autumn of 2026.
    private static let now: Int64 = 1_795_000_000_000

    private func issuer(_ user: String? = "{sub}", roles: String? = "roles", _ allowed: Set<Role> = []) throws
        -> TokenIssuer
    {
        TokenIssuer(
            name: "id", issuer: "https://id.example", audience: "sillok",
            user: try user.map { try #require(.init($0)) },
            rolesClaim: roles, allowed: allowed)
    }

    private func caller(_ text: String, _ issuer: TokenIssuer, at now: Int64 = Self.now) throws(JSONWebToken.Refusal)
        -> Caller
    {
        let keys: JSONWebKeys
        do { keys = try JSONWebKeys(try Self.file("keys")) } catch { throw .malformed("the vectors: \(error)") }
        return try issuer.caller(try JSONWebToken(text), keys, now: now)
    }

    @Test("Good tokens let in whom they name", arguments: texts("good").sorted { $0.key < $1.key }.map(\.key))
    func good(_ name: String) throws {
        let caller = try caller(try #require(Self.texts("good")[name]), issuer())
        let subject = name == "Korean subject" ? "사용자" : "u-7"
        #expect(caller.actor.text == "JWT:\(subject):id" && caller.roles == [.user(subject)])
        #expect(caller.until.map { $0 > Self.now } == true)
        #expect(Self.texts("good").count == 9)
    }

    @Test("Bad tokens let in no one", arguments: texts("bad").sorted { $0.key < $1.key }.map(\.key))
    func bad(_ name: String) throws {
        let text = try #require(Self.texts("bad")[name])
        let refusal = #expect(throws: JSONWebToken.Refusal.self) { try caller(text, issuer()) }
        #expect(refusal?.text.isEmpty == false)
        #expect(Self.texts("bad").count == 38)
        #expect((refusal == .expired) == (name == "expired"))
    }

    @Test("Files with keys that are none, too weak, secret or not told apart are refused as a whole")
    func files() throws {
        for (name, text) in Self.texts("files") {
            #expect(throws: JSONWebKeys.Problem.self, "\(name)") { try JSONWebKeys(Array(text.utf8)) }
        }
        #expect(Self.texts("files").count == 10)
        // One that is too weak beside a good one is passed over, and named.
        let weak = try #require(Self.texts("files")["1,024 bits"])
        let both = weak.replacing("{\"keys\": [", with: "{\"keys\": [" + Self.firstKey + ", ")
        #expect(both != weak)
        let keys = try JSONWebKeys(Array(both.utf8))
        #expect(keys.remarks == ["keys[1] is not an RSA key of 2048 to 8192 bits, and is passed over"])
        #expect(keys.key("r1", for: .rs256) != nil)
        #expect(throws: JSONWebKeys.Problem("has more than 256 KiB")) {
            try JSONWebKeys([UInt8](repeating: 0x20, count: (256 << 10) + 1))
        }
    }

    @Test("Roles count that are allowed, from a claim or a place in one; a user's id may have a prefix")
    func roles() throws {
        let text = try #require(Self.texts("good")["roles"])
        #expect(try caller(text, issuer(nil, [.reader, .auditor])).roles == [.reader])
        #expect(try caller(text, issuer(nil, [])).roles.isEmpty)
        #expect(try caller(text, issuer(nil, roles: "/roles", [.reader, .bot("x")])).roles == [.reader, .bot("x")])
        #expect(try caller(text, issuer(nil, roles: "/roles/x", [.reader])).roles.isEmpty)
        #expect(try caller(text, issuer("kakao:{sub}", [.reader])).roles == [.reader, .user("kakao:u-7")])
        #expect(throws: JSONWebToken.Refusal.self) { try caller(text, issuer("{email}")) }
        for bad in ["", "sub", "{", "}", "{}", "{sub", "sub}", "{a}}", "{{a}}", "}{a}"] {
            #expect(TokenIssuer.SubjectForm(bad) == nil, "\(bad)")
        }
    }

    @Test("A token ends 60 seconds after its time, and not before: clocks differ")
    func leeway() throws {
        let text = try #require(Self.texts("bad")["expired"])
        let end: Int64 = 1_700_000_100_000
        #expect(try caller(text, issuer(), at: end + 59_999).until == end + 60_000)
        #expect(throws: JSONWebToken.Refusal.expired) { try caller(text, issuer(), at: end + 60_000) }
        let made: Int64 = 1_700_000_000_000
        #expect(throws: JSONWebToken.Refusal.notYetValid) { try caller(text, issuer(), at: made - 60_001) }
        #expect(try caller(text, issuer(), at: made - 60_000).roles == [.user("u-7")])
    }

    /// RFC 7515, appendix A.2 and A.3: both have the same claims, without `aud` and `sub`.
    @Test("The signatures of RFC 7515 are right, and no other is")
    func published() throws {
        let claims = "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
        let keys = try JSONWebKeys(
            Array(
                #"""
                {"keys":[{"kty":"RSA","n":"ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ","e":"AQAB"},{"kty":"EC","kid":"a3","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}]}
                """#.utf8))
        let rsa =
            "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw"
        let ecdsa = "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"
        try JSONWebToken("eyJhbGciOiJSUzI1NiJ9.\(claims).\(rsa)").requireSignature(of: keys)
        // A.3 names no key: the only one of its kind is meant.
        try JSONWebToken("eyJhbGciOiJFUzI1NiJ9.\(claims).\(ecdsa)").requireSignature(of: keys)
        for (head, signature) in [("eyJhbGciOiJFUzI1NiJ9", rsa), ("eyJhbGciOiJSUzI1NiJ9", ecdsa)] {
            let token = try JSONWebToken("\(head).\(claims).\(signature)")
            #expect(throws: JSONWebToken.Refusal.badSignature) { try token.requireSignature(of: keys) }
        }
    }
}
