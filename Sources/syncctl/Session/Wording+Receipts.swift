internal import CommandLineKit

extension Wording {
    /// What `receipt`, `check-proof` and `--proof` say.
    var receipt: Phrase {
        switch self {
        case .receiptOf:
            Phrase("node {0} of cluster {1}, {2}, log up to position {3}", "노드 {0}, 클러스터 {1}, {2}, 로그 위치 {3}까지")
        case .receiptUncovered:
            Phrase(
                "{0} of the {1} events of the log are covered by no signed head: the receipt binds nothing of them. Where the node runs it "
                    + "signs them within a second: make another one then, with 'syncctl receipt --out FILE'",
                "로그의 이벤트 {1}건 중 {0}건은 서명된 헤드에 들어 있지 않습니다. 영수증은 이 이벤트에 대해 아무것도 증명하지 않습니다. 노드가 실행 중이면 1초 안에 서명하므로 그때 "
                    + "'syncctl receipt --out FILE'로 다시 만드십시오")
        case .heldSince: Phrase("  held here since {0}", "  이 노드가 보유한 시각: {0}")
        case .notCoveredYet:
            Phrase("  {0} more events that no signed head covers yet", "  서명된 헤드에 아직 들어가지 않은 이벤트 {0}건")
        case .cosignedBy:
            Phrase("  cosigned by {0} at {1}, {2} events", "  공동 서명: {0}, {1}, 이벤트 {2}건까지")
        case .noCosignature: Phrase("  cosigned by no other node yet", "  공동 서명한 다른 노드가 아직 없습니다")
        case .receiptOfFiles:
            Phrase(
                "no daemon runs: this is what the files hold, and no peer was asked",
                "데몬이 실행 중이 아니므로 파일에 있는 내용만 담았습니다. 피어에는 묻지 않았습니다")
        case .receiptWritten:
            Phrase(
                "written to {0}; keep it where no one who runs this node can change it",
                "{0}에 저장했습니다. 이 노드를 운영하는 사람이 고칠 수 없는 곳에 보관하십시오")
        case .waitedFor:
            Phrase("{0} of {1} nodes had cosigned all of it when the time was over", "제한 시간까지 공동 서명한 노드: {1}개 중 {0}개")
        case .provenEvents: Phrase("PROVEN  {0} of {1}", "증명됨  {0} ({1})")
        case .unsignedEvents: Phrase("NOT SIGNED AS A WHOLE  {0} of {1}", "전체 서명 없음  {0} ({1})")
        case .provenWithoutPayload:
            Phrase(
                "  {0} of them have no payload: erased, or withheld; what they said is not proven",
                "  그중 {0}건은 삭제되었거나 제외되어 내용이 없습니다. 내용은 증명되지 않았습니다")
        case .provenHeads: Phrase("PROVEN  a receipt of {0} origins", "증명됨  오리진 {0}개의 영수증")
        case .provenOrigin:
            Phrase("origin {0}: {1} events, signed by node {2}", "오리진 {0}: 이벤트 {1}건, 서명한 노드 {2}")
        default: receiptRemark
        }
    }

    private var receiptRemark: Phrase {
        switch self {
        case .notSignedWhole:
            Phrase(
                "NOT SIGNED as a whole: what stands in the file is proven, but that nothing was taken out of it is not. Ask for one that is "
                    + "made by a user who may read node.key, or by the daemon",
                "파일 전체에 대한 서명이 없습니다. 파일에 있는 것은 증명되었지만, 빠진 것이 없다는 것은 증명되지 않았습니다. node.key를 읽을 수 있는 사용자나 데몬이 만든 파일을 받으십시오"
            )
        case .answerIsPart:
            Phrase(
                "not shown: other events. Only a part was asked for", "증명하지 않은 것: 다른 이벤트. 일부만 요청한 결과입니다")
        case .answerIsStated:
            Phrase(
                "not shown: that there are no others. The node that signed the file states it; compare with other nodes",
                "증명하지 않은 것: 다른 이벤트가 없다는 것. 노드가 그렇게 진술하고 서명했을 뿐이므로 다른 노드의 답과 비교하십시오")
        case .proofNotSigned:
            Phrase(
                "not signed as a whole: this user may not read node.key, so no one can tell later whether an event was taken out",
                "이 사용자가 node.key를 읽을 수 없어 파일 전체에 서명하지 못했습니다. 나중에 이벤트가 빠져도 알 수 없습니다")
        case .othersOfUserUnread:
            Phrase(
                "not shown: that there are no others. The whole log was not read for it: 'syncctl verify' holds the index against it",
                "증명하지 않은 것: 다른 이벤트가 없다는 것. 로그 전체를 읽지 않았으므로, 색인과 로그의 비교는 'syncctl verify'가 합니다")
        default: erasure
        }
    }
}
