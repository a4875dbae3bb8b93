internal import Access
internal import CommandLineKit
internal import EventStore
internal import SillokAPI
internal import SyncEngine

/// `POST /v1/findings`: an operator has dealt with what a notice tells. The body is `{"code":…,"subject":…,"note":…}`; only what
/// is open here can be settled, and the settlement names it.
extension Service {
    /// Longest note, bytes of UTF-8.
    private static let longestNote = 4_096
    /// How long a look at what is settled waits for views that are behind, milliseconds.
    private static let patience = 500

    func settle(_ request: AdmittedRequest) throws(StoreError) {
        let exchange = request.exchange
        guard let object = exchange.object(of: [("code", .text), ("subject", .text), ("note", .text)]) else { return }
        guard let code = object.string("code").flatMap({ NodeNotice.Code(rawValue: $0) }) else {
            let known = NodeNotice.Code.allCases.map(\.rawValue).joined(separator: ", ")
            return exchange.refuse(.parameter, "code: one of \(known)")
        }
        let (subject, note) = (object.string("subject"), object.string("note") ?? "")
        guard note.utf8.count <= Self.longestNote else {
            return exchange.refuse(.parameter, "note: at most \(Self.longestNote) bytes")
        }
        let found = try openNotices().filter { $0.code == code && $0.subject == subject ?? $0.subject }
        guard let notice = found.first else {
            return exchange.refuse(
                .noFinding, "there is no open finding \(code.rawValue) \(subject ?? "")",
                hint: "syncctl doctor lists those that are open")
        }
        guard found.count == 1 else {
            let subjects = found.map(\.subject).joined(separator: ", ")
            return exchange.refuse(.parameter, "subject: one of \(subjects)")
        }
        try settle(notice, note, request)
    }

    private func settle(_ notice: NodeNotice, _ note: String, _ request: AdmittedRequest) throws(StoreError) {
        let exchange = request.exchange
        let code = notice.code.rawValue
        guard let of = notice.of else {
            return exchange.refuse(
                .parameter, "code: \(code) of this node tells of a state, and ends when that does",
                hint: notice.action)
        }
        var draft = Settlement.draft(
            code: code, subject: notice.subject, of: of, note: note, at: store.identity.node)
        draft.actor = request.caller.actor
        guard let receipt = try store.recordBlocking([draft]).first?.receipt else {
            return exchange.refuse(.rejected, "the settlement was not taken")
        }
        try Settlement.keep(code: code, subject: notice.subject, at: receipt.hlc.milliseconds, store.files)
        // What the operator asks next has it.
        _ = views.wait(for: receipt.position, milliseconds: 2_000)
        var line = JSONLine(type: "settled")
        line.add("code", code)
        line.add("subject", notice.subject)
        line.add("position", receipt.position)
        line.add("id", receipt.id.description)
        exchange.send(line, status: 201)
    }

    /// What there is to tell, with what settled it.
    func notices(_ status: NodeStatus) throws(StoreError) -> [(notice: NodeNotice, settlement: Settlement?)] {
        let all =
            status.notices + (witness.withLock { $0 }?.notices ?? [])
            + (replaced.withLock { $0 }?.notices ?? []) + verification.notices(store.files)
            + (try NodeNotice.flagged(LogReader(store.files), wall: WallClock.now)) + (refusal.map { [$0] } ?? [])
        let settlements = try settlements(of: all)
        let notices = all.map { (notice: $0, settlement: $0.settlement(among: settlements)) }
        // Also what another node has settled.
        for case (let notice, let settlement?) in notices {
            try? Settlement.keep(
                code: notice.code.rawValue, subject: notice.subject, at: settlement.at, store.files)
        }
        return notices
    }

    /// Whether one was settled already stands in the views: while they are built anew no one can say.
    private func openNotices() throws(StoreError) -> [NodeNotice] {
        let all = try notices(node.status())
        if views.isRebuilding { throw .busy("the views are built anew; settle it once they stand") }
        return all.filter { $0.settlement == nil }.map(\.notice)
    }

    /// What was settled, for notices that ask for it: looked up only when there is one. While the views are built anew each
    /// counts as open, so that the status of a node can be read at any time.
    private func settlements(of notices: [NodeNotice]) throws(StoreError) -> [Settlement] {
        guard notices.contains(where: { $0.of != nil }) else { return [] }
        // After a start the views may lack the newest events for a moment, and with them what settled a notice.
        if !views.isRebuilding { _ = views.wait(for: views.top, milliseconds: Self.patience) }
        do throws(StoreError) {
            return try Settlement.all(in: ViewReader(store.files, tails: views.tails))
        } catch .busy {
            return []
        }
    }
}
