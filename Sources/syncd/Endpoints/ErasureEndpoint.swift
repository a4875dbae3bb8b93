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
        let hasViews = try store.files.areCleared(log)
        let reports = try log.erasureReports()
        let body = try page.body(reports, isDescending: true, key: { ListPage.key($0.stored.position) }) { report in
            ErasureLines.line(report, hasViews: hasViews)
        }
        exchange.send(lines: body)
    }

    /// `POST /v1/erasures`.
    func erase(_ request: AdmittedRequest) throws(StoreError) {
        let exchange = request.exchange
        guard let object = exchange.object() else { return }
        let order: ErasureOrder
        do throws(OrderProblem) { order = try ErasureOrder(object) } catch {
            return exchange.refuse(.parameter, error.text)
        }
        try erase(order, isDry: object.bool("dry_run") ?? false, request)
    }

    /// `POST /v1/users/{user}/erasure`: their own history, and what they have written in those of others. It is seen as a plan first, and the
    /// plan that was seen is confirmed. What others said in reply to them stays: it is the others' own.
    func eraseOwn(_ request: AdmittedRequest, _ user: String) throws(StoreError) {
        let (exchange, caller) = (request.exchange, request.caller)
        guard live.current.users.eraseOwn else {
            return exchange.refuse(
                .role, "users do not erase here: the node's users.erase_own is false", hint: "ask an admin")
        }
        guard caller.isUser(user) else {
            return exchange.refuse(.author, "\(user) is another one than the token is for")
        }
        guard let object = exchange.object(only: ["dry_run", "plan", "up_to"]) else { return }
        let isDry = object.bool("dry_run") ?? false
        guard isDry || object.string("plan") != nil else {
            return exchange.refuse(.parameter, "plan: which one is confirmed", hint: "dry_run: true gives one")
        }
        // A plan reads the headers of the whole log.
        guard ownErasures.withLock({ $0.take(user, now: MonotonicClock.now) }) else {
            return exchange.refuse(
                .rate, "too many erasures are asked for", hint: "again in a minute",
                headers: [HTTPField("Retry-After", "60")])
        }
        var order = ErasureOrder(
            target: .user(user), authored: true, replies: false, reason: "asked for by the user",
            who: caller.actor.principal)
        order.shared = false
        order.plan = object.string("plan")
        do throws(OrderProblem) { order.reach = try ErasureOrder.reach(object) } catch {
            return exchange.refuse(.parameter, error.text)
        }
        try erase(order, isDry: isDry, request)
    }

    /// Reads the headers of the whole log for the plan.
    private func erase(_ order: ErasureOrder, isDry: Bool, _ request: AdmittedRequest) throws(StoreError) {
        let exchange = request.exchange
        let seen = order.plan.flatMap { ErasurePlan.Seen(text: $0) }
        // What is no plan of this release is looked at as one that holds no more.
        let plan = try ErasurePlan(order.target, try LogReader(store.files), upTo: seen?.vector, at: seen?.moment)
        guard plan.missing.isEmpty else {
            let ids = plan.missing.map(\.description).joined(separator: ", ")
            return exchange.refuse(.notFound, "no event that can be erased has the id \(ids)")
        }
        if isDry { return tell(plan, exchange) }
        guard order.holds(plan) else { return changed(exchange) }
        guard !plan.isEmpty(order.reach, withShared: order.shared != false) else {
            return exchange.refuse(
                .notFound,
                plan.gone > 0 ? "all \(plan.gone) events of it are erased already" : "there is nothing of it to erase"
            )
        }
        let undecided = order.undecided(plan).map(\.rawValue)
        guard undecided.isEmpty else {
            return exchange.refuse(
                .parameter,
                "\(undecided.joined(separator: ", ")): there are such events; true erases them, false keeps them")
        }
        guard let erasures = order.erasures(plan) else { return changed(exchange) }
        let author = request.caller.actor.principal
        let recorded = try store.eraseBlocking(
            erasures, author: author, actor: request.caller.actor, planned: plan.top)
        guard let outcomes = recorded else { return changed(exchange) }
        let receipts = outcomes.compactMap(\.receipt)
        guard receipts.count == outcomes.count, let first = receipts.first else {
            return exchange.refuse(.rejected, "the erasure was not taken")
        }
        var line = JSONLine(type: "erasing")
        line.add("event", first.id.description)
        line.add("position", first.position)
        line.add("events", receipts.count)
        line.add("plan", plan.seen.text)
        line.add(order.laterName, order.later(plan))
        exchange.send(line, status: 202)
    }

    private func changed(_ exchange: HTTPExchange) {
        exchange.refuse(
            .planChanged,
            "what the plan lists is not what is here: it is a plan of another id, some of it is erased, or older events have come",
            hint: "look at a new plan, and confirm that one")
    }

    /// `GET /v1/users` of a user: refused where the node does not let users list others.
    func mayList(_ request: AdmittedRequest) -> Bool {
        if request.caller.readsAll || live.current.users.listed { return true }
        request.exchange.refuse(
            .role, "users do not list others here: the node's users.listed is false", hint: "a contact by its id")
        return false
    }

    private func tell(_ plan: ErasurePlan, _ exchange: HTTPExchange) {
        let lines = ErasureLines.lines(plan)
        var body: [UInt8] = []
        for line in lines { line.write(to: &body) }
        var end = JSONLine(type: "end")
        end.add("count", lines.count)
        end.add("plan", plan.seen.text)
        end.write(to: &body)
        exchange.send(lines: body)
    }
}

/// Who has asked to erase what is theirs in the last minute: few, for each of them reads the log.
struct OwnErasures {
    private static let (mostOfAll, mostOfOne) = (20, 4)
    private static let minute: UInt64 = 60_000_000_000
    private var recent: [(user: String, at: UInt64)] = []

    /// - Parameter now: Monotonic nanoseconds.
    mutating func take(_ user: String, now: UInt64) -> Bool {
        recent.removeAll { $0.at + Self.minute <= now }
        guard recent.count < Self.mostOfAll, recent.count(where: { $0.user.hasSameBytes(as: user) }) < Self.mostOfOne
        else { return false }
        recent.append((user, now))
        return true
    }
}
