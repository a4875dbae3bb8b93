/// The conversation of two users, whose id follows from theirs: both sides, and both nodes, make the same without asking
/// (docs/reference/FORMATS.md, section 4).
package struct DirectConversation: Hashable, Sendable {
    /// `dm-` and 26 digits of base 32.
    package let id: String
    /// Both, by the bytes of their ids.
    package let users: [String]

    private static let label = "sillok-direct-v1"
    private static let digits = Array("abcdefghijklmnopqrstuvwxyz234567".utf8)
    private static let length = 26

    /// Whether a conversation's id is of this form: it is begun by one of the two, and for both.
    package static func isID(_ id: String) -> Bool {
        let bytes = id.utf8
        return bytes.count == length + 3 && bytes.starts(with: "dm-".utf8)
            && bytes.dropFirst(3).allSatisfy(digits.contains)
    }

    package init(_ one: String, _ other: String) {
        users = [one, other].sorted { ByteText($0) < ByteText($1) }
        var text = Array(Self.label.utf8)
        for user in users {
            text.append(0)
            text += user.utf8
        }
        var (code, bits, count) = ([UInt8](), UInt32(0), 0)
        for byte in SHA256().digest(text).bytes {
            (bits, count) = (bits << 8 | UInt32(byte), count + 8)
            while count >= 5 {
                count -= 5
                code.append(Self.digits[Int(bits >> UInt32(count) & 31)])
            }
            bits &= 0xff
        }
        id = "dm-" + String(decoding: code.prefix(Self.length), as: UTF8.self)
    }
}
