/// The help of `syncctl` in Korean, by its English text. A test finds texts of the help that are not here, texts that are
/// in no help any longer, and those that are here twice.
enum KoreanHelp {
    static let tables = [
        commands, options, arguments, examples, discussions, read, lists, audit, write, trust, nodes, administration,
        backup, attachments, bots, access,
    ]

    static let texts = tables.reduce(into: [:]) { all, table in all.merge(table) { first, _ in first } }

    private static let commands: [String: String] = [
        "reads, writes and checks an event store": "이벤트 저장소를 읽고, 쓰고, 검증합니다",
        "Read": "읽기", "Write": "쓰기", "Take out": "내보내기", "Trust": "검증", "Nodes": "노드", "Administration": "관리",
        "Bots": "봇", "Access": "접근 권한",
        "Tokens that were given, and what they may do": "발급한 토큰과 그 권한을 봅니다",
        "Gives a token": "토큰을 발급합니다",
        "Erases for good what is in a user's history": "한 사용자 이력의 내용을 영구히 삭제합니다",
        "Erases for good what was said in a conversation": "대화 하나의 내용을 영구히 삭제합니다",
        "Erases for good what single events say": "지정한 이벤트의 내용을 영구히 삭제합니다",
        "Erasures, and which nodes have confirmed them": "삭제 기록과 확인한 노드를 봅니다",
        "Takes a token back, for good": "토큰을 영구히 폐기합니다",
        "Who the node takes you for, and what you may do": "노드가 나를 누구로 보는지, 무엇을 할 수 있는지 봅니다",
        "Who has read what, as far as reads are recorded": "누가 무엇을 읽었는지, 기록된 열람 내역을 봅니다",
        "One user's events across conversations": "한 사용자의 모든 대화 이벤트를 봅니다",
        "One conversation": "대화 하나를 봅니다",
        "Conversations, the latest active first": "최근에 활동한 순서로 대화 목록을 봅니다",
        "A user's profile, conflicts included": "사용자 프로필을 충돌까지 봅니다",
        "Answers of a survey, counted": "설문 응답을 집계합니다",
        "Questions and their answers, with what users thought of them": "질문과 답변을 사용자 평가와 함께 봅니다",
        "Newest events in the order of the log": "최신 이벤트를 로그 순서로 봅니다",
        "One event in full": "이벤트 하나를 전부 봅니다",
        "Events of a scope in display order": "범위를 정해 이벤트를 표시 순서로 다시 봅니다",
        "Appends events from options or NDJSON": "옵션이나 NDJSON으로 이벤트를 추가합니다",
        "Loads native NDJSON, or what other services export": "NDJSON이나 다른 서비스에서 내보낸 파일을 가져옵니다",
        "Prints the log as native NDJSON": "로그를 NDJSON으로 출력합니다",
        "Proves that nothing in the store was changed": "저장소의 내용이 바뀌지 않았음을 증명합니다",
        "What a node holds, signed, and who else holds it": "노드가 보유한 내용과 그것을 함께 보유한 노드를 서명과 함께 봅니다",
        "Checks a proven answer or a receipt, with no store and no network":
            "증명이 붙은 결과나 영수증을 저장소와 네트워크 없이 검사합니다",
        "Origins, roots and a digest of every view, to compare nodes": "노드끼리 비교할 수 있도록 오리진, 루트, 뷰별 다이제스트를 출력합니다",
        "What a node holds and how it does, in numbers": "노드가 가진 것과 상태를 숫자로 봅니다",
        "What a node does now, renewed each second": "노드가 지금 하는 일을 1초마다 새로 보여 줍니다",
        "This node on one screen": "이 노드의 상태를 한 화면에 보여 줍니다",
        "How the clocks of the nodes stand to this one": "다른 노드의 시계가 이 노드와 얼마나 다른지 봅니다",
        "What the store holds of each origin": "저장소가 오리진별로 가진 내용을 봅니다",
        "Waits until events are durable on several nodes": "이벤트가 여러 노드에 안전하게 저장될 때까지 기다립니다",
        "The nodes that are let in, and those that knock": "허용한 노드와 연결을 요청한 노드를 봅니다",
        "Prints a line with which one other node may join": "다른 노드 하나를 초대하는 한 줄을 출력합니다",
        "Joins the node that printed an invitation": "초대를 출력한 노드에 참여합니다",
        "Lets a node in": "노드를 허용합니다",
        "Ends the exchange with a node that is gone for good": "완전히 사라진 노드와의 교환을 끝냅니다",
        "Interrupts the exchange with a node": "노드와의 교환을 잠시 멈춥니다",
        "Goes on with a node": "멈춘 교환을 다시 시작합니다",
        "Asks a node for signs of life": "노드가 응답하는지 확인합니다",
        "Finds what is wrong, and says what to do": "문제를 찾아 해결 방법을 알려 줍니다",
        "Says that a finding was seen and dealt with": "발견된 문제를 처리했다고 기록합니다",
        "Events that views cannot read, with the reasons": "뷰가 읽지 못하는 이벤트와 그 이유를 봅니다",
        "Origins with two histories, with the proofs": "이력이 둘인 오리진과 그 증명을 봅니다",
        "Reads them again, by building the views anew": "뷰를 새로 만들어 격리된 이벤트를 다시 읽습니다",
        "Makes an empty store": "빈 저장소를 만듭니다",
        "Who hands events to bots, and how far the work is": "봇에 이벤트를 전달하는 구독과 처리 현황을 봅니다",
        "Makes a subscription": "구독을 만듭니다",
        "Events that were set aside, and why": "보류된 이벤트와 그 이유를 봅니다",
        "Hands out parked events once more": "보류된 이벤트를 다시 전달합니다",
        "Makes this node the home of a subscription": "이 노드를 구독의 담당 노드로 만듭니다",
        "Changes a subscription's filters and limits": "구독의 필터와 한도를 바꿉니다",
        "Begins anew from another place": "구독을 다른 위치에서 다시 시작합니다",
        "Ends a subscription": "구독을 끝냅니다",
    ]

