import Testing

@testable import SyncEngine

@Suite struct HTTPParserTests {
    /// What a connection's bytes are read as, fed in pieces of this size.
    private static func read(_ text: String, piece: Int, limits: HTTPLimits = HTTPLimits()) -> (
        requests: [HTTPRequest], terms: [HTTPTerms], expectations: Int, fault: HTTPFault?
    ) {
        var parser = HTTPParser(limits: limits)
        var result: (requests: [HTTPRequest], terms: [HTTPTerms], expectations: Int, fault: HTTPFault?)
        result = ([], [], 0, nil)
        let bytes = Array(text.utf8)
        for start in stride(from: 0, to: bytes.count, by: piece) {
            Array(bytes[start..<min(start + piece, bytes.count)]).withUnsafeBytes { parser.append($0) }
            do throws(HTTPFault) {
                reading: while true {
                    switch try parser.next() {
                    case .incomplete: break reading
                    case .expectsContinue: result.expectations += 1
                    case .begun(let request, let terms):
                        result.requests.append(request)
                        result.terms.append(terms)
                    case .piece(let bytes):
                        #expect(!bytes.isEmpty)
                        result.requests[result.requests.count - 1].body += bytes
                    case .ended: break
                    case .request(let request, let terms):
                        result.requests.append(request)
                        result.terms.append(terms)
                    }
                }
            } catch {
                result.fault = error
                break
            }
        }
        return result
    }

    private static let pieces = [1, 2, 3, 7, 64, 100_000]

