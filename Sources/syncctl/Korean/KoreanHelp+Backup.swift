extension KoreanHelp {
    /// What `backup` says.
    static let backup = [
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
    ]
}
