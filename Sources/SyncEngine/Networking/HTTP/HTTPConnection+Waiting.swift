// The place of a connection: for how long it has been of no use, and that of one whose client waits for what comes.
extension HTTPConnection {
    /// When the request began that is not whole; `nil` if there is none.
    var unfinishedSince: UInt64? { if case .reading = phase { begun } else { nil } }

    /// Since when a client has taken nothing of what waits for it; `nil` if nothing waits.
    var untakenSince: UInt64? { outputLength > 0 ? lastProgress : nil }

    /// Since when the client has asked for nothing; `nil` if it has.
    var idleSince: UInt64? { if case .reading = phase, begun == nil { lastProgress } else { nil } }

    /// Who has its place among those who wait: the client, where it was not found out who asks.
    var waiter: HTTPCaller {
        caller ?? HTTPCaller(peer?.principal ?? address ?? "")
    }

    /// A place to wait in; false: there is none, and `transaction` has been answered.
    func waits(_ transaction: HTTPTransaction) -> Bool {
        if server.takesWaiting(self) { return true }
        server.usage.change { $0.refused += 1 }
        transaction.refuse(
            503, "no place is left for streams and requests that wait", headers: [HTTPField("Retry-After", "1")])
        return false
    }

    /// Another caller, who has fewer, needs the place.
    func giveWay() {
        server.usage.change { $0.crowdedOut += 1 }
        if case .answering(let transaction) = phase { transaction.giveWay() } else { close() }
    }
}
