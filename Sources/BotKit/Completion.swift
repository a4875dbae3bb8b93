internal import CommandLineKit
package import EventStore

/// One turn of what is said to a model.
package struct Turn: Equatable, Sendable {
    package enum Role: String, Sendable {
        case system, user, assistant
    }

    package let role: Role
    package let text: String

    package init(_ role: Role, _ text: String) { (self.role, self.text) = (role, text) }
}

/// A request for a chat completion, as OpenAI's endpoint and those that are shaped like it take it.
package struct CompletionRequest: Equatable, Sendable {
    package static let path = "/chat/completions"

    package var model: String
    package var isStreamed: Bool
    package var turns: [Turn]
    /// Further members, each as JSON.
    package var parameters: [Parameter]

    /// A further member of a request.
    package struct Parameter: Equatable, Sendable {
        package let name: String
        package let json: String
        package init(_ name: String, json: String) { (self.name, self.json) = (name, json) }
    }

    package init(model: String, isStreamed: Bool, turns: [Turn], parameters: [Parameter] = []) {
        (self.model, self.isStreamed, self.turns, self.parameters) = (model, isStreamed, turns, parameters)
    }

    /// `{"model":…,"stream":…,"messages":[…],…}`.
    package var body: [UInt8] {
        var line = JSONLine()
        line.add("model", model)
        line.add("stream", isStreamed)
        line.addArray("messages") { array in
            for turn in turns {
                array.addObject { object in
                    object.add("role", turn.role.rawValue)
                    object.add("content", turn.text)
                }
            }
        }
        for parameter in parameters { line.addRaw(parameter.name, parameter.json) }
        return line.utf8
    }
}

/// What a model has answered.
package struct Completion: Equatable, Sendable {
    package var text = ""
    /// `stop`, `length` and so on; `nil` where the endpoint does not say.
    package var finish: String?
    /// The model that the endpoint says it was.
    package var model: String?
    /// The endpoint's own name of the answer.
    package var id: String?
    package var usage: Usage?

    package struct Usage: Equatable, Sendable {
        package let prompt: Int64
        package let completion: Int64
        package let total: Int64

        package init?(_ object: JSONObject?) {
            guard let object else { return nil }
            let read = { (name: String) in max(0, object.integer(name) ?? 0) }
            (prompt, completion) = (read("prompt_tokens"), read("completion_tokens"))
            total = object.integer("total_tokens").map { max(0, $0) } ?? prompt.addingReportingOverflow(completion).0
            guard prompt > 0 || completion > 0 || total > 0 else { return nil }
        }
    }

    package init() {}

    /// Reads the body of an answer that was not streamed.
    package init(body: [UInt8]) throws(ModelFault) {
        guard let object = try? JSONObject(validating: body) else {
            throw ModelFault(.decode, "the answer is no JSON object")
        }
        self.init()
        take(head: object)
        guard let choice = object.firstChoice else {
            throw ModelFault(.decode, "the answer has no choices")
        }
        finish = choice.string("finish_reason")
        guard finish != "content_filter" else { throw .filteredAnswer }
        guard let content = choice.object("message")?["content"]?.text else {
            throw ModelFault(.decode, "the answer has no text")
        }
        text = content
    }

    fileprivate mutating func take(head object: JSONObject) {
        if let name = object.string("model"), !name.isEmpty { model = name }
        if let name = object.string("id"), !name.isEmpty { id = name }
        if let usage = Usage(object.object("usage")) { self.usage = usage }
    }
}

extension ModelFault {
    fileprivate static let filteredAnswer = ModelFault(.filtered, "the endpoint withheld its answer")
}

/// Reads an answer that comes as a stream of pieces.
package struct CompletionStream: Sendable {
    private var events = ServerSentEvents()
    private(set) package var completion = Completion()
    private var isDone = false
    /// The escape of a high surrogate that a piece has ended in; empty otherwise.
    private var half: [UInt8] = []

    package init() {}

    /// What `bytes` add to the text.
    package mutating func take(_ bytes: some Sequence<UInt8>) throws(ModelFault) -> String {
        var added = ""
        let found: [[UInt8]]
        do throws(ServerSentEvents.TooLong) { found = try events.take(bytes) } catch {
            throw ModelFault(.decode, "a piece of the answer is too long")
        }
        for event in found where !isDone {
            if event.elementsEqual("[DONE]".utf8) { isDone = true } else { added += try piece(event) }
        }
        completion.text += added
        return added
    }

    private mutating func piece(_ bytes: [UInt8]) throws(ModelFault) -> String {
        guard let object = try? JSONObject(validating: bytes) else {
            throw ModelFault(.decode, "a piece of the answer is no JSON object")
        }
        if let error = object.object("error") {
            throw ModelFault(.cut, "the endpoint reported an error in its answer" + ModelFault.named(error))
        }
        completion.take(head: object)
        // The last piece may have the usage alone, and one may be of another choice.
        guard let choice = object.firstChoice else { return "" }
        if let reason = choice.string("finish_reason") { completion.finish = reason }
        guard completion.finish != "content_filter" else { throw .filteredAnswer }
        return choice.object("delta")?["content"].flatMap { text($0) } ?? ""
    }

    /// The text of a piece. Half of a surrogate pair at its end waits for the next one: some endpoints cut between UTF-16 units.
    private mutating func text(_ value: JSONValue) -> String? {
        guard value.kind == .string, value.raw.count > 2 else { return value.string }
        var inside = half + value.raw.dropFirst().dropLast()
        half = []
        if JSONText.endsInHighSurrogate(inside) {
            half = Array(inside.suffix(JSONText.escapeLength))
            inside.removeLast(JSONText.escapeLength)
        }
        let quote = [UInt8(ascii: "\"")]
        let whole = quote + inside + quote
        return JSONValue(bytes: whole, range: whole.indices).string
    }

    /// The whole answer, when the stream has ended. One that ends without `[DONE]` or a reason was cut, and is none.
    package func end() throws(ModelFault) -> Completion {
        guard isDone || completion.finish != nil else { throw ModelFault(.cut, "the answer broke off") }
        guard !half.isEmpty else { return completion }
        // Its other half never came.
        var completion = completion
        completion.text += "\u{fffd}"
        return completion
    }
}

extension JSONObject {
    /// The choice that is the answer: the first by its index, wherever it stands among others.
    fileprivate var firstChoice: JSONObject? {
        elements("choices")?.lazy.compactMap(\.object).first { ($0.integer("index") ?? 0) == 0 }
    }
}
