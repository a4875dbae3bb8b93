internal import CommandLineKit

extension KoreanTexts {
    /// What helps where a store, a daemon or a node does not answer as it should.
    static let hintsOfStores: [Phrase] = [
        Phrase("the same on the node's own machine, with --store", "그 노드의 컴퓨터에서 --store를 붙여 같은 명령을 실행하십시오"),
        Phrase("the same there, with --store", "그 컴퓨터에서 --store를 붙여 같은 명령을 실행하십시오"),
        Phrase(
            "--store DIR for a store of this machine; or SYNCCTL_URL= before the command",
            "이 컴퓨터의 저장소이면 --store DIR을 붙이거나, 명령 앞에 SYNCCTL_URL=을 쓰십시오"),
        Phrase("unset SYNCCTL_STORE, or a folder in it", "SYNCCTL_STORE를 지우거나 폴더를 지정하십시오"),
        Phrase("--store DIR, or no --store", "--store DIR로 쓰거나 --store를 빼십시오"),
        Phrase(
            "--store DIR, or syncctl init --store DIR to make one",
            "--store DIR로 지정하거나, 새로 만들려면 syncctl init --store DIR"),
        Phrase(
            "--store DIR, on that node's machine, or an empty store here",
            "그 노드의 컴퓨터에서 --store DIR을 쓰거나, 여기서 빈 저장소를 쓰십시오"),
        Phrase("a store of that cluster: --store DIR", "그 클러스터의 저장소를 지정하십시오: --store DIR"),
        Phrase(
            "the right path, if it should be there; syncctl init --store {0} makes one",
            "있어야 할 저장소이면 경로를 확인하십시오. 새로 만들려면 syncctl init --store {0}"),
        Phrase(
            "to start it, put the node.key of its node beside log.db (a backup has it: operating/backup.md); "
                + "reading, verify and export need none",
            "시작하려면 그 노드의 node.key를 log.db 옆에 두십시오(백업에 있습니다: operating/backup.md). 읽기, verify, export에는 필요 없습니다"),
        Phrase("another folder; a store is never overwritten", "다른 폴더를 지정하십시오. 저장소는 덮어쓰지 않습니다"),
        Phrase("again when that has ended, or another folder", "그 프로세스가 끝난 뒤에 다시 실행하거나, 다른 폴더를 지정하십시오"),
        Phrase(
            "syncctl verify names the damage; a peer or a backup has a good copy",
            "어디가 손상되었는지는 syncctl verify로 확인하십시오. 온전한 사본은 피어나 백업에 있습니다"),
        Phrase(
            "a peer or a backup has a good copy (operating/trouble.md, \"Damage\")",
            "온전한 사본은 피어나 백업에 있습니다(operating/trouble.md, \"Damage\")"),
        Phrase("a newer release", "더 새로운 릴리스를 쓰십시오"),
        Phrase(
            "without the kept place: events keep their ids, by which what was dealt with is known",
            "저장해 둔 위치 없이 처음부터 하십시오. 이벤트의 ID는 그대로이므로 이미 처리한 것을 알 수 있습니다"),
        Phrase(
            "again when there is room; what was reported as appended is safe",
            "공간을 만든 뒤에 다시 실행하십시오. 추가되었다고 응답한 것은 안전합니다"),
        Phrase("make room there, then again", "그곳에 공간을 만든 뒤에 다시 실행하십시오"),
        Phrase("again in a moment", "잠시 뒤에 다시 실행하십시오"),
        Phrase("the release that wrote it, once; then this one", "그것을 쓴 릴리스로 한 번 실행한 뒤에 이 릴리스를 쓰십시오"),
        Phrase("the same command as the user that runs syncd", "syncd를 실행하는 사용자로 같은 명령을 실행하십시오"),
        Phrase("the same command as a user who may write to the socket", "소켓에 쓸 수 있는 사용자로 같은 명령을 실행하십시오"),
        Phrase(
            "the kernel's log says why it is; reading needs no more than that",
            "이유는 커널 로그에 있습니다. 읽기만 한다면 그대로 쓸 수 있습니다"),
        Phrase("do what the message says, and then the same again", "위의 글대로 한 뒤에 다시 실행하십시오"),
        Phrase(
            "a moment nearer to now, one conversation, or one question; else history or export with the same moment",
            "더 가까운 시점, 대화 하나, 또는 문항 하나로 좁히십시오. 아니면 같은 시점으로 history나 export를 쓰십시오"),
        Phrase("please report it", "개발자에게 알려 주십시오"),
        Phrase("start it with execve(2) and at least one argument", "execve(2)로 인자를 하나 이상 주어 실행하십시오"),
        Phrase("start syncd, or name a node: --url", "syncd를 시작하거나, --url로 노드를 지정하십시오"),
        Phrase(
            "is it running, and is --url right? A certificate of your own is named with --ca-file",
            "실행 중인지, --url이 맞는지 확인하십시오. 직접 만든 인증서는 --ca-file로 지정합니다"),
        Phrase("look whether it was done, and repeat it then", "처리되었는지 확인하고, 되지 않았으면 다시 실행하십시오"),
        Phrase("syncctl and syncd of the same release", "syncctl과 syncd를 같은 릴리스로 맞추십시오"),
        Phrase(
            "syncd --peer-listen ADDR:PORT, or --address HOST:PORT",
            "syncd --peer-listen ADDR:PORT 또는 --address HOST:PORT"),
        Phrase(
            "unix:/run/syncd/api.sock, or https://seoul.example:7461",
            "unix:/run/syncd/api.sock 또는 https://seoul.example:7461"),
        Phrase("https://, or a proxy on this machine", "https:// 주소를 쓰거나, 이 컴퓨터의 프록시를 거치십시오"),
        Phrase(
            "bring it back from a backup, mend it, or move it away and name the peers again: syncctl peers add",
            "백업에서 되돌리거나 고치십시오. 아니면 치우고 피어를 다시 추가하십시오: syncctl peers add"),
        Phrase(
            "move it away, and invite again whoever has not joined yet: syncctl peers invite",
            "치우고, 아직 참여하지 않은 노드를 다시 초대하십시오: syncctl peers invite"),
        Phrase(
            "put the node's own key there: a backup has it (operating/backup.md); reading needs none",
            "그 자리에 노드의 키를 두십시오. 백업에 있습니다(operating/backup.md). 읽기에는 필요 없습니다"),
        Phrase(
            "put the node.key of node {0} there: a backup has it (operating/backup.md, 'Backup')",
            "이 노드의 node.key를 두십시오: {0}. 백업에 있습니다(operating/backup.md, 'Backup')"),
        Phrase(
            "where you named it, name another path; in a store's folder the node did not make it so: move it out "
                + "and start again",
            "직접 지정한 경로이면 다른 경로를 쓰십시오. 저장소 폴더 안의 것은 노드가 만든 것이 아니므로 밖으로 옮기고 다시 시작하십시오"),
        Phrase(
            "close the store and all of its readers; then what is there now can be opened. Do so before a store is restored, "
                + "moved or removed",
            "저장소와 그 리더를 모두 닫으십시오. 그러면 지금 그 자리에 있는 것을 열 수 있습니다. 저장소를 되돌리거나 옮기거나 지우기 전에도 먼저 닫으십시오"),
        Phrase("make {0} first", "먼저 이 폴더를 만드십시오: {0}"),
        Phrase("name another path", "다른 경로를 쓰십시오"),
        Phrase("the daemon's log says which file it is, and what to do", "어느 파일인지, 무엇을 할지는 데몬의 로그에 있습니다"),
    ]

