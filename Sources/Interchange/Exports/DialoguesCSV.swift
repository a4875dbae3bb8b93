internal import CommandLineKit
package import EventStore

/// Questions and their answers, a record each, with what was answered to a survey about them (`--format dialogues`).
///
/// The question of a reply is its cause; where it names none that was seen, the last message of a person before it. Both are as
/// they stand now, and what was taken back or erased is no pair.
package final class DialoguesCSV: ConversationWriter {
    package static let columns = [
        "conversation", "user", "bot", "asked", "question", "answered", "answer", "seconds", "satisfaction", "reason",
        "comment", "question_id", "answer_id",
    ]

    package let types = DialogueRole.all.types
    package let survey: SurveyWish?
    package private(set) var leftOut: [String: Int] = [:]
    package private(set) var written = 0
    private var conversation = ExportedConversation("")
    private var questions = Recent<EventID, (time: Int64, text: String)>(most: 1_000)
    private var last: EventID?

    package init(_ survey: SurveyWish) { self.survey = survey }

    package func begin() -> [UInt8] { Array(CSVLine.record(Self.columns.map { .text($0) }).utf8) }

    package func begin(_ conversation: ExportedConversation) -> [UInt8] {
        self.conversation = conversation
        questions = Recent(most: 1_000)
        last = nil
        return []
    }

    package func end() -> [UInt8] { [] }

    package func add(_ entry: TimelineEntry) -> [UInt8] {
        guard let spoken = Spoken(entry) else { return [] }
        let header = spoken.header
        guard spoken.state == nil || spoken.state == .edited else {
            leftOut["messages that were taken back, erased or cannot be read", default: 0] += 1
            return []
        }
        guard spoken.role == .assistant else {
            if spoken.role == .user {
                questions[header.id] = (header.time, spoken.text ?? "")
                last = header.id
            }
            return []
        }
        if let value = survey?.value, !conversation.answers.has(value, about: header.id) { return [] }
        let named = header.cause.flatMap { questions[$0] == nil ? nil : $0 }
        guard let asked = named ?? last, let question = questions[asked] else {
            leftOut["answers without a question", default: 0] += 1
            return []
        }
        written += 1
        let told = conversation.answers.told(of: header.id)
        let waited = Self.seconds(header.time.subtractingReportingOverflow(question.time).partialValue)
        return Array(
            CSVLine.record([
                MessagesCSV.field(header.conversation), .text(header.user), .text(header.author),
                .text(Timestamp.text(question.time)), .text(question.text), .text(Timestamp.text(header.time)),
                .text(spoken.text ?? ""), .number(waited), MessagesCSV.field(told.answer),
                MessagesCSV.field(told.reason), MessagesCSV.field(told.comment), .text(asked.description),
                .text(header.id.description),
            ]).utf8)
    }

    /// `1.250`; clocks of two nodes may put an answer before its question.
    private static func seconds(_ milliseconds: Int64) -> String {
        let digits = String(milliseconds.magnitude % 1_000)
        let fraction = String(repeating: "0", count: 3 - digits.count) + digits
        return "\(milliseconds < 0 ? "-" : "")\(milliseconds.magnitude / 1_000).\(fraction)"
    }
}

/// What was seen last, by name, in bounded memory: at least the last `most`, at most twice as many.
struct Recent<Key: Hashable, Value> {
    private var newer: [Key: Value] = [:]
    private var older: [Key: Value] = [:]
    private let most: Int

    init(most: Int) { self.most = most }

    subscript(_ key: Key) -> Value? {
        get { newer[key] ?? older[key] }
        set {
            if newer.count == most { (older, newer) = (newer, [:]) }
            newer[key] = newValue
        }
    }
}
