/// Decodes `%41` once.
/// - Returns: nil for a broken escape, a NUL, or bytes that are not UTF-8.
package func percentDecoded(_ text: Substring, plusIsSpace: Bool) -> String? {
    let isPlain = text.utf8.allSatisfy { byte in
        byte != 0 && byte != UInt8(ascii: "%") && !(plusIsSpace && byte == UInt8(ascii: "+"))
    }
    if isPlain { return String(text) }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.utf8.count)
    var rest = text.utf8.makeIterator()
    while let byte = rest.next() {
        if byte == UInt8(ascii: "%") {
            guard let high = rest.next().flatMap(hexValue), let low = rest.next().flatMap(hexValue) else {
                return nil
            }
            bytes.append(high << 4 | low)
        } else {
            bytes.append(plusIsSpace && byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
        }
    }
    return bytes.contains(0) ? nil : String(validating: bytes, as: UTF8.self)
}

/// Splits `a=1&b=%20`; nil when an escape is broken. An item without `=` has an empty value.
package func queryItems(_ query: Substring) -> [HTTPField]? {
    var items: [HTTPField] = []
    for item in query.split(separator: "&") {
        let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard let name = percentDecoded(parts[0], plusIsSpace: true),
            let value = percentDecoded(parts.count > 1 ? parts[1] : "", plusIsSpace: true)
        else { return nil }
        items.append(HTTPField(name, value))
    }
    return items
}

/// What a hexadecimal digit stands for.
func hexValue(_ byte: UInt8) -> UInt8? {
    switch byte {
    case 48...57: byte - 48
    case 65...70: byte - 55
    case 97...102: byte - 87
    default: nil
    }
}
