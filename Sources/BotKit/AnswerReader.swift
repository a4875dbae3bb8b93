/// Reads one answer of a model, streamed or whole, in bounded memory.
struct AnswerReader: Sendable {
    private enum Form {
        case stream(CompletionStream)
        case whole([UInt8])
        /// It says that it is neither.
        case other(String)
    }

    private let longest: Int
    private var form = Form.whole([])

    /// Most bytes of an answer that is not streamed: its text may be escaped, and more stands in it than the text.
    private var longestBody: Int { longest * 6 + (64 << 10) }

    /// - Parameter longest: Bytes of the longest text.
    init(longest: Int = 64 << 10) { self.longest = longest }

    /// An endpoint that does not stream answers with one object.
    mutating func begin(_ contentType: String?) {
        let kind = contentType?.prefix { $0 != ";" }.lowercased().filter { !$0.isWhitespace } ?? "application/json"
        switch kind {
        case "text/event-stream": form = .stream(CompletionStream())
        case _ where kind == "application/json" || kind.hasSuffix("+json"): form = .whole([])
        default: form = .other(kind)
        }
    }

    /// What the bytes add to the text, as far as it is known before the end.
    mutating func take(_ bytes: [UInt8]) throws(ModelFault) -> String {
        switch form {
        case .stream(var stream):
            form = .whole([])
            let added = try stream.take(bytes)
            form = .stream(stream)
            return added
        case .whole(var body):
            form = .whole([])
            guard body.count + bytes.count <= longestBody else { throw ModelFault(.decode, "the answer is too long") }
            body += bytes
            form = .whole(body)
            return ""
        case .other(let kind): throw ModelFault(.decode, "the answer is \(kind.prefix(80)), and no completion")
        }
    }

    /// Whether a streamed text is longer than is wanted.
    var isFull: Bool {
        if case .stream(let stream) = form { stream.completion.text.utf8.count > longest } else { false }
    }

    /// What there is of it, as one that ended for its length.
    func cut() -> Completion {
        guard case .stream(let stream) = form else { return Completion() }
        return shortened(stream.completion)
    }

    func end() throws(ModelFault) -> Completion {
        switch form {
        case .stream(let stream): try stream.end()
        case .whole(let body): shortened(try Completion(body: body))
        case .other(let kind): throw ModelFault(.decode, "the answer is \(kind.prefix(80)), and no completion")
        }
    }

    private func shortened(_ completion: Completion) -> Completion {
        guard completion.text.utf8.count > longest else { return completion }
        var completion = completion
        var end = completion.text.utf8.index(completion.text.startIndex, offsetBy: longest)
        while end > completion.text.startIndex, end.samePosition(in: completion.text) == nil {
            end = completion.text.utf8.index(before: end)
        }
        completion.text = String(completion.text[..<end])
        completion.finish = "length"
        return completion
    }
}

/// One answer of a model, outside of a conversation: whether there is one.
package final class ModelTrial {
    private var reader: AnswerReader
    private var fault: ModelFault?

    package init(_ longest: Int) { reader = AnswerReader(longest: longest) }

    /// Whether it goes on.
    package func take(_ input: ReplyMachine.Input) -> Bool {
        switch input {
        case .answerBegins(let contentType): reader.begin(contentType)
        case .piece(let bytes):
            do throws(ModelFault) { _ = try reader.take(bytes) } catch {
                fault = error
                return false
            }
        default: break
        }
        return true
    }

    /// - Parameter last: The last fact; `nil` where it was ended here.
    package func end(_ last: ReplyMachine.Input?) throws(ModelFault) -> Completion {
        if let fault { throw fault }
        switch last {
        case .answerFails(let fault): throw fault
        case .answerEnds: return try reader.end()
        default: throw ModelFault(.timeout, "no answer in time")
        }
    }
}
