internal import Access
internal import CommandLineKit
internal import EventStore
internal import SillokAPI
internal import SyncEngine

/// `/v1/erasures`: what was erased and how far that is, and orders to erase.
extension Service {
    /// `GET /v1/erasures`.
    func listErasures(_ exchange: HTTPExchange) throws(StoreError) {
        guard let page = exchange.listPage() else { return }
        let log = try LogReader(store.files)
        let hasViews = try store.files.hasCurrentViews(log)
        let reports = try log.erasureReports()
        let body = try page.body(reports, isDescending: true, key: { ListPage.key($0.stored.position) }) { report in
            ErasureLines.line(report, hasViews: hasViews)
        }
        exchange.send(lines: body)
    }

    /// `POST /v1/erasures`. Reads the headers of the whole log for the plan.
    func erase(_ request: AdmittedRequest) throws(StoreError) {
        let exchange = request.exchange
        guard let object = exchange.object() else { return }
        let order: ErasureOrder
        do throws(OrderProblem) { order = try ErasureOrder(object) } catch {
            return exchange.refuse(.parameter, error.text)
        }
        let plan = try ErasurePlan(order.target, try LogReader(store.files))
        guard plan.missing.isEmpty else {
            let ids = plan.missing.map(\.description).joined(separator: ", ")
            return exchange.refuse(.notFound, "no event that can be erased has the id \(ids)")
        }
        if object.bool("dry_run") ?? false { return tell(plan, exchange) }
        guard !plan.isEmpty else {
            return exchange.refuse(
                .notFound,
                plan.gone > 0 ? "all \(plan.gone) events of it are erased already" : "there is nothing of it to erase"
            )
        }
        if let seen = order.plan, seen != plan.fingerprint {
            return exchange.refuse(
                .planChanged, "the log has changed since the plan was made: other events would go",
                hint: "look at a new plan, and confirm that one")
        }
        let undecided = order.undecided(plan).map(\.rawValue)
        guard undecided.isEmpty else {
            return exchange.refuse(
                .parameter,
                "\(undecided.joined(separator: ", ")): there are such events; true erases them, false keeps them")
        }
        let author = request.caller.actor.principal
        let outcomes = try store.eraseBlocking(order.erasures(plan), author: author, actor: request.caller.actor)
        let receipts = outcomes.compactMap(\.receipt)
        guard receipts.count == outcomes.count, let first = receipts.first else {
            return exchange.refuse(.rejected, "the erasure was not taken")
        }
        var line = JSONLine(type: "erasing")
        line.add("event", first.id.description)
        line.add("position", first.position)
        line.add("events", receipts.count)
        line.add("plan", plan.fingerprint)
        exchange.send(line, status: 202)
    }

    private func tell(_ plan: ErasurePlan, _ exchange: HTTPExchange) {
        let lines = ErasureLines.lines(plan)
        var body: [UInt8] = []
        for line in lines { line.write(to: &body) }
        var end = JSONLine(type: "end")
        end.add("count", lines.count)
        end.add("plan", plan.fingerprint)
        end.write(to: &body)
        exchange.send(lines: body)
    }
}
