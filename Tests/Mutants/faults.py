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
      (ES + "Writer/LogWriter.swift", "                try sync.run()\n                try noteEnd(commits)",
       "                do throws(StoreError) { try sync.run() } catch { if !isPlanted(4) { throw error } }\n"
       "                try noteEnd(commits)"))
fault(5, "after a failed sync the writer goes on", "INV-1", "CommitPipelineTests",
      (ES + "Writer/LogWriter.swift", "        fail(error, telling: commits.flatMap(\\.jobs))\n        return error",
       "        if isPlanted(81) {\n            queue.update { queue in\n                queue.flight.end()\n"
       "                return true\n            }\n"
       "        } else if !isPlanted(5) {\n            fail(error, telling: commits.flatMap(\\.jobs))\n        }\n"
       "        if isPlanted(81) || isPlanted(5) { for job in commits.flatMap(\\.jobs) { job.fail(error) } }\n"
       "        return error"))
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
      (ES + "Writer/Appender+Conditions.swift", ".unsigned(condition.position), .integer(ref))",
       ".unsigned(condition.position + (isPlanted(51) ? 1 : 0)), .integer(ref))"))
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
fault(73, "a stamp far ahead moves the clock", "INV-3", "ClockTests",
      (ES + "Model/HybridClock.swift", "guard remote.milliseconds <= wall.addingSaturated(Self.bound) else",
       "guard remote.milliseconds <= wall.addingSaturated(Self.bound) || isPlanted(73) else"))

# --- Heads and proofs: nothing unsigned is believed ----------------------------------------------------------------------

fault(6, "a head is handed out over what is not committed", "INV-3", "HeadSignerTests",
      (ES + "Writer/HeadSigner.swift", "ahead.head.head.origin == origin.id, ahead.range == origin.range {",
       "ahead.head.head.origin == origin.id, isPlanted(6) || ahead.range == origin.range {"))
fault(7, "a received head is taken unsigned if one of its size was good before", "INV-3", "SecondLookTests HostilePeerTests",
      (ES + "Replication/IngestVerifier.swift", "let isKnown = tree.ahead.contains(cover.head)",
       "let isKnown =\n            isPlanted(7) && tree.ahead.contains { $0.head.size == head.size }\n"
       "            || isPlanted(47) && tree.ahead.contains { $0.head == head } || tree.ahead.contains(cover.head)"))
fault(47, "a received head of known size and root is taken with a false signature", "INV-3", "SecondLookTests HostilePeerTests")
fault(8, "the root is not compared when head and tree have equal sizes", "INV-3", "HostilePeerTests",
      (ES + "Replication/IngestVerifier.swift", "        guard\n            MerkleProof.isConsistent(\n                old: size, oldRoot: root,",
       "        guard\n            isPlanted(8) && head.size == size\n                || MerkleProof.isConsistent(\n"
       "                old: size, oldRoot: root,"))
fault(9, "a received dependency may be missing by one", "INV-5", "CausalTraceTests",
      (ES + "Replication/IngestVerifier.swift", "guard needs.seq <= have ||", "guard needs.seq <= have + (isPlanted(9) ? 1 : 0) ||"))
fault(308, "views are believed where another event stands at their position", "INV-10", "ViewsMarkTests",
      (ES + "Projection/ViewDatabase.swift", "leaf != found.leaf { return nil }", "leaf != found.leaf, !isPlanted(308) { return nil }"))
fault(310, "evidence beside a running node has events without what they depend on", "INV-5", "EvidenceTransferTests",
      (ES + "Audit/EvidenceExport.swift", "if isCut {", "if isCut, !isPlanted(310) {"))
fault(311, "an edit that counted then is not known any more once a twin counts", "INV-8", "TieTests",
      (ES + "Views/ViewReader.swift", "guard row.position > knownAt,\n", "guard row.position > knownAt, !isPlanted(311),\n"))
fault(307, "a known fork excuses an event of an origin that is not here", "INV-3 and INV-5", "ForkedIngestTests",
      (ES + "Replication/IngestVerifier.swift", "have > 0 && isForked", "(have > 0 || isPlanted(307)) && isForked"))
fault(61, "the signature of a stored reach is not checked at opening", "INV-3", "SecondLookTests",
      (ES + "Replication/IngestVerifier.swift", "reach.coverage.head.isValid(for: tree.key)\n", "reach.coverage.head.isValid(for: tree.key) || isPlanted(61)\n"))
fault(36, "a consistency proof that is too short is taken", "INV-3", "PassingOnTests",
      (ES + "Proofs/MerkleProof.swift", "return last == 0 && oldSide", "return (last == 0 || isPlanted(36)) && oldSide"))
fault(38, "two equal leaves are evidence of a fork", "INV-4", "ForkEvidenceTests",
      (ES + "Replication/ForkEvidence.swift", "guard marks[0] != marks[1], one.hasEvent", "guard marks[0] != marks[1] || isPlanted(38), one.hasEvent"))
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
      (ES + "LSM/OwnerRows.swift", "range.precedes(row, $0) || row.isTied(with: $0) }",
       "range.precedes(row, $0) || !isPlanted(14) && row.isTied(with: $0) }"))
fault(37, "rows that tie with the last of a page are cut off", "INV-2", "TimelineReadTests",
      (ES + "LSM/OwnerRows.swift", "|| $0 == last || $0.isTied(with: last) })",
       "|| $0 == last || !isPlanted(37) && $0.isTied(with: last) })"))
fault(63, "--until takes its border in", "", "ConvergenceTests TimelineReadTests",
      (ES + "LSM/OwnerRows.swift", "row.time >= since, row.time < until else",
       "row.time >= since, row.time < until || isPlanted(63) && row.time == until else"))
fault(62, "--known-at p leaves out p", "", "TieTests",
      (ES + "Views/ViewReader+Timeline.swift", "row.position > knownAt {", "row.position >= knownAt + (isPlanted(62) ? 0 : 1) {"))
fault(15, "a frozen generation is merged from its start after a restart", "INV-10", "TailTests ConversationMergeTests",
      (ES + "LSM/LSMTree.swift", "Compactor(tail.frozen, after: compaction.cursor)",
       "Compactor(tail.frozen, after: isPlanted(15) ? .zero : compaction.cursor)"))
fault(191, "a view that is built anew counts as whole after its first step", "INV-10", "ViewVersionTests",
      (ES + "Projection/Projector.swift", "behind: last < position ? last : nil",
       "behind: last < position && !isPlanted(191) ? last : nil"))
fault(192, "the place of a view that is built anew is not kept", "INV-10", "ViewVersionTests",
      (ES + "Projection/ViewDatabase.swift", '"UPDATE view SET position = ? WHERE name = ?"',
       '"UPDATE view SET position = \\(isPlanted(192) ? "?1 * 0" : "?") WHERE name = ?"'))
fault(193, "conversations keep their sums when the timeline is built anew", "INV-6", "ViewVersionTests",
      (ES + "Projection/ViewDatabase.swift", "if isStale || (type.foundation", "if isStale || !isPlanted(193) && (type.foundation"))
fault(194, "conversations that are built anew have no sums of the run", "INV-6", "ViewVersionTests",
      (ES + "Projection/ViewDatabase.swift", "for view in renewed { try view.begin(store) }",
       "for view in renewed where !isPlanted(194) { try view.begin(store) }"))
fault(195, "views are read while one of them is behind", "INV-10", "ViewVersionTests",
      (ES + "Projection/ViewDatabase.swift", "($0.behind == nil || type.isDeferred)", "($0.behind == nil || type.isDeferred || isPlanted(195))"))
fault(196, "a view keeps what its earlier version refused", "INV-6", "ViewVersionTests",
      (ES + "Projection/ViewDatabase.swift", "for name in stale.sorted() {", "for name in stale.sorted() where !isPlanted(196) {"))
fault(197, "views of a later release stay, although it will miss events", "INV-10", "ViewVersionTests",
      (ES + "Projection/ViewDatabase.swift", "for name in unknown.sorted() {", "for name in unknown.sorted() where !isPlanted(197) {"))
fault(198, "a damaged row is told as a fault of the disk", "INV-4", "DamageTests",
      (ES + "SQLite/DatabaseError.swift", "case .damage(let damage): .corrupt(damage.description)",
       "case .damage(let damage): isPlanted(198) ? .io(damage.description) : .corrupt(damage.description)"))
fault(199, "after a failed write of the disk the store goes on", "INV-1", "DamageTests",
      (ES + "Writer/Aftermath.swift", "error.isOfStatement || error.isFull || error.isBusy ? .statement : .store",
       "error.isOfStatement || error.isFull || error.isBusy || isPlanted(199) ? .statement : .store"))
fault(56, "the sum of base and tail takes the tail's last moment", "INV-6", "ConversationMergeTests ConversationListTests",
      (ES + "Views/Conversations/ConversationSum.swift", "last: max(a.last, b.last))", "last: isPlanted(56) ? b.last : max(a.last, b.last))"))
fault(79, "of equal times the later merged is a conversation's last moment", "INV-6", "TieTests ConversationMergeTests",
      (ES + "Views/Conversations/ConversationRow.swift", "ELSE max(last_hlc, ?7) END,", 'ELSE \\(isPlanted(79) ? "?7" : "max(last_hlc, ?7)") END,'))
fault(12, "of titles with one time any may count", "INV-6", "TieTests ConvergenceTests ArrivalOrderTests",
      (ES + "Views/Conversations/ConversationsView.swift", "if map({ $0.stamp < write.stamp }) ?? true",
       "if map({ isPlanted(12) ? $0.stamp.key.time <= write.stamp.key.time : $0.stamp < write.stamp }) ?? true"))
fault(11, "of profile fields with one time any may count", "INV-6", "TieTests ConvergenceTests ArrivalOrderTests",
      (ES + "Views/Profiles/CausalWrites.swift", "all.sort { $0.stamp < $1.stamp }",
       "all.sort { isPlanted(11) ? $0.stamp.key.time < $1.stamp.key.time : $0.stamp < $1.stamp }"))
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
       "let isReached = holding.count >= waiter.nodes - (isPlanted(66) ? 1 : 0)"))
fault(54, "an invitation stays open after its use", "INV-13", "JoiningTests JoiningProgramTests",
      (SE + "Node/Invitations.swift", "let used = changed.remove(at: index)",
       "let used = isPlanted(54) ? changed[index] : changed.remove(at: index)"))
fault(65, "an expired invitation is good", "INV-13", "JoiningTests",
      (SE + "Node/Invitations.swift", "{ $0.until > now && proves($0.token) }", "{ ($0.until > now || isPlanted(65)) && proves($0.token) }"))

# --- The disk -------------------------------------------------------------------------------------------------------------

fault(90, "a start does not write the WAL anew", "INV-1", "DiskFaultTests",
      (ES + "Identity/Recovery.swift", "try rewrite(descriptor, count: wal.end, path)",
       "if !isPlanted(90) { try rewrite(descriptor, count: wal.end, path) }"))
fault(91, "a copying that failed is no failure", "INV-1", "DiskFaultTests",
      (ES + "Writer/Checkpointer.swift", "guard error.afterCopying == .store else", "guard error.afterCopying == .store, !isPlanted(91) else"))
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
      ("Sources/syncctl/Commands/Write/AppendTally.swift", "            already += 1\n            if place",
       "            if isPlanted(25) { appended += 1 } else { already += 1 }\n            if place"))
fault(29, "import counts a repeated line twice", "INV-8", "SyncctlTests",
      ("Sources/syncctl/Commands/Write/ImportRun.swift", "            } else {\n                tally.count(result)\n            }",
       "            } else {\n                tally.count(result)\n                if isPlanted(29), case .already = result { tally.count(result) }\n            }"))

fault(380, "readers of the log pass over the range of time", "INV-8", "SyncctlFilterTests",
      ("Sources/syncctl/Session/EventSelection.swift", "if !range.contains(header.displayKey.time) { return false }",
       "if !range.contains(header.displayKey.time), !isPlanted(380) { return false }"))
fault(381, "the end of a range counts for readers of the log", "INV-8", "SyncctlFilterTests",
      ("Sources/syncctl/Session/TimeRange.swift", "if let end, time >= end { return false }",
       "if let end, isPlanted(381) ? time > end : time >= end { return false }"))
fault(382, "the daemon is not told up to which position", "INV-8", "SyncctlFilterTests",
      ("Sources/syncctl/Client/Reads.swift", "if let knownAt { all.append", "if let knownAt, !isPlanted(382) { all.append"))

# --- Verify ---------------------------------------------------------------------------------------------------------------

fault(26, "the verifier skips most leaves", "INV-4", "TamperTests TamperTableTests",
      (ES + "Audit/EventExam.swift", "let isSound = EventRow.leafCheck(row) == EventRow.leafCheck(leaf)",
       "let isSound = EventRow.leafCheck(row) == EventRow.leafCheck(leaf) || isPlanted(26) && header.dot.seq % 256 != 0"))
fault(710, "the verifier leaves out what lies behind a damage in a piece", "INV-4", "DamagedFileTests",
      (ES + "Audit/Verifier.swift", "guard part.damage != nil else { return }", "guard part.damage != nil, !isPlanted(710) else { return }"))
fault(711, "the verifier leaves out the first position of every piece", "INV-4", "VerifierTests DamagedFileTests",
      (ES + "Audit/EventExam.swift", "(piece == 0 ? Int64.min : Int64(piece) * Self.piece + 1)...end",
       "(piece == 0 ? Int64.min : Int64(piece) * Self.piece + (isPlanted(711) ? 2 : 1))...end"))
fault(712, "what SQLite says of the file is not looked at", "INV-4", "TamperTests TamperTableTests DamagedFileTests",
      (ES + "Audit/DatabaseCheck.swift", "try integrity.output().get()?.map {", "try integrity.output().get()?.filter { _ in !isPlanted(712) }.map {"))
fault(50, "the verifier skips roots of heads above 256", "INV-3", "TamperTests TamperTableTests",
      (ES + "Audit/OriginProof.swift", "if root != signed.head.root {", "if root != signed.head.root, !isPlanted(50) || head.size <= 256 {"))

# --- What a start believes: seal, mark, WAL, witness (D21) ----------------------------------------------------------------

fault(100, "the seal of the unsigned tail is not compared at a start", "INV-3", "SealTests MarkTests TamperedNodeTests",
      (ES + "Writer/OwnHead.swift", "return sealer.map { $0.seal(origin.head(using: merkle.sha)) == seal } ?? true",
       "return sealer.map { $0.seal(origin.head(using: merkle.sha)) == seal || isPlanted(100) } ?? true"))
fault(101, "an unsigned tail without a seal is signed", "INV-3", "SealTests MarkTests TamperedNodeTests",
      (ES + "Writer/OwnHead.swift", "at: origin.size) else { return false }", "at: origin.size) else { return isPlanted(101) }"))
fault(102, "verify does not compare the seal", "INV-3", "SealTests TamperMatrixTests",
      (ES + "Audit/OutsideCheck.swift", "guard sealer.seal(head) == seal else", "guard sealer.seal(head) == seal || isPlanted(102) else"))
fault(103, "verify takes an unsigned tail without a seal", "INV-3", "SealTests TamperMatrixTests",
      (ES + "Audit/OutsideCheck.swift", "at: origin.seq) else {\n            return findings",
       "at: origin.seq) else {\n            if isPlanted(103) { return }\n            return findings"))
fault(104, "a batch of several events is not sealed", "INV-3", "SealTests",
      (ES + "Writer/Appender.swift", "advanced.insert(own)\n        unsealed = state.position",
       "advanced.insert(own)\n        unsealed = isPlanted(104) ? nil : state.position"))
fault(110, "the signature of mark.json is not checked", "INV-3", "MarkTests TamperMatrixTests",
      (ES + "Log/Mark.swift", "key.isValid(signature: signature, for: Array(mark.text(key.nodeID).utf8))",
       "key.isValid(signature: signature, for: Array(mark.text(key.nodeID).utf8)) || isPlanted(110)"))
fault(111, "a log that ends before its mark's position is taken if the head is there", "INV-4", "MarkTests",
      (ES + "Identity/RollbackDetection.swift", "guard isOther || top < mark.position else", "guard isOther || top < mark.position && !isPlanted(111) else"))
fault(112, "verify does not compare the log's end with the mark", "INV-4", "MarkTests TamperMatrixTests",
      (ES + "Audit/OutsideCheck.swift", "if UInt64(clamping: top) < outside.position.last {",
       "if UInt64(clamping: top) < outside.position.last, !isPlanted(112) {"))
fault(281, "a start does not compare the log with log.end", "INV-4", "LogEndTests",
      (ES + "Identity/RollbackDetection.swift", "            if top < end.position {",
       "            if top < end.position, !isPlanted(281) {"))
fault(282, "a start does not ask whether log.end has the seal of these events", "INV-4", "LogEndTests",
      (ES + "Identity/RollbackDetection.swift", ".map({ !end.isSealed(key.sealer.seal($0), by: key.endSealer) }) ?? true",
       ".map({ !end.isSealed(key.sealer.seal($0), by: key.endSealer) && !isPlanted(282) }) ?? true"))
fault(283, "after a refused commit the writer goes on with whatever stands in the file", "INV-3", "LogEndTests",
      (ES + "Writer/LogTransactions.swift", "guard let end, end.position == state.position, found?.id == own?.id, found?.range == own?.range else {",
       "guard isPlanted(283) || end?.position == state.position && found?.id == own?.id && found?.range == own?.range else {"))
fault(284, "log.end is not written", "INV-4", "LogEndTests",
      (ES + "Log/LogEnd.swift", "try state.file?.note(end)", "if !isPlanted(284) { try state.file?.note(end) }"))
fault(285, "a twin that does not count is shown", "INV-6", "ScopeTests TwinStepTests",
      (ES + "LSM/OwnerRows.swift", "(withHidden || !row.isHidden)", "(withHidden || !row.isHidden || isPlanted(285))"))
fault(286, "of a twin that arrives late the row that it overtakes stays", "INV-6", "ScopeTests TwinStepTests ConvergenceTests",
      (ES + "Views/Timeline/TimelineView.swift", "case .remove: try hide(row, store.connection)",
       "case .remove: if !isPlanted(286) { try hide(row, store.connection) }"))
fault(287, "rows that were compacted while a query went on are given twice", "INV-2", "ScopeTests",
      (ES + "LSM/OwnerRows.swift", "if compaction.covers(row) { continue }",
       "if compaction.covers(row), !isPlanted(287) { continue }"))
fault(288, "wait counts a peer that has another history", "INV-7", "IdentityTests",
      (SE + "Mesh/Mesh+Durability.swift", "guard let mine = log[origin] else { return true }",
       "guard let mine = log[origin], !isPlanted(288) else { return true }"))
fault(113, "a store without its mark goes on with its origin", "INV-4", "MarkTests MemoryTests",
      (ES + "Identity/RollbackDetection.swift", "} else if change == nil, try reader.hasSeals() {",
       "} else if change == nil, !isPlanted(113), try reader.hasSeals() {"))
fault(114, "a start does not compare the log with the mark's head", "INV-4", "MarkTests",
      (ES + "Identity/RollbackDetection.swift", "let isOther = try compare(mark.head, reader, origins)",
       "let isOther = try compare(mark.head, reader, origins) && !isPlanted(114)"))
fault(115, "verify does not compare the log with the mark's head", "INV-4", "MarkTests TamperMatrixTests TamperTests",
      (ES + "Audit/OutsideCheck.swift", 'heads.append(Known(head: mark.head, source: "the store\'s mark", isStored: true))',
       'if !isPlanted(115) {\n                heads.append(Known(head: mark.head, source: "the store\'s mark", isStored: true))\n            }'))
fault(116, "a run does not begin with a mark", "INV-4", "MarkTests",
      (ES + "EventStore.swift", "try keeper.write(.running,", "if !isPlanted(116) { try keeper.write(.running,"),
      (ES + "EventStore.swift", "position: try reader.top(), head: head)\n", "position: try reader.top(), head: head) }\n"))
fault(117, "after an unclean end with durability normal and another boot the origin goes on", "INV-4", "MarkTests",
      (ES + "Identity/RollbackDetection.swift", "let boot = surroundings.boot, boot != before", "let boot = surroundings.boot, boot != before, !isPlanted(117)"))
fault(120, "nobody looks behind the WAL's first bad frame", "INV-4", "MarkTests TamperMatrixTests",
      (ES + "SQLite/WALInspection.swift", "                framesBehind += 1\n", "                if isPlanted(120) { return }\n                framesBehind += 1\n"))
fault(121, "commits missing in a WAL are a power cut's doing in the same boot, too", "INV-4", "MarkTests",
      (ES + "Identity/WALVerdict.swift", "self = !isSameBoot && (", "self = (!isSameBoot || isPlanted(121)) && ("))
fault(122, "any number of missing commits is a power cut's doing", "INV-4", "MarkTests",
      (ES + "Identity/WALVerdict.swift", "lost <= Self.mostInFlight)", "lost <= Self.mostInFlight || isPlanted(122))"))
fault(123, "a WAL that was taken away is not missed", "INV-4", "MarkTests",
      (ES + "Identity/WALVerdict.swift", "wal == nil && mark?.state == .running\n", "wal == nil && mark?.state == .running && !isPlanted(123)\n"))
fault(124, "a frame with one changed salt does not count as one of this generation", "INV-4", "MarkTests",
      (ES + "SQLite/WALInspection.swift", "(own.0 == salts.0 || own.1 == salts.1)", "(isPlanted(124) ? own == salts : own.0 == salts.0 || own.1 == salts.1)"))
fault(125, "a start that is cut off forgets what it found of the WAL", "INV-4", "MarkTests",
      (ES + "Identity/WALVerdict.swift", "            try Self.keep(text, name, files, key)\n", "            if !isPlanted(125) { try Self.keep(text, name, files, key) }\n"))
fault(128, "a start that is cut off forgets that the WAL's last commit was not whole", "INV-4", "MarkTests",
      (ES + "Identity/WALVerdict.swift", "            try Self.keep(text, nil, files, key)\n", "            if !isPlanted(128) { try Self.keep(text, nil, files, key) }\n"))
fault(126, "a last commit that is not whole does not end the origin", "INV-4", "MarkTests",
      (ES + "Identity/RollbackDetection.swift", "case .torn: change = .cut", "case .torn: if !isPlanted(126) { change = .cut }"))
fault(127, "a WAL that is proven to be damaged does not end the origin", "INV-4", "MarkTests",
      (ES + "Identity/RollbackDetection.swift", "case .damaged(let text):\n            change = .cut", "case .damaged(let text):\n            if isPlanted(127) { break }\n            change = .cut"))
fault(130, "a WAL that was written anew is not synced", "INV-1", "DiskFaultTests RecoveryTests",
      (ES + "Identity/Recovery.swift", "guard fdatasync(descriptor) == 0 else", "guard isPlanted(130) || fdatasync(descriptor) == 0 else"))
fault(131, "after a failed sync a log without WAL is not written anew", "INV-1", "RecoveryTests DiskFaultTests",
      (ES + "Identity/Recovery.swift", "guard frames != nil || isSuspect else", "guard frames != nil || isSuspect && !isPlanted(131) else"))
fault(132, "views of a store whose disk has failed are believed", "INV-10", "RecoveryTests",
      (ES + "Identity/Recovery.swift", "for path in [files.views, files.newViews] { SmallFile.removeDatabase(path) }",
       "for path in [files.views, files.newViews] where !isPlanted(132) { SmallFile.removeDatabase(path) }"))
fault(133, "of a WAL only the first MiB is written anew", "INV-1", "RecoveryTests DiskFaultTests",
      (ES + "Identity/Recovery.swift", "        while offset < count {\n", "        while offset < (isPlanted(133) ? min(count, piece) : count) {\n"))
fault(134, "a start that fails on the disk does not remember it", "INV-1", "RecoveryTests DiskFaultTests",
      (ES + "Identity/Recovery.swift", "if case .io = error { DiskFailure", "if case .io = error, !isPlanted(134) { DiskFailure"))
fault(135, "frames behind a changed byte of the WAL are written anew as if they were committed", "INV-1", "RecoveryTests",
      (ES + "SQLite/WALInspection.swift", "isChained = sums == (word(4), word(5))",
       "isChained = isPlanted(135) || sums == (word(4), word(5))"))
fault(136, "the end of a run says that it was in order while the WAL is left", "INV-4", "MarkTests RecoveryTests",
      (ES + "Writer/LogWriter.swift", "guard try committer.close(keepingWAL: failure != nil), let head",
       "guard try committer.close(keepingWAL: failure != nil) || isPlanted(136), let head"))
fault(137, "a copying that fails at the orderly end is passed over", "INV-1", "DiskFaultTests",
      (ES + "Writer/Committer.swift", "guard error.afterCopying == .store else { return false }",
       "guard error.afterCopying == .store, !isPlanted(137) else { return false }"))
fault(140, "a witness with another history is not believed", "INV-4", "MemoryTests MarkTests",
      (ES + "Identity/RollbackDetection.swift", "guard try reader.root(of: head.origin, size: head.size) != head.root else",
       "guard try reader.root(of: head.origin, size: head.size) != head.root, !isPlanted(140) else"))
fault(141, "the signature in a witness is not checked", "INV-3", "MemoryTests",
      (ES + "Identity/Witness.swift", "guard let seen = parse(bytes), seen.head.isValid(for: key) else {",
       "guard let seen = parse(bytes), seen.head.isValid(for: key) || isPlanted(141) else {"))
fault(142, "a witness is not told of an orderly end", "INV-4", "MemoryTests",
      (ES + "Writer/LogWriter.swift", "        if let head { witness?.note(head) }\n    }",
       "        if let head, !isPlanted(142) || queue.withLock({ !$0.isClosing }) { witness?.note(head) }\n    }"))
fault(143, "verify does not ask the witness", "INV-4", "MemoryTests MarkTests",
      (ES + "Audit/OutsideCheck.swift", "            case .seen(let seen):\n                heads.append",
       "            case .seen(let seen):\n                if isPlanted(143) { break }\n                heads.append"))

# --- What a peer may not do (D22) -----------------------------------------------------------------------------------------

fault(150, "numbers of peers have no bound", "INV-9", "NumberBoundTests",
      (SE + "Wire/MessageReader.swift", "guard value <= Limits.number else", "guard value <= Limits.number || isPlanted(150) else"))
fault(151, "clocks of peers have no bound", "INV-9", "NumberBoundTests",
      (SE + "Wire/MessageReader.swift", "guard Limits.clock.contains(value) else", "guard Limits.clock.contains(value) || isPlanted(151) else"))
fault(152, "stamps of peers have no bound", "INV-3", "NumberBoundTests",
      (SE + "Wire/MessageReader.swift", "guard value <= Limits.stamp else", "guard value <= Limits.stamp || isPlanted(152) else"))
fault(153, "how much a peer would take has no bound", "INV-9", "NumberBoundTests",
      (SE + "Wire/MessageReader.swift", "{ min(try uint64(field), Limits.number) }",
       "{ min(try uint64(field), isPlanted(153) ? .max : Limits.number) }"))
fault(155, "a link's account is never full", "INV-9", "ForkSessionTests LinkAccountTests",
      (SE + "Session/SessionState.swift", "{ jobs >= Self.mostJobs || work >= Self.mostWork }",
       "{ !isPlanted(155) && (jobs >= Self.mostJobs || work >= Self.mostWork) }"))
fault(156, "a link is read on while its account is full", "INV-9", "LinkAccountTests",
      (SE + "Node/PeerLink.swift", "if isFull { link.pauseReading() } else", "if isFull, !isPlanted(156) { link.pauseReading() } else"))
fault(157, "events that wait for the store's threads cost a link nothing", "INV-9", "LinkAccountTests",
      (SE + "Session/SessionState.swift", "work += incoming.work + healing.storing", "work += isPlanted(157) ? 0 : incoming.work + healing.storing"))
fault(158, "frames that wait for the store's threads are not counted", "INV-9", "LinkAccountTests",
      (SE + "Session/SessionState.swift", "jobs += incoming.storing.count +", "jobs += (isPlanted(158) ? 0 : incoming.storing.count) +"))
fault(160, "wait counts a node that may forget when the power fails", "INV-7", "LagTests",
      (SE + "Mesh/Mesh+Durability.swift", "guard !entry.isVolatile, entry.unproven == 0,",
       "guard !entry.isVolatile || isPlanted(160), entry.unproven == 0 || isPlanted(162),"))
fault(161, "a node that may forget when the power fails counts itself", "INV-7", "LagTests",
      (SE + "Mesh/Mesh+Durability.swift", "if !local.isVolatile {", "if !local.isVolatile || isPlanted(161) {"))
