internal import EventStore

/// An identity provider whose tokens count, and what they may say of their holders.
package struct TokenIssuer: Hashable, Sendable {
    /// How it is named here; stands in the `actor` of what its holders append.
    package let name: String
    /// `iss` of its tokens.
    package let issuer: String
    /// What `aud` of its tokens is, or has among others.
    package let audience: String
    /// Which user the holder is; `nil` for none.
    package let user: SubjectForm?
    /// Where the token has roles: the name of a claim, or a JSON Pointer (RFC 6901) into the claims; `nil` for none.
    package let rolesClaim: String?
    /// The roles that it may give.
    package let allowed: Set<Role>

    /// How far the clocks of nodes and providers may be apart, milliseconds.
    package static let leeway: Int64 = 60_000

    package init(
        name: String, issuer: String, audience: String, user: SubjectForm?, rolesClaim: String?, allowed: Set<Role>
    ) {
        (self.name, self.issuer, self.audience) = (name, issuer, audience)
        (self.user, self.rolesClaim, self.allowed) = (user, rolesClaim, allowed)
    }

    /// A user's id from claims: texts, and names of claims in braces, as in `{sub}` or `kakao:{sub}`.
    package struct SubjectForm: Hashable, Sendable {
        package let text: String
        private let pieces: [Piece]

        private enum Piece: Hashable, Sendable {
            case text(String)
            case claim(String)
        }

        /// `nil` where a brace has no other, or no claim is named.
        package init?(_ text: String) {
            var pieces: [Piece] = []
            var rest = Substring(text)
            while let open = rest.firstIndex(of: "{") {
                guard !rest[..<open].contains("}"), let close = rest[open...].firstIndex(of: "}") else { return nil }
                let name = rest[rest.index(after: open)..<close]
                guard !name.isEmpty, !name.contains("{") else { return nil }
                if open > rest.startIndex { pieces.append(.text(String(rest[..<open]))) }
                pieces.append(.claim(String(name)))
                rest = rest[rest.index(after: close)...]
            }
            guard !pieces.isEmpty, !rest.contains("}") else { return nil }
            if !rest.isEmpty { pieces.append(.text(String(rest))) }
            (self.text, self.pieces) = (text, pieces)
        }

        fileprivate func id(_ claims: JSONObject) throws(JSONWebToken.Refusal) -> String {
            var id = ""
            for piece in pieces {
                switch piece {
                case .text(let text): id += text
                case .claim(let name):
                    guard let value = claims[name]?.text, !value.isEmpty else {
                        throw .noSubject("'\(name)' is no text")
                    }
                    id += value
                }
            }
            return id
        }
    }

    /// Whether a token says that it is of this provider.
    package func isNamed(by token: JSONWebToken) -> Bool {
        token.claims.string("iss")?.hasSameBytes(as: issuer) ?? false
    }

    /// Who holds a token: its signature first, then what it says (RFC 8725).
    package func caller(
        _ token: JSONWebToken, _ keys: JSONWebKeys, now: Int64, generation: UInt64 = 0
    ) throws(JSONWebToken.Refusal) -> Caller {
        try token.requireSignature(of: keys)
        guard isNamed(by: token) else { throw .unknownIssuer }
        guard names(token.claims["aud"]) else { throw .otherAudience }
        guard let end = try token.time("exp") else { throw .malformed("'exp' is missing") }
        guard now < end + Self.leeway else { throw .expired }
        for claim in ["nbf", "iat"] {
            if let start = try token.time(claim), now < start - Self.leeway { throw .notYetValid }
        }
        guard let subject = token.claims["sub"]?.text,
            let actor = EventActor(.jwt, principal: subject, credential: name)
        else { throw .noSubject("'sub' is no text of 1 to \(EventActor.longestPrincipal) bytes") }
        var roles = allowed.intersection(claimed(token.claims))
        if let user {
            let id = try user.id(token.claims)
            guard let role = Role(text: "user:\(id)") else {
                throw .noSubject("'\(user.text)' makes no id of a user")
            }
            roles.insert(role)
        }
        return Caller(actor, roles, until: end + Self.leeway, generation: generation)
    }

    private func names(_ audiences: JSONValue?) -> Bool {
        let all = audiences?.elements?.compactMap(\.text) ?? [audiences?.text].compactMap { $0 }
        return all.contains { $0.hasSameBytes(as: audience) }
    }

    /// What the token says of roles; texts that are none are of other programs.
    private func claimed(_ claims: JSONObject) -> Set<Role> {
        guard let rolesClaim else { return [] }
        let value = rolesClaim.hasPrefix("/") ? Self.value(at: rolesClaim, of: claims) : claims[rolesClaim]
        let texts = value?.elements?.compactMap(\.text) ?? [value?.text].compactMap { $0 }
        return Set(texts.compactMap(Role.init(text:)))
    }

    private static func value(at pointer: String, of claims: JSONObject) -> JSONValue? {
        let names = pointer.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map(unescaped)
        guard let last = names.last else { return nil }
        var object = claims
        for name in names.dropLast() {
            guard let inner = object.object(name) else { return nil }
            object = inner
        }
        return object[last]
    }

    /// `~1` is a slash and `~0` a tilde (RFC 6901 §4).
    private static func unescaped(_ name: Substring) -> String {
        name.split(separator: "~1", omittingEmptySubsequences: false)
            .map { $0.split(separator: "~0", omittingEmptySubsequences: false).joined(separator: "~") }
            .joined(separator: "/")
    }
}
