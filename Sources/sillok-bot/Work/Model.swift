internal import BotKit
internal import CommandLineKit
internal import EventStore
internal import SillokAPI
internal import SillokClient

/// What answers questions: one request, on the calling thread.
protocol Model: Sendable {
    /// Hands the facts of an answer to `take`, which says whether it goes on. `goesOn` is asked about once a second.
    ///
    /// - Returns: The last fact; `nil` where `take` or `goesOn` has ended it.
    func ask(
        _ request: ModelRequest, timeout: UInt64, take: @escaping (ReplyMachine.Input) -> Bool,
        goesOn: @escaping () -> Bool
    ) -> ReplyMachine.Input?
}

/// An endpoint that is shaped like OpenAI's.
struct HTTPModel: Model {
    let endpoint: BotConfiguration.Endpoint

    /// Longest body of an answer that is an error.
    private static let longestError = 64 << 10

    func ask(
        _ request: ModelRequest, timeout: UInt64, take: @escaping (ReplyMachine.Input) -> Bool,
        goesOn: @escaping () -> Bool
    ) -> ReplyMachine.Input? {
        if case .fetch(let address) = request {
            return fetch(address, timeout, PictureAddress.mostRedirects, take, goesOn)
        }
        let key: String?
        // Read anew for each request, so that another key counts without a new start.
        do throws(CommandFailure) { key = try self.key() } catch {
            return .answerFails(ModelFault(.noKey, error.what))
        }
        var wanted = self.wanted(request)
        wanted.timeout = Int(clamping: timeout)
        wanted.usesProxies = true
        let place = NodePlace(
            named: .url(endpoint.url), token: key, authorities: endpoint.authorities, reason: nil)
        return exchange(wanted, place, take, goesOn) { answer, body in
            .answerFails(
                ModelFault(status: answer.status, retryAfter: answer.retryAfter, body: body, secret: key))
        }
    }

    private func wanted(_ request: ModelRequest) -> ClientRequest {
        switch request {
        case .chat(let request):
            var wanted = Self.posted(CompletionRequest.path, request.body)
            wanted.accept = request.isStreamed ? "text/event-stream, application/json" : "application/json"
            // An answer that comes whole is silent until it is there.
            if request.isStreamed { wanted.silence = Int(clamping: endpoint.silence / 1_000) }
            return wanted
        case .image(let request): return Self.posted(ImageRequest.path, request.body)
        case .transcription(let request):
            return Self.posted(TranscriptionRequest.path, request.body, request.contentType)
        case .speech(let request):
            var wanted = Self.posted(SpeechRequest.path, request.body)
            wanted.accept = "audio/*"
            return wanted
        case .fetch(let address): return ClientRequest(target: address)
        case .model(let name): return ClientRequest(target: "/models/" + percentEncoded(name))
        }
    }

    private static func posted(
        _ path: String, _ body: [UInt8], _ contentType: String = "application/json"
    ) -> ClientRequest {
        var request = ClientRequest(method: "POST", target: path, body: body, contentType: contentType)
        request.accept = "application/json"
        return request
    }

    /// Fetches a picture, without the key: from where the endpoint says that it is, or where that leads.
    private func fetch(
        _ address: String, _ timeout: UInt64, _ redirects: Int, _ take: @escaping (ReplyMachine.Input) -> Bool,
        _ goesOn: @escaping () -> Bool
    ) -> ReplyMachine.Input? {
        guard PictureAddress.isAllowed(address, endpoint: endpoint.url) else {
            return .answerFails(
                ModelFault(.address, "a picture is fetched from https:// or from the endpoint itself alone"))
        }
        var wanted = ClientRequest(target: "", timeout: Int(clamping: timeout))
        wanted.accept = "image/*"
        wanted.usesProxies = true
        wanted.silence = Int(clamping: endpoint.silence / 1_000)
        let place = NodePlace(named: .url(address), token: nil, authorities: endpoint.authorities, reason: nil)
        return exchange(wanted, place, take, goesOn) { answer, _ in
            guard (300..<400).contains(answer.status), let next = answer.location else {
                return .answerFails(
                    ModelFault(
                        .status, "the picture: HTTP status \(answer.status)", status: answer.status,
                        retryAfter: answer.retryAfter))
            }
            guard redirects > 0 else {
                return .answerFails(ModelFault(.address, "the picture's place leads on and on"))
            }
            return fetch(next, timeout, redirects - 1, take, goesOn)
        }
    }

    /// Hands over an answer with a status of 200 to 299; of any other `otherwise` says what it means.
    private func exchange(
        _ wanted: ClientRequest, _ place: NodePlace, _ take: @escaping (ReplyMachine.Input) -> Bool,
        _ goesOn: @escaping () -> Bool,
        otherwise: (_ answer: ClientRequest.Answer, _ body: [UInt8]) -> ReplyMachine.Input?
    ) -> ReplyMachine.Input? {
        let other = ErrorBody(limit: Self.longestError)
        let listener = ClientRequest.Listener(
            begins: { status, contentType in
                other.begin(isOne: !(200..<300).contains(status))
                if !other.isOne { _ = take(.answerBegins(contentType: contentType)) }
            },
            takes: { piece in other.isOne ? other.take(piece) : take(.piece(Array(piece))) }, goesOn: goesOn)
        do throws(ClientRequest.Failure) {
            let answer = try wanted.send(to: place, listener)
            return other.isOne ? otherwise(answer, other.body) : .answerEnds
        } catch {
            if error.isEnded { return nil }
            if error.isTimeout { return .answerFails(ModelFault(.timeout, "no answer in time")) }
            // What the system says of it has the address in it.
            return .answerFails(
                other.hasBegun
                    ? ModelFault(.cut, "the connection broke off", words: error.reason)
                    : ModelFault(.network, "the endpoint was not reached", words: error.reason))
        }
    }

    /// The key; `nil` where the endpoint wants none.
    func key() throws(CommandFailure) -> String? {
        guard let file = endpoint.keyFile.map({ CredentialFile($0) }) else { return nil }
        guard !file.isOpen else {
            throw CommandFailure(
                code: "E_KEY_OPEN", "others than its owner can read the key in \(file.path)",
                hint: "chmod 600 \(file.path)", exitCode: .configuration)
        }
        return try file.secret("a key", hint: "endpoint.key_file names it; without it none is sent")
    }
}

/// What an endpoint says went wrong.
private final class ErrorBody {
    private(set) var isOne = false
    private(set) var hasBegun = false
    private(set) var body: [UInt8] = []
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    func begin(isOne: Bool) { (self.isOne, hasBegun) = (isOne, true) }

    func take(_ piece: UnsafeRawBufferPointer) -> Bool {
        body += piece.prefix(max(0, limit - body.count))
        return true
    }
}
