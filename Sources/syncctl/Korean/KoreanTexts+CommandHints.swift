internal import CommandLineKit

extension KoreanTexts {
    /// What helps with the commands.
    static let hintsOfCommands: [Phrase] = [
        Phrase("--reason TEXT and --who NAME", "--reason TEXT와 --who NAME을 쓰십시오"),
        Phrase(
            "--reason TEXT and --who NAME; --dry-run shows what would go",
            "--reason TEXT와 --who NAME을 쓰십시오. 무엇이 삭제되는지는 --dry-run으로 봅니다"),
        Phrase("a type and a subtype, as image/png", "종류와 하위 종류를 쓰십시오. 예: image/png"),
        Phrase("64 lowercase hexadecimal digits, as in the event", "이벤트에 있는 16진수 소문자 64자리를 쓰십시오"),
        Phrase(
            "syncctl attachment list; what named it may have been erased",
            "syncctl attachment list로 확인하십시오. 첨부한 이벤트가 삭제되었을 수 있습니다"),
        Phrase("the same once more", "같은 명령을 다시 실행하십시오"),
        Phrase(
            "each type by its name; subscriptions and /v1/changes take patterns",
            "종류마다 이름을 쓰십시오. 패턴은 구독과 /v1/changes에서 쓸 수 있습니다"),
        Phrase("one of them", "그중 하나만 쓰십시오"),
        Phrase("another name; nothing is overwritten", "다른 이름을 쓰십시오. 덮어쓰지 않습니다"),
        Phrase("--out FILE says where the page goes", "--out FILE로 페이지를 저장할 곳을 정하십시오"),
        Phrase(
            "again later: a peer that has them may come; 'syncctl attachment list --missing' has all such",
            "나중에 다시 하십시오. 내용이 있는 피어가 연결될 수 있습니다. 목록: 'syncctl attachment list --missing'"),
        Phrase("attachments.max_bytes of the configuration", "설정의 attachments.max_bytes를 바꾸십시오"),
        Phrase("attachments.media_types of the configuration", "설정의 attachments.media_types를 바꾸십시오"),
        Phrase("send them again", "다시 보내십시오"),
        Phrase("syncctl history UID --ids shows them", "ID는 syncctl history UID --ids로 볼 수 있습니다"),
        Phrase("they have come since: another plan decides it: {0}", "계획 뒤에 생긴 것입니다. 새 계획에서 정하십시오: {0}"),
        Phrase("for another decision make another plan: --plan FILE", "다르게 정하려면 새 계획을 만드십시오: --plan FILE"),
        Phrase("look at it again: --dry-run; then a new --plan", "--dry-run으로 다시 확인한 뒤 --plan을 새로 만드십시오"),
        Phrase(
            "--plan FILE, and then the same with --confirm FILE",
            "--plan FILE로 실행한 뒤, 같은 명령을 --confirm FILE로 실행하십시오"),
        Phrase(
            "start syncd: it goes on; 'syncctl erase status' tells how far it is",
            "syncd를 시작하면 이어서 진행합니다. 진행 상황: 'syncctl erase status'"),
        Phrase(
            "--user, --conversation, --since and --until do",
            "--user, --conversation, --since, --until은 쓸 수 있습니다"),
        Phrase(
            "NAME=VALUE, as satisfaction=dissatisfied",
            "NAME=VALUE 형식으로 쓰십시오. 예: satisfaction=dissatisfied"),
        Phrase("a name as Asia/Seoul", "Asia/Seoul 같은 이름을 쓰십시오"),
        Phrase("again when it is done", "그것이 끝난 뒤에 다시 실행하십시오"),
        Phrase("name a folder that is not there yet, or an empty one", "아직 없는 폴더나 빈 폴더를 지정하십시오"),
        Phrase("name a place outside of {0}", "{0} 밖의 위치를 지정하십시오"),
        Phrase(
            "proofs of them from the node itself; or restore the backup to its end, which heads cover: without --to",
            "그 노드에서 증명을 만들거나, 헤드가 서명한 끝까지 백업을 복원하십시오(--to 없이)"),
        Phrase("name a folder that is not there yet", "아직 없는 폴더를 지정하십시오"),
        Phrase("take it away", "치우십시오"),
        Phrase("a later moment", "더 나중 시점을 지정하십시오"),
        Phrase("name a file with certificates, as PEM", "PEM 형식의 인증서가 든 파일을 지정하십시오"),
        Phrase(
            "a store is there: of a replay that was ended while it compared the log is whole, as 'syncctl "
                + "verify' tells; take the folder away, or name another one",
            "저장소가 있는 폴더입니다. 비교하다 끝난 replay의 로그는 온전하며 'syncctl verify'로 확인할 수 있습니다. 폴더를 치우거나 다른 폴더를 지정하십시오"),
        Phrase(
            "syncctl receipt --wait K waits for the word of peers",
            "피어의 서명을 기다리려면 syncctl receipt --wait K"),
        Phrase(
            "syncctl receipt --out FILE makes a receipt, syncctl history UID --proof > FILE a proven answer",
            "영수증은 syncctl receipt --out FILE, 증명이 붙은 결과는 syncctl history UID --proof > FILE로 만듭니다"),
        Phrase("a file, or --format native", "파일로 주거나 --format native를 쓰십시오"),
        Phrase(
            "native NDJSON made of it, each line with type, user, subject, time and data; or --format, "
                + "where it is something else",
            "줄마다 type, user, subject, time, data가 있는 NDJSON으로 바꾸어 가져오십시오. 다른 파일이라면 --format을 쓰십시오"),
        Phrase("--format firestore", "--format firestore일 때 씁니다"),
        Phrase("--format whatsapp", "--format whatsapp일 때 씁니다"),
        Phrase("--format with one of: {0}", "--format에 쓸 수 있는 값: {0}"),
        Phrase(
            "--conversation ID takes all of it as a conversation of its own, and 'syncctl erase conversation' the "
                + "other one away; --twice adds all that is not there under the same date",
            "--conversation ID를 쓰면 모두를 따로 된 대화로 가져옵니다. 다른 하나는 syncctl erase conversation으로 삭제합니다. "
                + "--twice를 쓰면 같은 날짜에 없는 것을 모두 추가합니다"),
        Phrase("syncctl show, with its id", "ID를 붙여 syncctl show로 확인하십시오"),
        Phrase(
            "the same command with --id {0}: nothing is stored twice",
            "--id {0} 옵션을 붙여 같은 명령을 실행하십시오. 두 번 저장되지 않습니다"),
        Phrase("another file", "다른 파일을 쓰십시오"),
        Phrase("stop syncd, import, start it again", "syncd를 멈추고 가져온 뒤 다시 시작하십시오"),
        Phrase(
            "start syncd beside a peer that has them: it fetches its own events back before it appends",
            "그 이벤트가 있는 피어와 함께 syncd를 시작하십시오. 새로 추가하기 전에 자기 이벤트를 되찾습니다"),
        Phrase("syncctl status names the origins", "오리진은 syncctl status에 나옵니다"),
        Phrase("with --url an event is named by its id", "--url을 쓸 때는 이벤트를 ID로 지정하십시오"),
        Phrase("an event id, a position, or <origin>/<sequence>", "이벤트 ID, 위치, <오리진>/<순번> 중 하나를 쓰십시오"),
        Phrase(
            "'syncctl history {0} --as-of TIME' has what was said to then",
            "그때까지의 말: 'syncctl history {0} --as-of TIME'"),
        Phrase("--all --json, whose last line counts", "--all --json을 쓰면 마지막 줄에 건수가 있습니다"),
        Phrase("--since, --until and --author do", "--since, --until, --author는 쓸 수 있습니다"),
        Phrase("--until TIME has what was said before then", "그 전의 말은 --until TIME으로 볼 수 있습니다"),
        Phrase("--until for what is older", "더 오래된 것은 --until로 보십시오"),
        Phrase("write the bytes into a file first", "먼저 파일에 저장하십시오"),
        Phrase("the beginning of a name or a word", "이름이나 단어의 앞부분을 쓰십시오"),
        Phrase(
            "a word of letters or digits, or a phrase in quotation marks",
            "글자나 숫자로 된 단어, 또는 따옴표로 묶은 구절을 쓰십시오"),
        Phrase("one word, too, that a text has", "찾을 글에 있는 단어도 하나 이상 쓰십시오"),
        Phrase("fewer of them", "수를 줄이십시오"),
        Phrase("a phrase stands between two of them", "구절은 따옴표 두 개 사이에 쓰십시오"),
    ]