    private static let options: [String: String] = [
        "With what proves the events, for 'syncctl check-proof'.":
            "이벤트를 증명하는 자료와 함께 출력합니다. 'syncctl check-proof'로 검사합니다.",
        "Who asked for it: it is part of the record.": "요청한 사람. 기록에 남습니다.",
        "Only shows what would go.": "무엇이 삭제될지 보여 주기만 합니다.",
        "Writes what was decided there, for --confirm; nothing is erased.": "결정한 내용을 --confirm용 파일에 씁니다. 삭제하지는 않습니다.",
        "Erases what the plan in this file lists, and nothing that has come since.":
            "이 파일의 계획에 있는 것만 삭제합니다. 그 뒤에 들어온 것은 남습니다.",
        "With --confirm: erases what has come since the plan, too (now; default: plan).":
            "--confirm과 함께: 계획 이후에 들어온 것도 삭제합니다(now, 기본값: plan).",
        "What the user has written in the histories of others.": "이 사용자가 다른 사용자의 이력에 쓴 것.",
        "What others have written in reply.": "다른 사용자가 쓴 답글.",
        "Who takes part in conversations with others, their titles, and what was taken back of others.":
            "남과 함께 쓰는 대화의 참여자와 제목, 남의 메시지를 회수한 것.",
        "So long between two looks (default: 1).": "몇 초마다 볼지 정합니다(기본값: 1).",
        "End after so many looks.": "이 횟수만큼 보고 끝냅니다.",
        "The store's folder (default: SYNCCTL_STORE, ./syncd-dev, /var/lib/syncd).":
            "저장소 폴더. 기본값: SYNCCTL_STORE, ./syncd-dev, /var/lib/syncd.",
        "For people: aligned, in colour and in their language (default).": "사람이 읽는 형식: 줄을 맞추고 색과 언어를 적용합니다(기본값).",
        "JSON objects, one a line, the last one of type 'end'.": "한 줄에 JSON 객체 하나. 마지막 줄의 type은 'end'입니다.",
        "Tab-separated or undecorated text for scripts.": "스크립트용: 탭으로 구분한, 꾸밈없는 텍스트.",
        "Comma-separated values (RFC 4180) under a line of column names.": "열 이름 줄이 있는 CSV(RFC 4180).",
        "No messages and no progress; errors are still told.": "안내와 진행 상황을 표시하지 않습니다. 오류는 표시합니다.",
        "Show times in UTC.": "시각을 UTC로 표시합니다.",
        "Long output goes to the terminal, too, and not into a pager.": "긴 출력도 페이저 없이 터미널에 바로 표시합니다.",
        "A node to ask: unix:PATH, http:// or https:// (default: SYNCCTL_URL).":
            "요청을 보낼 노드: unix:PATH, http:// 또는 https://. 기본값: SYNCCTL_URL.",
        "The token to show it (default: SYNCCTL_TOKEN_FILE).": "노드에 제시할 토큰 파일. 기본값: SYNCCTL_TOKEN_FILE.",
        "Certificates that are believed, as PEM (default: SYNCCTL_CA_FILE).":
            "신뢰할 인증서 파일(PEM). 기본값: SYNCCTL_CA_FILE.",
        "Why an auditor reads, or what is erased goes: it is recorded.": "감사자가 열람하거나 내용을 삭제하는 이유. 기록됩니다.",
        "English or Korean.": "영어 또는 한국어.",
        "Colour.": "색.", "Show this help.": "이 도움말을 표시합니다.",
        "From then on; seq:N is the time of the event at position N.": "이 시각부터. seq:N은 위치 N에 있는 이벤트의 시각입니다.",
        "Before then, in the same forms.": "이 시각 전까지. 쓰는 법은 같습니다.",
        "Only events of this type.": "이 종류의 이벤트만.",
        "Only messages: of people, of bots, or both.": "메시지만: 사람, 봇, 또는 둘 다.",
        "Only what this user or bot has written.": "이 사용자나 봇이 쓴 것만.",
        "Only what this node's log had at this position (10412 or seq:10412), or at this time.":
            "이 위치(10412 또는 seq:10412)나 이 시각까지 이 노드의 로그에 있던 것만.",
        "Only the first N.": "처음 N개만.", "Only the last N.": "마지막 N개만.",
        "Show each event's id, which is the same on every node.": "모든 노드에서 같은 이벤트 ID를 함께 표시합니다.",
        "What messages said before they were edited.": "수정되기 전의 메시지 내용을 보여 줍니다.",
        "Messages whole, with their line ends, and who edited them.": "메시지를 줄바꿈 그대로 전부 보여 주고, 누가 수정했는지도 표시합니다.",
        "Only this conversation.": "이 대화만.",
        "How many (default: 50).": "개수(기본값: 50).", "All of them.": "모두.", "Only this question.": "이 문항만.",
        "How many (default: 10; with --since, or a place in --cursor-file, all of them).":
            "개수(기본값: 10. --since를 쓰거나 --cursor-file에 위치가 있으면 모두).",
        "Wait for more and print them as they come.": "새 이벤트를 기다렸다가 오는 대로 출력합니다.",
        "What was written, by the words in it": "글에 나온 낱말로 찾기",
        "Words that a text has; a phrase in quotation marks; -word for one that it has not.":
            "글에 있어야 할 낱말. 큰따옴표로 묶으면 구절, -낱말은 없어야 할 낱말입니다.",
        "Only replies of bots.": "봇의 답변만.",
        "Users who have a name, by name": "이름이 있는 사용자, 이름순",
        "those whose names begin with 김": "이름이 김으로 시작하는 사용자",
        "The name is the field \"name\" of the profile. Exit code 1 when nothing matched.":
            "이름은 프로필의 \"name\" 항목입니다. 찾은 것이 없으면 종료 코드는 1입니다.",
        "What the words fill most comes first, not the newest.": "최신순 대신 낱말이 글에서 차지하는 몫이 큰 것부터.",
        "Only how many texts the index has, with those since changed or taken back.":
            "색인에 있는 글의 수만. 그 뒤 수정하거나 거둔 글도 셉니다.",
        "Only messages that say they are in this language.": "이 언어로 표시된 메시지만.",
        "How many (default: 20).": "개수(기본값: 20).",
        "The N messages before and behind each, too.": "앞뒤 메시지를 N개씩 함께 보여 줍니다.",
        "the newest 20 texts with these two syllables, also within words": "이 두 글자가 낱말 안에라도 있는 최근 글 20개",
        "a phrase, and a word that must not be there": "구절, 그리고 없어야 할 낱말",
        "the same without those that have the second word": "그중 둘째 낱말이 없는 글",
        "one user's, with what was said around it": "한 사용자의 글과 앞뒤 메시지",
        """
        The newest first, as texts stand now: of an edited message the last edit, and nothing that was taken back. \
        Korean, Chinese and Japanese are found by characters, other scripts by whole words. A phrase stands in one \
        argument with its quotation marks. A -word stands behind the first word; where its first letter is an option, \
        as in -nose, put '--' before the words.

        --language finds messages that say they are in a language; --lang is the language of the headings, as in \
        every command. Exit code 1 when nothing matched.
        """: """
        최신순이며 지금 보이는 글에서 찾습니다. 수정된 메시지는 마지막 내용에서 찾고, 거둔 글은 찾지 않습니다. 한국어·중국어·일본어는 \
        글자 단위로, 다른 문자는 낱말 단위로 찾습니다. 구절은 큰따옴표까지 한 인수에 넣으십시오. -낱말은 첫 낱말 뒤에 씁니다. \
        -nose처럼 첫 글자가 옵션과 같으면 낱말들 앞에 '--'를 쓰십시오.

        --language는 그 언어로 표시된 메시지만 찾습니다. --lang은 모든 명령에서 화면 언어입니다. \
        찾은 것이 없으면 종료 코드는 1입니다.
        """,
        "Only this user's history.": "이 사용자의 이벤트만.",
        "Go on after the place kept in FILE, and keep the new one there; without FILE begin now.":
            "FILE에 기록된 위치 다음부터 이어서 보고 새 위치를 다시 기록합니다. FILE이 없으면 지금부터 시작합니다.",
        "Begin at the first event of the log, where --cursor-file keeps no place yet.":
            "--cursor-file에 위치가 아직 없으면 로그의 첫 이벤트부터 시작합니다.",
        "This user's history.": "이 사용자의 이벤트.", "This conversation.": "이 대화.", "Everything.": "전부.",
        "as it stood then": "그때의 모습",
        "Only what had happened by then.": "이 시각까지 일어난 일만.",
        "Search the whole log, and trust no index.": "색인을 믿지 않고 로그 전체를 찾습니다.",
        "Only what stands after this position.": "이 위치 다음 것만.", "Up to this position.": "이 위치까지.",
        "Only events of this origin.": "이 오리진의 이벤트만.",
        "With all that proves the events, to be checked or taken in elsewhere.":
            "다른 곳에서 확인하거나 가져올 수 있도록 이벤트를 증명하는 자료를 모두 함께 출력합니다.",
        "Native lines, messages, lines for fine-tuning, questions with answers, or a page.":
            "원래 형식의 줄, 메시지, 미세 조정용 줄, 질문과 답변, 또는 웹 페이지.",
        "openai: a line for each answer, with at most the N messages before it.":
            "openai: 답변마다 한 줄씩, 그 앞의 메시지를 최대 N개까지 함께 출력합니다.",
        "dialogues: answers of this survey (default: satisfaction). With VALUE, openai and dialogues: only what was answered so.":
            "dialogues: 이 설문의 응답(기본값: satisfaction). VALUE를 주면 openai와 dialogues는 그렇게 응답한 것만 출력합니다.",
        "Answers of this survey (default: satisfaction). With VALUE: only what was answered so.":
            "이 설문의 응답(기본값: satisfaction). VALUE를 주면 그렇게 응답한 것만 봅니다.",
        "html: in which times are shown (default: this machine's).": "html: 시각을 표시할 시간대(기본값: 이 컴퓨터의 시간대).",
        "html: writes the page there, and large pictures beside it; the file must not exist.":
            "html: 페이지를 이 파일에 쓰고 큰 사진은 그 옆에 둡니다. 이미 있는 파일에는 쓰지 않습니다.",
        "html: with what proves the events, in a file beside the one of --out.":
            "html: 이벤트를 증명하는 파일을 --out 파일 옆에 함께 만듭니다.",
    ]

