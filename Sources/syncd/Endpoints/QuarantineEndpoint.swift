internal import CommandLineKit
internal import EventStore
internal import SillokAPI
internal import SyncEngine

/// `/v1/quarantine`: what views cannot read, and another try; `/v1/forks`.
extension Service {
    /// `GET /v1/quarantine`. Whose events they are is not told: those who may ask read no texts.
    func listQuarantine(_ exchange: HTTPExchange) throws(StoreError) {
        let limit = exchange.request.number("limit") ?? 50
        let parameters = ["cursor", "after"].compactMap { exchange.request.queryItem($0) }
        guard parameters.count <= 1 else {
            return exchange.refuse(.parameter, "cursor and after do not go together", hint: "one of them")
        }
        let after = parameters.first.map { UInt64($0) } ?? 0
        guard let after, after <= UInt64(Int64.max) else {
            return exchange.refuse(
                .parameter, "cursor: none of this list", hint: "the text of 'next' from the page before")
        }
        var body: [UInt8] = []
        try reader.fresh { views throws(StoreError) in
            body = []
            // One more than is told says whether there are more.
            let entries = try views.quarantine(after: after, limit: limit + 1)
            let positions = Set(entries.map(\.position)).sorted()
            let told = positions.prefix(limit)
            var count = 0
            for entry in entries where told.last.map({ entry.position <= $0 }) ?? false {
                guard let event = try views.log.event(at: entry.position) else { continue }
                Self.line(entry, event.event.header).write(to: &body)
                count += 1
            }
            let hasMore = positions.count > limit
            var end = JSONLine(type: "end")
            end.add("count", count)
            end.add("quarantined", try views.quarantined())
            end.add("more", hasMore)
            if hasMore, let last = told.last { end.add("next", String(last)) }
            end.write(to: &body)
        }
        exchange.send(lines: body)
    }

    private static func line(_ entry: QuarantinedEvent, _ header: EventHeader) -> JSONLine {
        var line = JSONLine(type: "quarantined")
        line.add("position", entry.position)
        line.add("origin", header.dot.origin.description)
        line.add("sequence", header.dot.seq)
        line.add("id", header.isOpaque ? nil : header.id.description)
        line.add("event_type", header.isOpaque ? nil : header.type)
        line.add("view", entry.view)
        line.add("reason", entry.reason)
        return line
    }

    /// `GET /v1/forks`.
    func listForks(_ exchange: HTTPExchange) throws(StoreError) {
        guard let page = exchange.listPage() else { return }
        let forks = try LogReader(store.files).forkLines(store.files)
        exchange.send(lines: try page.body(forks, key: \.name) { $0.line })
    }

    /// Begins to apply the whole log anew; `rebuilding` in the status tells when that is done.
    func retryQuarantine(_ exchange: HTTPExchange) {
        views.rebuild()
        var line = JSONLine(type: "retrying")
        line.add("quarantined", views.quarantined)
        exchange.send(line, status: 202)
    }
}
