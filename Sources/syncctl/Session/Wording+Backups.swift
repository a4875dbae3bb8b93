internal import CommandLineKit

extension Wording {
    /// What the commands of backups answer.
    var backingUp: Phrase {
        switch self {
        case .backupBroken:
            Phrase("{0}: this one does not go on behind it", "이번 백업은 다음 백업에 이어지지 않습니다: {0}")
        case .backupOtherHistory:
            Phrase(
                "the log goes on from none of the backups that are there: this is a full one",
                "로그가 이어지는 백업이 없어 전체를 백업했습니다")
        case .backupUnreached:
            Phrase(
                "what was erased stays in {0}, of another history or not signed by this node: restore what you need of "
                    + "it elsewhere, then take it away",
                "삭제된 내용이 남아 있는 백업: {0}. 다른 이력의 것이거나 이 노드가 서명하지 않은 것입니다. 필요한 것은 다른 곳에 복원한 뒤 치우십시오"
            )
        case .backupUnread:
            Phrase(
                "whether what was erased stays in {0} cannot be told: damaged, or of a backup that is; 'backup verify' "
                    + "says what is wrong, look before you take anything away",
                "삭제된 내용이 남아 있는지 알 수 없는 것: {0}. 손상되었거나 손상된 백업에 속합니다. 무엇이 잘못되었는지 'backup verify'로 "
                    + "확인하고, 그 전에는 치우지 마십시오")
        case .backupOfStranger:
            Phrase(
                "{0}: not signed by this node, so not its word; it does not go on behind that, and signs none of it",
                "{0}: 이 노드가 서명하지 않은 백업. 그 뒤로 이어 가지 않으며, 그 내용에 서명하지도 않습니다")
        case .backupsPassedOver:
            Phrase(
                "{0}: newer than {1}, and not signed by the node; --backup ID takes such a one",
                "{0}: {1} 백업보다 새것이지만 노드의 서명이 없어 건너뜁니다. 쓰려면 --backup ID를 지정하십시오")
        case .backupPutBack:
            Phrase(
                "an older copy was put back over {0}: what was erased since is taken out again",
                "예전 사본으로 되돌려진 파일: {0}. 그 뒤에 삭제된 내용을 다시 뺐습니다")
        case .backupUnnoted:
            Phrase(
                "the store could not keep that it was made, and 'status' will not tell: {0}",
                "백업한 것을 저장소에 적지 못해 'status'에 나오지 않습니다: {0}")
        case .backupCleared:
            Phrase(
                "{0} with what was erased taken away, that no backup names",
                "삭제된 내용이 있고 어느 백업에도 속하지 않아 지운 것: {0}")
        case .backupRewritten:
            Phrase("{0} written again without what was erased", "삭제된 내용을 빼고 다시 쓴 것: {0}")
        case .backupUncovered:
            Phrase(
                "{0} not covered by a signed head yet: the next backup has them",
                "서명된 헤드에 아직 들어가지 않은 것: {0}. 다음 백업에 담깁니다")
        case .backupLacksAttachments:
            Phrase(
                "{0} not here, or damaged, and so not in the backup: 'syncctl attachment list --missing', '--damaged'",
                "이 노드에 없거나 손상되어 백업에서 빠진 것: {0}. 'syncctl attachment list --missing', '--damaged'")
        case .backupLeavesAttachments:
            Phrase(
                "{0} in the store that no event names, and so not in the backup: put before their event, or erased and put back by a hand. "
                    + "What no event names syncd takes away",
                "이벤트에 없어 백업에서 빠진 것: {0}. 이벤트보다 먼저 올렸거나, 삭제된 뒤 누군가 되돌려 놓은 것입니다. 이벤트에 없는 것은 syncd가 치웁니다")
        case .backupAdded: Phrase("{0}: {1}{2} added{3}, {4}, up to position {5}", "{0}: {1}{2} 추가{3}, {4}, 위치 {5}까지")
        case .alsoAttachments: Phrase(" and {0}", " 및 {0}")
        case .behindBackup: Phrase(", behind {0}", ", 앞의 백업 {0}")
        case .fullBackup: Phrase(", a full backup", ", 전체 백업")
        case .backupLeftovers:
            Phrase(
                "{0} that no backup names: 'backup prune' takes them away",
                "어느 백업에도 속하지 않는 것: {0}. 'backup prune'을 실행하면 지웁니다")
        case .backupRemoved: Phrase("removed {0}", "지운 백업: {0}")
        case .backupPruned: Phrase("{0} kept, {1} taken away, {2}", "남긴 것: {0}, 지운 것: {1}, {2}")
        case .backupCopied: Phrase("copied {0}{1} to {2}{3}", "복사했습니다: {0}{1}, 폴더 {2}{3}")
        case .backupCopyLacks: Phrase("{0} damaged here, and not in the copy", "이 노드에서 손상되어 복사하지 않은 것: {0}")
        case .withoutKey: Phrase(", without node.key", ", node.key 제외")
        default: restoring
        }
    }

