internal import BotKit
internal import CommandLineKit
internal import EventStore
internal import SillokClient

/// What answers questions: one request, on the calling thread.
protocol Model: Sendable {
    /// Hands the facts of an answer to `take`, which says whether it goes on. `goesOn` is asked about once a second.
    ///
    /// - Returns: The last fact; `nil` where `take` or `goesOn` has ended it.
    func ask(
        _ request: CompletionRequest, timeout: UInt64, take: @escaping (ReplyMachine.Input) -> Bool,
        goesOn: @escaping () -> Bool
    ) -> ReplyMachine.Input?
}

/// An endpoint that is shaped like OpenAI's.
struct HTTPModel: Model {
    let endpoint: BotConfiguration.Endpoint

    /// Longest body of an answer that is an error.
    private static let longestError = 64 << 10

    func ask(
        _ request: CompletionRequest, timeout: UInt64, take: @escaping (ReplyMachine.Input) -> Bool,
        goesOn: @escaping () -> Bool
    ) -> ReplyMachine.Input? {
        let key: String?
        // Read anew for each request, so that another key counts without a new start.
        do throws(CommandFailure) { key = try self.key() } catch {
            return .answerFails(ModelFault(.noKey, error.what))
        }
        var wanted = ClientRequest(
            method: "POST", target: CompletionRequest.path, body: request.body, contentType: "application/json",
            timeout: Int(clamping: timeout))
        wanted.accept = request.isStreamed ? "text/event-stream, application/json" : "application/json"
        // An answer that comes whole is silent until it is there.
        if request.isStreamed { wanted.silence = Int(clamping: endpoint.silence / 1_000) }
        wanted.usesProxies = true
        let place = NodePlace(
            named: .url(endpoint.url), token: key, authorities: endpoint.authorities, reason: nil)
        let other = ErrorBody(limit: Self.longestError)
        let listener = ClientRequest.Listener(
            begins: { status, contentType in
                other.begin(isOne: !(200..<300).contains(status))
                if !other.isOne { _ = take(.answerBegins(contentType: contentType)) }
            },
            takes: { piece in other.isOne ? other.take(piece) : take(.piece(Array(piece))) }, goesOn: goesOn)
        do throws(ClientRequest.Failure) {
            let answer = try wanted.send(to: place, listener)
            guard other.isOne else { return .answerEnds }
            return .answerFails(
                ModelFault(status: answer.status, retryAfter: answer.retryAfter, body: other.body, secret: key))
        } catch {
            if error.isEnded { return nil }
            if error.isTimeout { return .answerFails(ModelFault(.timeout, "no answer in time")) }
            return .answerFails(ModelFault(other.hasBegun ? .cut : .network, error.reason))
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

/// Repeats the question, without a network: for a first try, and for tests.
struct EchoModel: Model {
    func ask(
        _ request: CompletionRequest, timeout: UInt64, take: @escaping (ReplyMachine.Input) -> Bool,
        goesOn: @escaping () -> Bool
    ) -> ReplyMachine.Input? {
        var message = JSONLine()
        message.add("role", Turn.Role.assistant.rawValue)
        message.add("content", request.turns.last { $0.role == .user }?.text)
        var line = JSONLine()
        line.add("model", "echo")
        line.addRaw("choices", #"[{"index":0,"finish_reason":"stop","message":\#(message.text)}]"#)
        guard take(.answerBegins(contentType: "application/json")), take(.piece(line.utf8)) else { return nil }
        return .answerEnds
    }
}
