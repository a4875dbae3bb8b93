internal import CommandLineKit
internal import EventStore
internal import SillokAPI
internal import SyncEngine

/// `/v1/quarantine`: what views cannot read, and another try.
extension Service {
    /// `GET /v1/quarantine`. Whose events they are is not told: those who may ask read no texts.
    func listQuarantine(_ exchange: HTTPExchange) throws(StoreError) {
        let limit = exchange.request.number("limit") ?? 50
        let after = exchange.request.queryItem("after").flatMap { UInt64($0) } ?? 0
        var body: [UInt8] = []
        try reader.fresh { views throws(StoreError) in
            let entries = try views.quarantine(after: after, limit: limit)
            var count = 0
            for entry in entries {
                guard let event = try views.log.event(at: entry.position) else { continue }
                Self.line(entry, event.event.header).write(to: &body)
                count += 1
            }
            var end = JSONLine(type: "end")
            end.add("count", count)
            end.add("quarantined", try views.quarantined())
            end.write(to: &body)
        }
        exchange.reply(status: 200, contentType: "application/x-ndjson", body: body)
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

    /// Begins to apply the whole log anew; `rebuilding` in the status tells when that is done.
    func retryQuarantine(_ exchange: HTTPExchange) {
        views.rebuild()
        var line = JSONLine(type: "retrying")
        line.add("quarantined", views.quarantined)
        exchange.send(line, status: 202)
    }
}