    /// A body that is handed out as it comes is the same bytes, has no limit here, and takes no more memory than what came at once.
    @Test(arguments: pieces) func streamedBodies(piece: Int) {
        var limits = HTTPLimits()
        limits.maximumBodyBytes = 4
        limits.streamed = { method, path in method == "POST" && path == ["big"] }
        let text =
            "POST /big HTTP/1.1\r\nHost: x\r\nContent-Length: 12\r\n\r\n0123456789ab"
            + "POST /big HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n3\r\nfgh\r\n0\r\n\r\n"
            + "POST /big HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n"
            + "POST /big HTTP/1.1\r\nHost: x\r\n\r\n"
            + "GET /after HTTP/1.1\r\nHost: x\r\n\r\n"
        let read = Self.read(text, piece: piece, limits: limits)
        #expect(read.fault == nil)
        #expect(
            read.requests.map(\.body).map { String(decoding: $0, as: UTF8.self) } == [
                "0123456789ab", "abcdefgh", "", "", "",
            ])
        #expect(read.requests.map(\.path) == ["/big", "/big", "/big", "/big", "/after"])
        let other = "POST /small HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n01234"
        #expect(Self.read(other, piece: piece, limits: limits).fault?.status == 413)
        let waits = "POST /big HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n"
        #expect(Self.read(waits, piece: piece, limits: limits).expectations == 1)
    }

    @Test(arguments: pieces) func severalRequestsInAnyPieces(piece: Int) {
        let text =
            "\r\nGET /a%20b?x=1 HTTP/1.1\r\nHost: x\r\nX-Two:  a  b \t\r\n\r\n"
            + "POST /c HTTP/1.1\r\nhost: x\r\ncontent-LENGTH: 5\r\n\r\nab\r\nc"
            + "POST /d HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: CHUNKED\r\n\r\n"
            + "3;name=\"v\"\r\nabc\r\n00A\r\n0123456789\r\n0\r\nX-Sum: 1\r\n\r\n"
            + "GET http://host:80?q HTTP/1.1\r\nHost: x\r\nConnection: keep-alive, Close\r\n\r\n"
        let read = Self.read(text, piece: piece)
        #expect(read.fault == nil)
        #expect(read.requests.map(\.path) == ["/a b", "/c", "/d", "/"])
        let bodies = read.requests.map { String(decoding: $0.body, as: UTF8.self) }
        #expect(bodies == ["", "ab\r\nc", "abc0123456789", ""])
        #expect(read.requests.first?.header("x-two") == "a  b")
        #expect(read.requests.first?.query == [HTTPField("x", "1")])
        #expect(read.requests.last?.query == [HTTPField("q", "")])
        #expect(read.terms.map(\.isLast) == [false, false, false, true])
    }

    @Test func oldClients() {
        let read = Self.read("HEAD / HTTP/1.0\r\nHost: x\r\nExpect: whatever\r\n\r\n", piece: 1000)
        #expect(read.terms == [HTTPTerms(isLast: true, knowsChunks: false, isHead: true)])
    }

    @Test(arguments: pieces) func oneExpectation(piece: Int) {
        let head = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-Continue\r\n\r\n"
        #expect(Self.read(head, piece: piece).expectations == 1)
        let chunked = head.replacing("Content-Length: 2", with: "Transfer-Encoding: chunked")
        #expect(Self.read(chunked, piece: piece).expectations == 1)
        // A client that has sent the body already does not wait.
        #expect(Self.read(head + "ab", piece: 1000).expectations == 0)
    }

    @Test func anOldClientNeedsNoHost() {
        let read = Self.read("GET / HTTP/1.0\r\n\r\n", piece: 1000)
        #expect(read.requests.count == 1 && read.fault == nil)
    }

    static let bad: [(text: String, status: Int)] = [
        ("GET / HTTP/1.1\r\n\r\n", 400), ("GET / HTTP/1.0\r\nHost: x\r\nHost: x\r\n\r\n", 400),
        ("GET / HTTP/1.1\nHost: x\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: x\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: x\r\n folded: 1\r\n\r\n", 400), ("GET  / HTTP/1.1\r\n", 400), ("GET / \r\n", 400),
        ("G@T / HTTP/1.1\r\n", 400), ("GET / HTTP/1.1 \r\n", 400), ("GET / http/1.1\r\n", 400),
        ("GET x HTTP/1.1\r\n", 400),
        ("GET /a#b HTTP/1.1\r\n", 400), ("GET /\u{e4} HTTP/1.1\r\n", 400), ("GET /a\tb HTTP/1.1\r\n", 400),
        ("GET https://h/ HTTP/1.1\r\n", 400), ("GET / HTTP/2.0\r\n", 505), ("GET / HTTP/1.x\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\u{1}b\r\n", 400), ("GET / HTTP/1.1\r\nHost: a\rb\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\u{0}b\r\n", 400), ("GET / HTTP/1.1\r\nHost : x\r\n", 400),
        ("POST / HTTP/1.1\r\nHost: x\r\nExpect: tea\r\n", 417),
        ("POST / HTTP/1.0\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 101\r\n\r\n", 413),
        ("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999999\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 18446744073709551615\r\n\r\n", 413),
        (chunked + "5\r\nabcdeX\r\n", 400), (chunked + "5\nabcde\r\n", 400), (chunked + "-5\r\n", 400),
        (chunked + "\r\n", 400), (chunked + ";x\r\n", 400), (chunked + "5 \r\n", 400), (chunked + "0x5\r\n", 400),
        (chunked + "65\r\n", 413), (chunked + "FFFFFFFFFFFFFFFFF\r\n", 400), (chunked + "7FFFFFFFFFFFFFF\r\n", 413),
        (chunked + "60\r\n\(String(repeating: "x", count: 0x60))\r\n5\r\n", 413),
        (chunked + "1;\(String(repeating: "x", count: 300))\r\n", 400), (chunked + "0\r\nbad trailer\r\n", 400),
    ]
    private static let chunked = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"

    @Test(arguments: bad.indices) func faults(index: Int) {
        var limits = HTTPLimits()
        limits.maximumBodyBytes = 100
        for piece in Self.pieces {
            let read = Self.read(Self.bad[index].text, piece: piece, limits: limits)
            #expect(read.fault?.status == Self.bad[index].status, "\(Self.bad[index]) in pieces of \(piece)")
            #expect(read.requests.isEmpty)
        }
    }

    /// A line, many lines, lines before a request and after it: all of them together have one limit.
    @Test(arguments: [
        "GET /\(String(repeating: "x", count: 2000)) HTTP/1.1\r\n", String(repeating: "\r\n", count: 600),
        "GET / HTTP/1.1\r\n" + String(repeating: "A: b\r\n", count: 200),
        chunked + "0\r\n" + String(repeating: "A: b\r\n", count: 200),
    ]) func longHeads(text: String) {
        var limits = HTTPLimits()
        limits.maximumHeaderBytes = 1000
        for piece in Self.pieces {
            #expect(Self.read(text, piece: piece, limits: limits).fault == HTTPFault("the header is too long"))
        }
    }

    @Test func aHeadOfJustTheLimitIsRead() {
        let text = "GET / HTTP/1.1\r\nHost: x\r\nX: \(String(repeating: "y", count: 100))\r\n\r\n"
        var limits = HTTPLimits()
        limits.maximumHeaderBytes = text.utf8.count
        #expect(Self.read(text + text, piece: 10, limits: limits).requests.count == 2)
        limits.maximumHeaderBytes -= 1
        #expect(Self.read(text, piece: 10, limits: limits).fault != nil)
    }
}
