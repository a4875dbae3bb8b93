extension KoreanHelp {
    /// What `tokens`, `whoami` and `access` say.
    static let access: [String: String] = [
        "their secrets are kept by no one but their holders": "비밀 값은 소유자만 가지고 있습니다",
        """
        A token that a trusted node of the cluster has given is listed, too: it counts here. One for admin or \
        operator counts at its own node alone; elsewhere its state is 'elsewhere'. Where a revocation has lost its \
        payload, none of the tokens that were given before it counts, for it may be theirs: their state is 'doubtful'. \
        Exit code 2 then, and where a token is missing because what gave it has lost its payload.
        """:
            """
        클러스터에서 신뢰하는 노드가 발급한 토큰도 나열하며, 이 노드에서도 쓸 수 있습니다. admin이나 operator 역할의 토큰은 발급한 노드에서만 쓸 수 있고, 다른 노드에서는 상태가 \
        '다른 노드에서만'(elsewhere)입니다. 폐기 기록의 내용이 없어졌으면 어느 토큰의 폐기인지 알 수 없으므로 그 전에 발급된 토큰은 모두 쓸 수 없고, 상태가 '확인 불가'(doubtful)입니다. 그때와, \
        발급 기록의 내용이 없어져 토큰이 빠져 있을 때 종료 코드는 2입니다.
        """,
        "Whom it is for, as bot/medibot.": "누구에게 줄지. 예: bot/medibot.",
        "user:ID, bot:ID, app, reader, auditor, operator or admin.":
            "user:ID, bot:ID, app, reader, auditor, operator, admin 중에서.",
        "A user or bot of all conversations, not only of its own.": "자기 대화만이 아니라 모든 대화를 다루는 사용자나 봇.",
        "For so long, as 90d (default: until it is revoked).": "유효 기간. 예: 90d(기본값: 폐기할 때까지).",
        "Writes the token there, mode 0600, and not to the terminal.": "터미널 대신 이 파일에 토큰을 씁니다. 파일의 모드는 0600입니다.",
        "for a bot": "봇에게 줄 토큰",
        "for an audit": "감사에 쓸 토큰",
        """
        The token is shown once. Nodes keep its SHA-256. All nodes of the cluster know it, but for the roles admin \
        and operator, which count at this node alone. A token for one of these two has no other roles: make a second \
        one for them.
        """:
            """
        토큰은 한 번만 표시됩니다. 노드는 그 SHA-256을 보관합니다. 클러스터의 모든 노드가 토큰을 알지만, admin과 operator 역할은 이 노드에서만 쓸 수 있습니다. 이 두 \
        역할의 토큰에는 다른 역할을 함께 줄 수 없습니다. 다른 역할에는 토큰을 하나 더 만드십시오.
        """,
        "Its 16 digits: those in the middle of the token.": "토큰 가운데에 있는 16자리.",
        "its streams end within a second": "그 토큰의 스트림은 1초 안에 끊깁니다",
        "of a token": "이 토큰이 누구의 것인지",
        "Only reads that concern this user.": "이 사용자에 관한 열람만.",
        "How many, the newest first (default: 50).": "몇 건 볼지. 최근 것부터(기본값: 50).",
        "who has looked at this user": "누가 이 사용자를 열람했는지",
        """
        Reads of auditors are recorded before they are answered. Reads of programs, and of files, are not: who may \
        do that sees everything. A record that has lost its payload is told to each who asks, and the exit code is 2.
        """:
            "감사자의 열람은 답하기 전에 기록합니다. 프로그램의 열람과 파일을 직접 읽는 것은 기록하지 않습니다. 그럴 수 있는 사람은 무엇이든 볼 수 있습니다. 내용이 없어진 "
            + "기록은 누구에 관한 것이었든 보이며, 종료 코드는 2입니다.",
    ]
}
