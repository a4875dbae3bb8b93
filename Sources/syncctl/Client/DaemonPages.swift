internal import CommandLineKit
internal import EventStore
internal import SillokAPI
internal import SillokClient

/// The pages of a running daemon's answers (docs/operating/api.md, "Reading").
struct DaemonPages {
    let client: DaemonClient
    private static let longest = 500

    /// Calls `body` with the lines of the answer, at most `limit`. False where the daemon cannot begin to answer now: the store's files
    /// have the same, and tell how far their views are.
    ///
    /// - Parameter ended: Given the last line of each page.
    func lines(
        _ route: ReadRoute, _ parameters: [(name: String, value: String)], limit: Int,
        ended: (JSONObject) -> Void = { _ in }, _ body: (JSONObject) throws(CommandFailure) -> Void
    ) throws(CommandFailure) -> Bool {
        var left = limit
        var next: String?
        repeat {
            var query = parameters
            if route.isPaged { query.append(("limit", String(min(left, Self.longest)))) }
            if let next { query.append(("cursor", next)) }
            let request = ClientRequest(target: route.path(with: query))
            let answer: ClientRequest.Answer
            // Of another node there are no files to read instead, and of what is missing there is nothing to show.
            if next == nil, client.place.isNamed {
                answer = try client.ask(request, accepting: [404])
                if ErrorAnswer(body: answer.body, status: 404).code == "E_NOT_FOUND", answer.status == 404 {
                    return true
                }
            } else if next == nil {
                guard let first = try? request.send(to: client.place), first.status == 200 else { return false }
                answer = first
            } else {
                answer = try client.ask(request)
            }
            let page = try Page(answer.body)
            for line in page.lines {
                try body(line)
                left -= 1
            }
            ended(page.end)
            next = page.next
        } while next != nil && left > 0
        return true
    }

    private struct Page {
        var lines: [JSONObject]
        let end: JSONObject
        /// The cursor of the page behind it, if there is one.
        let next: String?

        init(_ body: [UInt8]) throws(CommandFailure) {
            lines = body.split(separator: UInt8(ascii: "\n")).map { JSONObject(validated: Array($0)) }
            guard let end = lines.popLast(), end.string("type") == "end" else {
                throw DaemonClient.misunderstood("no end line")
            }
            self.end = end
            next = end.bool("more") == true ? end.string("next") : nil
        }
    }
}
