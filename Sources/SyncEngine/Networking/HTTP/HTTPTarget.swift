/// Decodes `%41` once.
/// - Returns: nil for a broken escape, a NUL, or bytes that are not UTF-8.
func percentDecoded(_ text: ArraySlice<UInt8>, plusIsSpace: Bool) -> String? {
    let isPlain = text.allSatisfy { byte in
        byte != 0 && byte != UInt8(ascii: "%") && !(plusIsSpace && byte == UInt8(ascii: "+"))
    }
    if isPlain { return String(validating: text, as: UTF8.self) }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count)
    var rest = text.makeIterator()
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
func queryItems(_ query: ArraySlice<UInt8>) -> [HTTPField]? {
    var items: [HTTPField] = []
    if query.isEmpty { return items }
    for item in query.split(separator: UInt8(ascii: "&")) {
        let name = item.prefix { $0 != UInt8(ascii: "=") }
        guard let decodedName = percentDecoded(name, plusIsSpace: true),
            let value = percentDecoded(item.dropFirst(name.count + 1), plusIsSpace: true)
        else { return nil }
        items.append(HTTPField(decodedName, value))
    }
    return items
}

/// The name of the first item whose value cannot be decoded; nil where the name cannot either, or is none of a parameter's.
func brokenItem(_ query: ArraySlice<UInt8>) -> String? {
    for item in query.split(separator: UInt8(ascii: "&")) {
        let name = item.prefix { $0 != UInt8(ascii: "=") }
        if percentDecoded(item.dropFirst(name.count + 1), plusIsSpace: true) == nil {
            return name.count <= 64 ? percentDecoded(name, plusIsSpace: true) : nil
        }
    }
    return nil
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
