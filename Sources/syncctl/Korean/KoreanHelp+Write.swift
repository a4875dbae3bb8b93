extension KoreanHelp {
    /// What `append`, `import` and `export` say.
    static let write: [String: String] = [
        "'-' reads native NDJSON from stdin.": "'-'이면 표준 입력에서 NDJSON을 읽습니다.",
        "Whose history it belongs to.": "어느 사용자의 이력에 속하는지.",
        "The payload's 'text'.": "데이터의 'text'.",
        "The payload, a JSON object; --text is added to it.": "이벤트의 데이터. JSON 객체이며, --text를 쓰면 여기에 더합니다.",
        "The conversation it belongs to.": "어느 대화에 속하는지.",
        "Who did it (default: the user).": "작성자(기본값: 그 사용자).",
        "The event's type (default: message.posted; of a reply bot.replied).":
            "이벤트 종류(기본값: message.posted, 답변이면 bot.replied).",
        "The idempotency key (default: a new one).": "이벤트 ID. 같은 ID는 한 번만 저장됩니다(기본값: 새 ID).",
        "The event that led to it.": "원인이 된 이벤트.",
        "Reply of --author to this event: its id, user, conversation and cause follow.":
            "이 이벤트에 대한 --author의 답변. ID, 사용자, 대화, 원인은 여기에서 정해집니다.",
        "When it happened (default: now).": "일어난 시각(기본값: 지금).",
        "Only if the conversation has N events on this node.": "이 노드에서 대화의 이벤트가 N건일 때만 추가합니다.",
        "one message": "메시지 하나",
        "one result for each line": "줄마다 결과 하나",
        "any type, any payload": "어떤 종류든, 어떤 데이터든",
        "a bot's reply, which is stored once however many workers answer": "봇의 답변. 작업자 여럿이 답해도 한 번만 저장됩니다",
        """
        Goes through the daemon when one runs on the store, else directly. An event with an id that is stored \
        already, with the same content, is reported as 'already': repeat the command after any error.

        The id of a reply is made from the message's id, the author and the label (FORMATS.md, 'Reply ids'). Of two \
        workers that answer with different words the second is told E_ID_REUSED. A label tells several replies of \
        one bot to one message apart.

        Exit codes: 4 when some events were rejected, 65 when the only one is malformed.
        """:
            """
        저장소의 데몬이 실행 중이면 데몬을 통해, 아니면 직접 추가합니다. 같은 ID와 같은 내용으로 이미 저장된 이벤트는 '기존'(already)으로 알립니다. 어떤 오류가 나든 같은 명령을 \
        다시 실행하면 됩니다.

        답변의 ID는 메시지의 ID, 작성자, 라벨로 만듭니다(FORMATS.md, 'Reply ids'). 두 작업자가 서로 다른 말로 답하면 나중 작업자는 E_ID_REUSED를 받습니다. \
        라벨은 한 봇이 한 메시지에 보내는 여러 답변을 구별합니다.

        거부된 이벤트가 있으면 종료 코드는 4, 하나뿐인 이벤트의 형식이 잘못되었으면 65입니다.
        """,
        "A file, an archive or folder of an export, or '-' for native NDJSON on stdin.":
            "내보낸 파일, 압축 파일 또는 폴더. '-'이면 표준 입력의 NDJSON.",
        "What the file is (default: auto, and native where nothing is recognised).":
            "파일의 형식(기본값: auto. 알아볼 수 없으면 native).",
        "Whose events they are, where the export does not say.": "누구의 이벤트인지. 내보낸 파일에 나와 있지 않을 때 씁니다.",
        "The exporter's own name in the export: events of USER.": "내보낸 사람이 파일에서 쓰는 이름. 이 이름의 것은 USER의 이벤트가 됩니다.",
        "The conversation they go to, in place of the export's own.": "어느 대화에 넣을지. 파일에 나온 대화 대신 씁니다.",
        "Of times without one (KakaoTalk: Asia/Seoul, others: this machine's).":
            "시각에 시간대가 없을 때 적용할 시간대(기본값: 카카오톡은 Asia/Seoul, 나머지는 이 컴퓨터의 시간대).",
        "Which number of a date comes first, where WhatsApp's file leaves it open.":
            "WhatsApp 파일만으로 알 수 없을 때, 날짜에서 일과 월 중 앞에 오는 것.",
        "WhatsApp: take a chat, too, that is here with day and month exchanged.":
            "WhatsApp: 같은 대화가 일과 월이 뒤바뀐 채로 이미 있어도 가져옵니다.",
        "Firestore: take questions, too, whose answer the export lacks.": "Firestore: 답변이 없는 질문도 가져옵니다.",
        "Events handed in at a time, 1 to 4096 (default: 2000).": "한 번에 넘기는 이벤트 수, 1~4096(기본값: 2000).",
        "Read and check everything, store nothing.": "모두 읽고 검사하지만 저장하지 않습니다.",
        "Write rejected lines there, each with its number and the reason.": "거부된 줄을 번호, 이유와 함께 이 파일에 씁니다.",
        "Take in what 'export --evidence' wrote, with its proofs.": "'export --evidence'로 쓴 것을 증명과 함께 가져옵니다.",
        "a whole dump; again: adds nothing": "전체 덤프. 다시 실행하면 추가되는 것이 없습니다",
        "from a pipe": "파이프에서",
        "every line that would be rejected": "거부될 모든 줄",
        "and 'jq -r .text bad.ndjson' has them, to be mended": "거부된 줄은 'jq -r .text bad.ndjson'으로 꺼내 고칩니다",
        "what a chat of KakaoTalk has in it": "카카오톡 대화에 무엇이 들어 있는지",
        "all of a ChatGPT export, as hana's": "ChatGPT에서 내보낸 것 전부를 hana의 것으로",
        "events as those of their own origins, proven": "증명된 이벤트를 원래 오리진의 것 그대로",
        """
        A line without id gets one from its content, so that importing twice adds nothing. Lines that are no events \
        are reported and passed over. So are lines with 'twinof': another event with the same id counts. \
        Interrupted, it ends in good order: run it again to go on.

        Exports of other services are recognised: KakaoTalk, WhatsApp, Telegram, Slack, Matrix, ChatGPT, OpenAI's \
        fine-tuning lines, Firestore, Realtime Database, Core Data and SwiftData. An export is read twice: when \
        anything of it is malformed, nothing of it is stored. Imported again, or in a later export that overlaps, it \
        adds what is new.

        With --evidence, events stay those of their origins: nothing of them changes, and each piece is proven by \
        its origin's signed head before it is stored. The daemon must be stopped. A line that does not fit ends the \
        import; what was stored before is proven and stays.

        Exit codes: 4 when some lines were rejected, or an export says something else than what is here; 65 when the \
        only line was rejected, or an export is malformed; 66 when there is no such file; 3 when evidence is \
        contradicted, 2 when its heads sign more events than it has.
        """:
            """
        ID가 없는 줄은 내용에서 ID를 만들므로, 두 번 가져와도 더 추가되지 않습니다. 이벤트가 아닌 줄은 알리고 건너뜁니다. 'twinof'가 있는 줄도 같은 ID의 다른 이벤트가 \
        인정되므로 건너뜁니다. 중단하면 정리하고 끝나며, 다시 실행하면 이어서 가져옵니다.

        다른 서비스에서 내보낸 파일도 알아봅니다: 카카오톡, WhatsApp, 텔레그램, Slack, Matrix, ChatGPT, OpenAI 미세 조정 JSONL, Firestore, \
        Firebase 실시간 데이터베이스, Core Data, SwiftData. 이런 파일은 두 번 읽으며, 형식에 맞지 않는 곳이 하나라도 있으면 아무것도 저장하지 않습니다. 다시 \
        가져오거나, 겹치는 나중 파일을 가져오면 새로운 것만 추가됩니다.

        --evidence를 쓰면 이벤트는 원래 오리진의 것으로 남고 바뀌는 것이 없으며, 부분마다 저장하기 전에 그 오리진의 서명된 헤드로 증명합니다. 데몬은 멈춰 있어야 합니다. 맞지 않는 \
        줄이 나오면 거기에서 끝나고, 그때까지 저장한 것은 증명된 것이므로 남습니다.

        거부된 줄이 있거나 내보낸 파일에 이미 저장된 것과 다른 내용이 있으면 종료 코드는 4, 하나뿐인 줄이 거부되었거나 내보낸 파일이 형식에 맞지 않으면 65, 파일이 없으면 66입니다. \
        증거가 어긋나면 3, 증거의 헤드가 들어 있는 것보다 많은 이벤트에 서명했으면 2입니다.
        """,
        """
        Each line is a CloudEvents 1.0 object with the event's Merkle leaf; 'syncctl import' reads it back with the \
        same ids. With --json a last line of type 'end' tells that nothing was cut off. What proves an event (salt, \
        dependencies, signed heads) is not in it, and imported events are new ones of the importing node.

        --evidence writes another form, described in FORMATS.md: every event as it was hashed, and each origin's key \
        and signed head; the file ends with a line that tells whether it is whole. Nodes that have the same events \
        and heads write the same bytes. 'syncctl import --evidence' takes it in without loss. Exit code 2 when \
        events were left out because no head covers them yet, 3 where one is not what was stored.

        --format writes what was said, as it stands now: csv a record for each message, openai a line for each \
        conversation (with --context N for each answer), dialogues a record for each question and its answer, html \
        one conversation as a page. These forms lose what no reader of theirs asks for; cloudevents loses nothing. \
        Exit code 1 when nothing was written.
        """:
            """
        줄마다 이벤트의 머클 리프가 든 CloudEvents 1.0 객체가 하나씩 있으며, 'syncctl import'로 같은 ID 그대로 다시 가져올 수 있습니다. --json을 쓰면 \
        type이 'end'인 마지막 줄로 잘린 것이 없음을 알 수 있습니다. 이벤트를 증명하는 것(솔트, 선행 이벤트, 서명된 헤드)은 들어 있지 않으며, 가져온 이벤트는 가져온 노드의 새 \
        이벤트가 됩니다.

        --evidence는 FORMATS.md에 설명된 다른 형식으로 씁니다. 모든 이벤트를 해시한 그대로, 오리진마다 키와 서명된 헤드를 담고, 파일이 온전한지 알려 주는 줄로 끝납니다. \
        이벤트와 헤드가 같은 노드끼리는 같은 바이트를 씁니다. 'syncctl import --evidence'로 손실 없이 가져옵니다. 서명된 헤드에 아직 들어가지 않아 뺀 이벤트가 있으면 \
        종료 코드는 2, 저장한 것과 다른 이벤트가 있으면 3입니다.

        --format은 주고받은 말을 지금 보이는 대로 씁니다. csv는 메시지마다 한 행, openai는 대화마다 한 줄(--context N을 쓰면 답변마다 한 줄), dialogues는 \
        질문과 그 답변마다 한 행, html은 대화 하나를 담은 페이지입니다. 이 형식들에는 읽는 쪽에 필요 없는 것이 빠집니다. cloudevents에는 빠지는 것이 없습니다. 쓴 것이 없으면 \
        종료 코드는 1입니다.
        """,
    ]
}
