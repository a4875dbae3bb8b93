/// How a request is to be answered.
package struct HTTPTerms: Equatable, Sendable {
    /// The connection ends with the answer.
    package var isLast = false
    /// The client knows chunks (HTTP/1.1).
    package var knowsChunks = true
    /// Only the head of the answer is wanted.
    package var isHead = false
}

extension HTTPTerms {
    /// The same, of a connection that may end with the answer for another reason.
    init(_ terms: HTTPTerms, isLast: Bool) {
        self = terms
        self.isLast = isLast
    }
}

/// The request line and the header of a request, and what they say of its length.
struct HTTPHead {
    enum BodyLength {
        case bytes(Int)
        case chunked
    }

    let method: String
    private let path: String
    let segments: [String]
    private let query: [HTTPField]
    private var fields: [HTTPField] = []
    private(set) var terms = HTTPTerms()
    private var hosts = 0
    private var lengths: [BodyLength] = []
    private var expectsContinue = false

    /// `METHOD SP target SP HTTP/1.x` (RFC 9112 §3).
    init(requestLine line: ArraySlice<UInt8>) throws(HTTPFault) {
        let blank = UInt8(ascii: " ")
        guard let first = line.firstIndex(of: blank), let last = line.lastIndex(of: blank), first < last,
            first > line.startIndex, line[..<first].allSatisfy(Self.isTokenByte)
        else { throw HTTPFault("bad request line") }
        let target = line[(first + 1)..<last]
        let version = line[(last + 1)...]
        guard !target.contains(blank), version.count == 8, version.starts(with: "HTTP/".utf8),
            let minor = version.last, Self.isDigit(minor)
        else { throw HTTPFault("bad request line") }
        guard version.dropFirst(5).starts(with: "1.".utf8) else { throw HTTPFault(505, "this is HTTP/1.1") }
        method = String(decoding: line[..<first], as: UTF8.self)
        (path, segments, query) = try Self.target(target)
        terms.isHead = method == "HEAD"
        // Keeping an old client's connection needs words of its own (RFC 9112 §9.3); none needs that.
        terms.knowsChunks = minor != UInt8(ascii: "0")
        terms.isLast = !terms.knowsChunks
    }

    /// Path, its segments and query, of `/a?b` and of `http://host/a?b`.
    private static func target(_ target: ArraySlice<UInt8>) throws(HTTPFault) -> (String, [String], [HTTPField]) {
        guard target.allSatisfy({ $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "#") }) else {
            throw HTTPFault("bad request target")
        }
        let mark = UInt8(ascii: "?")
        var rest = target
        if rest.starts(with: "http://".utf8) {
            rest = rest.dropFirst(7).drop { $0 != UInt8(ascii: "/") && $0 != mark }
        } else if rest.first != UInt8(ascii: "/") {
            throw HTTPFault("bad request target")
        }
        let rawPath = rest.prefix { $0 != mark }
        guard let path = rawPath.isEmpty ? "/" : percentDecoded(rawPath, plusIsSpace: false) else {
            throw HTTPFault("bad percent encoding in the path")
        }
        let rawQuery = rest.dropFirst(rawPath.count + 1)
        guard let query = queryItems(rawQuery) else {
            let name = brokenItem(rawQuery).map { "\($0): " } ?? ""
            throw HTTPFault("\(name)bad percent encoding: no UTF-8, or a zero byte")
        }
        // A broken escape was found in the whole already. What stands between two slashes counts, if it is nothing, too.
        let segments = rawPath.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            .compactMap { percentDecoded($0, plusIsSpace: false) }
        return (path, segments, query)
    }

    /// A line of the header (RFC 9112 §5), unfolded.
    static func field(_ line: ArraySlice<UInt8>) throws(HTTPFault) -> HTTPField {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex,
            line[..<colon].allSatisfy(isTokenByte)
        else { throw HTTPFault("bad header name") }
        var (start, end) = (colon + 1, line.endIndex)
        while start < end, isBlank(line[start]) { start += 1 }
        while start < end, isBlank(line[end - 1]) { end -= 1 }
        guard line[start..<end].allSatisfy(isTextByte) else { throw HTTPFault("bad header value") }
        return HTTPField(
            String(decoding: line[..<colon], as: UTF8.self), String(decoding: line[start..<end], as: UTF8.self))
    }

    mutating func add(_ field: HTTPField) throws(HTTPFault) {
        fields.append(field)
        if field.isNamed("host") {
            hosts += 1
        } else if field.isNamed("content-length") {
            guard !field.value.isEmpty, field.value.utf8.allSatisfy(Self.isDigit) else {
                throw HTTPFault("bad Content-Length")
            }
            // No body is so long: it is not waited for.
            guard let count = UInt64(field.value) else { throw HTTPFault("Content-Length is beyond 64 bits") }
            lengths.append(.bytes(Int(clamping: count)))
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
        HTTPRequest(
            method: method, path: path, segments: segments, query: query, headers: fields, body: body, peer: nil)
    }

    /// Visible text, blanks, and whatever is no ASCII.
    static func isTextByte(_ byte: UInt8) -> Bool { byte >= 0x20 && byte != 0x7f || byte == 0x09 }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    /// `tchar` of RFC 9110 §5.6.2: letters, digits, and ``!#$%&'*+-.^_`|~``.
    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x21, 0x23...0x27, 0x2a, 0x2b, 0x2d, 0x2e, 0x30...0x39, 0x41...0x5a, 0x5e...0x7a, 0x7c, 0x7e: true
        default: false
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
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
