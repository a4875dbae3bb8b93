internal import CommandLineKit
internal import EventStore
internal import SyncEngine

/// `POST /v1/quarantine/retry`.
extension Service {
    /// Begins to apply the whole log anew; `rebuilding` in the status tells when that is done.
    func retryQuarantine(_ exchange: HTTPExchange) {
        views.rebuild()
        var line = JSONLine(type: "retrying")
        line.add("quarantined", views.quarantined)
        exchange.send(line, status: 202)
    }
}