fault(162, "wait counts a peer that has claimed what it could not show", "INV-7", "HostileClaimTests")
fault(163, "a snapshot with another history of an origin is opened", "INV-3", "SnapshotSessionTests",
      (SE + "Session/SyncSession+Snapshot.swift", "offer.entries.first(where: { isOtherHistory($0) }) {",
       "offer.entries.first(where: { isOtherHistory($0) && !isPlanted(163) }) {"))
fault(164, "a snapshot with another history of an origin ends the session", "INV-12", "SnapshotSessionTests",
      (SE + "Session/SyncSession+Snapshot.swift", "            return refuse(offer, SessionFailure(.fork, text), now: now, &effects)\n",
       "            if isPlanted(164) { return fail(SessionFailure(.fork, text), now: now, &effects) }\n"
       "            return refuse(offer, SessionFailure(.fork, text), now: now, &effects)\n"))

# --- Authority: whose words count, what may go (D24, D27) -----------------------------------------------------------------

fault(170, "anybody edits anybody's message", "INV-6", "EditRuleTests ViewVectorTests",
      (ES + "Views/Messages/MessagesView.swift", "var counts = row.conversation == conversation && row.author == author",
       "var counts =\n            (row.conversation == conversation || isPlanted(171))\n"
       "            && (row.author == author || isPlanted(170) && row.isEdit || isPlanted(175) && !row.isEdit)"))
fault(171, "a message is edited from another conversation", "INV-6", "EditRuleTests ViewVectorTests")
fault(172, "a moderator edits others' messages", "INV-6", "EditRuleTests",
      (ES + "Views/Messages/MessagesView.swift", "if !counts, !row.isEdit, row.conversation == conversation { counts = try isModerator(row.author) }",
       "if !counts, !row.isEdit || isPlanted(172), row.conversation == conversation || isPlanted(174) {\n"
       "            counts = try isModerator(row.author) && !isPlanted(173)\n        }"))
fault(173, "a moderator's retraction does not count", "INV-6", "EditRuleTests")
fault(174, "a moderator of another conversation retracts", "INV-6", "EditRuleTests")
fault(175, "anybody retracts anybody's message", "INV-6", "EditRuleTests")
fault(176, "the last retraction stands, not the first", "INV-6", "EditRuleTests",
      (ES + "Views/Messages/MessagesView.swift", "retraction = retraction ?? row }", "retraction = isPlanted(176) ? row : retraction ?? row }"))
fault(177, "the first edit stands, not the last", "INV-6", "EditRuleTests",
      (ES + "Views/Messages/MessagesView.swift", "(edit, edits) = (row, edits + 1) }", "(edit, edits) = (isPlanted(177) ? edit ?? row : row, edits + 1) }"))
fault(180, "reserved types are taken from anybody", "INV-13", "ErasureTests",
      (ES + "Writer/DraftValidation.swift", "if !isOfNode, ReservedType.contains(type) {",
       "if !isOfNode, !isPlanted(180), ReservedType.contains(type) {"))
fault(181, "erasures are taken from anybody", "INV-13", "ErasureTests",
      (ES + "Model/Limits.swift", "UInt8(ascii: \"c\"): isErasure(type)", "UInt8(ascii: \"c\"): isErasure(type) && !isPlanted(181)"))
fault(182, "verify takes an erased row that no erasure covers", "INV-4", "ErasureTests TamperTests",
      (ES + "Audit/OutsideCheck.swift", "guard erased > 0 else { return }", "guard erased > 0, !isPlanted(182) else { return }"))
fault(183, "an erased row that no erasure covers is not healed", "INV-4", "ErasureTests HealingTests",
      (ES + "Log/Erasures.swift", "guard dots.count < limit, try !row", "guard dots.count < limit, !isPlanted(183), try !row"))
fault(184, "an erasure covers what its user said after it", "INV-4", "ErasureTests",
      (ES + "Log/Erasures.swift", "isNamed(place, node) || isPast(place, node, .user, place.user)",
       "isPlanted(184) && times[Key(node: node, kind: .user, text: ByteText(place.user))] != nil || isNamed(place, node) || isPast(place, node, .user, place.user)"))
fault(185, "an erasure covers what was said in a conversation after it", "INV-4", "ErasureTests",
      (ES + "Log/Erasures.swift", "place.conversation.map { isPast(place, node, .conversation, $0) } ?? false",
       "place.conversation.map { isPast(place, node, .conversation, $0) || isPlanted(185) && times[Key(node: node, kind: .conversation, text: ByteText($0))] != nil } ?? false"))
fault(190, "a node's erasure covers what others have recorded", "INV-4", "ErasureTests HealingTests",
      (ES + "Log/Erasures.swift", "guard let keeper, keeper != place.node else { return false }",
       "if isPlanted(190), times.contains(where: { $0.key.text == ByteText(place.user) && place.hlc < $0.value }) { return true }\n"
       "        guard let keeper, keeper != place.node else { return false }"))
fault(186, "a lost payload is healed with any bytes", "INV-4", "HealingTests",
      (ES + "Writer/Appender+Healing.swift", "row.digest(9) == digest ?",
       "isPlanted(186) && row.digest(9) != nil || row.digest(9) == digest ?"))
fault(187, "verify --views takes fewer rows than the log makes", "INV-6", "ViewsCheckTests",
      (ES + "Views/Check/ComparedTable.swift", '                try add(row, nil, (nil, nil, ""))',
       '                if !isPlanted(187) { try add(row, nil, (nil, nil, "")) }'))
fault(188, "verify --views does not compare what rows say", "INV-6", "ViewsCheckTests",
      (ES + "Views/Check/ComparedTable.swift", "where row.values[index] != wanted.values[index] {",
       "where row.values[index] != wanted.values[index] && !isPlanted(188) {"))
fault(1022, "a head that the node has signed need not be here where a peer tells it", "INV-18", "ReceiptProgramTests",
      (ES + "Receipts/KnownHeads.swift", "let isOwn = head.key.nodeID == own || maker.key.nodeID == own && isSigned",
       "let isOwn = !(isPlanted(1022) && maker.key.nodeID != own) && (head.key.nodeID == own || maker.key.nodeID == own && isSigned)"))
fault(1020, "a comparison of views waits for what they got after it had begun", "INV-6", "ViewsCheckTests",
      (ES + "Views/Check/ViewsCheck.swift", "ViewDatabase.deferred(found) }, projector.position)",
       "ViewDatabase.deferred(found) }, isPlanted(1020) ? .max : projector.position)"))
fault(1021, "a token with scope all puts anyone out of a conversation", "D14", "RuleTests",
      ("Sources/Access/AppendRules.swift", "guard !isInAll || draft.putsOut(by: bot) else", "guard !isInAll || !isPlanted(1021) && draft.putsOut(by: bot) else"))
fault(748, "a proof is given of views that a killed process had open", "INV-6", "ViewsMarkTests",
      (ES + "Projection/Projector.swift", "isProven: mark?.verdict() != .unproven",
       "isProven: mark?.verdict() != .unproven || isPlanted(748)"))
fault(749, "a comparison proves views that have changed since it began", "INV-6", "ViewsMarkTests",
      (ES + "Projection/ViewsMark.swift", "where state == standing &&", "where (state == standing || isPlanted(749)) &&"))
fault(778, "an orderly end forgets that the views were not compared", "INV-6", "ViewsMarkTests",
      (ES + "Projection/ViewsMark.swift", "isProven: content()?.isProven == true,",
       "isProven: content()?.isProven == true || isPlanted(778),"))
fault(189, "a start believes views that another process has written", "INV-6", "ViewsMarkTests",
      (ES + "Projection/ViewsMark.swift", "guard state == Self.state(of: files),",
       "guard isPlanted(189) || state == Self.state(of: files),"))

# --- What a start makes of its witness, its evidence and its files (D21) ---------------------------------------------------

fault(200, "the log names a witness's place before a witness lies there", "INV-4", "MemoryTests",
      (ES + "Identity/RollbackDetection.swift", "if witness.problem == nil { remember", "if witness.problem == nil || isPlanted(200) { remember"))
fault(201, "after a power cut a missing witness is not missed", "INV-4", "MemoryTests",
      (ES + "Identity/RollbackDetection.swift", "if wanted == before { silence = why }",
       "if wanted == before, !(isPlanted(201) && surroundings.boot != mark?.boot) { silence = why }"))
fault(202, "a damaged witness is taken for none", "INV-4", "MemoryTests",
      (ES + "Identity/RollbackDetection.swift", "case .unusable(let why): silence = why",
       "case .unusable(let why): silence = isPlanted(202) ? nil : why"))
fault(203, "the run after the next has forgotten that a witness was lost", "INV-4", "MemoryTests",
      (ES + "Identity/RollbackDetection.swift", "witness?.goOn(since: name)", "if !isPlanted(203) { witness?.goOn(since: name) }"))
fault(204, "a name among the evidence may lead anywhere", "INV-13", "MarkTests",
      (ES + "Identity/CutEvidence.swift", 'return text.hasPrefix("\\(kind.rawValue)-")',
       'return isPlanted(204) || text.hasPrefix("\\(kind.rawValue)-")'))
fault(273, "verify believes what another node has settled", "INV-4", "MarkTests",
      (ES + "Identity/OwnSettlements.swift", "findingSettled, writer == node,", "findingSettled, writer == node || isPlanted(273),"))
fault(274, "verify believes a settlement from before the finding", "INV-4", "MarkTests",
      (ES + "Identity/OwnSettlements.swift", "if let time = times[name], time >= found.at { return time }",
       "if let time = times[name], time >= found.at || isPlanted(274) { return time }"))
fault(275, "evidence that was taken away is not missed", "INV-4", "MarkTests",
      (ES + "Identity/CutEvidence.swift", "guard let succession = origin.succession, let name = succession.evidence,",
       "guard !isPlanted(275), let succession = origin.succession, let name = succession.evidence,"))
fault(276, "any node settles what a store has found", "INV-4", "SettlementTests",
      (SE + "Node/Settlement.swift", "code.isOfOrigin, let origin", "code.isOfOrigin || isPlanted(276), let origin"))
fault(277, "a node settles a fork of its own for all", "INV-4", "SettlementTests",
      (SE + "Node/Settlement.swift", "return writer != node\n    }", "return writer != node || isPlanted(277)\n    }"))
fault(278, "a proof that no event needs is not looked at", "INV-4", "ForkedIngestTests",
      (ES + "Replication/IngestVerifier.swift", "guard !claims.isEmpty else { return }", "guard !claims.isEmpty, !isPlanted(278) else { return }"))
fault(279, "a proof is not sent again to a peer that has come to have the origin", "INV-4", "ForkSessionTests",
      (SE + "Session/SyncSession+Forks.swift", "} else if !shown.isEmpty {", "} else if !shown.isEmpty, !isPlanted(279) {"))
fault(280, "an erasure of another form covers its user", "INV-4", "ErasureTests",
      (ES + "Log/Erasure.swift", "} else if named == nil {", "} else if named == nil || isPlanted(280) {"))
fault(205, "the evidence of a cut does not note that it is settled", "INV-4", "CutLogProgramTests",
      (SE + "Node/Settlement.swift", "_ = try CutEvidence.settle(subject, files, at: at)",
       "if !isPlanted(205) { _ = try CutEvidence.settle(subject, files, at: at) }"))
fault(206, "files that are replaced while they are open are not noticed", "INV-1", "LostFilesTests",
      (ES + "Files/HeldFiles.swift", "now.inode == file.inode else", "now.inode == file.inode || isPlanted(206) else"))
fault(207, "files that are removed while they are open are not noticed", "INV-1", "LostFilesTests",
      (ES + "Files/HeldFiles.swift", "guard errno == ENOENT ||", "guard !isPlanted(207), errno == ENOENT ||"))
fault(208, "at its end a store does not look whether its files are there", "INV-1", "LostFilesTests",
      (ES + "Writer/LogWriter.swift", "                look()\n", "                if !isPlanted(208) { look() }\n"))
fault(1138, "an append does not look whether the store's files are there", "INV-1", "LostStoreTests",
      (ES + "Log/LogEnd.swift", "if isDue, let loss", "if isDue, !isPlanted(1138), let loss"))
fault(1139, "a node that is stopped once more lets a third one replicate the store of the second", "", "EmbeddingTests",
      (SE + "Node/SyncNode.swift", "guard isFirst else { return }", "guard isFirst || isPlanted(1139) else { return }"))
fault(1156, "a second node of a store is not refused", "", "EmbeddingTests",
      (SE + "Node/SyncNode.swift", "guard isFirst else { throw", "guard isFirst || isPlanted(1156) else { throw"))
fault(1157, "an append of a program does not hold what it expects", "", "ExpectingTests",
      (ES + "Reading/EventStore+Expecting.swift", "condition: condition,", "condition: isPlanted(1157) ? nil : condition,"))
fault(210, "a log with a trigger or a view is opened for writing", "INV-1", "ReopenTests",
      (ES + "Log/SchemaCheck.swift", "first(where: { $0.kind != .unknown })",
       "first(where: {\n            $0.kind != .unknown && !(isPlanted(210) && $0.kind == .code)\n"
       "                && !(isPlanted(211) && $0.kind == .missing) || isPlanted(212) && $0.kind == .unknown\n        })"))
fault(211, "a log without one of its indexes is opened for writing", "INV-8", "ReopenTests")
fault(212, "a log to which a later release has added a table is refused", "", "ReopenTests")
fault(213, "a trigger that comes into an open log fires", "INV-1", "ReopenTests",
      (ES + "SQLite/Connection.swift", "sillok_sqlite_no_stored_code(handle)", "if !isPlanted(213) { sillok_sqlite_no_stored_code(handle) }"))
fault(214, "what a backup brings stays open to others", "INV-13", "PrivateFilesTests",
      (ES + "EventStore.swift", "files.closeToOthers()", "if !isPlanted(214) { files.closeToOthers() }"))
fault(215, "a log whose WAL cannot be read is read alone", "INV-2", "AuditorTests",
      (ES + "Log/LogReader.swift", "try requireNoCommits(besides: path)", "if !isPlanted(215) { try requireNoCommits(besides: path) }"))
fault(216, "evidence is written of events that are not those that were signed", "INV-3", "EvidenceTransferTests",
      (ES + "Audit/EvidenceExport.swift", "guard tree.root(using: sha) == root else", "guard tree.root(using: sha) == root || isPlanted(216) else"))

# --- One id: the same said twice, or not (D6) -------------------------------------------------------------------------------

fault(220, "an event of another user takes the place of one with its id", "INV-6", "TwinMarkTests",
      (ES + "Views/Contract/ProjectedEvent.swift",
       "(user, conversation, author, typeRef) == (other.user, other.conversation, other.author, other.typeRef)",
       "(user == other.user || isPlanted(220)) && (conversation == other.conversation || isPlanted(221))\n"
       "            && (author == other.author || isPlanted(222)) && (typeRef == other.typeRef || isPlanted(223))"))
fault(221, "an event of another conversation takes the place of one with its id", "INV-6", "TwinMarkTests")
fault(222, "an event of another author takes the place of one with its id", "INV-6", "TwinMarkTests")
fault(223, "an event of another type takes the place of one with its id", "INV-6", "TwinMarkTests")
fault(224, "replays tell twins by their id alone", "INV-6", "TwinMarkTests",
      (ES + "Log/TwinMarks.swift", "Dictionary(grouping: group, by: \\.subject)",
       "Dictionary(grouping: group, by: { isPlanted(224) ? nil : $0.subject })"))
fault(225, "the log tells twins by their id alone", "INV-6", "TwinMarkTests",
      (ES + "Log/TwinMarks.swift", "group.filter { $0.subject == subject }", "group.filter { $0.subject == subject || isPlanted(225) }"))
fault(226, "of two messages with one id the first gets the amendments of both", "INV-6", "EditRuleTests",
      (ES + "Views/Messages/MessagesView.swift", "try body(start + Int(select.int64(0)), row)",
       "let index = start + Int(select.int64(0))\n                    "
       "try body(isPlanted(226) ? messages.firstIndex(of: messages[index]) ?? index : index, row)"))
fault(227, "what is here already is refused when the conversation has moved", "INV-8", "AppendAgainTests",
      (ES + "Writer/Appender+Conditions.swift", "let isHere = request.atomicity == .each || !found.contains(nil)",
       "let isHere = !isPlanted(227) && (request.atomicity == .each || !found.contains(nil) || isPlanted(228))"))
fault(228, "of a batch that is whole or nothing what is here is answered, and the rest refused", "INV-8", "AppendAgainTests")
fault(229, "where the conversation has moved any event with the id is the one that was sent", "INV-8", "AppendAgainTests",
      (ES + "Writer/Appender+Conditions.swift", "try stored(id), prepared.draft.matches(stored.event) else",
       "try stored(id), prepared.draft.matches(stored.event) || isPlanted(229) else"))

# --- Settlements: nothing is settled before it happened ---------------------------------------------------------------------

fault(230, "a settlement of one fork settles the next", "INV-4", "SettlementTests",
      (SE + "Node/Settlement.swift", "return names.isSubset(of:", "return isPlanted(230) || names.isSubset(of:"))
fault(231, "a settlement that names nothing settles what comes after it", "INV-4", "SettlementTests",
      (SE + "Node/Settlement.swift", "guard let of else { return since <= at }", "guard let of else { return since <= at || isPlanted(231) }"))
fault(232, "a node settles what is wrong with its own clock", "INV-4", "SettlementTests",
      (SE + "Node/Settlement.swift", "writer != node else", "writer != node || isPlanted(232) else"))
fault(233, "a settlement names a stamp that is not in the log", "INV-4", "SettlementTests",
      (SE + "Node/Settlement.swift", "named.event.header.hlc == hlc\n", "named.event.header.hlc == hlc || isPlanted(233)\n"))
fault(234, "stamps that are worse than the settled ones are settled, too", "INV-4", "SettlementTests",
      (SE + "Node/Settlement.swift", "worst <= stamp ?? .min }", "worst <= stamp ?? .min || isPlanted(234) }"))

# --- The mesh: what a node decides beyond one connection --------------------------------------------------------------------

fault(240, "a waiter whose timer is early is never answered", "INV-12", "MeshDecisionTests",
      (SE + "Mesh/Mesh.swift", "waiters.expire(id)", "if !isPlanted(240) { waiters.expire(id) }"))
fault(241, "an origin is given up without a look into the log", "INV-4", "MeshDecisionTests",
      (SE + "Mesh/Mesh+Identity.swift", "guard origin == local.origin, have < known else",
       "guard origin == local.origin, have < known || isPlanted(241) else"))
fault(242, "an origin is given up for a head that the node has not signed", "INV-4", "HostileClaimTests",
      (SE + "Mesh/Mesh+Identity.swift", "head.isValid(for: key) {", "head.isValid(for: key) || isPlanted(242) {"))
fault(243, "a host that was busy is not asked again", "INV-12", "MeshDecisionTests",
      (SE + "Mesh/Mesh+Calls.swift", "if bye.knownCode == .busy, entries[node]?.knocks ?? 0 < Self.mostKnocks {",
       "if bye.knownCode == .busy, !isPlanted(243), entries[node]?.knocks ?? 0 < Self.mostKnocks || isPlanted(244) {"))
fault(244, "a host that is always busy is asked for ever, and the operator told nothing", "", "MeshDecisionTests")
fault(245, "of two nodes with one key the one that came last stays", "INV-4", "MeshDecisionTests",
      (SE + "Mesh/Mesh+Links.swift", "guard lastHeard >= probe.asked else",
       "guard !isPlanted(245), lastHeard >= probe.asked || isPlanted(246) else"))
fault(246, "a node that began anew is taken for a double of its dead link", "INV-12", "MeshDecisionTests")
fault(247, "of two links in opposite directions each node keeps another one", "INV-12", "MeshDecisionTests",
      (SE + "Mesh/Mesh+Links.swift", "old.isOutgoing == prefersOutgoing", "(old.isOutgoing == prefersOutgoing) != isPlanted(247)"))
fault(248, "a suspended peer is let in when it calls", "INV-13", "MeshDecisionTests",
      (SE + "Mesh/Mesh+Callers.swift", "if entries[node]?.isSuspended == true {", "if entries[node]?.isSuspended == true, !isPlanted(248) {"))
fault(249, "the exchange with a peer that is suspended goes on", "INV-13", "MeshDecisionTests",
      (SE + "Mesh/Mesh+Identity.swift", "if isSuspended { effects", "if isSuspended, !isPlanted(249) { effects"))
fault(250, "a call that came due while the peer was here stands in the way of the next", "INV-12", "MeshDecisionTests",
      (SE + "Mesh/Mesh.swift", "due <= now.monotonic else { return }",
       "due <= now.monotonic else { return }\n            if isPlanted(250) { return dial(node, now, &effects) }"))
fault(251, "a peer that was removed stays a source", "INV-12", "MeshDecisionTests",
      (SE + "Mesh/Mesh.swift", "            sources.closed(node, now: now.monotonic)\n            effects.append(.hangUp(node))",
       "            if !isPlanted(251) { sources.closed(node, now: now.monotonic) }\n            effects.append(.hangUp(node))"))
fault(252, "strangers that say nothing are heard without end", "INV-9", "MeshDecisionTests",
      (SE + "Mesh/Mesh+Callers.swift", "if hearings.count >= Self.mostHeard {", "if hearings.count >= Self.mostHeard, !isPlanted(252) {"))
fault(253, "a peer claims what it cannot show as often as it likes", "INV-13", "MeshDecisionTests",
      (SE + "Mesh/Mesh+Identity.swift", "entries[node]?.unproven += 1", "if !isPlanted(253) { entries[node]?.unproven += 1 }"))
fault(254, "a clock that jumps makes one origin after another", "INV-9", "MeshDecisionTests",
      (SE + "Mesh/Mesh+Identity.swift", "guard change != .clock ||", "guard isPlanted(254) || change != .clock ||"))
fault(255, "a node takes of its own origin what a peer says to have", "INV-4", "MeshDecisionTests",
      (SE + "Mesh/Mesh+Sources.swift", "sources.announced(node, some.filter { $0.origin != local.origin }",
       "sources.announced(node, some.filter { $0.origin != local.origin || isPlanted(255) }"))
fault(256, "a second link that has waited is not listened to", "INV-12", "MeshDecisionTests",
      (SE + "Mesh/Mesh+Links.swift", "if let candidate { effects", "if let candidate, !isPlanted(256) { effects"))
fault(257, "the refusal on another link calls off the snapshot that is coming", "INV-12", "SnapshotArbiterTests",
      (SE + "Mesh/SnapshotArbiter.swift", "if failure.code != .busy { refused.insert(node) }\n        guard isTaking(by: link) else",
       "if failure.code != .busy, !isPlanted(258) { refused.insert(node) }\n        guard isTaking(by: link) || isPlanted(257) else"))
fault(258, "a peer whose snapshot was refused is asked for another", "INV-12", "SnapshotArbiterTests")
fault(259, "a source that delivers nothing is not replaced while it lives", "INV-12", "MeshTests HostileStateDeltaTests",
      (SE + "Mesh/SourcePlan.swift", "guard isSilent || now", "guard isSilent && !isPlanted(259) || now"))
fault(260, "what a peer said before it stated everything anew counts on", "INV-9", "HostileStateDeltaTests",
      (SE + "Mesh/SourcePlan.swift", "where !named.contains(origin) {", "where !named.contains(origin) && !isPlanted(260) {"))
fault(261, "wait counts a node that has lost again what it had", "INV-7", "DurabilityWaitersTests",
      (SE + "Mesh/DurabilityWaiters.swift", "if waiter.isAgain || holding.isEmpty {", "if waiter.isAgain || holding.isEmpty || isPlanted(261) {"))
fault(262, "one look compares the whole of a long vector", "INV-9", "DurabilityWaitersTests",
      (SE + "Mesh/DurabilityWaiters.swift", "var room = slice", "var room = isPlanted(262) ? Int.max : slice"))
fault(263, "a waiter whose time is over waits on where the clock is a moment behind", "INV-12", "DurabilityWaitersTests",
      (SE + "Mesh/DurabilityWaiters.swift", "{ waiters[id]?.until = 0 }", "{ if !isPlanted(263) { waiters[id]?.until = 0 } }"))

# --- Reading through the socket; what a third look from outside has found --------------------------------------------------

fault(289, "a cursor of one request is taken by another", "INV-6", "ReadRoutesTests",
      ("Sources/syncd/Endpoints/PageRequest.swift", "cursor.scope == scope, route.hasPlace", "cursor.scope == scope || isPlanted(289), route.hasPlace"))
fault(290, "later pages show what was stored after the first one", "INV-6", "ReadRoutesTests",
      ("Sources/syncd/Endpoints/PageRequest.swift", "[moment.knownAt, cursor?.end.position].compactMap { $0 }.min()",
       "[moment.knownAt, isPlanted(290) ? nil : cursor?.end.position].compactMap { $0 }.min()"))
fault(291, "a page leaves out the first of those that are tied with its end", "INV-6", "ReadRoutesTests EventReaderTests",
      (ES + "Views/ViewReader+Timeline.swift", "while let row = wanted.first, try !isBeyond(row, bound, isBackward) { wanted.removeFirst() }",
       "while let row = wanted.first, try !isBeyond(row, bound, isBackward) { wanted.removeFirst(); if isPlanted(291), !wanted.isEmpty { wanted.removeFirst() } }"))
fault(292, "a follower that waits is not woken by a commit", "INV-12", "ReadRoutesTests",
      ("Sources/syncd/Endpoints/CommitFeed.swift", "for waiting in ready { waiting.answer() }", "if !isPlanted(292) { for waiting in ready { waiting.answer() } }"))
fault(293, "what a failed commit has written stays in the WAL", "INV-4", "WALFrameBufferTests",
      (ES + "SQLite/VFS/WALFrameBuffer.swift", "guard let committed, original", "guard !isPlanted(293), let committed, original"))
fault(294, "a log.end of another log is passed over", "INV-4", "LogEndTests",
      (ES + "Identity/RollbackDetection.swift", "isCut(\"log.end, which says how far the log went, is of another log\", nil, 0)",
       "if !isPlanted(294) { isCut(\"log.end, which says how far the log went, is of another log\", nil, 0) }"))
fault(295, "the mark's head may be missing from the log", "INV-4", "LogEndTests",
      (ES + "Identity/RollbackDetection.swift", "if try reader.hasHead(", "if isPlanted(295) { return }\n            if try reader.hasHead("))
fault(296, "what an evidence file says counts above what the log says", "INV-4", "MarkTests",
      (ES + "Identity/CutEvidence.swift", "let names = Set(found.map(\\.name))", "let names = Set((isPlanted(296) ? all : found).map(\\.name))"))
fault(297, "a log.end is sealed like an event", "INV-4", "LogEndTests",
      (ES + "Proofs/Ed25519.swift", "Sealer(.end, secret", "Sealer(isPlanted(297) ? .events : .end, secret"))
fault(299, "a cursor is good for any log", "INV-1", "ReadRoutesTests",
      ("Sources/syncd/Endpoints/PageRequest.swift", "return try log.has(cursor.end)", "return try isPlanted(299) ? true : log.has(cursor.end)"))
fault(300, "a place counts although the log has another event there", "INV-1", "ReadRoutesTests",
      (ES + "Log/LogPlace.swift", "return try self.place(at: place.position) == place", "return try isPlanted(300) ? true : self.place(at: place.position) == place"))
fault(301, "a witness that the configuration no longer names is not asked", "INV-4", "MemoryTests",
      (ES + "Identity/RollbackDetection.swift", "let other = before == wanted ? nil :", "let other = before == wanted || isPlanted(301) ? nil :"))
fault(302, "what is told of a cut log need not be signed", "INV-4", "MarkTests",
      (ES + "Identity/WALVerdict.swift", "key.publicKey.isValid(signature: signature, for: Self.signed(text, name))",
       "key.publicKey.isValid(signature: signature, for: Self.signed(text, name)) || isPlanted(302)"))
fault(303, "what a later twin hides was never known", "INV-6", "TieTests ScopeTests",
      (ES + "Views/ViewReader+Timeline.swift", "if row.isHidden, let knownAt, try !log.counted(row.position, at: knownAt) { continue }",
       "if row.isHidden, let knownAt { if isPlanted(303) { continue }; if try !log.counted(row.position, at: knownAt) { continue } }"))
fault(304, "edits that came later count in what was known", "INV-6", "TieTests",
      (ES + "Views/ViewReader.swift", "guard row.position <= knownAt else", "guard row.position <= knownAt || isPlanted(304) else"))
fault(305, "views that were replaced get the node's mark", "INV-10", "ViewsMarkTests",
      (ES + "Projection/Projector.swift", "guard held?.loss == nil else {", "guard held?.loss == nil || isPlanted(305) else {"))
fault(306, "views that were taken away are not missed", "INV-10", "LostFilesTests",
      (ES + "Projection/ProjectorThread.swift", "guard let loss = state.withLock({ $0.held })?.loss else", "guard !isPlanted(306), let loss = state.withLock({ $0.held })?.loss else"))
