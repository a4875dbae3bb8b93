package import CommandLineKit
package import EventStore

/// What is here of one person, on one page that leads to the pages of their conversations; it needs no script and loads nothing.
package struct SubjectPage {
    /// What stands over it.
    package struct Head {
        package var user: String
        package var reason: String
        package var who: String
        /// The node that has made it, and the event that records it.
        package var node: String
        package var record: String
        package var events: UInt64
        package var elsewhere: UInt64
        package var context: UInt64
        /// Whether what others have said is told in full.
        package var isFull: Bool
        /// The position of the log up to which all is there.
        package var position: UInt64

        package init(user: String, reason: String, who: String, node: String, record: String, isFull: Bool) {
            (self.user, self.reason, self.who, self.node, self.record) = (user, reason, who, node, record)
            (events, elsewhere, context, position, self.isFull) = (0, 0, 0, 0, isFull)
        }
    }

    /// A conversation with its page.
    package struct Link {
        package var file: String
        package var title: String
        package var events: Int

        package init(file: String, title: String, events: Int) {
            (self.file, self.title, self.events) = (file, title, events)
        }
    }

    /// Someone has looked at it. Where the record has lost its payload, who and what are `nil`: it may be of another.
    package struct Read {
        package var time: Int64
        package var who: String?
        package var what: String?
        package var reason: String

        package init(time: Int64, who: String?, what: String?, reason: String) {
            (self.time, self.who, self.what, self.reason) = (time, who, what, reason)
        }
    }

    private let settings: ConversationPage.Settings
    private var out = PageMarkup()

    package init(_ settings: ConversationPage.Settings) { self.settings = settings }

    private func word(_ word: SubjectWords, _ values: String...) -> String {
        word.phrase.text(settings.language, values)
    }

    private func clock(_ milliseconds: Int64) -> String { TimeFormat.local(milliseconds, in: settings.zone) }

    /// The page.
    package mutating func page(
        _ head: Head, profile: [ProfileField], conversations: [Link], reads: [Read]
    ) -> [UInt8] {
        begin(head)
        section(.profile)
        if profile.isEmpty { nothing() } else { fields(profile) }
        section(.conversations)
        if conversations.isEmpty {
            nothing()
        } else {
            out.raw("<ul>\n")
            for link in conversations {
                out.raw("<li><a href=\"")
                out.text(link.file)
                out.raw("\">")
                out.text(Sanitizer.line(link.title))
                out.raw("</a> ")
                out.element("span", "class=\"fine\"", word(.events, String(link.events)))
                out.raw("</li>\n")
            }
            out.raw("</ul>\n")
        }
        section(.reads)
        if reads.isEmpty { nothing() }
        for read in reads {
            out.raw("<article><p class=\"who\">")
            out.element("b", "dir=\"auto\"", Sanitizer.line(read.who ?? "?"))
            out.raw(" ")
            out.element("time", "datetime=\"\(Timestamp.text(read.time))\"", clock(read.time))
            out.raw("</p>\n")
            out.said(read.what ?? word(.lostRead))
            out.element("p", "class=\"note\"", Sanitizer.line(read.reason))
            out.raw("</article>\n")
        }
        out.element("p", "class=\"fine\"", word(.readsNote))
        section(.files)
        out.raw("<ul>\n")
        for (file, words) in Self.files {
            out.raw("<li><a href=\"\(file)\">\(file)</a>: ")
            out.text(word(words))
            out.raw("</li>\n")
        }
        out.raw("</ul>\n</main>\n</body>\n</html>\n")
        return out.bytes
    }

    private static let files: [(String, SubjectWords)] = [
        ("events.ndjson", .fileEvents), ("events.csv", .fileCSV), ("context.ndjson", .fileContext),
        ("readers.ndjson", .fileReaders), ("README.md", .fileReadme),
    ]

    private mutating func begin(_ head: Head) {
        let title = word(.title, head.user)
        out.head(Sanitizer.line(title), language: settings.language.rawValue)
        term(.askedBy, head.who)
        term(.why, head.reason)
        term(.node, head.node)
        term(.record, head.record)
        term(.own, word(.events, String(head.events)))
        term(head.isFull ? .elsewhereFull : .elsewhere, word(.events, String(head.elsewhere)))
        term(.others, word(.events, String(head.context)) + ", " + word(head.isFull ? .othersFull : .othersHeaders))
        out.raw("</dl>\n")
        let fine = [word(.through, String(head.position)), word(.made, clock(settings.now), settings.zoneName)]
        out.element("p", "class=\"fine\"", fine.joined(separator: " "))
        out.raw("\n</header>\n<main>\n")
    }

    private mutating func term(_ name: SubjectWords, _ value: String) {
        out.element("dt", "", word(name))
        out.element("dd", "dir=\"auto\"", Sanitizer.line(value))
        out.raw("\n")
    }

    private mutating func section(_ name: SubjectWords) {
        out.element("h2", "", word(name))
        out.raw("\n")
    }

    private mutating func nothing() {
        out.element("p", "class=\"event\"", word(.nothing))
        out.raw("\n")
    }

    private mutating func fields(_ profile: [ProfileField]) {
        out.raw("<dl>\n")
        for field in profile {
            for write in [field.winner] + field.concurrent
            where write == field.winner || write.value != field.winner.value {
                out.element("dt", "dir=\"auto\"", Sanitizer.line(field.name))
                let object = JSONObject(validated: Array(#"{"v":\#(write.value)}"#.utf8))
                let said = object.string("v") ?? write.value
                let by = "(\(write.author), \(clock(write.time)))"
                out.element("dd", "dir=\"auto\"", Sanitizer.line("\(said) \(by)"))
                out.raw("\n")
            }
        }
        out.raw("</dl>\n")
    }
}

/// What such a page says itself, in both languages.
package enum SubjectWords: CaseIterable, Sendable {
    case title, askedBy, why, node, record, own, elsewhere, elsewhereFull, others, othersFull, othersHeaders, events
    case through, made
    case profile, conversations, reads, readsNote, lostRead, files, nothing, left
    case fileEvents, fileCSV, fileContext, fileReaders, fileReadme

    package var phrase: Phrase {
        switch self {
        case .title: Phrase("Data of {0}", "{0}: 보관된 데이터")
        case .askedBy: Phrase("Asked by", "요청한 사람")
        case .why: Phrase("Why", "사유")
        case .node: Phrase("Made by node", "만든 노드")
        case .record: Phrase("Recorded as event", "기록한 이벤트")
        case .own: Phrase("In the own history", "본인 이력")
        case .elsewhere: Phrase("Written elsewhere", "다른 이력에 쓴 것")
        case .elsewhereFull: Phrase("Written elsewhere, or naming the person", "다른 이력에 쓴 것과 본인을 가리키는 것")
        case .others: Phrase("By others in these conversations", "같은 대화의 다른 사람")
        case .othersFull: Phrase("with what they say", "내용 포함")
        case .othersHeaders: Phrase("without what they say", "내용 제외")
        case .events: Phrase("{0} events", "이벤트 {0}건")
        case .through: Phrase("All of the log up to position {0}.", "로그의 위치 {0}까지 모두 담았습니다.")
        case .made: Phrase("Made at {0} ({1}).", "만든 시각: {0} ({1}).")
        case .profile: Phrase("Profile", "프로필")
        case .conversations: Phrase("Conversations", "대화")
        case .reads: Phrase("Who has looked", "열람한 사람")
        case .readsNote:
            Phrase(
                "Reads of auditors are recorded with those whose words they had, and packages as this one. Not here are reads of the whole log and of lists of users, conversations and surveys, feeds narrowed to others, and reads of programs and of who opens the files.",
                "감사자의 열람은 누구의 말이 나왔는지와 함께 기록되고, 이런 자료의 제공도 기록됩니다. 로그 전체, 사용자·대화·설문 목록의 열람, 다른 사람으로 좁힌 피드, 프로그램이나 파일을 여는 사람의 열람은 여기에 없습니다."
            )
        case .lostRead:
            Phrase(
                "This record has lost its payload. It may be of another.", "이 기록은 내용이 없어졌습니다. 다른 사람에 관한 것일 수 있습니다.")
        case .files: Phrase("Files", "파일")
        case .nothing: Phrase("Nothing.", "없습니다.")
        case .left: Phrase("[words of another person, left out]", "[다른 사람의 말, 생략함]")
        case .fileEvents: Phrase("all events, as they are stored", "저장된 그대로의 모든 이벤트")
        case .fileCSV: Phrase("the same, for a spreadsheet", "같은 내용의 스프레드시트용 파일")
        case .fileContext:
            Phrase(
                "what others have done in the same conversations, and who keeps the person as a contact",
                "같은 대화에서 다른 사람이 한 일, 본인을 연락처에 둔 기록")
        case .fileReaders: Phrase("who has looked at it, and why", "누가 왜 열람했는지")
        case .fileReadme: Phrase("what each file is, and how to check it", "파일 설명과 확인 방법")
        }
    }
}
