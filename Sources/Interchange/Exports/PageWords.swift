internal import CommandLineKit

/// What a page says itself, in both languages. Korean text has no particles behind what is filled in.
enum PageWords: CaseIterable {
    case conversation, participants, period, messages, oneMessage, zone, exported, nothing
    case bot, edited, editedFrom, correction, retracted, retractedForReason, refused, hidden
    case part, whole, since, until, between, node, known, position, head, headLine, moreHeads, uncovered
    case forReading, proof
    case erased, unreadable, inReply
    case file, picture, voice, bytes, duration, shows, transcript, tooLarge, beside, missing, damaged, bytesErased
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
        case .inReply: Phrase("reply to {0}: {1}", "답장 대상: {0}: {1}")
        case .started: Phrase("{0} began the conversation", "대화 시작: {0}")
        case .renamed: Phrase("{0} named it “{1}”", "제목 변경: {0}, “{1}”")
        case .joined: Phrase("{0} joined", "참여: {0}")
        case .left: Phrase("{0} left", "나감: {0}")
        case .failed: Phrase("{0} could not answer: {1}", "답변 실패: {0}, {1}")
        case .heard: Phrase("{0} heard: “{1}”", "들은 말: {0}, “{1}”")
        case .survey: Phrase("{0} answered {1}: {2}", "설문 응답: {0}, {1}: {2}")
        case .other: Phrase("{0}: event of the type {1}", "{0}: 이벤트 {1}")
        default: record
        }
    }

    /// What part of what log it is.
    private var record: Phrase {
        switch self {
        case .part: Phrase("Part", "범위")
        case .whole: Phrase("all of it", "전체")
        case .since: Phrase("from {0} on", "{0}부터")
        case .until: Phrase("before {0}", "{0} 이전")
        case .between: Phrase("from {0} to before {1}", "{0}부터 {1} 이전까지")
        case .node: Phrase("Node", "노드")
        case .known: Phrase("Log", "로그")
        case .position: Phrase("up to position {0}", "위치 {0}까지")
        case .head: Phrase("Head", "헤드")
        case .headLine: Phrase("origin {0}: {1} events, {2}", "오리진 {0}: 이벤트 {1}건, {2}")
        case .moreHeads: Phrase("of {0} more origins", "그 밖의 오리진 {0}개")
        case .uncovered: Phrase("{0} events are under none yet", "아직 들어가지 않은 이벤트 {0}건")
        case .forReading:
            Phrase(
                "This page is for reading. It is no evidence: no one can tell whether it was changed.",
                "이 페이지는 읽기 위한 것입니다. 고쳐졌는지 알 수 없으므로 증거가 되지 않습니다.")
        case .proof:
            Phrase(
                "The evidence is {0} beside it, SHA-256 {1}: 'syncctl check-proof' checks that file.",
                "증거는 함께 만든 파일 {0}이고 SHA-256은 {1}입니다. 'syncctl check-proof'로 확인합니다.")
        default: attachment
        }
    }

    private var attachment: Phrase {
        switch self {
        case .picture: Phrase("Picture", "사진")
        case .voice: Phrase("Voice", "음성")
        case .bytes: Phrase("{0} bytes", "{0}바이트")
        case .duration: Phrase("{0} long", "길이 {0}")
        case .shows: Phrase("It shows: {0}", "사진 설명: {0}")
        case .transcript: Phrase("What is said in it:", "음성 내용:")
        case .tooLarge: Phrase("too large for this page", "이 페이지에 넣기에는 너무 큼")
        case .beside: Phrase("in the folder beside it", "옆 폴더의 파일")
        case .missing: Phrase("its bytes are not at this node", "이 노드에 파일 내용이 없음")
        case .damaged: Phrase("its bytes are damaged at this node", "이 노드의 파일 내용이 손상됨")
        case .bytesErased: Phrase("its bytes were erased", "파일 내용이 삭제됨")
        default: Phrase("File", "파일")
        }
    }

    /// 0 is Monday.
    static func weekday(_ day: Int, _ language: Language) -> String {
        let korean = ["월", "화", "수", "목", "금", "토", "일"]
        let english = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
        return (language == .korean ? korean : english)[day]
    }
}