    /// What `backup restore`, `verify` and `drill` answer.
    private var restoring: Phrase {
        switch self {
        case .restoreUnsigned:
            Phrase(
                "the backup is not signed by the node: who its key and its peers are is not proven{0}",
                "노드가 서명하지 않은 백업입니다. 키와 피어가 누구의 것인지 증명되지 않았습니다{0}")
        case .restoreNotPutBack: Phrase("; not put back: {0}", ". 복원하지 않은 것: {0}")
        case .restoreLacks:
            Phrase(
                "{0} did not come back: the node asks its peers for what is missing",
                "복원하지 못한 것: {0}. 노드가 피어에게 요청합니다")
        case .restoreErased:
            Phrase(
                "{0} were erased after this moment, and are empty; the node records that once more",
                "이 시점 뒤에 삭제되어 내용이 없는 것: {0}. 노드가 삭제를 다시 기록합니다")
        case .restoreNotErased:
            Phrase(
                "{0} came back that were erased since: an older copy was put back into the repository. 'backup "
                    + "create' of its node "
                    + "takes that out; here erase them again, or restore after that",
                "그 뒤에 삭제되었는데 되살아난 것: {0}. 백업 폴더가 예전 사본으로 되돌려졌습니다. 그 노드에서 'backup create'를 실행하면 "
                    + "빠집니다. 여기서 다시 삭제하거나, 그 뒤에 복원하십시오")
        case .restored:
            Phrase("restored {0} up to position {1} into {2}{3}", "복원했습니다: 백업 {0}, 위치 {1}까지, 폴더 {2}{3}")
        case .backupsOfNodes:
            Phrase(
                "the backups are of {0} nodes, and a manifest says of itself whose it is: {1}",
                "노드 {0}개의 백업이 섞여 있습니다. 누구의 것인지는 각 백업의 기록에만 있습니다: {1}")
        case .backupUnnamed:
            Phrase(
                "{0} that no backup names: a run was broken off, or the manifest of a backup is gone; a receipt "
                    + "shows how far the log "
                    + "went (syncctl verify --since)",
                "어느 백업에도 속하지 않는 것: {0}. 실행이 중단되었거나 백업의 기록이 없어졌습니다. 로그가 어디까지 있었는지는 영수증으로 알 수 "
                    + "있습니다(syncctl verify --since)")
        case .backupIsBroken: Phrase("BROKEN    {0}", "온전하지 않음  {0}")
        case .backupVerified: Phrase("VERIFIED  {0}  {1}, {2}", "증명됨  {0}  {1}, {2}")
        case .backupSigned: Phrase("signed by {0} ({1})", "{0}({1})의 서명")
        case .backupStrange:
            Phrase(
                "not what a store has, so the manifest may be another's work: {0}",
                "저장소에 있을 것이 아닙니다. 백업의 기록을 다른 사람이 썼을 수 있습니다: {0}")
        case .backupUnsigned:
            Phrase(
                "not signed by the node: key and peers in it are not proven",
                "노드가 서명하지 않음. 들어 있는 키와 피어는 증명되지 않았습니다")
        case .drillErased:
            Phrase("{0} were erased after this backup, and are empty in it", "백업 뒤에 삭제되어 내용이 없는 것: {0}")
        case .drillGood: Phrase("GOOD", "정상")
        case .drillBad: Phrase("BAD ", "문제 있음")
        case .drillDone:
            Phrase(
                "{0} {1}  {2}, {3}: restored in {4}, verified in {5}", "{0} {1}  {2}, {3}: 복원 {4}, 검증 {5}")
        default: importing
        }
    }
}