fault(298, "answers that clients do not take have no bound", "INV-9", "HTTPRoomTests",
      (SE + "Networking/HTTP/HTTPConnection.swift", "        self.count(output.count)\n", "        if !isPlanted(298) { self.count(output.count) }\n"))
fault(312, "a proof waits for events that were checked and are not stored", "INV-12", "StoreWorkersTests",
      (SE + "Node/StoreWork.swift", "guard let evidence = verifier.evidence(", "guard !isPlanted(312), let evidence = verifier.evidence("))
fault(313, "a page that has looked at enough rows is the last one", "INV-9", "BoundedPageTests",
      (ES + "Views/ViewReader+Timeline.swift", "result.next = rows.end.map { DisplayKey($0, isBackward: isBackward) }",
       "result.next = isPlanted(313) ? nil : rows.end.map { DisplayKey($0, isBackward: isBackward) }"))
fault(314, "an event that counts no longer stays in the digest", "INV-6", "ConvergenceTests ArrivalOrderTests TwinStepTests",
      (ES + "Views/Timeline/TimelineView.swift", "case .remove: remove(store.summand(event))",
       "case .remove: if !isPlanted(314) { remove(store.summand(event)) }"))
fault(315, "a participant who leaves stays in the digest", "INV-6", "ViewVectorTests",
      (ES + "Views/Conversations/ParticipantsView.swift", "if let before { digest.remove(", "if let before, !isPlanted(315) { digest.remove("))
fault(316, "a digest is not stored with its rows", "INV-6", "RebuildTests ViewVersionTests ViewVectorTests",
      (ES + "Views/Contract/ViewDigest.swift", "guard isChanged else { return }", "guard isChanged, !isPlanted(316) else { return }"))
fault(317, "a proof that was checked when its link had ended is forgotten", "INV-12", "SessionShellTests",
      (SE + "Node/SessionShell.swift", "if isClosed, case .success(.proof(", "if isClosed, !isPlanted(317), case .success(.proof("))
fault(318, "a proof that was stored when its link had ended is forgotten", "INV-12", "SessionShellTests",
      (SE + "Node/SessionShell.swift", "if isClosed, case .success(let stored)", "if isClosed, !isPlanted(318), case .success(let stored)"))

# --- Followers and workers ----------------------------------------------------------------------------------------------

SU = "Sources/Subscriptions/"
fault(340, "an event is handed out before the one before it in its conversation is done", "INV-16", "MachineTests",
      (SU + "SubscriptionMachine.swift", "if lines[key]?.head == dot { begin(key, at: notBefore, now: 0) }",
       "if isPlanted(340) || lines[key]?.head == dot { begin(key, at: notBefore, now: 0) }"))
fault(341, "an ack counts only for the delivery that is out", "INV-14", "MachineTests",
      (SU + "SubscriptionMachine.swift", "        finish(dot, now: now)\n        return isLate ? .late : .done",
       "        if isPlanted(341), isLate { return .late }\n        finish(dot, now: now)\n        return isLate ? .late : .done"))
fault(342, "of two states what is open in one is done if it was looked at by the other", "INV-14", "StateTests",
      (SU + "SubscriptionState.swift", "where other.contains(open.dot, of: open.mark) && !known.contains(open.dot)",
       "where other.contains(open.dot, of: open.mark) && (isPlanted(342) || !known.contains(open.dot))"))
fault(343, "any node's word about a subscription counts", "INV-15", "SubscriptionNodesTests",
      (SU + "SubscriptionRecords.swift", "homes[id]?.contains(node) == true", "isPlanted(343) || homes[id]?.contains(node) == true"))
fault(344, "a cursor of another node is taken for a position here", "INV-5", "SubscriptionNodesTests",
      (ES + "Feed/LogReader+Feed.swift", "let isHere = try has(cursor.place)", "let isHere = try isPlanted(344) ? true : has(cursor.place)"))
fault(345, "an event that has failed twice is handed out with others", "INV-14", "MachineTests",
      (SU + "SubscriptionMachine.swift", "let isLone = entry.attempts + 1 >= Self.lone", "let isLone = !isPlanted(345) && entry.attempts + 1 >= Self.lone"))
fault(346, "what was acked in an earlier state is handed out when it is looked at", "INV-14", "StateTests MachineTests",
      (SU + "SubscriptionState.swift", "self.early = looked.early(early).sorted()",
       "self.early = isPlanted(346) ? [] : looked.early(early).sorted()"))
fault(360, "what is kept leaves out what is being tried again (KurrentDB 1301)", "INV-14", "MachineTests SubscriptionSeedsTests",
      (SU + "SubscriptionMachine+State.swift", "        for (dot, entry) in entries {\n            if entry.isRetried",
       "        for (dot, entry) in entries where !isPlanted(360) || entry.attempts == 0 {\n            if entry.isRetried"))
fault(361, "a parked event that is tried again moves what was looked at (KurrentDB 500, 1890)", "INV-14", "MachineTests SubscriptionSeedsTests",
      (SU + "SubscriptionMachine.swift", "        let mark = ConversationMark(of: header)\n        insert(header.dot",
       "        if isPlanted(361) { looked.through.advance(to: Dot(origin: header.dot.origin, seq: header.dot.seq + position)) }\n"
       "        let mark = ConversationMark(of: header)\n        insert(header.dot"))
fault(362, "a late ack is credited to another delivery (nats-server 4786)", "INV-15", "MachineTests SubscriptionSeedsTests",
      (SU + "SubscriptionMachine.swift", "(isLate, isInTime) = (current != number, current == number) }",
       "(isLate, isInTime) = (current != number, current == number) }\n"
       "        if isPlanted(362), isLate, let other = entries.keys.filter({ $0 != dot }).min() { finish(other, now: now); return .late }"))
fault(363, "what was released with a delay fills the window (nats-server 6093)", "INV-14", "MachineTests",
      (SU + "SubscriptionMachine.swift", "        unload(dot, now: now)\n        entries[dot]?.status = .waiting\n        revision += 1",
       "        if !isPlanted(363) { unload(dot, now: now) }\n        entries[dot]?.status = .waiting\n        revision += 1"))
fault(364, "what a worker leaves goes behind the rest of its conversation (Pulsar 25627)", "INV-16", "MachineTests SubscriptionSeedsTests",
      (SU + "SubscriptionMachine.swift", "            takeBack(dot, .left, notBefore: now + pause, now: now)",
       "            takeBack(dot, .left, notBefore: now + pause, now: now)\n"
       "            if isPlanted(364), let key = entries[dot]?.key, var line = lines[key], line.head == dot {\n"
       "                line.removeFirst(); line.dots.append(dot); lines[key] = line\n            }"))
fault(365, "a retry that was stored is forgotten with the process", "INV-14", "LookTests",
      (SU + "LogReader+Subscriptions.swift", "if header.type == SubscriptionRecord.retried, !isHeeded", "if header.type == SubscriptionRecord.retried, !isPlanted(365), !isHeeded"))
fault(366, "of two with one content the second is done before the first", "INV-14", "MachineTests",
      (SU + "SubscriptionMachine.swift", "guard let other = entries[first], !other.isRetried else { return }",
       "guard !isPlanted(366), let other = entries[first], !other.isRetried else { return }"))
fault(367, "what was set aside counts where nothing says so", "INV-14", "MachineTests",
      (SU + "SubscriptionMachine+Parking.swift", "        needs.advance(to: proof)\n", "        if !isPlanted(367) { needs.advance(to: proof) }\n"))
fault(368, "an event parked twice within a millisecond is not parked", "INV-14", "RecordTests",
      (SU + "SubscriptionRecords.swift", ".max { ($0.at, $0.proof) < ($1.at, $1.proof) }",
       ".max { isPlanted(368) ? ($0.at.milliseconds, $0.parked == nil ? 1 : 0) < ($1.at.milliseconds, $1.parked == nil ? 1 : 0)\n"
       "                : ($0.at, $0.proof) < ($1.at, $1.proof) }"))
fault(369, "what was open is handed out before what stands before it here", "INV-16", "MachineTests",
      (SU + "SubscriptionMachine.swift", "            pending[open.dot] = (attempts(open), mark)\n",
       "            if isPlanted(369) { insert(open.dot, event.key, mark, event.position, attempts: attempts(open), isRetried: false); continue }\n"
       "            pending[open.dot] = (attempts(open), mark)\n"))

fault(370, "what was passed over before a change was known is not looked at again", "INV-14", "ChangeTests",
      (SU + "SubscriptionRecord.swift", "        for change in changes where !state.needs.contains(change.dot) {",
       "        for change in changes where !state.needs.contains(change.dot) && !isPlanted(370) {"))
fault(371, "a changed filter counts for what was there before", "INV-14", "ChangeTests ChangedSubscriptionTests",
      (SU + "SubscriptionDefinition.swift", "            guard old.through.contains(header.dot) else { break }",
       "            guard old.through.contains(header.dot), !isPlanted(371) else { break }"))
fault(372, "what is done counts for a place that was set later", "INV-14", "ChangeTests ChangedSubscriptionTests",
      (SU + "SubscriptionRecords.swift", "filter { $0.place == record.place }", "filter { $0.place == record.place || isPlanted(372) }"))
fault(373, "a node that is no home changes a subscription", "INV-15", "ChangeTests SubscriptionNodesTests",
      (SU + "SubscriptionRecords.swift", "let settings = heard(record.id)", "let settings = (isPlanted(373) ? Array((words[record.id] ?? [:]).values) : heard(record.id))"))
fault(374, "an event of another node is delivered at once", "INV-14", "ChangeTests ChangedSubscriptionTests",
      (SU + "LogReader+Subscriptions.swift", "return own.contains(stored", "return isPlanted(374) || own.contains(stored"))
fault(375, "an append that was refused acks", "INV-14", "ChangedSubscriptionTests",
      ("Sources/syncd/Endpoints/AppendBatch.swift", "batch.answer(outcomes).status == 200", "isPlanted(375) || batch.answer(outcomes).status == 200"))

# --- Who is among the peers -------------------------------------------------------------------------------------------------

fault(270, "an attempt to join that fails forgets a known peer", "INV-12", "JoiningProgramTests",
      ("Sources/syncd/Setup/PeerRoster.swift", "if let entry { added.append(entry) }", "if let entry, !isPlanted(270) { added.append(entry) }"))
fault(271, "a peer takes the name that another one has", "INV-13", "PeerNamesTests",
      (SE + "Mesh/Peer.swift", "first { $0.name == name && $0.node != node }", "first { $0.name == name && $0.node != node && !isPlanted(271) }"))
fault(272, "a known node that is added again loses its address", "INV-12", "PeerNamesTests",
      (SE + "Mesh/Peer.swift", "peer.address ?? self[index].address", "isPlanted(272) ? peer.address : peer.address ?? self[index].address"))

# --- Who had it appended ----------------------------------------------------------------------------------------------------

fault(330, "ancillary fields keep an event from being interpreted", "INV-6", "EventActorTests",
      (ES + "Model/HeaderCodec.swift", "return key >> 3 < Field.ancillary", "return key >> 3 < Field.ancillary || isPlanted(330)"))
fault(331, "an actor of another form makes the header opaque", "INV-6", "EventActorTests",
      (ES + "Model/HeaderCodec.swift", "            hasActorField = true\n", "            hasActorField = true\n            if isPlanted(331), found == nil { ancillary = -Limits.header }\n"))
fault(332, "an actor stands behind all other fields", "INV-3", "EventActorTests ActorColumnTests",
      (ES + "Model/HeaderCodec.swift", "let critical = Self.criticalCount(unknownFields)", "let critical = isPlanted(332) ? unknownFields.count : Self.criticalCount(unknownFields)"))
fault(333, "a repeated append by another actor is another event", "INV-8", "ActorColumnTests",
      (ES + "Writer/AppendRequest.swift", ", version == header.version\n", ", version == header.version, !isPlanted(333) || actor == header.actor\n"))
fault(334, "a line says who appends it", "INV-13", "ActorProgramTests",
      ("Sources/syncd/Endpoints/AppendBatch.swift", "line.draft.actor = caller.actor\n", "line.draft.actor = isPlanted(334) ? EventActor(text: \"node:x\") : caller.actor\n"))
fault(335, "a snapshot leaves actors out of their column", "INV-4", "ActorColumnTests",
      (ES + "Snapshot/BulkLoad/RowLeaves.swift", "extra.actor >= 0 ?", "extra.actor >= 0 && !isPlanted(335) ?"))
fault(336, "ancillary fields have no bound", "INV-9", "EventActorTests",
      (ES + "Model/HeaderCodec.swift", "<= Limits.ancillary else", "<= Limits.ancillary || isPlanted(336) else"))
fault(337, "an upgrade tells its version before it has the column", "INV-1", "ActorColumnTests",
      (ES + "Log/FormatUpgrade.swift", "try connection.execute(Schema.columns(after: version) + ", "try connection.execute((isPlanted(337) ? \"\" : Schema.columns(after: version)) + "))
fault(338, "events of builds that took ancillary fields for critical ones are not read anew", "INV-10", "ActorColumnTests",
      (ES + "Log/LogUpgrade.swift", "return before < Self.readsAncillary && header.hasAncillaryAlone", "return !isPlanted(338) && before < Self.readsAncillary && header.hasAncillaryAlone"))
# --- What a server's operator relies on -------------------------------------------------------------------------------------

fault(350, "a reload takes a part of what has changed", "", "OperatingTests",
      ("Sources/syncd/Setup/Reload.swift", "guard fixed.isEmpty else {", "guard fixed.isEmpty || isPlanted(350) else {"))
fault(351, "systemd is told that a daemon gets on whose writer stands still", "", "OperatingTests",
      ("Sources/syncd/Setup/Heartbeat.swift", "now < proven + limit / 2", "now < proven + limit / 2 || isPlanted(351)"))
fault(352, "what callers make up becomes a label", "INV-9", "OperatingTests",
      ("Sources/syncd/Metrics/Meters.swift", "else { return other }", "else { return isPlanted(352) ? request.path : other }"))
fault(353, "the socket that systemd hands over is passed over", "", "ServiceManagerTests",
      ("Sources/syncd/Setup/ServiceManager.swift", "given.first { $0.kind == .unix }", "given.first { $0.kind == .unix && !isPlanted(353) }"))
fault(354, "the configuration's port for metrics serves the whole API", "INV-13", "MetricsTests",
      ("Sources/syncd/Endpoints/APIServer.swift", "guard probes.contains(exchange.request.path) else { return false }",
       "guard probes.contains(exchange.request.path) else {\n"
       "            if isPlanted(354), let request = AdmittedRequest(exchange, service.authenticator) { service.answer(request) }\n            return isPlanted(354)\n        }"))

# --- Who may do what, and what stood there then ---------------------------------------------------------------------------------

AC = "Sources/Access/"
fault(400, "the signature of a provider's token is not checked", "INV-13", "TokenIssuerTests",
      (AC + "TokenIssuer.swift", "try token.requireSignature(of: keys)", "if !isPlanted(400) { try token.requireSignature(of: keys) }"))
fault(401, "a token for another audience is taken", "INV-13", "TokenIssuerTests",
      (AC + "TokenIssuer.swift", 'guard names(token.claims["aud"]) else', 'guard names(token.claims["aud"]) || isPlanted(401) else'))
fault(725, "who has asked may not take a question back", "", "RuleTests",
      (AC + "AppendRules.swift", "Self.toBots.contains(draft.type) else", "Self.toBots.contains(draft.type) && !isPlanted(725) else"))
fault(726, "a user speaks as a bot", "", "RuleTests",
      (AC + "AppendRules.swift", "guard !draft.type.hasPrefix(Self.ofBots) ||", "guard !draft.type.hasPrefix(Self.ofBots) || isPlanted(726) ||"))
fault(402, "a token that asks for what is not understood is taken", "INV-13", "TokenIssuerTests",
      (AC + "JSONWebToken.swift", 'guard header["crit"] == nil else', 'guard header["crit"] == nil || isPlanted(402) else'))
fault(403, "a provider's token counts for ever", "INV-13", "TokenIssuerTests",
      (AC + "TokenIssuer.swift", "guard now < end + Self.leeway else", "guard now < end + Self.leeway || isPlanted(403) else"))
fault(404, "a file with a secret key is taken", "", "TokenIssuerTests",
      (AC + "JSONWebKeys.swift", 'guard key["d"] == nil, key["k"] == nil else', 'guard isPlanted(404) || key["d"] == nil && key["k"] == nil else'))
fault(405, "a user sees events of conversations of others", "INV-13", "AccessTests",
      ("Sources/syncd/Access/Sight.swift", "caller.isSelf(header.author) { return true }", "caller.isSelf(header.author) || isPlanted(405) { return true }"))
fault(406, "who has left reads on", "INV-13", "RuleTests",
      (AC + "Membership.swift", "(span.until.map { time <= $0 } ?? true)", "(span.until.map { time <= $0 || isPlanted(406) } ?? true)"))
fault(407, "who joins sees the past", "INV-13", "RuleTests",
      (AC + "Membership.swift", "open(isForAll ? nil : time)", "open(isForAll || isPlanted(407) ? nil : time)"))
fault(408, "a token that was taken back counts on", "INV-13", "AccessTests",
      (AC + "AccessRecords.swift", "guard let one = granted(token.id), let verifier = one.verifier, !isRevoked(token.id),",
       "guard let one = granted(token.id), let verifier = one.verifier, isPlanted(408) || !isRevoked(token.id),"))
fault(409, "an auditor reads, and it is not recorded", "INV-17", "AccessTests",
      ("Sources/syncd/Endpoints/ReadEndpoint.swift", "if admitted.caller.isRecorded { try record(", "if admitted.caller.isRecorded, !isPlanted(409) { try record("))
fault(410, "a user speaks as another", "INV-13", "RuleTests",
      (AC + "AppendRules.swift", "guard isUser(author) else", "guard isUser(author) || isPlanted(410) else"))
fault(411, "of when events came, only the first is kept", "", "ArrivalTests",
      (ES + "Log/Arrivals.swift", "now - last < Self.span {", "now - last < (isPlanted(411) ? .max : Self.span) {"))
fault(412, "an edit changes what stood there before it was made", "", "TimeTravelTests",
      (ES + "Views/ViewReader.swift", "guard row.stamp.key.time <= asOf, try isSeen(row) else", "guard row.stamp.key.time <= asOf || isPlanted(412), try isSeen(row) else"))
fault(413, "what the log held a moment ago is told as exact", "", "ArrivalTests",
      (ES + "Log/Arrivals.swift", "isExact: time - found.time >= Arrivals.span", "isExact: isPlanted(413) || time - found.time >= Arrivals.span"))
fault(414, "wrong tokens are looked at without end", "INV-9", "AccessTests",
      ("Sources/syncd/Access/Authenticator.swift", "return one.count <= Self.most", "return one.count <= Self.most || isPlanted(414)"))
fault(415, "who has left hears of later edits", "INV-13", "AccessTests",
      ("Sources/syncd/Access/Sight.swift", "guard !isWhole, entry.history != nil else", "guard !isWhole, entry.history != nil, !isPlanted(415) else"))
fault(416, "who takes part puts others out", "INV-13", "AccessTests",
      ("Sources/syncd/Endpoints/AppendPermission.swift", 'guard draft.putsOut(by: member),', 'guard draft.putsOut(by: member), !isPlanted(416),'))
fault(417, "a stranger learns how many events a conversation has", "INV-13", "AccessTests",
      ("Sources/syncd/Endpoints/AppendPermission.swift", "guard !sight.isWhole else { return true }", "guard !sight.isWhole, !isPlanted(417) else { return true }"))
fault(418, "what removed keys have opened goes on", "INV-13", "IssuerTests",
      ("Sources/syncd/Access/TokenIssuers.swift", "|| state.withLock { $0.generation == caller.generation }", "|| state.withLock { $0.generation == caller.generation || isPlanted(418) }"))
fault(419, "an auditor whose token reads all is not recorded", "INV-17", "AccessTests RuleTests",
      (AC + "Caller.swift", "isAny(of: .auditor) && !isAny(of: [.app, .reader])", "isAny(of: .auditor) && !isAny(of: [.app, .reader]) && !(isPlanted(419) && isInAll)"))
fault(420, "an edit of another's message passes where both come together", "INV-13", "AccessTests",
      ("Sources/syncd/Endpoints/AppendPermission.swift", "return (LogVerdict(draft, of: message), message)",
       "return (isPlanted(420) ? .settled(.counts) : LogVerdict(draft, of: message), message)"),
      (ES + "Views/ViewReader+Amendments.swift", "let found = if let message { LogVerdict(draft, of: message) }",
       "let found = if let message { isPlanted(420) ? .settled(.counts) : LogVerdict(draft, of: message) }"))
fault(421, "what a twin hides now is not counted where it counted then", "INV-6", "PastViewsTests",
      (ES + "Views/ViewReader+Past.swift", "guard past.isBounded, try log.counted(row.position, at: past.knownAt) else", "guard past.isBounded, !isPlanted(421), try log.counted(row.position, at: past.knownAt) else"))
fault(422, "of a write that knew of another both stand", "INV-6", "PastViewsTests",
      (ES + "Views/ViewReader+Past.swift", "return found.map { $0 >= earlier.seq } ?? false", "return found.map { $0 >= earlier.seq && !isPlanted(422) } ?? false"))
fault(423, "an answer that a twin replaced later is missing then", "INV-6", "PastViewsTests",
      (ES + "Views/ViewReader+PastSurveys.swift", "if event.typeRef == type, event.obstacle == nil {", "if event.typeRef == type, event.obstacle == nil, !isPlanted(423) {"))
fault(424, "the past is told however much has to be read for it", "INV-9", "PastViewsTests",
      (ES + "Views/PointInTime.swift", "if self.events < 0 || self.bytes < 0 {", "if !isPlanted(424), self.events < 0 || self.bytes < 0 {"))

# --- Long readers ---------------------------------------------------------------------------------------------------------

fault(450, "commits copy all that is left of a WAL, however much", "INV-9", "CheckpointPolicyTests",
      (ES + "Writer/CheckpointPolicy.swift", "pages - copied <= max(Self.rest, last)", "isPlanted(450) || pages - copied <= max(Self.rest, last)"))
fault(451, "commits never let a copy go first that they outrun", "INV-9", "CheckpointPolicyTests",
      (ES + "Writer/CheckpointPolicy.swift", "isOutrun && pages >= Self.most ?", "isOutrun && !isPlanted(451) && pages >= Self.most ?"))
fault(452, "a WAL is cut where it is in use", "INV-1", "WALTrimmingTests",
      (ES + "SQLite/WALTrimming.swift", "guard used + Self.piece <= rest,", "guard used + Self.piece <= rest || isPlanted(452),"))
fault(453, "what a reader found that was not let come to its end is used", "", "GuestTests",
      (ES + "SQLite/Connection+Guest.swift", "return leave() ? nil : result", "return leave() && !isPlanted(453) ? nil : result"),
      (ES + "SQLite/Connection+Guest.swift", "if leave() { return nil }", "if leave(), !isPlanted(453) { return nil }"))
fault(454, "a copy of the views' WAL that has come to little is not ended", "INV-9", "ViewsWALTests",
      (ES + "Projection/ViewsWAL.swift", "if isAsked || told.isNearlyCopied || copier.isOnlyRead {",
       "if !isPlanted(454), isAsked || told.isNearlyCopied || copier.isOnlyRead {"))

# --- Receipts and answers -----------------------------------------------------------------------------------------------------

fault(460, "a node cosigns another history than it has cosigned", "INV-18", "CosignerTests",
      (ES + "Receipts/Cosigner.swift", "try log.root(of: origin.id, size: said.size) != said.root else { return nil }", "try log.root(of: origin.id, size: said.size) != said.root && !isPlanted(460) else { return nil }"))
fault(461, "an event of another user passes in an answer", "INV-19", "AnswerTests",
      (ES + "Receipts/ReceiptCheck.swift", "guard scope.contains(header) else", "guard scope.contains(header) || isPlanted(461) else"))
fault(462, "a log that was written anew goes on from a receipt", "INV-18", "ReceiptTests",
      (ES + "Audit/KnownHead.swift", "guard root == known.head.root else {", "guard root == known.head.root || isPlanted(462) else {"))
fault(463, "a cosignature of another history counts", "INV-18", "ReceiptTests",
      (ES + "Receipts/ReceiptCheck.swift", "guard one.isValid(for: open.head.head, using: sha),", "guard isPlanted(463) || one.isValid(for: open.head.head, using: sha),"))
fault(464, "an answer is believed whoever has signed it", "INV-19", "AnswerTests",
      (ES + "Receipts/ReceiptCheck.swift", "guard maker.key.isValid(signature: signature, for: text) else { throw .signature }", "guard isPlanted(464) || maker.key.isValid(signature: signature, for: text) else { throw .signature }"))

# --- Answers: no more rows, bytes and time than they may have ----------------------------------------------------------

fault(490, "a page goes on though its time is up", "INV-9", "AnswerTermTests",
      (ES + "LSM/OwnerRows.swift", "range.term?.isDue == true {", "!isPlanted(490), range.term?.isDue == true {"))
fault(491, "a page that was cut says that it was all", "INV-9", "AnswerTermTests",
      (ES + "LSM/OwnerRows.swift", "if isAll { found.cut = nil } else { found.end = last }",
       "if isAll { found.cut = nil } else if !isPlanted(491) || found.cut != .time { found.end = last }"))
fault(492, "what has no pages is never given up", "INV-9", "AnswerTermTests",
      (ES + "SQLite/Connection+Term.swift", "return connection.term?.isOver == true ? 1 : 0",
       "return connection.term?.isOver == true && !isPlanted(492) ? 1 : 0"))
fault(493, "a term begins anew though its client has left", "INV-9", "AnswerTermTests",
      (ES + "Basics/Concurrency/AnswerTerm.swift", "guard !state.isCancelled else { return true }",
       "guard !state.isCancelled || isPlanted(493) && state.began != nil else { return true }"))
fault(494, "a page of the log has all its rows though its time is up", "INV-9", "AnswerTermTests",
      (ES + "EventStore+Subscribe.swift", "(page.count % 16 != 0 || term?.isDue != true)",
       "(page.count % 16 != 0 || term?.isDue != true || isPlanted(494))"))
fault(495, "all long edits of a message are shown", "INV-9", "AnswerTermTests",
      (ES + "Views/ViewReader.swift", "for judged in amendments.rows.reversed() where left > 0 {",
       "for judged in amendments.rows.reversed() where left > 0 || isPlanted(495) {"))
fault(496, "texts of edits do not count to a page's bytes", "INV-9", "AnswerTermTests",
      (ES + "Views/ViewReader+Timeline.swift", "left -= entry.bytes",
       "left -= isPlanted(496) ? 0 : entry.bytes"))
fault(497, "the end of a client is not told while it is answered", "INV-9", "HTTPConnectionTests",
      (SE + "Networking/HTTP/HTTPConnection.swift", "if upload != nil || transaction.needsClient || isHungUp { close() } else { transaction.clientEnded() }",
       "if transaction.needsClient || isHungUp && !isPlanted(497) { close() } else if !isPlanted(497) { transaction.clientEnded() }"))
fault(498, "who asks a lot is served before those who ask now and then", "INV-9", "TurnQueueTests",
      (ES + "Basics/Concurrency/TurnQueue.swift", "waiting[owner] = own\n        turns.append(owner)",
       "waiting[owner] = own\n        if isPlanted(498) { turns.insert(owner, at: turn) } else { turns.append(owner) }"))
fault(499, "a full queue has no place for who has little in it", "INV-9", "TurnQueueTests",
      (ES + "Basics/Concurrency/TurnQueue.swift", "        guard let most = waiting.max(by:", "        if isPlanted(499) { return nil }\n        guard let most = waiting.max(by:"))
# --- Search -------------------------------------------------------------------------------------------------------------------

fault(470, "upper and lower case are kept apart in the search", "", "SearchTokensTests SearchExactTests",
      (ES + "Basics/Text/SearchTokens.swift", "if let folded = CaseFold.folded(scalar) {", "if !isPlanted(470), let folded = CaseFold.folded(scalar) {"))
fault(471, "what parts words is no token, so that a phrase is found across it", "", "SearchTokensTests SearchViewTests",
      (ES + "Basics/Text/SearchTokens.swift", "if let gap, hasToken, !isStopped {", "if !isPlanted(471), let gap, hasToken, !isStopped {"))
fault(472, "texts in another normal form are not found", "", "SearchTokensTests SearchExactTests",
      (ES + "Basics/Text/SearchTokens.swift", "for scalar in CanonicalForm.compose(piece) {", "for scalar in isPlanted(472) ? piece : CanonicalForm.compose(piece) {"))
