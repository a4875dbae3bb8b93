internal import BotKit
internal import CommandLineKit
internal import EventStore

/// Whether the endpoint does what the bot will ask of it.
struct ModelCheck {
    private let settings: BotSettings
    private let model: any Model
    /// What was spoken, to be heard.
    private var sound: Media?

    init(_ started: Started) { (settings, model) = (started.configuration.settings, started.model) }

    typealias Step = (inout ModelCheck) throws(CommandFailure) -> String

    /// The steps of this kind of bot.
    var checks: [(name: String, check: Step)] {
        let chat: (String, Step) = ("model", { check throws(CommandFailure) in try check.chat() })
        switch settings.kind {
        case .chat: return [chat]
        case .image: return [("model", { check throws(CommandFailure) in try check.known() })]
        case .voice(let voice):
            return [
                chat, ("speech", { check throws(CommandFailure) in try check.speak(voice.speech) }),
                ("transcription", { check throws(CommandFailure) in try check.hear(voice.hearing) }),
            ]
        }
    }

    /// One short question.
    private func chat() throws(CommandFailure) -> String {
        var asked = CompletionRequest(
            model: settings.model, isStreamed: settings.isStreamed,
            turns: settings.window.fit(
                system: settings.system(settings.languages.first ?? "en", profile: []), before: [], question: "ping"),
            parameters: settings.parameters)
        asked.turns = asked.turns.suffix(1)
        let trial = ModelTrial(settings.longestAnswer)
        let (last, milliseconds) = ask(.chat(asked), trial.take)
        do throws(ModelFault) {
            let answer = try trial.end(last)
            return "\(answer.model ?? settings.model) in \(milliseconds) ms"
        } catch {
            throw Self.failure(error, model: "endpoint.model")
        }
    }

    /// A picture would cost something: the endpoint is asked whether it has the model.
    private func known() throws(CommandFailure) -> String {
        let request = ModelRequest.model(settings.model)
        let trial = MediaTrial(request)
        let (last, milliseconds) = ask(request, trial.take)
        do throws(ModelFault) {
            _ = try trial.end(last)
            return "\(settings.model) is there, in \(milliseconds) ms; no picture was asked for"
        } catch {
            if error.code == .status, error.status == 404 {
                return "the endpoint answers, and tells of no models; no picture was asked for"
            }
            throw Self.failure(error, model: "endpoint.model")
        }
    }

    private mutating func speak(_ speech: BotKind.Speech) throws(CommandFailure) -> String {
        let request = ModelRequest.speech(SpeechRequest(input: "ping", speech: speech))
        let trial = MediaTrial(request)
        let (last, milliseconds) = ask(request, trial.take)
        do throws(ModelFault) {
            sound = try trial.end(last)
            return
                "\(speech.model) in \(milliseconds) ms: \(sound?.bytes.count ?? 0) bytes of \(sound?.mediaType ?? "")"
        } catch {
            throw Self.failure(error, model: "speak.model")
        }
    }

    private func hear(_ hearing: BotKind.Hearing) throws(CommandFailure) -> String {
        guard let sound else { return "not tried: there is no sound to be heard" }
        let request = ModelRequest.transcription(
            TranscriptionRequest(
                model: hearing.model, sound: sound.bytes, mediaType: sound.mediaType, parameters: hearing.parameters))
        let trial = MediaTrial(request)
        let (last, milliseconds) = ask(request, trial.take)
        do throws(ModelFault) {
            _ = try trial.end(last)
            return "\(hearing.model) in \(milliseconds) ms"
        } catch {
            throw Self.failure(error, model: "hear.model")
        }
    }

    private func ask(
        _ request: ModelRequest, _ take: @escaping (ReplyMachine.Input) -> Bool
    ) -> (ReplyMachine.Input?, milliseconds: UInt64) {
        let began = MonotonicClock.now
        let last = model.ask(
            request, timeout: min(settings.timeout, 30_000), take: take,
            goesOn: { MonotonicClock.now < began + 35_000_000_000 })
        return (last, (MonotonicClock.now - began) / 1_000_000)
    }

    /// - Parameter model: The key that names the model.
    private static func failure(_ fault: ModelFault, model: String) -> CommandFailure {
        CommandFailure(
            code: "E_MODEL", "\(fault.words ?? fault.reason) (\(fault.code.rawValue))", hint: hint(fault.code, model),
            exitCode: fault.code == .noKey ? .notPermitted : fault.isTransient ? .unreachable : .configuration)
    }

    private static func hint(_ code: ModelFault.Code, _ model: String) -> String {
        switch code {
        case .noKey: "the right key in the file that endpoint.key_file names"
        case .network: "endpoint.url, and whether something listens there"
        case .timeout: "endpoint.timeout, or an endpoint that is less busy"
        case .model: "\(model): a model that the endpoint has"
        case .quota: "the account of the key has nothing left"
        case .decode: "endpoint.url: it ends before /chat/completions, usually with /v1"
        case .tooLarge: "speak.max_bytes, and whether \(model) answers as it should"
        case .noData: "\(model): the endpoint answers with nothing"
        case .cut, .status, .rate, .filtered, .tooLong, .address, .missing:
            "what the endpoint says; \(model), and the parameters beside it"
        }
    }
}
