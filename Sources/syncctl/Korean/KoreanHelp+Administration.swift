extension KoreanHelp {
    /// What `doctor`, `quarantine`, `forks`, `init` and `erase` say.
    static let administration: [String: String] = [
        "forks, lost memory, doubles, peers that are away, wrong clocks": "분기, 잃어버린 기록, 같은 키를 쓰는 노드, 끊긴 피어, 틀린 시계",
        "one finding to a line": "문제마다 한 줄",
        "Also findings that somebody has settled.": "이미 처리한 문제도 봅니다.",
        """
        Looks at the store's files, and asks the daemon if one runs. Exit code 0 when nothing has to be done, 2 with \
        warnings, 3 when the record is damaged or has two versions. 'syncctl verify' proves the log itself. What \
        'doctor settle' has settled counts no more.
        """:
            """
        저장소의 파일을 살펴보고, 데몬이 실행 중이면 데몬에 묻습니다. 할 일이 없으면 종료 코드는 0, 경고가 있으면 2, 기록이 훼손되었거나 서로 다른 이력이 둘 있으면 3입니다. 로그 \
        자체는 'syncctl verify'가 증명합니다. 'doctor settle'로 처리한 문제는 더 세지 않습니다.
        """,
        "The finding's code, as 'syncctl doctor' prints it.": "'syncctl doctor'에 나오는 문제의 코드.",
        "What it is about, if several findings have this code.": "같은 코드의 문제가 여럿일 때, 무엇에 관한 것인지.",
        "What was done about it.": "어떻게 처리했는지.",
        "the only fork there is": "하나뿐인 분기",
        "what was settled": "처리한 문제들",
        """
        Appends an event of type finding.settled: the finding no longer decides the exit code of 'doctor' and \
        'status' here, and is listed by 'doctor --all'. A FORK or CLOCK of another node's origin is settled on all \
        nodes by it; what a node has found of its own store, and a FORK of its own origin, only here. The same about \
        another origin, and what happens again later, is a finding of its own. Findings that tell of a state, such \
        as a peer that is away, end when the state does.
        """:
            """
        finding.settled 종류의 이벤트를 추가합니다. 그 문제는 더 이상 이 노드에서 'doctor'와 'status'의 종료 코드에 영향을 주지 않으며, 'doctor --all'에 \
        나옵니다. 다른 노드의 오리진에 관한 FORK와 CLOCK은 모든 노드에서 처리되고, 노드가 자기 저장소에서 발견한 것과 자기 오리진의 FORK는 이 노드에서만 처리됩니다. 다른 오리진에 \
        관한 같은 문제와 나중에 다시 생긴 것은 별개의 문제입니다. 피어가 끊긴 것처럼 상태를 알리는 문제는 그 상태가 끝나면 사라집니다.
        """,
        "At most so many (default: 50).": "최대 몇 건 볼지(기본값: 50).",
        "the first fifty": "처음 50건",
        "more of them, for a program": "그다음 것을 프로그램용으로",
        """
        Quarantined events are in the log, are proved by 'syncctl verify' and reach all peers. VIEW says where they \
        do not show; * stands for all views that would interpret them. 'syncctl show POSITION --json' has their \
        bytes. They come from newer releases (an upgrade of this node drains them) or from faulty programs.
        """:
            """
        격리된 이벤트도 로그에 있고, 'syncctl verify'로 증명되며, 모든 피어에 전해집니다. 뷰(VIEW)는 이벤트가 나타나지 않는 곳이며, *는 그 이벤트를 해석할 모든 뷰를 \
        뜻합니다. 바이트는 'syncctl show POSITION --json'으로 볼 수 있습니다. 이런 이벤트는 이후 릴리스에서 왔거나(이 노드를 업그레이드하면 풀립니다) 잘못된 프로그램이 \
        만든 것입니다.
        """,
        "what an upgrade also does by itself": "업그레이드하면 저절로 하는 일이기도 합니다",
        """
        The present views answer queries until the new ones are complete. Exit code 4 when events are still \
        quarantined afterwards.
        """:
            "새 뷰가 완성될 때까지는 지금의 뷰로 조회에 답합니다. 그 뒤에도 격리된 이벤트가 있으면 종료 코드는 4입니다.",
        "of the store here": "여기 있는 저장소의 것",
        "of another node": "다른 노드의 것",
        """
        SEQUENCE is the first event in which the two histories differ, HERE the leaf of the one that this log has. \
        Where only heads prove it, they are of SEQUENCE events, and HERE is a root. Each proof is a file \
        evidence/NAME.json in the store's folder. 'syncctl doctor' says what to do, and which of them somebody has \
        settled.
        """:
            """
        순번(SEQUENCE)은 두 이력이 처음으로 달라지는 이벤트이고, '이 노드의 것'(HERE)은 그중 이 로그에 있는 이벤트의 리프입니다. 헤드만으로 증명된 경우 순번은 두 헤드의 이벤트 \
        수이고, '이 노드의 것'은 루트입니다. 증명은 저마다 저장소 폴더의 evidence/NAME.json 파일입니다. 할 일과, 누군가 이미 처리한 것은 'syncctl doctor'에 \
        나옵니다.
        """,
        "What people call this node (default: the short host name).": "사람들이 이 노드를 부르는 이름(기본값: 짧은 호스트 이름).",
        "Only nodes of one cluster exchange events (default: default).": "클러스터가 같은 노드끼리만 이벤트를 교환합니다(기본값: default).",
        "an empty store in ./audit": "./audit에 빈 저장소",
        "one in ./syncd-dev, named after this host": "./syncd-dev에 이 호스트의 이름으로",
        """
        A store holds a log, and the key and origin of its node. syncd makes one by itself on its first start; this \
        is for stores without a daemon.
        """:
            "저장소에는 로그와, 노드의 키와 오리진이 있습니다. syncd는 처음 시작할 때 저장소를 스스로 만듭니다. 이 명령은 데몬 없이 쓸 저장소를 만듭니다.",
        "what would go, and what has to be decided": "무엇이 삭제되고 무엇을 정해야 하는지",
        "asks for the name before it does so": "삭제하기 전에 이름을 물어 확인합니다",
        "what would go": "무엇이 삭제되는지",
        "the latest first": "최근 것부터",
        """
        A node confirms an erasure by an event of its own, and erases from then on: it refuses payloads that come \
        later. The event does not prove that its disk is clean. A node that has not confirmed has not heard of it, \
        is of an earlier release, or is gone.
        """:
            """
        노드는 자기 이벤트로 삭제를 확인하고 그때부터 삭제하며, 나중에 오는 내용은 받지 않습니다. 그 이벤트가 디스크에서 다 지워졌음을 증명하지는 않습니다. 확인하지 않은 노드는 소식을 아직 \
        듣지 못했거나, 이전 릴리스이거나, 없어진 노드입니다.
        """,
    ]
}