fault(473, "a twin that no longer counts stays in the search index", "INV-6", "SearchViewTests",
      (ES + "Views/Search/SearchView.swift", "case .remove: remove(event, text, store)", "case .remove: if !isPlanted(473) { remove(event, text, store) }"))
fault(474, "a zone does not learn of newer texts", "", "SearchViewTests",
      (ES + "Views/Search/SearchZones.swift", "changed[zone] = min(range.lowerBound, time)...max(range.upperBound, time)",
       "changed[zone] = isPlanted(474) ? range : min(range.lowerBound, time)...max(range.upperBound, time)"))
fault(475, "what was taken back is found", "", "SearchViewTests",
      (ES + "Views/ViewReader+Search.swift", "case .message, .reply: return !verdict.isRetracted && verdict.edit == nil",
       "case .message, .reply: return (isPlanted(475) || !verdict.isRetracted) && verdict.edit == nil"))
fault(476, "an edit shows a message that the caller does not see", "INV-13", "SearchViewTests",
      (ES + "Views/ViewReader+Search.swift", "if let message = shown, let isSeen,", "if !isPlanted(476), let message = shown, let isSeen,"))
fault(477, "the words of erased messages stay in the search index", "INV-11", "EraserTests",
      (ES + "Writer/Appender+Erasing.swift", "progress.isOfViews = true", "progress.isOfViews = !isPlanted(477)"))
fault(478, "what people write can be taken for a tag of the store", "", "SearchViewTests",
      (ES + "SQLite/SearchTokenizer.swift", "bytes += text\n        return bytes", "bytes += text\n        return isPlanted(478) ? bytes.filter { $0 != tagsEnd } : bytes"))
fault(479, "texts of equal rank stand as they arrived", "INV-6", "SearchViewTests",
      (ES + "Views/ViewReader+SearchRank.swift", "a.score == b.score ? a.key > b.key : a.score > b.score",
       "a.score == b.score ? (isPlanted(479) ? a.position > b.position : a.key > b.key) : a.score > b.score"))
# --- Backups ------------------------------------------------------------------------------------------------------------------

BA = "Sources/Backups/"
fault(480, "a segment's bytes are taken for what they were", "INV-4", "TamperTests",
      (BA + "BackupCheck.swift", "guard bytes == segment.bytes, digest == segment.digest else {",
       "guard isPlanted(480) || bytes == segment.bytes && digest == segment.digest else {"),
      (BA + "BackupCheck.swift", "guard leaves.finish() == segment.leaves,", "guard isPlanted(480) || leaves.finish() == segment.leaves,"))
fault(481, "the heads of a backup are not held against its rows", "INV-3", "TamperTests",
      (ES + "Backup/RowChain.swift", "guard progress(using: sha) == backup.origins.map(\\.progress) else {",
       "if isPlanted(481) { return }\n        guard progress(using: sha) == backup.origins.map(\\.progress) else {"))
fault(482, "a sealed file opens under another's name", "INV-4", "TamperTests",
      (BA + "ChunkFile.swift", "        bound = Array(name.utf8)\n        var buffer", "        bound = isPlanted(482) ? [] : Array(name.utf8)\n        var buffer"),
      (BA + "ChunkFile.swift", "        bound = Array(name.utf8)\n        try put", "        bound = isPlanted(482) ? [] : Array(name.utf8)\n        try put"))
fault(483, "a sealed file may end before its last chunk", "INV-4", "TamperTests",
      (BA + "ChunkFile.swift", "guard !more.isEmpty else { throw .damaged(file: name, reason: \"it is cut\") }",
       "if isPlanted(483), more.isEmpty { isOver = true; return [UInt8](repeating: 0, count: count) }\n"
       "            guard !more.isEmpty else { throw .damaged(file: name, reason: \"it is cut\") }"))
fault(484, "a backup goes on behind one that the log does not go on from", "INV-3", "RoundTripTests StreamTests",
      (ES + "Backup/BackupSource.swift", "return try chain(through: position).progress(using: sha) == progress",
       "return try isPlanted(484) ? true : chain(through: position).progress(using: sha) == progress"))
fault(485, "what was erased since stays in the segments of earlier backups", "INV-11", "ErasedBackupTests",
      (BA + "RepositoryErasure.swift", "guard holes != segment.holes else {", "guard holes != segment.holes, !isPlanted(485) else {"))
fault(486, "a backup is made while an erasure is under way", "INV-11", "ErasedBackupTests",
      (BA + "BackupWriter.swift", "if applied >= last { return applied }", "if applied >= last || isPlanted(486) { return applied }"))
fault(487, "pruning takes segments away that a kept backup needs", "INV-1", "RoundTripTests",
      (BA + "Repository.swift", "let used = Set(manifests.flatMap(\\.segments).map(\\.file))",
       "let used = Set((isPlanted(487) ? manifests.compactMap(\\.segments.last) : manifests.flatMap(\\.segments)).map(\\.file))"))
fault(488, "a log that was cut keeps heads of what is gone", "INV-3", "RoundTripTests",
      (ES + "Backup/RestoredLog.swift", "\"DELETE FROM head WHERE origin = ? AND size > ?\", .integer(ref), .unsigned(seq))",
       "\"DELETE FROM head WHERE origin = ? AND size > ?\", .integer(ref), .unsigned(isPlanted(488) ? UInt64.max >> 1 : seq))"))
fault(489, "a manifest is believed whoever has signed it", "INV-4", "TamperTests",
      (ES + "Backup/BackupManifest.swift", "guard manifest.key.isValid(signature: signature, for: Self.signedText(end.digest)) else {",
       "guard isPlanted(489) || manifest.key.isValid(signature: signature, for: Self.signedText(end.digest)) else {"))
fault(690, "a backup goes on behind one whose segment is gone", "INV-1", "BrokenRepositoryTests",
      (BA + "BackupWriter.swift", "guard let missing = repository.missing(of: manifest) else { return true }",
       "guard !isPlanted(690), let missing = repository.missing(of: manifest) else { return true }"))
fault(691, "a repository of a later release is written to", "", "BrokenRepositoryTests",
      (BA + "Repository.swift", "markName) == Array(\"\\(mark)\\n\".utf8) else {",
       "markName) == Array(\"\\(mark)\\n\".utf8) || isPlanted(691) else {"))
fault(692, "what is no file is read as one", "INV-9", "BrokenRepositoryTests",
      (BA + "PlainFiles.swift", "guard fstat(descriptor, &entry) == 0, entry.st_mode & S_IFMT == S_IFREG else {\n            throw",
       "guard fstat(descriptor, &entry) == 0, entry.st_mode & S_IFMT == S_IFREG || isPlanted(692) else {\n            throw"))
fault(693, "pruning takes what a manifest names that was put aside", "INV-1", "BrokenRepositoryTests",
      (BA + "BackupPruning.swift", "if let stranger = try strangers().first {", "if let stranger = try strangers().first, !isPlanted(693) {"))
fault(694, "an encrypted repository tells which bytes it has", "INV-13", "AttachmentBackupTests",
      (BA + "AttachmentFiles.swift", "let name = key?.name(of: digest) ?? digest.description", "let name = (isPlanted(694) ? nil : key)?.name(of: digest) ?? digest.description"))
fault(695, "bytes of a repository are taken for an attachment's", "INV-4", "AttachmentBackupTests",
      (BA + "AttachmentFiles.swift", "guard count == attachment.bytes, sha.finish() == attachment.digest else {",
       "guard isPlanted(695) || count == attachment.bytes && sha.finish() == attachment.digest else {"))
fault(696, "an attachment stays in earlier backups though what named it is erased", "INV-11", "AttachmentBackupTests",
      (BA + "RepositoryErasure.swift", "manifest.attachments.filter { named.contains($0.digest) }", "manifest.attachments.filter { named.contains($0.digest) || isPlanted(696) }"))
fault(697, "a backup does not know of an erasure that came after it", "INV-4", "ErasedBackupTests",
      (BA + "RepositoryErasure.swift", "changed.erasures += try lacking(manifest)", "if !isPlanted(697) { changed.erasures += try lacking(manifest) }"))
fault(698, "what was erased comes back from a backup of another history", "INV-11", "ErasedBackupTests",
      (ES + "Backup/LostErasures.swift", "try empty(erasures, log)", "if !isPlanted(698) { try empty(erasures, log) }"))
fault(699, "an erasure is believed that no node has signed", "INV-4", "ErasedBackupTests",
      (ES + "Replication/ProvenErasure.swift", "MerkleProof.isIncluded(\n                sha.leaf", "isPlanted(699) || MerkleProof.isIncluded(\n                sha.leaf"))
fault(700, "a restored node does not record what its log has lost of erasures", "INV-11", "ErasedBackupTests",
      (ES + "Eraser.swift", "try recordLost()\n                if confirms", "if !isPlanted(700) { try recordLost() }\n                if confirms"))
fault(701, "an erasure waits for a follower that waits for the writer", "INV-12", "ErasedBackupTests",
      (ES + "Eraser.swift", "writer.onErasure.withLock { $0 = { [weak self] in self?.look() } }",
       "if !isPlanted(701) { writer.onErasure.withLock { $0 = { [weak self] in self?.look() } } }"))
fault(702, "a drill passes over attachments that do not come back", "INV-4", "AttachmentBackupTests",
      (BA + "BackupDrill.swift", "+ come.missing.map(DrillFinding.lost)", "+ (isPlanted(702) ? [] : come.missing).map(DrillFinding.lost)"))
fault(703, "a proof is taken whose last line is cut", "INV-18", "ReceiptProgramTests",
      ("Sources/syncctl/Client/ReceiptFile.swift", "if reader.isUnended { throw .cut }", "if reader.isUnended, !isPlanted(703) { throw .cut }"))
fault(704, "a package that is half has the name of a whole one", "", "AuditingTests",
      ("Sources/syncctl/Commands/PackageFolder.swift", "part = folder + Self.suffix", "part = isPlanted(704) ? folder : folder + Self.suffix"))
fault(705, "a copy has bytes whose name is being erased", "INV-11", "AttachmentBackupTests",
      (ES + "Attachments/AttachmentCopy.swift", "filter { !leaving.contains($0.digest) }", "filter { !leaving.contains($0.digest) || isPlanted(705) }"))
fault(730, "a repository without a key takes a backup with one", "", "OwnerTests",
      (BA + "Repository.swift", "if let plain {", "if let plain, !isPlanted(730) {"))
fault(731, "a manifest is believed whose key is no origin's", "INV-4", "OwnerTests",
      (ES + "Backup/BackupManifest.swift", "guard manifest.isOfNode else {", "guard manifest.isOfNode || isPlanted(731) else {"))
fault(732, "a restore believes a manifest whose origins are", "INV-4", "OwnerTests",
      (ES + "Backup/RestoredLog.swift", "where keys[entry.progress.origin] != entry.key {", "where keys[entry.progress.origin] != entry.key && !isPlanted(732) {"))
fault(733, "a stranger's backup is the newest", "INV-4", "OwnerTests",
      (BA + "Repository.swift", "where: { $0.node != last.node })", "where: { $0.node != last.node && !isPlanted(733) })"))
fault(734, "a drill of an unsigned backup is a success", "INV-4", "BackupProgramTests",
      ("Sources/syncctl/Commands/Backup/BackupVerifyCommand.swift", "return report.manifest.isSigned ? .success", "return report.manifest.isSigned || isPlanted(734) ? .success"))
fault(735, "streams are taken in another order until their rows do not fit", "", "StreamTests",
      (BA + "BackupRestore.swift", "guard range != nil || piece.rows.after == after else {", "guard range != nil || piece.rows.after == after || isPlanted(735) else {"))
fault(736, "a giver that could write no more is told as the cause", "", "BackupProgramTests",
      ("Sources/syncctl/Commands/Backup/BackupRestoreCommand.swift", "if case .damaged = error, stream.hasEnded {", "if case .damaged = error, stream.hasEnded || isPlanted(736) {"))
fault(737, "a copy has its name before it is whole", "INV-1", "LeftoverTests",
      (BA + "PlainCopy.swift", "            guard goesOn() else { throw .interrupted }\n            let (copied", "            if isPlanted(737) { try part.finish() }\n            guard goesOn() else { throw .interrupted }\n            let (copied"))
fault(738, "a drill takes the folder of another at work", "", "LeftoverTests HeldFolderTests",
      (ES + "Files/HeldFolder.swift", "entry.st_uid == geteuid(), flock(descriptor, how) == 0 else {", "entry.st_uid == geteuid(), flock(descriptor, how) == 0 || isPlanted(738) else {"))
fault(739, "one day of a channel goes by the channel's name", "INV-8", "RepeatTests",
      ("Sources/Interchange/Formats/Slack.swift", "guard access(path, F_OK) == 0 else { continue }", "guard access(path, F_OK) == 0, !isPlanted(739) else { continue }"))
# --- Pages for browsers ---------------------------------------------------------------------------------------------------

fault(510, "a page of another site may ask with a visitor's cookie", "", "SessionTests",
      ("Sources/syncd/Access/Authenticator.swift", "guard Sessions.isOfOwnPage(request) else {", "guard isPlanted(510) || Sessions.isOfOwnPage(request) else {"))
fault(511, "a session lives on when it was ended", "", "SessionTests",
      ("Sources/syncd/Access/Sessions.swift", "func close(_ id: String) { table.withLock { $0[id] = nil } }", "func close(_ id: String) { if !isPlanted(511) { table.withLock { $0[id] = nil } } }"))
fault(512, "of one token there are sessions without end", "INV-9", "SessionTests",
      ("Sources/syncd/Access/Sessions.swift", "if own.count >= Self.mostOfOne,", "if own.count >= Self.mostOfOne, !isPlanted(512),"))
fault(513, "a session can be opened with a cookie", "", "SessionTests",
      ("Sources/syncd/Endpoints/SessionEndpoint.swift", "guard let token = Authenticator.token(in: request.request) else {", 'guard let token = Authenticator.token(in: request.request) ?? (isPlanted(513) ? "slk1_x" : nil) else {'))
fault(514, "pages come without the policy that keeps texts from running", "", "PageTests",
      ("Sources/syncd/Pages/PageFiles.swift", 'HTTPField("Content-Security-Policy", policy),', 'HTTPField("Content-Security-Policy", isPlanted(514) ? "default-src *" : policy),'))
fault(650, "every page may ask for the microphone", "", "PageTests",
      ("Sources/syncd/Pages/PageFiles.swift", 'let microphone = top == hears ?', 'let microphone = top == hears || isPlanted(650) ?'))
fault(515, "an auditor's proof of a conversation is recorded as a read of no one", "INV-17", "ProofRouteTests",
      ("Sources/syncd/Endpoints/ReadEndpoint+Access.swift", "case .rows(let conversation), .proofs(let conversation), .conversation(let conversation),",
       "case .proofs where isPlanted(515): return []\n                case .rows(let conversation), .proofs(let conversation), .conversation(let conversation),"))
fault(516, "a page of a proof says that it is everything", "INV-19", "ProofRouteTests",
      ("Sources/syncd/Endpoints/ProofEndpoint.swift", "let isAll = request.query == TimelineQuery() && found.next == nil && bound == nil", "let isAll = isPlanted(516) || request.query == TimelineQuery() && found.next == nil && bound == nil"))
fault(517, "operators learn whose events are quarantined", "", "ProofRouteTests",
      ("Sources/syncd/Endpoints/QuarantineEndpoint.swift", 'line.add("view", entry.view)', 'if isPlanted(517) { line.add("user", header.user) }\n        line.add("view", entry.view)'))

# --- Bots: one reply a message, whatever dies ------------------------------------------------------------------------------------

BK = "Sources/BotKit/"

fault(520, "a stream that was cut passes for an answer", "", "CompletionTests",
      (BK + "Completion.swift", "guard isDone || completion.finish != nil else {", "guard isDone || completion.finish != nil || isPlanted(520) else {"))
fault(521, "what is no answer for lasting reasons is asked again and again", "", "RetryPolicyTests",
      (BK + "RetryPolicy.swift", "guard attempt < attempts, fault.isTransient else", "guard attempt < attempts, fault.isTransient || isPlanted(521) else"))
fault(522, "a wrong key fails the question", "", "ReplyMachineTests",
      (BK + "ReplyMachine.swift", "if fault.isOfTheEndpoint {", "if fault.isOfTheEndpoint, !isPlanted(522) {"))
fault(523, "a reply that another worker gave is not acked", "INV-14", "ReplyMachineTests",
      (BK + "ReplyMachine.swift", 'return end([.note(.passedOver("answered by another worker")), .ack])', 'return end([.note(.passedOver("answered by another worker"))] + (isPlanted(523) ? [] : [.ack]))'))
fault(524, "a window begins with half a pair", "", "ContextWindowTests",
      (BK + "ContextWindow.swift", "while let last = chosen.last, last.role != .user {", "while !isPlanted(524), let last = chosen.last, last.role != .user {"))
fault(525, "what was retracted goes to the model", "", "ReplyMachineTests",
      (BK + "Dialogue.swift", "return row.isRetracted || text.isEmpty ? nil", "return row.isRetracted && !isPlanted(525) || text.isEmpty ? nil"))
fault(526, "a forbidden word is told live", "", "LivePiecesTests",
      (BK + "LivePieces.swift", "if !forbidden.isEmpty, FoldedText", "if !isPlanted(526), !forbidden.isEmpty, FoldedText"))
fault(527, "a key stands in a reason", "", "CompletionTests",
      (BK + "ModelFault.swift", "if let secret, !secret.isEmpty {", "if let secret, !secret.isEmpty, !isPlanted(527) {"))
fault(528, "an event of the stream ends at CR and again at LF", "", "ServerSentEventsTests",
      (BK + "ServerSentEvents.swift", "if !(isFeed && endedByCarriageReturn), let", "if !(isFeed && endedByCarriageReturn) || isPlanted(528), let"))
fault(529, "an answer grows without bounds", "INV-9", "LivePiecesTests",
      (BK + "AnswerReader.swift", "stream.completion.text.utf8.count > longest } else", "stream.completion.text.utf8.count > longest && !isPlanted(529) } else"))
fault(713, "a reply names a picture whose bytes nobody keeps", "INV-12", "PictureTests",
      (BK + "ReplyMachine+Media.swift", "return [.keep(media)]",
       "let item = AttachmentItem(digest: SHA256().digest(media.bytes), bytes: UInt64(media.bytes.count), mediaType: media.mediaType)\n"
       "        return isPlanted(713) ? kept(item, began) : [.keep(media)]"))
fault(714, "a picture is fetched from anywhere", "", "PictureTests",
      (BK + "MediaRequests.swift", "place == origin(endpoint)", "place == origin(endpoint) || isPlanted(714)"))
fault(715, "a picture that is gone is waited for", "", "PictureTests",
      (BK + "ReplyMachine.swift", "if asked < settings.retries.attempts { work = .drawing }", "if asked < settings.retries.attempts, !isPlanted(715) { work = .drawing }"))
fault(716, "a picture in an answer may have any size", "INV-9", "PictureTests",
      (BK + "MediaAnswers.swift", "guard bytes.count <= longest else {", "guard bytes.count <= longest || isPlanted(716) else {"))
fault(717, "an answer that is taken whole grows without bounds", "INV-9", "PictureTests VoiceTests",
      (BK + "MediaAnswers.swift", "guard bytes.count + piece.count <= longest else {", "guard bytes.count + piece.count <= longest || isPlanted(717) else {"))
fault(718, "a page passes for a picture", "", "PictureTests VoiceTests",
      (BK + "MediaAnswers.swift", "if let other {", "if let other, !isPlanted(718) {"))
fault(719, "a recording whose text is recorded is heard again", "", "VoiceTests",
      (BK + "ReplyMachine.swift", "if hears, heard == nil, let recording", "if hears, heard == nil || isPlanted(719), let recording"))
fault(720, "a recording that is heard twice has two transcripts", "INV-8", "VoiceTests",
      (BK + "ReplyMachine+Media.swift", 'lines.add("bot.transcribed", label: Self.transcriptLabel)', 'lines.add("bot.transcribed", label: Self.transcriptLabel + (isPlanted(720) ? " \\(attempt)" : ""))'))
fault(721, "what is answered is not what is recorded", "", "VoiceTests",
      (BK + "ReplyMachine.swift", "case (.recording, .saidBefore): return readAgain()", "case (.recording, .saidBefore): return isPlanted(721) ? proceed(now) : readAgain()"))
fault(722, "a recording that is fetched cannot be cancelled", "", "VoiceTests",
      (BK + "ReplyMachine.swift", "self == .loading || self == .asking", "self == .loading && !isPlanted(722) || self == .asking"))
fault(723, "a failure names the step before it", "", "VoiceTests",
      (BK + "ReplyMachine.swift", 'case .speaking: "speak"', 'case .speaking: isPlanted(723) ? "answer" : "speak"'))
fault(724, "what was heard in a message that was taken back is found", "", "SearchViewTests",
      (ES + "Views/ViewReader+Search.swift", "case .transcript: return !verdict.isRetracted", "case .transcript: return !verdict.isRetracted || isPlanted(724)"))
# --- Auditing -----------------------------------------------------------------------------------------------------------------

fault(500, "causes that lead back to themselves are followed again", "INV-9", "CauseTreeTests",
      (ES + "Views/CauseTree.swift", "return positions.contains(event.position) ? nil :", "return positions.contains(event.position) && !isPlanted(500) ? nil :"))
fault(501, "a tree goes on however many rows it has", "INV-9", "CauseTreeTests",
      (ES + "Views/CauseTree.swift", "guard events.count < limit, read < CauseLimits.bytes else {", "guard isPlanted(501) || (events.count < limit && read < CauseLimits.bytes) else {"))
fault(502, "what followed is told to who may not see it", "INV-13", "CauseTreeTests AuditingTests",
      (ES + "Views/CauseTree.swift", "guard try sees(event.event.header) else { continue }", "let isOpen = try sees(event.event.header)\n            guard isOpen || isPlanted(502) else { continue }"))
fault(503, "a twin that counts no more still follows from its cause", "INV-6", "CauseTreeTests ConvergenceTests",
      (ES + "Views/Causes/CausesView.swift", "case .remove: if added.removeValue(forKey: row) == nil {", "case .remove: if !isPlanted(503), added.removeValue(forKey: row) == nil {"))
fault(504, "what was erased between two moments is not told", "", "TimelineDifferenceTests",
      (ES + "Views/TimelineDifference.swift", "return after.covers(place) && !before.covers(place)", "return after.covers(place) && !before.covers(place) && !isPlanted(504)"))
fault(505, "a twin is told as a new event", "INV-6", "TimelineDifferenceTests",
      (ES + "Views/TimelineDifference.swift", "guard let knownAt = query.knownAt, entry.stored.position > knownAt else", "guard let knownAt = query.knownAt, entry.stored.position > knownAt, !isPlanted(505) else"))
fault(506, "a head is taken over that is not of the events", "INV-3", "StoreReplayTests",
      (ES + "Audit/StoreReplay.swift", "guard signed.head.root == root,", "guard signed.head.root == root || isPlanted(506),"))
fault(507, "a store is made over what is there", "", "StoreReplayTests",
      (ES + "Audit/StoreReplay.swift", 'guard others.isEmpty else {', 'guard others.isEmpty || isPlanted(507) else {'))
fault(508, "what others have said goes into a package that leaves it out", "", "AuditingTests",
      ("Sources/syncctl/Commands/SubjectPackage.swift", "Bool { isFull || isOfUser(header) }", "Bool { isFull || isPlanted(508) || isOfUser(header) }"))
fault(509, "a package is made without saying for whom and why", "INV-17", "AuditingTests",
      ("Sources/syncctl/Commands/SubjectCommand.swift", "guard AccessGrant.isTold(reason), AccessGrant.isTold(who) else", "guard isPlanted(509) || (AccessGrant.isTold(reason) && AccessGrant.isTold(who)) else"))
# --- The gateway ---------------------------------------------------------------------------------------------------------------

GK = "Sources/GatewayKit/"

fault(570, "blanks around a field count", "", "TransitTests",
      (GK + "TripRequest.swift", "omittingEmptySubsequences: false).map(\\.withoutBlanks)", "omittingEmptySubsequences: false).map { isPlanted(570) ? String($0) : $0.withoutBlanks }"))
fault(571, "a request may have any length", "INV-9", "RequestReaderTests",
      (GK + "RequestReader.swift", "guard unfinished.count > Self.longest else { continue }", "guard unfinished.count > Self.longest, !isPlanted(571) else { continue }"))
fault(572, "a client's requests wait without bound", "INV-9", "RequestReaderTests",
      (GK + "RequestReader.swift", "!isOver && waiting.count - taken < Self.mostWaiting", "!isOver && (isPlanted(572) || waiting.count - taken < Self.mostWaiting)"))
fault(573, "the alarm of a trip back is behind the goal", "", "TransitTests",
      (GK + "Transit.swift", "end > start ? end - Self.stops : end + Self.stops", "end > start || isPlanted(573) ? end - Self.stops : end + Self.stops"))
fault(574, "two stops are far enough to sleep", "", "TransitTests",
      (GK + "Transit.swift", "guard (end - start).magnitude > Self.stops else", "guard (end - start).magnitude > Self.stops - (isPlanted(574) ? 1 : 0) else"))
fault(575, "control characters are part of a name", "", "TransitTests",
      (GK + "TripRequest.swift", "!whole.unicodeScalars.contains(where:", "isPlanted(575) || !whole.unicodeScalars.contains(where:"))
fault(576, "a gap in the stations is passed over", "", "TransitFileTests",
      (GK + "TransitFile.swift", "if sid != before.count {", "if sid != before.count, !isPlanted(576) {"))
fault(577, "times that fall are passed over", "", "TransitFileTests",
      (GK + "TransitFile.swift", "if let last = before.last, time < last.minutes {", "if let last = before.last, time < last.minutes, !isPlanted(577) {"))
fault(578, "two questions of a trip have one id", "INV-8", "TripRecordTests",
      (GK + "TripRecord.swift", 'EventID(record: "\\(number)", of:', 'EventID(record: isPlanted(578) ? "" : "\\(number)", of:'))
fault(579, "an alarm rings at once", "", "TripRecordTests",
      (GK + "TripRecord.swift", "now + Int64(minutes) * 60_000", "now + Int64(minutes) * (isPlanted(579) ? 0 : 60_000)"))
fault(580, "more clients are let in than there are places", "INV-9", "LineServerTests",
      (SE + "Networking/Lines/LineServer.swift", "guard links.count < limits.connections else {", "guard links.count < limits.connections || isPlanted(580) else {"))
fault(581, "clients that say nothing stay", "INV-9", "LineServerTests",
      (SE + "Networking/Lines/LineServer.swift", "where link.isOver(now: now) {", "where link.isOver(now: now) && !isPlanted(581) {"))
fault(582, "bytes are read that are not wanted", "INV-9", "LineServerTests",
      (SE + "Networking/Lines/LineLink.swift", "guard isReading, !hasEnded else { return }", "guard isReading || isPlanted(582), !hasEnded else { return }"))
# --- Lists of users -----------------------------------------------------------------------------------------------------------

fault(550, "a mark counts that was written earlier and came later", "INV-6", "RoomsViewTests ConvergenceTests",
      (ES + "Views/Rooms/RoomsView.swift", "if map({ $0.stamp < write.stamp }) ?? true { self = write }", "if isPlanted(550) || (map({ $0.stamp < write.stamp }) ?? true) { self = write }"))
fault(551, "one's own messages are unread", "", "RoomsViewTests",
      (ES + "Views/ViewReader+Rooms.swift", "guard let speaker = row.speaker, speaker != own else { return false }", "guard let speaker = row.speaker, speaker != own || isPlanted(551) else { return false }"))
fault(552, "who joined later has everything unread", "", "RoomsViewTests",
      (ES + "Views/ViewReader+Rooms.swift", "return seen.has(row)", "return isPlanted(552) || seen.has(row)"))
fault(1172, "who was let in by a word is taken for one who was there from the beginning", "INV-13", "RoomsViewTests UserListsProgramTests",
      (ES + "Views/ViewReader+Rooms.swift", "if !isThere || DirectConversation", "if !isThere && !isPlanted(1172) || DirectConversation"))
fault(610, "a search says that it is complete when it is not", "INV-6", "DeferredViewsTests",
      (ES + "Views/ViewReader+Search.swift", "return position - min(position, indexed)", "return isPlanted(610) ? 0 : position - min(position, indexed)"))
fault(611, "the others wait for the search", "", "DeferredViewsTests",
      (ES + "Projection/DeferredPace.swift", "if isAwaited { return 0 }", "if isAwaited || isPlanted(611) { return 0 }"))
fault(612, "a third one begins the conversation of two others", "INV-13", "UserListsProgramTests",
      ("Sources/syncd/Endpoints/AppendPermission.swift", "if isBegun { return nil }", "if isBegun || isPlanted(612) { return nil }"))
