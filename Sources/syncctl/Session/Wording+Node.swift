internal import CommandLineKit

extension Wording {
    /// What a node says of itself (`status`, `doctor`, `whoami`, `forks`).
    var node: Phrase {
        switch self {
        case .rowNode: Phrase("node", "노드")
        case .rowCluster: Phrase("cluster", "클러스터")
        case .rowLog: Phrase("log", "로그")
        case .rowViews: Phrase("views", "뷰")
        case .rowHeld: Phrase("held", "격리")
        case .rowAttachments: Phrase("files", "첨부")
        case .rowPeers: Phrase("peers", "피어")
        case .rowVerified: Phrase("verified", "검증")
        case .verifiedTo: Phrase("to position {0}, at {1}", "위치 {0}까지, {1}")
        case .verifiedPartly:
            Phrase("to position {0}, at {1}; not all could be proven", "위치 {0}까지, {1}. 다 증명되지는 않음")
        case .verifiedNot:
            Phrase("{2} to position {0}, at {1}: syncctl verify", "위치 {0}까지, {1}. 어긋난 것: {2}. syncctl verify")
        case .rowBackup: Phrase("backup", "백업")
        case .backupTo: Phrase("to position {0}, at {1}, in {2}", "위치 {0}까지, {1}, {2}")
        case .backupTaken: Phrase("to position {0}, at {1}, by a command", "위치 {0}까지, {1}, 명령으로 보냄")
        case .backupNone: Phrase("none was made", "없음")
        case .softwareOn: Phrase("{0} on {1}", "노드 {1}, {0}")
        case .isUnknown: Phrase("unknown", "알 수 없음")
        case .isWell: Phrase("ok", "정상")
        case .isDegraded: Phrase("DEGRADED", "이상 있음")
        case .isReceiving: Phrase("receiving its first copy of the log", "로그의 첫 사본을 받는 중")
        case .isRebuilding: Phrase("ok, views being rebuilt", "정상, 뷰를 다시 만드는 중")
        case .noDaemon: Phrase("daemon not running", "데몬이 실행 중이 아님")
        case .inUseBy: Phrase("in use by {0}", "사용 중: {0}")
        case .daemonUnknown: Phrase("cannot tell whether a daemon runs", "데몬이 실행 중인지 알 수 없음")
        case .logIn: Phrase("{0} in {1}", "{0}, 폴더 {1}")
        case .viewsWhole: Phrase("up to date", "최신")
        case .viewsLack: Phrase("{0} behind", "밀린 것: {0}")
        case .viewsCatchUp: Phrase("{0} events behind; the next query catches up", "이벤트 {0}건 밀림. 다음 조회 때 따라잡습니다")
        case .viewsNone: Phrase("not built; the next query builds them", "아직 없음. 다음 조회 때 만듭니다")
        case .viewsCompared:
            Phrase("{0}, being compared with the log after a kill", "{0}, 강제 종료 뒤 로그와 비교하는 중")
        case .viewsRebuilt: Phrase("{0}, being rebuilt", "{0}, 다시 만드는 중")
        case .eventsHeld:
            Phrase(
                "{0} cannot be read by the views: syncctl quarantine list",
                "뷰가 읽을 수 없는 것: {0}. syncctl quarantine list")
        case .attachmentsLacking:
            Phrase(
                "{0} attachments missing, {1} damaged: syncctl attachment list --missing, --damaged",
                "없는 첨부 {0}개, 손상된 첨부 {1}개. syncctl attachment list --missing, --damaged")
        case .callPort: Phrase("call port {0}", "연결을 받는 포트: {0}")
        case .thisNode: Phrase("this node", "이 노드")
        case .problems: Phrase("Problems", "문제")
        case .problem: Phrase("Problem: {0}", "문제: {0}")
        case .notLetIn: Phrase("Not let in: {0} from {1}", "허용하지 않은 노드: {0}, 주소: {1}")
        case .letIn: Phrase("Let it in: syncctl peers add NAME {0}", "허용하려면: syncctl peers add NAME {0}")
        case .addressUnknown: Phrase("an unknown address", "알 수 없음")
        case .snapshotShare: Phrase("{0} of {1} events ({2} %)", "이벤트 {1}건 중 {0}건 ({2} %)")
        case .snapshotTo: Phrase("Snapshot to {0}: {1}", "스냅샷 보내는 중, 피어 {0}: {1}")
        case .snapshotFrom:
            Phrase(
                "Snapshot from {0}: {1}; appends wait until it is there",
                "스냅샷 받는 중, 피어 {0}: {1}. 다 받을 때까지 추가는 기다립니다")
        case .snapshotProving:
            Phrase(
                "Snapshot from {0}: all {1} events are here and being proved",
                "스냅샷 검증 중, 피어 {0}: 이벤트 {1}건을 모두 받았습니다")
        case .snapshotOpening:
            Phrase("Snapshot from {0}: proved; the log is being opened", "스냅샷 검증 끝, 피어 {0}: 로그를 여는 중입니다")
        case .settledAt: Phrase("Settled at {0} by {1}", "처리됨: {0}, 노드 {1}")
        case .toDo: Phrase("To do: {0}", "할 일: {0}")
        case .gravityIntegrity: Phrase("integrity", "기록 훼손")
        case .gravityWarning: Phrase("warning", "경고")
        case .gravityInformation: Phrase("information", "참고")
        case .noFindings: Phrase("nothing found", "발견된 문제가 없습니다")
        case .noRoles: Phrase("no roles", "역할 없음")
        case .rolesAre: Phrase("roles: {0}", "역할: {0}")
        case .rolesEverywhere: Phrase("roles: {0}, in all conversations", "역할: {0}, 모든 대화")
        case .sequence: Phrase("SEQUENCE", "순번")
        case .ownBranch: Phrase("HERE", "이 노드의 것")
        case .noForks: Phrase("no fork is proven here", "이 노드에 증명된 분기가 없습니다")
        default: verification
        }
    }

