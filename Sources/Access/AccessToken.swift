package import EventStore

/// Names a credential: 16 hexadecimal digits. It is no secret.
package struct CredentialID: Hashable, Sendable, Comparable, CustomStringConvertible {
    package let text: String

    /// `nil` where it is not of that form.
    package init?(_ text: String) {
        guard text.utf8.count == 16, text.utf8.allSatisfy({ "0123456789abcdef".utf8.contains($0) }) else {
            return nil
        }
        self.text = text
    }

    fileprivate init(random bytes: [UInt8]) { text = hexText(bytes) }

    package var description: String { text }
    package static func < (a: CredentialID, b: CredentialID) -> Bool { a.text < b.text }
}

/// A bearer token (RFC 6750): `slk1_<id>_<43 characters of base64url>`, of which the last part is 256 random bits.
///
/// It is shown once, when it is made. Nodes keep the SHA-256 of the whole text, from which it cannot be found again.
package struct AccessToken: Sendable {
    package let id: CredentialID
    /// The whole text: what the client sends.
    package let text: String

    private static let prefix = "slk1_"
    private static let secretBytes = 32
    private static let length = 5 + 16 + 1 + 43

    /// A new one.
    package static func random() -> AccessToken {
        var random = SystemRandomNumberGenerator()
        func bytes(_ count: Int) -> [UInt8] {
            (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        }
        let id = CredentialID(random: bytes(8))
        return AccessToken(id: id, text: "\(prefix)\(id)_\(base64URLText(bytes(secretBytes)))")
    }

    private init(id: CredentialID, text: String) { (self.id, self.text) = (id, text) }

    /// `nil` where it is not of that form.
    package init?(text: String) {
        guard text.utf8.count == Self.length, text.hasPrefix(Self.prefix) else { return nil }
        let rest = text.utf8.dropFirst(Self.prefix.utf8.count)
        guard let id = CredentialID(String(decoding: rest.prefix(16), as: UTF8.self)),
            rest.dropFirst(16).first == UInt8(ascii: "_"),
            base64URLBytes(String(decoding: rest.dropFirst(17), as: UTF8.self))?.count == Self.secretBytes
        else { return nil }
        self.init(id: id, text: text)
    }

    /// Whether a text claims to be one, so that it is no token of another kind.
    package static func isClaimed(by text: String) -> Bool { text.hasPrefix(prefix) }

    /// What a node keeps of it.
    package var verifier: Digest { SHA256().digest(Array(text.utf8)) }

    /// Whether it is the token of `verifier`. Takes as long for all that are not.
    package func matches(_ verifier: Digest) -> Bool {
        zip(self.verifier.bytes, verifier.bytes).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
