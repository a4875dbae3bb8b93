extension KoreanHelp {
    /// What `backup` says.
    static let backup: [String: String] = [
        "Copies a store, beside a running daemon, too": "저장소를 통째로 복사합니다. 데몬이 실행 중이어도 됩니다",
        "Adds a backup to a repository, beside a running daemon, too": "백업 폴더에 백업을 추가합니다. 데몬이 실행 중이어도 됩니다",
        "Shows the backups of a repository": "백업 폴더에 있는 백업을 봅니다",
        "Proves the backups of a repository, with no store": "저장소 없이 백업을 검증합니다",
        "Makes a store of a backup": "백업에서 저장소를 복원합니다",
        "Takes old backups and leftovers out of a repository": "오래된 백업과 남은 파일을 백업 폴더에서 지웁니다",
        "Restores a backup for a trial, proves it and takes it away": "백업을 시험 삼아 복원해 검증한 뒤 지웁니다",
        "The folder with the backups.": "백업 폴더.",
        "The folder for the backups; it is made if it is not there.": "백업을 둘 폴더. 없으면 만듭니다.",
        "The folder with the backups; -: streams on standard input.": "백업 폴더. -이면 표준 입력의 스트림.",
        "The key that files are encrypted with: 64 hexadecimal digits.": "파일을 암호화한 키. 16진수 64자리.",
        "Which one (default: the newest that its node has signed).":
            "어느 백업인지(기본값: 노드가 서명한 것 중 가장 새것).",
        "All rows, and not only those behind the newest backup.": "마지막 백업 이후만이 아니라 처음부터 모두.",
        "Leave node.key out: for who is to read and verify, and nothing more.":
            "node.key를 뺍니다. 읽고 검증하기만 할 사람에게 줄 때 씁니다.",
        "Leave the bytes of attachments out.": "첨부 파일의 내용을 뺍니다.",
        "Streams the backup to this command instead, run by the shell.": "폴더 대신 셸로 실행한 이 명령의 표준 입력으로 보냅니다.",
        "With --to-command: goes on behind the backup in this file, if it is there, and writes the new one there.":
            "--to-command와 함께 씁니다. 파일이 있으면 그 백업에 이어서 보내고, 새 백업을 이 파일에 적습니다.",
        "Where the store is to lie: a folder that is not there yet.": "저장소를 둘 폴더. 아직 없어야 합니다.",
        "With what had come by then, as 2026-11-01T12:00 or seq:10412.":
            "그때까지 도착한 것만 복원합니다. 예: 2026-11-01T12:00, seq:10412.",
        "Leave node.key out: the store can be read, and no node be started on it.":
            "node.key를 뺍니다. 읽을 수는 있지만 노드를 시작할 수는 없습니다.",
        "Reads streams that this command writes, run by the shell.": "셸로 실행한 이 명령이 내보내는 스트림에서 복원합니다.",
        "Keeps the newest N backups of each node.": "노드마다 가장 새 백업 N개를 남깁니다.",
        "Keeps those of the last D days.": "최근 D일의 백업을 남깁니다.",
        "Where there is room for the log (default: TMPDIR, /var/tmp).":
            "로그를 복원할 여유 공간이 있는 폴더(기본값: TMPDIR, /var/tmp).",
        "the first one has everything, the next what came since": "첫 백업은 전체, 다음부터는 그 뒤에 온 것",
        "encrypted": "암호화해서",
        "to another machine, with no file here": "여기에 파일을 남기지 않고 다른 컴퓨터로",
        """
        A backup ends where signed heads cover the log: beside a daemon that is what is there when the command \
        begins. Rows are read in short transactions, checked and hashed. What was erased since an earlier backup is \
        taken out of that, too. The backup is on the disk when the command ends. Attachments are in it, each written \
        once. Exit code 2 when something is missing: attachments that are not here or, where no daemon runs, events \
        that no signed head covers yet. Behind a backup that lacks a segment none is made. Keep the key file, and \
        copies of it, elsewhere: without it the backups cannot be read.
        """:
            """
        백업에는 서명된 헤드가 포함하는 데까지 담깁니다. 데몬이 실행 중이면 명령이 시작될 때 있던 것까지입니다. 행은 짧은 트랜잭션으로 읽어 검사하고 해시합니다. 이전 백업 뒤에 삭제된 것은 \
        이전 백업에서도 뺍니다. 명령이 끝나면 백업은 디스크에 있습니다. 첨부도 저마다 한 번씩 담깁니다. 빠진 것이 있으면 종료 코드는 2입니다. 이 노드에 내용이 없는 첨부와, 데몬이 실행 \
        중이 아닐 때 서명된 헤드에 아직 들어가지 않은 이벤트가 빠집니다. 조각이 빠진 백업에는 이어서 만들지 않습니다. 키 파일과 그 사본은 다른 곳에 보관하십시오. 키가 없으면 백업을 읽을 \
        수 없습니다.
        """,
        "the oldest first": "오래된 것부터",
        """
        Only whole backups are listed. What an interrupted run has left is counted; 'backup prune' takes it away. \
        SIZE is that of all segments of a backup; those that backups share are in the folder once.
        """:
            """
        온전한 백업만 나열합니다. 중단된 실행이 남긴 것은 수만 알리며, 'backup prune'으로 지웁니다. 크기(SIZE)는 백업에 속한 모든 조각의 크기입니다. 여러 백업이 함께 쓰는 \
        조각은 폴더에 하나만 있습니다.
        """,
        "Only this one (default: all of them).": "이 백업만(기본값: 모두).",
        "each file, each event, each signature": "모든 파일, 모든 이벤트, 모든 서명",
        """
        Segments that backups share are read once. Every file must have its SHA-256, every event must hash to the \
        root of its origin, and the heads over the roots must be signed. Attachments are read, too. Exit code 3 when \
        a backup is not whole, or has an event whose payload is gone without an erasure, or is there though it was \
        erased; each such file is named. Exit code 2 when one is not signed by its node, when they are of several nodes, when one has files or cosignatures that are none of a store's, or when there are rows that no backup names: a run was broken off, or a manifest is gone. Whose signature a backup has is told; compare the node with the one you know.
        """:
            """
        여러 백업이 함께 쓰는 조각은 한 번만 읽습니다. 모든 파일은 SHA-256이 맞아야 하고, 모든 이벤트를 해시하면 그 오리진의 루트가 나와야 하며, 루트에 대한 헤드는 서명되어 있어야 \
        합니다. 첨부도 읽습니다. 온전하지 않은 백업이나, 삭제 기록 없이 내용이 없어진 이벤트 또는 삭제되었는데 내용이 남은 이벤트가 든 백업이 있으면 종료 코드는 3이며, \
        그런 파일을 하나하나 알립니다. 노드가 서명하지 않은 백업이 있거나, 여러 노드의 백업이 섞여 있거나, 저장소에 없는 파일이나 공동 서명이 들어 있거나, 어느 \
        백업에도 속하지 않는 행이 있으면 2입니다. 그런 행은 실행이 중단되었거나 백업의 기록이 없어졌다는 뜻입니다. 누구의 서명인지 알려 주므로, 알고 있는 노드와 비교하십시오.
        """,
        "the newest one": "가장 새 백업",
        "as it was at noon": "정오의 모습으로",
        "one behind the other": "두 스트림을 차례로 이어서",
        """
        The log is built anew, proven by the signed heads, and on the disk when the command ends; only then the \
        folder gets its name. The node that starts on it goes on in a new origin and takes back from its peers what \
        it has lost. What was erased since the backup is not there, and the node records that once more. Exit code 2 \
        when attachments did not come back, when its node has not signed the backup, or when something came back \
        that was erased since. Never start it while another node has the same key.
        """:
            """
        로그를 새로 만들어 서명된 헤드로 증명하며, 명령이 끝나면 디스크에 있습니다. 폴더는 그제야 제 이름을 얻습니다. 이 저장소로 시작한 노드는 새 오리진으로 이어 가고, 잃은 것을 \
        피어에게서 되찾습니다. 백업 뒤에 삭제된 것은 들어 있지 않으며, 노드가 삭제를 다시 기록합니다. 첨부를 복원하지 못했거나, 노드가 서명하지 않은 백업이거나, 그 뒤에 삭제된 것이 \
        되살아났으면 종료 코드는 2입니다. 같은 키를 쓰는 다른 노드가 있는 동안에는 절대로 시작하지 마십시오.
        """,
        "what either of them keeps, stays": "둘 중 하나라도 남기는 것은 남습니다",
        "only what interrupted runs have left": "중단된 실행이 남긴 것만",
        """
        The newest backup of each node always stays, and so do the segments and attachments that a kept backup \
        needs, whichever backup has written them. Where a manifest cannot be read, or another file lies beside the \
        manifests, nothing is taken away.
        """:
            """
        노드마다 가장 새 백업은 항상 남습니다. 남는 백업에 필요한 조각과 첨부도 어느 백업이 썼든 남습니다. 읽을 수 없는 백업의 기록이 있거나 그 옆에 다른 파일이 있으면 아무것도 지우지 \
        않습니다.
        """,
        "how long a restore takes, and that it succeeds": "복원에 걸리는 시간과, 복원이 되는지",
        """
        The restored store is verified as 'syncctl verify' does it, and compared with what the backup says of \
        itself. Attachments are read and not written. Exit code 0 only if all is as it should be; 2 where only the \
        node's signature is missing, else 3. The node's key is not put there. What a drill that was killed has left \
        there, the next one takes away.
        """:
            """
        복원한 저장소를 'syncctl verify'처럼 검증하고, 백업에 기록된 것과 비교합니다. 첨부는 읽기만 하고 쓰지 않습니다. 모두 올바를 때만 종료 코드는 0이고, 노드의 서명만 \
        없으면 2, 그 밖에는 3입니다. 노드의 키는 복원하지 않습니다. 강제 종료된 실행이 남긴 것은 다음 실행이 지웁니다.
        """,
        "Where to: a folder that is not there yet.": "복사할 곳. 아직 없는 폴더여야 합니다.",
        "log, key, peers and attachments": "로그, 키, 피어, 첨부",
        "for an auditor": "감사자에게 줄 사본",
        """
        The copy has the log as it is when the copying begins, whatever is appended meanwhile, and is on the disk \
        when the command ends, with the attachments that are here whole. Only then the folder gets its name; what an \
        interrupted run has left as FOLDER.copying goes with the next one. Views are built anew from it. 'syncctl \
        verify --store FOLDER' proves it. Keep node.key as you keep the store: anyone who has it can write in the \
        node's name. Exit code 2 when attachments are damaged here, and therefore not in the copy.
        """:
            """
        사본에는 그동안 무엇이 추가되든 복사를 시작할 때의 로그가 담깁니다. 명령이 끝나면 이 노드에 온전히 있는 첨부와 함께 디스크에 있습니다. 폴더는 그제야 제 이름을 얻고, 중단된 실행이 \
        FOLDER.copying으로 남긴 것은 다음 실행이 지웁니다. 뷰는 사본에서 새로 만들어집니다. 'syncctl verify --store FOLDER'가 사본을 증명합니다. \
        node.key는 저장소처럼 보관하십시오. 그것을 가진 사람은 누구나 노드의 이름으로 쓸 수 있습니다. 이 노드에서 손상되어 복사하지 않은 첨부가 있으면 종료 코드는 2입니다.
        """,
    ]
}
