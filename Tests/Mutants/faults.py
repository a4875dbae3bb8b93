"""The faults that `make mutants` plants: what a careless change might do to each promise.

A fault names the files, the text as it is and the text with the fault behind `isPlanted(number)`, and the suites that
must notice.
"""

from dataclasses import dataclass, field


@dataclass
class Fault:
    number: int
    name: str
    invariant: str
    suites: list
    edits: list = field(default_factory=list)


ES = "Sources/EventStore/"
SE = "Sources/SyncEngine/"
FAULTS = []


def fault(number, name, invariant, suites, *edits):
    FAULTS.append(Fault(number, name, invariant, suites.split(), list(edits)))


# --- The writer: what is acknowledged is durable -----------------------------------------------------------------------

fault(1, "queued appends are answered before the sync", "INV-1", "CommitPipelineTests",
      (ES + "Writer/LogWriter.swift",
       "        let observers = observers.withLock { $0 }\n        if let waitForDisk, commits",
       "        let observers = observers.withLock { $0 }\n"
       "        if isPlanted(1) { for commit in commits { for answer in commit.answers { answer() } } }\n"
       "        if let waitForDisk, commits"),
      (ES + "Writer/LogWriter.swift",
       "for answer in commit.answers { answer() }\n            guard let notice",
       "for answer in commit.answers where !isPlanted(1) { answer() }\n            guard let notice"))
fault(2, "a lone append is told as durable before the sync", "INV-1", "CommitPipelineTests",
      (ES + "Writer/LogWriter.swift",
       "let sync = OneSync {", "if isPlanted(2) { answer() }\n            let sync = OneSync {"),
      (ES + "Writer/LogWriter.swift",
       "        answer()\n        for commit in commits {", "        if !isPlanted(2) { answer() }\n        for commit in commits {"))
fault(3, "the error of fdatasync is ignored", "INV-1", "WALSyncTests",
      (ES + "Writer/WALSync.swift", "guard fdatasync(descriptor) == 0 else", "guard fdatasync(descriptor) == 0 || isPlanted(3) else"))
fault(4, "a failed sync is taken for success", "INV-1", "CommitPipelineTests",
      (ES + "Writer/LogWriter.swift", "do throws(StoreError) { try sync.run() } catch {",
       "do throws(StoreError) {\n                do throws(StoreError) { try sync.run() } catch { if !isPlanted(4) { throw error } }\n"
       "            } catch {"))
fault(5, "after a failed sync the writer goes on", "INV-1", "CommitPipelineTests",
      (ES + "Writer/LogWriter.swift", "                fail(error)\n                throw error",
       "                if isPlanted(81) {\n                    queue.update { queue in\n                        queue.flight.end()\n"
       "                        return true\n                    }\n"
       "                } else if !isPlanted(5) {\n                    fail(error)\n                }\n                throw error"))
fault(81, "after a failed sync a later one is believed", "INV-1", "CommitPipelineTests")
fault(43, "a commit written while the sync before it failed is taken", "INV-1", "CommitPipelineTests",
      (ES + "Writer/WriteQueue.swift", "if let failure { return .failure(failure) }\n        isResting",
       "if let failure, !isPlanted(43) { return .failure(failure) }\n        isResting"))
fault(42, "a flush does not wait for commits that are being synced", "INV-3", "CommitPipelineTests",
      (ES + "Writer/WriteQueue.swift", "first.isFlush ? flight.isEmpty", "first.isFlush && !isPlanted(42) ? flight.isEmpty"))
fault(44, "views commit before the log is durable", "INV-10", "BorrowedStepTests",
      (ES + "Projection/Projector.swift", "guard mayCommit() else", "guard mayCommit() || isPlanted(44) else"))
fault(67, "appends are taken while a snapshot is awaited", "INV-3", "SnapshotInstallTests",
      (ES + "Writer/WriteQueue.swift", "if let hold, job.events > 0 {", "if let hold, job.events > 0, !isPlanted(67) {"))

# --- Appending: ids, conditions, dependencies ----------------------------------------------------------------------------

fault(10, "a repeated append is not compared by payload", "INV-8", "AppendTests BatchAppendTests AppendAgainTests",
      (ES + "Writer/AppendRequest.swift", "return stored.isErased || stored.payload == payload",
       "return stored.isErased || stored.payload == payload || isPlanted(10)"))
fault(46, "a repeated append is not compared by cause", "INV-8", "AppendTests BatchAppendTests AppendAgainTests",
      (ES + "Writer/AppendRequest.swift", "cause == header.cause,", "cause == header.cause || isPlanted(46),"))
