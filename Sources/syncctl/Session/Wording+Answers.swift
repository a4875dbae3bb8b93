internal import CommandLineKit

extension Wording {
    /// What commands answer that change something, or compare.
    var change: Phrase {
        switch self {
        case .storeMade: Phrase("made the store {0}", "저장소를 만들었습니다: {0}")
        case .appendedAt: Phrase("appended position {0} id {1}", "추가 위치 {0} ID {1}")
        case .alreadyAt: Phrase("already position {0} id {1}", "기존 위치 {0} ID {1}")
        case .lineNumber: Phrase("line {0}: ", "{0}번째 줄: ")
        case .tokenIn: Phrase("{0} is in {1}", "토큰 {0}, 저장한 파일: {1}")
        case .tokenRevoked: Phrase("revoked: {0}", "폐기했습니다: {0}")
        case .isValid: Phrase("valid", "유효")
        case .isRevoked: Phrase("revoked", "폐기됨")
        case .isExpired: Phrase("expired", "만료됨")
        case .isElsewhere: Phrase("elsewhere", "다른 노드에서만")
        case .isDoubtful: Phrase("doubtful", "확인 불가")
        case .readLost: Phrase("(its payload is gone)", "(내용이 없어졌음)")
        case .isOfAll: Phrase("all", "모두")
        case .isOfOwn: Phrase("own", "자기 대화")
        case .attachmentState: Phrase("{0} {1}", "{0}: 첨부 {1}")
        case .isPresent: Phrase("present", "있음")
        case .isMissing: Phrase("missing", "없음")
        case .isDamagedHere: Phrase("damaged", "손상됨")
        case .isLeaving: Phrase("leaving", "삭제 중")
        case .settledNow: Phrase("settled {0} {1}", "처리했습니다: {0} {1}")
        case .settledSince: Phrase("{0} {1} is settled since {2}", "{0} {1}: 이미 처리되었습니다. 처리한 시각: {2}")
        case .noOpenFinding: Phrase("no open finding {0}", "처리할 문제가 없습니다: {0}")
        case .digestOrigin: Phrase("origin {0} {1} {2}", "오리진 {0} {1} {2}")
        case .digestView: Phrase("view {0}", "뷰 {0}")
        case .digestLacks: Phrase("incomplete: the views lack {0}", "아직 비교할 수 없습니다. 뷰에 없는 것: {0}")
        case .quarantineRetried:
            Phrase("{0} events were quarantined, {1} still are", "격리되었던 이벤트 {0}건 중 {1}건은 아직 격리되어 있습니다")
        case .rootDiffers: Phrase("origin {0}: the root is not that of the events", "오리진 {0}: 루트가 이벤트와 다릅니다")
        case .leftOut: Phrase("left out ({0}): {1}", "뺀 것 {0}건: {1}")
        case .evidenceLeftOut:
            Phrase(
                "{0} left out: no signed head covers them yet, a daemon signs what is new within moments, and what a "
                    + "crash has left "
                    + "when it starts",
                "뺀 것: {0}. 서명된 헤드에 아직 들어가지 않았습니다. 데몬은 새 이벤트를 곧 서명하고, 비정상 종료로 남은 것은 시작할 때 서명합니다")
        default: peering
        }
    }

    /// What `peers`, `clocks`, `wait` and `subscriptions` answer.
    private var peering: Phrase {
        switch self {
        case .peerAdded: Phrase("added {0}", "피어를 추가했습니다: {0}")
        case .peerJoined: Phrase("joined {0}", "피어와 연결했습니다: {0}")
        case .peerRemoved: Phrase("removed {0}", "피어를 지웠습니다: {0}")
        case .peerPaused: Phrase("paused {0}", "교환을 멈추었습니다: {0}")
        case .peerResumed: Phrase("resumed {0}", "교환을 다시 시작했습니다: {0}")
        case .pong: Phrase("{0}: {1} ms{2}", "{0}: {1}밀리초{2}")
        case .pongClock: Phrase(", its clock {0} ms", ", 시계 차이 {0}밀리초")
        case .inviteUntil:
            Phrase(
                "valid until {0}, for one node: syncctl peers join <the line above>",
                "노드 하나만 쓸 수 있습니다. 만료: {0}. syncctl peers join <위의 한 줄>")
        case .joinsLater:
            Phrase(
                "no daemon runs here: the next start of syncd joins, if that is before the line expires",
                "데몬이 실행 중이 아닙니다. 초대가 만료되기 전에 syncd를 시작하면 그때 연결합니다")
        case .noClocks:
            Phrase(
                "no daemon runs here, so there are no peers to compare with",
                "데몬이 실행 중이 아니므로 비교할 피어가 없습니다")
        case .flaggedOrigin:
            Phrase(
                "Flagged: origin {0} of node {1}, up to {2} s ahead, seen {3}, {4}",
                "시각이 틀린 오리진: {0}, 노드 {1}, 최대 {2}초 앞섬, 발견 {3}, {4}")
        case .stillAhead: Phrase("still ahead", "아직 앞서 있음")
        case .rightAgain: Phrase("right again", "다시 맞음")
        case .durableOn: Phrase("durable on {0}", "저장이 확인된 노드: {0}")
        case .notDurable:
            Phrase("on {0} of {1} nodes when the time was over", "제한 시간까지 저장이 확인된 노드: {1}개 중 {0}개")
        case .waitsForNodes:
            Phrase(
                "waiting for {0} nodes: durable on {1}; not yet on {2}",
                "노드 {0}개를 기다립니다. 저장이 확인된 노드: {1}, 아직인 노드: {2}")
        case .subscriptionMade: Phrase("made {0}", "구독을 만들었습니다: {0}")
        case .subscriptionThere: Phrase("was there already: {0}", "이미 있는 구독입니다: {0}")
        case .subscriptionChanged: Phrase("changed {0}", "구독을 바꾸었습니다: {0}")
        case .subscriptionDeleted: Phrase("deleted {0}", "구독을 지웠습니다: {0}")
        case .subscriptionMoved: Phrase("moved {0}", "이 노드가 구독을 담당합니다: {0}")
        case .subscriptionSought: Phrase("sought {0}", "구독을 다른 위치에서 다시 시작합니다: {0}")
        case .subscriptionRetried: Phrase("retried {0}", "보류된 이벤트를 다시 내줍니다: {0}")
        default: backingUp
        }
    }
}
