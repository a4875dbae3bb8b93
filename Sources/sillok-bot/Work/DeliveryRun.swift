internal import BotKit
internal import CommandLineKit
internal import EventStore
internal import SillokAPI
internal import SillokClient

/// One delivery, from the moment it comes until it is settled: performs what its machine decides, on one thread.
final class DeliveryRun {
    private let api: NodeAPI
    private let model: any Model
    private let stopping: Stopping
    private let withdrawals: Withdrawals
    private let figures: Figures
    private let log: BotLog
    private let delivery: BotDelivery
    private let timeout: UInt64
    private let author: String
    private var machine: ReplyMachine
    /// What is to be done yet.
    private var effects: [ReplyMachine.Effect] = []
    private var lastTime: UInt64 = 0

    init(
        _ delivery: BotDelivery, _ settings: BotSettings, _ api: NodeAPI, _ model: any Model, _ stopping: Stopping,
        _ withdrawals: Withdrawals, _ figures: Figures, _ log: BotLog
    ) {
        (self.delivery, self.api, self.model, self.stopping) = (delivery, api, model, stopping)
        (self.withdrawals, self.figures, self.log) = (withdrawals, figures, log)
        (timeout, author) = (settings.timeout, settings.bot)
        machine = ReplyMachine(settings, delivery, refusals: figures.refusals, now: Self.now)
    }

    private static var now: UInt64 { MonotonicClock.now / 1_000_000 }

    func run() {
        effects = machine.begin()
        while !effects.isEmpty { perform(effects.removeFirst()) }
    }

    private func feed(_ input: ReplyMachine.Input) {
        effects += machine.take(input, now: Self.now, chance: .random(in: 0 ... .max))
    }

    /// Tells the machine the time, and does at once what belongs beside a request that is under way. Whether that goes on.
    private func time() -> Bool {
        if stopping.isAsked { feed(.stops) }
        switch withdrawals.next(of: machine.message) {
        case .cancelled(let author): feed(.cancelled(by: author))
        case .retracted: feed(.retracted)
        case nil: break
        }
        let now = Self.now
        if now >= lastTime + 100 {
            lastTime = now
            feed(.time)
        }
        return performBeside()
    }

    /// Performs effects that need no end of what is under way; the first that does ends it.
    private func performBeside() -> Bool {
        while let effect = effects.first {
            switch effect {
            case .tell, .extend, .note: perform(effects.removeFirst())
            case .hangUp:
                effects.removeFirst()
                return false
            default: return false
            }
        }
        return true
    }

    private func perform(_ effect: ReplyMachine.Effect) {
        switch effect {
        case .read(let query): read(query)
        case .ask(let request): ask(request)
        case .hangUp, .end: break
        case .tell(let number, let text, let conversation, let message):
            tell(number, text, conversation, message)
        case .wait(let milliseconds): wait(milliseconds)
        case .load(let item, let longest): load(item, longest)
        case .keep(let media): keep(media)
        case .append(let lines): append(lines, ack: delivery.token)
        case .record(let lines): append(lines, ack: nil)
        case .ack: settle("ack")
        case .extend: extend()
        case .release(let delay, let error, let isUntried):
            settle("release") { line in
                if let delay { line.add("delay_ms", delay) }
                if isUntried { line.add("untried", true) }
                line.add("error", String(error.prefix(1_000)))
            }
        case .park(let reason):
            log.error("event \(delivery.event.id) is set aside: \(reason)", "E_PARKED")
            settle("park") { $0.add("reason", String(reason.prefix(1_000))) }
        case .note(let note):
            figures.take(note)
            tell(note)
        }
    }

    private func read(_ query: DialogueQuery) {
        do throws(CommandFailure) {
            let found = try api.dialogue(query, of: delivery.event, isRepeated: delivery.attempt > 1)
            feed(found.map { .dialogue($0) } ?? .noDialogue)
        } catch {
            feed(
                stopping.isAsked ? .stops : .refused("the conversation cannot be read: \(error.what) [\(error.code)]")
            )
        }
    }

    private func ask(_ request: ModelRequest) {
        // What was withdrawn since the last step is not asked for.
        guard time() else { return }
        let last = model.ask(request, timeout: timeout) { [self] input in
            feed(input)
            return performBeside()
        } goesOn: { [self] in
            time()
        }
        if let last {
            feed(last)
        } else if effects.isEmpty, !machine.hasEnded {
            feed(.answerFails(ModelFault(.timeout, "no answer in \(timeout / 1_000) s")))
        }
    }

    private func wait(_ milliseconds: UInt64) {
        let end = Self.now + milliseconds
        while !machine.hasEnded, Self.now < end {
            stopping.rest(Int(min(200, end - min(end, Self.now))))
            guard time(), effects.isEmpty else { return }
        }
        feed(.waited)
    }

