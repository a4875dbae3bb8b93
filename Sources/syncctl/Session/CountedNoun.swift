internal import CommandLineKit

/// What is counted in an answer, in both languages.
enum CountedNoun: String, CaseIterable, Sendable {
    case event, finding, place, row, fork, origin
    case attachment, segment, file, backup, line, twin, payload, message

    var phrase: Phrase {
        switch self {
        case .event: Phrase("{0} events", "이벤트 {0}건")
        case .finding: Phrase("{0} findings", "문제 {0}건")
        case .place: Phrase("{0} places", "{0}곳")
        case .row: Phrase("{0} rows", "행 {0}개")
        case .fork: Phrase("{0} forks", "분기 {0}건")
        case .origin: Phrase("{0} origins", "오리진 {0}개")
        case .attachment: Phrase("{0} attachments", "첨부 {0}개")
        case .segment: Phrase("{0} segments", "조각 {0}개")
        case .file: Phrase("{0} files", "파일 {0}개")
        case .backup: Phrase("{0} backups", "백업 {0}개")
        case .line: Phrase("{0} lines", "{0}줄")
        case .twin: Phrase("{0} twins", "쌍둥이 {0}건")
        case .payload: Phrase("{0} payloads", "내용 {0}건")
        case .message: Phrase("{0} messages", "메시지 {0}건")
        }
    }

    /// `1 fork`, `2 forks`.
    func text(_ count: some BinaryInteger, in language: Language) -> String {
        language == .english && count == 1 ? "1 \(rawValue)" : phrase.text(language, [String(count)])
    }
}

extension Session {
    /// How many there are, in the language of the answer.
    func counted(_ count: some BinaryInteger, _ noun: CountedNoun) -> String { noun.text(count, in: outputLanguage) }
}