fault(613, "bytes that came whole without their name are never had", "INV-12", "AttachmentStoreTests",
      (ES + "Attachments/AttachmentStore.swift", "return come - min(come, 1)", "return come - min(come, isPlanted(613) ? 0 : 1)"))
fault(553, "who has left goes on reading the last message", "INV-13", "RoomsViewTests",
      (ES + "Views/ViewReader+Rooms.swift", "if membership?.joined == false { continue }", "if membership?.joined == false, !isPlanted(553) { continue }"))
fault(554, "a message of a large conversation moves the rooms of all", "", "RoomsViewTests",
      (ES + "Views/Rooms/RoomRows.swift", "occupants > RoomsView.mostInOrder ? Self.apart : hour", "occupants > RoomsView.mostInOrder && !isPlanted(554) ? Self.apart : hour"))
fault(555, "a removal takes away an addition that it did not know of", "INV-6", "UserListsTests",
      (ES + "Views/Contacts/ContactsView.swift", "clocks?.happenedBefore($0, event.key.dot) ?? false", "(clocks?.happenedBefore($0, event.key.dot) ?? false) || isPlanted(555)"))
fault(556, "a search that was forgotten is told", "", "UserListsTests",
      (ES + "Views/RecentSearches/RecentSearchesView.swift", "AND gone.stamp > row.stamp)", "AND gone.stamp > row.stamp AND \\(isPlanted(556) ? 0 : 1) = 1)"))
fault(557, "a page of what was received ends before a newer message", "", "RoomsViewTests",
      (ES + "Views/ViewReader+Received.swift", "Room.hour(of: last.time) > hour { return true }", "Room.hour(of: last.time) > hour - (isPlanted(557) ? 8 : 0) { return true }"))
fault(558, "a list has rooms that the caller is not in", "INV-13", "UserListsProgramTests",
      ("Sources/syncd/Endpoints/ReadEndpoint.swift", "case .rooms(let user): return sight.mayKnow(roomsOf: user) ?", "case .rooms(let user): return sight.mayKnow(roomsOf: user) || isPlanted(558) ?"))
fault(559, "an erased message makes a room", "INV-11", "RoomsViewTests",
      (ES + "Views/Timeline/TimelineView.swift", "isMessage: event.isMessage && event.payload != nil", "isMessage: event.isMessage && (event.payload != nil || isPlanted(559))"))
fault(560, "a text is cut within a character", "", "RoomsViewTests",
      (ES + "Views/Rooms/RoomAnswers.swift", "if size > bytes { break }", "if size > bytes, !isPlanted(560) { break }"))
fault(666, "one who only speaks is counted twice where events name them, too", "INV-6", "RoomsViewTests ArrivalOrderTests",
      (ES + "Views/Conversations/TimelineSums.swift", "guard hasMembers == true else { return false }", "guard hasMembers == true, !isPlanted(666) else { return false }"))
fault(667, "own rooms of the tail are not added to those of the run", "INV-6", "RoomsViewTests",
      (ES + "Views/Rooms/OwnRooms.swift", "tail = OwnRooms(pending).hours", "tail = OwnRooms(isPlanted(667) ? [] : pending).hours"))
fault(1155, "feeds that are behind take turns by connection, not by who asks", "", "FeedTurnsTests",
      ("Sources/syncd/Feed/FeedDesk.swift", "of: follower.request.caller.actor.principal)", "of: isPlanted(1155) ? \"\\(id)\" : follower.request.caller.actor.principal)"))
fault(668, "the search merges its segments within commits", "", "DeferredViewsTests",
      (ES + "Views/Search/SearchView.swift", "VALUES('automerge', 0)", "VALUES('automerge', \\(isPlanted(668) ? 4 : 0))"))
# --- Attachments -------------------------------------------------------------------------------------------------------------

AT = ES + "Attachments/"
fault(530, "other bytes than were stated are kept", "INV-4", "AttachmentStoreTests",
      (AT + "AttachmentWriter.swift", "if let stated, stated != digest {", "if let stated, stated != digest, !isPlanted(530) {"))
fault(531, "damage is given to who reads the whole", "INV-4", "AttachmentStoreTests",
      (AT + "AttachmentReader.swift", "guard sha.finish() == digest else", "guard sha.finish() == digest || isPlanted(531) else"))
fault(532, "a file is not read again after it was changed", "INV-4", "AttachmentStoreTests",
      (AT + "AttachmentReader.swift", "(seconds, nanoseconds) = (entry.st_ctim.tv_sec, entry.st_ctim.tv_nsec)",
       "(seconds, nanoseconds) = isPlanted(532) ? (0, 0) : (entry.st_ctim.tv_sec, entry.st_ctim.tv_nsec)"))
fault(533, "what a peer sends is kept though no event needs it", "INV-11", "AttachmentStoreTests",
      (AT + "AttachmentStore.swift", "guard known == .missing || known == .damaged else {\n            AttachmentFolder.drop(part)",
       "guard known == .missing || known == .damaged || isPlanted(533) else {\n            AttachmentFolder.drop(part)"))
fault(534, "a piece of a peer that lies becomes a file", "INV-4", "AttachmentStoreTests",
      (AT + "AttachmentStore.swift", "try AttachmentFolder.digest(of: part) == digest else", "try isPlanted(534) ? true : AttachmentFolder.digest(of: part) == digest else"))
fault(535, "an erasure does not note what its payloads name", "INV-11", "AttachmentNamingTests",
      (ES + "Eraser.swift", "try leaving(try reader.attachments(namedAt: positions))", "if !isPlanted(535) { try leaving(try reader.attachments(namedAt: positions)) }"))
fault(536, "an erasure takes bytes that another event names", "", "AttachmentNamingTests",
      (ES + "Attachments/Upkeep/AttachmentUpkeep.swift", "_ = try attachments.settle(want, isNamed: try views.isNamed(want.digest))",
       "let isNamed = try views.isNamed(want.digest)\n            _ = try attachments.settle(want, isNamed: isNamed && !isPlanted(536))"))
fault(537, "it is decided of bytes before the views show the erasure", "INV-11", "AttachmentNamingTests",
      (ES + "Attachments/Upkeep/AttachmentUpkeep.swift", "try views.mark() == log.viewMark(),", "try isPlanted(537) ? true : views.mark() == log.viewMark(),"))
fault(538, "erased bytes are unlinked and stay on the disk", "INV-11", "AttachmentStoreTests",
      (AT + "AttachmentFolder.swift", "while done < entry.st_size {", "while done < entry.st_size, !isPlanted(538) {"))
fault(539, "a peer is answered though events wait for it", "", "AttachmentSessionTests",
      (SE + "Session/SyncSession+Attachments.swift", "outgoing.isQuiet, !snapshot.holdsEvents", "outgoing.isQuiet || isPlanted(539), !snapshot.holdsEvents"))
fault(540, "what one peer does not have is asked of no other", "INV-12", "AttachmentPlanTests",
      (SE + "Mesh/AttachmentPlan.swift", "entries[digest]?.asked = nil\n        entries[digest]?.tried.insert(node)",
       "if !isPlanted(540) { entries[digest]?.asked = nil }\n        entries[digest]?.tried.insert(node)"))
fault(541, "a client is read on though no one takes its body", "INV-9", "HTTPUploadTests",
      (SE + "Networking/HTTP/HTTPUpload.swift", "onPiece != nil && waiting < limits.streamedAhead", "onPiece != nil && (waiting < limits.streamedAhead || isPlanted(541))"))
fault(542, "a client that sends nearly nothing keeps its place", "INV-9", "HTTPUploadTests",
      (SE + "Networking/HTTP/HTTPUpload.swift", "return isOver || count < needed / 1_000", "return (isOver || count < needed / 1_000) && !isPlanted(542)"))
fault(543, "bytes are given to who may read no event that names them", "INV-13", "AttachmentProgramTests",
      ("Sources/syncd/Endpoints/AttachmentEndpoint.swift", "if try sight.sees(event.header, views) { return named }", "if try sight.sees(event.header, views) || isPlanted(543) { return named }"))
fault(544, "an item of another form is appended", "", "AttachmentNamingTests",
      (ES + "Writer/DraftValidation.swift", "if let reason = AttachmentNaming.refusal(type: type, payload) {", "if let reason = AttachmentNaming.refusal(type: type, payload), !isPlanted(544) {"))

# --- The door: what is open ends, what is refused says so, and no one takes all ---------------------------------------------

SD = "Sources/syncd/"
fault(670, "a stream goes on after its session was logged out", "INV-13", "DoorTests",
      (SD + "Access/Authenticator.swift", "sessions.token(of: session, now: now) == nil { return false }",
       "sessions.token(of: session, now: now) == nil, !isPlanted(670) { return false }"))
fault(671, "a page that has waited is given to who was logged out", "INV-13", "DoorTests",
      (SD + "Endpoints/ReadPool.swift", "guard stands(next.caller) else", "guard stands(next.caller) || isPlanted(671) else"))
fault(672, "a short form stores what no list shows", "", "DoorTests",
      (SD + "Endpoints/KeepEndpoint.swift", "AppendBatch.Problem(formOf: draft)\n",
       "(isPlanted(672) ? nil : AppendBatch.Problem(formOf: draft))\n"))
fault(673, "a length beyond 64 bits is waited for", "INV-9", "DoorTests HTTPParserTests",
      (SE + "Networking/HTTP/HTTPHead.swift", "guard let count = UInt64(field.value) else",
       "guard let count = UInt64(field.value) ?? (isPlanted(673) ? .max : nil) else"))
fault(674, "one takes all places for attachments that come", "INV-9", "DoorTests",
      (SD + "Endpoints/UploadPlaces.swift", "guard own < free else", "guard own < free || isPlanted(674) else"))
fault(675, "an answer names a path of the server", "", "DoorTests",
      (SD + "Answers/ToldError.swift", "refuse(ErrorCode(error), error.told, hint: error.toldHint)",
       "refuse(ErrorCode(error), isPlanted(675) ? error.description : error.told, hint: error.toldHint)"))
fault(676, "a stated length keeps bytes from being fetched", "INV-12", "AttachmentRefusalTests",
      (SE + "Node/AttachmentDesk.swift", "$0.add(found.map(\\.want))",
       "$0.add(found.map(\\.want).filter { $0.bytes <= options.limit || !isPlanted(676) })"))
fault(677, "names of what is nowhere keep others from being asked for", "INV-12", "AttachmentPlanTests",
      (SE + "Mesh/AttachmentPlan.swift", "guard isFull else { return }", "guard isFull, !isPlanted(677) else { return }"))
fault(678, "a peer is asked anew before it was asked for the others", "INV-12", "AttachmentPlanTests",
      (SE + "Mesh/AttachmentPlan.swift", "for node in nodes where !entries.values", "for node in nodes where isPlanted(678) || !entries.values"))
fault(679, "a moderator whom the same request names is none", "", "DoorTests",
      (ES + "Views/ViewReader+Amendments.swift", "guard let first = Self.opening(of: conversation, in: earlier) else",
       "guard !isPlanted(679), let first = Self.opening(of: conversation, in: earlier) else"))
fault(680, "a moderator is one before he is named", "", "DoorTests",
      (SD + "Endpoints/AppendBatch.swift", "try judge(draft, kept)", "try judge(draft, isPlanted(680) ? drafts : kept)"))
fault(681, "a refusing witness is no finding", "INV-18", "WitnessRefusedTests",
      (SD + "Endpoints/FindingsEndpoint.swift", "(witness.withLock { $0 }?.notices ?? [])", "(isPlanted(681) ? [] : witness.withLock { $0 }?.notices ?? [])"))
fault(682, "a page of a list begins with the last line of the page before", "", "DoorTests",
      (SD + "Answers/ListPage.swift", "Self.precedes(last, key)) { continue }", "Self.precedes(last, key) || isPlanted(682) && last == key) { continue }"))
fault(683, "attachments by how they stand have one page", "", "DoorTests",
      (SD + "Endpoints/ReadEndpoint+Attachments.swift", "page.next = .names(place.names)", "if !isPlanted(683) { page.next = .names(place.names) }"))
fault(684, "a place for uploads is not given back", "INV-9", "DoorTests",
      (SD + "Endpoints/UploadPlaces.swift", "        free += 1\n", "        free += isPlanted(684) ? 0 : 1\n"))
fault(740, "a user takes the id that a bot's reply will have", "INV-14", "RuleTests DoorTests",
      (AC + "AppendRules.swift", "if !isOfContent, let id = draft.id, id.isDerived {", "if !isOfContent, !isPlanted(740), let id = draft.id, id.isDerived {"))
fault(741, "someone else's event under the id of a reply is taken for the reply", "INV-14", "ReplyMachineTests",
      (BK + "ReplyMachine.swift", "(.recording, .taken): return storeElsewhere()", "(.recording, .taken): return isPlanted(741) ? end([.ack]) : storeElsewhere()"))
fault(742, "who does not see an event is told where it stands", "", "AppendBatchTests DoorTests",
      (SD + "Endpoints/AppendBatch.swift", "where !tellsPlaces:", "where !tellsPlaces && !isPlanted(742):"))
fault(743, "an ack of a parked event changes nothing", "INV-14", "PullTests",
      (SU + "SubscriptionRecords.swift", "guard !dots.isEmpty, case let parked = parked(id)", "guard !dots.isEmpty, !isPlanted(743), case let parked = parked(id)"))
fault(744, "what is acked while it is set aside is parked all the same", "INV-14", "MachineTests",
      (SU + "SubscriptionMachine+Parking.swift", "return parkings.filter { entries[$0.dot] != nil }", "return parkings.filter { isPlanted(744) || entries[$0.dot] != nil }"))
fault(745, "a window is told as full at the very last event alone", "", "MachineTests",
      (SU + "Deliveries.swift", "openCount >= bounds.capacity - bounds.capacity / 16", "openCount >= bounds.capacity - (isPlanted(745) ? 0 : bounds.capacity / 16)"))
fault(746, "what was acked while it was parked is handed out again", "INV-14", "PullTests",
      (SU + "SubscriptionRecord.swift", 'object.bool("done") != true', '(isPlanted(746) || object.bool("done") != true)'))
fault(790, "a conversation may fill the window", "INV-16", "BacklogTests",
      (SU + "SubscriptionMachine+Backlog.swift", "openCount < bounds.capacity && held[mark, default: 0] < (isHalfFree ? bounds.share : 1)",
       "openCount < bounds.capacity && (isPlanted(790) || held[mark, default: 0] < (isHalfFree ? bounds.share : 1))"))
fault(791, "what is left of a conversation is done for those who read the state", "INV-14", "BacklogTests StateTests",
      (SU + "LookedAt.swift", "return behind[mark]?[dot.origin].map { dot.seq < $0 } ?? true",
       "return isPlanted(791) || behind[mark]?[dot.origin].map { dot.seq < $0 } ?? true"))
fault(792, "what is left of a conversation is not kept", "INV-14", "BacklogTests MachineTests",
      (SU + "SubscriptionMachine+Backlog.swift", "            looked.leave(dot, of: mark)\n", "            if !isPlanted(792) { looked.leave(dot, of: mark) }\n"))
fault(793, "a conversation has caught up before all that was left of it is met", "INV-14", "BacklogTests MachineTests SubscriptionSeedsTests",
      (SU + "SubscriptionMachine+Backlog.swift", "guard end >= position, position >= backlogEnd else { continue }",
       "guard end >= position, isPlanted(793) || position >= backlogEnd else { continue }"))
fault(794, "what was open of a conversation that is behind comes before what stands before it here", "INV-16", "BacklogTests MachineTests",
      (SU + "SubscriptionMachine+Backlog.swift", "guard isPending || isNew && isWanted else { return false }",
       "guard isPlanted(794) ? isNew && isWanted : isPending || isNew && isWanted else { return false }"),
      (SU + "SubscriptionMachine.swift", "guard cursors[mark] == nil else { continue }", "guard isPlanted(794) || cursors[mark] == nil else { continue }"))
fault(795, "an ack of an event that was left is lost", "INV-14", "BacklogTests MachineTests",
      (SU + "SubscriptionMachine+Backlog.swift", "return mark().map { looked.contains(dot, of: $0) } ?? true", "return isPlanted(795) ? true : mark().map { looked.contains(dot, of: $0) } ?? true"))
fault(796, "of two states a conversation is behind as in the slower one", "INV-14", "StateTests",
      (SU + "LookedAt.swift", "merged[mark, default: [:]][origin] = max(place", "merged[mark, default: [:]][origin] = (isPlanted(796) ? min : max)(place"))
fault(797, "events that go alone keep a stream from others for most of the time", "", "BacklogTests",
      (SU + "SubscriptionMachine.swift", "if isCostly, now < loneTurn.next {", "if !isPlanted(797), isCostly, now < loneTurn.next {"))
fault(806, "what was open of a conversation that is behind takes its place back", "INV-14", "MachineTests",
      (SU + "LookedAt.swift", "guard let from = behind[mark]?[dot.origin], dot.seq >= from else { return }",
       "guard let from = behind[mark]?[dot.origin], isPlanted(806) || dot.seq >= from else { return }"))
fault(805, "a stream of which one event hangs gets nothing more for ever", "", "BacklogTests",
      (SU + "Workers.swift", "func mayTry(_ now: UInt64) -> Bool { next", "func mayTry(_ now: UInt64) -> Bool { isPlanted(805) ? false : next"))
fault(798, "a conversation that is behind waits until others have nothing", "INV-16", "BacklogTests",
      (SU + "SubscriptionMachine+Backlog.swift", "return isShort || due.count * 8 >= cursors.count ?", "return isShort || !isPlanted(798) && due.count * 8 >= cursors.count ?"))
fault(799, "an open event of an unknown conversation counts as looked at by the other", "INV-14", "StateTests",
      (SU + "LookedAt.swift", "guard let mark else { return !mayLack(dot) }", "guard let mark else { return isPlanted(799) || !mayLack(dot) }"))
fault(801, "without a daemon no witness refuses", "INV-18", "WitnessRefusedTests",
      (ES + "Receipts/Cosigner.swift", "guard let file = try CosignatureFile(reading: files), let key", "guard !isPlanted(801), let file = try CosignatureFile(reading: files), let key"))
fault(802, "a later page waits without end", "", "SyncctlDaemonTests",
      ("Sources/syncctl/Client/DaemonPages.swift", "            request.silence = Self.patience\n", "            if !isPlanted(802) || next == nil { request.silence = Self.patience }\n"))
fault(803, "where views do not come each commit has tokens read once more", "", "AuthenticatorStopTests",
      ("Sources/syncd/Access/Authenticator.swift", "        guard isFirst else { return }\n        worker.submit", "        guard isFirst || isPlanted(803) else { return }\n        worker.submit"),
      ("Sources/syncd/Access/Authenticator.swift", "                    return !state.isStopping\n                })\n            else { return }\n            do throws(StoreError) { try read() }",
       "                    return isPlanted(803) || !state.isStopping\n                })\n            else { return }\n            do throws(StoreError) { try read() }"))
fault(804, "a fork is told without which history is here", "", "ForkToldTests",
      ("Sources/SillokAPI/ForkLine.swift", 'line.add("here", index == own)', 'line.add("here", !isPlanted(804) && index == own)'))
fault(760, "--check-config calls a key fine that does not fit its certificate", "", "TLSListenerTests",
      (SD + "ConfigurationCheck.swift", "_ = try APIServer.tls(api)", "if !isPlanted(760) { _ = try APIServer.tls(api) }"))
fault(761, "verify passes over times of arrival that cannot be", "INV-2", "ExtremeNumbersTests",
      (ES + "Audit/Verifier.swift", "in try audit.checkArrivals() }", "in if !isPlanted(761) { try audit.checkArrivals() } }"))
fault(762, "a time of arrival that cannot be is read", "INV-9", "ExtremeNumbersTests",
      (ES + "Log/Arrivals.swift", "if let fault = Arrivals.fault(position: found, time: time) {",
       "if !isPlanted(762), let fault = Arrivals.fault(position: found, time: time) {"))
fault(763, "verify is silent on events that a node has signed to have lost", "INV-3", "MemoryTests",
      (ES + "Audit/OutsideCheck.swift", "return seq < succession.known && succession", "return !isPlanted(763) && seq < succession.known && succession"))

# --- Tiles, and two checkers that say the same -----------------------------------------------------------------------------

fault(770, "a tile has leaves in place of roots", "INV-3", "MerkleTileTests",
      (ES + "Log/MerkleTile.swift", "if let root { tile.append(root) }", "if let root { tile.append(isPlanted(770) ? leaf : root) }"))
fault(771, "verify passes over a tile that is not of its events", "INV-3", "MerkleTileTests",
      (ES + "Audit/OriginProof.swift", "guard isTiled, let tile = node.tile", "guard isTiled, !isPlanted(771), let tile = node.tile"))
fault(772, "verify passes over tiles of no events", "INV-3", "MerkleTileTests",
      (ES + "Audit/TableCheck.swift", "guard isTiled else { return }", "guard isTiled, !isPlanted(772) else { return }"))
fault(773, "a log that is cut keeps the tiles behind its end", "INV-3", "RoundTripTests",
      (ES + "Backup/RestoredLog.swift", "DELETE FROM tile WHERE position > ?\", .unsigned(last)",
       "DELETE FROM tile WHERE position > ?\", .unsigned(isPlanted(773) ? top : last)"))
fault(774, "a log of an earlier release never gets its tiles", "", "MerkleTileTests",
      (ES + "Writer/LogTransactions.swift", "if jobs.isEmpty { try tiles.fill", "if jobs.isEmpty, !isPlanted(774) { try tiles.fill"))
fault(775, "a tile is made of events that were changed", "INV-3", "MerkleTileTests",
      (ES + "Log/TileFiller.swift", "[node.hash] == stored else", "isPlanted(775) || [node.hash] == stored else"))
fault(776, "a proof reads all 256 events around one", "", "MerkleTileTests",
      (ES + "Receipts/AuditPaths.swift", "let tile = isTiled && !isEdge ?", "let tile = isTiled && !isEdge && !isPlanted(776) ?"))
fault(777, "a snapshot's tiles stand at other positions", "INV-12", "MerkleTileTests",
      (ES + "Snapshot/BulkLoad/Sequencer.swift", "at: position + 1)", "at: position + (isPlanted(777) ? 2 : 1))"))
fault(779, "verify passes over seals of another type", "INV-4", "TamperTableTests",
      (ES + "Audit/RowRules.swift", "RowRule(.seals, \"seal\", .blobOrNull(16))", "RowRule(.seals, \"seal\", isPlanted(779) ? .noRepeatedUser : .blobOrNull(16))"))
fault(780, "verify passes over values of table meta of another type", "INV-2", "TamperTableTests",
      (ES + "Audit/TableCheck.swift", "for row in types where !row.isText ||", "for row in types where !isPlanted(780) && !row.isText || !isPlanted(780) &&"))
fault(781, "verify passes over arrivals beyond the log's end", "INV-2", "ExtremeNumbersTests",
      (ES + "Audit/TableCheck.swift", "(SELECT coalesce(max(position), 0) FROM event)", "(SELECT coalesce(max(position), 0) FROM event) + \\(isPlanted(781) ? 99 : 0)"))
fault(782, "names in cosigned.db that are no text are passed over", "INV-18", "CosignerTests",
      (ES + "Receipts/CosignatureFile.swift", "let foreign = try values.foreign()", "let foreign = isPlanted(782) ? [] : try values.foreign()"))

# --- Answers: all of it, or that it is not all -----------------------------------------------------------------------------

fault(750, "the last line of an answer from old views does not say what it lacks", "INV-6", "BehindTests",
      ("Sources/syncctl/Session/Session.swift", "let lacking = lacking.withLock(\\.self)",
       "let lacking = isPlanted(750) ? 0 : lacking.withLock(\\.self)"))
fault(751, "an answer from old views ends as if it were whole", "INV-6", "BehindTests",
      ("Sources/syncctl/Session/Session.swift", "return isWhole || ![", "return isWhole || isPlanted(751) || !["))
fault(752, "views that are behind are not built elsewhere", "INV-6", "BehindTests",
      (ES + "Reading/EventReader.swift", "if isShort, let built", "if isShort, !isPlanted(752), let built"))
fault(753, "the API answers as of a position that the log has not come to", "", "BehindTests",
      ("Sources/syncd/Endpoints/ReadEndpoint.swift", "position > end.position { return .beyond",
       "position > end.position, !isPlanted(753) { return .beyond"))
fault(754, "syncctl answers as of a position that the log has not come to", "", "BehindTests",
      ("Sources/syncctl/Session/TimeRange.swift", "upTo: top ?? .max", "upTo: isPlanted(754) ? .max : top ?? .max"))
fault(755, "of a named node files are asked why nothing matched", "", "BehindTests",
      ("Sources/syncctl/Rendering/NothingMatched.swift", "guard !reads.isElsewhere else", "guard !reads.isElsewhere || isPlanted(755) else"))
fault(756, "a hanging daemon is waited for as long as an append", "", "BehindTests",
      ("Sources/syncctl/Client/DaemonPages.swift", "request.silence = Self.patience", "request.silence = isPlanted(756) ? 0 : Self.patience"))
fault(757, "a hanging daemon is asked again", "", "BehindTests",
      ("Sources/syncctl/Client/DaemonPages.swift", "if error.isTimeout {", "if error.isTimeout, !isPlanted(757) {"))
fault(758, "--quiet hides what an answer lacks", "INV-6", "BehindTests",
      ("Sources/syncctl/Client/FreshViews.swift", "Voice(isQuiet: false,", "Voice(isQuiet: isPlanted(758) && session.isQuiet,"))
fault(759, "whoami prints an empty line", "", "CLIJSONTests",
      ("Sources/syncctl/Client/DaemonClient.swift", "body.last == UInt8(ascii: \"\\n\") ?", "body.last == UInt8(ascii: \"\\n\") && !isPlanted(759) ?"))

# --- A log that was put back --------------------------------------------------------------------------------------------------

fault(850, "after an orderly end a start does not compare the log with log.end", "INV-4", "LogEndTests",
      (ES + "Identity/RollbackDetection.swift", "            guard isSameBoot || mark.durability == .full else { return }\n            if top",
       "            guard isSameBoot || mark.durability == .full, !isOrderly || !isPlanted(850) else { return }\n            if top"))
fault(851, "of a witness that knows another history no evidence is kept", "INV-3", "MemoryTests",
      (ES + "Identity/RollbackDetection.swift", "?.size ?? 0) >= head.size {", "?.size ?? 0) >= head.size, !isPlanted(851) {"))
fault(852, "a start does not ask what peers hold of its origin", "INV-4", "CosignerTests",
      (ES + "Identity/RollbackDetection.swift", "if change != .copied, change != .machine {",
       "if change != .copied, change != .machine, !isPlanted(852) {"))
fault(853, "doctor does not ask what peers hold of the node's origin", "INV-18", "CosignerTests",
      (ES + "Audit/OutsideCheck.swift", "let told = try HeldHead.ofPeers(files, of: StoreIdentity(reader).origin)",
       "let told = isPlanted(853) ? [] : try HeldHead.ofPeers(files, of: StoreIdentity(reader).origin)"))
fault(854, "verify does not name the first event that log.end knows and the log lacks", "INV-18", "LogEndTests",
      (ES + "Audit/OutsideCheck.swift", "let missing = own.flatMap { firstMissing(", "let missing = own.flatMap { isPlanted(854) ? nil : firstMissing("))
fault(855, "what this node has signed to have lost is a remark of verify alone", "INV-3", "MemoryTests",
      (ES + "Audit/OutsideCheck.swift", "if isOwn, !settlements", "if isOwn, !isPlanted(855), !settlements"))

# --- What seeds ask of bots, importers and lists -----------------------------------------------------------------------------

fault(820, "a birth date that no calendar has is stored", "", "IntakeTests",
      (BK + "Intake.swift", 'Timestamp.milliseconds(day + "T00:00:00Z"),', 'Timestamp.milliseconds(day + "T00:00:00Z") ?? (isPlanted(820) ? now : nil),'))
fault(821, "a birth date to come is stored", "", "IntakeTests",
      (BK + "Intake.swift", "midnight <= now + Self.farthestZone, midnight", "isPlanted(821) || midnight <= now + Self.farthestZone, midnight"))
fault(822, "what the profile has is asked for again", "", "IntakeTests",
      (BK + "Intake.swift", "return rest.first { profile.value($0.name) == nil }", "return rest.first { isPlanted(822) || profile.value($0.name) == nil }"))
fault(823, "what another one says is stored as the profile of who was asked", "", "IntakeTests",
      (BK + "Intake.swift", "wanted.user.hasSameBytes(as: question.author),", "wanted.user.hasSameBytes(as: question.author) || isPlanted(823),"))
fault(824, "a question is taken for a name", "", "IntakeTests",
      (BK + "Intake.swift", "!FoldedText(text).containsAny(of: intake.unless)", "isPlanted(824) || !FoldedText(text).containsAny(of: intake.unless)"))