    private static let arguments: [String: String] = [
        "Whose.": "누구의 것인지.", "Ids of events.": "이벤트 ID.", "Id of one erasure.": "삭제 이벤트의 ID.",
        "Whose history.": "누구의 이벤트인지.", "Which one.": "어느 대화인지.", "Whose profile.": "누구의 프로필인지.",
        "Which survey; without one all are listed.": "설문 이름. 생략하면 모든 설문을 나열합니다.",
        "An event id, a position (10412 or seq:10412), or <origin>/<sequence>.":
            "이벤트 ID, 위치(10412 또는 seq:10412), 또는 <origin>/<sequence>.",
    ]

    private static let examples: [String: String] = [
        "what happened since midnight yesterday": "어제 0시부터 일어난 일",
        "the user's last 20 messages": "이 사용자의 마지막 메시지 20개",
        "all of it, for 'syncctl check-proof'": "'syncctl check-proof'로 검사할 전체 이벤트",
        "the texts, for a program": "프로그램에 넘길 메시지 내용",
        "from its beginning": "처음부터",
        "the last 50 events, in UTC": "마지막 이벤트 50건을 UTC로",
        "the 50 that were active last": "최근에 활동한 대화 50개",
        "all of them, for a program": "프로그램에 넘길 전체 목록",
        "each field with who set it last": "항목마다 마지막으로 입력한 사람까지",
        "which surveys there are": "어떤 설문이 있는지",
        "how often each answer was given": "응답별 건수",
        "what another node stores, as it comes": "다른 노드에 저장되는 이벤트를 오는 대로",
        "counts, files, peers and subscriptions": "건수, 파일, 피어, 구독",
        "those of another node, as one object": "다른 노드의 수치를 객체 하나로",
        "a line for each figure": "수치마다 한 줄",
        "until q or Ctrl-C": "q나 Ctrl-C를 누를 때까지",
        "an object each second": "1초마다 객체 하나",
        "one look, for a script": "스크립트에서 한 번만",
        "the last 20 events": "마지막 이벤트 20건",
        "one JSON object for each event as it comes": "이벤트가 올 때마다 JSON 객체 하나",
        "what bots have said in the last two hours": "지난 2시간 동안 봇이 한 말",
        "only what is new since the last call": "지난번 실행 뒤에 새로 온 것만",
        "the event at a position of this log": "이 로그의 해당 위치에 있는 이벤트",
        "by its id; twins are listed": "ID로 찾기. 같은 이벤트가 여럿이면 모두 나열합니다",
        "its native line, with its Merkle leaf": "머클 리프까지 담은 원래 형식의 한 줄",
        "what stood there then": "그때 대화에 있던 내용",
        "a week as native NDJSON, for an audit": "감사를 위한 일주일 치 NDJSON",
        "everything this node knew at position 10412": "위치 10412에서 이 노드가 알던 모든 것",
        "everything, in the order of this node's log": "전부, 이 노드의 로그 순서로",
        "the same, small": "같은 내용을 압축해서",
        "what came after position 10412": "위치 10412 다음에 온 것",
        "all events of one user": "한 사용자의 모든 이벤트",
        "a month, for a spreadsheet": "스프레드시트에서 볼 한 달 치",
        "headers, salts, payloads, keys and signed heads": "헤더, 솔트, 내용, 키, 서명된 헤드",
        "a conversation to be read in a browser and on paper": "브라우저와 종이에서 읽을 대화 하나",
        "the page, and c-88.proof with what proves it": "페이지와, 그것을 증명하는 c-88.proof",
        "conversations that did not help, as lines for fine-tuning": "도움이 되지 않은 대화를 미세 조정용 줄로",
        "questions and answers, with what users thought of them": "질문과 답변, 그리고 사용자의 평가",
    ]

