extension KoreanHelp {
    /// What commands that read say besides.
    static let read: [String: String] = [
        "all of them, for a spreadsheet": "전부, 스프레드시트용",
        "those that did not help": "도움이 되지 않은 것",
        """
        The question of an answer is its cause, else the last message of a person before it; both as they stand now. \
        'syncctl export --format dialogues' writes the same records as --csv. Exit code 1 when nothing matched.
        """:
            """
        답변의 원인이 된 메시지를 질문으로 보고, 없으면 그 앞에 사람이 마지막으로 쓴 메시지를 봅니다. 둘 다 지금 보이는 내용입니다. 'syncctl export --format \
        dialogues'는 --csv와 같은 행을 씁니다. 찾은 것이 없으면 종료 코드는 1입니다.
        """,
        """
        A field that was set on two nodes which did not know of each other is in conflict and shows both values: the \
        last one holds until somebody sets it again. Exit code 1 when there is no profile.
        """:
            """
        두 노드가 서로의 입력을 모른 채 같은 항목을 입력하면 충돌로 표시하고 두 값을 모두 보여 줍니다. 누군가 다시 입력할 때까지는 나중 값이 쓰입니다. 프로필이 없으면 종료 코드는 \
        1입니다.
        """,
        """
        Given several times, a filter means any of them; different filters must all match.

        The place in FILE moves when events are printed, not when their reader has done its work: what waits in a \
        pipe when the reader dies is not printed again. A program that must lose nothing keeps the position of the \
        last event it has dealt with, and goes on with 'syncctl export --after POSITION'.

        With --url it follows a node's feed, and goes on where it was when the node has been started anew. The place \
        in FILE is of use at every node of the cluster then: some events may come again at another one, none is \
        missed. The newest events are looked for among the last 20,000 of the log.
        """:
            """
        같은 필터를 여러 번 쓰면 그중 하나에만 맞아도 되고, 다른 필터끼리는 모두 맞아야 합니다.

        FILE의 위치는 읽는 쪽이 처리를 마쳤을 때가 아니라 이벤트를 출력했을 때 옮겨집니다. 읽는 쪽이 죽으면 파이프에 남아 있던 것은 다시 출력되지 않습니다. 하나도 잃으면 안 되는 \
        프로그램은 마지막으로 처리한 이벤트의 위치를 기록해 두고 'syncctl export --after POSITION'으로 이어 가십시오.

        --url을 쓰면 노드의 피드를 따라가며, 노드가 다시 시작해도 보던 곳에서 이어집니다. 이때는 FILE의 위치를 클러스터의 모든 노드에서 쓸 수 있습니다. 다른 노드에서는 일부 이벤트가 \
        다시 올 수 있지만 빠지는 것은 없습니다. 최신 이벤트는 로그의 마지막 20,000건 안에서 찾습니다.
        """,
        """
        Display order is the same on every node: by time, then by when it was recorded, then by origin and sequence. \
        --as-of goes by when things happened; --known-at by what had arrived here. An event that was recorded by \
        several nodes comes as often; the lines that do not count say in 'twinof' which one does.

        A user's or a conversation's events are found by the indexes that 'syncctl verify --views' proves to be \
        complete. --scan and --all read the log alone, and keep 56 bytes in memory for each event of the scope.

        --speed waits between two events as long as there was between them, divided by N: by when they happened, and \
        with --order log by when they were recorded. --into appends each event to a new store, hashed again, in the \
        order of the log, and says whether the trees and the views of the new store are those of this one (exit code \
        3 where they differ). The folder must be empty or not there. The node's key stays here: no node can be \
        started on it.
        """:
            """
        표시 순서는 모든 노드에서 같습니다. 시각 순이며, 시각이 같으면 기록된 시각, 그다음은 오리진과 순번 순입니다. --as-of는 일어난 때, --known-at은 이 노드에 도착한 때를 \
        기준으로 합니다. 여러 노드가 기록한 이벤트는 그 수만큼 나오며, 인정되지 않는 줄에는 어느 것이 인정되는지가 'twinof'에 적혀 있습니다.

        사용자나 대화의 이벤트는 색인으로 찾습니다. 색인이 완전하다는 것은 'syncctl verify --views'가 증명합니다. --scan과 --all은 로그만 읽으며, 범위 안의 \
        이벤트마다 메모리를 56바이트씩 씁니다.

        --speed는 두 이벤트 사이의 간격을 N으로 나눈 만큼 기다립니다. 간격은 일어난 시각을, --order log와 함께 쓰면 기록된 시각을 기준으로 합니다. --into는 이벤트를 \
        로그 순서대로 다시 해시해 새 저장소에 추가하고, 머클 트리와 뷰가 이 저장소와 같은지 알려 줍니다(다르면 종료 코드 3). 폴더는 없거나 비어 있어야 합니다. 노드의 키는 옮기지 \
        않으므로 새 저장소로 노드를 시작할 수는 없습니다.
        """,
    ]
}
