internal import CommandLineKit
internal import EventStore
internal import SillokAPI
internal import SillokClient

extension DaemonClient {
    /// Longest body of one request: the daemon takes 1 MiB.
    private static let longestBody = 900 << 10

    /// Appends through the daemon, in as many requests as the drafts need; with `expecting` there must be one draft.
    func append(
        _ drafts: [EventDraft], expecting: String? = nil, isImport: Bool = false
    ) throws(CommandFailure) -> [AppendedLine] {
        let conditions = expecting.map { [("expect", $0)] } ?? (isImport ? [("ids", "derived")] : [])
        var results: [AppendedLine] = []
        var body: [UInt8] = []
        var count = 0
        for draft in drafts {
            let line = draft.nativeLine
            if !body.isEmpty, body.count + line.count > Self.longestBody {
                results += try post(body, count, conditions)
                (body, count) = ([], 0)
            }
            body += line
            count += 1
        }
        if count > 0 { results += try post(body, count, conditions) }
        return results
    }

    private func post(
        _ body: [UInt8], _ count: Int, _ conditions: [(String, String)]
    ) throws(CommandFailure) -> [AppendedLine] {
        let query = [("atomicity", "each")] + conditions
        let request = ClientRequest(method: "POST", target: Route.events.path(with: query), body: body)
        // Of a request of which nothing was stored each line says why.
        let answer = try ask(request, accepting: [403, 409, 422])
        var results: [AppendedLine] = []
        for line in answer.body.split(separator: UInt8(ascii: "\n")) {
            switch AppendedLine.read(Array(line)) {
            case .line(let result): results.append(result)
            case .end: break
            case .error(let error): throw error.failure(status: 500)
            case .unknown(let what):
                // Something between the daemon and us may answer, too: by the status alone.
                throw (200..<300).contains(answer.status) ? Self.misunderstood(what) : failure(answer)
            }
        }
        guard results.count == count else {
            throw Self.misunderstood("\(results.count) answers to \(count) events")
        }
        return results
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
        line.addRaw("data", payload[...])
        return line.utf8 + [UInt8(ascii: "\n")]
    }
}
