extension KoreanHelp {
    /// What `subscriptions` says.
    static let bots: [String: String] = [
        "each with what is open, out and behind": "구독마다 미처리, 처리 중, 밀린 이벤트",
        """
        OPEN: events that are wanted, were looked at and are not done; OUT: those that workers have now. BEHIND: \
        events of the log that were not looked at, because no worker has asked. The home of a subscription knows \
        these; other nodes show a dash.
        """:
            """
        미처리(OPEN)는 구독이 받는 것으로 확인했지만 끝나지 않은 이벤트이고, 처리 중(OUT)은 그중 작업자가 지금 가지고 있는 것입니다. 밀린 이벤트(BEHIND)는 작업자가 요청하지 \
        않아 아직 살펴보지 않은 로그의 이벤트입니다. 이 수는 구독의 담당 노드가 알며, 다른 노드에서는 줄표로 나옵니다.
        """,
        "now (default), first, a time, or a vector.": "now(기본값), first, 시각, 또는 벡터.",
        "now, first, a time, or a vector.": "now, first, 시각, 또는 벡터.",
        "Only this type; message.* is all that begin so.": "이 종류만. message.*이면 그렇게 시작하는 모든 종류.",
        "Pass over what happened so long before it was recorded.": "일어난 지 N밀리초가 지나서야 기록된 것은 건너뜁니다.",
        "How long a delivery may take (default: 30000).": "전달한 이벤트를 처리할 제한 시간. 단위: 밀리초(기본값: 30000).",
        "How long a delivery may take.": "전달한 이벤트를 처리할 제한 시간. 단위: 밀리초.",
        "After so many an event is parked (default: 5).": "이 횟수만큼 시도한 뒤에는 이벤트를 보류합니다(기본값: 5).",
        "After so many an event is parked.": "이 횟수만큼 시도한 뒤에는 이벤트를 보류합니다.",
        "single (default): one node delivers; local: each node its own events.":
            "single(기본값): 노드 하나가 전달합니다. local: 노드마다 자기 이벤트를 전달합니다.",
        "from now on": "지금부터",
        "everything": "모두",
        "with the error that its worker told last": "작업자가 마지막으로 알린 오류까지",
        "what is not stored here yet is handed out by it": "여기에 아직 저장되지 않은 것은 새 필터로 전달합니다",
        """
        What is not given stays. Filters replace all filters there are. What is stored here now is handed out by the \
        old ones.
        """:
            "쓰지 않은 것은 그대로입니다. 필터를 쓰면 있던 필터를 모두 대신합니다. 지금 여기에 저장되어 있는 것은 이전 필터로 전달합니다.",
        "everything again": "모두 다시",
        """
        What was done is handed out again if it lies behind the place. What is parked stays so. --reason is stored \
        with it.
        """:
            "이미 끝난 것도 그 위치 뒤에 있으면 다시 전달합니다. 보류된 것은 그대로입니다. --reason은 함께 저장됩니다.",
        "Their ids.": "그 이벤트의 ID.",
        "when its cause is mended": "원인을 고친 뒤에",
        "when its home is gone, or to be stopped": "담당 노드가 없어졌거나 멈추려고 할 때",
        "its events stay": "이벤트는 남습니다",
    ]
}