    /// What helps with backups.
    static let hintsOfBackups: [Phrase] = [
        Phrase("'syncctl backup create FOLDER' makes one", "'syncctl backup create FOLDER'로 만드십시오"),
        Phrase("an empty folder, or one that is not there yet", "빈 폴더나 아직 없는 폴더를 지정하십시오"),
        Phrase(
            "'syncctl backup list FOLDER' shows those that are there",
            "있는 백업의 목록: 'syncctl backup list FOLDER'"),
        Phrase(
            "a later release reads what it made; if none made it, the file is this one line again: {0}",
            "이후 릴리스가 만든 것이면 그 릴리스로 읽으십시오. 아니면 파일의 내용을 이 한 줄로 되돌리십시오: {0}"),
        Phrase(
            "all streams, whole and in their order: the full one first",
            "스트림을 모두, 온전하게, 순서대로 주십시오. 전체 백업이 먼저입니다"),
        Phrase(
            "'syncctl backup verify FOLDER' says which backups are whole; --backup ID names another one",
            "온전한 백업은 'syncctl backup verify FOLDER'로 확인하고, --backup ID로 다른 백업을 지정하십시오"),
        Phrase(
            "'syncctl backup create FOLDER' with its node's store",
            "그 노드의 저장소로 'syncctl backup create FOLDER'를 실행하십시오"),
        Phrase("--key-file FILE, with the key that it was made with", "만들 때 쓴 키를 --key-file FILE로 지정하십시오"),
        Phrase(
            "the key that it was made with; if that is the one, the file was changed: another copy of it",
            "만들 때 쓴 키를 지정하십시오. 그 키가 맞으면 파일이 바뀐 것이므로 다른 사본을 쓰십시오"),
        Phrase(
            "without --key-file; for a key begin another repository",
            "--key-file 없이 실행하십시오. 키를 쓰려면 다른 백업 폴더를 새로 만드십시오"),
        Phrase("openssl rand -hex 32 > FILE makes one", "openssl rand -hex 32 > FILE로 만드십시오"),
        Phrase("again when the other one is done", "다른 명령이 끝난 뒤에 다시 실행하십시오"),
        Phrase(
            "again when 'syncctl erase status' says that it is done; a daemon goes on with it",
            "'syncctl erase status'가 끝났다고 할 때 다시 실행하십시오. 삭제는 데몬이 이어서 합니다"),
        Phrase("start and stop the node once; it signs what it has", "노드를 한 번 시작했다가 멈추십시오. 가진 것에 서명합니다"),
        Phrase(
            "'syncctl verify' says what is wrong with the store",
            "저장소의 무엇이 잘못되었는지는 'syncctl verify'로 확인하십시오"),
        Phrase("what it has said itself stands above", "그 명령이 출력한 글이 위에 있습니다"),
    ]

