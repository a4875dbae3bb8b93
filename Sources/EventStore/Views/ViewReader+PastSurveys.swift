extension ViewReader {
    /// As ``surveys()``, of an earlier moment.
    package func surveys(at moment: PointInTime) throws(StoreError) -> [(survey: String, answers: UInt64)] {
        if moment.isNow { return try surveys() }
        var answers: [ByteText: UInt64] = [:]
        for (key, count) in try counts(of: nil, question: nil, moment) { answers[key.survey, default: 0] += count }
        return answers.keys.sorted().map { ($0.text, answers[$0] ?? 0) }
    }

    /// As ``survey(_:question:after:_:)``, of an earlier moment.
    package func survey(
        _ name: String, question: String? = nil, after last: SurveyCount? = nil, at moment: PointInTime,
        _ body: (SurveyCount) -> Bool
    ) throws(StoreError) {
        if moment.isNow { return try survey(name, question: question, after: last, body) }
        let counts = try counts(of: name, question: question, moment)
        let bound = last.map { SurveyKey($0.survey, $0.question, $0.value) }
        for key in counts.keys.sorted() {
            if let bound, key <= bound { continue }
            let count = SurveyCount(
                survey: key.survey.text, question: key.question.text, value: key.value.text, count: counts[key] ?? 0)
            if !body(count) { return }
        }
    }

    private struct SurveyKey: Hashable, Comparable {
        let survey, question, value: ByteText

        init(_ survey: String, _ question: String, _ value: String) {
            (self.survey, self.question, self.value) = (ByteText(survey), ByteText(question), ByteText(value))
        }

        static func < (a: SurveyKey, b: SurveyKey) -> Bool {
            (a.survey, a.question, a.value) < (b.survey, b.question, b.value)
        }
    }

    private func counts(
        of survey: String?, question: String?, _ moment: PointInTime
    ) throws(StoreError) -> [SurveyKey: UInt64] {
        var past = try PastMoment(moment, log)
        var counts: [SurveyKey: UInt64] = [:]
        var looked = 0
        try reading { connection throws(DatabaseError) in
            let conditions = [survey == nil ? nil : "survey = ?", question == nil ? nil : "question = ?"]
            let condition = conditions.compactMap { $0 }.joined(separator: " AND ")
            try connection.rows(
                """
                SELECT survey, question, value, time, position FROM survey_answer
                \(condition.isEmpty ? "" : "WHERE \(condition)") LIMIT 200001
                """, [survey, question].compactMap { $0 }.map { .text($0) }
            ) { row in
                looked += 1
                guard row.int64(3) <= past.asOf, row.uint64(4) <= past.knownAt else { return }
                counts[SurveyKey(row.text(0), row.text(1), row.text(2)), default: 0] += 1
            }
        }
        try past.look(at: looked)
        for event in try answersReplaced(&past) where event.key.time <= past.asOf {
            guard let payload = event.payload else { continue }
            let members = SurveysView.Members(payload)
            guard let name = members.survey?.string, let asked = members.question?.string,
                survey.map(name.hasSameBytes) ?? true, question.map(asked.hasSameBytes) ?? true
            else { continue }
            for value in members.values ?? [] { counts[SurveyKey(name, asked, value), default: 0] += 1 }
        }
        return counts
    }

    /// Answers that counted when the log had come so far, and in whose place twins count that came later.
    private func answersReplaced(_ past: inout PastMoment) throws(StoreError) -> [ProjectedEvent] {
        guard past.isBounded, let type = try log.ref(EventType.surveyAnswered.rawValue) else { return [] }
        let later = try mapped { () throws(DatabaseError) in
            try log.connection.all(
                "SELECT position FROM event INDEXED BY event_twin WHERE twin IS NOT NULL AND position > ? LIMIT 20001",
                [.unsigned(past.knownAt)]
            ) { $0.uint64(0) }
        }
        try past.read(events: later.count)
        let source = ProjectionSource(reading: log)
        var replaced: [UInt64: ProjectedEvent] = [:]
        for position in later where try log.counted(position, at: UInt64(Int64.max)) {
            try mapped { () throws(DatabaseError) in
                guard let twin = try log.twin(countingBefore: position, at: past.knownAt) else { return }
                let event = try source.event(at: twin.position)
                if event.typeRef == type, event.obstacle == nil { replaced[twin.position] = event }
            }
        }
        return Array(replaced.values)
    }
}
