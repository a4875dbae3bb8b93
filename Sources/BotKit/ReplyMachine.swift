internal import CommandLineKit
package import EventStore

/// One delivery of a bot's subscription, from the moment it comes until it is settled: facts in, effects out.
///
/// It has no clock, no randomness and no network. The shell performs the effects in order and tells what came of each of them;
/// while a request is under way, or a pause lasts, it is told the time now and then (``Input/time``).
package struct ReplyMachine: Sendable {
    /// What happened.
    package enum Input: Sendable {
        case dialogue(Dialogue)
        /// There is no such message, or it cannot be seen.
        case noDialogue
        /// The answer begins, with a status of 200 to 299.
        case answerBegins(contentType: String?)
        case piece([UInt8])
        case answerEnds
        case answerFails(ModelFault)
        /// The bytes of an attachment.
        case loaded([UInt8])
        case loadFails(ModelFault)
        /// The node has the bytes.
        case kept(AttachmentItem)
        /// The pause is over.
        case waited
        /// The events are stored, and perhaps the delivery is acked.
        case stored(isAcked: Bool)
        /// Another worker has said something else in their place before.
        case saidBefore
        /// An event that is no answer of this bot has one of their ids.
        case taken
        /// The node does not take them, and never will.
        case refused(String)
        /// The delivery was given to another worker.
        case lost
        /// Someone wants no answer any more.
        case cancelled(by: String)
        /// Someone has taken the message back, as it seems.
        case retracted
        /// The program ends.
        case stops
        case time
    }

    /// What is to be done.
    package enum Effect: Sendable, Equatable {
        case read(DialogueQuery)
        case ask(ModelRequest)
        /// The bytes of an attachment; no more of them than so many.
        case load(AttachmentItem, longest: Int)
        /// Bytes that an event will name.
        case keep(Media)
        /// The request is given up.
        case hangUp
        /// A piece of the reply, for those who follow the conversation.
        case tell(number: Int64, text: String, conversation: String, message: EventID)
        /// A pause, in milliseconds.
        case wait(UInt64)
        /// Native lines, all or none; the delivery is acked with them.
        case append([UInt8])
        /// Native lines, all or none; the work goes on.
        case record([UInt8])
        case ack
        case extend
        /// - Parameter isUntried: The reason is none of the message's: that was no attempt.
        case release(delay: UInt64?, error: String, isUntried: Bool)
        case park(reason: String)
        case note(Note)
        case end
    }

    /// What a log and figures tell of it.
    package enum Note: Sendable, Equatable {
        case replied(milliseconds: UInt64, tokens: Int64)
        case saidWithoutModel(String)
        case failed(ModelFault, attempts: Int)
        case triesAgain(ModelFault, attempt: Int, pause: UInt64)
        /// Nothing is answered until an operator mends it: so often in a row the endpoint has said so.
        case degraded(ModelFault, times: Int)
        case passedOver(String)
        /// Someone else's event has an id that the reply would have had.
        case taken
        case lost
    }

    enum State {
        case reading, loading, asking, recording, pausing, keeping, storing, ended

        /// Whether what is being made is not stored, so that it may be given up.
        var isOpen: Bool {
            self == .loading || self == .asking || self == .recording || self == .pausing || self == .keeping
        }
    }

    /// What is being made of the message, with what there is of it so far.
    enum Work {
        case loading(AttachmentItem)
        case hearing(AttachmentItem, [UInt8])
        case answering
        case speaking(Answered)
        case drawing
        case fetching(DrawnPicture, address: String, attempt: Int)
        /// Its bytes are on their way to the node.
        case showing(DrawnPicture, attempt: Int)

        /// Whether there is something that the model would be asked for once more.
        var isPaid: Bool {
            switch self {
            case .speaking, .fetching, .showing: true
            case .loading, .hearing, .answering, .drawing: false
            }
        }

        /// As `bot.failed` says it.
        var step: String {
            switch self {
            case .loading, .hearing: "transcribe"
            case .answering: "answer"
            case .speaking: "speak"
            case .drawing, .showing: "draw"
            case .fetching: "fetch"
            }
        }
    }

    /// A text that will be stored.
    struct Answered {
        let guarded: GuardedAnswer
        let completion: Completion
        let attempt: Int
    }

    let settings: BotSettings
    let delivery: BotDelivery
    let began: UInt64
    var state = State.reading
    var work = Work.answering
    private var extended: UInt64
    var dialogue: Dialogue?
    /// What is asked, written and heard.
    var question = ""
    /// What was heard.
    var heard: String?
    var language = "en"
    var answer = AnswerReader()
    /// Of an answer that is no completion.
    var body = BodyReader(.json, longest: 0)
    private var told: LivePieces
    var asked = 0
    private var halvings = 0
    /// The answer that missed rules, and the rules: it is asked for once more.
    private var missed: (answer: Completion, rules: [AnswerGuard])?
    var requestBegan: UInt64 = 0
    /// How often in a row it was found, here and before, that only an operator can mend it.
    private var refusals: Int
    /// After the pause another message is tried: this one may be the only one that is refused.
    private var isGivenBack = false
    /// What is told when the events are stored.
    var said: Note?
    /// What is being stored.
    var lines: ReplyLines?

    /// The longest pause before a bot tries again what only an operator can mend; the first is a second, and they double.
    package static let degradedPause: UInt64 = 30_000

    /// - Parameters:
    ///   - refusals: How often in a row the endpoint has refused all (``ModelFault/isOfTheEndpoint``), of whatever message.
    ///   - now: Milliseconds of a clock that never goes back, as all that are told.
    package init(_ settings: BotSettings, _ delivery: BotDelivery, refusals: Int = 0, now: UInt64) {
        (self.settings, self.delivery, began, extended) = (settings, delivery, now, now)
        self.refusals = refusals
        told = LivePieces(settings)
    }

    package var hasEnded: Bool { state == .ended }
    /// The message that is being answered.
    package var message: EventID { dialogue?.question.id ?? delivery.event.id }

    /// The first effects.
    package mutating func begin() -> [Effect] {
        let event = delivery.event
        switch event.type {
        case "message.posted":
            guard !event.author.hasSameBytes(as: settings.bot) else { return passOver("its own message") }
            return [read(event.id, isElsewhere: false)]
        case "bot.retryRequested":
            guard let message = event.inReplyTo else { return passOver("a retry of nothing") }
            return [read(message, isElsewhere: true)]
        case "conversation.started":
            guard settings.greeting != nil, isNamed(in: event) else {
                return passOver("a conversation that it is not in")
            }
            return [read(event.id, isElsewhere: false)]
        case "survey.answered": return askFurther()
        default: return passOver("an event that it does not work on")
        }
    }

    private func read(_ message: EventID, isElsewhere: Bool) -> Effect {
        .read(
            DialogueQuery(
                question: message, isElsewhere: isElsewhere, bot: settings.bot,
                reply: EventID(replyTo: message, by: settings.bot),
                rows: settings.window.turns,
                profile: settings.profile + (settings.greeting?.intake?.fields.map(\.name) ?? []) + ["language"],
                transcript: hears ? EventID(replyTo: message, by: settings.bot, label: Self.transcriptLabel) : nil,
                asksModel: !settings.models.isEmpty))
    }

    /// - Parameter chance: A random number, for the length of a pause.
    package mutating func take(_ input: Input, now: UInt64, chance: UInt64) -> [Effect] {
        switch (state, input) {
        case (.ended, _): return []
        case (_, .lost): return (state == .asking ? [.hangUp] : []) + end([.note(.lost)])
        case (.storing, .stops): return []
        case (_, .stops):
            return (state == .asking ? [.hangUp] : [])
                + end([.release(delay: 0, error: "the worker ends", isUntried: true)])
        case (_, .time): return time(now)
        case (_, .cancelled(let author)) where state.isOpen:
            guard let asker = dialogue?.question.author, asker.hasSameBytes(as: author) else { return [] }
            return (state == .asking ? [.hangUp] : []) + passOver("cancelled")
        case (_, .retracted) where state.isOpen:
            // Whether that retraction counts is the view's to say.
            return (state == .asking ? [.hangUp] : []) + readAgain()
        case (.reading, .dialogue(let dialogue)): return begin(with: dialogue, now)
        case (.reading, .noDialogue): return passOver("a message that is not there")
        case (.asking, .answerBegins(let contentType)):
            if case .answering = work { answer.begin(contentType) } else { body.begin(contentType) }
            return []
        case (.asking, .piece(let bytes)): return take(bytes, now, chance)
        case (.asking, .answerEnds):
            do throws(ModelFault) { return try answered(now) } catch { return failed(error, now, chance) }
        case (.asking, .answerFails(let fault)), (.loading, .loadFails(let fault)): return failed(fault, now, chance)
        case (.loading, .loaded(let bytes)): return loaded(bytes, now)
        case (.recording, .stored): return proceed(now)
        case (.recording, .saidBefore): return readAgain()
        case (.keeping, .kept(let item)): return kept(item, now)
        case (.pausing, .waited) where isGivenBack:
            return end([.release(delay: 0, error: "the endpoint takes nothing", isUntried: true)])
        case (.pausing, .waited): return ask(now)
        case (.storing, .stored(let isAcked)): return end((said.map { [.note($0)] } ?? []) + (isAcked ? [] : [.ack]))
        case (.storing, .saidBefore): return end([.note(.passedOver("answered by another worker")), .ack])
        case (.storing, .taken), (.recording, .taken): return storeElsewhere()
        case (.storing, .refused(let reason)), (.reading, .refused(let reason)), (.recording, .refused(let reason)),
            (.keeping, .refused(let reason)):
            return end([.park(reason: reason)])
        default: return []
        }
    }

    private mutating func readAgain() -> [Effect] {
        state = .reading
        told.restart()
        return [read(message, isElsewhere: delivery.event.id != message)]
    }

    mutating func end(_ effects: [Effect]) -> [Effect] {
        state = .ended
        return effects + [.end]
    }

    mutating func passOver(_ why: String) -> [Effect] { end([.note(.passedOver(why)), .ack]) }

    private mutating func time(_ now: UInt64) -> [Effect] {
        var effects: [Effect] = []
        if now >= extended + settings.patience / 3 {
            extended = now
            effects.append(.extend)
        }
        if state == .asking {
            effects += told.due(now)
            if now >= requestBegan + settings.timeout { effects.insert(.hangUp, at: 0) }
        }
        return effects
    }

    // MARK: - A question

    private mutating func begin(with dialogue: Dialogue, _ now: UInt64) -> [Effect] {
        self.dialogue = dialogue
        missed = nil
        guard !dialogue.isAnswered else { return passOver("answered before") }
        if dialogue.question.type == "conversation.started" { return greet(dialogue) }
        guard dialogue.question.type == "message.posted", !dialogue.question.author.hasSameBytes(as: settings.bot)
        else {
            return passOver("no message of a user")
        }
        if let participants = dialogue.participants, !settings.answersAll,
            !participants.contains(where: { $0.hasSameBytes(as: settings.bot) })
        {
            return passOver("a conversation that it is not in")
        }
        guard !dialogue.isRetracted else { return passOver("retracted") }
        if let transcript = dialogue.transcript { heard = transcript }
        told.begin(dialogue.question)
        asked = 0
        if hears, heard == nil, let recording = dialogue.recording { return hear(recording, now) }
        return proceed(now)
    }

    /// All that is asked is known as text.
    mutating func proceed(_ now: UInt64) -> [Effect] {
        guard let dialogue else { return passOver("a message that is not there") }
        let text = Dialogue.joined(dialogue.text, heard)
        guard !text.isEmpty else { return passOver("no text") }
        question = text
        asked = 0
        if case .image = settings.kind { work = .drawing } else { work = .answering }
        language = SpokenLanguage.of(
            text, profile: dialogue.profile.value("language"), spoken: settings.languages)
        if let emergency = settings.emergencies.first(where: { $0.applies(to: text) }),
            let said = emergency.text.text(language)
        {
            return say(said, "emergency", emergency.id, closing: false)
        }
        if let farewell = settings.farewell, farewell.isSaid(in: text), let said = farewell.text.text(language) {
            return say(said, "farewell", nil, closing: true)
        }
        if let effects = takeIn(text, dialogue) { return effects }
        guard text.utf8.count <= settings.longestQuestion else {
            return fail(
                ModelFault(
                    .tooLong,
                    "the question has \(text.utf8.count) bytes, at most \(settings.longestQuestion) are taken"))
        }
        if let model = dialogue.model, !settings.models.contains(where: model.hasSameBytes) {
            return fail(ModelFault(.model, "'\(model)' is none of the models that a conversation may choose"))
        }
        return ask(now)
    }

    /// The model of this conversation.
    var model: String { dialogue?.model ?? settings.model }

    mutating func ask(_ now: UInt64) -> [Effect] {
        requestBegan = now
        asked += 1
        guard case .answering = work else { return askForMedia() }
        guard let dialogue else { return passOver("a message that is not there") }
        state = .asking
        answer = AnswerReader(longest: settings.longestAnswer)
        let profile = dialogue.profile.filter { settings.profile.contains($0.name) }
        var turns = settings.window.fit(
            system: settings.system(language, profile: profile), before: dialogue.turns(of: settings.bot),
            question: question, halvings: halvings)
        if let missed {
            let rules = missed.rules.compactMap(\.repair).joined(separator: "\n")
            turns += [Turn(.assistant, missed.answer.text), Turn(.user, rules)]
        }
        return [
            .ask(
                .chat(
                    CompletionRequest(
                        model: model, isStreamed: settings.isStreamed, turns: turns, parameters: settings.parameters))
            )
        ]
    }

    private mutating func take(_ bytes: [UInt8], _ now: UInt64, _ chance: UInt64) -> [Effect] {
        do throws(ModelFault) {
            guard case .answering = work else {
                try body.take(bytes)
                return []
            }
            let added = try answer.take(bytes)
            // What is asked for again has been told in its first form.
            let effects = missed == nil ? told.take(added, now) : []
            guard answer.isFull else { return effects }
            return effects + [.hangUp] + completed(answer.cut(), now)
        } catch {
            return [.hangUp] + failed(error, now, chance)
        }
    }

    private mutating func failed(_ fault: ModelFault, _ now: UInt64, _ chance: UInt64) -> [Effect] {
        var fault = fault
        switch work {
        case .answering:
            // A repair that fails leaves what was there before it.
            if let missed { return completed(missed.answer, now) }
            told.restart()
            if fault.code == .tooLong, halvings == 0 {
                halvings = 1
                return ask(now)
            }
        case .fetching where fault.code == .status && !fault.isTransient:
            // The place is there no more: only another picture has one.
            fault = ModelFault(.cut, "the picture was not there any more: \(fault.reason)", status: fault.status)
            if asked < settings.retries.attempts { work = .drawing }
        case .loading, .hearing, .speaking, .drawing, .fetching, .showing: break
        }
        if fault.isOfTheEndpoint {
            state = .pausing
            asked = 0
            let pause = min(1_000 << UInt64(min(refusals, 10)), Self.degradedPause)
            refusals += 1
            // What was paid for is kept: a step behind it is tried here again.
            isGivenBack = !work.isPaid
            return [.note(.degraded(fault, times: refusals)), .wait(pause)]
        }
        if let pause = settings.retries.pause(after: asked, fault, chance: chance) {
            state = .pausing
            return [.note(.triesAgain(fault, attempt: asked, pause: pause)), .wait(pause)]
        }
        return fail(fault)
    }

    /// The rules that hold for the question.
    private var guards: [AnswerGuard] {
        guard settings.guards.contains(where: \.isOnce) else {
            return settings.guards.filter { $0.applies(to: question) }
        }
        let replies = dialogue?.turns(of: settings.bot).filter { $0.role == .assistant }.map(\.text) ?? []
        return settings.guards.filter { $0.applies(to: question, after: replies) }
    }

    mutating func completed(_ completion: Completion, _ now: UInt64) -> [Effect] {
        if completion.text.allSatisfy(\.isWhitespace) {
            return failed(ModelFault(.decode, "an empty answer"), now, 0)
        }
        if missed == nil {
            let failing = guards.filter { $0.repair != nil && !$0.passes(completion.text, to: question) }
            if !failing.isEmpty {
                missed = (completion, failing)
                return told.rest(now) + ask(now)
            }
        }
        let missed = Set(missed?.rules.map(\.id) ?? [])
        let guarded = GuardedAnswer(
            completion.text, to: question, guards: guards, missed: missed, language: language)
        let answered = Answered(guarded: guarded, completion: completion, attempt: asked)
        guard case .voice = settings.kind else { return told.rest(now) + reply(answered, sound: nil, now) }
        asked = 0
        work = .speaking(answered)
        return told.rest(now) + ask(now)
    }
}