fault(51, "the writer does not see an event right behind the expected version", "INV-8", "AppendTests BatchAppendTests AppendAgainTests",
      (ES + "Writer/Appender.swift", ".integer(Int64(bitPattern: condition.position)), .integer(ref)) ?? 0",
       ".integer(Int64(bitPattern: condition.position) + (isPlanted(51) ? 1 : 0)), .integer(ref)) ?? 0"))
fault(52, "one id twice with other content passes in a batch that is whole or nothing", "INV-8", "AppendTests BatchAppendTests AppendAgainTests",
      (ES + "Writer/Appender.swift", "drafts[other].draft != prepared.draft {", "drafts[other].draft != prepared.draft, !isPlanted(52) {"))
fault(22, "a new origin does not depend on the old one", "INV-5", "MemoryTests",
      (ES + "Writer/Appender+Origin.swift", "end.isNamed && head != nil ? [index]", "end.isNamed && head != nil && !isPlanted(22) ? [index]"))
fault(28, "after a restart what arrived directly behind the last own event is no dependency", "INV-5",
      "CausalTraceTests MemoryTests ReopenTests",
      (ES + "Log/LogState.swift", "last[$0] > last[own] }", "last[$0] > last[own] + (isPlanted(28) ? 1 : 0) && !isPlanted(80) }"))
fault(80, "after a restart own events name no dependencies of what came before", "INV-5", "CausalTraceTests MemoryTests ReopenTests")
fault(49, "a witness that has seen one event more is not noticed", "INV-4", "MemoryTests SnapshotNodeTests",
      (ES + "Identity/RollbackDetection.swift", "if size < head.size {", "if size + (isPlanted(49) ? 1 : 0) < head.size {"))
fault(73, "a stamp far ahead moves the clock", "INV-3", "ClockTests HybridClockTests",
      (ES + "Model/HybridClock.swift", "guard remote.milliseconds <= wall.addingSaturated(Self.bound) else",
       "guard remote.milliseconds <= wall.addingSaturated(Self.bound) || isPlanted(73) else"))

# --- Heads and proofs: nothing unsigned is believed ----------------------------------------------------------------------

fault(6, "a head is handed out over what is not committed", "INV-3", "HeadSignerTests",
      (ES + "Writer/HeadSigner.swift", "ahead.head.head.origin == origin.id, ahead.range == origin.range {",
       "ahead.head.head.origin == origin.id, isPlanted(6) || ahead.range == origin.range {"))
fault(7, "a received head is taken unsigned if one of its size was good before", "INV-3", "IngestVerifierTests HostilePeerTests",
      (ES + "Replication/IngestVerifier.swift", "let isKnown = tree.ahead.contains(cover.head)",
       "let isKnown =\n            isPlanted(7) && tree.ahead.contains { $0.head.size == head.size }\n"
       "            || isPlanted(47) && tree.ahead.contains { $0.head == head } || tree.ahead.contains(cover.head)"))
fault(47, "a received head of known size and root is taken with a false signature", "INV-3", "IngestVerifierTests HostilePeerTests")
fault(8, "the root is not compared when head and tree have equal sizes", "INV-3", "HostilePeerTests",
      (ES + "Replication/IngestVerifier.swift", "        guard\n            MerkleProof.isConsistent(\n                old: size, oldRoot: root,",
       "        guard\n            isPlanted(8) && head.size == size\n                || MerkleProof.isConsistent(\n"
       "                old: size, oldRoot: root,"))
fault(9, "a received dependency may be missing by one", "INV-5", "CausalTraceTests",
      (ES + "Replication/IngestVerifier.swift", "guard needs.seq <= have ||", "guard needs.seq <= have + (isPlanted(9) ? 1 : 0) ||"))
fault(61, "the signature of a stored reach is not checked at opening", "INV-3", "IngestVerifierTests",
      (ES + "Replication/IngestVerifier.swift", "reach.coverage.head.isValid(for: tree.key)\n", "reach.coverage.head.isValid(for: tree.key) || isPlanted(61)\n"))
fault(36, "a consistency proof that is too short is taken", "INV-3", "PassingOnTests",
      (ES + "Proofs/MerkleProof.swift", "return last == 0 && oldSide", "return (last == 0 || isPlanted(36)) && oldSide"))
