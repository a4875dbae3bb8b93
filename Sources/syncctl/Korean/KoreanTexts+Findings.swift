internal import CommandLineKit

extension KoreanTexts {
    /// What keeps `verify` from proving all, and what it remarks.
    static let notCovered: [Phrase] = [
        Phrase("the log could not be compared with what lies beside it: {0}", "로그를 그 옆의 파일과 비교하지 못했습니다: {0}"),
        Phrase("erasures.ndjson cannot be read", "erasures.ndjson을 읽을 수 없습니다"),
        Phrase("what is kept of cuts could not be read: {0}", "로그가 잘린 기록을 읽지 못했습니다: {0}"),
        Phrase("what is kept of forks could not be read: {0}", "분기의 기록을 읽지 못했습니다: {0}"),
        Phrase(
            "log.end is missing, of another log or cannot be read: nothing here says how far the last run went",
            "log.end가 없거나, 다른 로그의 것이거나, 읽을 수 없습니다. 마지막 실행이 어디까지 갔는지 알 수 없습니다"),
        Phrase(
            "log.end cannot be read: nothing can be compared with it ({0})", "log.end를 읽을 수 없어 비교하지 못했습니다 ({0})"),
        Phrase(
            "log.end counts {0} events of origin {1} up to position {2}, and {3} are here",
            "log.end에는 이벤트가 {0}건인데 여기에는 {3}건입니다. 오리진 {1}, 위치 {2}까지"),
        Phrase(
            "the log has other events of this node than log.end knows", "로그에 있는 이 노드의 이벤트가 log.end의 것과 다릅니다"),
        Phrase(
            "table meta names the node, its cluster or its witness otherwise than the store's mark",
            "meta 테이블의 노드, 클러스터, 증인이 저장소의 표시와 다릅니다"),
        Phrase(
            "the store has no mark of its own: nothing here says how far its log went",
            "저장소의 표시가 없어 로그가 어디까지 갔는지 알 수 없습니다"),
        Phrase(
            "{0} {1} is not known to this release: nothing is said of what it holds",
            "이 버전이 모르는 것이므로 그 내용은 확인하지 않았습니다: {0} {1}"),
        Phrase(
            "table meta has what this release does not know: {0}", "meta 테이블에 이 버전이 모르는 것이 있습니다: {0}"),
        Phrase(
            "this is a copy of a store, and the witness of that in {0} knows more, or another history: {1} events of "
                + "origin {2}",
            "저장소의 사본입니다. 그 저장소의 증인은 더 많이 알거나 다른 이력을 압니다: {0}, 오리진 {2}, 이벤트 {1}건"),
        Phrase("the log could not be compared with its witness: {0}", "로그를 증인과 비교하지 못했습니다: {0}"),
        Phrase(
            "an erasure is under way: what it covers may be here still", "삭제가 진행 중입니다. 삭제할 내용이 아직 남아 있을 수 있습니다"),
        Phrase(
            "origin {0}: its node has signed {1} events, of which {2} are here",
            "오리진 {0}: 그 노드가 이벤트 {1}건까지 서명했고 여기에는 {2}건이 있습니다"),
        Phrase(
            "cosigned.db: {0} is no list of cosignatures: nothing can be compared with it",
            "cosigned.db: 공동 서명의 목록이 아니므로 비교할 수 없습니다: {0}"),
        Phrase(
            "cosigned.db cannot be read: the log is not compared with what was cosigned ({0})",
            "cosigned.db를 읽을 수 없어 로그를 공동 서명과 비교하지 못했습니다 ({0})"),
        Phrase(
            "SQLite's own check of log.db was left out: it would have kept the WAL from beginning anew, and there is no "
                + "room for a copy",
            "SQLite의 자체 검사는 하지 못했습니다. WAL을 오래 붙잡게 되며, 로그의 사본을 둘 공간도 없습니다"),
    ]

    /// What keeps a restored backup from being good.
    static let drills: [Phrase] = [
        Phrase(
            "{0} events came back that were erased since: an older copy was put back into the repository; 'backup create' of "
                + "its node takes that out",
            "그 뒤에 삭제되었는데 되살아난 이벤트가 {0}건 있습니다. 백업 폴더가 예전 사본으로 되돌려졌습니다. 그 노드에서 'backup create'를 실행하면 빠집니다"),
        Phrase("{0} events are not covered by signed heads", "서명된 헤드에 들어가지 않은 이벤트가 {0}건 있습니다"),
        Phrase("the log ends at position {0} and not at {1}", "로그가 백업에 기록된 위치에서 끝나지 않습니다. 로그: {0}, 백업: {1}"),
        Phrase("the log has other events than the backup names", "로그에 백업에 기록된 것과 다른 이벤트가 있습니다"),
    ]

