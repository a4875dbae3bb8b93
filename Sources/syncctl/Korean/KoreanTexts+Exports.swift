internal import CommandLineKit

extension KoreanTexts {
    /// Why a record of an export was passed over.
    static let passedOver: [Phrase] = [
        Phrase("a file of the export that is not taken", "가져오지 않는 파일"),
        Phrase("an event of the type {0}", "이벤트 종류: {0}"),
        Phrase("a message without a text", "글이 없는 메시지"),
        Phrase("a message that Element could not decrypt", "Element가 복호화하지 못한 메시지"),
        Phrase("a message that was taken back", "회수된 메시지"),
        Phrase("a conversation without an id", "ID가 없는 대화"),
        Phrase("a message without id or time", "ID나 시각이 없는 메시지"),
        Phrase("a message of no conversation", "어느 대화에도 속하지 않은 메시지"),
        Phrase("a message of an unknown role", "역할을 알 수 없는 메시지"),
        Phrase("a content that is neither text nor a picture", "글도 그림도 아닌 내용"),
        Phrase("a message without content", "내용이 없는 메시지"),
        Phrase("a message of the service: {0}", "서비스가 만든 메시지: {0}"),
        Phrase("the bytes of a file: its name is taken", "파일의 내용. 이름만 가져왔습니다"),
        Phrase(
            "a content whose file is not in {0} beside the store, or cannot be read: its name is taken",
            "따로 둔 파일이 저장소 옆 {0}에 없거나 읽을 수 없는 내용. 이름만 가져왔습니다"),
        Phrase("the buttons below a bot's message", "봇 메시지 아래의 버튼"),
        Phrase("reactions to a message", "메시지에 대한 반응"),
        Phrase("a member of an unknown form", "형식을 알 수 없는 항목"),
        Phrase(
            "a room whose two entries disagree about the last message; messages decide",
            "마지막 메시지가 두 기록에서 다른 방. 메시지를 따랐습니다"),
        Phrase("a message without text and picture", "글과 그림이 없는 메시지"),
        Phrase("a repetition of what stands under user and assistant", "user와 assistant에 이미 있는 내용의 반복"),
        Phrase("a record of the type {0}", "기록 종류: {0}"),
        Phrase("a message of the subtype {0}", "메시지 하위 종류: {0}"),
        Phrase("what is shown below the text of a message (its attachments)", "메시지 아래에 보이는 것(attachments)"),
        Phrase(
            "what an app shows in place of the text of a message (its blocks)", "앱이 메시지 대신 보여 주는 것(blocks)"),
        Phrase("a search without id, words or date", "ID, 검색어, 날짜 중 하나가 없는 검색"),
        Phrase("a line of the service, of nobody", "작성자가 없는 서비스의 줄"),
        Phrase("a line of the service: who came, left or was invited", "서비스의 줄: 입장, 퇴장, 초대"),
        Phrase("a document that is no chat", "대화가 아닌 문서"),
        Phrase("a document that is no object", "객체가 아닌 문서"),
        Phrase("a document without a name", "이름이 없는 문서"),
        Phrase("a document whose fields are no object", "fields가 객체가 아닌 문서"),
        Phrase("a field without a value that names its type", "형식을 밝히지 않은 값의 항목"),
        Phrase("a field of a document whose id is not there", "ID가 없는 문서의 항목"),
        Phrase("a field of a chat that no event has", "이벤트에 담기지 않는 대화 문서의 항목"),
        Phrase("a collection that is no object", "객체가 아닌 컬렉션"),
        Phrase("collections that are no object", "객체가 아닌 컬렉션 목록"),
        Phrase("the documents of the next page: this is an answer in pages", "다음 쪽의 문서. 여러 쪽 가운데 하나입니다"),
        Phrase("a line that is no text", "글이 아닌 줄"),
        Phrase("a conversation without messages", "메시지가 없는 대화"),
        Phrase("a member of a line or a message that no event has", "이벤트에 담기지 않는 줄이나 메시지의 항목"),
        Phrase("a node whose name another one has", "이름이 다른 마디와 같은 마디"),
        Phrase("what is no node, or has a message that is no object", "마디가 아니거나 메시지가 객체가 아닌 마디"),
        Phrase(
            "a question without its botResponse; --partial takes it",
            "botResponse가 없는 질문. --partial을 쓰면 가져옵니다"),
        Phrase("a document of a chat without {0}", "대화 문서에 없는 항목: {0}"),
        Phrase("a document of a chat with a field of another type", "항목의 형식이 다른 대화 문서"),
        Phrase(
            "a document of nobody: senderId is the word 'user_id'; --user UID says who it is",
            "누구의 것인지 모르는 문서: senderId가 'user_id'입니다. --user UID로 알려 주십시오"),
        Phrase("a message that ChatGPT does not show", "ChatGPT가 보여 주지 않는 메시지"),
        Phrase("what the model says to a tool", "모델이 도구에 보낸 것"),
        Phrase("what the model thought", "모델이 생각한 것"),
        Phrase("what stands under {0}", "{0}에 있는 것"),
        Phrase("the {0} of a channel", "채널의 {0}"),
        Phrase("what a tool answers", "도구의 응답"),
        Phrase("content of the type {0}", "내용 종류: {0}"),
        Phrase("larger than {0} bytes", "{0}바이트보다 큼"),
        Phrase("its time is before year 1 or after year 9999", "시각이 1년부터 9999년 사이가 아님"),
        Phrase("no event can have it: {0}", "이벤트가 될 수 없음: {0}"),
        // Of `export --format`.
        Phrase("messages that were taken back, erased or cannot be read", "회수되었거나 삭제되었거나 읽을 수 없는 메시지"),
        Phrase("messages without a text", "글이 없는 메시지"),
        Phrase("answers without a question", "질문이 없는 답변"),
        Phrase(
            "conversations longer than {0} MiB; --context N makes lines of their parts",
            "{0} MiB보다 긴 대화. --context N을 쓰면 나누어 내보냅니다"),
        Phrase("conversations without an answer", "답변이 없는 대화"),
        Phrase("messages after the last answer", "마지막 답변 뒤의 메시지"),
    ]

