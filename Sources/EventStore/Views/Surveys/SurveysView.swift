/// Survey answers and how often each was given. Every event is one answer; of several choices each counts once.
final class SurveysView: View {
    static let name = "surveys"
    static let version: Int64 = 1
    static let tables = ["survey_answer", "survey_count"]
    static let schema = """
        CREATE TABLE survey_answer(
          survey TEXT, question TEXT, time INTEGER, hlc INTEGER, position INTEGER, value TEXT, user INTEGER NOT NULL,
          PRIMARY KEY(survey, question, time, hlc, position, value)
        ) WITHOUT ROWID;
        CREATE TABLE survey_count(
          survey TEXT, question TEXT, value TEXT, count INTEGER NOT NULL, PRIMARY KEY(survey, question, value)
        ) WITHOUT ROWID;
        """

    private struct Question: Hashable, Comparable {
        let survey: ByteText
        let question: ByteText
        static func < (a: Question, b: Question) -> Bool { (a.survey, a.question) < (b.survey, b.question) }
    }

    private struct Answer {
        let time: Int64
        let hlc: Int64
        let position: UInt64
        let dot: Dot
        let user: Int64
        let value: ByteText
    }

    /// What a batch does to one question.
    private struct Change {
        var counts: [ByteText: Int64] = [:]
        var answers: [Answer] = []
        /// Those that count no longer, whenever they came.
        var removed: [Answer] = []

        mutating func take(_ more: [Answer], _ change: ViewChange) {
            for answer in more { counts[answer.value, default: 0] += change.amount }
            if change == .remove { removed += more } else { answers += more }
        }
    }

    var digest = DigestSum()
    private var changes: [Question: Change] = [:]

    func apply(_ event: ProjectedEvent, _ change: ViewChange, _ store: ViewStore) throws(DatabaseError) -> String? {
        guard event.type == .surveyAnswered, let payload = event.payload else { return nil }
        let members = Members(payload)
        guard let survey = members.survey?.string, let question = members.question?.string,
            let values = members.values
        else { return Self.refusal(members) }
        if change == .shadow { return nil }
        let answers = values.map { value in
            Answer(
                time: event.key.time, hlc: event.key.hlc.ordered, position: event.position, dot: event.key.dot,
                user: event.user, value: ByteText(value))
        }
        let asked = Question(survey: ByteText(survey), question: ByteText(question))
        changes[asked, default: Change()].take(answers, change)
        return nil
    }

    /// Why a payload is not of the form that is read; `nil` if it is.
    static func refusal(_ members: Members) -> String? {
        if members.survey?.string == nil { return "survey is missing or not text" }
        if members.question?.string == nil { return "question is missing or not text" }
        return members.values == nil ? "choice, choices or rating is missing or of a wrong type" : nil
    }

    /// The members that tell of an answer, found in one walk over the payload.
    struct Members {
        private(set) var survey, question, choice, rating, choices: JSONValue?

        init(_ payload: JSONObject) {
            for member in payload {
                switch member.name {
                case "survey": survey = member.value
                case "question": question = member.value
                case "choice": choice = member.value
                case "rating": rating = member.value
                case "choices": choices = member.value
                default: break
                }
            }
        }

        /// What was answered; of several choices each once. `nil` if none can be read.
        var values: [String]? {
            if let choice, !choice.isNull { return choice.string.map { [$0] } }
            if let rating, !rating.isNull { return rating.plainNumber.map { [$0] } }
            guard let elements = choices?.elements else { return nil }
            let texts = elements.compactMap(\.string)
            return texts.count == elements.count ? Set(texts.map(ByteText.init)).sorted().map(\.text) : nil
        }
    }

    func flush(_ store: ViewStore) throws(DatabaseError) {
        for question in changes.keys.sorted() {
            guard let change = changes[question] else { continue }
            try write(change.answers, of: question, store, Self.insertion)
            try write(change.removed, of: question, store, Self.removal)
            for answer in change.answers { digest.add(fields(question, answer)) }
            for answer in change.removed { digest.remove(fields(question, answer)) }
            for value in change.counts.keys.sorted() {
                guard let amount = change.counts[value], amount != 0 else { continue }
                try store.connection.run(
                    """
                    INSERT INTO survey_count VALUES(?,?,?,?)
                    ON CONFLICT(survey, question, value) DO UPDATE SET count = count + excluded.count
                    """, .text(question.survey.text), .text(question.question.text), .text(value.text),
                    .integer(amount))
                guard amount < 0 else { continue }
                try store.connection.run(
                    "DELETE FROM survey_count WHERE survey = ? AND question = ? AND value = ? AND count = 0",
                    .text(question.survey.text), .text(question.question.text), .text(value.text))
            }
        }
        changes = [:]
    }

    private func fields(_ question: Question, _ answer: Answer) -> [DigestSum.Field] {
        [.text(question.survey.text), .text(question.question.text), .dot(answer.dot), .text(answer.value.text)]
    }

    private static let insertion =
        "INSERT INTO survey_answer(survey, question, time, hlc, position, value, user) VALUES(?,?,?,?,?,?,?)"
    private static let removal = """
        DELETE FROM survey_answer
        WHERE survey = ? AND question = ? AND time = ? AND hlc = ? AND position = ? AND value = ? AND user = ?
        """

    private func write(
        _ answers: [Answer], of question: Question, _ store: ViewStore, _ sql: String
    ) throws(DatabaseError) {
        let statement = try store.connection.statement(sql)
        try statement.bind(1, text: Array(question.survey.text.utf8))
        try statement.bind(2, text: Array(question.question.text.utf8))
        for answer in answers.sorted(by: { ($0.time, $0.hlc, $0.position) < ($1.time, $1.hlc, $1.position) }) {
            try statement.bind(3, answer.time)
            try statement.bind(4, answer.hlc)
            try statement.bind(5, answer.position)
            try statement.bind(6, text: Array(answer.value.text.utf8))
            try statement.bind(7, answer.user)
            try statement.run()
        }
    }

    /// Names of surveys with the number of answers given in each, as of the open transaction.
    static func all(_ connection: Connection) throws(DatabaseError) -> [(survey: String, answers: UInt64)] {
        try connection.all("SELECT survey, sum(count) FROM survey_count GROUP BY survey ORDER BY survey") {
            (survey: $0.text(0), answers: $0.uint64(1))
        }
    }

    /// Calls `body` with how often each answer was given, by question, until it returns false; as of the open transaction.
    ///
    /// - Parameter last: Only what comes after it.
    static func counts(
        of survey: String, question: String?, after last: SurveyCount?, _ connection: Connection,
        _ body: (SurveyCount) -> Bool
    ) throws(DatabaseError) {
        let beyond = last == nil ? "" : "AND (question, value) > (?3, ?4)"
        let select = try connection.statement(
            """
            SELECT question, value, count FROM survey_count
            WHERE survey = ?1 AND (?2 IS NULL OR question = ?2) \(beyond) ORDER BY question, value
            """)
        defer { select.reset() }
        try select.bind(1, text: Array(survey.utf8))
        try select.bind(2, question.map { .text($0) } ?? .null)
        if let last {
            try select.bind(3, text: Array(last.question.utf8))
            try select.bind(4, text: Array(last.value.utf8))
        }
        while try select.step() {
            let count = SurveyCount(
                survey: survey, question: select.text(0), value: select.text(1), count: select.uint64(2))
            if !body(count) { return }
        }
    }
}