    /// What `verify` says.
    private var verification: Phrase {
        switch self {
        case .verifyAsked:
            Phrase(
                "the daemon verifies its log, to position {0} or behind it: 'syncctl status' tells how that ends",
                "데몬이 로그를 검증합니다. 적어도 위치 {0}까지입니다. 결과는 'syncctl status'로 확인하십시오")
        case .checkedEvents: Phrase("Checked {0} events (log fixed at position {1})", "이벤트 {0}건 검사 (로그는 위치 {1}까지)")
        case .checkPassed: Phrase("ok", "정상")
        case .checkFailed: Phrase("FAILED", "실패")
        case .notCovered: Phrase("not covered", "증명 밖")
        case .remarkOf: Phrase("note", "참고")
        case .sinceReceipt: Phrase("since", "영수증")
        case .rowOrigin: Phrase("origin", "오리진")
        case .rowFork: Phrase("fork", "분기")
        case .moreHidden: Phrase("and {0} more", "그 밖에 {0}건")
        case .erasedUncovered:
            Phrase(
                "what {0} erased events said; their headers and digests are proved",
                "삭제된 이벤트 {0}건의 내용. 헤더와 다이제스트는 증명되었습니다")
        case .unsignedUncovered:
            Phrase("{0} events that no signed head speaks of yet", "서명된 헤드가 아직 포함하지 않은 이벤트 {0}건")
        case .sealedUnchecked:
            Phrase(
                "; its own are sealed, which only its key could check", ". 이 노드의 것은 봉인되었으나 그 키로만 확인할 수 있습니다")
        case .sealedRight: Phrase("; its own carry this node's seal", ". 이 노드의 것은 봉인이 맞습니다")
        case .cutUncovered:
            Phrase(
                "a newest part cut off with all that knows of it: compare the roots with a peer's",
                "가장 새로운 부분이 그 흔적과 함께 잘렸는지 여부. 피어의 루트와 비교하십시오")
        case .originLine:
            Phrase("{0} node {1} size {2} signed to {3} root {4}", "{0} 노드 {1} 크기 {2} 서명 {3}까지 루트 {4}")
        case .forkLine:
            Phrase(
                "origin {0} has two histories from seq {1} on: evidence/{2}.json",
                "오리진 {0}: 순번 {1}부터 이력이 둘입니다. evidence/{2}.json")
        case .forkOfHeadsLine:
            Phrase(
                "origin {0} has two histories, which differ within the first {1} events: evidence/{2}.json",
                "오리진 {0}: 처음 이벤트 {1}건 안에서 갈라진 이력이 둘입니다. evidence/{2}.json")
        case .tookTime: Phrase("took {0}", "걸린 시간: {0}")
        case .receiptLacking:
            Phrase(
                "{0} is a receipt of node {1}, and this store of node {2}: what it lacks need not have been here",
                "{0}: 노드 {1}의 영수증이고 이 저장소는 노드 {2}의 것입니다. 없는 이벤트는 처음부터 없었을 수 있습니다")
        case .receiptUnsigned:
            Phrase("{0} is not signed as a whole: its heads are", "{0}: 전체가 아니라 헤드만 서명되었습니다")
        case .receiptAgrees:
            Phrase("{0}: node {1} at {2}, {3}; the log says the same", "{0}: 노드 {1}, {2}, {3}. 로그와 일치합니다")
        default: verdict
        }
    }