fault(38, "two equal leaves are evidence of a fork", "INV-4", "ForkEvidenceTests",
      (ES + "Replication/ForkEvidence.swift", "guard leaves[0] != leaves[1], one", "guard leaves[0] != leaves[1] || isPlanted(38), one"))
fault(30, "an event that no head covers is offered to a peer", "INV-3", "OutgoingReaderTests",
      (ES + "Replication/OutgoingReader.swift", "guard dot.seq <= covered else", "guard dot.seq <= covered || isPlanted(30) else"))
fault(69, "the event at which a batch was cut is passed over", "INV-12", "OutgoingReaderTests",
      (ES + "Replication/OutgoingReader.swift", "if isBlocked || isCut { batch.through -= 1 }",
       "if isBlocked || isCut && !isPlanted(69) { batch.through -= 1 }"))

# --- Snapshots ------------------------------------------------------------------------------------------------------------

fault(35, "the signature over a snapshot's end is not checked", "INV-3", "SnapshotTamperTests",
      (ES + "Snapshot/BulkLoad/Sequencer.swift", "guard cover.head.isValid(for: origin.key) else",
       "guard cover.head.isValid(for: origin.key) || isPlanted(35) else"))
fault(68, "own events in a snapshot are not compared", "INV-4", "SnapshotTamperTests",
      (ES + "Snapshot/BulkLoad/Sequencer.swift", "guard ownLeaves[Int(dot.seq) - 1] == leaf else",
       "guard ownLeaves[Int(dot.seq) - 1] == leaf || isPlanted(68) else"))
fault(34, "a dependency of a snapshot's row may be missing by one", "INV-5", "SnapshotTamperTests",
      (ES + "Snapshot/BulkLoad/Sequencer.swift", "needs.seq <= origins[index].range.size else",
       "needs.seq <= origins[index].range.size + (isPlanted(34) ? 1 : 0) else"))
fault(20, "a snapshot's index is not in order where its first column ties", "INV-2", "SnapshotIndexTests SnapshotBuildTests",
      (ES + "Snapshot/BulkLoad/SortedRuns.swift", "if left.b != right.b {", "if left.b != right.b, !isPlanted(20) {"))

# --- Views ----------------------------------------------------------------------------------------------------------------

fault(13, "the first row of the tail behind the base is dropped", "INV-10", "ConversationMergeTests",
      (ES + "LSM/SortedTable.swift", "row.position <= applied ||", "row.position <= applied + (isPlanted(13) ? 1 : 0) ||"))
fault(14, "rows of the tail that tie with the last of a page of the base are left out", "INV-2", "TieTests TimelineReadTests",
      (ES + "LSM/RowRange.swift", "range.precedes(row, $0) || row.isTied(with: $0) }",
       "range.precedes(row, $0) || !isPlanted(14) && row.isTied(with: $0) }"))
fault(37, "rows that tie with the last of a page are cut off", "INV-2", "TimelineReadTests",
      (ES + "LSM/RowRange.swift", "|| $0 == last || $0.isTied(with: last) })",
       "|| $0 == last || !isPlanted(37) && $0.isTied(with: last) })"))
fault(63, "--until takes its border in", "", "ConvergenceTests TimelineReadTests",
      (ES + "LSM/RowRange.swift", "row.time >= since, row.time < until else",
       "row.time >= since, row.time < until || isPlanted(63) && row.time == until else"))
fault(62, "--known-at p leaves out p", "", "TieTests",
      (ES + "Views/ViewReader+Timeline.swift", "key.position > knownAt {", "key.position >= knownAt + (isPlanted(62) ? 0 : 1) {"))
fault(15, "a frozen generation is merged from its start after a restart", "INV-10", "TailTests ConversationMergeTests",
      (ES + "LSM/LSMTree.swift", "RowMerger(tail.frozen, after: merge.cursor)",
       "RowMerger(tail.frozen, after: isPlanted(15) ? .zero : merge.cursor)"))
fault(56, "the sum of base and tail takes the tail's last moment", "INV-6", "ConversationMergeTests ConversationListTests",
      (ES + "Views/Conversations/ConversationSum.swift", "last: max(a.last, b.last))", "last: isPlanted(56) ? b.last : max(a.last, b.last))"))
fault(79, "of equal times the later merged is a conversation's last moment", "INV-6", "TieTests ConversationMergeTests",
      (ES + "Views/Conversations/ConversationRow.swift", "ELSE max(last_hlc, ?7) END,", 'ELSE \\(isPlanted(79) ? "?7" : "max(last_hlc, ?7)") END,'))
