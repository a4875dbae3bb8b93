internal import CommandLineKit
internal import EventStore

/// What is asked of an endpoint.
package enum ModelRequest: Equatable, Sendable {
    case chat(CompletionRequest)
    case image(ImageRequest)
    case transcription(TranscriptionRequest)
    case speech(SpeechRequest)
    /// The bytes of a picture, from where the endpoint says that they are for now.
    case fetch(address: String)
    /// Whether the endpoint has a model; this costs nothing.
    case model(String)
}

/// A request for a picture.
package struct ImageRequest: Equatable, Sendable {
    package static let path = "/images/generations"
    /// Members that are no parameters.
    package static let own: Set<String> = ["model", "prompt", "n", "stream"]

    package var model: String
    package var prompt: String
    package var parameters: [CompletionRequest.Parameter]

    package init(model: String, prompt: String, parameters: [CompletionRequest.Parameter] = []) {
        (self.model, self.prompt, self.parameters) = (model, prompt, parameters)
    }

    /// `{"model":…,"prompt":…,"n":1,…}`.
    package var body: [UInt8] {
        var line = JSONLine()
        line.add("model", model)
        line.add("prompt", prompt)
        line.add("n", 1)
        for parameter in parameters { line.addRaw(parameter.name, parameter.json) }
        return line.utf8
    }
}

/// A request for the text of a recording.
package struct TranscriptionRequest: Equatable, Sendable {
    package static let path = "/audio/transcriptions"
    /// Members that are no parameters.
    package static let own: Set<String> = ["model", "file", "response_format", "stream"]

    package var model: String
    package var sound: [UInt8]
    package var mediaType: String
    package var parameters: [CompletionRequest.Parameter]

    package init(
        model: String, sound: [UInt8], mediaType: String, parameters: [CompletionRequest.Parameter] = []
    ) {
        (self.model, self.sound, self.mediaType, self.parameters) = (model, sound, mediaType, parameters)
    }

    /// A form of several parts (RFC 7578); what parts them follows from the sound, and does not stand in it.
    package var contentType: String { "multipart/form-data; boundary=" + boundary }

    private var boundary: String { "sillok-" + SHA256().digest(sound).description.prefix(32) }

    package var body: [UInt8] {
        var out: [UInt8] = []
        let line = "--" + boundary + "\r\n"
        let fields = [("model", model), ("response_format", "json")] + parameters.map { ($0.name, $0.text) }
        for (name, value) in fields {
            out += "\(line)Content-Disposition: form-data; name=\"\(name)\"\r\n\r\n\(value)\r\n".utf8
        }
        // Endpoints tell by the name's end what kind of sound it is.
        out +=
            (line + "Content-Disposition: form-data; name=\"file\"; filename=\"recording.\(ending)\"\r\n"
            + "Content-Type: \(mediaType)\r\n\r\n").utf8
        out += sound
        out += "\r\n--\(boundary)--\r\n".utf8
        return out
    }

    private var ending: String {
        switch mediaType.prefix(while: { $0 != ";" }) {
        case "audio/mpeg", "audio/mp3": "mp3"
        case "audio/webm", "video/webm": "webm"
        case "audio/wav", "audio/x-wav", "audio/wave": "wav"
        case "audio/ogg", "audio/opus": "ogg"
        case "audio/flac", "audio/x-flac": "flac"
        case "audio/aac": "aac"
        default: "m4a"
        }
    }
}

/// A request for the sound of a text.
package struct SpeechRequest: Equatable, Sendable {
    package static let path = "/audio/speech"
    /// Members that are no parameters.
    package static let own: Set<String> = ["model", "input", "voice", "response_format", "stream_format"]

    package var input: String
    package var speech: BotKind.Speech

    package init(input: String, speech: BotKind.Speech) { (self.input, self.speech) = (input, speech) }

    /// `{"model":…,"input":…,"voice":…,"response_format":…,…}`.
    package var body: [UInt8] {
        var line = JSONLine()
        line.add("model", speech.model)
        line.add("input", input)
        line.add("voice", speech.voice)
        line.add("response_format", speech.format.rawValue)
        for parameter in speech.parameters { line.addRaw(parameter.name, parameter.json) }
        return line.utf8
    }
}

extension CompletionRequest.Parameter {
    /// As a field of a form: a text without its quotation marks.
    fileprivate var text: String {
        (try? JSONObject(validating: Array("{\"\":\(json)}".utf8)))?.string("") ?? json
    }
}

/// Where a picture may be fetched from.
package enum PictureAddress {
    /// Most places that lead to another one.
    package static let mostRedirects = 3

    /// Whether it is encrypted, or at the endpoint itself: what an answer names leads to no other service of this network.
    package static func isAllowed(_ address: String, endpoint: String) -> Bool {
        guard address.utf8.count <= 8_192, address.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }),
            let place = origin(address)
        else { return false }
        return place.hasPrefix("https://") || place == origin(endpoint)
    }

    /// Scheme, host and port; `nil` for what has none, or has a name and a password in it.
    private static func origin(_ address: String) -> String? {
        let lower = address.lowercased()
        guard let scheme = ["https://", "http://"].first(where: lower.hasPrefix) else { return nil }
        let host = lower.dropFirst(scheme.count).prefix { !"/?#\\".contains($0) }
        return host.isEmpty || host.contains("@") ? nil : scheme + host
    }
}
