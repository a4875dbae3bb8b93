package import EventStore

/// Payloads that are missing here and asked of the peer, and those the peer asks for.
struct HealingState: Sendable {
    /// To be asked for.
    var wanted: [Dot] = []
    /// What the question under way is for.
    var asked: [Dot]?
    /// Bytes of the answer that is being stored.
    var storing = 0
    /// What the peer has asked for and has no answer to yet.
    var question: [Dot]?
    /// Whether its answer is being read.
    var isAnswering = false
}

// An event that came without its payload, which nothing has erased, gets it from a peer that has it whole.
extension SyncSession {
    /// From the shell: these events are here without their payloads. Replaces what it said before.
    package mutating func lacksPayloads(_ dots: [Dot], now: Moment, effects: inout [SessionEffect]) {
        guard case .open(let hello, _, _) = state, speaks(.payloads, hello) else { return }
        healing.wanted = dots
        askForPayloads(now: now, &effects)
    }

    private mutating func askForPayloads(now: Moment, _ effects: inout [SessionEffect]) {
        guard healing.asked == nil, healing.storing == 0, !healing.wanted.isEmpty else { return }
        let dots = Array(healing.wanted.prefix(WireLimits.payloadsAsked))
        healing.wanted.removeFirst(dots.count)
        healing.asked = dots
        send(.payloadAsk(PayloadAsk(dots: dots)), now: now, &effects)
    }

    /// The answer to the question under way.
    mutating func payloadsTold(_ told: PayloadTold, bytes: Int, now: Moment, _ effects: inout [SessionEffect]) {
        guard let asked = healing.asked, told.payloads.allSatisfy({ asked.contains($0.dot) }) else {
            return fail(SessionFailure(.badFrame, "payloads that nobody asked for"), now: now, &effects)
        }
        healing.asked = nil
        guard !told.payloads.isEmpty else {
            send(.credit(UInt64(bytes)), now: now, &effects)
            return askForPayloads(now: now, &effects)
        }
        // There may have been no room for the others.
        let came = Set(told.payloads.map(\.dot))
        healing.wanted = asked.filter { !came.contains($0) } + healing.wanted
        healing.storing = bytes
        inspect(.heal(told.payloads), for: .healing, &effects)
    }

    /// Those payloads are durable, or were not the right ones.
    mutating func healed(_ dots: [Dot], now: Moment, _ effects: inout [SessionEffect]) {
        news.healed += dots
        send(.credit(UInt64(healing.storing)), now: now, &effects)
        healing.storing = 0
        askForPayloads(now: now, &effects)
    }

    // MARK: Answering

    mutating func payloadsAsked(_ ask: PayloadAsk, now: Moment, _ effects: inout [SessionEffect]) {
        guard healing.question == nil else {
            return fail(SessionFailure(.rateLimited, "two questions for payloads at once"), now: now, &effects)
        }
        healing.question = ask.dots
        answerForPayloads(&effects)
    }

    /// Answers as soon as the peer has room: a long answer for a short question counts as events do.
    mutating func answerForPayloads(_ effects: inout [SessionEffect]) {
        guard case .open(let hello, let outgoing, _) = state, let dots = healing.question, !healing.isAnswering,
            outgoing.credit > 0
        else { return }
        healing.isAnswering = true
        let limits = hello.limits
        inspect(
            .payloads(dots, bytes: min(Int(limits.maxBody), 1 << 20), longest: Int(limits.maxPayload)),
            for: .payloads, &effects)
    }

    mutating func payloadsFound(_ payloads: [CarriedPayload], now: Moment, _ effects: inout [SessionEffect]) {
        healing.question = nil
        healing.isAnswering = false
        let frame = Message.payloadTold(PayloadTold(payloads: payloads)).frame(compress: false)
        updateOpen { _, outgoing, _ in outgoing.credit -= Int64(frame.count) }
        lastSent = now.monotonic
        effects.append(.send(frame, .data))
    }
}
