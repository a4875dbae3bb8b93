internal import CommandLineKit
internal import EventStore

extension DaemonClient {
    /// Longest body of one request: the daemon takes 1 MiB.
    private static let longestBody = 900 << 10

    /// Appends through the daemon, in as many requests as the drafts need; with `expecting` there must be one draft.
    func append(_ drafts: [EventDraft], expecting: String? = nil) throws(CommandFailure) -> [AppendResult] {
        var results: [AppendResult] = []
        var body: [UInt8] = []
        var count = 0
        for draft in drafts {
            let line = draft.nativeLine
            if !body.isEmpty, body.count + line.count > Self.longestBody {
                results += try post(body, count, expecting)
                (body, count) = ([], 0)
            }
            body += line
            count += 1
        }
        if count > 0 { results += try post(body, count, expecting) }
        return results
    }

    private func post(
        _ body: [UInt8], _ count: Int, _ expecting: String?
    ) throws(CommandFailure) -> [AppendResult] {
        let condition = expecting.map { "&expect=" + percentEncoded($0) } ?? ""
        let request = HTTPRequest(method: "POST", target: "/v1/events?atomicity=each" + condition, body: body)
        // Of a request of which nothing was stored each line says why.
        let answer = try ask(request, accepting: [409, 422])
        var results: [AppendResult] = []
        for line in answer.body.split(separator: UInt8(ascii: "\n")) {
            if let result = try Self.result(Array(line)) { results.append(result) }
        }
        guard results.count == count else {
            throw Self.misunderstood("\(results.count) answers to \(count) events")
        }
        return results
    }

    /// Reads one line of the answer; `nil` for the final line.
    private static func result(_ line: [UInt8]) throws(CommandFailure) -> AppendResult? {
        guard let object = try? JSONObject(validating: line), let type = object.string("type") else {
            throw misunderstood("a line that is no JSON object")
        }
        func place() throws(CommandFailure) -> AppendResult.Place {
            guard let position = count(object, "position"), let id = object.string("id"),
                let origin = object.string("origin"), let sequence = count(object, "sequence"),
                let hlc = object.string("hlc")
            else { throw misunderstood("a receipt without a place") }
            return .told(PlaceTexts(position: position, id: id, origin: origin, sequence: sequence, hlc: hlc))
        }
        switch type {
        case "appended": return .appended(try place())
        case "already": return .already(try place())
        case "rejected":
            return .rejected(code: object.string("code") ?? "E_REJECTED", message: object.string("message") ?? "")
        case "end": return nil
        case "error":
            throw CommandFailure(
                code: object.string("code") ?? "E_DAEMON", object.string("message") ?? "syncd failed",
                hint: object.string("hint"), exitCode: .ioError)
        default: throw misunderstood("a line of type '\(type)'")
        }
    }

    private static func count(_ object: JSONObject, _ name: String) -> UInt64? {
        object.integer(name).flatMap { UInt64(exactly: $0) }
    }

    static func misunderstood(_ what: String) -> CommandFailure {
        CommandFailure(
            code: "E_PROTOCOL", "syncd's answer is not understood: \(what)",
            hint: "syncctl and syncd of the same release", exitCode: .versionMismatch)
    }
}

extension EventDraft {
    /// The native NDJSON line of the draft, with its newline.
    var nativeLine: [UInt8] {
        var line = JSONLine()
        line.add("specversion", "1.0")
        if let id { line.add("id", id.description) }
        line.add("type", type)
        if let time { line.add("time", Timestamp.text(time)) }
        if let conversation { line.add("subject", "conversation/" + conversation) }
        line.add("user", user)
        if let author { line.add("author", author) }
        if let cause { line.add("cause", cause.description) }
        if version != 1 { line.add("dataversion", version) }
        line.addRaw("data", payload)
        return line.utf8 + [UInt8(ascii: "\n")]
    }
}