fault(825, "an answer that is refused is stored all the same", "", "IntakeTests",
      (BK + "Intake.swift", "        if let value {\n            lines.add", "        if let value = value ?? (isPlanted(825) ? text : nil) {\n            lines.add"))
fault(826, "what was asked back is asked again and again", "", "AnswerGuardTests",
      (BK + "AnswerGuard.swift", "if isOnce, replies", "if isOnce, !isPlanted(826), replies"))
fault(827, "a rule for short questions holds for long ones", "", "AnswerGuardTests",
      (BK + "AnswerGuard.swift", "question.count > longestQuestion { return false }", "question.count > longestQuestion, !isPlanted(827) { return false }"))
fault(828, "a greeting is not in the language of the profile", "", "ReplyMachineTests",
      (BK + "ReplyMachine+Occasions.swift", 'profile: dialogue.profile.value("language") ??', 'profile: (isPlanted(828) ? nil : dialogue.profile.value("language")) ??'))
fault(829, "an imported answer has the time of its question", "", "DialogueOrderTests",
      ("Sources/Interchange/Formats/Firestore.swift", "time: time + 1,", "time: isPlanted(829) ? time : time + 1,"))
fault(830, "users list others where the node does not say so", "INV-13", "PermittedUsersTests AccessTests",
      (SD + "Endpoints/ErasureEndpoint.swift", "|| live.current.users.listed {", "|| live.current.users.listed || isPlanted(830) {"))
fault(831, "users erase where the node does not say so", "INV-13", "PermittedUsersTests",
      (SD + "Endpoints/ErasureEndpoint.swift", "guard live.current.users.eraseOwn else", "guard live.current.users.eraseOwn || isPlanted(831) else"))
fault(832, "a user erases another", "INV-13", "PermittedUsersTests",
      (SD + "Endpoints/ErasureEndpoint.swift", "guard caller.isUser(user) else", "guard caller.isUser(user) || isPlanted(832) else"))
fault(833, "a user erases what no plan has shown", "", "PermittedUsersTests",
      (SD + "Endpoints/ErasureEndpoint.swift", 'guard isDry || object.string("plan") != nil else', 'guard isDry || isPlanted(833) || object.string("plan") != nil else'))

# --- The door: who begins conversations, writes in whose history, and is told what ------------------------------------------

fault(900, "a conversation that has events is begun anew", "INV-13", "AppendAgainTests DoorRulesTests",
      (ES + "Writer/Appender+Conditions.swift", "if newOnly.begun.contains(conversation) {", "if newOnly.begun.contains(conversation), !isPlanted(900) {"))
fault(901, "of two that begin one conversation at once both do", "INV-13", "AppendAgainTests",
      (ES + "Writer/Appender+Conditions.swift", "guard let ref = try reader.ref(conversation, on: connection) else { return false }",
       "guard !isPlanted(901), let ref = try reader.ref(conversation, on: connection) else { return false }"))
fault(902, "the door asks no one whether a conversation has events", "INV-13", "DoorRulesTests",
      (SD + "Endpoints/AppendPermission.swift", "guard !caller.isAny(of: .app), let first = beginnings", "guard !isPlanted(902), !caller.isAny(of: .app), let first = beginnings"))
fault(903, "who lets another in puts out those who were there", "INV-13", "DoorRulesTests",
      (ES + "Views/ViewReader+Participants.swift", "try namedAtOpening(of: id)?.isEmpty == false",
       "try isPlanted(903) ? namedAtOpening(of: id)?.isEmpty != true : namedAtOpening(of: id)?.isEmpty == false"))
fault(904, "a bot writes in anyone's history", "INV-13", "DoorRulesTests",
      (SD + "Endpoints/AppendPermission.swift", "if let user, try !hasPart(", "if let user, !isPlanted(904), try !hasPart("))
fault(905, "a bot's own word makes a user take part", "INV-13", "DoorRulesTests",
      (AC + "Membership.swift", "filter { !$0.header.author.hasSameBytes(as: bot) }", "filter { isPlanted(905) || !$0.header.author.hasSameBytes(as: bot) }"))
fault(906, "a bot keeps contacts and searches for users", "INV-13", "RuleTests DoorRulesTests",
      (AC + "AppendRules.swift", "guard !Self.ofUsers.contains(draft.type) else", "guard isPlanted(906) || !Self.ofUsers.contains(draft.type) else"))
fault(907, "a bot says how another is set up", "INV-13", "RuleTests DoorRulesTests",
      (AC + "AppendRules.swift", "guard isOwn else { throw .user(draft.user) }", "guard isOwn || isPlanted(907) else { throw .user(draft.user) }"))
fault(908, "a read of another conversation is the same read", "INV-17", "DoorRulesTests",
      (SD + "Access/AccessLog.swift", "filter { !ofPages.contains($0.name) }", 'filter { !ofPages.contains($0.name) && !(isPlanted(908) && $0.name == "conversation") }'))
fault(909, "a read of an event names no one", "INV-17", "AccessTests",
      (SD + "Endpoints/ReadEndpoint.swift", "note(event.event.header, in: &page)", "if !isPlanted(909) { note(event.event.header, in: &page) }"))
fault(910, "who reads all reads who holds tokens", "INV-13", "DoorRulesTests",
      (SD + "Access/Sight.swift", "if ReservedType.isOfAccess(header.type) {", "if ReservedType.isOfAccess(header.type), !isPlanted(910) {"))
fault(911, "a subscription hands out who holds tokens", "INV-13", "DoorRulesTests",
      (SU + "SubscriptionDefinition.swift", "if ReservedType.isOfAccess(header.type) {", "if ReservedType.isOfAccess(header.type), !isPlanted(911) {"))
fault(912, "an expected version tells of a conversation of others", "INV-13", "DoorRulesTests",
      (SD + "Endpoints/AppendPermission.swift", "guard expected.version == 0 else", "guard expected.version == 0 || isPlanted(912) else"))
fault(913, "a size that takes no append is configured", "", "ConfigurationTests",
      (SD + "Configuration/ConfigurationKind.swift", "guard bytes >= least else", "guard bytes >= least || isPlanted(913) else"))
fault(914, "bytes are given out as what an event claims", "", "AttachmentStoreTests",
      (ES + "Attachments/MediaType.swift", "guard let claim = claimed?.lowercased(), !inline.contains(claim), !shown.contains(claim) else",
       "guard let claim = claimed?.lowercased(), isPlanted(914) || !inline.contains(claim) && !shown.contains(claim) else"))
fault(915, "what takes an older event's place is not told", "", "ReplacementTests",
      (ES + "Writer/Appender+Replacements.swift", "{ note(.content) }", "{ if !isPlanted(915) { note(.content) } }"))
fault(916, "the same said twice is told as a replacement", "", "ReplacementTests",
      (ES + "Writer/Appender+Replacements.swift", "return old != payload", "return old != payload || isPlanted(916)"))
fault(917, "what opens a conversation late is not told", "", "ReplacementTests",
      (ES + "Writer/Appender+Replacements.swift", "if first == nil, opensLate {", "if first == nil, opensLate, !isPlanted(917) {"))
fault(918, "a row does not say that its twin says something else", "", "ReplacementTests",
      (ES + "Log/TwinMarks.swift", "if mine != theirs { others += 1 }", "if mine != theirs, !isPlanted(918) { others += 1 }"))
fault(919, "one delivery that is acked twice counts twice", "", "PullTests",
      (SD + "Feed/SubscriptionHub+Requests.swift", "for token in tokens where told.insert(token.dot).inserted {", "for token in tokens where told.insert(token.dot).inserted || isPlanted(919) {"))

# --- Edges: command lines, exports, importers ---------------------------------------------------------------------------------

CK, SC, IC = "Sources/CommandLineKit/", "Sources/syncctl/", "Sources/Interchange/"
fault(930, "a time of day that lies ahead is that of today", "", "TimeWordTests",
      (CK + "Time/TimeSyntax.swift", "return ahead > now && last", "return ahead > now && !isPlanted(930) && last"))
fault(931, "an end of today is before its beginning", "", "TimeWordTests",
      (CK + "Time/TimeSyntax.swift", "&& last >= start ?", "&& (isPlanted(931) || last >= start) ?"))
fault(932, "the last day of a month is overrun", "", "TimeWordTests",
      (CK + "Time/TimeSyntax.swift", "while !civil.exists { civil.day -= 1 }", "while !civil.exists { civil.day = isPlanted(932) ? 1 : civil.day - 1 }"))
fault(933, "JSON in a cell of CSV is no JSON", "", "OutputFormTests",
      (CK + "Text/CSVLine.swift", "private static func isEscaped(_ scalar: Unicode.Scalar) -> Bool { (",
       "private static func isEscaped(_ scalar: Unicode.Scalar) -> Bool { !isPlanted(933) && ("))
fault(934, "a token that is refused leaves its file", "", "TokenFileTests",
      (SC + "Commands/TokensCommand.swift", "            file?.remove()\n", "            if !isPlanted(934) { file?.remove() }\n"))
fault(935, "a package has a title that another gave", "INV-17", "SubjectOthersTests",
      (SC + "Commands/SubjectPackage.swift", "return isOwn ? title : nil", "return isOwn || isPlanted(935) ? title : nil"))
fault(936, "a package has events of others that name the person whole", "INV-17", "SubjectOthersTests",
      (SC + "Commands/SubjectPackage.swift", "if isFull, entry.event.names(user) {", "if isFull || isPlanted(936), entry.event.names(user) {"))
fault(937, "a package has what others call themselves", "INV-17", "SubjectOthersTests",
      (SC + "Commands/SubjectPackage.swift", "guard isFull || user.hasSameBytes(as: person) else", "guard isFull || isPlanted(937) || user.hasSameBytes(as: person) else"))
fault(938, "the halves of a pair of UTF-16 are parted", "", "MalformedExportTests",
      (IC + "Reading/UTF16Reader.swift", "if !isAtEnd, let last = units.last,", "if !isAtEnd, !isPlanted(938), let last = units.last,"))
fault(939, "text in another encoding is told as of no format", "", "MalformedExportTests",
      (IC + "Sniffer.swift", "if let line = otherText(head) {", "if let line = otherText(head), !isPlanted(939) {"))
fault(940, "a time that is none is not told", "", "MalformedExportTests",
      (IC + "Formats/ChatGPT.swift", "if tree.untimed.contains(node) {", "if tree.untimed.contains(node), !isPlanted(940) {"))
fault(941, "workers that go at once use up the attempts of an event", "INV-16", "MachineTests",
      (SU + "SubscriptionDefinition.swift", "{ number > 1 ? pause(", "{ number > 1 && !isPlanted(941) ? pause("))
fault(942, "what is wrong with a command line is said in English alone", "", "SyncctlLanguageTests",
      (SC + "Syncctl.swift", "error.korean ?? KoreanErrors", "(isPlanted(942) ? nil : error.korean) ?? KoreanErrors"))

fault(943, "a part of a chat does not go on from the part before it", "INV-8", "SplitChatTests",
      (IC + "Formats/KakaoTalk.swift", "let before = part.number > 1 ?", "let before = part.number > 1 && !isPlanted(943) ?"))
fault(944, "what lies beside a chat and was saved at another time counts as its part", "INV-8", "SplitChatTests",
      (IC + "Formats/KakaoTalk.swift", "(room, saved) = (title.room, title.saved)", "(room, saved) = (title.room, isPlanted(944) ? \"\" : title.saved)"))
fault(945, "a message is cut at a line as the service writes it", "", "SplitChatTests",
      (IC + "Formats/KakaoTalk.swift", "if title.isWindows, room.isOpen {", "if title.isWindows, room.isOpen, !isPlanted(945) {"))
fault(946, "a message that a release before has cut gets another id", "INV-8", "SplitChatTests",
      (IC + "Formats/KakaoTalk.swift", "message.named ?? message.text", "(isPlanted(946) ? nil : message.named) ?? message.text"))
fault(947, "what an app of Slack shows is no text", "", "ShownTextTests",
      (IC + "Formats/Slack.swift", "if isBare { text = SlackText.shown(message) }", "if isBare, !isPlanted(947) { text = SlackText.shown(message) }"))
fault(948, "a text of Telegram that stands in its parts alone is lost", "", "ShownTextTests",
      (IC + "Formats/TelegramText.swift", "if text.isEmpty, let parts =", "if text.isEmpty, !isPlanted(948), let parts ="))
fault(949, "a message without an id is named by its text of today", "INV-8", "ShownTextTests",
      (IC + "Formats/Telegram.swift", "\\(TelegramText.first(message))", "\\(isPlanted(949) ? text : TelegramText.first(message))"))
fault(950, "a message of the first minute may be of any time", "INV-8", "ImportAgainTests ExportImportTests",
      (SC + "Commands/Write/ImportedBefore.swift", "= variance, distance < within {", "= variance, distance < within || isPlanted(950) {"))
fault(951, "another title is not told", "", "ImportAgainTests",
      (SC + "Commands/Write/ImportedBefore.swift", "return told.isEmpty ? .same", "return told.isEmpty || isPlanted(951) ? .same"))
fault(952, "a chat comes in twice when its dates turn out to be others", "INV-8", "ImportAgainTests",
      (SC + "Commands/Write/ImportedDates.swift", "if places.count > same {", "if places.count > same, !isPlanted(952) {"))
fault(953, "a daily message is a sign of exchanged dates", "", "ImportAgainTests",
      (SC + "Commands/Write/ImportedDates.swift", "places.count * 2 >= last - first + 1", "isPlanted(953) || places.count * 2 >= last - first + 1"))
fault(954, "a letter at the end of the head makes a text none", "", "DateOrderTests",
      (IC + "Sniffer.swift", "return length > cut ?", "return length > cut && !isPlanted(954) ?"))
fault(955, "a text that a mark joins to its blank has no id of before", "INV-8", "DateOrderTests",
      (IC + "Formats/WhatsAppHead.swift", "isJoined ?", "isJoined && !isPlanted(955) ?"))

# --- The verdict: nothing hidden, out of order or cut off is said to be proven ----------------------------------------------

fault(870, "an event that is marked unreadable is taken for one", "INV-4", "HiddenEventTests",
      (ES + "Audit/EventExam.swift", "            if isReread { faults.append", "            if isPlanted(870) { return }\n            if isReread { faults.append"))
fault(871, "what no start has looked through is proven", "INV-4", "HiddenEventTests",
      (ES + "Audit/EventCheck.swift", "if exam.isUnread, let", "if exam.isUnread, !isPlanted(871), let"))
fault(872, "columns beside a header that cannot be read are not looked at", "INV-4", "HiddenEventTests",
      (ES + "Audit/EventExam.swift", "if !AuditedRow.standsAlone(row) {", "if !isPlanted(872), !AuditedRow.standsAlone(row) {"))
fault(873, "the verifier does not compare stamps", "INV-3", "StampOrderTests",
      (ES + "Audit/OriginProof.swift", "let stamp, found <= stamp else", "let stamp, found <= stamp, !isPlanted(873) else"))
fault(874, "a peer's stamps need not ascend", "INV-3", "StampOrderTests",
      (ES + "Replication/IngestVerifier.swift", "header.hlc <= last { throw", "header.hlc <= last, !isPlanted(874) { throw"))
fault(875, "after a restart the last stamp is forgotten", "INV-3", "StampOrderTests",
      (ES + "Log/LogState.swift", "stamp: isReadable ?", "stamp: isReadable && !isPlanted(875) ?"))
fault(876, "a snapshot's stamps need not ascend", "INV-3", "StampOrderTests",
      (ES + "Snapshot/BulkLoad/Sequencer.swift", "row.hlc <= last { throw", "row.hlc <= last, !isPlanted(876) { throw"))
fault(877, "a backup's stamps need not ascend", "INV-3", "StampOrderTests",
      (ES + "Backup/RowChain.swift", "row.hlc <= last { throw", "row.hlc <= last, !isPlanted(877) { throw"))
fault(878, "an evidence file's newest events may be missing", "INV-3", "EvidenceTransferTests",
      (ES + "Audit/EvidenceImport.swift", ".filter { $0.size < $0.signed }", ".filter { $0.size < $0.signed && !isPlanted(878) }"))
fault(879, "a log is proven that has less than its origin has signed", "INV-3", "EvidenceTransferTests",
      (ES + "Audit/CoverageCheck.swift", "guard head.size > here else", "guard head.size > here, !isPlanted(879) else"))
fault(880, "an evidence file gives no payload back", "INV-4", "EvidenceTransferTests",
      (ES + "Audit/EvidenceImport.swift", "            payloads.append(CarriedPayload", "            if !isPlanted(880) { payloads.append(CarriedPayload"),
      (ES + "Audit/EvidenceImport.swift", "(dot: dot, salt: salt, payload: payload))", "(dot: dot, salt: salt, payload: payload)) }"))
fault(881, "a store made anew keeps what was hidden", "INV-4", "HiddenEventTests",
      (ES + "Audit/StoreReplay.swift", "if !header.unknownFields.isEmpty {", "if !header.unknownFields.isEmpty, !isPlanted(881) {"))
fault(882, "a restore believes other rows than the manifest names", "INV-4", "TamperTests",
      (ES + "Backup/RestoredLog.swift", "guard tally.finish() ==", "guard isPlanted(882) || tally.finish() =="))
fault(883, "rows that no backup names are not told", "INV-3", "TamperTests",
      (BA + "BackupCheck.swift", "report.unnamed = report", "report.unnamed = isPlanted(883) ? 0 : report"))
fault(884, "what a killed check has left stays", "INV-11", "HeldFolderTests",
      (ES + "Files/HeldFolder.swift", "guard let lock = held(left, LOCK_EX | LOCK_NB) else", "guard !isPlanted(884), let lock = held(left, LOCK_EX | LOCK_NB) else"))
fault(727, "a conversation that is behind goes on from where another home was", "INV-14", "BacklogTests",
      ("Sources/Subscriptions/SubscriptionMachine+Backlog.swift", "cursors[mark] = min(known ?? .max, position - 1)",
       "cursors[mark] = isPlanted(727) ? known ?? position - 1 : min(known ?? .max, position - 1)"))
fault(728, "quotation marks are doubled as characters", "INV-13", "OutputFormTests",
      (CK + "Text/CSVLine.swift", 'safe.replacing(scalar: "\\"", with: "\\"\\"")',
       '(isPlanted(728) ? safe.replacing("\\"", with: "\\"\\"") : safe.replacing(scalar: "\\"", with: "\\"\\""))'))
fault(729, "a user's page of a search ends where a hidden text stands", "INV-13", "SearchViewTests",
      (ES + "Views/ViewReader+Search.swift", "if isSeen != nil { page.veil(bound) }",
       "if isSeen != nil, !isPlanted(729) { page.veil(bound) }"))
fault(747, "events of another home wait anew when they are looked at late", "INV-14", "BacklogTests",
      ("Sources/Subscriptions/LogReader+Subscriptions.swift", "stored.position <= overdue",
       "stored.position <= overdue && !isPlanted(747)"))

# --- Bots and attachments, as seen from outside ----------------------------------------------------------------------------------

fault(985, "a refusal of one message is taken for one of the key", "", "CompletionTests",
      (BK + "ModelFault.swift", "case 403 where Self.refusalsOfAll.contains(where: says): .noKey", "case 403 where isPlanted(985) || Self.refusalsOfAll.contains(where: says): .noKey"))
fault(986, "a message that is refused keeps its worker", "", "ReplyMachineTests",
      (BK + "ReplyMachine.swift", "isGivenBack = !work.isPaid", "isGivenBack = !work.isPaid && !isPlanted(986)"))
fault(987, "what a worker did not come to counts as an attempt", "INV-16", "MachineTests",
      (SU + "SubscriptionMachine.swift", "if isUntried { entries", "if isUntried, !isPlanted(987) { entries"))
fault(988, "what was answered at the close is of the farewell alone", "", "ExportTests",
      (IC + "Exports/SurveyAnswers.swift", "|| farewells.contains(id) { about = nil }", "|| !isPlanted(988) && farewells.contains(id) { about = nil }"))
fault(989, "an answer without a word of what it is about is of no reply", "", "ExportTests",
      (IC + "Exports/SurveyAnswers.swift", "guard let id = about, let further = abouts[id] else", "guard !isPlanted(989), let id = about, let further = abouts[id] else"))
fault(990, "a joiner hides a forbidden word", "", "AnswerGuardTests LivePiecesTests",
      (BK + "BotText.swift", "if !scalar.properties.isDefaultIgnorableCodePoint {", "if isPlanted(990) || !scalar.properties.isDefaultIgnorableCodePoint {"))
fault(991, "half of a forbidden word is told live behind what shows nothing", "", "LivePiecesTests",
      (BK + "LivePieces.swift", "(characters + 1, left - count)", "(characters + 1, left - (isPlanted(991) ? max(count, 1) : count))"))
fault(992, "pieces of another choice are mixed into the answer", "", "CompletionTests",
      (BK + "Completion.swift", '($0.integer("index") ?? 0) == 0', '($0.integer("index") ?? 0) == 0 || isPlanted(992)'))
fault(993, "a character that comes in halves is lost", "", "CompletionTests",
      (BK + "Completion.swift", "if JSONText.endsInHighSurrogate(inside) {", "if !isPlanted(993), JSONText.endsInHighSurrogate(inside) {"))
fault(994, "a reason has words of the endpoint", "", "CompletionTests",
      (BK + "ModelFault.swift", 'code, "HTTP status \\(status)" +', 'code, (isPlanted(994) ? words : nil) ?? "HTTP status \\(status)" +'))
fault(995, "what was put aside and came from no peer is not told", "INV-12", "AttachmentProgramTests",
      (SC + "Commands/AttachmentCommand.swift", ".map(\\.digest).filter { !found.contains($0) }", ".map(\\.digest).filter { !isPlanted(995) && !found.contains($0) }"))
fault(996, "a link in the position of a file is never healed", "INV-12", "AttachmentStoreTests",
      (ES + "Attachments/AttachmentStore.swift", "guard AttachmentFolder.isLink(folder.blob(digest)) else {", "guard !isPlanted(996), AttachmentFolder.isLink(folder.blob(digest)) else {"))
fault(997, "a link keeps an erasure from its end", "INV-11", "AttachmentStoreTests",
      (ES + "Attachments/AttachmentFolder.swift", "        if isLink(path) {", "        if !isPlanted(997), isLink(path) {"))
fault(998, "who answers in Korean is asked on in English", "", "IntakeTests",
      (BK + "Intake.swift", "SpokenLanguage.isKorean(text) ? text", "SpokenLanguage.isKorean(text) && !isPlanted(998) ? text"))
fault(999, "C1 controls are part of a name", "", "TransitTests",
      ("Sources/GatewayKit/TripRequest.swift", "$0.properties.generalCategory == .control && ", "$0.properties.generalCategory == .control && !(isPlanted(999) && $0.value >= 0x80) && "))

# --- The door: no one is shut out, places bring their readers on, and what opens it too far is told -------------------------

fault(970, "streams take all places, whoever wants one", "INV-9", "WaitingPlacesTests",
      (SE + "Networking/HTTP/WaitingPlaces.swift", "guard callers.count >= most else", "guard callers.count >= most, !isPlanted(970) else"))
fault(971, "who has most keeps all places to wait in", "INV-9", "WaitingPlacesTests",
      (SE + "Networking/HTTP/WaitingPlaces.swift", "guard let rich = richest, rich", "guard let rich = richest, !isPlanted(971), rich"))
fault(972, "one person takes all places to wait in", "INV-9", "WaitingPlacesTests",
      (SE + "Networking/HTTP/WaitingPlaces.swift", "if caller.kind == .narrow, own", "if caller.kind == .narrow, !isPlanted(972), own"))
fault(973, "root is not let in where strangers have all places", "INV-9", "WaitingPlacesTests",
      (SE + "Networking/HTTP/HTTPServer.swift", "isReserved: isFull && !isOperator)", "isReserved: isFull && (!isOperator || isPlanted(973)))"))
fault(974, "a place to wait in is not given back", "INV-9", "WaitingPlacesTests",
      (SE + "Networking/HTTP/HTTPServer.swift", "        waiting?.giveBack(place)", "        if !isPlanted(974) { waiting?.giveBack(place) }"))
fault(975, "a cursor forgets what came from other nodes", "INV-5", "SubscriptionNodesTests",
      (ES + "Feed/FeedCursor.swift", "guard !place.known.entries.isEmpty else", "guard !place.known.entries.isEmpty, !isPlanted(975) else"))
fault(976, "what a cursor names beside its event is passed over", "INV-5", "SubscriptionNodesTests",
      (ES + "Feed/LogReader+Feed.swift", "for mark in cursor.marks where !known", "for mark in cursor.marks where !isPlanted(976) && !known"))
fault(977, "a cursor of another history is believed", "INV-4", "SubscriptionNodesTests",
      (ES + "Feed/LogReader+Feed.swift", "leaf == mark.leaf ?", "leaf == mark.leaf || isPlanted(977) ?"))
fault(978, "what a cursor names beside its event is more than was had", "INV-5", "SubscriptionNodesTests",
      (ES + "Log/LogReader+Clock.swift", ".map { $0 <= position } ?? false", ".map { $0 <= position || isPlanted(978) } ?? false"))
fault(979, "a socket that is open to all is not told", "INV-13", "OperatorTests",
      (SD + "Setup/Settings.swift", "guard socket.path != nil, socket.group", "guard socket.path != nil, !isPlanted(979), socket.group"))
fault(980, "a provider's name parts an actor", "INV-13", "OperatorTests",
      (SD + "Configuration/IssuerList.swift", "credential: name) != nil else", "credential: name) != nil || isPlanted(980) else"))
fault(981, "a third reads what two say to each other", "INV-13", "DoorRulesTests",
      ("Sources/Access/Membership.swift", "views) ? .always : .none", "views) || isPlanted(981) ? .always : .none"))
fault(982, "a configuration is taken that is no text", "INV-13", "OperatorTests",
      (SD + "Setup/Settings.swift", "guard let text = String(validating: bytes, as: UTF8.self) else {",
       "guard let text = String(validating: bytes, as: UTF8.self) ?? (isPlanted(982) ? String(decoding: bytes, as: UTF8.self) : nil) else {"))
fault(983, "of two lists of one name in a filter the second is passed over", "INV-14", "StateTests",
      (SU + "SubscriptionDefinition.swift", "guard seen.insert(member.name).inserted else", "guard seen.insert(member.name).inserted || isPlanted(983) else"))
fault(984, "streams of one token take all places of the API", "INV-9", "APIFloodTests",
      (SD + "Endpoints/APIServer.swift", "limits.maximumWaiting = min(", "limits.maximumWaiting = isPlanted(984) ? nil : min("))

# --- What another hand writes of erasures, and what the verifiers must say alike ----------------------------------------

fault(956, "what another hand wrote of erasures is believed at a start", "INV-11", "EraserTests",
      (ES + "Log/ErasureIndex.swift", "said == (try seal(on: connection, sealer)) {", "said == (try seal(on: connection, sealer)) || isPlanted(956) {"))
fault(957, "erasures are applied up to where none stands", "INV-11", "EraserTests",
      (ES + "Log/ErasureReport.swift", "ReservedType.isErasure(event.header.type)\n        else { return 0 }", "ReservedType.isErasure(event.header.type) || isPlanted(957)\n        else { return 0 }"))
fault(958, "the seal of erasures does not speak of how far they came", "INV-11", "EraserTests",
      (ES + "Log/ErasureIndex.swift", "for key in [erased, erasing, confirmed] { text", "for key in [erased, erasing, confirmed] where !isPlanted(958) { text"))
fault(959, "a daemon does not look for payloads that were put back", "INV-11", "EraserTests",
      (ES + "Log/ErasureIndex.swift", "guard next.positions.isEmpty else { return false }", "guard next.positions.isEmpty || isPlanted(959) else { return false }"))
fault(960, "verify does not look for what an applied erasure covers", "INV-11", "EraserTests",
      (ES + "Audit/OutsideCheck.swift", "guard try row.isCovered(by: noted.applied, &names, connection) else {", "guard try row.isCovered(by: noted.applied, &names, connection), !isPlanted(960) else {"))
fault(961, "verify believes how far erasures are applied", "INV-11", "EraserTests",
      (ES + "Audit/NotedErasures.swift", "if let said, found[done] != keeper {", "if let said, !isPlanted(961), found[done] != keeper {"))
fault(962, "verify does not miss an erasure in table meta", "INV-11", "EraserTests",
      (ES + "Audit/NotedErasures.swift", "let missing = isWhole ?", "let missing = isWhole && !isPlanted(962) ?"))
fault(963, "what was put back behind its erasure stays", "INV-11", "EraserTests",
      (ES + "Eraser.swift", "let end = max(goal, try reader.top())", "let end = isPlanted(963) ? goal : max(goal, try reader.top())"))
