internal import Glibc

/// Why a request is refused. The connection ends with that answer: what follows cannot be told from the request any more.
package struct HTTPFault: Error, Equatable {
    package let status: Int
    /// One sentence for people.
    package let reason: String

    init(_ status: Int, _ reason: String) {
        self.status = status
        self.reason = reason
    }

    /// A bad request.
    init(_ reason: String) { self.init(400, reason) }
}

/// Reads the requests of one connection, HTTP/1.1 and 1.0 (RFC 9112), in whatever pieces they come. A pure value.
///
/// Strict where two servers might read one text in two ways (request smuggling, RFC 9112 §11.2): lines end with CR LF, there
/// is one length at most, nothing is folded or guessed. What it keeps in memory is bounded by ``HTTPLimits``, and every byte
/// is looked at once however many pieces a line has.
package struct HTTPParser {
    package enum Step: Equatable {
        /// More bytes are needed.
        case incomplete
        /// The client wants to hear 100 (Continue) before it sends the body. Told once.
        case expectsContinue
        /// A whole request; after the last nothing more is read.
        case request(HTTPRequest, HTTPTerms)
        /// The head of a request whose body follows in pieces (``HTTPLimits/streamed``).
        case begun(HTTPRequest, HTTPTerms)
        /// The next bytes of such a body, at least one.
        case piece([UInt8])
        /// Such a body is whole.
        case ended
    }

    private enum Part: Equatable {
        case head
        case body(count: Int)
        case chunkSize
        case chunk(left: Int)
        case chunkEnd
        case trailers
    }

    /// Longest line that says how long a chunk is.
    private static let longestChunkLine = 256

    private let limits: HTTPLimits
    private var input: [UInt8] = []
    /// The first byte that is not read yet, and how far a line's end has been looked for.
    private var start = 0
    private var searched = 0
    private var part = Part.head
    /// What has come of the request's head; `nil` before its first line.
    private var head: HTTPHead?
    /// Bytes of the lines of the head and of the trailers.
    private var headBytes = 0
    /// What has come in chunks.
    private var chunks: [UInt8] = []
    /// Whether the body is handed out as it comes, and whether that was said.
    private var isStreamed = false
    private var hasBegun = false

    package init(limits: HTTPLimits = HTTPLimits()) { self.limits = limits }

    /// Bytes that have come and are not read yet.
    package var pending: Int { input.count - start }

    /// Bytes of the request that is coming, and of what has come behind it.
    var buffered: Int { pending + chunks.count }

    /// Whether the head of the request that is coming is not whole.
    var isInHead: Bool { part == .head && !isAtStart }

    /// Whether nothing of the next request has come.
    var isAtStart: Bool { pending == 0 && head == nil && part == .head }

    /// Takes in what the client has sent.
    package mutating func append(_ bytes: UnsafeRawBufferPointer) {
        if start > 0 {
            input.removeSubrange(..<start)
            searched -= start
            start = 0
        }
        input.append(contentsOf: bytes)
    }

    /// Gives back the memory of a request that was long, unless the next has begun.
    mutating func giveBack() {
        guard pending == 0 else { return }
        input.removeAll(keepingCapacity: input.capacity <= 16 << 10)
        (start, searched) = (0, 0)
    }

    /// Reads on. After a fault it must not be asked again.
    package mutating func next() throws(HTTPFault) -> Step {
        while true {
            if isStreamed, !hasBegun, let head {
                hasBegun = true
                return .begun(head.request(body: []), head.terms)
            }
            switch part {
            case .head:
                guard let line = try headLine() else { return .incomplete }
                try readHead(line)
            case .body(let count) where isStreamed:
                if count == 0 { return end() }
                guard pending > 0 else { return waiting }
                let piece = Array(take(min(count, pending)))
                part = .body(count: count - piece.count)
                return .piece(piece)
            case .body(let count):
                guard pending >= count else { return waiting }
                return finish(take(count))
            case .chunkSize:
                guard let line = try line(limit: Self.longestChunkLine) else { return waiting }
                try readChunkSize(input[line])
            case .chunk(let left):
                let part = take(min(left, pending))
                self.part = part.count == left ? .chunkEnd : .chunk(left: left - part.count)
                if isStreamed {
                    if part.isEmpty { return .incomplete }
                    return .piece(Array(part))
                }
                chunks += part
                if part.count < left { return .incomplete }
            case .chunkEnd:
                guard pending >= 2 else { return .incomplete }
                guard Array(take(2)) == [0x0d, 0x0a] else { throw HTTPFault("a chunk is longer than it says") }
                part = .chunkSize
            case .trailers:
                guard let line = try headLine() else { return .incomplete }
                guard line.isEmpty else {
                    _ = try HTTPHead.field(input[line])
                    continue
                }
                return isStreamed ? end() : finish(chunks[...])
            }
        }
    }

    private mutating func readHead(_ line: Range<Int>) throws(HTTPFault) {
        guard head != nil else {
            // Empty lines before a request are passed over (RFC 9112 §2.2).
            if !line.isEmpty { head = try HTTPHead(requestLine: input[line]) }
            return
        }
        if !line.isEmpty {
            try head?.add(HTTPHead.field(input[line]))
            return
        }
        let length = try head?.bodyLength()
        if length != nil, let head { isStreamed = limits.streamed?(head.method, head.segments) ?? false }
        switch length {
        case nil: part = .body(count: 0)
        case .chunked: part = .chunkSize
        case .bytes(let count):
            guard isStreamed || count <= limits.maximumBodyBytes else { throw Self.tooLarge }
            part = .body(count: count)
        }
    }

    private static let tooLarge = HTTPFault(413, "the body is too large")

    /// Hexadecimal digits, then perhaps an extension, which means nothing to us.
    private mutating func readChunkSize(_ line: ArraySlice<UInt8>) throws(HTTPFault) {
        let digits = line.prefix { $0 != UInt8(ascii: ";") }
        guard (1...15).contains(digits.count), line.dropFirst(digits.count).allSatisfy(HTTPHead.isTextByte) else {
            throw HTTPFault("bad chunk size")
        }
        var size = 0
        for digit in digits {
            guard let value = hexValue(digit) else { throw HTTPFault("bad chunk size") }
            size = size << 4 | Int(value)
            guard isStreamed || chunks.count + size <= limits.maximumBodyBytes else { throw Self.tooLarge }
        }
        part = size == 0 ? .trailers : .chunk(left: size)
    }

    /// Nothing more can be read: perhaps because the client waits for us.
    private var waiting: Step {
        mutating get {
            guard pending == 0, head?.takeExpectation() == true else { return .incomplete }
            return .expectsContinue
        }
    }

    private mutating func take(_ count: Int) -> ArraySlice<UInt8> {
        defer {
            start += count
            searched = start
        }
        return input[start..<start + count]
    }

    private mutating func headLine() throws(HTTPFault) -> Range<Int>? {
        let line = try line(limit: limits.maximumHeaderBytes - headBytes)
        if let line { headBytes += line.count + 2 }
        return line
    }

    /// Takes a line of up to `limit` bytes, CR LF counted and not included; `nil` if it is not whole yet.
    private mutating func line(limit: Int) throws(HTTPFault) -> Range<Int>? {
        let (from, count) = (searched, input.count)
        let found = input.withUnsafeBytes { bytes -> Int? in
            guard from < count, let base = bytes.baseAddress, let place = memchr(base + from, 0x0a, count - from)
            else { return nil }
            return UnsafeRawPointer(place) - base
        }
        guard (found ?? count - 1) - start < limit else { throw HTTPFault("the header is too long") }
        guard let end = found else {
            searched = count
            return nil
        }
        guard end > start, input[end - 1] == 0x0d else { throw HTTPFault("a line must end with CR LF") }
        defer {
            start = end + 1
            searched = start
        }
        return start..<end - 1
    }

    private mutating func end() -> Step {
        (part, head, headBytes, isStreamed, hasBegun) = (.head, nil, 0, false, false)
        return .ended
    }

    private mutating func finish(_ body: ArraySlice<UInt8>) -> Step {
        defer {
            (part, head, headBytes, chunks) = (.head, nil, 0, [])
        }
        guard let head else { preconditionFailure("a body without a head") }
        return .request(head.request(body: Array(body)), head.terms)
    }
}
