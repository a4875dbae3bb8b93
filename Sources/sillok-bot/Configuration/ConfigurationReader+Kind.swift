internal import BotKit
internal import CommandLineKit

// What a bot makes: texts, pictures, or texts and their sound.
extension ConfigurationReader {
    enum Kind: String, CaseIterable {
        case chat, image, voice

        /// Keys that only some kinds have.
        private static let keys: [(name: String, kinds: [Kind])] = [
            ("persona", [.chat, .voice]), ("context", [.chat, .voice]), ("guards", [.chat, .voice]),
            ("image", [.image]), ("hear", [.voice]), ("speak", [.voice]),
        ]

        /// Refuses what another kind has.
        func check(_ top: Section) throws(ConfigurationMistake) {
            for (name, kinds) in Self.keys where top.names.contains(name) && !kinds.contains(self) {
                let others = kinds.map { "\"\($0.rawValue)\"" }.joined(separator: " or ")
                throw top.mistake(
                    name, "a bot of kind \"\(rawValue)\" has none: leave it out, or say kind: \(others)")
            }
        }
    }

    private static let sizes = 1_024...(60 << 20)

    func kind(_ kind: Kind, _ top: inout Section) throws(ConfigurationMistake) -> BotKind {
        switch kind {
        case .chat: return .chat
        case .image:
            var picture = BotKind.Picture()
            if var section = try top.section("image") {
                if let size = try section.size("max_bytes", in: Self.sizes) { picture.longest = size }
                try section.end()
            }
            return .image(picture)
        case .voice: return .voice(.init(hearing: try hearing(&top), speech: try speech(&top)))
        }
    }

    private func hearing(_ top: inout Section) throws(ConfigurationMistake) -> BotKind.Hearing {
        guard var section = try top.section("hear") else {
            throw top.mistake("hear", "it is missing; write hear: { model: \"whisper-1\" }")
        }
        var hearing = BotKind.Hearing(model: try section.required("model"))
        hearing.parameters = try section.parameters(without: TranscriptionRequest.own)
        if let size = try section.size("max_bytes", in: Self.sizes) { hearing.longest = size }
        try section.end()
        return hearing
    }

    private func speech(_ top: inout Section) throws(ConfigurationMistake) -> BotKind.Speech {
        guard var section = try top.section("speak") else {
            throw top.mistake("speak", "it is missing; write speak: { model: \"tts-1\", voice: \"alloy\" }")
        }
        var speech = BotKind.Speech(model: try section.required("model"), voice: try section.required("voice"))
        if let format = try section.choice("format", BotKind.Speech.Format.self) { speech.format = format }
        speech.parameters = try section.parameters(without: SpeechRequest.own)
        if let count = try section.count("longest_text", in: 1...200_000) { speech.longestText = count }
        if let size = try section.size("max_bytes", in: Self.sizes) { speech.longest = size }
        try section.end()
        return speech
    }
}

extension Section {
    /// Further members of a request, but for those that the bot says itself.
    mutating func parameters(
        without own: Set<String>
    ) throws(ConfigurationMistake) -> [CompletionRequest.Parameter] {
        guard let value = value("parameters") else { return [] }
        guard case .object(let members) = value.content else {
            throw mistake("parameters", "it is an object, not \(value.kind)")
        }
        var parameters: [CompletionRequest.Parameter] = []
        for member in members {
            guard !own.contains(member.name), let json = member.value.json else {
                throw mistake("parameters", "'\(member.name)' cannot be said here")
            }
            // It is a name of a form's part, too.
            guard member.name.utf8.allSatisfy({ $0 > 0x20 && $0 != UInt8(ascii: "\"") && $0 < 0x7f }) else {
                throw mistake("parameters", "'\(member.name)' is no name of a parameter")
            }
            parameters.append(.init(member.name, json: json))
        }
        return parameters
    }
}
