internal import EventStore

/// Names of other services as ids of users and conversations here.
enum Naming {
    private static let most = Limits.identifier - 40

    /// `<scope>:<name>`. A name that no id can have is cut, and a digest of the whole of it added.
    static func id(_ scope: String, _ name: String) -> String {
        let isPlain = !name.utf8.contains { $0 < 0x20 || $0 == 0x7f }
        if isPlain, !name.isEmpty, name.utf8.count <= most { return scope + ":" + name }
        let plain = String(
            String.UnicodeScalarView(name.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7f }))
        var short = ""
        for character in plain {
            if short.utf8.count + character.utf8.count > most - 40 { break }
            short.append(character)
        }
        return scope + ":" + short + "~" + hash(name)
    }

    /// 26 digits of base32 (RFC 4648, lowercase): 130 bits of the SHA-256 digest.
    static func hash(_ text: String) -> String { base32(SHA256().digest(Array(text.utf8))) }

    /// The conversation of two users, the same whichever of them begins it.
    static func direct(_ one: String, _ other: String) -> String {
        DirectConversation(one, other).id
    }

    private static let digits = Array("abcdefghijklmnopqrstuvwxyz234567".utf8)

    private static func base32(_ digest: Digest) -> String {
        var bytes: [UInt8] = []
        digest.append(to: &bytes)
        var out: [UInt8] = []
        var bits = UInt32(0)
        var count = 0
        for byte in bytes where out.count < 26 {
            bits = bits << 8 | UInt32(byte)
            count += 8
            while count >= 5, out.count < 26 {
                count -= 5
                out.append(digits[Int(bits >> UInt32(count)) & 31])
            }
        }
        return String(decoding: out, as: UTF8.self)
    }
}