    private static let discussions: [String: String] = [
        """
        Payload and salt of the events go from every file of this node, and of every node that hears of it. That they were, who wrote \
        them, when, in which conversation and of which type stays, so that what was signed can still be proved. Copies outside of the \
        nodes' folders, as backups and exports, are yours to find. Who is erased may go on writing: what comes while you look stays, and it says \
        how much that is.
        """:
            "내용과 솔트가 이 노드의 모든 파일에서, 그리고 이 소식을 받은 모든 노드에서 사라집니다. 이벤트가 있었다는 것, 작성자, 시각, "
            + "대화, 종류는 남으므로 서명한 것은 계속 증명됩니다. 백업과 내보낸 파일처럼 노드 폴더 밖의 사본은 직접 찾아 지워야 합니다. "
            + "삭제 대상 사용자는 계속 쓸 수 있습니다. 확인하는 동안 들어온 것은 남고, 몇 건인지 알려 줍니다.",
        "In display order, the same on every node. Exit code 1 when nothing matched.":
            "표시 순서는 모든 노드에서 같습니다. 찾은 것이 없으면 종료 코드는 1입니다.",
        "Exit code 1 when there is no such survey.": "그런 설문이 없으면 종료 코드는 1입니다.",
        "Exit code 1 when there is no such event.": "그런 이벤트가 없으면 종료 코드는 1입니다.",
    ]
}
