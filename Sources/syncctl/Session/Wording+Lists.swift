internal import CommandLineKit

extension Wording {
    /// What `rooms`, `contacts` and `searches` say.
    var list: Phrase {
        switch self {
        case .unread: Phrase("UNREAD", "안 읽음")
        case .with: Phrase("WITH", "상대")
        case .firstMessage: Phrase("FIRST MESSAGE", "첫 메시지")
        case .lastMessage: Phrase("LAST MESSAGE", "마지막 메시지")
        case .contact: Phrase("CONTACT", "연락처")
        case .phone: Phrase("PHONE", "전화번호")
        case .source: Phrase("SOURCE", "출처")
        case .searchScope: Phrase("WHERE", "범위")
        case .searchWords: Phrase("WORDS", "검색어")
        case .noMessage: Phrase("no message", "내용없음")
        case .isHidden: Phrase("hidden", "숨김")
        case .noContacts: Phrase("{0} has no contacts", "연락처가 없습니다: {0}")
        case .noSearches: Phrase("{0} has no recent searches", "검색 내역이 없습니다: {0}")
        default: figure
        }
    }
}