fault(12, "of titles with one time any may count", "INV-6", "TieTests ConvergenceTests ArrivalOrderTests",
      (ES + "Views/Conversations/ConversationsView.swift", "if map({ $0.stamp < write.stamp }) ?? true",
       "if map({ isPlanted(12) ? $0.stamp.key.time <= write.stamp.key.time : $0.stamp < write.stamp }) ?? true"))
fault(11, "of profile fields with one time any may count", "INV-6", "TieTests ConvergenceTests ArrivalOrderTests",
      (ES + "Views/Profiles/ProfilesView.swift", "writes.sort { $0.stamp < $1.stamp }",
       "writes.sort { isPlanted(11) ? $0.stamp.key.time < $1.stamp.key.time : $0.stamp < $1.stamp }"))
fault(74, "a twin that was recorded earlier never takes the other's place", "INV-6", "ArrivalOrderTests",
      (ES + "Projection/Projector.swift", "return event.precedes(counting) ?", "return event.precedes(counting) && !isPlanted(74) ?"))
fault(16, "the quarantine is tried again for ever", "INV-10", "QuarantineTests",
      (ES + "Projection/ProjectorThread.swift", "(state.mustRebuild, state.isResting) = (false, false)",
       "(state.mustRebuild, state.isResting) = (isPlanted(16), false)"))

# --- The session: credit, memory, sources ---------------------------------------------------------------------------------

fault(17, "credit is given back twice for a held frame", "INV-9", "MeshTests",
      (SE + "Session/SyncSession+Events.swift", "            incoming.beyond -= bytes\n        } else {",
       "            incoming.beyond -= bytes\n            if isPlanted(17) { incoming.owed += bytes }\n        } else {"))
fault(59, "owed credit is given again with every frame", "INV-9", "MeshTests FlowTests",
      (SE + "Session/SyncSession+Events.swift", "if isDue { incoming.owed = 0 }", "if isDue, !isPlanted(59) { incoming.owed = 0 }"))
fault(55, "more credit than was sent is counted", "INV-9", "FlowTests",
      (SE + "Session/CongestionWindow.swift", "credited += min(bytes, sent - credited)",
       "credited += isPlanted(55) ? bytes : min(bytes, sent - credited)"))
fault(18, "a Want forgets its last origin", "INV-12", "MeshTests",
      (SE + "Session/SyncSession+Sources.swift", "take: take.compactMap {", "take: take.dropLast(isPlanted(18) ? 1 : 0).compactMap {"))
fault(19, "a range in a Want is read one short", "INV-12", "MeshTests",
      (SE + "Session/SyncSession+Sources.swift", ".prefix(range.count)", ".prefix(range.count - (isPlanted(19) ? 1 : 0))"))
fault(32, "what was sent before a Want is not sent again", "INV-12", "MeshTests",
      (SE + "Session/SyncSession+Sources.swift", "outgoing.known.reset(taken, to: outgoing.durable)",
       "if !isPlanted(32) { outgoing.known.reset(taken, to: outgoing.durable) }"))
fault(58, "what was remembered of another incarnation is kept", "INV-7", "ReconnectTests",
      (SE + "Session/SyncSession+Opening.swift", "if memory?.incarnation != hello.incarnation {",
       "if memory == nil || memory?.incarnation != hello.incarnation && !isPlanted(58) {"))
fault(57, "a Hello may name another node than the certificate", "INV-13", "SyncSessionTests HostilePeerTests",
      (SE + "Session/SyncSession+Opening.swift", "guard hello.node == remote else", "guard hello.node == remote || isPlanted(57) else"))
fault(72, "the digest of a StateDelta is not compared", "INV-7", "ReconnectTests",
      (SE + "Session/PeerMemory.swift", "digest != StateDelta.digest(of: entries) {",
       "digest != StateDelta.digest(of: entries), !isPlanted(72) {"))

# --- The node -------------------------------------------------------------------------------------------------------------

fault(27, "wait counts what was only sent", "INV-7", "LagTests WaitTests",
      (SE + "Mesh/Mesh+Durability.swift", "(durable, isConnected) = (outgoing.durable, true)",
       "(durable, isConnected) = (isPlanted(27) ? outgoing.known : outgoing.durable, true)"))
