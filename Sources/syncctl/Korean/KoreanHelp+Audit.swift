extension KoreanHelp {
    /// Of commands for auditors.
    static let audit: [String: String] = [
        "What led to an event, and what followed from it": "이벤트의 원인과 결과를 나무 모양으로 봅니다",
        "At most so many events (default: 200, at most 500).": "이벤트를 최대 몇 건 볼지. 기본값: 200, 최대: 500.",
        "At most so many steps from the event (default: 50, at most 500).":
            "이벤트에서 최대 몇 단계까지 볼지. 기본값: 50, 최대: 500.",
        "from the first question to the last edit": "첫 질문부터 마지막 수정까지",
        "what it follows from, and what came of it at once": "직접적인 원인과 바로 이어진 결과",
        "a line for each event": "이벤트마다 한 줄",
        """
        First what led to it, from the farthest cause on, then the event itself with a mark, then what followed: \
        replies, answers of surveys, edits. An event follows from what its header names as its cause, an edit or \
        retraction also from its message, a bot's reply also from the bot's last 'bot.configured' before it. \
        What is named and has not come to this node is pending. Where more is left out than told, 'cut here' \
        says so: ask again for that event. Of many edits the newest are told; all of them are in \
        'syncctl conversation ID --type message.edited'. Exit code 1 when there is no such event.
        """:
            "가장 먼 원인부터 차례로 보이고, 찾은 이벤트에는 표시가 붙고, 그다음에 답변, 설문 응답, 수정처럼 뒤따른 것이 이어집니다. 이벤트의 원인은 "
            + "헤더에 적힌 것이고, 수정과 회수는 대상 메시지, 봇의 답변은 그 전의 마지막 'bot.configured'도 원인입니다. 적혀 있지만 이 노드에 오지 "
            + "않은 것은 대기 중으로 보입니다. 다 보이지 않은 곳에는 '여기서 생략'이 붙으니 그 이벤트로 다시 실행하십시오. 수정이 많으면 최근 것을 보입니다. "
            + "모든 수정은 'syncctl conversation ID --type message.edited'로 봅니다. 그런 이벤트가 없으면 종료 코드는 1입니다.",
        "What a page showed at two moments, and what had changed": "두 시점에 보이던 내용과 그사이 달라진 것을 봅니다",
        "The user's profile instead of the history.": "이력 대신 사용자의 프로필.",
        "What this node's log had at this position (10412 or seq:10412), or at this time; twice, the earlier one first.":
            "이 위치(10412 또는 seq:10412)나 이 시각에 이 노드의 로그에 있던 것. 두 번 쓸 때는 앞선 것을 먼저.",
        "What had happened by then; twice, the earlier one first.": "그때까지 일어난 것. 두 번 쓸 때는 앞선 것을 먼저.",
        "what this node learned meanwhile": "그사이 이 노드가 알게 된 것",
        "what is different now": "지금 달라진 것",
        "fields that were set": "그사이 입력된 항목",
        """
        Events that were added, messages that were edited or taken back, edits by others beside them, events in whose \
        place the same event of another node counts, and events that were erased. What was erased is told by its header: \
        what it said is gone from every moment. --known-at goes by what had arrived here, --as-of by when things \
        happened. Given once, the page is compared with what it shows now. Exit code 1 when nothing had changed.
        """:
            "추가된 이벤트, 수정되거나 회수된 메시지, 인정되지 않는 남의 수정, 다른 노드의 같은 이벤트로 바뀐 것, 삭제된 이벤트를 보입니다. 삭제된 것은 "
            + "헤더만 보이며 내용은 어느 시점에도 남아 있지 않습니다. --known-at은 이 노드에 도착한 때, --as-of는 일어난 때를 기준으로 합니다. 한 번만 "
            + "쓰면 지금 보이는 내용과 비교합니다. 달라진 것이 없으면 종료 코드는 1입니다.",
        "In display order (default), or in that of this node's log.": "표시 순서(기본값) 또는 이 노드의 로그 순서.",
        "As it happened, N times as fast; 'max' (default) waits for nothing.":
            "일어난 대로 N배 빠르게. 'max'(기본값)는 기다리지 않습니다.",
        "Makes a store anew of the events, and compares it; of all of them.":
            "모든 이벤트로 새 저장소를 만들고 서로 비교합니다.",
        "a minute of it in a second": "1분을 1초에",
        "a store made anew, with equal roots and views": "루트와 뷰가 같은 새 저장소",
        "With --views: the events behind each row that differs.": "--views와 함께: 다른 행마다 그 근거가 된 이벤트.",
        "with the events behind each row that differs": "다른 행의 근거가 된 이벤트까지",
        "Puts together all that is here of a person, to be given to them": "한 사람의 데이터를 모두 모아 본인에게 줄 폴더를 만듭니다",
        "Whose data.": "누구의 데이터.",
        "The folder to make; it must be empty or not there.": "만들 폴더. 없거나 비어 있어야 합니다.",
        "What others have said in the same conversations (default: headers).":
            "같은 대화에서 다른 사람이 한 말. 기본값: headers(내용 제외).",
        "a folder with pages, events and proofs": "페이지, 이벤트, 증명이 든 폴더",
        "whether the folder is as it was made": "폴더가 만든 그대로인지",
        """
        The folder has the events of the person's history and what they have written elsewhere, as they are stored; pages in Korean and English; proofs of the events; who has looked at them; and a README that \
        says how each is checked. Events of others in the same conversations are told by type, time and author, also those that \
        name the person; with --others full as they are stored. The folder gets its name when all of it is on the disk; what an interrupted run has left beside it, \
        under the name DIR.unfinished, goes with the next run. That it was asked for, by whom and why, is recorded before the folder gets its name, as an event access.given. \
        The headers of the whole log are looked at once. Exit code 1 when nothing is here of this person.
        """:
            "폴더에는 본인 이력의 이벤트와 다른 이력에 쓴 것이 저장된 그대로 들어 있고, 한국어와 영어 페이지, 증명, 열람 기록, 확인 방법을 적은 "
            + "README가 있습니다. 같은 대화에서 다른 사람이 남긴 이벤트는 본인을 가리키는 것도 종류, 시각, 작성자만 알리며, --others full을 쓰면 "
            + "저장된 그대로 넣습니다. 누가 왜 요청했는지는 폴더에 이름을 붙이기 전에 "
            + "access.given 이벤트로 기록합니다. 폴더는 모두 디스크에 쓴 뒤에 이름을 얻고, 중단된 실행이 DIR.unfinished로 남긴 것은 다음 실행이 지웁니다. "
            + "로그 전체의 헤더를 한 번 읽습니다. 이 사람의 데이터가 없으면 종료 코드는 1입니다.",
    ]
}