    private func load(_ item: AttachmentItem, _ longest: Int) {
        switch api.attachment(item, longest: longest, goesOn: { [self] in time() }) {
        case .success(let bytes): feed(.loaded(bytes))
        case .failure(let fault): feed(.loadFails(fault))
        case nil: break
        }
    }

    private func keep(_ media: Media) {
        do throws(CommandFailure) {
            switch try api.keep(
                media,
                meanwhile: {
                    _ = time(); return true
                })
            {
            case .success(let item): feed(.kept(item))
            case .failure(let failure): feed(.refused("\(failure.what) [\(failure.code)]"))
            }
        } catch {
            log.warning("event \(delivery.event.id): the bytes are not kept yet: \(error.what)", error.code)
            effects = []
        }
    }

    private func append(_ lines: [UInt8], ack token: String?) {
        do throws(CommandFailure) {
            switch try api.append(
                lines, ack: token,
                meanwhile: {
                    _ = time(); return true
                })
            {
            case .stored(let isAcked): feed(.stored(isAcked: isAcked))
            case .taken(let byBot): feed(byBot ? .saidBefore : .taken)
            case .refused(let failure): feed(.refused("\(failure.what) [\(failure.code)]"))
            }
        } catch {
            // The program ends, or the token counts no more: what was not acked comes again.
            log.warning("event \(delivery.event.id): the reply is not stored yet: \(error.what)", error.code)
            effects = []
        }
    }

    private func tell(_ number: Int64, _ text: String, _ conversation: String, _ message: EventID) {
        var line = JSONLine()
        line.add("kind", "delta")
        line.add("author", author)
        line.add("in_reply_to", message.description)
        line.add("n", number)
        line.add("text", text)
        let request = ClientRequest(
            method: "POST", target: "/v1/conversations/\(percentEncoded(conversation))/live", body: line.utf8,
            contentType: "application/json", timeout: 1_000)
        // A piece that does not arrive is no harm: the stored reply ends the pieces.
        _ = try? api.once(request)
    }

    private func extend() {
        guard let answer = try? settling("extend", once: true, { _ in }) else { return }
        let error = ErrorAnswer(body: answer.body, status: answer.status)
        if answer.status == 409, error.code == ErrorCode.deliveryStale.rawValue { feed(.lost) }
    }

    private func settle(_ verb: String, _ fill: (inout JSONLine) -> Void = { _ in }) {
        do throws(CommandFailure) {
            let answer = try settling(verb, once: verb == "release", fill)
            guard (200..<300).contains(answer.status) else {
                throw ErrorAnswer(body: answer.body, status: answer.status).failure(status: answer.status)
            }
        } catch {
            log.info(
                "event \(delivery.event.id) is not settled (\(verb)), and comes again: \(error.what)", error.code)
        }
    }

    private func settling(
        _ verb: String, once: Bool, _ fill: (inout JSONLine) -> Void
    ) throws(CommandFailure) -> ClientRequest.Answer {
        var line = JSONLine()
        line.add("deliveries", [delivery.token])
        fill(&line)
        let request = ClientRequest(
            method: "POST", target: Route.subscriptions.path(api.subscription, verb), body: line.utf8,
            contentType: "application/json", timeout: 5_000)
        return once ? try api.once(request) : try api.ask(request, accepting: [404, 409])
    }

    /// What people are told of it. No line has what was said.
    private func tell(_ note: ReplyMachine.Note) {
        let event = delivery.event.id
        switch note {
        case .replied(let milliseconds, let tokens):
            log.info("\(event): answered in \(milliseconds) ms, \(tokens) tokens", "replied")
        case .saidWithoutModel(let what): log.info("\(event): \(what)", "said")
        case .failed(let fault, let attempts):
            // An endpoint's words may have the question in them; the event has them.
            let status = fault.status.map { " \($0)" } ?? ""
            log.warning(
                "\(event): no answer after \(attempts) requests: \(fault.code.rawValue)\(status)", fault.code.rawValue
            )
        case .triesAgain(let fault, let attempt, let pause):
            log.info("\(event): request \(attempt) failed (\(fault.code.rawValue)), again in \(pause) ms", "again")
        case .degraded(let fault, let times):
            guard figures.tellsRefusal(times, Self.now) else { break }
            log.error("nothing is answered until this is mended: \(fault.reason)", fault.code.rawValue)
        case .passedOver(let why): log.info("\(event): passed over: \(why)", "passed-over")
        case .taken:
            log.warning(
                "\(event): someone else's event has the id of the reply; the next one is taken", "E_ID_REUSED")
        case .lost: log.info("\(event): went to another worker", "lost")
        }
    }
}