    /// What `doctor` advises.
    static let actions: [Phrase] = [
        Phrase("syncctl status; the daemon's own log", "syncctl status와 데몬의 로그를 확인하십시오"),
        Phrase(
            "move it out of the store's folder; the node makes the file anew",
            "저장소 폴더 밖으로 옮기십시오. 파일은 노드가 새로 만듭니다"),
        Phrase(
            "look at what stands there, move it out of the store's folder, and bring back what was there from a backup: "
                + "operating/trouble.md, 'Damage'",
            "무엇이 있는지 확인하고 저장소 폴더 밖으로 옮긴 뒤, 있던 것을 백업에서 되돌리십시오: operating/trouble.md, 'Damage'"),
        Phrase("to start it, put the node.key of its node there", "시작하려면 그 노드의 node.key를 넣으십시오"),
        Phrase(
            "chmod 700 {0}, unless that is meant, as for an auditor", "chmod 700 {0}. 감사자처럼 일부러 허용한 것이면 그대로 두십시오"),
        Phrase(
            "look at the kernel's log and the disk; the next start of syncd writes anew what it has: "
                + "operating/trouble.md, "
                + "'A failed disk'",
            "커널 로그와 디스크를 확인하십시오. syncd를 다시 시작하면 가진 것을 새로 씁니다: operating/trouble.md, 'A failed disk'"),
        Phrase(
            "nothing while syncd runs; 'syncctl erase status' tells how far it is",
            "syncd가 실행 중이면 할 일이 없습니다. 진행 상황: 'syncctl erase status'"),
        Phrase(
            "look at the disk; the bytes come again from a peer: 'syncctl attachment list --damaged'",
            "디스크를 확인하십시오. 내용은 피어에서 다시 옵니다: 'syncctl attachment list --damaged'"),
        Phrase(
            "connect a node that has them, or put them again: 'syncctl attachment list --missing'",
            "내용이 있는 노드와 연결하거나 다시 넣으십시오: 'syncctl attachment list --missing'"),
        Phrase(
            "syncctl backup create, each day: operating/backup.md",
            "syncctl backup create를 매일 실행하십시오: operating/backup.md"),
        Phrase("set storage.witness to a folder on another disk", "storage.witness를 다른 디스크의 폴더로 설정하십시오"),
        Phrase(
            "make it, writable for the user that runs syncd", "syncd를 실행하는 사용자가 쓸 수 있는 폴더를 만드십시오"),
        Phrase(
            "set storage.witness to another folder, on another disk where there is one",
            "storage.witness를 다른 폴더로 설정하십시오. 가능하면 다른 디스크로 하십시오"),
        Phrase(
            "bring it back before syncd starts anew: operating/trouble.md, 'A lost witness'",
            "syncd를 다시 시작하기 전에 되돌리십시오: operating/trouble.md, 'A lost witness'"),
        Phrase(
            "end that reader, if it is not needed: the file becomes short by itself",
            "필요 없으면 그 읽는 프로그램을 끝내십시오. 파일은 저절로 줄어듭니다"),
        Phrase("make room on the disk of {0}; it goes on by itself", "디스크에 공간을 만드십시오: {0}. 그러면 저절로 이어집니다"),
        Phrase("operating/watching.md; the daemon's own log", "operating/watching.md와 데몬의 로그를 보십시오"),
        Phrase("syncctl peers add NAME {0}, if it is one of yours", "관리하는 노드이면 syncctl peers add NAME {0}"),
        Phrase(
            "is it running, and reachable at {0}? If it is gone for good: syncctl peers remove {1}",
            "실행 중인지, 이 주소로 연결되는지 확인하십시오: {0}. 영영 없어졌으면 syncctl peers remove {1}"),
        Phrase(
            "add this node there: syncctl peers add, or peers invite here and peers join there",
            "그 노드에 이 노드를 추가하십시오: syncctl peers add, 또는 여기서 peers invite, 거기서 peers join"),
        Phrase(
            "another node answers at that address: check address and node id",
            "그 주소에서 다른 노드가 응답합니다. 주소와 노드 ID를 확인하십시오"),
        Phrase(
            "nodes of different clusters never exchange events: check node.cluster of both",
            "클러스터가 다른 노드끼리는 이벤트를 교환하지 않습니다. 양쪽의 node.cluster를 확인하십시오"),
        Phrase("bring both to releases that speak a common version", "양쪽을 같은 프로토콜 버전을 쓰는 릴리스로 맞추십시오"),
        Phrase(
            "two processes have one key: operating/trouble.md, 'Two nodes with one key'",
            "두 프로세스가 같은 키를 씁니다: operating/trouble.md, 'Two nodes with one key'"),
        Phrase(
            "syncctl verify on the peer; restore it from a good copy",
            "피어에서 syncctl verify를 실행하고, 온전한 사본으로 복원하십시오"),
        Phrase(
            "its operator has paused the exchange: syncctl peers resume there",
            "그 노드의 운영자가 교환을 멈추었습니다. 거기서 syncctl peers resume"),
        Phrase("make room on the peer's disk", "피어의 디스크에 공간을 만드십시오"),
        Phrase("the log of the daemon there says more", "그 노드의 데몬 로그를 보십시오"),
        Phrase(
            "stop syncd; bring log.db back from a backup, or set the folder aside and join anew with the same key: "
                + "operating/trouble.md, 'Damage'",
            "syncd를 멈추고 백업에서 log.db를 되돌리거나, 폴더를 치우고 같은 키로 다시 참여하십시오: operating/trouble.md, 'Damage'"),
        Phrase(
            "a copy of the folder first; then start syncd, which keeps evidence and goes on with a new origin: "
                + "operating/trouble.md, 'A log that was cut'",
            "먼저 폴더를 복사하고 syncd를 시작하십시오. 증거를 남기고 새 오리진으로 이어 갑니다: operating/trouble.md, "
                + "'A log that was cut'"),
    ]

