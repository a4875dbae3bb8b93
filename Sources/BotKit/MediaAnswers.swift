internal import EventStore

/// An answer that is taken whole: what it says that it is, is looked at before its bytes, and its length as they come.
struct BodyReader: Sendable {
    enum Wanted: String, Sendable {
        case json, image, audio
    }

    private let wanted: Wanted
    private let longest: Int
    private var other: String?
    private(set) var bytes: [UInt8] = []

    init(_ wanted: Wanted, longest: Int) { (self.wanted, self.longest) = (wanted, longest) }

    mutating func begin(_ contentType: String?) {
        // What stores files may know them as bytes alone.
        let files = wanted == .json ? [] : ["application/octet-stream", "binary/octet-stream"]
        guard let kind = contentType?.prefix(while: { $0 != ";" }).lowercased().filter({ !$0.isWhitespace }),
            !kind.isEmpty, !files.contains(kind)
        else { return }
        let isWanted =
            wanted == .json
            ? kind == "application/json" || kind.hasSuffix("+json") : kind.hasPrefix(wanted.rawValue + "/")
        if !isWanted { other = kind }
    }

    mutating func take(_ piece: [UInt8]) throws(ModelFault) {
        try check()
        guard bytes.count + piece.count <= longest else {
            throw ModelFault(.tooLarge, "the answer has more than \(longest) bytes")
        }
        bytes += piece
    }

    func end() throws(ModelFault) -> [UInt8] {
        try check()
        guard !bytes.isEmpty else { throw ModelFault(.noData, "the answer has nothing in it") }
        return bytes
    }

    private func check() throws(ModelFault) {
        if let other { throw ModelFault(.decode, "the answer is \(other.prefix(80)), and not \(wanted.rawValue)") }
    }
}

/// Bytes that are to be kept beside the record.
package struct Media: Equatable, Sendable {
    package let bytes: [UInt8]
    package let mediaType: String

    /// A picture, by its first bytes. One that is written as markup may have code in it, and is none.
    init(picture bytes: [UInt8]) throws(ModelFault) {
        guard let found = MediaType.found(in: bytes), found.hasPrefix("image/"), found != "image/svg+xml" else {
            throw ModelFault(.decode, "what came is no picture")
        }
        (self.bytes, mediaType) = (bytes, found)
    }

    /// Sound: by its first bytes where those tell, else as it was asked for.
    init(sound bytes: [UInt8], _ format: BotKind.Speech.Format) throws(ModelFault) {
        mediaType = MediaType.found(in: bytes) ?? format.mediaType
        guard mediaType.hasPrefix("audio/") else { throw ModelFault(.decode, "what came is no sound") }
        self.bytes = bytes
    }
}

/// What an endpoint has drawn.
struct DrawnPicture: Sendable {
    enum Place: Sendable {
        case here(Media)
        case at(address: String)
    }

    let place: Place
    /// What the endpoint made of the prompt.
    let revised: String?

    private static let longestRevised = 4_000

    init(body: [UInt8], longest: Int) throws(ModelFault) {
        guard let object = try? JSONObject(validating: body) else {
            throw ModelFault(.decode, "the answer is no JSON object")
        }
        guard let first = object.elements("data")?.first?.object else {
            throw ModelFault(.noData, "the answer has no picture")
        }
        revised = first.string("revised_prompt").map { String($0.prefix(Self.longestRevised)) }
        if let text = first.string("b64_json"), !text.isEmpty {
            guard let bytes = base64Bytes(text) else { throw ModelFault(.decode, "the picture is no base64") }
            guard bytes.count <= longest else {
                throw ModelFault(.tooLarge, "the picture has \(bytes.count) bytes, at most \(longest) are taken")
            }
            place = .here(try Media(picture: bytes))
        } else if let address = first.string("url"), !address.isEmpty {
            place = .at(address: address)
        } else {
            throw ModelFault(.noData, "the answer has no picture")
        }
    }

    /// Bytes of an answer with so large a picture in it.
    static func longestBody(_ longest: Int) -> Int { longest / 3 * 4 + (64 << 10) }
}

/// What was said in a recording, as a machine heard it.
struct Transcript: Equatable, Sendable {
    static let longestBody = 1 << 20
    /// An event has room for it.
    private static let longest = 64 << 10

    let text: String
    let language: String?

    init(body: [UInt8]) throws(ModelFault) {
        guard let object = try? JSONObject(validating: body), let text = object["text"]?.text else {
            throw ModelFault(.decode, "the answer has no text")
        }
        guard !text.allSatisfy(\.isWhitespace) else { throw ModelFault(.noData, "nothing was heard") }
        guard text.utf8.count <= Self.longest else {
            throw ModelFault(.tooLarge, "more was heard than \(Self.longest) bytes")
        }
        self.text = text.trimmed
        language = object.string("language")
    }
}

extension String {
    /// Without blanks around it.
    fileprivate var trimmed: String {
        var rest = self[...].drop { $0.isWhitespace }
        while rest.last?.isWhitespace ?? false { rest.removeLast() }
        return String(rest)
    }
}

/// One answer of sound, text of sound, or whether there is a model, outside of a conversation.
package final class MediaTrial {
    private let form: (BodyReader) throws(ModelFault) -> Media?
    private var reader: BodyReader
    private var fault: ModelFault?

    /// - Parameter request: Of speech, transcription or a model.
    package init(_ request: ModelRequest) {
        switch request {
        case .speech(let request):
            reader = BodyReader(.audio, longest: request.speech.longest)
            form = { reader throws(ModelFault) in try Media(sound: reader.end(), request.speech.format) }
        case .transcription:
            reader = BodyReader(.json, longest: Transcript.longestBody)
            // That there is nothing to be heard in a short sound is an answer, too.
            form = { reader throws(ModelFault) in
                do throws(ModelFault) { _ = try Transcript(body: reader.end()) } catch {
                    if error.code != .noData { throw error }
                }
                return nil
            }
        default:
            reader = BodyReader(.json, longest: 1 << 20)
            form = { _ in nil }
        }
    }

    /// Whether it goes on.
    package func take(_ input: ReplyMachine.Input) -> Bool {
        switch input {
        case .answerBegins(let contentType): reader.begin(contentType)
        case .piece(let bytes):
            do throws(ModelFault) { try reader.take(bytes) } catch {
                fault = error
                return false
            }
        default: break
        }
        return true
    }

    /// - Parameter last: The last fact; `nil` where it was ended here.
    package func end(_ last: ReplyMachine.Input?) throws(ModelFault) -> Media? {
        if let fault { throw fault }
        switch last {
        case .answerFails(let fault): throw fault
        case .answerEnds: return try form(reader)
        default: throw ModelFault(.timeout, "no answer in time")
        }
    }
}
