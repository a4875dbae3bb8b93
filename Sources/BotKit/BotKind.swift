internal import CommandLineKit
internal import EventStore

/// What a bot makes of a message.
package enum BotKind: Equatable, Sendable {
    /// A text.
    case chat
    /// A picture.
    case image(Picture)
    /// A text of what was said, and the sound of it.
    case voice(Voice)

    package struct Picture: Equatable, Sendable {
        /// Bytes of the largest picture that is taken.
        package var longest = 20 << 20
        package init() {}
    }

    package struct Voice: Equatable, Sendable {
        package var hearing: Hearing
        package var speech: Speech
        package init(hearing: Hearing, speech: Speech) { (self.hearing, self.speech) = (hearing, speech) }
    }

    /// How sound becomes text.
    package struct Hearing: Equatable, Sendable {
        package var model: String
        package var parameters: [CompletionRequest.Parameter] = []
        /// Bytes of the longest recording that is sent.
        package var longest = 25 << 20
        package init(model: String) { self.model = model }
    }

    /// How text becomes sound.
    package struct Speech: Equatable, Sendable {
        package var model: String
        package var voice: String
        package var format = Format.mp3
        package var parameters: [CompletionRequest.Parameter] = []
        /// Characters of a text that are spoken; the rest is only written.
        package var longestText = 4_096
        /// Bytes of the longest sound that is taken.
        package var longest = 20 << 20
        package init(model: String, voice: String) { (self.model, self.voice) = (model, voice) }

        /// Forms of sound that say what they are.
        package enum Format: String, CaseIterable, Sendable {
            case mp3, opus, aac, flac, wav

            var mediaType: String {
                switch self {
                case .mp3: "audio/mpeg"
                case .opus: "audio/ogg"
                case .aac: "audio/aac"
                case .flac: "audio/flac"
                case .wav: "audio/wav"
                }
            }
        }
    }

    /// As configurations and `bot.configured` say it.
    package var name: String {
        switch self {
        case .chat: "chat"
        case .image: "image"
        case .voice: "voice"
        }
    }

    /// What `bot.configured` says of it, beside its name.
    func add(to line: inout JSONLine) {
        guard case .voice(let voice) = self else { return }
        line.addObject("hear") { object in
            object.add("model", voice.hearing.model)
            object.addParameters(voice.hearing.parameters)
        }
        line.addObject("speak") { object in
            object.add("model", voice.speech.model)
            object.add("voice", voice.speech.voice)
            object.add("format", voice.speech.format.rawValue)
            object.addParameters(voice.speech.parameters)
        }
    }
}

extension JSONLine {
    mutating func addParameters(_ parameters: [CompletionRequest.Parameter]) {
        addObject("parameters") { object in
            for parameter in parameters { object.addRaw(parameter.name, parameter.json) }
        }
    }
}
