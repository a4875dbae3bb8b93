internal import CommandLineKit
internal import EventStore
internal import SillokAPI
internal import SillokClient

/// The pages of a running daemon's answers (docs/operating/api.md, "Reading").
struct DaemonPages {
    let client: DaemonClient
    /// Of the daemon here: whether it has not answered in time, and is not asked again.
    private let isSilent = Lock(false)
    private static let longest = 500
    /// So many seconds without a byte are waited for, of each page. No answer takes longer to begin.
    private static let patience = 10

    init(client: DaemonClient) { self.client = client }

    /// Calls `body` with the lines of the answer, at most `limit`. False where the daemon cannot begin to answer now: the store's files
    /// have the same, and tell how far their views are.
    ///
    /// - Parameters:
    ///   - hasFiles: Whether the files of a store here tell it, too.
    ///   - ended: Given the last line of each page; says whether the next one is wanted.
    func lines(
        _ route: ReadRoute, _ parameters: [(name: String, value: String)], limit: Int, hasFiles: Bool = true,
        ended: (JSONObject) -> Bool = { _ in true }, _ body: (JSONObject) throws(CommandFailure) -> Void
    ) throws(CommandFailure) -> Bool {
        var left = limit
        var next: String?
        var goesOn = true
        repeat {
            var query = parameters
            if route.isPaged { query.append(("limit", String(min(left, Self.longest)))) }
            if let next { query.append(("cursor", next)) }
            var request = ClientRequest(target: route.path(with: query))
            request.silence = Self.patience
            let answer: ClientRequest.Answer
            // Of another node there are no files to read instead, and of what is missing there is nothing to show.
            if next == nil, client.place.isNamed || !hasFiles {
                answer = try client.ask(request, accepting: [404])
                if ErrorAnswer(body: answer.body, status: 404).code == "E_NOT_FOUND", answer.status == 404 {
                    return true
                }
            } else if next == nil {
                guard let first = hurried(request), first.status == 200 else { return false }
                answer = first
            } else {
                answer = try client.ask(request)
            }
            let page = try Page(answer.body)
            for line in page.lines {
                try body(line)
                left -= 1
            }
            goesOn = ended(page.end)
            next = page.next
        } while next != nil && left > 0 && goesOn
        return true
    }

    /// What a daemon answers that is not waited for longer than it takes to see that it does not.
    private func hurried(_ request: ClientRequest) -> ClientRequest.Answer? {
        if isSilent.withLock(\.self) { return nil }
        do throws(ClientRequest.Failure) {
            return try request.send(to: client.place)
        } catch {
            if error.isTimeout { isSilent.withLock { $0 = true } }
            return nil
        }
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
