package import EventStore

/// Conversations for fine-tuning, in OpenAI's form: a line `{"messages":[…]}` each, or one for each answer (`--format openai`).
///
/// What a line ends with is learnt, so it ends with an answer. Texts are those that stand now; what was taken back or erased is left
/// out. What was imported from such a line is written as the same conversation, so that importing it again adds nothing.
package final class OpenAILines: ConversationWriter {
    package let types = DialogueRole.all.types + ["bot.configured", "tool.returned"]
    package let survey: SurveyWish?
    package private(set) var leftOut: [String: Int] = [:]
    package private(set) var written = 0
    /// Most messages before an answer; `nil`: a line has the whole conversation.
    private let context: Int?
    private var conversation = ExportedConversation("")
    private var messages: [(role: SpokenRole, json: [UInt8])] = []
    private var bytes = 0
    /// The last instructions, which stand before what is cut off.
    private var system: [UInt8]?
    private var isTooLong = false

    package init(context: Int?, _ survey: SurveyWish?) { (self.context, self.survey) = (context, survey) }

    package func begin() -> [UInt8] { [] }

    package func begin(_ conversation: ExportedConversation) -> [UInt8] {
        self.conversation = conversation
        (messages, bytes, system, isTooLong) = ([], 0, nil, false)
        return []
    }

    package func add(_ entry: TimelineEntry) -> [UInt8] {
        guard let spoken = Spoken(entry), !isTooLong else { return [] }
        guard spoken.state == nil || spoken.state == .edited else {
            pass("messages that were taken back, erased or cannot be read")
            return []
        }
        guard let json = Self.json(spoken, isEdited: entry.edited != nil) else {
            // What a bot records of itself without any text is no message.
            if spoken.role != .system || spoken.text != nil { pass("messages without a text") }
            return []
        }
        guard let context else {
            messages.append((spoken.role, json))
            bytes += json.count + 1
            isTooLong = bytes > OpenAI.longestLine - 64
            return []
        }
        defer { remember(spoken.role, json, context) }
        guard spoken.role == .assistant else { return [] }
        if let value = survey?.value, !conversation.answers.has(value, about: spoken.header.id) { return [] }
        guard messages.contains(where: { $0.role == .user }) else {
            pass("answers without a question")
            return []
        }
        written += 1
        // What a tool answered is of no use without the call before it.
        let before = messages.drop { $0.role == .tool }.map(\.json)
        return Self.line((system.map { [$0] } ?? []) + before + [json])
    }

    private func remember(_ role: SpokenRole, _ json: [UInt8], _ context: Int) {
        if role == .system {
            system = json
        } else {
            messages.append((role, json))
            if messages.count > context { messages.removeFirst() }
        }
    }

    package func end() -> [UInt8] {
        guard context == nil else { return [] }
        if isTooLong {
            pass("conversations longer than \(OpenAI.longestLine >> 20) MiB; --context N makes lines of their parts")
            return []
        }
        if let value = survey?.value, !conversation.answers.has(value) { return [] }
        guard let last = messages.lastIndex(where: { $0.role == .assistant }) else {
            if !messages.isEmpty { pass("conversations without an answer") }
            return []
        }
        if last + 1 < messages.count { pass("messages after the last answer", messages.count - last - 1) }
        written += 1
        return Self.line(messages[...last].map(\.json))
    }

    private func pass(_ reason: String, _ count: Int = 1) { leftOut[reason, default: 0] += count }

    private static func line(_ messages: [[UInt8]]) -> [UInt8] {
        Array("{\"messages\":[".utf8) + messages.joined(separator: [UInt8(ascii: ",")]) + Array("]}\n".utf8)
    }

    /// A message of a line; `nil` if it says nothing. One that was imported from such a line stands there as it stood: without it the line
    /// would be another conversation.
    private static func json(_ spoken: Spoken, isEdited: Bool) -> [UInt8]? {
        let payload = spoken.payload
        let calls = payload?["tool_calls"].flatMap { $0.isNull ? nil : $0 }
        let parts = isEdited ? nil : payload?["content"].flatMap { $0.kind == .array ? $0 : nil }
        let isOfLine = payload?.object("source")?.string("format") == "openai"
        guard let text = spoken.text,
            !text.isEmpty || calls != nil || parts != nil || spoken.role == .tool || isOfLine && !isEdited
        else { return nil }
        var message = Payload()
        var (role, name) = (payload?.string("role") ?? spoken.role.rawValue, payload?.string("name"))
        if !isOfLine {
            // Names of other services are no names there: letters, digits, - and _.
            (role, name) = (spoken.role.rawValue, nil)
        }
        message.add("role", role)
        if let parts {
            message.add("content", parts)
        } else if !text.isEmpty || calls == nil {
            message.add("content", text)
        }
        message.add("tool_calls", calls)
        message.add("tool_call_id", spoken.role == .tool ? payload?.string("call") : nil)
        message.add("name", name)
        message.add("weight", payload?["weight"])
        return message.json
    }
}