    /// What helps with tokens, peers, subscriptions and places of a log.
    static let hintsOfNodes: [Phrase] = [
        Phrase(
            "--token-file FILE, or SYNCCTL_TOKEN_FILE; 'syncctl tokens create' makes one",
            "--token-file FILE 또는 SYNCCTL_TOKEN_FILE로 지정하십시오. 토큰은 'syncctl tokens create'로 만듭니다"),
        Phrase("syncctl tokens create writes one: --out FILE", "syncctl tokens create --out FILE로 만드십시오"),
        Phrase("'syncctl tokens create' makes one", "토큰은 'syncctl tokens create'로 만듭니다"),
        Phrase("'syncctl tokens' has them", "목록: 'syncctl tokens'"),
        Phrase("a new one of its identity provider", "ID 제공자에게서 새 토큰을 받으십시오"),
        Phrase("one that counts is let in at any time", "올바른 토큰은 언제나 받아들입니다"),
        Phrase("a token with another role", "다른 역할의 토큰을 쓰십시오"),
        Phrase(
            "a token with another role, or api.socket.roles of the configuration",
            "다른 역할의 토큰을 쓰거나, 설정의 api.socket.roles를 바꾸십시오"),
        Phrase("another name; a token never overwrites a file", "다른 이름을 쓰십시오. 토큰은 파일을 덮어쓰지 않습니다"),
        Phrase(
            "the token was given all the same: syncctl tokens, and revoke it",
            "토큰은 이미 발급되었습니다. syncctl tokens로 찾아 폐기하십시오"),
        Phrase(
            "mend it, or move it away and make the tokens again: syncctl tokens create",
            "고치거나, 치우고 토큰을 다시 만드십시오: syncctl tokens create"),
        Phrase(
            "another name, or 'syncctl peers remove {0}' first",
            "다른 이름을 쓰거나, 먼저 'syncctl peers remove {0}'"),
        Phrase("host:port, with brackets around IPv6", "host:port 형식으로 쓰십시오. IPv6은 대괄호로 묶습니다"),
        Phrase(
            "the 64 hexadecimal digits of syncctl status there",
            "그 노드의 syncctl status에 나오는 16진수 64자리를 쓰십시오"),
        Phrase("--address HOST:PORT, or start syncd first", "--address HOST:PORT를 쓰거나, 먼저 syncd를 시작하십시오"),
        Phrase("the whole line that syncctl peers invite printed", "syncctl peers invite가 출력한 한 줄을 모두 쓰십시오"),
        Phrase(
            "the line was used, has expired or is unknown there: a new one",
            "이미 썼거나, 만료되었거나, 그 노드가 모르는 초대입니다. 새로 받으십시오"),
        Phrase(
            "syncctl peers invite here and syncctl peers join there, or --nodes {0}",
            "여기서 syncctl peers invite, 그 노드에서 syncctl peers join을 실행하거나, --nodes {0}을 쓰십시오"),
        Phrase("what 'syncctl vector' prints there", "그 노드에서 'syncctl vector'가 출력한 것을 쓰십시오"),
        Phrase(
            "syncctl subscriptions has their names; syncctl subscriptions create NAME makes one",
            "이름은 syncctl subscriptions로 확인하십시오. 새로 만들려면 syncctl subscriptions create NAME"),
        Phrase(
            "syncctl subscriptions parked NAME has those that are parked",
            "보류된 이벤트는 syncctl subscriptions parked NAME으로 확인하십시오"),
        Phrase("another name is free", "다른 이름을 쓰십시오"),
        Phrase(
            "GET shows them, PATCH changes them; another name is free",
            "지금의 내용은 GET으로 보고 PATCH로 바꿉니다. 아니면 다른 이름을 쓰십시오"),
        Phrase(
            "ask that node; this one takes over when it has been silent for {0} ms, or by POST …/{1}/move",
            "그 노드에 요청하십시오. 그 노드가 {0}밀리초 동안 응답이 없거나 POST …/{1}/move를 하면 이 노드가 맡습니다"),
        Phrase("two tokens: one for {0}, another one for the rest", "토큰을 따로 만드십시오: {0}, 그리고 나머지"),
        Phrase("again after the seconds of Retry-After", "잠시 뒤에 다시 실행하십시오"),
        Phrase(
            "again after the seconds of Retry-After, or when one of them is here",
            "잠시 뒤에, 또는 보내던 것이 끝난 뒤에 다시 실행하십시오"),
        Phrase("only the origins that matter, or several waits", "필요한 오리진만 쓰거나 여러 번에 나누어 기다리십시오"),
        Phrase(
            "1 to 64 of a-z 0-9 . _ -, but not . or ..",
            "a-z, 0-9, '.', '_', '-' 가운데 1~64자로 쓰십시오. '.'와 '..'은 쓸 수 없습니다"),
        Phrase("without count, page by page", "건수 없이 목록으로 보십시오"),
        Phrase("without a cursor, from the beginning", "커서 없이 처음부터 시작하십시오"),
        Phrase("a contact by its id", "연락처를 ID로 지정하십시오"),
        Phrase("syncctl doctor lists those that are open", "미해결 문제의 목록: syncctl doctor"),
        Phrase("one of the subjects {0}", "대상을 하나 지정하십시오: {0}"),
        Phrase("a position from 1 to {0}", "쓸 수 있는 위치: 1~{0}"),
        Phrase("a position up to {0}", "쓸 수 있는 위치: {0}까지"),
        Phrase("the earlier one as --since", "더 이른 시각을 --since에 쓰십시오"),
        Phrase("the earlier one first", "더 이른 것을 먼저 쓰십시오"),
        Phrase("another file, or remove this one", "다른 파일을 쓰거나, 이 파일을 지우십시오"),
        Phrase(
            "remove the file of the cursor, if there is one, and begin anew",
            "커서 파일이 있으면 지우고 처음부터 시작하십시오"),
        Phrase(
            "--since TIME, or --cursor-file FILE --from-start",
            "--since TIME 또는 --cursor-file FILE --from-start"),
        Phrase(
            "wait_ms waits for it; the node that gave the cursor has it",
            "잠시 뒤에 다시 하거나, 커서를 준 노드에 요청하십시오"),
        Phrase(
            "after=first, and events by their ids; or after=<vector>, what each origin is known up to",
            "처음부터 다시 읽으십시오. 이미 읽은 이벤트는 ID로 알 수 있습니다"),
    ]
}
