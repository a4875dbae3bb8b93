internal import CLibevent

/// Copies evhttp's list of headers, in order; bytes that are not UTF-8 are repaired.
func headerFields(of request: OpaquePointer) -> [HTTPField] {
    var fields: [HTTPField] = []
    var next = evhttp_request_get_input_headers(request)?.pointee.tqh_first
    while let field = next {
        if let name = field.pointee.key, let value = field.pointee.value {
            fields.append(HTTPField(String(cString: name), String(cString: value)))
        }
        next = field.pointee.next.tqe_next
    }
    return fields
}

/// What evhttp lets through although RFC 9112 forbids it, and two servers might read in two ways (request smuggling).
/// - Returns: why the request must be refused, or nil.
package func faultOfHeaders(_ fields: [HTTPField]) -> String? {
    var hosts = 0
    var lengths = 0
    var encodings = 0
    for field in fields {
        guard !field.name.isEmpty, field.name.utf8.allSatisfy(isTokenByte) else { return "bad header name" }
        switch field.name.lowercased() {
        case "host": hosts += 1
        case "content-length":
            lengths += 1
            guard !field.value.isEmpty, field.value.utf8.allSatisfy({ (48...57).contains($0) }) else {
                return "bad Content-Length"
            }
        case "transfer-encoding":
            encodings += 1
            guard field.value.lowercased() == "chunked" else { return "unknown Transfer-Encoding" }
        default: break
        }
    }
    if hosts != 1 { return "exactly one Host header is needed" }
    if lengths + encodings > 1 { return "more than one body length" }
    return nil
}

/// `tchar` of RFC 9110 §5.6.2.
private func isTokenByte(_ byte: UInt8) -> Bool {
    switch byte {
    case 48...57, 65...90, 97...122: true
    default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }
}

/// Decodes `%41` once.
/// - Returns: nil for a broken escape, a NUL, or bytes that are not UTF-8.
package func percentDecoded(_ text: Substring, plusIsSpace: Bool) -> String? {
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
package func queryItems(_ query: String) -> [HTTPField]? {
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

private func hexValue(_ byte: UInt8) -> UInt8? {
    switch byte {
    case 48...57: byte - 48
    case 65...70: byte - 55
    case 97...102: byte - 87
    default: nil
    }
}
