internal import CommandLineKit
internal import EventStore

// Pictures, and what is heard and spoken (docs/decisions/0096).
extension ReplyMachine {
    static let transcriptLabel = "transcript"
    /// Characters of what a picture shows, for those who do not see it.
    private static let longestAlt = 500

    /// Whether recordings become text.
    var hears: Bool { if case .voice = settings.kind { true } else { false } }

    // MARK: - What is asked for

    mutating func hear(_ recording: AttachmentItem, _ now: UInt64) -> [Effect] {
        work = .loading(recording)
        return ask(now)
    }

    /// The request of a step that is no chat.
    mutating func askForMedia() -> [Effect] {
        switch (work, settings.kind) {
        case (.loading(let item), .voice(let voice)):
            guard item.bytes <= voice.hearing.longest else {
                return fail(.tooLarge("the recording", item.bytes, voice.hearing.longest))
            }
            state = .loading
            return [.load(item, longest: voice.hearing.longest)]
        case (.hearing(let item, let bytes), .voice(let voice)):
            return request(
                .transcription(
                    TranscriptionRequest(
                        model: voice.hearing.model, sound: bytes, mediaType: item.mediaType ?? MediaType.unknown,
                        parameters: voice.hearing.parameters)),
                BodyReader(.json, longest: Transcript.longestBody))
        case (.speaking(let answered), .voice(let voice)):
            return request(
                .speech(SpeechRequest(input: spoken(answered), speech: voice.speech)),
                BodyReader(.audio, longest: voice.speech.longest))
        case (.drawing, .image(let picture)):
            return request(
                .image(ImageRequest(model: model, prompt: question, parameters: settings.parameters)),
                BodyReader(.json, longest: DrawnPicture.longestBody(picture.longest)))
        case (.fetching(_, let address, _), .image(let picture)):
            return request(.fetch(address: address), BodyReader(.image, longest: picture.longest))
        default: return passOver("nothing to be made of it")
        }
    }

    private mutating func request(_ request: ModelRequest, _ reader: BodyReader) -> [Effect] {
        state = .asking
        body = reader
        return [.ask(request)]
    }

    /// So much of a text as is spoken.
    func spoken(_ answered: Answered) -> String {
        guard case .voice(let voice) = settings.kind else { return answered.guarded.text }
        return String(answered.guarded.text.prefix(voice.speech.longestText))
    }

    // MARK: - What came

    /// The answer of a step is whole.
    mutating func answered(_ now: UInt64) throws(ModelFault) -> [Effect] {
        switch (work, settings.kind) {
        case (.answering, _): return completed(try answer.end(), now)
        case (.hearing(let item, _), .voice(let voice)):
            return record(try Transcript(body: try body.end()), of: item, voice.hearing)
        case (.speaking, .voice(let voice)):
            return keep(try Media(sound: try body.end(), voice.speech.format))
        case (.drawing, .image(let picture)):
            let drawn = try DrawnPicture(body: try body.end(), longest: picture.longest)
            switch drawn.place {
            case .here(let media):
                work = .showing(drawn, attempt: asked)
                return keep(media)
            case .at(let address):
                work = .fetching(drawn, address: address, attempt: asked)
                return ask(now)
            }
        case (.fetching(let drawn, _, let attempt), _):
            let media = try Media(picture: try body.end())
            work = .showing(drawn, attempt: attempt)
            return keep(media)
        default: return []
        }
    }

    mutating func loaded(_ bytes: [UInt8], _ now: UInt64) -> [Effect] {
        guard case .loading(let item) = work else { return [] }
        asked = 0
        work = .hearing(item, bytes)
        return ask(now)
    }

    /// What was heard goes into the record before it is answered: it is not asked for twice, and can be searched for.
    private mutating func record(
        _ transcript: Transcript, of item: AttachmentItem, _ hearing: BotKind.Hearing
    ) -> [Effect] {
        guard let dialogue else { return passOver("a message that is not there") }
        heard = transcript.text
        let attempt = asked
        var lines = ReplyLines(settings, to: dialogue.question)
        lines.add("bot.transcribed", label: Self.transcriptLabel) { data in
            data.add("inReplyTo", dialogue.question.id.description)
            data.add("attachment", item.digest.description)
            data.add("text", transcript.text)
            if let language = transcript.language { data.add("lang", language) }
            data.add("model", hearing.model)
            data.add("attempt", attempt)
        }
        state = .recording
        self.lines = lines
        return [.record(lines.bytes)]
    }

    private mutating func keep(_ media: Media) -> [Effect] {
        state = .keeping
        return [.keep(media)]
    }

    /// The bytes are at the node: the reply may name them.
    mutating func kept(_ item: AttachmentItem, _ now: UInt64) -> [Effect] {
        guard let dialogue else { return passOver("a message that is not there") }
        if case .speaking(let answered) = work { return reply(answered, sound: item, now) }
        guard case .showing(let drawn, let attempt) = work else { return [] }
        var lines = ReplyLines(settings, to: dialogue.question)
        let (took, prompt, model) = (now - began, question, model)
        lines.add("bot.replied", label: "") { data in
            data.addAttachment(item) { $0.add("alt", String((drawn.revised ?? prompt).prefix(Self.longestAlt))) }
            data.add("prompt", prompt)
            if let revised = drawn.revised { data.add("revised_prompt", revised) }
            data.addObject("persona") { persona in
                persona.add("name", settings.name)
                persona.add("version", settings.personaVersion)
            }
            data.add("model", model)
            data.add("duration_ms", took)
            data.add("attempt", attempt)
        }
        lines.addOffer(at: .reply)
        return store(lines, .replied(milliseconds: took, tokens: 0))
    }
}

extension ModelFault {
    package static func tooLarge(_ what: String, _ bytes: some BinaryInteger, _ longest: Int) -> ModelFault {
        ModelFault(.tooLarge, "\(what) has \(bytes) bytes, at most \(longest) are taken")
    }
}
