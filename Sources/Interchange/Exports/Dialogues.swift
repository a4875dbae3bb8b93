internal import CommandLineKit
package import EventStore

/// A question and its answer, with what was answered to a survey about them.
package struct Dialogue {
    package let conversation: String?
    package let user: String
    package let bot: String
    /// When, Unix milliseconds.
    package let asked: Int64
    package let question: String
    package let answered: Int64
    package let answer: String
    /// What the user thought of it.
    package let satisfaction: String?
    package let reason: String?
    package let comment: String?
    package let questionID: EventID
    package let answerID: EventID

    package static let columns = [
        "conversation", "user", "bot", "asked", "question", "answered", "answer", "seconds", "satisfaction", "reason",
        "comment", "question_id", "answer_id",
    ]

    /// The names of the columns as a record of CSV.
    package static var header: String { CSVLine.record(columns.map { .text($0) }) }

    /// From question to answer, as `1.250`; clocks of two nodes may put an answer before its question.
    package var seconds: String {
        let waited = answered.subtractingReportingOverflow(asked).partialValue
        let digits = String(waited.magnitude % 1_000)
        let fraction = String(repeating: "0", count: 3 - digits.count) + digits
        return "\(waited < 0 ? "-" : "")\(waited.magnitude / 1_000).\(fraction)"
    }

    /// A record of CSV.
    package var record: String {
        CSVLine.record([
            MessagesCSV.field(conversation), .text(user), .text(bot), .text(Timestamp.text(asked)), .text(question),
            .text(Timestamp.text(answered)), .text(answer), .number(seconds), MessagesCSV.field(satisfaction),
            MessagesCSV.field(reason), MessagesCSV.field(comment), .text(questionID.description),
            .text(answerID.description),
        ])
    }
}

/// Questions and their answers, one after the other, in any form.
///
/// The question of a reply is its cause; where it names none that was seen, the last message of a person before it. Both are as
/// they stand now, and what was taken back or erased is no pair.
package final class Dialogues: ConversationWriter {
    package let types = DialogueRole.all.types
    package let survey: SurveyWish?
    package private(set) var leftOut: [String: Int] = [:]
    package private(set) var written = 0
    private let header: String
    private let text: (Dialogue) -> String
    private var conversation = ExportedConversation("")
    private var questions = Recent<EventID, (time: Int64, text: String)>(most: 1_000)
    private var last: EventID?

    /// - Parameters:
    ///   - header: What stands before all.
    ///   - text: The form of each.
    package init(
        _ survey: SurveyWish, header: String = Dialogue.header, _ text: @escaping (Dialogue) -> String = \.record
    ) {
        (self.survey, self.header, self.text) = (survey, header, text)
    }

    package func begin() -> [UInt8] { Array(header.utf8) }

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
        let dialogue = Dialogue(
            conversation: header.conversation, user: header.user, bot: header.author, asked: question.time,
            question: question.text, answered: header.time, answer: spoken.text ?? "", satisfaction: told.answer,
            reason: told.reason, comment: told.comment, questionID: asked, answerID: header.id)
        return Array(text(dialogue).utf8)
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
