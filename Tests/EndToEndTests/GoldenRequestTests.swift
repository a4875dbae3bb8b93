import Foundation
import TestSupport
import Testing

/// Requests as clients of a version send them, and the form of what they got: later versions answer them so, too. An answer may have more
/// members, and not fewer or others. The file grows with the API and keeps what it has: SILLOK_WRITE_GOLDEN=1 adds answers that are missing.
@Suite(.serialized)
struct GoldenRequestTests {
    private struct Golden: Codable {
        let method: String
        let target: String
        var body: String?
        /// An answer may be 200 or 201 again only as it was.
        var status: Int?
        /// The form of each line of the answer.
        var lines: [String]?
    }

    private static let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(
        path: "../Golden/requests.json")

    /// The form of a JSON value: types for values, members by name.
    private static func form(_ value: Any) -> Any {
        switch value {
        case let object as [String: Any]: object.mapValues(form)
        case let list as [Any]: list.first.map { [form($0)] } ?? []
        case is String: "text"
        case let number as NSNumber: String(cString: number.objCType) == "c" ? "boolean" : "number"
        default: "null"
        }
    }

    /// Why `form` is not that of `golden`; `nil` if it is.
    private static func difference(_ golden: Any, _ form: Any, at path: String = "") -> String? {
        switch (golden, form) {
        case (let golden as [String: Any], let form as [String: Any]):
            for (name, wanted) in golden.sorted(by: { $0.key < $1.key }) {
                guard let found = form[name] else { return "\(path).\(name) is missing" }
                if let difference = difference(wanted, found, at: "\(path).\(name)") { return difference }
            }
            return nil
        case (let golden as [Any], let form as [Any]):
            guard let wanted = golden.first, let found = form.first else { return nil }
            return difference(wanted, found, at: "\(path)[0]")
        case (let golden as String, let form as String):
            return golden == form || golden == "null" ? nil : "\(path) is \(form), not \(golden)"
        case ("null" as String, _): return nil
        default: return "\(path) is of another form"
        }
    }

    private static func text(_ form: Any) throws -> String {
        String(
            decoding: try JSONSerialization.data(withJSONObject: form, options: [.sortedKeys, .fragmentsAllowed]),
            as: UTF8.self)
    }

    @Test("Requests of earlier versions get answers of the form that they got")
    func requests() throws {
        let daemon = try DaemonProcess("n")
        try daemon.start()
        let api = APIClient(socket: daemon.store + "/api.sock")
        var golden = try JSONDecoder().decode([Golden].self, from: Data(contentsOf: Self.file))
        #expect(golden.count >= 40)
        for (index, one) in golden.enumerated() {
            let answer = try #require(api.ask(one.method, one.target, body: one.body ?? ""), "\(one.target)")
            let forms = answer.1.map(Self.form)
            guard let status = one.status, let lines = one.lines else {
                golden[index].status = answer.0
                golden[index].lines = try forms.map(Self.text)
                continue
            }
            #expect(answer.0 == status, "\(one.method) \(one.target): \(answer.2.prefix(300))")
            #expect(forms.count == lines.count, "\(one.method) \(one.target): \(answer.2.prefix(300))")
            for (line, form) in zip(lines, forms) {
                let wanted = try JSONSerialization.jsonObject(with: Data(line.utf8), options: .fragmentsAllowed)
                let difference = Self.difference(wanted, form)
                #expect(difference == nil, "\(one.method) \(one.target): \(difference ?? "")")
            }
        }
        if ProcessInfo.processInfo.environment["SILLOK_WRITE_GOLDEN"] == "1" {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            try encoder.encode(golden).write(to: Self.file)
        } else {
            #expect(golden.allSatisfy { $0.status != nil }, "SILLOK_WRITE_GOLDEN=1 writes what is missing")
        }
        #expect(Self.difference(["a": ["b": "text"]], ["a": ["b": "number"]]) != nil)
        #expect(Self.difference(["a": "text"], ["b": "text"]) != nil)
        #expect(Self.difference(["a": "text"], ["a": "text", "b": "text"]) == nil)
    }
}
