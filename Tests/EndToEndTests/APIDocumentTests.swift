import CommandLineKit
import Foundation
import SillokAPI
import TestSupport
import Testing

@testable import EventStore

/// The API's document, and what the API answers: both come from one table, and this holds the answers to it.
struct APIDocumentTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")

    @Test(
        "docs/openapi.json is what 'syncd --openapi' prints and GET /v1/openapi.json answers; 'make openapi' writes it"
    )
    func document() throws {
        let process = Process()
        process.executableURL = Programs.folder.appending(path: "syncd")
        process.arguments = ["--openapi"]
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let printed = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        let kept = try Data(contentsOf: Self.root.appending(path: "docs/openapi.json"))
        func object(_ data: Data) throws -> NSDictionary? {
            try JSONSerialization.jsonObject(with: data) as? NSDictionary
        }
        let wanted = try #require(try object(printed))
        #expect(try object(kept) == wanted)
        let daemon = try DaemonProcess("n")
        try daemon.start()
        let answer = try #require(APIClient(socket: daemon.store + "/api.sock").ask("GET", "/v1/openapi.json"))
        #expect(answer.0 == 200 && NSDictionary(dictionary: answer.1.first ?? [:]) == wanted)
    }

    @Test("Each operation stands in the table once, and what is asked with a body has an example of its form")
    func table() throws {
        for operation in SillokAPI.Operation.allCases {
            #expect(RouteTable.all.count(where: { $0.operation == operation }) == 1, "\(operation)")
        }
        let places = RouteTable.all.map { "\($0.method) \($0.path)" }
        #expect(Set(places).count == places.count)
        for route in RouteTable.all {
            #expect(!route.answers.isEmpty && !route.roles.isEmpty, "\(route.operation)")
            guard let request = route.request,
                !["text/plain", "application/octet-stream"].contains(request.mediaType)
            else { continue }
            let bytes = Array(request.example.utf8)
            _ = try JSONObject(validating: bytes)
            let problem = request.schema.problem(JSONValue(bytes: bytes, range: 0..<bytes.count))
            #expect(problem == nil, "\(route.operation): \(problem ?? "")")
        }
        let names = RouteTable.schemas.map(\.0)
        #expect(Set(names).count == names.count)
    }

    @Test("What each route answers has the form that the document gives it; an error is a problem of RFC 9457")
    func answers() throws {
        let daemon = try DaemonProcess("n")
        try daemon.start()
        let api = APIClient(socket: daemon.store + "/api.sock")
        let sample = try String(contentsOf: Self.root.appending(path: "Examples/sample.ndjson"), encoding: .utf8)
        let id = "0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e5f"
        let more = [
            #"{"id":"\#(id)","type":"message.posted","user":"u-1","subject":"conversation/c-1","data":{"text":"안녕"}}"#,
            #"{"type":"message.edited","user":"u-1","subject":"conversation/c-1","data":{"message":"\#(id)","text":"안녕!"}}"#,
            #"{"type":"survey.answered","user":"u-1","data":{"survey":"s","question":"q","choice":"예"}}"#,
            #"{"type":"profile.changed","user":"u-1","data":{"fields":{"name":"김"}}}"#,
        ]
        let appended = try #require(
            api.ask("POST", "/v1/events", body: sample + more.joined(separator: "\n")))
        #expect(appended.0 == 200)
        try check(appended.2, .appendEvents, appended.0)
        let made = try #require(api.ask("PUT", "/v1/subscriptions/m", body: #"{"start":"first"}"#))
        try check(made.2, .putSubscription, made.0)
        let given = try #require(
            api.ask("POST", "/v1/credentials", body: #"{"principal":"auditor/a","roles":["auditor"]}"#))
        try check(given.2, .createCredential, given.0)
        let token = "Authorization: Bearer \(try #require(given.1.first?["token"] as? String))"
        #expect(api.ask("GET", "/v1/users/u-1/history", headers: [token, "Sillok-Reason: 점검"])?.0 == 200)
        let pulled = try #require(api.ask("POST", "/v1/subscriptions/m/pull", body: #"{"max":3}"#))
        try check(pulled.2, .pullDeliveries, pulled.0)
        let values = ["conversation": "c-1", "user": "u-1", "id": id, "survey": "s", "name": "m"]
        var seen = 0
        // Streams do not end, and attachments are bytes.
        let others: [SillokAPI.Operation] = [.streamDeliveries, .getAttachment]
        for route in RouteTable.all where route.method == "GET" && !others.contains(route.operation) {
            var target = route.path
            for (name, value) in values { target = target.replacing("{\(name)}", with: value) }
            if route.operation == .search { target += "?q=%EC%95%88%EB%85%95" }
            let answer = try #require(api.ask("GET", target), "\(target)")
            guard answer.0 != 403 else { continue }
            #expect(answer.0 == 200, "\(target): \(answer)")
            try check(answer.2, route.operation, answer.0)
            seen += answer.1.count
        }
        #expect(seen > 30)
        for (method, target, status) in [
            ("GET", "/v1/events/x", 404), ("PATCH", "/v1/events", 405), ("PUT", "/v1/events", 405),
            ("GET", "/v1/events?limit=0", 400), ("POST", "/v1/wait", 400), ("GET", "/nothing", 404),
        ] {
            let answer = try #require(api.ask(method, target))
            #expect(answer.0 == status, "\(method) \(target): \(answer)")
            let bytes = Array(answer.2.utf8)
            let problem = Schema.ref("Error").problem(JSONValue(bytes: bytes, range: 0..<bytes.count))
            #expect(problem == nil && answer.1.first?["status"] as? Int == status, "\(problem ?? "") \(answer.2)")
        }
    }

    private func check(_ body: String, _ operation: SillokAPI.Operation, _ status: Int) throws {
        let route = try #require(RouteTable.route(operation))
        let answer = try #require(route.answers.first { $0.status == status }, "\(operation) \(status)")
        let schema = try #require(answer.schema)
        for line in body.split(separator: "\n") {
            let bytes = Array(line.utf8)
            _ = try JSONObject(validating: bytes)
            let problem = schema.problem(JSONValue(bytes: bytes, range: 0..<bytes.count))
            #expect(problem == nil, "\(operation): \(problem ?? "") in \(line)")
        }
    }
}
