/// The help of commands about users' lists, by its English text.
extension KoreanHelp {
    static let lists: [String: String] = [
        "A user's conversations, with what is unread": "한 사용자의 대화방 목록과 안 읽은 메시지 수를 봅니다",
        "A user's contacts": "한 사용자의 연락처를 봅니다",
        "What a user looked for, to be offered again": "한 사용자의 최근 검색어를 봅니다",
        "Only of this category.": "이 분류의 대화만 봅니다.",
        "Count for each day, bot, version of a persona, or conversation.": "날, 봇, 페르소나 판, 대화마다 셉니다.",
        "With --by: only this answer.": "--by와 함께: 이 응답만.",
        "the same for each day": "날마다 같은 것",
        "in which conversations that was answered": "그렇게 응답한 대화",
        "Only in whose titles words begin so, whatever the case.":
            "제목의 낱말이 이렇게 시작하는 대화만 봅니다. 대소문자는 가리지 않습니다.",
        "Only whose names begin so, whatever the case.":
            "이름이 이렇게 시작하는 사용자만 봅니다. 대소문자는 가리지 않습니다.",
        "Only what begins so, whatever the case.":
            "이렇게 시작하는 검색어만 봅니다. 대소문자는 가리지 않습니다.",
        "With the first words of a person, in place of the last message.": "마지막 메시지 대신 사람이 처음 한 말을 봅니다.",
        "what each of them began with": "각 대화가 무엇으로 시작했는지",
        "Those, too, that the user has hidden.": "숨긴 대화방도 봅니다.",
        "Only of this user, as 'rooms' lists them.": "이 사용자의 대화만 'rooms'처럼 봅니다.",
        "What the user saw: messages of all in their conversations.":
            "사용자가 본 것, 곧 참여한 대화의 모든 메시지를 봅니다.",
        "By when, the newest first, or by the words.": "최근 순서 또는 검색어 순서로 정렬합니다.",
        "Only what was looked for there.": "여기에서 찾은 것만 봅니다.",
        "the 50 with the latest messages": "최근 메시지가 있는 대화방 50개",
        "all of them, also hidden ones, for a program": "숨긴 것까지 모두, 프로그램용",
        "the first 50, by id": "ID 순서로 처음 50명",
        "the newest first": "최근 것부터",
        "those that begin with 김, by their words": "김으로 시작하는 것을 검색어 순서로",
        "those with pictures, by their titles": "그림 대화를 제목으로",
        "the last 20 messages that the user saw": "사용자가 본 마지막 메시지 20건",
        """
        The latest message first: its text up to 80 characters, and how many of others' messages came after what the user \
        has read (message.read). With --category or --match 200,000 of them are looked at, or all with --all. Exit code 1 when \
        nothing matched, 2 when not all were looked at.
        """: """
        최근 메시지 순서로, 메시지는 80자까지 표시합니다. 사용자가 읽은 곳(message.read) 뒤에 온 다른 사람의 메시지 수도 함께 \
        표시합니다. --category나 --match를 쓰면 200,000개까지, --all이면 모두 살펴봅니다. 맞는 것이 없으면 종료 코드 1, 다 살펴보지 못했으면 \
        2입니다.
        """,
        """
        With --category or --match the 100,000 that were active last are looked at, or all with --all. Exit code 1 when nothing \
        matched, 2 when not all were looked at.
        """: """
        --category나 --match를 쓰면 최근에 활동한 100,000개까지, --all이면 모두 살펴봅니다. 맞는 것이 없으면 종료 코드 1, 다 살펴보지 못했으면 \
        2입니다.
        """,
        """
        Who was added on one node and removed on another, neither knowing of the other, stays. Exit code 1 when there is none.
        """: "서로 모르는 두 노드에서 한쪽은 추가하고 다른 쪽은 삭제한 연락처는 남습니다. 없으면 종료 코드 1입니다.",
        "Of a user the newest 1,000. Exit code 1 when there is none.":
            "사용자마다 최근 1,000건까지 봅니다. 없으면 종료 코드 1입니다.",
    ]
}