fault(66, "wait is content with one node less", "INV-7", "WaitTests",
      (SE + "Mesh/DurabilityWaiters.swift", "let isReached = holding.count >= waiter.nodes",
       "let isReached = holding.count >= waiter.nodes - (isPlanted(66) ? 1 : 0)"),
      (SE + "Mesh/DurabilityWaiters.swift", "guard holding.count >= waiter.nodes || isLast",
       "guard holding.count >= waiter.nodes - (isPlanted(66) ? 1 : 0) || isLast"))
fault(54, "an invitation stays open after its use", "INV-13", "JoiningTests JoiningProgramTests",
      (SE + "Mesh/Invitation.swift", "let used = changed.remove(at: index)",
       "let used = isPlanted(54) ? changed[index] : changed.remove(at: index)"))
fault(65, "an expired invitation is good", "INV-13", "JoiningTests",
      (SE + "Mesh/Invitation.swift", "{ $0.until > now && proves($0.token) }", "{ ($0.until > now || isPlanted(65)) && proves($0.token) }"))

# --- The disk -------------------------------------------------------------------------------------------------------------

fault(45, "what a start has written is not synced", "INV-1", "DiskFaultTests",
      (ES + "Writer/LogWriter.swift", "try wal.run(awake: false)\n            self.waitForDisk",
       "if !isPlanted(45) { try wal.run(awake: false) }\n            self.waitForDisk"))
fault(90, "a start does not write the WAL anew", "INV-1", "DiskFaultTests",
      (ES + "Identity/Recovery.swift", "try rewrite(descriptor, count: frames.end, path)",
       "if !isPlanted(90) { try rewrite(descriptor, count: frames.end, path) }"))
fault(91, "a copying that failed is no failure", "INV-1", "DiskFaultTests",
      (ES + "Writer/Checkpointer.swift", "guard error.isFailedIO || error.isCorrupt else", "guard error.isFailedIO && !isPlanted(91) else"))
fault(92, "pages that count as copied are not written anew", "INV-1", "RecoveryTests",
      (ES + "Identity/Recovery.swift", "if isSuspect || connection.backfilledPages() > 0 {",
       "if isSuspect || connection.backfilledPages() > 0, !isPlanted(92) {"))
fault(93, "a temporary file may be a link", "INV-13", "PrivateFilesTests",
      (ES + "Files/StoreFiles.swift", "O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC",
       "O_WRONLY | O_CREAT | (isPlanted(93) ? O_TRUNC : O_EXCL | O_NOFOLLOW) | O_CLOEXEC"))
fault(94, "others may write in the folder of a store", "INV-13", "PrivateFilesTests",
      (ES + "Files/StoreFiles.swift", "guard entry.st_mode & 0o022 == 0 else", "guard entry.st_mode & 0o022 == 0 || isPlanted(94) else"))

# --- Reading what others wrote --------------------------------------------------------------------------------------------

fault(23, "a request may have two lengths", "INV-9", "HTTPMalformedTests",
      (SE + "Networking/HTTP/HTTPHead.swift", "guard lengths.count <= 1 else", "guard lengths.count <= 1 || isPlanted(23) else"))
fault(24, "a name may occur twice if one is escaped", "INV-4", "JSONScannerTests",
      (ES + "Basics/JSON/JSONMembers.swift", "guard !name.isEscaped else {", "guard !name.isEscaped || isPlanted(24) else {"))
fault(25, "import counts what is there already as appended", "INV-8", "SyncctlTests",
      ("Sources/syncctl/Commands/AppendTally.swift", "case .already: already += 1",
       "case .already: if isPlanted(25) { appended += 1 } else { already += 1 }"))
fault(29, "import counts a repeated line twice", "INV-8", "SyncctlTests",
      ("Sources/syncctl/Commands/ImportRun.swift", "            } else {\n                tally.count(result)\n            }",
       "            } else {\n                tally.count(result)\n                if isPlanted(29), case .already = result { tally.count(result) }\n            }"))

# --- Verify ---------------------------------------------------------------------------------------------------------------

fault(26, "the verifier skips most leaves", "INV-4", "TamperTests TamperTableTests",
      (ES + "Audit/EventCheck.swift", "if EventRow.leafCheck(row) != EventRow.leafCheck(leaf) {",
       "if !isPlanted(26) || header.dot.seq % 256 == 0, EventRow.leafCheck(row) != EventRow.leafCheck(leaf) {"))
fault(50, "the verifier skips roots of heads above 256", "INV-3", "TamperTests TamperTableTests",
      (ES + "Audit/OriginProof.swift", "if root != signed.head.root {", "if root != signed.head.root, !isPlanted(50) || head.size <= 256 {"))
