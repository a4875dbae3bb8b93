internal import CommandLineKit

extension Wording {
    /// What `erase` says.
    var erasure: Phrase {
        switch self {
        case .erasePart: Phrase("WHAT", "대상")
        case .erasePartHistory: Phrase("in the user's history", "사용자 이력")
        case .erasePartAuthored: Phrase("written in the histories of others", "다른 사용자 이력에 쓴 것")
        case .erasePartReplies: Phrase("written by others in reply", "다른 사용자가 쓴 답글")
        case .erasePartShared: Phrase("set for others", "남에게도 미치는 것")
        case .erasePartNamed: Phrase("as named", "지정한 것")
        case .eraseBecomes: Phrase("IT IS", "처리")
        case .eraseGoes: Phrase("erased", "삭제")
        case .eraseKept: Phrase("kept", "유지")
        case .eraseOpen: Phrase("for you to decide", "결정 필요")
        case .erasePlan:
            Phrase(
                "conversations: {0}, recorded by nodes: {1}, erased before: {2}",
                "대화 {0}개, 기록한 노드 {1}개, 이미 삭제된 이벤트 {2}건")
        case .eraseStays:
            Phrase(
                "of what is erased, who wrote it, when, where and of which type stays; what was said goes for good",
                "삭제하는 이벤트의 작성자, 시각, 대화, 종류는 남고 내용은 영구히 삭제됩니다")
        case .eraseNothing:
            Phrase("nothing is here that could be erased", "삭제할 내용이 없습니다")
        case .erasePartContacts: Phrase("kept by others as a contact", "다른 사용자의 연락처에 있는 것")
        case .eraseContacts:
            Phrase(
                "contacts of others stay, with the name and number that they gave; to erase these: {0}",
                "다른 사용자의 연락처는 거기 적힌 이름, 전화번호와 함께 남습니다. 삭제하려면: {0}")
        case .eraseCopies:
            Phrase(
                "copies of damaged files may hold more: {0} in {1}; the next erasure takes them away, and so may you: nothing reads them",
                "손상된 파일의 사본에 내용이 남아 있을 수 있습니다: {1}의 {0}. 다음 삭제 때 함께 지워집니다. 쓰이지 않는 파일이므로 직접 지워도 됩니다")
        case .eraseConfirm:
            Phrase("type {0} to erase it for good: ", "영구히 삭제하려면 {0} 입력: ")
        case .eraseDone:
            Phrase(
                "erased at this node, by event {0}; other nodes follow: syncctl erase status",
                "이 노드에서 삭제했습니다. 이벤트: {0}. 다른 노드의 진행 상황: syncctl erase status")
        case .eraseWaits:
            Phrase(
                "recorded; syncd is still taking it out of its files: syncctl doctor says what is in its way",
                "삭제를 기록했습니다. syncd가 파일에서 지우는 중입니다. 막고 있는 것은 syncctl doctor가 알려 줍니다")
        case .eraseLeft:
            Phrase(
                "{0} events have come since the plan and stay; a plan of them: {1}",
                "계획 이후에 이벤트 {0}건이 더 들어왔고 그대로 남아 있습니다. 새 계획: {1}")
        case .eraseMore:
            Phrase(
                "{0} of them have come since the plan, and are erased, too",
                "계획 이후에 들어온 이벤트 {0}건도 함께 삭제했습니다")
        case .eraseNone: Phrase("no erasures", "삭제 기록이 없습니다")
        case .eraseConfirmed: Phrase("CONFIRMED BY", "확인한 노드")
        case .eraseWaiting: Phrase("NOT YET BY", "확인하지 않은 노드")
        case .eraseUnconfirmed: Phrase("not taken up here", "이 노드는 아직 확인하지 않음")
        case .eraseUnderWay: Phrase("under way, {0} %", "진행 중, {0} %")
        case .eraseApplied: Phrase("erased", "삭제됨")
        case .eraseViews:
            Phrase("views and attachments are cleared", "뷰와 첨부 파일에서 지우는 중")
        case .alreadyErased:
            Phrase(
                "the event with this id is erased, and nothing was stored: what is new needs an id of its own",
                "이 id의 이벤트는 삭제되었으며, 저장한 내용이 없습니다. 새 내용에는 새 id가 필요합니다")
        default: audit
        }
    }
}