    /// What was taken otherwise than an export says it, or may be.
    static let readOtherwise: [Phrase] = [
        // Before the singular: a reason may go on with "no time: ".
        Phrase("{0} times: {1} ({2})", "{0}건: {1} ({2})"),
        Phrase("{0} time: {1} ({2})", "{0}건: {1} ({2})"),
        Phrase(
            "nothing of a message is known: it is stored without a text", "알 수 있는 것이 없는 메시지. 글 없이 저장했습니다"),
        Phrase("a place without its geo_uri: its text is taken", "geo_uri가 없는 장소. 글만 가져왔습니다"),
        Phrase(
            "a member stands twice in one object: the first counts", "한 객체에 같은 이름의 멤버가 두 번 있음. 앞의 것을 읽었습니다"),
        Phrase("the date of a message is no time: its key has one", "메시지의 날짜가 시각이 아님. 키의 시각을 썼습니다"),
        Phrase(
            "the date of a message is no time, and its key has none: it stands at the beginning of 1970",
            "메시지의 날짜도 키도 시각이 아님. 1970년의 시작에 두었습니다"),
        Phrase(
            "a message without text, blocks, attachments and files: it is empty",
            "글, blocks, attachments, 파일이 모두 없는 메시지. 비어 있습니다"),
        Phrase(
            "its create_time is no time: it comes a millisecond after what is before it",
            "create_time이 시각이 아님. 바로 앞의 것보다 1밀리초 뒤로 했습니다"),
        Phrase(
            "the create_time of a conversation is no time: it begins with its first message",
            "대화의 create_time이 시각이 아님. 첫 메시지의 시각에 시작합니다"),
        Phrase(
            "a picture or file that is not in what was given: its name is taken",
            "내보낸 것에 들어 있지 않은 그림이나 파일. 이름만 가져왔습니다"),
        Phrase(
            "a document with the messageId of another one: its question has an id of its own",
            "다른 문서와 messageId가 같은 문서. 질문에 따로 ID를 주었습니다"),
        Phrase(
            "times are read as those of Asia/Seoul; --timezone ZONE says otherwise",
            "시각을 Asia/Seoul 기준으로 읽습니다. 다른 시간대는 --timezone ZONE"),
        Phrase(
            "times are read as those of this machine's zone; --timezone ZONE says otherwise",
            "시각을 이 컴퓨터의 시간대로 읽습니다. 다른 시간대는 --timezone ZONE"),
        Phrase("dates count from {0}", "날짜의 기준 연도: {0}"),
        Phrase(
            "{0}: each date can be read in two ways; the month is taken to come first, as in what is here",
            "{0}: 날짜를 두 가지로 읽을 수 있습니다. 이미 저장된 것처럼 월을 앞으로 읽습니다"),
        Phrase(
            "{0}: each date can be read in two ways; the day is taken to come first, and --dates month-first says "
                + "otherwise",
            "{0}: 날짜를 두 가지로 읽을 수 있습니다. 일을 앞으로 읽습니다. 월이 앞이면 --dates month-first"),
        Phrase(
            "{0} is part {1} of a chat, and part {2} is not beside it. What one person says alike in both, in the "
                + "minute of the cut "
                + "({3}), is taken for one message. With the parts in one folder it is not: import the folder, now "
                + "or later",
            "{0}: 대화의 {1}번째 부분인데 {2}번째 부분이 옆에 없습니다. 나뉜 시각({3})에 한 사람이 양쪽에서 똑같이 한 말은 한 메시지로 "
                + "읽습니다. 모든 부분을 한 폴더에 두고 폴더를 가져오면 그렇지 않습니다. 나중에 해도 됩니다"),
        Phrase(
            "the id of the channel '{0}' is not known: channels.json is not beside its folder. With the whole export "
                + "these messages "
                + "would be there once more",
            "채널의 ID를 알 수 없습니다: '{0}'. 폴더 옆에 channels.json이 없습니다. 나중에 전체를 가져오면 이 메시지들이 한 번 더 저장됩니다"),
    ]

    /// Names of what other services give out.
    static let formats: [Phrase] = [
        Phrase("KakaoTalk, text or CSV", "카카오톡 텍스트 또는 CSV"),
        Phrase("WhatsApp text", "WhatsApp 텍스트"),
        Phrase("Telegram Desktop JSON", "텔레그램 데스크톱 JSON"),
        Phrase("Slack export", "Slack 내보내기"),
        Phrase("Matrix room export of Element", "Element의 Matrix 방 내보내기"),
        Phrase("ChatGPT data export", "ChatGPT 데이터 내보내기"),
        Phrase("OpenAI fine-tuning JSONL", "OpenAI 미세 조정 JSONL"),
        Phrase("Firestore JSON", "Firestore의 JSON"),
        Phrase("Firebase Realtime Database JSON", "Firebase 실시간 데이터베이스 JSON"),
        Phrase("Core Data store of searches", "검색 내역의 Core Data 저장소"),
        Phrase("SwiftData store", "SwiftData 저장소"),
    ]
}
