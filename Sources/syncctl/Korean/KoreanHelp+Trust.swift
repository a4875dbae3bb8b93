extension KoreanHelp {
    /// What `verify`, `receipt`, `check-proof` and `digest` say.
    static let trust: [String: String] = [
        "Also that the log goes on from this receipt.": "로그가 이 영수증에서 그대로 이어지는지도 확인합니다.",
        "Also makes the views again from the log, and compares them.": "로그에서 뷰도 다시 만들어 비교합니다.",
        "Also compares who had events appended with the tokens that were granted.": "이벤트를 추가한 주체도 발급된 토큰과 비교합니다.",
        "Has the daemon do it, and does not wait: 'status' tells how it ended.":
            "데몬이 검증하게 하고 기다리지 않습니다. 결과는 'status'로 확인합니다.",
        "Only this user's events: quick, and says nothing of others.":
            "이 사용자의 이벤트만 검증합니다. 빠르지만 다른 이벤트에 대해서는 말하지 않습니다.",
        "one user's events, without reading those of others": "다른 사용자의 이벤트를 읽지 않고 한 사용자의 이벤트만",
        "of a node elsewhere, by its own daemon": "다른 곳의 노드를 그 데몬이 검증",
        "hashes every event again and checks every signature": "모든 이벤트를 다시 해시하고 모든 서명을 검사합니다",
        "a copy, for a program": "사본을 검증한 결과, 프로그램용",
        "nothing that the receipt tells of is gone or another": "영수증에 있는 것이 없어지거나 바뀌지 않았는지",
        "also everything that queries answer from": "조회 결과의 바탕이 되는 것까지 모두",
        "also whether the tokens that events name were granted": "이벤트에 적힌 토큰이 실제로 발급되었는지까지",
        """
        Reads only, needs no daemon and no key, and may run while the store is written. Exit code 0 when everything \
        is proven, 2 when not all is covered by a signed head yet, 3 when something contradicts.
        """:
            """
        읽기만 하고, 데몬도 키도 필요 없으며, 저장소에 쓰는 중에도 실행할 수 있습니다. 모두 증명되면 종료 코드는 0, 서명된 헤드에 아직 들어가지 않은 것이 있으면 2, 어긋나는 것이 \
        있으면 3입니다.
        """,
        "Until K other nodes hold all that is in the log now.": "지금 로그에 있는 모든 것을 다른 노드 K개가 가질 때까지 기다립니다.",
        "Give up after so long, as 30s or 5m (default: never).": "이 시간이 지나면 그만둡니다. 예: 30s, 5m(기본값: 제한 없음).",
        "Writes it there, to be kept elsewhere; the file must not exist.": "다른 곳에 보관하도록 이 파일에 씁니다. 이미 있는 파일은 안 됩니다.",
        "keep it where no operator of the node can write": "노드의 운영자가 쓸 수 없는 곳에 보관하십시오",
        "with the word of two peers": "두 피어의 공동 서명까지",
        "later: the log still says the same, and more": "나중에: 로그가 그때와 같고 늘어나기만 했는지",
        """
        A receipt has the signed head of each origin, when this node had it, and cosignatures of the nodes that hold \
        the same. --out and --json write it as a file that 'verify --since' and 'check-proof' read. Without a daemon \
        it is made of the files: what no head covers yet is missing. Exit code 75 when the time is over, 2 when not \
        all is covered.
        """:
            """
        영수증에는 오리진마다 서명된 헤드와 이 노드가 그것을 보유한 시각, 그리고 같은 것을 가진 노드들의 공동 서명이 있습니다. --out과 --json은 'verify --since'와 \
        'check-proof'가 읽는 파일로 씁니다. 데몬이 실행 중이 아니면 저장소의 파일에서 만들며, 헤드에 아직 들어가지 않은 것은 빠집니다. 제한 시간이 지나면 종료 코드는 75, \
        포함되지 않은 것이 있으면 2입니다.
        """,
        "What --proof or 'receipt --out' wrote; - reads it from stdin.":
            "--proof나 'receipt --out'으로 쓴 파일. -이면 표준 입력에서 읽습니다.",
        "Only if this node has cosigned each origin.": "이 노드가 모든 오리진에 공동 서명했을 때만 인정합니다.",
        "on the node": "노드에서",
        "anywhere": "어디에서든",
        """
        Every event must be, byte for byte, part of a history that its origin's node has signed. No file can show \
        that a node has left no events out: the answer says what the node states. Compare the nodes' ids with those \
        that you know. Exit code 0 when all is proven, 2 when the file is not signed as a whole, a receipt does not \
        cover all of its log or a node of --witness has not cosigned it, 3 when something contradicts.
        """:
            """
        모든 이벤트는 그 오리진의 노드가 서명한 이력의 일부여야 하고, 바이트까지 같아야 합니다. 노드가 이벤트를 빠뜨리지 않았다는 것은 어떤 파일로도 증명할 수 없으므로, 노드가 진술한 그대로 \
        알립니다. 노드의 ID를 알고 있는 것과 비교하십시오. 모두 증명되면 종료 코드는 0입니다. 파일 전체가 서명되지 않았거나, 영수증이 로그 전체를 포함하지 않거나, --witness의 \
        노드가 공동 서명하지 않았으면 2, 어긋나는 것이 있으면 3입니다.
        """,
        "nothing when both hold the same": "둘이 같으면 아무것도 출력되지 않습니다",
        """
        Nodes with equal vectors have equal roots and equal views, whatever order events arrived in. All that is told \
        is of one position. Where the views do not come as far as the log in two seconds, the last line says so and \
        the exit code is 2: nothing can be compared yet.
        """:
            """
        벡터가 같은 노드는 이벤트가 어떤 순서로 왔든 루트와 뷰가 같습니다. 출력은 모두 로그의 한 위치를 기준으로 합니다. 뷰가 2초 안에 로그를 따라오지 못하면 마지막 줄에 알리고 종료 코드는 \
        2입니다. 그때는 아직 비교할 수 없습니다.
        """,
        "With the search index, which is brought on first.": "검색 색인도 포함합니다. 색인이 따라올 때까지 기다립니다.",
    ]
}
