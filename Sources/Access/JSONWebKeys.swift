package import EventStore

/// The public keys with which an identity provider signs: a JWK set (RFC 7517 §5).
package struct JSONWebKeys: Sendable {
    /// Why a file has none that can be used.
    package struct Problem: Error, Equatable, CustomStringConvertible {
        package let description: String

        package init(_ description: String) { self.description = description }
    }

    private struct Entry {
        let id: String?
        let key: PublicKey
    }

    /// Bytes of the longest file.
    package static let longest = 256 << 10

    private var entries: [Entry] = []
    /// Keys that were passed over though they look as if they were meant, and why.
    package private(set) var remarks: [String] = []

    /// Reads a set. Keys of other kinds, for other uses, and such as are too weak or malformed are passed over, as RFC 7517 §5 asks. Secret
    /// keys, and two with one name, make the whole unusable.
    package init(_ bytes: [UInt8]) throws(Problem) {
        guard bytes.count <= Self.longest else { throw Problem("has more than \(Self.longest >> 10) KiB") }
        let object: JSONObject
        do { object = try JSONObject(validating: bytes) } catch { throw Problem("is no JSON: \(error)") }
        guard let elements = object.elements("keys") else { throw Problem("has no list 'keys'") }
        for (index, element) in elements.enumerated() {
            guard let key = element.object else { throw Problem("keys[\(index)] is no object") }
            guard let entry = try entry(key, "keys[\(index)]") else { continue }
            if entries.contains(where: { $0.id == entry.id }) {
                throw Problem("keys[\(index)] has the 'kid' of another: \(entry.id ?? "none")")
            }
            entries.append(entry)
        }
        guard !entries.isEmpty else {
            throw Problem((["has no key for RS256 or ES256"] + remarks).joined(separator: "; "))
        }
    }

    private mutating func entry(_ key: JSONObject, _ name: String) throws(Problem) -> Entry? {
        guard key["d"] == nil, key["k"] == nil else {
            throw Problem("\(name) is a secret key: give the public keys alone")
        }
        if let use = key.string("use"), use != "sig" { return nil }
        if let operations = key.strings("key_ops"), !operations.contains("verify") { return nil }
        func bytes(_ member: String) -> [UInt8] { key.string(member).flatMap { base64URLBytes($0) } ?? [] }
        let found: PublicKey?
        let algorithm: PublicKey.Algorithm
        switch key.string("kty") {
        case "RSA": (algorithm, found) = (.rs256, PublicKey(modulus: bytes("n"), exponent: bytes("e")))
        case "EC" where key.string("crv") == "P-256":
            (algorithm, found) = (.es256, PublicKey(x: bytes("x"), y: bytes("y")))
        default: return nil
        }
        if let wanted = key.string("alg"), wanted != algorithm.rawValue { return nil }
        guard let found else {
            let rule =
                algorithm == .es256
                ? "a point of P-256"
                : "an RSA key of \(PublicKey.rsaBits.lowerBound) to \(PublicKey.rsaBits.upperBound) bits"
            remarks.append("\(name) is not \(rule), and is passed over")
            return nil
        }
        return Entry(id: key.string("kid"), key: found)
    }

    /// The key that a token names. A token without a name has the only key there is.
    package func key(_ id: String?, for algorithm: PublicKey.Algorithm) -> PublicKey? {
        let fitting = entries.filter { $0.key.algorithm == algorithm }
        guard let id else { return fitting.count == 1 ? fitting.first?.key : nil }
        return fitting.first { $0.id?.hasSameBytes(as: id) ?? false }?.key
    }
}
