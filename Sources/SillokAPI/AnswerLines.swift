package import CommandLineKit
package import EventStore

/// The lines that answers of views are made of, on the command line and of the API alike (docs/reference/CLI-JSON.md).
extension JSONLine {
    /// `{"type":"conversation",…}`.
    package init(_ summary: ConversationSummary) {
        self.init(type: "conversation")
        add(summary, last: summary.lastTime)
    }

    /// What is told of a conversation wherever it is listed.
    ///
    /// - Parameter last: When its last event was, Unix milliseconds.
    mutating func add(_ summary: ConversationSummary, last: Int64) {
        add("conversation", summary.conversation)
        add("title", summary.title)
        add("category", summary.category)
        add("started_by", summary.startedBy)
        add("version", summary.events)
        add("messages", summary.messages)
        add("first_time", Timestamp.text(summary.firstTime))
        add("last_time", Timestamp.text(last))
    }

    /// `{"type":"participant",…}`.
    package init(_ participant: Participant) {
        self.init(type: "participant")
        add("user", participant.user)
        add("messages", participant.messages)
        if let joined = participant.joined { add("joined", joined) }
    }

    /// `{"type":"user",…}`.
    package init(_ user: UserName) {
        self.init(type: "user")
        add("user", user.user)
        add("name", user.name)
    }

    /// `{"type":"field",…}`: of a profile.
    package init(_ field: ProfileField) {
        self.init(type: "field")
        add("name", field.name)
        add(field.winner)
        add("conflict", field.isConflict)
        addArray("concurrent") { array in
            for write in field.concurrent { array.addObject { $0.add(write) } }
        }
    }

    /// `{"type":"survey",…}`.
    package init(survey: String, answers: UInt64) {
        self.init(type: "survey")
        add("survey", survey)
        add("answers", answers)
    }

    /// `{"type":"answer",…,"group":…}`: of a survey, in a group of its answers.
    package init(_ count: SurveyGroupCount) {
        self.init(count.count)
        if count.group.isEmpty { addRaw("group", "null") } else { add("group", count.group) }
    }

    /// `{"type":"answer",…}`: of a survey.
    package init(_ count: SurveyCount) {
        self.init(type: "answer")
        add("survey", count.survey)
        add("question", count.question)
        add("value", count.value)
        add("count", count.count)
    }

    private mutating func add(_ write: ProfileWrite) {
        addRaw("value", write.value)
        add("author", write.author)
        add("time", Timestamp.text(write.time))
        add("event", write.dot.description)
        add("position", write.position)
    }

    /// What became of the message of this line (D24).
    package mutating func addHistory(of entry: TimelineEntry) {
        guard let history = entry.history else { return }
        if let edit = history.edit {
            add("text", edit.text)
            add("original", entry.stored.event.payload.flatMap { JSONObject(validated: $0).string("text") })
        }
        let edits = history.amendments.filter(\.isEdit)
        if !edits.isEmpty {
            addArray("edits") { array in
                for edit in edits { array.addObject { $0.add(edit, by: "author") } }
            }
        }
        if let retraction = history.retraction {
            addObject("retracted") { $0.add(retraction, by: "by", appliedIsKnown: true) }
        }
        let refused = history.amendments.filter { !$0.isEdit && !$0.counts }
        if !refused.isEmpty {
            addArray("retractions") { array in
                for retraction in refused { array.addObject { $0.add(retraction, by: "by") } }
            }
        }
        if history.count > history.amendments.count { add("amendments", history.count) }
    }

    private mutating func add(_ amendment: Amendment, by name: String, appliedIsKnown: Bool = false) {
        add("id", amendment.id.description)
        add(name, amendment.author)
        add("time", Timestamp.text(amendment.time))
        add("hlc", amendment.hlc.description)
        if amendment.isEdit { add("text", amendment.text) }
        if let reason = amendment.reason { add("reason", reason) }
        if !appliedIsKnown { add("applied", amendment.counts) }
    }
}

extension JSONLine {
    /// `{"type":"read",…}`: of the access log.
    ///
    /// - Parameters:
    ///   - object: The payload; `nil` where it is lost: then what was read, and of whom, cannot be told.
    ///   - user: Who is told it as one whom it concerns: of the others, and of what was looked for, it says nothing.
    package init(read object: JSONObject?, _ header: EventHeader, to user: String? = nil) {
        self.init(type: "read")
        add("at", Timestamp.text(header.hlc.milliseconds))
        guard let object else {
            // It may be of another.
            if user == nil { add("actor", header.actor?.text) }
            add("lost", true)
            add("id", header.id.description)
            return
        }
        let subject = object.string("subject")
        add("actor", header.actor?.text)
        add("route", object.string("route"))
        add("subject", user == nil ? subject : subject.map { String($0.prefix { $0 != "?" }) })
        add("users", user.map { [$0] } ?? object.strings("users") ?? [])
        add("reason", object.string("reason"))
        if let who = object.string("who") { add("who", who) }
        add("id", header.id.description)
    }
}
