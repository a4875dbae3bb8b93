/// By what answers to a survey are told apart.
package enum SurveyGrouping: String, CaseIterable, Sendable {
    /// The day on which they were given.
    case day
    /// The bot that asked, or whose reply they are about.
    case bot
    /// The same, with the version of its persona: `medibot 2`.
    case persona
    /// The conversation in which they were given.
    case conversation
}

/// Which answers are wanted, and by what they are told apart.
package struct SurveyQuery: Sendable {
    package var grouping: SurveyGrouping
    package var question: String?
    /// Only this answer: a choice, or a rating as a number.
    package var choice: String?
    /// Given from then on, Unix milliseconds.
    package var since: Int64?
    /// Given before then.
    package var until: Int64?
    /// How far the clocks are ahead of UTC by which days begin, in milliseconds; of groups by day alone.
    package var offset: Int64 = 0

    package init(by grouping: SurveyGrouping) { self.grouping = grouping }
}

/// How often an answer was given in a group.
package struct SurveyGroupCount: Hashable, Sendable {
    /// `2026-11-24`, a bot, a bot and the version of its persona, or a conversation; empty where an answer says none.
    package let group: String
    package let count: SurveyCount

    /// In the order of a list.
    package var names: [String] { [group, count.question, count.value] }
}

extension ViewReader {
    /// Answers that are looked at; of those whose events have to be read so many.
    private static let (mostAnswers, mostRead) = (200_000, 20_000)

    /// How often each answer of a survey was given, by group, question and answer.
    ///
    /// - Throws: `E_SCOPE` where more than 200,000 answers would have to be looked at, by day, or 20,000 events read.
    package func survey(_ name: String, _ query: SurveyQuery) throws(StoreError) -> [SurveyGroupCount] {
        var counts: [[ByteText]: UInt64] = [:]
        var groups: [UInt64: String] = [:]
        var bots: [EventID: String] = [:]
        for answer in try answers(to: name, query) {
            let group: String
            switch query.grouping {
            case .day: group = Self.day(answer.time + query.offset)
            default:
                if let known = groups[answer.position] {
                    group = known
                    break
                }
                group = try self.group(answer.position, query.grouping, &bots)
                groups[answer.position] = group
                guard groups.count <= Self.mostRead else { throw Self.tooMany }
            }
            counts[[group, answer.question, answer.value].map(ByteText.init), default: 0] += 1
        }
        return counts.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map { key, count in
            SurveyGroupCount(
                group: key[0].text,
                count: SurveyCount(survey: name, question: key[1].text, value: key[2].text, count: count))
        }
    }

    private static let tooMany = StoreError.tooWide(
        "more than \(mostAnswers) answers, or \(mostRead) of which events are read: a shorter time, or one question")

    private func answers(
        to survey: String, _ query: SurveyQuery
    ) throws(StoreError) -> [(question: String, value: String, time: Int64, position: UInt64)] {
        let found = try reading { connection throws(DatabaseError) in
            try connection.all(
                """
                SELECT question, value, time, position FROM survey_answer
                WHERE survey = ?1 AND (?2 IS NULL OR question = ?2) AND time >= ?3 AND time < ?4
                  AND (?5 IS NULL OR value = ?5) LIMIT \(Self.mostAnswers + 1)
                """,
                [
                    .text(survey), query.question.map { .text($0) } ?? .null, .integer(query.since ?? .min),
                    .integer(query.until ?? .max), query.choice.map { .text($0) } ?? .null,
                ]
            ) { (question: $0.text(0), value: $0.text(1), time: $0.int64(2), position: $0.uint64(3)) }
        }
        guard found.count <= Self.mostAnswers else { throw Self.tooMany }
        return found
    }

    /// `2026-11-24`.
    private static func day(_ time: Int64) -> String { String(Timestamp.text(time).prefix { $0 != "T" }) }

    /// - Parameter bots: What is known of events that answers are about.
    private func group(
        _ position: UInt64, _ grouping: SurveyGrouping, _ bots: inout [EventID: String]
    ) throws(StoreError) -> String {
        guard let event = try log.event(at: position)?.event else { return "" }
        if grouping == .conversation { return event.header.conversation ?? "" }
        let payload = event.payload.map(JSONObject.init(validated:))
        let about = payload?.string("about").flatMap { EventID(text: $0) }
        for id in [about, event.header.cause].compactMap(\.self) {
            if bots[id] == nil { bots[id] = try bot(id, grouping) }
            if let bot = bots[id], !bot.isEmpty { return bot }
        }
        return ""
    }

    /// The bot that has written an event, a reply or the offer of a survey; empty where it is neither.
    private func bot(_ id: EventID, _ grouping: SurveyGrouping) throws(StoreError) -> String {
        guard let event = try log.countingEvent(id: id)?.event else { return "" }
        let payload = event.payload.map(JSONObject.init(validated:))
        switch event.header.type {
        case "bot.replied":
            guard grouping == .persona else { return event.header.author }
            let version = payload?.object("persona")?.string("version")
            return version.map { "\(event.header.author) \($0)" } ?? event.header.author
        case "survey.offered":
            // What was asked about says the persona; an offer is written by the bot itself.
            let about = payload?.string("about").flatMap { EventID(text: $0) }
            guard let about, try log.countingEvent(id: about)?.event.header.type == "bot.replied" else {
                return event.header.author
            }
            return try bot(about, grouping)
        default: return ""
        }
    }
}