    /// What each check of `verify` means, and what all come to.
    private var verdict: Phrase {
        switch self {
        case .meansDatabase: Phrase("a sound database of the right tables", "데이터베이스와 테이블이 온전함")
        case .meansIndex: Phrase("indexes agree with their tables", "색인이 테이블과 일치함")
        case .meansPositions: Phrase("gapless from 1", "1부터 빈 위치가 없음")
        case .meansOrder:
            Phrase(
                "each origin's sequence is gapless; causes stand before their effects",
                "오리진마다 순번에 빈 곳이 없고 원인이 결과보다 앞섬")
        case .meansEvents: Phrase("every event has the hash it was stored with", "모든 이벤트의 해시가 저장할 때와 같음")
        case .meansNames: Phrase("every interned text is one", "이름표가 서로 겹치지 않음")
        case .meansTree: Phrase("Merkle nodes are those of the events", "머클 트리가 이벤트와 일치함")
        case .meansHeads:
            Phrase("every signature is valid and speaks of these events", "모든 서명이 유효하고 이 이벤트들의 것임")
        case .meansOrigins: Phrase("each origin belongs to the node it names", "오리진마다 밝힌 노드의 것임")
        case .meansTwins: Phrase("repeated ids are marked, and nothing else is", "반복된 ID만 표시되어 있음")
        case .meansEnds:
            Phrase(
                "it reaches as far as mark, witness and WAL know, and says the same",
                "표시, 증인, WAL이 아는 곳까지 있고 내용이 같음")
        case .meansSeals:
            Phrase(
                "what no head covers yet of its own events carries the node's seal",
                "헤드가 아직 포함하지 않은 자기 이벤트에 봉인이 있음")
        case .meansErasures:
            Phrase(
                "what lost its payload was erased by an event that says so", "내용이 없는 것은 삭제 이벤트로 삭제되었음")
        case .emptyLog: Phrase("an empty log", "빈 로그")
        case .positionsTo: Phrase("positions 1..{0}", "위치 1..{0}")
        case .butErased: Phrase(" but for {0} erased", ", 삭제된 {0}건 제외")
        case .forksProven: Phrase(", {0} proven", ", 증명됨: {0}")
        case .actorsContradict:
            Phrase(
                "ACTORS CONTRADICT THE GRANTS  in the log itself, {0}, nothing contradicts",
                "주체가 토큰 기록과 어긋남  로그 자체는 {0}, 어긋남 없음")
        case .viewsContradictOnly:
            Phrase(
                "VIEWS CONTRADICT THE LOG  in {0}; in the log itself, {1}, nothing contradicts",
                "뷰가 로그와 어긋남  {0}. 로그 자체는 {1}, 어긋남 없음")
        case .isDamaged: Phrase("DAMAGED  {0}", "훼손됨  {0}")
        case .andViewsContradict: Phrase(", and views that contradict in {0}", ", 뷰도 어긋남: {0}")
        case .notAllCovered:
            Phrase("NOT ALL COVERED  {0}{1}, {2} unsigned{3}{4}", "일부만 증명됨  {0}{1}, 서명 없는 것 {2}건{3}{4}")
        case .notAllViews: Phrase(", and not all of the views", ", 뷰도 일부만")
        case .isVerified: Phrase("VERIFIED  {0}{1}{2}", "증명됨  {0}{1}{2}")
        case .viewsUnread: Phrase("{0} that the views lack", "뷰에 아직 없는 것: {0}")
        case .viewsVerified:
            Phrase("VIEWS VERIFIED  {0} made again from positions 1..{1}", "뷰 증명됨  위치 1..{1}에서 다시 만들어 비교: {0}")
        case .viewsContradict:
            Phrase(
                "VIEWS CONTRADICT THE LOG  in {0}; 'syncctl quarantine retry' builds them anew",
                "뷰가 로그와 어긋남  {0}. 'syncctl quarantine retry'로 다시 만듭니다")
        case .viewsIncomparable: Phrase("the views cannot be compared: {0}", "뷰를 비교할 수 없습니다: {0}")
        case .actorLine:
            Phrase("actor {0}: {1} from position {2} on: {3}", "주체 {0}: 위치 {2}부터 {1}. {3}")
        case .actorsHidden: Phrase("and {0} of further actors", "그 밖의 주체: {0}")
        case .actorsRest:
            Phrase("{0} that their nodes alone assert, {1} without an actor", "노드만 보증하는 것 {0}건, 주체가 없는 것 {1}건")
        case .actorsVerified:
            Phrase("ACTORS VERIFIED  {0} of tokens that were granted; {1}", "주체 증명됨  발급된 토큰의 것: {0}. {1}")
        case .actorsAgainst: Phrase("ACTORS CONTRADICT THE GRANTS  {0}; {1}", "주체가 토큰 기록과 어긋남  {0}. {1}")
        case .tokenNeverGranted: Phrase("this token was never granted before them", "그 전에 발급된 적이 없는 토큰")
        case .tokenOfOther: Phrase("this token was granted to another one", "다른 주체에게 발급된 토큰")
        case .tokenOver: Phrase("the token was over by then", "이미 만료된 토큰")
        case .tokenTakenBack: Phrase("the token had been taken back", "이미 회수된 토큰")
        case .tokenNoAuthor: Phrase("its roles do not let it speak as their author", "그 작성자로 말할 수 없는 역할의 토큰")
        default: change
        }
    }
}
