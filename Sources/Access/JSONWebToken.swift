package import EventStore

/// A signed token of an identity provider (RFC 7519), in its compact form (RFC 7515 §3.1): read, and not yet believed.
package struct JSONWebToken {
    /// Why it is not taken. Texts say no more than its holder knows.
    package enum Refusal: Error, Equatable {
        case malformed(String)
        /// It is of no provider that is known here.
        case unknownIssuer
        case unknownKey
        case badSignature
        case otherAudience
        case expired
        case notYetValid
        /// It names no one, or in a form that no id has.
        case noSubject(String)

        package var text: String {
            switch self {
            case .malformed(let what): "the token is no JWT that can be used: \(what)"
            case .unknownIssuer: "the token's issuer is not one of api.jwt"
            case .unknownKey: "the token's 'kid' is no key of its issuer"
            case .badSignature: "the token's signature is not its issuer's"
            case .otherAudience: "the token is for another audience"
            case .expired: "the token has expired"
            case .notYetValid: "the token is not valid yet"
            case .noSubject(let what): "the token names no one: \(what)"
            }
        }
    }

    /// Bytes of the longest one.
    package static let longest = 8 << 10

    package let algorithm: PublicKey.Algorithm
    package let keyID: String?
    package let claims: JSONObject
    /// What is signed: the first two parts as they are written.
    private let message: [UInt8]
    private let signature: [UInt8]

    /// Reads the three parts. What the header says of other keys (`jku`, `x5u`, `jwk`, `x5c`) is not looked at (RFC 8725 §3.10).
    package init(_ text: String) throws(Refusal) {
        guard text.utf8.count <= Self.longest else { throw .malformed("longer than \(Self.longest >> 10) KiB") }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3 else { throw .malformed("not three parts") }
        let header = try Self.object(parts[0], "its header")
        claims = try Self.object(parts[1], "its claims")
        guard let algorithm = header.string("alg").flatMap(PublicKey.Algorithm.init(rawValue:)) else {
            throw .malformed("'alg' is neither RS256 nor ES256")
        }
        guard header["crit"] == nil else { throw .malformed("'crit' names what is not known here") }
        if let type = header["typ"] {
            let names = ["jwt", "at+jwt", "application/jwt", "application/at+jwt"]
            guard let name = type.string, names.contains(name.lowercased()) else {
                throw .malformed("'typ' is neither JWT nor at+jwt")
            }
        }
        if let key = header["kid"], key.text == nil { throw .malformed("'kid' is no text") }
        guard let signature = base64URLBytes(parts[2]), !signature.isEmpty else {
            throw .malformed("its signature is no base64url")
        }
        (self.algorithm, keyID, self.signature) = (algorithm, header.string("kid"), signature)
        message = Array(parts[0].utf8) + [UInt8(ascii: ".")] + Array(parts[1].utf8)
    }

    private static func object(_ part: Substring, _ name: String) throws(Refusal) -> JSONObject {
        guard let bytes = base64URLBytes(part) else { throw .malformed("\(name) is no base64url") }
        do { return try JSONObject(validating: bytes) } catch {
            throw .malformed("\(name) is no JSON object with each name once")
        }
    }

    /// Whether one of `keys` has signed it.
    package func requireSignature(of keys: JSONWebKeys) throws(Refusal) {
        guard let key = keys.key(keyID, for: algorithm) else { throw .unknownKey }
        guard key.isValid(signature, of: message) else { throw .badSignature }
    }

    /// A claim in milliseconds; `nil` where it is missing. NumericDate (RFC 7519 §2) is in seconds, with or without a fraction.
    package func time(_ name: String) throws(Refusal) -> Int64? {
        guard let value = claims[name] else { return nil }
        guard let seconds = value.double, seconds.magnitude < 1e12 else { throw .malformed("'\(name)' is no time") }
        return Int64(seconds * 1_000)
    }
}