    /// What led to an error, or what it left as it was.
    static let circumstances: [Phrase] = [
        Phrase("Nothing was erased.", "아무것도 삭제하지 않았습니다."),
        Phrase(
            "It is a plan of another id, some of it is erased, or older events have come. Nothing was erased.",
            "다른 ID의 계획이거나, 일부가 이미 삭제되었거나, 더 오래된 이벤트가 왔습니다. 아무것도 삭제하지 않았습니다."),
        Phrase(
            "An earlier import read the other number of a date as the day. Nothing of this one was stored.",
            "앞서 가져올 때 날짜의 다른 수를 일로 읽었습니다. 이 파일의 것은 저장하지 않았습니다."),
        Phrase("Nothing of it was stored.", "이 파일의 것은 저장하지 않았습니다."),
        Phrase("Until then {0} events were stored; they stay.", "그때까지 이벤트 {0}건을 저장했으며 그대로 남습니다."),
        Phrase("Until then {0}; that is proven and stays.", "그때까지: {0}. 증명된 것이며 그대로 남습니다."),
        Phrase(
            "A place that tail has kept while it read the files of a store is of use there alone.",
            "tail이 저장소의 파일을 읽으며 남긴 위치는 그 저장소에서만 쓸 수 있습니다."),
        Phrase(
            "The store was restored or cut, or is another one; positions do not carry over.",
            "저장소가 복원되었거나, 로그가 잘렸거나, 다른 저장소입니다. 위치는 이어지지 않습니다."),
        Phrase("The store is open in {0}.", "저장소를 쓰고 있는 프로세스: {0}."),
        Phrase("Nothing in this file is proven.", "이 파일로 증명되는 것은 없습니다."),
        Phrase("What the file has is as it was signed.", "파일의 내용은 서명된 그대로입니다."),
        Phrase(
            "ask who made it for the file once more, or for another one: what was changed is not mended here",
            "만든 쪽에 파일을 다시 받거나 새로 만들어 달라고 하십시오. 바뀐 내용은 여기서 고칠 수 없습니다"),
        Phrase("name the file in it", "그 안의 파일을 지정하십시오"),
    ]

    /// What helps with words of the command line. They fit much, so they come last.
    static let hintsOfWords: [Phrase] = [
        Phrase("{0} if the value begins with a dash", "값이 줄표(-)로 시작하면 {0}"),
        Phrase("a whole number", "정수를 쓰십시오"),
        Phrase("a number from {0} to {1}", "쓸 수 있는 수: {0}~{1}"),
        Phrase("{0} or more", "{0} 이상"),
        Phrase("{0} or less", "{0} 이하"),
        Phrase("one {0}", "{0} 하나만 쓰십시오"),
    ]
}
