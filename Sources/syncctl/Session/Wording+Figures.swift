internal import CommandLineKit

extension Wording {
    /// What `stats`, `top`, `tokens` and `access` say.
    var figure: Phrase {
        switch self {
        case .origins: Phrase("ORIGINS", "오리진")
        case .users: Phrase("USERS", "사용자")
        case .conversations: Phrase("CONVERSATIONS", "대화")
        case .participants: Phrase("PARTICIPANTS", "대화 참여자")
        case .profileFields: Phrase("PROFILE FIELDS", "프로필 항목")
        case .amendments: Phrase("EDITS AND RETRACTIONS", "수정과 회수")
        case .quarantined: Phrase("QUARANTINED", "격리된 이벤트")
        case .viewsLag: Phrase("VIEWS BEHIND", "뷰에 밀린 이벤트")
        case .lastMinute: Phrase("EVENTS IN THE LAST MINUTE", "최근 1분의 이벤트")
        case .connections: Phrase("CONNECTIONS", "연결")
        case .followers: Phrase("FOLLOWERS", "로그를 따라 읽는 클라이언트")
        case .slowFollowers: Phrase("SLOW READERS", "느린 클라이언트")
        case .memory: Phrase("MEMORY", "메모리")
        case .freeSpace: Phrase("FREE DISK SPACE", "디스크 여유 공간")
        case .subscription: Phrase("SUBSCRIPTION", "구독")
        case .parked: Phrase("PARKED", "보류")
        case .workers: Phrase("WORKERS", "작업자")
        case .eventsPerSecond: Phrase("EVENTS/s", "이벤트/초")
        case .peerEventsPerSecond: Phrase("OF PEERS/s", "피어에서 받은 이벤트/초")
        case .bytesPerSecond: Phrase("BYTES APPENDED/s", "추가한 바이트/초")
        case .requestsPerSecond: Phrase("REQUESTS/s", "요청/초")
        case .deliveriesPerSecond: Phrase("DELIVERIES/s", "전달/초")
        case .appendTime: Phrase("APPEND, half · 99 %", "추가 시간, 중앙값 · 99 %")
        case .syncTime: Phrase("SYNC OF THE DISK", "디스크 동기화 시간")
        case .followerTime: Phrase("COMMIT TO FOLLOWER", "커밋부터 클라이언트까지")
        case .route: Phrase("ROUTE", "경로")
        case .isConnected: Phrase("connected", "연결됨")
        case .isConnecting: Phrase("connecting", "연결 중")
        case .isDisconnected: Phrase("disconnected", "끊김")
        case .isNotRunning: Phrase("not running", "실행 중 아님")
        case .isAway: Phrase("away", "끊김")
        case .isPaused: Phrase("paused", "일시 중지")
        case .noAnswer: Phrase("no answer: {0}", "응답이 없습니다: {0}")
        default: access
        }
    }

    private var access: Phrase {
        switch self {
        case .credential: Phrase("CREDENTIAL", "토큰")
        case .principal: Phrase("PRINCIPAL", "소유자")
        case .roles: Phrase("ROLES", "역할")
        case .scope: Phrase("SCOPE", "범위")
        case .until: Phrase("UNTIL", "만료")
        case .reader: Phrase("WHO", "열람한 사람")
        case .subject: Phrase("READ", "열람한 내용")
        case .noTokens:
            Phrase("no tokens; syncctl tokens create gives one", "토큰이 없습니다. 발급하려면 syncctl tokens create를 실행하십시오")
        case .noReads: Phrase("no read was recorded", "기록된 열람이 없습니다")
        case .tokensLost:
            Phrase(
                "{0} that tell of tokens have lost their payloads: a token that was given may be missing here, and where one took a token "
                    + "back, none that was given before it counts; syncctl verify names them",
                "토큰에 관한 이벤트 {0}의 내용이 없어졌습니다. 발급된 토큰이 여기에 빠져 있을 수 있으며, 폐기 기록이면 그 전에 발급된 토큰은 모두 "
                    + "쓸 수 없습니다. 어느 이벤트인지는 syncctl verify로 알 수 있습니다")
        case .readsLost:
            Phrase(
                "{0} that record reads have lost their payloads: what was read, and of whom, cannot be told; syncctl verify names them",
                "열람을 기록한 이벤트 {0}의 내용이 없어졌습니다. 누구의 무엇을 열람했는지 알 수 없습니다. 어느 이벤트인지는 syncctl verify로 알 수 "
                    + "있습니다")
        case .isShownOnce:
            Phrase(
                "this is shown once; take it back with: syncctl tokens revoke {0}",
                "토큰은 지금 한 번만 표시됩니다. 폐기하려면: syncctl tokens revoke {0}")
        case .openFile:
            Phrase(
                "{0} can be read by others than its owner: chmod 600 {0}",
                "{0}: 소유자가 아닌 사용자도 읽을 수 있습니다. chmod 600 {0}")
        case .digest: Phrase("SHA-256", "SHA-256 값")
        case .bytes: Phrase("BYTES", "바이트")
        case .noAttachments: Phrase("no such attachments", "해당하는 첨부가 없습니다")
        case .attachmentsVerified:
            Phrase(
                "{0} attachments, {1} bytes: {2} damaged, {3} missing",
                "첨부 {0}개, {1}바이트: 손상 {2}개, 없음 {3}개")
        case .origin: Phrase("ORIGIN", "오리진")
        case .offset: Phrase("OFFSET", "시계 차이")
        case .roundTrip: Phrase("ROUND TRIP", "왕복 시간")
        case .tailAgain: Phrase("{0}; trying again", "{0}. 다시 시도합니다")
        default: receipt
        }
    }
}
