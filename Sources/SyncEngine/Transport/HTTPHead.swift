/// How a request is to be answered.
package struct HTTPTerms: Equatable, Sendable {
    /// The connection ends with the answer.
    package var isLast = false
    /// The client knows chunks (HTTP/1.1).
    package var knowsChunks = true
    /// Only the head of the answer is wanted.
    package var isHead = false
}

/// The request line and the header of a request, and what they say of its length.
struct HTTPHead {
    enum BodyLength {
        case bytes(Int)
        case chunked
    }

    private let method: String
    private let path: String
    private let query: [HTTPField]
    private var fields: [HTTPField] = []
    private(set) var terms = HTTPTerms()
    private var hosts = 0
    private var lengths: [BodyLength] = []
    private var expectsContinue = false

    /// `METHOD SP target SP HTTP/1.x` (RFC 9112 §3).
    init(requestLine line: ArraySlice<UInt8>) throws(HTTPFault) {
        let parts = line.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard parts.count == 3, !parts[0].isEmpty, parts[0].allSatisfy(Self.isTokenByte) else {
            throw HTTPFault("bad request line")
        }
        let version = parts[2]
        guard version.count == 8, version.starts(with: "HTTP/".utf8), let minor = version.last,
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(minor)
        else { throw HTTPFault("bad request line") }
        guard version.dropFirst(5).starts(with: "1.".utf8) else { throw HTTPFault(505, "this is HTTP/1.1") }
        method = String(decoding: parts[0], as: UTF8.self)
        (path, query) = try Self.target(parts[1])
        terms.isHead = method == "HEAD"
        // Keeping an old client's connection needs words of its own (RFC 9112 §9.3); none needs that.
        terms.knowsChunks = minor != UInt8(ascii: "0")
        terms.isLast = !terms.knowsChunks
    }

    /// Path and query, of `/a?b` and of `http://host/a?b`.
    private static func target(_ target: ArraySlice<UInt8>) throws(HTTPFault) -> (String, [HTTPField]) {
        guard target.allSatisfy({ $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "#") }) else {
            throw HTTPFault("bad request target")
        }
        var rest = Substring(decoding: target, as: UTF8.self)
        if rest.hasPrefix("http://") {
            rest = rest.dropFirst(7).drop { $0 != "/" && $0 != "?" }
        } else if !rest.hasPrefix("/") {
            throw HTTPFault("bad request target")
        }
        let rawPath = rest.prefix { $0 != "?" }
        guard let path = percentDecoded(rawPath.isEmpty ? "/" : rawPath, plusIsSpace: false),
            let query = queryItems(rest.dropFirst(rawPath.count + 1))
        else { throw HTTPFault("bad percent encoding") }
        return (path, query)
    }

    /// A line of the header (RFC 9112 §5), unfolded.
    static func field(_ line: ArraySlice<UInt8>) throws(HTTPFault) -> HTTPField {
        let name = line.prefix { $0 != UInt8(ascii: ":") }
        guard !name.isEmpty, name.count < line.count, name.allSatisfy(isTokenByte) else {
            throw HTTPFault("bad header name")
        }
        var value = line.dropFirst(name.count + 1)
        while let first = value.first, isBlank(first) { value.removeFirst() }
        while let last = value.last, isBlank(last) { value.removeLast() }
        guard value.allSatisfy(isTextByte) else { throw HTTPFault("bad header value") }
        return HTTPField(String(decoding: name, as: UTF8.self), String(decoding: value, as: UTF8.self))
    }

    mutating func add(_ field: HTTPField) throws(HTTPFault) {
        fields.append(field)
        if field.isNamed("host") {
            hosts += 1
        } else if field.isNamed("content-length") {
            guard !field.value.isEmpty, field.value.utf8.allSatisfy({ (48...57).contains($0) }) else {
                throw HTTPFault("bad Content-Length")
            }
            lengths.append(.bytes(Int(field.value) ?? .max))
        } else if field.isNamed("transfer-encoding") {
            guard field.value.lowercased() == "chunked" else { throw HTTPFault("unknown Transfer-Encoding") }
            lengths.append(.chunked)
        } else if field.isNamed("connection") {
            if field.value.lowercased().split(whereSeparator: { $0 == "," || $0 == " " }).contains("close") {
                terms.isLast = true
            }
        } else if field.isNamed("expect"), terms.knowsChunks {
            guard field.value.lowercased() == "100-continue" else { throw HTTPFault(417, "unknown expectation") }
            expectsContinue = true
        }
    }

    /// The header is whole: how long the body is; `nil` if there is none.
    func bodyLength() throws(HTTPFault) -> BodyLength? {
        // HTTP/1.0 knows no Host (RFC 9112 §3.2).
        guard hosts == 1 || hosts == 0 && !terms.knowsChunks else {
            throw HTTPFault("exactly one Host header is needed")
        }
        guard lengths.count <= 1 else { throw HTTPFault("more than one body length") }
        if case .chunked = lengths.first, !terms.knowsChunks { throw HTTPFault("HTTP/1.0 has no chunks") }
        return lengths.first
    }

    /// Whether the client waits for a word from us; true once.
    mutating func takeExpectation() -> Bool {
        defer { expectsContinue = false }
        return expectsContinue
    }

    func request(body: [UInt8]) -> HTTPRequest {
        HTTPRequest(method: method, path: path, query: query, headers: fields, body: body, peer: nil)
    }

    /// Visible text, blanks, and whatever is no ASCII.
    static func isTextByte(_ byte: UInt8) -> Bool { byte >= 0x20 && byte != 0x7f || byte == 0x09 }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    /// `tchar` of RFC 9110 §5.6.2.
    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 48...57, 65...90, 97...122: true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}

extension HTTPField {
    /// Whether this is its name, given in lower case, of letters and hyphens.
    func isNamed(_ wanted: StaticString) -> Bool {
        guard name.utf8.count == wanted.utf8CodeUnitCount else { return false }
        var at = wanted.utf8Start
        for byte in name.utf8 {
            let lower = (65...90).contains(byte) ? byte | 0x20 : byte
            if lower != at.pointee { return false }
            at += 1
        }
        return true
    }
}
