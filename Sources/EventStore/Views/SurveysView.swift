/// Survey answers and how often each was given. Every event is one answer; of several choices each counts once.
final class SurveysView: View {
    static let name = "surveys"
    static let tables = """
        CREATE TABLE survey_answer(
          survey TEXT, question TEXT, time INTEGER, hlc INTEGER, position INTEGER, user INTEGER NOT NULL, value TEXT,
          PRIMARY KEY(survey, question, time, hlc, position, value)
        ) WITHOUT ROWID;
        CREATE TABLE survey_count(
          survey TEXT, question TEXT, value TEXT, count INTEGER NOT NULL, PRIMARY KEY(survey, question, value)
        ) WITHOUT ROWID;
        """

    private struct Count: Hashable, Comparable {
        let survey: ByteText
        let question: ByteText
        let value: ByteText
        static func < (a: Count, b: Count) -> Bool {
            (a.survey, a.question, a.value) < (b.survey, b.question, b.value)
        }
    }

    private struct Answer {
        let count: Count
        let event: ProjectedEvent
    }

    private var counts: [Count: Int64] = [:]
    private var answers: [Answer] = []

    func apply(_ event: ProjectedEvent, _ change: ViewChange, _ store: ViewStore) throws(SQLiteError) -> String? {
        guard event.type == EventType.surveyAnswered, let payload = event.payload else { return nil }
        guard let survey = payload.string("survey") else { return "survey is missing or not text" }
        guard let question = payload.string("question") else { return "question is missing or not text" }
        guard let values = Self.values(payload) else {
            return "choice, choices or rating is missing or of a wrong type"
        }
        for value in values {
            let count = Count(survey: ByteText(survey), question: ByteText(question), value: ByteText(value))
            counts[count, default: 0] += change.amount
            switch change {
            case .insert: answers.append(Answer(count: count, event: event))
            case .shadow: break
            case .remove:
                try store.run(
                    """
                    DELETE FROM survey_answer
                    WHERE survey = ? AND question = ? AND time = ? AND hlc = ? AND position = ? AND value = ?
                    """, .text(survey), .text(question), .integer(event.key.time),
                    .integer(Int64(bitPattern: event.key.hlc.rawValue)),
                    .integer(Int64(bitPattern: event.position)), .text(value))
            }
        }
        return nil
    }

    private static func values(_ payload: JSONObject) -> [String]? {
        if let choice = payload["choice"], !choice.isNull { return choice.string.map { [$0] } }
        if let rating = payload["rating"], !rating.isNull { return rating.numberText.map { [$0] } }
        guard let elements = payload.elements("choices") else { return nil }
        let texts = elements.compactMap(\.string)
        return texts.count == elements.count ? Set(texts.map(ByteText.init)).sorted().map(\.text) : nil
    }

    func flush(_ store: ViewStore) throws(SQLiteError) {
        answers.sort { a, b in
            if a.count.survey != b.count.survey { return a.count.survey < b.count.survey }
            if a.count.question != b.count.question { return a.count.question < b.count.question }
            return a.event.key < b.event.key
        }
        for answer in answers {
            let event = answer.event
            try store.run(
                "INSERT INTO survey_answer VALUES(?,?,?,?,?,?,?)", .text(answer.count.survey.text),
                .text(answer.count.question.text), .integer(event.key.time),
                .integer(Int64(bitPattern: event.key.hlc.rawValue)), .integer(Int64(bitPattern: event.position)),
                .integer(event.user), .text(answer.count.value.text))
        }
        for count in counts.keys.sorted() {
            guard let amount = counts[count], amount != 0 else { continue }
            try store.run(
                """
                INSERT INTO survey_count VALUES(?,?,?,?)
                ON CONFLICT(survey, question, value) DO UPDATE SET count = count + excluded.count
                """, .text(count.survey.text), .text(count.question.text), .text(count.value.text), .integer(amount))
            if amount < 0 { try store.run("DELETE FROM survey_count WHERE count = 0") }
        }
        answers.removeAll(keepingCapacity: true)
        counts.removeAll(keepingCapacity: true)
    }

    func digest(_ store: ViewStore, into digest: inout DigestSum) throws(SQLiteError) {
        try store.rows("SELECT survey, question, value, count FROM survey_count") { row in
            digest.add("count", row.text(0), row.text(1), row.text(2), String(row.int64(3)))
        }
        try store.rows("SELECT survey, question, time, hlc, user, value FROM survey_answer") {
            row throws(SQLiteError) in
            digest.add(
                "answer", row.text(0), row.text(1), String(row.int64(2)), String(row.uint64(3)),
                try store.text(row.int64(4)), row.text(5))
        }
    }
}
