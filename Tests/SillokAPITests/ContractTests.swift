import CommandLineKit
import EventStore
import Foundation
import SillokAPI
import TestSupport
import Testing

/// What the daemon answers is what its clients read, and what the documents say of it.
struct ContractTests {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    private let receipt: AppendReceipt

    init() throws {
        let folder = TemporaryFolder()
        try EventStore.create(in: folder.path, name: "n")
        let store = try EventStore(opening: folder.path)
        defer { store.close() }
        let draft = EventDraft(type: "message.posted", user: "u", payload: Array(#"{"text":"안녕"}"#.utf8))
        guard case .appended(let receipt)? = try store.appendBlocking([draft]).first else {
            throw CommandFailure(code: "E_INTERNAL", "not appended", exitCode: .internalError)
        }
        self.receipt = receipt
    }

    @Test("The answer to an append has the bytes of the document, line by line, and is read back as what it was")
    func append() throws {
        var answer = AppendAnswer(expecting: 3)
        answer.append(1, receipt)
        answer.find(2, receipt)
        answer.reject(3, "E_PAYLOAD_JSON", "\"글\" is no JSON object")
        answer.end()
        let place =
            #""position":2,"id":"\#(receipt.id)","origin":"\#(receipt.dot.origin)","sequence":2,"hlc":"\#(receipt.hlc)"}"#
        #expect(
            String(decoding: answer.text, as: UTF8.self) == #"{"type":"appended","v":1,"line":1,\#(place)"# + "\n"
                + #"{"type":"already","v":1,"line":2,\#(place)"# + "\n"
                + #"{"type":"rejected","v":1,"line":3,"code":"E_PAYLOAD_JSON","message":"\"글\" is no JSON object"}"#
                + "\n" + #"{"type":"end","v":1,"count":3,"appended":1,"already":1,"rejected":1}"# + "\n")
        #expect(answer.status == 207)
        let lines = answer.text.split(separator: UInt8(ascii: "\n")).map { Array($0) }
        for (number, line) in lines.dropLast().enumerated() {
            guard case .line(let read) = AppendedLine.read(line) else {
                Issue.record("line \(number + 1) is not read")
                continue
            }
            #expect(Array(read.json(line: number + 1).text.utf8) == line)
        }
        guard case .line(.appended(let told)) = AppendedLine.read(lines[0]) else {
            Issue.record("not appended")
            return
        }
        #expect(told.texts == AppendedLine.Place.here(receipt).texts)
        guard case .end = AppendedLine.read(lines[3]) else {
            Issue.record("no end")
            return
        }
    }

    @Test("Of a request of which nothing was stored the status says why, and lines that are no answer are named")
    func refusals() {
        func status(_ codes: String...) -> Int {
            var answer = AppendAnswer(expecting: codes.count)
            for (index, code) in codes.enumerated() { answer.reject(index + 1, code, "") }
            answer.end()
            return answer.status
        }
        #expect(status("E_ID_REUSED") == 409 && status("E_BATCH", "E_VERSION") == 409)
        #expect(status("E_BEGUN") == 409)
        #expect(status("E_PAYLOAD_JSON", "E_ID_REUSED") == 422 && status("E_BATCH") == 422)
        for text in [
            "", "[]", #"{"type":"appended","line":1}"#, #"{"type":"appended","position":-1}"#, #"{"type":"x"}"#,
        ] {
            guard case .unknown = AppendedLine.read(Array(text.utf8)) else {
                Issue.record("\(text) was read")
                continue
            }
        }
        let error =
            #"{"type":"urn:sillok:error:E_DISK","title":"disk","status":507,"detail":"full","code":"E_DISK","hint":"room"}"#
        guard case .error(let told) = AppendedLine.read(Array(error.utf8)) else {
            Issue.record("no error")
            return
        }
        #expect(told == ErrorAnswer(.disk, "full", hint: "room") && told.line(status: 507).text == error)
    }

    @Test("An error goes out and comes in as the same; one without a code, or with a later one, goes by its status")
    func errors() {
        for code in ErrorCode.allCases {
            let answer = ErrorAnswer(code, "무엇이", hint: "길")
            let read = ErrorAnswer(body: Array(answer.line(status: code.status).text.utf8), status: code.status)
            #expect(read == answer)
            let failure = read.failure(status: code.status)
            #expect(failure.code == code.rawValue && failure.exitCode == code.exitCode && failure.hint == "길")
        }
        let proxy = ErrorAnswer(body: Array("<html>".utf8), status: 502)
        #expect(proxy.code == "E_HTTP_502" && proxy.failure(status: 502).exitCode == .internalError)
        let later = ErrorAnswer(body: Array(#"{"code":"E_LATER","message":"m"}"#.utf8), status: 507)
        #expect(later.failure(status: 507).exitCode == .cannotCreate)
    }

    @Test("docs/reference/ERRORS.md says of each code the status and the exit code that it has")
    func documented() throws {
        let page = Self.root.appending(path: "docs/reference/ERRORS.md")
        let rows = try String(contentsOf: page, encoding: .utf8).split(separator: "\n").map {
            $0.split(separator: "|", omittingEmptySubsequences: false).map { $0.trimmingCharacters(in: .whitespaces) }
        }
        func numbers(_ cell: String) -> [Int] { cell.split { !$0.isNumber }.compactMap { Int($0) } }
        for code in ErrorCode.allCases {
            let row = try #require(rows.first { $0.count > 4 && $0[1] == "`\(code.rawValue)`" }, "\(code.rawValue)")
            // Tables of rejected events have no exit codes, those of input no statuses.
            guard row.count == 7 else { continue }
            #expect(numbers(row[2]).first == Int(code.exitCode.rawValue), "\(code.rawValue): exit \(row[2])")
            guard row[3] != "–" else { continue }
            #expect(numbers(row[3]).contains(code.status), "\(code.rawValue): status \(row[3])")
        }
    }

    @Test("Each path of the table of routes stands on docs/operating/api.md, or on a page that it leads to")
    func paths() throws {
        let folder = Self.root.appending(path: "docs/operating")
        let page = try String(contentsOf: folder.appending(path: "api.md"), encoding: .utf8)
        let pages = try page.matches(of: /\]\(([^)#]+\.md)/).map { link in
            try String(contentsOf: folder.appending(path: String(link.output.1)), encoding: .utf8)
        }
        var told: Set<String> = []
        for path in ([page] + pages).flatMap({ $0.matches(of: /\/v1\/[A-Za-z0-9_.\/]+/) }) {
            // What names one of many stands in capitals.
            let parts = path.output.split(separator: "/").map { part in
                part.allSatisfy { $0.isUppercase || $0.isNumber } ? "{}" : String(part)
            }
            told.insert("/" + parts.joined(separator: "/"))
        }
        for route in RouteTable.all { #expect(told.contains(route.label), "\(route.method) \(route.path)") }
    }

    @Test("Names in paths and parameters are encoded, so that no name becomes another path")
    func routes() {
        #expect(Route.peers.path("서울/a b", "ping") == "/v1/peers/%EC%84%9C%EC%9A%B8%2Fa%20b/ping")
        #expect(
            Route.events.path(with: [("atomicity", "each"), ("expect", "c&d:3")])
                == "/v1/events?atomicity=each&expect=c%26d%3A3")
        #expect(Route.allCases.allSatisfy { $0.path == "/v1/\($0.rawValue)" })
    }
}