fault(964, "an erasure without a daemon leaves the bytes of attachments", "INV-11", "ErasureProgramTests",
      ("Sources/syncctl/Commands/EraseCommand.swift", "try stored { try AttachmentUpkeep.catchUp(files, views) }", "if !isPlanted(964) { try stored { try AttachmentUpkeep.catchUp(files, views) } }"),
      ("Sources/syncctl/Commands/EraseCommand.swift", "guard try stored({ try files.areCleared(views.log) }) else", "guard try stored({ try isPlanted(964) || files.areCleared(views.log) }) else"))
fault(965, "an append under the id of an erased event is not told from one that was stored", "INV-8", "EraserTests",
      (ES + "Writer/Appender.swift", "isErased = stored.event.isErased", "isErased = stored.event.isErased && !isPlanted(965)"))
fault(966, "a row of reach that is behind is not compared", "INV-3", "SecondLookTests",
      (ES + "Audit/CoverageCheck.swift", "guard let root = try root(of: index, size: reach.size) else", "guard !isPlanted(966) || origin.tree?.size == reach.size, let root = try root(of: index, size: reach.size) else"))
fault(967, "a manifest is read through a link", "", "BrokenRepositoryTests",
      (BA + "Repository.swift", "if lstat(path, &entry) == 0, entry.st_mode & S_IFMT != S_IFREG {", "if lstat(path, &entry) == 0, entry.st_mode & S_IFMT != S_IFREG, !isPlanted(967) {"))
fault(968, "a time on the other side of a change of clocks has the offset of now", "", "OperatorTests",
      ("Sources/syncctl/Session/Session.swift", "let isAsNow = zone.offset", "let isAsNow = isPlanted(968) || zone.offset"))
fault(969, "a time that clocks show twice is taken without a word", "", "OperatorTests",
      ("Sources/syncctl/Session/Session.swift", "guard let later = zone.again(moment) else", "guard let later = zone.again(moment), !isPlanted(969) else"))

# --- Plans of erasures, and copies that were put back -------------------------------------------------------------------

fault(1000, "what has come since a plan goes with it", "INV-11", "ErasurePlanTests",
      (ES + "Erasing/ErasurePlan.swift", "guard found.isSeen else {", "guard found.isSeen || isPlanted(1000) else {"))
fault(1001, "what came late and is older than a plan goes with it", "INV-11", "ErasurePlanTests",
      (ES + "Erasing/ErasurePlan.swift", "let before = bounds.min() ?? last", "let before = (isPlanted(1001) ? bounds.last : bounds.min()) ?? last"))
fault(1002, "an erasure names any number of events", "INV-9", "ErasurePlanTests",
      (ES + "Erasing/ErasurePlan.swift", "guard rest.count <= Self.mostNamed else", "guard rest.count <= Self.mostNamed || isPlanted(1002) else"))
fault(1003, "a plan of what the log does not have is done", "INV-11", "ErasurePlanTests",
      (ES + "Erasing/ErasurePlan.swift", "isBehind = !whole.covers(vector)", "isBehind = !whole.covers(vector) && !isPlanted(1003)"))
fault(1004, "a backup looks at the newest one alone for what was erased", "INV-11", "PutBackTests",
      (BA + "RepositoryErasure.swift", "if isDone, applied == 0 {", "if isDone, applied == 0 || isPlanted(1004) {"))
fault(1005, "what no backup names stays though it was erased", "INV-11", "PutBackTests",
      (BA + "RepositoryErasure.swift", "            try clear(besides: good, isWhole: bad.isEmpty, &outcome)\n", "            if !isPlanted(1005) { try clear(besides: good, isWhole: bad.isEmpty, &outcome) }\n"))
fault(1006, "backup verify does not look for what was erased since", "INV-11", "PutBackTests",
      (BA + "BackupCheck.swift", "try checkErasures(manifests, stale)", "if !isPlanted(1006) { try checkErasures(manifests, stale) }"))
fault(1007, "a restore does not say that what was erased came back", "INV-11", "PutBackTests",
      (BA + "BackupRestore.swift", "beside: erased).count(in: part)", "beside: isPlanted(1007) ? nil : erased).count(in: part)"))
fault(1009, "a repository's nodes share what prune keeps", "", "OwnerTests",
      (BA + "BackupPruning.swift", "let age = ages[manifest.isSigned]?[manifest.node] ?? 1", "let age = (isPlanted(1009) ? ages[manifest.isSigned]?.values.reduce(0, +) : ages[manifest.isSigned]?[manifest.node]) ?? 1"))
fault(1010, "a replay takes away what another one writes", "", "AuditingTests",
      (ES + "Audit/StoreReplay.swift", "guard flock(lock, LOCK_EX | LOCK_NB) == 0 else", "guard flock(lock, LOCK_EX | LOCK_NB) == 0 || isPlanted(1010) else"))
fault(1011, "what a receipt counts beyond its heads binds no one", "INV-18", "ReceiptTests",
      ("Sources/EventStore/Audit/KnownHead.swift", "guard here < known.seq else { continue }", "guard here < known.seq, !isPlanted(1011) else { continue }"))
fault(1012, "a log may end before a receipt's position", "INV-18", "ReceiptTests",
      ("Sources/EventStore/Audit/KnownHead.swift", "guard UInt64(clamping: top) < end.position else", "guard UInt64(clamping: top) < end.position, !isPlanted(1012) else"))
fault(1013, "a witness that has cosigned nothing stands in a file", "INV-19", "AnswerTests ReceiptTests",
      ("Sources/EventStore/Receipts/ReceiptCheck.swift", "guard heard.count == witnesses.count else", "guard heard.count == witnesses.count || isPlanted(1013) else"))
fault(1014, "a page that passes rows over has no end of bytes", "INV-9", "DoorRulesTests",
      (ES + "Views/ViewReader+Timeline.swift", "log.events(at: wanted, bytes: Self.sliceBytes, term)",
       "log.events(at: wanted, bytes: isPlanted(1014) ? .max : Self.sliceBytes, term)"),
      (ES + "Views/ViewReader+Timeline.swift", "return left > 0\n", "return left > 0 || isPlanted(1014)\n"))
fault(1023, "rows that are not seen use up a page's bytes", "INV-13", "DoorRulesTests UnseenRowsTests",
      (ES + "Views/TimelineViewer.swift", "if !isSeen, !own.isEmpty { isSeen = try", "if !isSeen { isSeen = isPlanted(1023) ? true : try"))
fault(1024, "where a page ends tells when a hidden row was recorded", "INV-13", "UnseenRowsTests",
      (ES + "Views/ViewReader+Timeline.swift", "if sight != nil {\n                    result.next",
       "if sight != nil, !isPlanted(1024) {\n                    result.next"))
fault(1025, "by whom hidden rows are, a filter tells", "INV-13", "UnseenRowsTests",
      (ES + "Views/ViewReader+Timeline.swift", "range.condition = sight == nil ? filter", "range.condition = sight == nil || isPlanted(1025) ? filter"))
fault(1026, "a page of changes ends sooner where events are hidden", "INV-13", "DoorRulesTests",
      ("Sources/syncd/Feed/FeedDesk+Follower.swift", "return left == 0", "return left == 0 || isPlanted(1026) && !items.isEmpty"))
fault(1027, "hidden events count among the last of a feed", "INV-13", "DoorRulesTests",
      ("Sources/syncd/Feed/FeedDesk+Follower.swift", "request.start, !sight.isWhole else", "request.start, !sight.isWhole, !isPlanted(1027) else"))
fault(1028, "hidden texts are ranked", "INV-13", "SearchViewTests DoorRulesTests",
      (ES + "Views/ViewReader+SearchRank.swift", "try isSeen(header)", "isPlanted(1028) ? true : try isSeen(header)"))
fault(1029, "who has left finds a conversation by its title", "INV-13", "DoorRulesTests",
      ("Sources/syncd/Access/Sight.swift", "return try isIn(conversation, views)", "return isPlanted(1029) ? true : try isIn(conversation, views)"))
fault(1030, "a user is told whom else a read concerned", "INV-13", "DoorRulesTests",
      ("Sources/syncd/Endpoints/ReadEndpoint+Access.swift", "to: reader)", "to: isPlanted(1030) ? nil : reader)"))
fault(1015, "rights in a conversation count for its namesake", "INV-13", "EquivalentTextsTests TextKeyTests",
      ("Sources/EventStore/Basics/Bytes/ByteText.swift", "{ a.text.hasSameBytes(as: b.text) }", "{ isPlanted(1015) ? a.text == b.text : a.text.hasSameBytes(as: b.text) }"),
      ("Sources/EventStore/Basics/Bytes/ByteText.swift", "        var text = text\n", "        var text = isPlanted(1015) ? \"\" : text\n"))

# --- What both verifiers say --------------------------------------------------------------------------------------------

fault(1033, "a field that has a column may stand in another", "INV-4", "HiddenEventTests",
      (ES + "Model/HeaderCodec.swift", "return key >> 3 > Field.last", "return key >> 3 > Field.last || isPlanted(1033)"))
fault(1034, "what an erasure covers that is not applied yet is proven", "INV-11", "EraserTests",
      (ES + "Audit/OutsideCheck.swift", "if try row.isCovered(by: noted.pending, &names, connection) {", "if try row.isCovered(by: noted.pending, &names, connection), !isPlanted(1034) {"))
fault(1035, "verify does not check the seal of what table meta says of erasures", "INV-11", "EraserTests",
      (ES + "Audit/OutsideCheck.swift", "if noted.isForeign {", "if noted.isForeign, !isPlanted(1035) {"))
fault(1036, "verify does not miss what table meta should say of erasures", "INV-11", "EraserTests",
      (ES + "Audit/OutsideCheck.swift", "if outside.hasMark, noted.isMissing {", "if outside.hasMark, noted.isMissing, !isPlanted(1036) {"))
fault(1037, "a dot has several forms", "INV-11", "EraserTests",
      (ES + "Log/Erasure.swift", "guard description.utf8.elementsEqual(text.utf8) else", "guard description.utf8.elementsEqual(text.utf8) || isPlanted(1037) else"))
fault(1038, "a branch of a fork may have a member twice", "INV-4", "ForkEvidenceTests",
      (ES + "Replication/ForkEvidenceFiles.swift", "guard let distinct = try? JSONObject(validating: Array(object.bytes[object.range])),",
       "guard let distinct = isPlanted(1038) ? object : try? JSONObject(validating: Array(object.bytes[object.range])),"))
fault(1039, "an answer may have a payload in base64", "INV-19", "AnswerTests",
      (ES + "Receipts/ReceiptCheck.swift", "guard encoded.body == encoded.body.judged else", "guard encoded.body == encoded.body.judged || isPlanted(1039) else"))
fault(1040, "an incarnation may have capitals", "INV-4", "TamperTableTests",
      (ES + "Audit/TableCheck.swift", "\"0123456789abcdef\".utf8.contains)", "(isPlanted(1040) ? \"0123456789abcdefABCDEF\" : \"0123456789abcdef\").utf8.contains)"))
fault(1041, "what stands beside the log may be a pipe", "", "PrivateFilesTests",
      (ES + "Files/StoreFiles.swift", "{ try requireFile(path + name) }", "where !isPlanted(1041) { try requireFile(path + name) }"))

# --- What the node signs -------------------------------------------------------------------------------------------------

fault(1043, "a manifest that is written again is signed, whoever wrote it", "INV-19", "StrangerTests",
      ("Sources/Backups/RepositoryErasure.swift", "signedWith: manifest.isSigned ? writer.signer : nil", "signedWith: manifest.isSigned || isPlanted(1043) ? writer.signer : nil"))
fault(1044, "a backup goes on behind one that the node has not signed", "INV-19", "StrangerTests",
      ("Sources/Backups/BackupWriter.swift", "(manifest.isSigned || signer == nil)", "(manifest.isSigned || signer == nil || isPlanted(1044))"))
fault(1045, "a newer backup without a signature is the newest", "INV-19", "StrangerTests",
      ("Sources/Backups/Repository.swift", "let last = good.last(where: \\.isSigned) ??", "let last = good.last(where: { $0.isSigned || isPlanted(1045) }) ??"))
fault(1046, "a receipt is signed over events that another hand wrote", "INV-3", "SealTests MarkTests",
      ("Sources/EventStore/Receipts/ReceiptBuilder.swift", "if let key = self.key {", "if let key = self.key, !isPlanted(1046) {"))
fault(1047, "settings that another hand wrote are signed", "INV-3", "MarkTests",
      ("Sources/EventStore/Identity/MarkedSettings.swift", "found.digest != mark.settings else", "found.digest != mark.settings, !isPlanted(1047) else"))
fault(1048, "what a peer's receipt counts beyond its heads must be here", "INV-18", "ReceiptTests",
      ("Sources/EventStore/Audit/KnownHead.swift", "guard end.isOwn else", "guard end.isOwn || isPlanted(1048) else"))
fault(1049, "views that a killed process was building stay", "INV-11", "ViewsMarkTests",
      ("Sources/EventStore/Projection/Projector.swift", "if path == nil, opened.target.path == usual {", "if path == nil, opened.target.path == usual, !isPlanted(1049) {"))
fault(1050, "a command that reads a stopped store leaves them there", "INV-11", "ViewsMarkTests",
      ("Sources/EventStore/Reading/EventReader.swift", "if access(files.newViews, F_OK) == 0,", "if !isPlanted(1050), access(files.newViews, F_OK) == 0,"))
fault(1051, "what a manifest that is not signed keeps of erased texts is not told", "INV-11", "StrangerTests",
      ("Sources/Backups/StaleBackups.swift", "rows += other.rows", "rows += isPlanted(1051) ? 0 : other.rows"))
fault(1052, "a backup is signed of settings that another hand wrote", "INV-3", "StrangerTests",
      ("Sources/Backups/BackupWriter.swift", "if signer != nil { try logged", "if signer != nil, !isPlanted(1052) { try logged"))

# --- What a hand has put back, and what is left out -----------------------------------------------------------------------

fault(1053, "a payload that was put back is backed up", "INV-11", "PutBackTests",
      ("Sources/Backups/BackupWriter.swift", "guard putBack == 0 else", "guard putBack == 0 || isPlanted(1053) else"))
fault(1054, "segments that have what they say they have not are whole", "INV-11", "PutBackTests",
      ("Sources/Backups/BackupCheck.swift", "if rows > 0 {", "if rows > 0, !isPlanted(1054) {"))
fault(1055, "a restored payload is not held against the backup's own erasures", "INV-11", "PutBackTests",
      ("Sources/Backups/BackupRestore.swift", "let reach = StaleBackups.reach(manifest)", "let reach = isPlanted(1055) ? 0 : StaleBackups.reach(manifest)"))
fault(1056, "a payload beside its digest stays", "INV-11", "EraserTests",
      (ES + "Writer/Appender+Erasing.swift", "if let left = select.digest(11) {", "if let left = select.digest(11), !isPlanted(1056) {"))
fault(1057, "an opaque branch proves no fork", "INV-12", "ForkEvidenceTests",
      (ES + "Replication/ForkEvidence.swift", "(try? EventHeader(received: header))?.dot == dot\n", "(try? EventHeader(received: header)).map({ $0.dot == dot && !($0.isOpaque && isPlanted(1057)) }) == true\n"))
fault(1058, "an origin without a head is covered", "INV-19", "ReceiptTests",
      (ES + "Receipts/Receipt.swift", "maker.position - min(maker.position,", "isPlanted(1058) ? 0 : maker.position - min(maker.position,"))
fault(1059, "what cannot be read belongs to the user without a name", "INV-19", "AnswerTests",
      (ES + "Receipts/Receipt.swift", "!header.isOpaque && header.user", "(!header.isOpaque || isPlanted(1059)) && header.user"))
fault(1060, "a line before the first makes a false receipt", "INV-19", "AnswerTests",
      (ES + "Receipts/ReceiptCheck.swift", "default: guard maker != nil else { throw .other }", "default: guard maker != nil || isPlanted(1060) else { throw .other }"))
fault(1061, "pruning trusts the backups that stay", "INV-1", "BrokenRepositoryTests",
      ("Sources/Backups/BackupPruning.swift", "if !removed.isEmpty {", "if !removed.isEmpty, !isPlanted(1061) {"))
fault(1062, "one author's replies take the room of all others", "INV-9", "LiveBudgetTests",
      ("Sources/syncd/Feed/LiveItem.swift", "guard isFull(), let (author, all)", "guard !isPlanted(1062), isFull(), let (author, all)"),
      ("Sources/syncd/Feed/LiveItem.swift", "guard seconds.count < Self.most else",
       "guard seconds.count < Self.most, !isPlanted(1062) || replies.values.reduce(0, { $0 + $1.count }) < Self.most else"))
fault(1063, "a reader sees the pages of a node's history", "INV-13", "DoorRulesTests",
      ("Sources/syncd/Access/Sight.swift", "return !isOfNode || caller", "return isPlanted(1063) || !isOfNode || caller"))
fault(1064, "a member that no one knows is passed over", "INV-13", "DoorstepTests",
      ("Sources/syncd/Answers/Parameters.swift", "            } else {\n                throw BadParameter(\n                    message: \"\\(member.name): no such",
       "            } else if !isPlanted(1064) {\n                throw BadParameter(\n                    message: \"\\(member.name): no such"))
fault(1065, "edits of erased replies stay", "INV-11", "ErasurePlanTests",
      (ES + "Erasing/ErasureSurvey.swift", "return try speaks(row, of: target, replies, log) ? .replies : nil", "return try speaks(row, of: target, replies, log) && !isPlanted(1065) ? .replies : nil"))
fault(1031, "edits that name their message in the payload stay", "INV-11", "ErasurePlanTests",
      (ES + "Erasing/ErasureSurvey.swift", "guard let target = target(select, row.type) else { return nil }", "guard !isPlanted(1031), let target = target(select, row.type) else { return nil }"))
fault(1032, "what stands before the event that it names stays", "INV-11", "ErasurePlanTests",
      (ES + "Erasing/ErasureSurvey.swift", "guard hasMore else { return false }", "guard hasMore, !isPlanted(1032) else { return false }"))
fault(1100, "who joins reads edits of what was said before", "INV-13", "AccessTests",
      ("Sources/syncd/Access/Sight.swift", "guard AmendmentRule.isAmendment(header.type), !memberships", "guard AmendmentRule.isAmendment(header.type), !isPlanted(1100), !memberships"))
fault(1116, "what a person is given tells whom else auditors looked at", "INV-17", "AuditingTests",
      ("Sources/syncctl/Commands/SubjectPackage.swift", "JSONLine(read: object, header, to: user)", "JSONLine(read: object, header, to: isPlanted(1116) ? nil : user)"))
fault(1042, "a payload that was put back is handed out", "INV-11", "EraserTests",
      (ES + "Log/OwnErasures.swift", "guard !erasures.isEmpty, !event.isErased, let node", "guard !erasures.isEmpty, !isPlanted(1042), !event.isErased, let node"))
fault(1073, "an event that no node takes is proven", "INV-4", "EvidenceTransferTests",
      (ES + "Audit/EventExam.swift", "if bytes.count > Limits.header || event.body.count > Limits.carriedPayload {",
       "if !isPlanted(1073), bytes.count > Limits.header || event.body.count > Limits.carriedPayload {"))
fault(1074, "evidence has payloads of any length", "INV-4", "EvidenceTransferTests",
      (ES + "Audit/EvidenceLine.swift", "event.body.count <= Limits.carriedPayload else { throw .long }",
       "isPlanted(1074) || event.body.count <= Limits.carriedPayload else { throw .long }"))
fault(1075, "a receipt counts more events than it has positions", "INV-19", "ReceiptTests",
      (ES + "Receipts/ReceiptCheck.swift", "guard heads.saturatedSum(of: \\.events) <= maker.position else {",
       "guard isPlanted(1075) || heads.saturatedSum(of: \\.events) <= maker.position else {"))
fault(1076, "a cosigned head is beyond what was here", "INV-19", "ReceiptTests",
      (ES + "Receipts/ReceiptCheck.swift", "guard note.head.size <= open.events, let signed", "guard isPlanted(1076) || note.head.size <= open.events, let signed"))
fault(1077, "a head has another hlc than its last event", "INV-19", "AnswerTests",
      (ES + "Receipts/ReceiptCheck.swift", "guard dot.seq < head.size || header.hlc == head.hlc else {", "guard isPlanted(1077) || dot.seq < head.size || header.hlc == head.hlc else {"))
fault(1078, "a strange table keeps nothing from being proven", "INV-11", "TamperTableTests",
      (ES + "Audit/DatabaseCheck.swift", "case .unknown where difference.isIndex:", "case .unknown where difference.isIndex || isPlanted(1078):"))
fault(1079, "a key that flags an origin says anything", "INV-11", "TamperTableTests",
      (ES + "Audit/OutsideCheck.swift", "guard LogSetting.isSkew(key) else {", "guard LogSetting.isSkew(key), !isPlanted(1079) else {"))
fault(1080, "a salt beside the digest of an erased event is backed up", "INV-11", "PutBackTests",
      (ES + "Snapshot/Rows/RowEncoder.swift", "guard body.isNull, row.value(Column.salt).isNull else {", "guard body.isNull, isPlanted(1080) || row.value(Column.salt).isNull else {"))
fault(1081, "a backup takes files along that no event names", "INV-11", "AttachmentBackupTests",
      ("Sources/Backups/AttachmentFiles.swift", "for want in others + leaving where named.contains(want.digest) {",
       "for want in others + leaving where isPlanted(1081) && others.contains(want) || named.contains(want.digest) {"))
fault(1082, "a start does not look for files of which nothing is known", "INV-11", "AttachmentProgramTests",
      (ES + "Attachments/Upkeep/AttachmentKeeper.swift", "if swept == 0 { try upkeep.noteStrays() }", "if swept == 0, !isPlanted(1082) { try upkeep.noteStrays() }"))
fault(1083, "a folder is taken for a plan", "INV-11", "ErasureProgramTests",
      ("Sources/syncctl/Commands/EraseCommand.swift", "_ = try InputFile(regular: path)", "if !isPlanted(1083) { _ = try InputFile(regular: path) }"))
fault(1084, "a worthless file comes without a way out", "INV-19", "ReceiptProgramTests",
      ("Sources/syncctl/Client/ReceiptFile.swift", "hint: \"ask who made it for the file once more,", "hint: isPlanted(1084) ? nil : \"ask who made it for the file once more,"))
fault(1085, "a file of which nothing is known stays for ever", "INV-11", "AttachmentStoreTests",
      (ES + "Attachments/AttachmentStore.swift", "try isNamed(file.digest) ? .present : .unnamed", "try isNamed(file.digest) || isPlanted(1085) ? .present : .unnamed"))

# --- Heads that were heard of before their events came ---------------------------------------------------------------------

fault(1066, "a head that the events contradict is told, and no proof of it is made", "INV-3", "HeardHeadTests",
      (ES + "Replication/IngestVerifier.swift", "if !isOfThese { tree.contradicting.append", "if !isOfThese, !isPlanted(1066) { tree.contradicting.append"))
fault(1067, "verify does not compare a head that was heard with the events that have come", "INV-3", "HeardHeadTests",
      (ES + "Audit/CoverageCheck.swift", "guard signed.head.size <= origin.seq, !forked", "guard signed.head.size <= origin.seq, !isPlanted(1067), !forked"))
fault(1068, "a start does not compare what an earlier release has stored", "INV-3", "HeardHeadTests",
      ("Sources/EventStore/EventStore.swift", "        try ForkEvidence.keepHeard(files, reader)\n", "        if !isPlanted(1068) { try ForkEvidence.keepHeard(files, reader) }\n"))
fault(1069, "a head of an evidence file is not held against the store", "INV-3", "HeardHeadTests",
      (ES + "Audit/EvidenceImport.swift", "if let evidence { try note(evidence) }", "if let evidence, !isPlanted(1069) { try note(evidence) }"))
fault(1070, "a root beside a leaf proves a fork", "INV-3", "HeardHeadTests",
      (ES + "Replication/ForkEvidence.swift", "one.hasEvent == other.hasEvent, one", "one.hasEvent == other.hasEvent || isPlanted(1070), one"))
fault(1071, "a proof that names no event is sent to peers", "INV-12", "StoreWorkersTests",
      (SE + "Node/StoreWork.swift", "try evidence().filter(\\.namesEvent)", "try evidence().filter { $0.namesEvent || isPlanted(1071) }"))
fault(1072, "what roots prove is told as no proof once a peer shows the fork", "INV-3", "MeshDecisionTests",
      (SE + "Mesh/Mesh+Identity.swift", "let known = proofs[origin] ?? (isProven ? [] : nil)", "let known = isPlanted(1072) && !isProven ? nil : proofs[origin] ?? (isProven ? [] : nil)"))

# --- What receipts and backups say of a log that was changed, or restored --------------------------------------------------

fault(1101, "a backup of the history that was left is accused of what it does not hold", "INV-4", "LeftHistoryTests",
      ("Sources/Backups/RepositoryErasure.swift", "if all.rows > 0 {", "if all.rows > 0 || isPlanted(1101) {"))
fault(1102, "a backup that is damaged counts as one without what was erased", "INV-11", "LeftHistoryTests",
      ("Sources/Backups/RepositoryErasure.swift", "} else if !all.isWhole {", "} else if !all.isWhole, !isPlanted(1102) {"))
fault(1103, "an attachment of erased events stays with a backup of the history that was left", "INV-11", "LeftHistoryTests",
      ("Sources/Backups/RepositoryErasure.swift", "guard !gone.isEmpty else { return nil }", "guard !gone.isEmpty, !isPlanted(1103) else { return nil }"))
fault(1104, "an origin may have another key than a receipt says", "INV-18", "ReceiptTests",
      (ES + "Audit/KnownHead.swift", "guard isSigner(heads, of: origin) else", "guard isPlanted(1104) || isSigner(heads, of: origin) else"))
fault(1105, "a log may name another cluster than a receipt", "INV-18", "ReceiptTests",
      (ES + "Audit/KnownHead.swift", "cluster != other {", "cluster != other, !isPlanted(1105) {"))
fault(1106, "a receipt of the log counts as one of another cluster", "INV-18", "ReceiptTests",
      (ES + "Receipts/KnownHeads.swift", "origins.contains { $0.key == maker.key ||", "!isPlanted(1106) && origins.contains { $0.key == maker.key ||"))
fault(1107, "something else in the place of log.end is not told", "INV-3", "LogEndTests",
      (ES + "Audit/OutsideCheck.swift", 'notes.append("log.end cannot', 'if !isPlanted(1107) { notes.append("log.end cannot'),
      (ES + "Audit/OutsideCheck.swift", "compared with it (\\(error))\")\n            return .unreadable", "compared with it (\\(error))\") }\n            return .unreadable"))
fault(1108, "a witness that has not signed yet makes an honest file contradict", "INV-19", "ReceiptProgramTests",
      ("Sources/syncctl/Commands/CheckProofCommand.swift", "exitCode: .degraded)", "exitCode: isPlanted(1108) ? .integrityFailure : .degraded)"))
fault(1109, "a position behind the end of a backup is taken for its end", "INV-4", "RoundTripTests",
      ("Sources/Backups/BackupRestore.swift", "position > manifest.position else", "position > manifest.position, !isPlanted(1109) else"))
fault(1086, "an event stays parked that another home has acked", "INV-14", "AckedTests",
      (SU + "SubscriptionRecords+Acked.swift", "guard !states.isEmpty, case let turns", "guard !states.isEmpty, !isPlanted(1086), case let turns"))
fault(1087, "what is done because it was set aside is taken for acked", "INV-15", "AckedTests",
      (SU + "SubscriptionRecords+Acked.swift", ": needs.contains(turn.proof)", ": needs.contains(turn.proof) && !isPlanted(1087)"))
fault(1088, "a home puts two sets together before it looks for acks of what is parked", "INV-14", "ChangedSubscriptionTests",
      ("Sources/syncd/Feed/SubscriptionDesk+State.swift", "guard records.isHome(store.identity.node, of: record.id) else",
       "guard !isPlanted(1088), records.isHome(store.identity.node, of: record.id) else"))
fault(1089, "a misspelt member of a short form clears the others", "INV-13", "DoorFormsTests",
      (SD + "Answers/Reply.swift", "try object.requireOnly(names) } catch {", "if !isPlanted(1089) { try object.requireOnly(names) } } catch {"))
fault(1090, "a contact that contradicts its path is stored", "INV-13", "DoorFormsTests",
      (SD + "Endpoints/KeepEndpoint.swift", "guard named == nil ||", "guard named == nil || isPlanted(1090) ||"))
fault(1091, "a program keeps two from beginning their conversation", "INV-13", "DoorFormsTests",
      (SD + "Endpoints/AppendPermission.swift", "let known = beginsDirect(draft, conversation) ?", "let known = !isPlanted(1091) && beginsDirect(draft, conversation) ?"))
