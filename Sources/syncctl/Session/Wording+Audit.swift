internal import CommandLineKit

extension Wording {
    /// What commands for auditors say.
    var audit: Phrase {
        switch self {
        case .pendingCause: Phrase("has not come to this node yet", "아직 이 노드에 오지 않음")
        case .hiddenCause: Phrase("not here, or not for you to see", "이 노드에 없거나 볼 권한이 없음")
        case .quarantinedBy: Phrase("quarantined by {0}: {1}", "격리됨, 뷰 {0}: {1}")
        case .cutHere: Phrase("cut here", "여기서 생략")
        case .madeByModel: Phrase("model {0}", "모델 {0}")
        case .madeByPersona: Phrase("persona {0}", "페르소나 {0}")
        case .madeByPrompt: Phrase("prompt {0}", "프롬프트 {0}")
        case .change: Phrase("CHANGE", "변화")
        case .wasBefore: Phrase("BEFORE", "이전 값")
        case .isAfter: Phrase("AFTER", "이후 값")
        case .stoodBefore: Phrase("before", "이전")
        case .nothingChanged: Phrase("nothing had changed", "달라진 것이 없습니다")
        case .changeAdded: Phrase("added", "추가됨")
        case .changeEdited: Phrase("edited", "수정됨")
        case .changeRetracted: Phrase("retracted", "회수됨")
        case .changeBeside: Phrase("edit beside it", "인정되지 않는 수정")
        case .changeTwin: Phrase("twin counts", "쌍둥이로 바뀜")
        case .changeErased: Phrase("erased", "삭제됨")
        case .replayedInto: Phrase("replayed positions 1..{0} into {1}", "위치 1..{0}의 이벤트로 새 저장소를 만들었습니다: {1}")
        case .replayedRoots: Phrase("roots of all origins", "모든 오리진의 루트")
        case .replayedViews: Phrase("digests of all views", "모든 뷰의 다이제스트")
        case .replayEnded: Phrase("interrupted; nothing is left in {0}", "중단했습니다. 남긴 것이 없습니다: {0}")
        case .isEqual: Phrase("equal", "같음")
        case .isOther: Phrase("they differ", "다름")
        case .isNotCompared:
            Phrase("not compared, for this store has more events", "비교하지 않음. 이 저장소에 이벤트가 더 있습니다")
        case .packageMade:
            Phrase("{0}: {1}, in {2} files; begin with README.md", "{0}: {1}, 파일 {2}개. README.md부터 보십시오")
        case .packageRest:
            Phrase(
                "{0}: what an interrupted run has left, taken away; it was no whole package",
                "{0}: 중단된 실행이 남긴 미완성 폴더라 지웠습니다")
        case .packageUnproven:
            Phrase(
                "{0} events stand in the histories of others and in no conversation: no file proves them",
                "다른 사용자의 이력에만 있고 대화에 속하지 않는 이벤트 {0}건은 증명 파일이 없습니다")
        default: node
        }
    }
}
