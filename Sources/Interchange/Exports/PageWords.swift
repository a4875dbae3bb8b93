internal import CommandLineKit

/// What a page says itself, in both languages. Korean text has no particles behind what is filled in.
enum PageWords: CaseIterable {
    case conversation, participants, period, messages, oneMessage, zone, exported, nothing
    case bot, edited, editedFrom, correction, retracted, retractedForReason, refused, hidden
    case erased, unreadable, file, bytes, picture, inReply
    case started, renamed, joined, left, failed, heard, survey, other

    var phrase: Phrase {
        switch self {
        case .conversation: Phrase("Conversation", "대화")
        case .participants: Phrase("With", "참여자")
        case .period: Phrase("When", "기간")
        case .messages: Phrase("{0} messages", "메시지 {0}건")
        case .oneMessage: Phrase("1 message", "메시지 1건")
        case .zone: Phrase("Times are those of {0}.", "시각은 {0} 기준입니다.")
        case .exported: Phrase("Exported at {0}", "내보낸 시각: {0}")
        case .nothing: Phrase("Nothing was said.", "메시지가 없습니다.")
        case .bot: Phrase("bot", "봇")
        case .edited: Phrase("edited at {0}", "수정됨: {0}")
        case .editedFrom: Phrase("edited at {0}; before that:", "수정됨: {0}, 이전 내용:")
        case .correction: Phrase("correction by {0} at {1}:", "다른 사람의 수정: {0}, {1}")
        case .retracted: Phrase("taken back by {0} at {1}", "회수됨: {0}, {1}")
        case .retractedForReason: Phrase("taken back by {0} at {1}: {2}", "회수됨: {0}, {1}, 사유: {2}")
        case .refused: Phrase("{0} wanted to take it back at {1}; that does not count", "인정되지 않는 회수: {0}, {1}")
        case .hidden: Phrase("{0} earlier changes are not listed", "이전 변경 {0}건은 생략했습니다")
        case .erased: Phrase("This text was erased.", "삭제된 내용입니다.")
        case .unreadable: Phrase("This text cannot be read.", "읽을 수 없는 내용입니다.")
        case .file: Phrase("File", "파일")
        case .bytes: Phrase("{0} bytes", "{0}바이트")
        case .picture: Phrase("Picture", "사진")
        case .inReply: Phrase("reply to {0}: {1}", "답장 대상: {0}: {1}")
        case .started: Phrase("{0} began the conversation", "대화 시작: {0}")
        case .renamed: Phrase("{0} named it “{1}”", "제목 변경: {0}, “{1}”")
        case .joined: Phrase("{0} joined", "참여: {0}")
        case .left: Phrase("{0} left", "나감: {0}")
        case .failed: Phrase("{0} could not answer: {1}", "답변 실패: {0}, {1}")
        case .heard: Phrase("{0} heard: “{1}”", "들은 말: {0}, “{1}”")
        case .survey: Phrase("{0} answered {1}: {2}", "설문 응답: {0}, {1}: {2}")
        case .other: Phrase("{0}: event of the type {1}", "{0}: 이벤트 {1}")
        }
    }

    /// 0 is Monday.
    static func weekday(_ day: Int, _ language: Language) -> String {
        let korean = ["월", "화", "수", "목", "금", "토", "일"]
        let english = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
        return (language == .korean ? korean : english)[day]
    }
}