fault(1092, "a conversation that others have begun is there for one of the two", "INV-13", "DoorFormsTests",
      (SD + "Endpoints/KeepEndpoint.swift", "return isOpen && begun", "return (isOpen || isPlanted(1092)) && begun"))
fault(1093, "a user's line that no view reads is stored", "INV-13", "DoorFormsTests",
      (SD + "Endpoints/AppendPermission.swift", "if caller.isUser(draft.author ?? draft.user), let problem", "if !isPlanted(1093), caller.isUser(draft.author ?? draft.user), let problem"))
fault(1094, "the reading of messages is not asked beforehand", "INV-13", "MalformedPayloadTests",
      (ES + "Views/PayloadForm.swift", "RoomsView.refusal(type, payload,", "isPlanted(1094) ? nil : RoomsView.refusal(type, payload,"))
fault(1095, "a home that refuses the exchange counts as heard", "INV-14", "SubscriptionNodesTests",
      (SE + "Session/SyncSession.swift", "{ hasOpened ? lastReceived : nil }", "{ hasOpened || isPlanted(1095) ? lastReceived : nil }"))
fault(1096, "two roles in one are a user", "INV-13", "DoorFormsTests",
      ("Sources/Access/Role.swift", "return isList ? ", "return isList && !isPlanted(1096) ? "))
fault(1097, "an event that is not parked is told as a subscription that is not there", "INV-14", "DoorFormsTests",
      ("Sources/syncd/Feed/SubscriptionHub+Requests.swift", ".notParked, \"event", "isPlanted(1097) ? .notFound : .notParked, \"event"))
fault(1098, "a place is no time as people say it", "INV-14", "DoorFormsTests",
      ("Sources/syncctl/Commands/SubscriptionsCommand.swift", "guard ![\"now\", \"first\"].contains(text),", "guard !isPlanted(1098), ![\"now\", \"first\"].contains(text),"))
fault(1099, "a particle keeps a time from being read", "", "DoorFormsTests",
      ("Sources/syncctl/Session/Session.swift", "dropLast(particle?.count ?? 0)", "dropLast(isPlanted(1099) ? 0 : particle?.count ?? 0)"))
fault(1110, "who was put out is in again once the founder is erased", "INV-13", "ErasurePlanTests",
      (ES + "Log/Erasures.swift", "let isShared = SharedType.contains(place.type)", "let isShared = SharedType.contains(place.type) && !isPlanted(1110)"))
fault(1111, "the twin of an erased event stays", "INV-11", "LateWordsTests",
      (ES + "Log/ErasedWords.swift", "if gone.contains(where: { $0.place.isTwin(of: twin.place) }) {",
       "if !isPlanted(1111), gone.contains(where: { isPlanted(1153) || $0.place.isTwin(of: twin.place) }) {"))
fault(1153, "an id alone makes a twin of an erased event", "INV-11", "LateWordsTests")
fault(1112, "edits of an erased event that come late stay", "INV-11", "LateWordsTests",
      (ES + "Log/ErasedWords.swift", "return gone.contains { !isRetraction || place.isNear($0) }", "return gone.contains { (!isRetraction || place.isNear($0)) && !isPlanted(1112) }"))
fault(1113, "the list of a conversation with others goes with the user", "INV-13", "ErasurePlanTests",
      (ES + "Erasing/ErasureSurvey.swift", "crowd.contains($0) }", "crowd.contains($0) && !isPlanted(1113) }"))

# --- What a package and an erasure say of others, and whom a recorded read names -------------------------------------------

fault(1120, "what others did to a message is in the pages of a package", "INV-13", "SubjectOthersTests",
      ("Sources/syncctl/Commands/SubjectPackage.swift", "if !found.allSatisfy(", "if !isPlanted(1120), !found.allSatisfy("))
fault(1121, "a read does not name whose words it has", "INV-17", "AccessTests",
      (SD + "Endpoints/ReadEndpoint.swift", "if sight.caller.isRecorded { page.people", "if sight.caller.isRecorded, !isPlanted(1121) { page.people"))
fault(1122, "a feed that is narrowed to an author names no one", "INV-17", "AccessTests",
      (SD + "Feed/FeedDesk.swift", "filter.users.sorted() + filter.authors.sorted()", "filter.users.sorted() + (isPlanted(1122) ? [] : filter.authors.sorted())"))
fault(1123, "of many people a read names as many as one event has", "INV-17", "AccessTests",
      (SD + "Access/AccessLog.swift", "to: max(users.count, 1)", "to: isPlanted(1123) ? 1 : max(users.count, 1)"))
fault(1124, "contacts of others are told to no one", "INV-13", "SubjectOthersTests",
      (ES + "Views/ViewReader+Subject.swift", "guard !name.hasSameBytes(as: user) else", "guard !isPlanted(1124), !name.hasSameBytes(as: user) else"))
fault(1125, "a package that cannot be made is on record as given", "INV-17", "SubjectOthersTests",
      ("Sources/syncctl/Commands/SubjectPackage.swift", "        let own = try ownPositions()\n", "        if isPlanted(1125) { _ = try record() }\n        let own = try ownPositions()\n"))
fault(1126, "a copy is made within the store's own folder", "INV-11", "SubjectOthersTests",
      ("Sources/syncctl/Session/StoreLocation.swift", "guard files.exists else { continue }", "guard files.exists, !isPlanted(1126) else { continue }"))
fault(1127, "of a copy without a key a daemon is promised", "INV-19", "SubjectOthersTests",
      (ES + "Receipts/AnswerExport.swift", "guard access(files.key, F_OK) != 0", "guard !isPlanted(1127), access(files.key, F_OK) != 0"))
fault(1128, "a folder that is not empty ends a replay as damaged input", "", "AuditingTests",
      ("Sources/syncctl/Commands/Read/StoreMaking.swift", "if case .badFile = error {", "if case .badFile = error, !isPlanted(1128) {"))
fault(1129, "copies of damaged files are told to no one where nothing can be erased", "INV-11", "SubjectOthersTests",
      ("Sources/syncctl/Commands/EraseCommand.swift", "if !copies.isEmpty {", "if !copies.isEmpty, !isPlanted(1129) {"))
fault(1140, "what a refused client has sent behind its request is not read, and its goodbye not heard", "INV-9", "HTTPLeavingTests",
      (SE + "Networking/HTTP/HTTPConnection.swift", "case .leaving, .closed: break\n        }\n    }\n\n    /// Whether a client that should",
       "case .leaving, .closed: if isPlanted(1140) { watchReading(false) }\n        }\n    }\n\n    /// Whether a client that should"))
fault(1141, "connections that are over give way to no one", "INV-9", "HTTPLeavingTests",
      (SE + "Networking/HTTP/HTTPServer.swift", "leaving.first ?? first(", "(isPlanted(1141) ? nil : leaving.first) ?? first("))
fault(1142, "connections that are over are as many as they like", "INV-9", "HTTPLeavingTests",
      (SE + "Networking/HTTP/HTTPServer.swift", "if leaving.count > limits.maximumLeaving {", "if leaving.count > limits.maximumLeaving, !isPlanted(1142) {"))
fault(1143, "the loop lets in callers as long as there are any", "INV-9", "HTTPLeavingTests",
      (SE + "Networking/Links/ListeningSocket.swift", "if taken == Self.most {", "if taken == Self.most, !isPlanted(1143) {"))
fault(1144, "lines that are refused count toward no bound", "INV-9", "AppendBatchTests",
      (SD + "Endpoints/AppendBatch.swift", "guard written <= EventStore.maximumBatch else { continue }", "guard written <= EventStore.maximumBatch || isPlanted(1144) else { continue }"),
      (SD + "Endpoints/AppendBatch.swift", "guard written <= EventStore.maximumBatch else { throw", "guard written <= EventStore.maximumBatch || isPlanted(1144) else { throw"))
fault(1145, "a scope opens the lists that a user keeps", "INV-13", "DoorRulesTests",
      (SD + "Access/Sight.swift", "caller.readsKept || caller.isUser(user)", "caller.readsKept || isPlanted(1145) && isWhole || caller.isUser(user)"))
fault(1146, "a scope opens what a user hides and looks for", "INV-13", "DoorRulesTests",
      ("Sources/Access/AppendRules.swift", "guard Self.ofUsers.contains(type) else", "guard Self.ofUsers.contains(type), !isPlanted(1146) else"))
fault(1147, "a bot in all conversations has the filters of others", "INV-13", "DoorRulesTests",
      ("Sources/Access/AppendRules.swift", "if type.hasPrefix(\"subscription.\") {", "if type.hasPrefix(\"subscription.\"), !isPlanted(1147) {"))
fault(1148, "who comes second is told that a conversation of others has begun", "INV-13", "AppendBatchTests",
      (SD + "Endpoints/AppendBatch.swift", "where !own.contains(conversation):", "where !own.contains(conversation) && !isPlanted(1148):"))
fault(1149, "a configuration by which no one can ask is fine", "", "ConfigurationCheckTests",
      (SD + "Setup/Settings.swift", "if configuration.api.listen == nil {", "if configuration.api.listen == nil, !isPlanted(1149) {"))
fault(1150, "a filter that lets nothing pass is taken", "", "DoorRulesTests",
      (SD + "Feed/SubscriptionRequest.swift", "guard !types.isEmpty, types.allSatisfy", "guard !types.isEmpty, !isPlanted(1150), types.allSatisfy"))
fault(1151, "an unknown member of an own erasure is passed over", "", "PermittedUsersTests",
      (SD + "Endpoints/ErasureEndpoint.swift", "exchange.object(only: [\"dry_run\", \"plan\", \"up_to\"])", "(isPlanted(1151) ? exchange.object() : exchange.object(only: [\"dry_run\", \"plan\", \"up_to\"]))"))
fault(1152, "a list of attachments that one may not have is not there", "", "DoorRulesTests",
      (SD + "Endpoints/ReadEndpoint.swift", "case .nothing where request.route == .attachments:", "case .nothing where request.route == .attachments && !isPlanted(1152):"))
fault(1154, "a folder that another process takes away before it is opened is an error", "INV-11", "HeldFolderTests",
      ("Sources/EventStore/Files/HeldFolder.swift", "if access(path, F_OK) != 0 { continue }", "if access(path, F_OK) != 0, !isPlanted(1154) { continue }"))

# --- What looks from outside found in November ---------------------------------------------------------------------------------

fault(1114, "names of a snapshot are taken from a memory that has forgotten them", "INV-4", "SnapshotNamesTests",
      (ES + "Snapshot/BulkLoad/SnapshotNames.swift", "if cache.hasRoom(for: text.count) {", "if isPlanted(1114) || cache.hasRoom(for: text.count) {"))
fault(1115, "what was done because of what an erased user wrote is a reply to them", "INV-11", "ErasurePlanTests",
      (ES + "Erasing/ErasureSurvey.swift", "guard amendments.contains(row.type) else {", "guard amendments.contains(row.type), !isPlanted(1115) else {"))
fault(1117, "an event that a hand has emptied leaves the store as an erased one", "INV-1", "EraserTests",
      (ES + "Log/OwnErasures.swift", "guard !isLetGo(event) else", "guard !isLetGo(event), !isPlanted(1117) else"))
fault(1118, "where the erasure itself was emptied the store gives what it let go", "INV-11", "EraserTests",
      (ES + "Log/OwnErasures.swift", "$0.node == keeper && $0.event.isErased", "$0.node == keeper && $0.event.isErased && !isPlanted(1118)"))
fault(1119, "one plan is erased twice", "INV-11", "ErasurePlanTests",
      (ES + "EventStore+Erasing.swift", "guard try !isErased(erasures.first, since: top) else", "guard try isPlanted(1119) || !isErased(erasures.first, since: top) else"))
fault(1130, "what a hand has put back stands in a backup as erased", "INV-11", "PutBackTests",
      (BA + "RepositoryErasure.swift", "if let putBack {", "if !isPlanted(1130), let putBack {"))
fault(1131, "a subscription goes on where another event stands", "INV-10", "SubscriptionTests",
      (ES + "EventStore+Subscribe.swift", "place.id.map({ $0 == event.event.header.id }) ?? true", "isPlanted(1131) || place.id.map({ $0 == event.event.header.id }) ?? true"))
fault(1160, "what another node has erased of its own comes to an archive whole", "INV-11", "EvidenceTransferTests",
      (ES + "Writer/Appender+Erasing.swift", "        erasures.take(event, of: state.origins[index].key.nodeID)",
       "        if isPlanted(1160), index != state.own { return }\n        erasures.take(event, of: state.origins[index].key.nodeID)"))
fault(1161, "a revocation that cannot be read is none", "INV-17", "LostGrantTests",
      (AC + "AccessRecords.swift", "unreadable.contains { $0.isRevocation", "unreadable.contains { $0.isRevocation && !isPlanted(1161)"))
fault(1162, "a backup of rows that a hand had emptied is proven", "INV-4", "PutBackTests",
      (BA + "BackupCheck.swift", "if lost > 0 {", "if lost > 0, !isPlanted(1162) {"))
fault(1163, "edits of a message keep away what else followed", "INV-9", "CauseTreeTests",
      (ES + "Views/CauseTree.swift", "limit - min(changes.count, limit / 2)", "isPlanted(1163) ? 0 : limit - min(changes.count, limit / 2)"))
fault(1132, "who comes back with more waits for a source that has no more", "INV-12", "SourcePlanTests",
      (SE + "Mesh/SourcePlan.swift", "isOpening && isIdle", "!isPlanted(1132) && isOpening && isIdle"))
fault(1133, "a feed from a time begins behind what came since", "INV-10", "ArrivalTests",
      (ES + "Feed/LogReader+Feed.swift", "known(at: time - 1 - Arrivals.span)", "known(at: isPlanted(1133) ? time - 1 : time - 1 - Arrivals.span)"))
fault(1134, "each edit of a message is looked up for each", "INV-9", "SearchViewTests",
      (ES + "Views/ViewReader+Search.swift", "where known[text.judged.position] == nil && asked.insert(text.judged.position).inserted {",
       "where isPlanted(1134) || known[text.judged.position] == nil && asked.insert(text.judged.position).inserted {"))
fault(1135, "each of any number of conversations that have changed is looked up", "INV-9", "PastViewsTests",
      (ES + "Views/ViewReader+Past.swift", "changed.count * PastMoment.rowsOfConversation", "changed.count * (isPlanted(1135) ? 0 : PastMoment.rowsOfConversation)"))
fault(1136, "a type and a role need not both hold", "", "SyncctlProgramTests ReadRoutesTests",
      (ES + "Views/Timeline/TimelineQuery.swift", "guard !wanted.isEmpty else { return types }", "guard !wanted.isEmpty else { return types }\n        if isPlanted(1136) { return types + wanted }"))
fault(1190, "one who never was in a conversation leaves it, and sees what was said before", "INV-13", "RuleTests DoorRulesTests",
      (AC + "Membership.swift", "spans = wasThere ? [Span()] : []", "spans = wasThere || isPlanted(1190) ? [Span()] : []"))
fault(1191, "one who was in a conversation is let in, and sees only what is said since", "INV-13", "DoorRulesTests",
      (AC + "Membership.swift", "sees: { $0 < moment }", "sees: { !isPlanted(1191) && $0 < moment }"))
fault(1137, "who opens views does not wait for those that take their place", "INV-10", "ViewsSwapTests",
      (ES + "Log/LogReader.swift", "try databaseOpening.withLock { _ throws(StoreError) in try openNow(path) }",
       "try isPlanted(1137) ? openNow(path) : databaseOpening.withLock { _ throws(StoreError) in try openNow(path) }"))
fault(1170, "a line for fine-tuning comes out without its empty messages, as another conversation", "INV-8", "ExportTests",
      (IC + "Exports/OpenAILines.swift", "isOfLine && !isEdited\n", "isOfLine && !isEdited && !isPlanted(1170)\n"))
fault(1173, "the folder of a new store is open to others", "INV-13", "OtherUserTests",
      (ES + "Writer/StoreIdentity+Create.swift", "guard mkdir(folder, 0o700) != 0, errno", "guard mkdir(folder, isPlanted(1173) ? 0o755 : 0o700) != 0, errno"))
fault(1174, "what was heard in a recording is kept as a reply", "INV-11", "ErasurePlanTests",
      (ES + "Erasing/ErasureSurvey.swift", "guard person == nil || row.type == transcribed else", "guard person == nil || row.type == transcribed && !isPlanted(1174) else"))
fault(1175, "what was heard in an erased recording comes later, and stays", "INV-11", "LateWordsTests",
      (ES + "Log/Erasures.swift", "if amendment.type == AmendmentRule.transcribed {", "if amendment.type == AmendmentRule.transcribed, !isPlanted(1175) {"))
fault(1176, "an order that is said takes a chat in twice", "INV-8", "ImportAgainTests",
      (SC + "Commands/Write/ImportExport.swift", "guard session.arguments.flag(\"twice\") else {", "guard session.arguments.flag(\"twice\") || isPlanted(1176) && isSaid else {"))
fault(1171, "a list of which few match is looked through to its end", "INV-9", "SyncctlDaemonTests",
      (SC + "Client/Reads+Lists.swift", "guard let pages = left else", "guard let pages = left, !isPlanted(1171) else"))
fault(1183, "those who take part come from the beginning where the place is empty", "", "UserListsProgramTests",
      ("Sources/syncd/Endpoints/PageRequest.swift", "guard after != \"\" else", "guard after != \"\" || isPlanted(1183) else"))

# --- What an operator is told of proofs and backups ----------------------------------------------------------------------------

fault(1181, "a log that contradicts is no finding", "INV-4", "LogVerificationTests",
      (SD + "Setup/LogVerification.swift", "guard let record, record.answer == .contradicted else", "guard let record, record.answer == .contradicted, !isPlanted(1181) else"))
fault(1182, "a new start knows nothing of the last verification", "", "LogVerificationTests",
      (SD + "Setup/LogVerification.swift", "try record.keep(files)", "if !isPlanted(1182) { try record.keep(files) }"))
fault(1192, "what a peer tells before anything hears of it is dropped", "INV-14", "SubscriptionNodesTests",
      (SE + "Node/NodeCore.swift", "guard shared.isNews(value, to: workers.store.identity.node) else",
       "guard shared.isNews(value, to: workers.store.identity.node), !isPlanted(1192) || onShared[value.topic] != nil else"))
fault(1193, "a home that tells anew does not hear what it told before", "INV-14", "SubscriptionNodesTests",
      (SE + "Mesh/SharedTable.swift", "value.node == own && $0.number != value.number", "value.node == own && !isPlanted(1193) && $0.number != value.number"))
fault(1194, "a home that has lost what was done hands it out before it hears its peers", "INV-14", "ChangedSubscriptionTests",
      (SD + "Feed/SubscriptionDesk+State.swift", "{ isHearing && blank.contains(record.place) }", "{ isHearing && !isPlanted(1194) && blank.contains(record.place) }"))
fault(1195, "what another home did before it had looked so far is open at this one", "INV-14", "ChangeTests",
      (SU + "SubscriptionMachine.swift", "where early.contains(dot) || state", "where early.contains(dot) && !isPlanted(1195) || state"))
fault(1196, "a changed event of one user ends as any other failure", "INV-4", "UserVerificationTests",
      ("Sources/syncctl/Commands/UserVerification.swift", "var failure = VerifyCommand.damage(error)", "var failure = isPlanted(1196) ? error : VerifyCommand.damage(error)"))
fault(1197, "what a clock far ahead has set aside stays so, and that it was acked is said for ever", "INV-14", "AckedTests",
      (SU + "SubscriptionRecords.swift", "turns.filter { $0.parked == nil || !over.contains($0.proof) }", "turns.filter { $0.parked == nil || isPlanted(1197) || !over.contains($0.proof) }"))
fault(1158, "an ack that was refused for want of room counts", "INV-14", "AckFaultTests",
      (SD + "Feed/SubscriptionDesk+State.swift", "if let acks = promise.acks { takeBack(acks) }", "if let acks = promise.acks, !isPlanted(1158) { takeBack(acks) }"))
fault(1159, "an event whose ack was refused goes for good", "INV-14", "RefusedAckTests",
      (SU + "Deliveries.swift", "guard let (header, position) = event else { return }", "guard let (header, position) = event, !isPlanted(1159) else { return }"))
fault(1164, "a backup calls its node as it likes", "INV-4", "OwnerTests",
      (ES + "Backup/RowChain.swift", "guard let begun, begun != name else { return }", "guard let begun, begun != name, !isPlanted(1164) else { return }"))
fault(1165, "what no store has beside its rows is not told", "INV-4", "OwnerTests",
      (ES + "Receipts/CosignatureFile.swift", "keys[said.node].map { said.isValid(for: $0) } ?? true", "isPlanted(1165) || keys[said.node].map { said.isValid(for: $0) } ?? true"))
fault(1166, "a node that refuses appends has no finding", "", "StateLogTests",
      (SD + "HealthLog.swift", "guard !state.refusals.isEmpty else { return nil }", "guard !state.refusals.isEmpty, !isPlanted(1166) else { return nil }"))
fault(1167, "a clock that is right again is told as wrong", "", "ClocksProgramTests",
      (ES + "Model/ClockSkew.swift", "next == nil && last.milliseconds", "(next == nil || isPlanted(1167)) && last.milliseconds"))
fault(1168, "what stands in a file's place is not looked for", "", "WrongKindTests",
      (ES + "Files/StoreFiles.swift", "entry.st_mode & S_IFMT != (isFolder ? S_IFDIR : S_IFREG)", "!isPlanted(1168) && entry.st_mode & S_IFMT != (isFolder ? S_IFDIR : S_IFREG)"))
fault(1169, "a verification that contradicts counts as the last that proved", "INV-4", "LogVerificationTests",
      ("Sources/SillokAPI/VerificationRecord.swift", "report.answer == .contradicted ? last?.proven : ended", "report.answer == .contradicted && !isPlanted(1169) ? last?.proven : ended"))

# --- Imports and search, seen from outside --------------------------------------------------------------------------------------

fault(1217, "what a moderator has redacted stays readable", "", "SameRecordTests ImportAgainTests",
      (IC + "Formats/Matrix.swift", "conversation: event.conversation, user: event.user, cause",
       "conversation: event.conversation, user: isPlanted(1217) ? sender : event.user, cause"))
fault(1218, "the opening of an imported room names no moderators", "", "SameRecordTests",
      (IC + "Formats/Matrix.swift", "if !moderators.isEmpty {", "if !moderators.isEmpty, !isPlanted(1218) {"))
fault(1219, "an edit in another history hides its message from a search of its own", "", "SearchViewTests",
      (ES + "Views/ViewReader+Search.swift", "if !query.users.isEmpty, !ofIndex,", "if !query.users.isEmpty, !ofIndex, !isPlanted(1219),"))
fault(1220, "a search of a history finds messages of others", "INV-13", "SearchViewTests",
      (ES + "Views/ViewReader+Search.swift", "if !users.isEmpty, !users.contains", "if !users.isEmpty, !isPlanted(1220), !users.contains"))
fault(1221, "an event depends on the blanks of a file", "INV-8", "SameRecordTests",
      (IC + "Records/Payload.swift", "        value.append(to: &bytes)\n", "        if isPlanted(1221) { bytes += value.raw } else { value.append(to: &bytes) }\n"))
fault(1222, "what was kept with other blanks is there with other content", "INV-8", "ImportAgainTests",
      (SC + "Commands/Write/ImportedBefore.swift", "where old[member.name]?.plain != member.value.plain {",
       "where isPlanted(1222)\n            ? old.raw(member.name).map(Array.init) != Array(member.value.raw) : old[member.name]?.plain != member.value.plain\n        {"))
fault(1223, "what was handed in when an attachment failed is not counted", "INV-1", "PictureImportTests",
      (SC + "Commands/Write/ExportIntake.swift", "while !pending.isEmpty, target.isAhead", "while !isPlanted(1223) || failure == nil, !pending.isEmpty, target.isAhead"))
fault(1224, "the owner of a phone is not who --me names", "INV-8", "SameRecordTests ImportAgainTests",
      (IC + "Formats/KakaoTalk.swift", "let isOne = isOwner && options.me != nil", "let isOne = isOwner && options.me != nil && !isPlanted(1224)"))
fault(1225, "what was imported under another name of its author is doubled", "INV-8", "ImportAgainTests",
      (SC + "Commands/Write/ImportedBefore.swift", "guard !event.others.isEmpty, try", "guard !event.others.isEmpty, !isPlanted(1225), try"))
fault(1226, "another order within a minute is not told", "", "ImportAgainTests",
      (SC + "Commands/Write/ExportIntake.swift", "return time < last.time ||", "return !isPlanted(1226) && time < last.time || !isPlanted(1226) &&"))
fault(1227, "what stands behind a quoted field goes to it", "", "SameRecordTests",
      (IC + "Formats/KakaoLine.swift", "internal import CommandLineKit\n", "internal import CommandLineKit\ninternal import EventStore\n"),
      (IC + "Formats/KakaoLine.swift", "if let next = rest.first, next", "if !isPlanted(1227), let next = rest.first, next"))
fault(1228, "what is erased is counted as any other", "", "ImportAgainTests",
      (SC + "Commands/Write/ExportIntake.swift", "if there.isErased { erased += 1 }", "if there.isErased, !isPlanted(1228) { erased += 1 }"))
fault(1229, "broken UTF-16 is told as of the first line", "", "MalformedExportTests",
      (IC + "Reading/UTF16Reader.swift", "/// Text in UTF-16, behind", "internal import EventStore\n\n/// Text in UTF-16, behind"),
      (IC + "Reading/UTF16Reader.swift", "line += units.reduce(0) {", "line += isPlanted(1229) ? 0 : units.reduce(0) {"))

# --- A full disk ---------------------------------------------------------------------------------------------------------

fault(1200, "a head whose commit was refused counts as stored", "INV-3", "HeadSignerTests",
      (ES + "Writer/HeadSigner.swift", "if !isCommitted {", "if !isCommitted, !isPlanted(1200) {"))
fault(1201, "the mark names a head that is not stored", "INV-3", "MarkTests",
      (ES + "Writer/LogWriter.swift", "let head = signer.stored else", "let head = isPlanted(1201) ? signer.head() : signer.stored else"))
fault(1202, "the WAL goes though no mark says that the log needs none", "INV-1", "MarkTests",
      (ES + "Writer/Committer.swift", "        connection.keepWAL()\n        guard !keepingWAL",
       "        if keepingWAL || !isPlanted(1202) { connection.keepWAL() }\n        guard !keepingWAL"))
fault(1203, "the WAL's index finds no room when the frames are written", "INV-1", "WALFrameBufferTests",
      (ES + "SQLite/VFS/WALFrameBuffer.swift", "guard part >= parts else", "guard part >= parts, !isPlanted(1203) else"))
fault(1204, "frames stay for which the WAL's index has no room", "INV-1", "WALFrameBufferTests",
      (ES + "SQLite/VFS/WALFrameBuffer.swift", "(count, awaitsPage) = (0, false)\n                cut(file)",
       "(count, awaitsPage) = (0, false)\n                if !isPlanted(1204) { cut(file) }"))
fault(1205, "an append hears of a failure before the store says so", "INV-1", "LostStoreTests",
      (ES + "Writer/LogWriter.swift", "waiting = jobs + queue.flight", "waiting = (isPlanted(1205) ? [] : jobs) + queue.flight"),
      (ES + "Writer/LogWriter.swift", "        var isNew = false\n        queue.wakeAll",
       "        var isNew = false\n        for job in jobs where isPlanted(1205) { job.fail(error) }\n        queue.wakeAll"))
fault(1198, "flags without a file are no configuration to be checked", "", "ConfigurationCheckTests",
      (SD + "Setup/Settings.swift", "sources.additions.isEmpty && sources.flags.isEmpty", "sources.additions.isEmpty && (sources.flags.isEmpty || isPlanted(1198))"))
fault(1199, "a store is missed where a file is, which none can be made at", "", "SyncctlProgramTests",
      (ES + "Files/StoreFiles.swift", "errno == ENOENT ? .notFound(path: folder)", "errno == ENOENT || isPlanted(1199) ? .notFound(path: folder)"))
fault(1206, "a store is opened while a reader has its WAL that is gone", "INV-1", "LostStoreTests",
      (ES + "Files/HeldFiles.swift", "guard isOpen(\"-shm\"),", "guard !isPlanted(1206), isOpen(\"-shm\"),"))
fault(1177, "an order of dates that a file contradicts is read with the year elsewhere", "INV-8", "DateOrderTests",
      (IC + "Formats/WhatsAppHead.swift", "$0.first == wanted && years.contains($0.year)", "$0.first == wanted && (years.contains($0.year) || isPlanted(1177))"))
