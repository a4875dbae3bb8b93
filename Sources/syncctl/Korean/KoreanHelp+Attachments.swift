extension KoreanHelp {
    /// What `attachment` says.
    static let attachments: [String: String] = [
        "Attachments": "첨부",
        "Keeps a file's bytes for an event to name": "이벤트가 가리킬 파일을 저장합니다",
        "Writes the bytes of an attachment": "첨부 파일을 꺼냅니다",
        "Attachments that events name, the newest first": "이벤트가 가리키는 첨부를 최신 순서로 봅니다",
        "Compares the bytes of all attachments with their names": "모든 첨부의 내용을 이름(SHA-256)과 대조합니다",
        "The file.": "파일.",
        "The 64 digits in the event.": "이벤트에 적힌 64자리 값.",
        "What it is, as image/png; its first bytes say it where they tell.":
            "미디어 타입. 예: image/png. 파일 앞부분으로 알 수 있으면 그것을 씁니다.",
        "Writes them there, and not to standard output; the file must not exist.":
            "표준 출력 대신 이 파일에 씁니다. 이미 있는 파일은 안 됩니다.",
        "Only whose bytes are not here.": "이 노드에 내용이 없는 것만.",
        "Only whose bytes are damaged here.": "이 노드에서 내용이 손상된 것만.",
        "prints its SHA-256": "SHA-256을 출력합니다",
        "names it": "이벤트에서 가리킵니다",
        "the file appears when it is whole": "다 받은 뒤에 파일이 생깁니다",
        "of one user": "한 사용자의 것",
        "what has to come from a peer": "다른 노드에서 받아야 할 것",
        "reads every file": "모든 파일을 읽습니다",
        """
        The answer has what stands in the event: sha256, bytes and mediaType. Bytes that no event names within a day are taken \
        away again. A folder, a pipe or a device is refused.
        """:
            """
        응답에는 이벤트에 적을 sha256, bytes, mediaType이 있습니다. 하루 안에 이벤트가 가리키지 않으면 다시 지워집니다. \
        폴더, 파이프, 장치는 받지 않습니다.
        """,
        """
        What has other bytes than its name says is not given out. Exit code 1: no event names it. Exit code 75: its bytes are not \
        here yet.
        """:
            """
        이름과 내용이 다르면 내주지 않습니다. 종료 코드 1은 가리키는 이벤트가 없다는 뜻이고, 75는 아직 내용이 이 노드에 없다는 뜻입니다.
        """,
        """
        A file with other bytes is put aside, and the node asks its peers for the right ones. Beside a daemon the daemon does \
        so. Exit code 2 when bytes are missing, 3 when a file is damaged.
        """:
            """
        내용이 다른 파일은 따로 치워 두고, 노드가 피어에게 올바른 내용을 요청합니다. 데몬이 실행 중이면 데몬이 합니다. 내용이 없으면 \
        종료 코드 2, 손상된 파일이 있으면 3입니다.
        """,
        "Only what stands in this user's history.": "이 사용자의 이력에 있는 것만.",
        "Only what stands in this conversation.": "이 대화에 있는 것만.",
    ]
}