    /// What nodes advise about who is who.
    static let actionsOfDaemon: [Phrase] = [
        Phrase(
            "the node goes on with a new origin; bring over what only one side has: operating/trouble.md, 'A fork'",
            "노드가 새 오리진으로 이어 갑니다. 한쪽에만 있는 것을 옮기십시오: operating/trouble.md, 'A fork'"),
        Phrase(
            "nothing of that origin is exchanged with {0}; see operating/trouble.md, 'A fork'",
            "이 오리진은 교환하지 않습니다. 상대: {0}. operating/trouble.md, 'A fork'"),
        Phrase(
            "'syncctl verify' names them all: operating/trouble.md, 'Damage'; 'syncctl verify --daemon' when it "
                + "is mended",
            "'syncctl verify'로 모두 볼 수 있습니다: operating/trouble.md, 'Damage'. 바로잡은 뒤에는 'syncctl verify --daemon'"),
        Phrase("connect it with a peer that has them", "이벤트가 있는 피어와 연결하십시오"),
        Phrase(
            "bring over what only one side has: operating/trouble.md, 'A fork'",
            "한쪽에만 있는 것을 옮기십시오: operating/trouble.md, 'A fork'"),
        Phrase(
            "compare with its peers what it has; what was found is told by LOG_CUT {0}",
            "가진 것을 피어와 비교하십시오. 발견된 것: LOG_CUT {0}"),
        Phrase(
            "find out why the store was old; nothing else is to be done",
            "저장소가 왜 예전 것이었는지 확인하십시오. 그 밖에 할 일은 없습니다"),
        Phrase(
            "bring the witness back and start anew, or compare the roots with a peer's and settle it: "
                + "operating/trouble.md, "
                + "'A lost witness'",
            "증인을 되돌리고 다시 시작하거나, 피어의 루트와 비교한 뒤 처리하십시오: operating/trouble.md, 'A lost witness'"),
        Phrase(
            "let it take back from its peers what they have, find out what damaged the disk, then settle it: "
                + "operating/trouble.md, "
                + "'A log that was cut'",
            "피어가 가진 것을 되찾게 하고, 디스크가 왜 손상되었는지 확인한 뒤 처리하십시오: operating/trouble.md, "
                + "'A log that was cut'"),
        Phrase(
            "stop one of the two, make it a node of its own: operating/trouble.md, 'Two nodes with one key'",
            "둘 중 하나를 멈추고 따로 된 노드로 만드십시오: operating/trouble.md, 'Two nodes with one key'"),
        Phrase(
            "set the clock of that node right; it then goes on with a new origin",
            "그 노드의 시계를 맞추십시오. 그러면 새 오리진으로 이어 갑니다"),
        Phrase(
            "set this machine's clock right: timedatectl, chronyc tracking",
            "이 컴퓨터의 시계를 맞추십시오: timedatectl, chronyc tracking"),
        Phrase(
            "check this machine's clock; when connected peers agree with it, the node goes on with a new origin",
            "이 컴퓨터의 시계를 확인하십시오. 연결된 피어의 시계와 맞으면 새 오리진으로 이어 갑니다"),
        Phrase(
            "look at that node; 'syncctl peers resume {0}' goes on with it",
            "그 노드를 확인하십시오. 다시 교환하려면 'syncctl peers resume {0}'"),
        Phrase("look at that node", "그 노드를 확인하십시오"),
        Phrase(
            "syncctl verify here and at that origin's node; one of the two stores was put back or changed: "
                + "operating/trouble.md, "
                + "'A witness that refuses'",
            "이 노드와 그 오리진의 노드에서 syncctl verify를 실행하십시오. 둘 중 한 저장소가 되돌려졌거나 바뀌었습니다: "
                + "operating/trouble.md, 'A witness that refuses'"),
        Phrase(
            "'syncctl show {0}' names both; ask who runs that node whether it was meant: operating/trouble.md, "
                + "'An event in another's place'",
            "'syncctl show {0}'로 둘 다 볼 수 있습니다. 의도한 것인지 그 노드의 운영자에게 물으십시오: operating/trouble.md, "
                + "'An event in another's place'"),
    ]
}
