internal import Glibc

/// Whether both are the same bytes.
func hasEqualBytes(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Bool {
    guard a.count == b.count else { return false }
    guard let first = a.baseAddress, let second = b.baseAddress else { return true }
    return memcmp(first, second, a.count) == 0
}

extension [UInt8] {
    package mutating func appendBigEndian<T: FixedWidthInteger>(_ value: T) {
        Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
    }

    /// Appends text that is part of the program.
    package mutating func append(literal text: StaticString) {
        append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Appends the UTF-8 of `text`.
    package mutating func append(text: String) {
        var text = text
        text.withUTF8 { append(contentsOf: $0) }
    }

    /// Appends the decimal digits of `value`.
    package mutating func append(decimal value: UInt64) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
            var start = digits.count
            var rest = value
            repeat {
                start -= 1
                digits[start] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
            } while rest > 0
            append(contentsOf: digits[start...])
        }
    }

    package mutating func appendHex(_ byte: UInt8) {
        append(hexCharacters[Int(byte >> 4)])
        append(hexCharacters[Int(byte & 15)])
    }
}

/// Lowercase hexadecimal text of `bytes`.
package func hexText(_ bytes: some Sequence<UInt8>) -> String {
    var out: [UInt8] = []
    for byte in bytes { out.appendHex(byte) }
    return String(decoding: out, as: UTF8.self)
}

/// The first `count` lowercase hexadecimal digits of two words, with a dash before each digit whose bit is set in `dashes`.
func dashedHexText(_ high: UInt64, _ low: UInt64 = 0, count: Int, dashes: UInt32) -> String {
    String(unsafeUninitializedCapacity: count + dashes.nonzeroBitCount) { text in
        var place = 0
        for digit in 0..<count {
            if dashes >> digit & 1 != 0 {
                text[place] = UInt8(ascii: "-")
                place += 1
            }
            let value = (digit < 16 ? high : low) >> UInt64(60 - digit % 16 * 4) & 15
            text[place] = hexCharacters[Int(value)]
            place += 1
        }
        return place
    }
}

/// The eight lowercase hexadecimal digits of `word`, one in each byte, the first in the highest.
func hexDigits(_ word: UInt32) -> UInt64 {
    // Half of it goes up, then half of each half, until there are four bits in each byte.
    var digits = UInt64(word)
    digits = (digits | digits << 16) & 0x0000_ffff_0000_ffff
    digits = (digits | digits << 8) & 0x00ff_00ff_00ff_00ff
    digits = (digits | digits << 4) & 0x0f0f_0f0f_0f0f_0f0f
    // One in each byte that is above nine.
    let letters = (digits + 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
    return digits + 0x3030_3030_3030_3030 + letters * UInt64(UInt8(ascii: "a") - UInt8(ascii: "0") - 10)
}

/// The bytes in hexadecimal `text` of either case; `nil` for odd counts and other characters.
package func hexBytes(_ text: some StringProtocol) -> [UInt8]? {
    guard text.utf8.count % 2 == 0 else { return nil }
    var out: [UInt8] = []
    var high: UInt64?
    for byte in text.utf8 {
        guard let digit = hexDigit(byte) else { return nil }
        if let first = high {
            out.append(UInt8(first << 4 | digit))
            high = nil
        } else {
            high = digit
        }
    }
    return out
}

package func hexDigit(_ byte: UInt8) -> UInt64? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt64(byte - UInt8(ascii: "0"))
    case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt64(byte - UInt8(ascii: "a") + 10)
    case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt64(byte - UInt8(ascii: "A") + 10)
    default: nil
    }
}

private let hexCharacters = Array("0123456789abcdef".utf8)
/// The value of each character of base64; 64 and more of all others.
private let base64Values: [UInt8] = {
    var values = [UInt8](repeating: 255, count: 256)
    for (value, character) in base64Characters.enumerated() { values[Int(character)] = UInt8(value) }
    return values
}()
private let base64Characters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

/// Base64 of `bytes` with padding (RFC 4648 §4).
package func base64Text(_ bytes: [UInt8]) -> String {
    var out: [UInt8] = []
    out.append(base64: bytes)
    return String(decoding: out, as: UTF8.self)
}

extension [UInt8] {
    /// Appends base64 of `bytes` with padding (RFC 4648 §4).
    mutating func append(base64 bytes: [UInt8]) {
        reserveCapacity(count + (bytes.count + 2) / 3 * 4)
        var index = 0
        while index < bytes.count {
            let left = Swift.min(3, bytes.count - index)
            var word = UInt32(0)
            for offset in 0..<3 { word = word << 8 | (offset < left ? UInt32(bytes[index + offset]) : 0) }
            for digit in 0..<4 {
                append(digit <= left ? base64Characters[Int(word >> UInt32(18 - 6 * digit) & 63)] : UInt8(ascii: "="))
            }
            index += 3
        }
    }
}

/// The bytes of padded base64 `text` (RFC 4648 §4), strictly: no blanks, no missing padding, no stray bits.
package func base64Bytes(_ text: some StringProtocol) -> [UInt8]? {
    let characters = Array(text.utf8)
    guard characters.count % 4 == 0 else { return nil }
    let padding = characters.suffix(2).count(where: { $0 == UInt8(ascii: "=") })
    var out: [UInt8] = []
    var word = UInt32(0)
    for (index, character) in characters.enumerated() {
        if index >= characters.count - padding {
            guard character == UInt8(ascii: "=") else { return nil }
            word <<= 6
        } else {
            let value = base64Values[Int(character)]
            guard value < 64 else { return nil }
            word = word << 6 | UInt32(value)
        }
        if index % 4 == 3 {
            out.append(UInt8(word >> 16 & 255))
            out.append(UInt8(word >> 8 & 255))
            out.append(UInt8(word & 255))
            word = 0
        }
    }
    guard out.suffix(padding).allSatisfy({ $0 == 0 }) else { return nil }
    out.removeLast(padding)
    return base64Text(out) == text ? out : nil
}

/// Base64url of `bytes` without padding (RFC 4648 §5).
package func base64URLText(_ bytes: [UInt8]) -> String {
    var text = base64Text(bytes).utf8.map { byte in
        switch byte {
        case UInt8(ascii: "+"): UInt8(ascii: "-")
        case UInt8(ascii: "/"): UInt8(ascii: "_")
        default: byte
        }
    }
    while text.last == UInt8(ascii: "=") { text.removeLast() }
    return String(decoding: text, as: UTF8.self)
}

/// The bytes of base64url `text` without padding (RFC 4648 §5), as strictly as ``base64Bytes(_:)``.
package func base64URLBytes(_ text: some StringProtocol) -> [UInt8]? {
    var plain: [UInt8] = []
    for byte in text.utf8 {
        switch byte {
        case UInt8(ascii: "-"): plain.append(UInt8(ascii: "+"))
        case UInt8(ascii: "_"): plain.append(UInt8(ascii: "/"))
        case UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="): return nil
        default: plain.append(byte)
        }
    }
    guard plain.count % 4 != 1 else { return nil }
    while plain.count % 4 != 0 { plain.append(UInt8(ascii: "=")) }
    return base64Bytes(String(decoding: plain, as: UTF8.self))
}
