extension KoreanHelp {
    /// What the commands about nodes say.
    static let nodes: [String: String] = [
        "the daemon's state, or the store's when none runs": "데몬의 상태. 실행 중이 아니면 저장소의 상태",
        "the same for a program": "같은 것을 프로그램용으로",
        """
        Exit code 2 when something is degraded: a peer away, a disk nearly full, views that cannot be written; and \
        when it cannot be told whether a daemon runs, because the store belongs to another user. Exit code 3 when \
        the record is damaged or has two versions, as of 'syncctl doctor'.
        """:
            """
        이상이 있으면 종료 코드는 2입니다. 피어와 연결되어 있지 않거나, 디스크가 거의 찼거나, 뷰를 쓸 수 없는 때입니다. 저장소가 다른 사용자의 것이라 데몬이 실행 중인지 알 수 없을 때도 \
        2입니다. 기록이 훼손되었거나 서로 다른 이력이 둘 있으면 'syncctl doctor'와 마찬가지로 3입니다.
        """,
        """
        A running node tells its own figures, the same as GET /metrics. Where none runs they are those of the files, \
        without peers and subscriptions. Neither reads the log. 'syncctl top' shows what happens now.
        """:
            """
        실행 중인 노드는 GET /metrics와 같은 수치를 직접 알려 줍니다. 실행 중이 아니면 파일에서 얻은 수치이며, 피어와 구독은 없습니다. 어느 쪽도 로그를 읽지 않습니다. 지금 하는 \
        일은 'syncctl top'으로 봅니다.
        """,
        """
        It asks for the figures of GET /metrics, which cost the node some milliseconds, and shows how they have \
        changed. Times are of the last ten looks. A node that does not answer is asked again.
        """:
            """
        GET /metrics의 수치를 요청해 어떻게 바뀌었는지 보여 줍니다. 요청 한 번에 노드는 몇 밀리초를 씁니다. 시간은 최근 열 번의 값입니다. 노드가 응답하지 않으면 다시 요청합니다.
        """,
        "the peers' offsets, and origins whose stamps were wrong": "피어의 시계 차이와, 시각이 틀렸던 오리진",
        """
        OFFSET is the peer's clock minus this node's, half the round trip taken off, from the last sign of life. A \
        flagged origin had stamps more than 60 s ahead when they came: its events are kept, and moved no other \
        clock. Exit code 2 when a clock is off by more than 60 s now.
        """:
            """
        시계 차이(OFFSET)는 마지막 응답을 기준으로, 피어의 시계에서 이 노드의 시계를 빼고 왕복 시간의 절반을 덜어 낸 값입니다. '시각이 틀린 오리진'은 이벤트가 도착했을 때 시각이 \
        60초 넘게 앞서 있던 오리진입니다. 그 이벤트는 보관하며, 다른 시계는 그 때문에 움직이지 않습니다. 지금 60초 넘게 어긋난 시계가 있으면 종료 코드는 2입니다.
        """,
        "one line for each origin": "오리진마다 한 줄",
        "until another node holds it too": "다른 노드도 가질 때까지",
        "Each line is <origin>/<seq>: all events of that origin from 1 to seq are here.":
            "줄마다 <origin>/<seq>입니다. 그 오리진의 1부터 seq까지 모든 이벤트가 이 노드에 있다는 뜻입니다.",
        "<origin>/<seq> of each origin; - reads it (default: what the store holds now).":
            "오리진마다 <origin>/<seq>. -이면 표준 입력에서 읽습니다(기본값: 지금 저장소에 있는 것).",
        "On how many nodes, this one counted (default: 2).": "노드 몇 개에 있어야 하는지. 이 노드도 셉니다(기본값: 2).",
        "the message is on two nodes": "메시지가 두 노드에 저장될 때까지",
        "with an end": "제한 시간을 두고",
        """
        A peer counts when it has acknowledged the events as durable: it has them after a crash too. Exit code 75 \
        when the time is over, 78 where this node knows too few others.
        """:
            "이벤트가 안전하게 저장되었다고 확인해 준 피어만 셉니다. 그런 피어는 비정상 종료 뒤에도 이벤트를 가지고 있습니다. 제한 시간이 지나면 종료 코드는 75이고, 이 노드가 아는 노드가 모자라면 78입니다.",
        """
        LACKS: events that are here and that the peer has not acknowledged as durable; OLDEST: how long ago the \
        oldest of them was recorded here. OWES: events that the peer says it has and that are not here.
        """:
            """
        상대에 없음(LACKS)은 이 노드에 있지만 피어가 안전하게 저장되었다고 확인해 주지 않은 이벤트이고, 가장 오래된 것(OLDEST)은 그중 가장 먼저 기록된 이벤트가 이 노드에 기록된 \
        지 얼마나 되었는지입니다. 받을 것(OWES)은 피어가 가지고 있다고 하지만 이 노드에 없는 이벤트입니다.
        """,
        "the same as syncctl peers list": "syncctl peers list와 같습니다",
        "with their state when the daemon runs": "데몬이 실행 중이면 상태까지",
        "What to call the node here (default: what it calls itself).": "이 노드에서 그 노드를 부를 이름(기본값: 그 노드가 스스로 쓰는 이름).",
        "How long the line may be used (default: 1h; at most 7d).": "초대를 쓸 수 있는 기간(기본값: 1h, 최대: 7d).",
        "Where this node can be called (default: where it listens).": "이 노드에 연결할 수 있는 주소(기본값: 연결을 받는 주소).",
        "on the one node": "한 노드에서",
        "on the other one: the rest is done": "다른 노드에서. 나머지는 저절로 됩니다",
        """
        The line names this node's id, so that the other one cannot be led astray, and a secret that lets one node \
        in, once. Give it to nobody else. Keys never travel.
        """:
            "초대에는 이 노드의 ID가 있어 상대가 엉뚱한 노드에 연결하지 않으며, 노드 하나를 한 번만 허용하는 비밀 값이 있습니다. 다른 누구에게도 주지 마십시오. 키는 전송되지 않습니다.",
        "What 'syncctl peers invite' printed there, or '-' to read it from stdin.":
            "그 노드에서 'syncctl peers invite'가 출력한 한 줄. '-'이면 표준 입력에서 읽습니다.",
        "both nodes know each other from then on": "이때부터 두 노드가 서로를 압니다",
        """
        Connects, makes sure that the node is the one named in the line, and shows that it knows the secret without \
        sending it. Without a daemon the next start of syncd does so. Other users of this machine can see the \
        arguments of a process; what is read from stdin they cannot.
        """:
            """
        그 노드에 연결해 초대에 적힌 노드가 맞는지 확인하고, 비밀 값을 보내지 않으면서 알고 있음을 증명합니다. 데몬이 실행 중이 아니면 다음에 syncd를 시작할 때 합니다. 프로세스의 \
        인자는 이 컴퓨터의 다른 사용자가 볼 수 있지만, 표준 입력으로 읽은 것은 볼 수 없습니다.
        """,
        "What to call it here.": "이 노드에서 부를 이름.",
        "NODEID@HOST:PORT, or NODEID alone when it calls us.": "NODEID@HOST:PORT. 그쪽에서 연결해 오면 NODEID만.",
        "a node that is called": "이쪽에서 연결하는 노드",
        "a node that calls; its address does not matter": "연결해 오는 노드. 주소는 상관없습니다",
        """
        The node id is the 64 hexadecimal digits that 'syncctl status' shows there. Both nodes must add each other. \
        A known node gets the new name and address; without an address it keeps the one it has. A name that another \
        peer has is refused.
        """:
            """
        노드 ID는 그 노드의 'syncctl status'에 나오는 16진수 64자리입니다. 두 노드가 서로를 추가해야 합니다. 이미 아는 노드이면 이름과 주소를 새것으로 바꾸며, 주소를 쓰지 \
        않으면 있던 주소를 유지합니다. 다른 피어가 쓰는 이름은 거부합니다.
        """,
        "What it is called.": "이름.",
        "what it sent stays": "받은 이벤트는 남습니다",
        "until syncctl peers resume busan-1, restarts included":
            "syncctl peers resume busan-1을 실행할 때까지. 다시 시작해도 유지됩니다",
        "what was missed is sent at once": "그동안 보내지 못한 것을 바로 보냅니다",
        "How many times (default: 3).": "몇 번 확인할지(기본값: 3).",
        "times there and back, and how its clock stands": "왕복 시간과 시계 차이",
    ]
}
