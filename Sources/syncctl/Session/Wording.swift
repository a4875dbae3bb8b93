internal import CommandLineKit

/// What `syncctl` says to people, in both languages. Codes of errors, JSON and CSV are in English alone.
///
/// A test finds a case that has no text. Korean text has no particles behind what is filled in: which one is right would
/// depend on its last sound.
enum Wording: String, CaseIterable, Sendable {
    // Headings
    case time, position, conversation, who, user, type, text, id
    case last, events, messages, startedBy, title
    case unread, with, firstMessage, lastMessage, contact, phone, source, searchScope, searchWords
    case field, setBy, state, value, isSet, inConflict, alsoSaid
    case survey, answers, question, answer, count, share, group, noGroup
    case asked, replied, seconds, satisfaction
    case name, home, open, out, behind, wants, event, attempts, at, reason, error, view
    case peer, node, lacks, oldest, owes, address
    case backup, segments, size
    // What `show` puts before each line
    case labelID, labelHLC, labelUnreadable, labelType, labelTime, labelRecorded, labelUser, labelAuthor, labelActor,
        labelConversation
    case labelCause, labelPosition, labelOrigin, labelVersion, labelDependsOn, labelSameID, otherContents, labelLeaf,
        labelData
    // What `show` says of an event
    case itsBytes, ofNode, headerRemains, noObject, twinAt, twinCounts, twinDiffers
    // Counts
    case oneEvent, manyEvents, andMore
    // What became of a message
    case edited, editedTimes, retracted, retractedForReason, retractedAlone, otherEdit, otherRetraction,
        otherAmendments
    case hiddenAmendments, fullEdit, fullRetraction, doesNotCount
    case erased, unreadable, opaque, failed, attachment, attachments, ahead
    // Ranges
    case shownTwice, between, from, before, asOf, knownAt, knownThen, beginning, now, place
    // Nothing found
    case noSuchType, didYouMean, noEventOf, noUser, noUsers, noConversation, noConversations,
        lookedAtMany, noProfile, noSurveys, noAnswers,
        noEvent
    case nothingFound, moreFound, moreRanked, unindexed, languageOfWords
    case noContacts, noSearches, noMessage, isHidden
    case noEventsMatched, nothingParked, noSubscriptions, noPeers, nothingQuarantined, nothingMoreQuarantined
    case moreQuarantined
    // Remarks
    case usingStore, unknownZone, viewsBehind, erasedEvents
    // Figures (`stats`, `top`)
    case origins, users, conversations, participants, profileFields, amendments, quarantined, viewsLag, lastMinute,
        connections
    case followers, slowFollowers, memory, freeSpace, subscription, parked, workers, eventsPerSecond
    case peerEventsPerSecond, bytesPerSecond, requestsPerSecond, deliveriesPerSecond, appendTime, syncTime,
        followerTime
    case route, isConnected, isConnecting, isDisconnected, isNotRunning, isAway, isPaused, noAnswer
    // Access
    case credential, principal, roles, scope, until, reader, subject, noTokens, noReads, tokensLost, readsLost
    case isShownOnce, openFile
    // Attachments
    case digest, bytes, noAttachments, attachmentsVerified
    // Nodes
    case origin, offset, roundTrip
    // Following a node
    case tailAgain
    // Receipts and proofs
    case receiptOf, heldSince, notCoveredYet, cosignedBy, noCosignature, receiptOfFiles, receiptWritten, waitedFor
    case receiptUncovered
    case provenEvents, unsignedEvents, provenWithoutPayload, provenHeads, provenOrigin, notSignedWhole, answerIsPart,
        answerIsStated
    case proofNotSigned, othersOfUserUnread
    // Erasure
    case erasePart, erasePartHistory, erasePartAuthored, erasePartReplies, erasePartShared, erasePartNamed, erasePlan,
        eraseStays,
        eraseBecomes, eraseGoes, eraseKept, eraseOpen,
        eraseNothing, eraseCopies, erasePartContacts, eraseContacts, eraseConfirm, eraseDone, eraseWaits, eraseNone,
        eraseLeft, eraseMore
    case eraseConfirmed, eraseWaiting, eraseUnconfirmed, eraseUnderWay, eraseApplied, eraseViews,
        alreadyErased
    // What led to an event
    case pendingCause, hiddenCause, quarantinedBy, cutHere, madeByModel, madeByPersona, madeByPrompt
    // What changed
    case change, wasBefore, isAfter, stoodBefore, nothingChanged
    case changeAdded, changeEdited, changeRetracted, changeBeside, changeTwin, changeErased
    // A store made anew
    case replayedInto, replayedRoots, replayedViews, isEqual, isOther, isNotCompared, replayEnded
    // What is here of a person
    case packageMade, packageUnproven, packageRest
    // A node of itself
    case rowVerified, verifiedTo, verifiedPartly, verifiedNot, rowBackup, backupTo, backupTaken, backupNone
    case rowNode, rowCluster, rowLog, rowViews, rowHeld, rowAttachments, rowPeers, softwareOn, isUnknown, isWell,
        isDegraded,
        isReceiving, isRebuilding, noDaemon, inUseBy, daemonUnknown, logIn, viewsWhole, viewsLack,
        viewsCatchUp, viewsNone, viewsRebuilt, viewsCompared, eventsHeld, attachmentsLacking, callPort, thisNode,
        problems, problem, notLetIn, letIn, addressUnknown, snapshotShare, snapshotTo, snapshotFrom, snapshotProving,
        snapshotOpening,
        settledAt, toDo, gravityIntegrity, gravityWarning, gravityInformation, noFindings, noRoles, rolesAre,
        rolesEverywhere, sequence, ownBranch, noForks
    // Verification
    case verifyAsked, checkedEvents, checkPassed, checkFailed, notCovered, remarkOf, sinceReceipt, rowOrigin, rowFork,
        moreHidden, erasedUncovered, unsignedUncovered, sealedUnchecked, sealedRight, cutUncovered, originLine,
        forkLine, forkOfHeadsLine, tookTime, receiptLacking, receiptUnsigned, receiptAgrees
    case meansDatabase, meansIndex, meansPositions, meansOrder, meansEvents, meansNames, meansTree, meansHeads,
        meansOrigins, meansTwins, meansEnds, meansSeals, meansErasures, emptyLog, positionsTo, butErased,
        forksProven, actorsContradict, viewsContradictOnly, isDamaged, andViewsContradict, notAllCovered,
        notAllViews, isVerified, viewsUnread, viewsVerified, viewsContradict, viewsIncomparable, actorLine,
        actorsHidden, actorsRest, actorsVerified, actorsAgainst, tokenNeverGranted, tokenOfOther, tokenOver,
        tokenTakenBack, tokenNoAuthor
    // What changed something
    case storeMade, appendedAt, alreadyAt, lineNumber, tokenIn, tokenRevoked, isValid, isRevoked, isExpired,
        isElsewhere, isDoubtful, readLost,
        isOfAll, isOfOwn, attachmentState, isPresent, isMissing, isDamagedHere, isLeaving, settledNow, settledSince,
        noOpenFinding, digestOrigin, digestView, digestLacks, quarantineRetried, rootDiffers, leftOut, evidenceLeftOut
    // Peers and subscriptions
    case peerAdded, peerJoined, peerRemoved, peerPaused, peerResumed, pong, pongClock, inviteUntil, joinsLater,
        noClocks,
        flaggedOrigin, stillAhead, rightAgain, durableOn, notDurable, waitsForNodes, subscriptionMade,
        subscriptionThere,
        subscriptionChanged, subscriptionDeleted, subscriptionMoved, subscriptionRetried, subscriptionSought
    // Backups
    case backupBroken, backupOtherHistory, backupUnreached, backupUnread, backupOfStranger, backupsPassedOver,
        backupPutBack, backupUnnoted, backupCleared, backupRewritten,
        backupUncovered, backupLacksAttachments, backupLeavesAttachments, backupAdded, alsoAttachments, behindBackup,
        fullBackup,
        backupLeftovers, backupRemoved, backupPruned, backupCopied, backupCopyLacks, withoutKey
    case restoreUnsigned, restoreNotPutBack, restoreLacks, restoreErased, restoreNotErased, restored, backupsOfNodes,
        backupUnnamed, backupIsBroken, backupVerified, backupUnsigned, backupSigned, backupStrange, drillErased,
        drillDone,
        drillGood, drillBad
    // Imports
    case importedLines, importableLines, nodesLines, twinLines, bytesOfLines, moreRejected, importStopped,
        importStoppedInput,
        importUnbegun, hereExchanged, readAs, recordsPassed, placeLine, toldOtherwise, partOfType, valuesOfPart,
        noValue,
        differingParts,
        wayOutOfDifference, notTaken, importedEvents, importableEvents, erasedOfThem, importedAttachments,
        wayOutOfAttachments, evidenceLacks, evidenceTaken, evidenceHealed,
        evidenceStopped

    /// The text in both languages.
    var phrase: Phrase {
        switch self {
        case .time: Phrase("TIME", "시각")
        case .position: Phrase("POSITION", "위치")
        case .conversation: Phrase("CONVERSATION", "대화")
        case .who: Phrase("WHO", "작성자")
        case .user: Phrase("USER", "사용자")
        case .type: Phrase("TYPE", "종류")
        case .text: Phrase("TEXT", "내용")
        case .id: Phrase("ID", "ID")
        case .last: Phrase("LAST", "마지막 활동")
        case .events: Phrase("EVENTS", "이벤트")
        case .messages: Phrase("MESSAGES", "메시지")
        case .startedBy: Phrase("STARTED BY", "시작한 사람")
        case .title: Phrase("TITLE", "제목")
        case .field: Phrase("FIELD", "항목")
        case .setBy: Phrase("SET BY", "입력한 사람")
        case .state: Phrase("STATE", "상태")
        case .value: Phrase("VALUE", "값")
        case .isSet: Phrase("set", "설정됨")
        case .inConflict: Phrase("conflict", "충돌")
        case .alsoSaid: Phrase("also said", "다른 값")
        case .survey: Phrase("SURVEY", "설문")
        case .answers: Phrase("ANSWERS", "응답 수")
        case .question: Phrase("QUESTION", "문항")
        case .answer: Phrase("ANSWER", "응답")
        case .count: Phrase("COUNT", "건수")
        case .group: Phrase("GROUP", "구분")
        case .noGroup: Phrase("(none)", "(없음)")
        case .share: Phrase("SHARE", "비율")
        case .asked: Phrase("QUESTION", "질문")
        case .replied: Phrase("ANSWER", "답변")
        case .seconds: Phrase("SECONDS", "걸린 초")
        case .satisfaction: Phrase("SATISFACTION", "평가")
        case .name: Phrase("NAME", "이름")
        case .home: Phrase("HOME", "담당 노드")
        case .open: Phrase("OPEN", "미처리")
        case .out: Phrase("OUT", "처리 중")
        case .behind: Phrase("BEHIND", "밀린 이벤트")
        case .wants: Phrase("WANTS", "받는 종류")
        case .event: Phrase("EVENT", "이벤트")
        case .attempts: Phrase("ATTEMPTS", "시도")
        case .at: Phrase("AT", "시각")
        case .reason: Phrase("REASON", "사유")
        case .error: Phrase("ERROR", "오류")
        case .view: Phrase("VIEW", "뷰")
        case .peer: Phrase("PEER", "피어")
        case .node: Phrase("NODE", "노드")
        case .backup: Phrase("BACKUP", "백업")
        case .segments: Phrase("SEGMENTS", "조각")
        case .size: Phrase("SIZE", "크기")
        case .lacks: Phrase("LACKS", "상대에 없음")
        case .oldest: Phrase("OLDEST", "가장 오래된 것")
        case .owes: Phrase("OWES", "받을 것")
        case .address: Phrase("ADDRESS", "주소")
        case .labelID: Phrase("id", "ID")
        case .labelHLC: Phrase("hlc", "HLC")
        case .labelUnreadable: Phrase("unreadable", "읽을 수 없음")
        case .labelType: Phrase("type", "종류")
        case .labelTime: Phrase("time", "시각")
        case .labelRecorded: Phrase("recorded", "기록 시각")
        case .labelUser: Phrase("user", "사용자")
        case .labelAuthor: Phrase("author", "작성자")
        case .labelActor: Phrase("actor", "추가한 주체")
        case .labelConversation: Phrase("conversation", "대화")
        case .labelCause: Phrase("cause", "원인 이벤트")
        case .labelPosition: Phrase("position", "위치")
        case .labelOrigin: Phrase("origin", "오리진")
        case .labelVersion: Phrase("data version", "데이터 버전")
        case .labelDependsOn: Phrase("depends on", "선행 이벤트")
        case .labelSameID: Phrase("same id", "같은 ID")
        case .otherContents: Phrase("{0} with other content: syncctl show", "내용이 다른 같은 이벤트 {0}개: syncctl show")
        case .labelLeaf: Phrase("leaf", "리프 해시")
        case .itsBytes: Phrase("{0}; --json has its bytes", "{0}. 바이트는 --json으로 볼 수 있습니다")
        case .ofNode: Phrase(" (node {0})", " (노드 {0})")
        case .headerRemains: Phrase("(erased; header and digest remain)", "(삭제됨. 헤더와 다이제스트는 남아 있습니다)")
        case .noObject: Phrase("(no JSON object; --json has its bytes)", "(JSON 객체가 아님. 바이트는 --json으로 볼 수 있습니다)")
        case .twinAt: Phrase("position {0}, {1}", "위치 {0}, {1}")
        case .twinCounts: Phrase(" counts: recorded first", " 인정됨: 먼저 기록됨")
        case .twinDiffers: Phrase("; other content", ". 내용이 다름")
        case .labelData: Phrase("data", "데이터")
        case .oneEvent: Phrase("1 event", "이벤트 1건")
        case .manyEvents: Phrase("{0} events", "이벤트 {0}건")
        case .andMore: Phrase("{0} and {1} more", "{0} 외 {1}명")
        default: remark
        }
    }

    private var remark: Phrase {
        switch self {
        case .edited: Phrase("edited by {0} at {1}", "수정됨: {0}, {1}")
        case .editedTimes: Phrase("edited {2} times, last by {0} at {1}", "{2}회 수정됨, 마지막 수정: {0}, {1}")
        case .retracted: Phrase("retracted by {0} at {1}", "회수됨: {0}, {1}")
        case .retractedForReason: Phrase("retracted: {0}", "회수됨: {0}")
        case .retractedAlone: Phrase("retracted", "회수됨")
        case .otherEdit: Phrase("an edit by {0} at {1} does not count", "인정되지 않는 수정: {0}, {1}")
        case .otherRetraction: Phrase("a retraction by {0} at {1} does not count", "인정되지 않는 회수: {0}, {1}")
        case .otherAmendments:
            Phrase("{0} edits and retractions by others do not count", "다른 사람의 수정과 회수 {0}건은 인정되지 않습니다")
        case .hiddenAmendments: Phrase("{0} earlier edits and retractions are not listed", "이전 수정과 회수 {0}건은 생략했습니다")
        case .fullEdit: Phrase("edited by {0} at {1}, event {2}", "수정됨: {0}, {1}, 이벤트 {2}")
        case .fullRetraction: Phrase("retracted by {0} at {1}, event {2}", "회수됨: {0}, {1}, 이벤트 {2}")
        case .doesNotCount: Phrase("does not count", "인정되지 않음")
        case .erased: Phrase("erased", "삭제됨")
        case .unreadable: Phrase("payload cannot be read", "내용을 읽을 수 없음")
        case .opaque: Phrase("of a later format, or malformed", "이후 버전의 형식이거나 손상됨")
        case .failed: Phrase("failed: {0}", "실패: {0}")
        case .attachment: Phrase("1 attachment", "첨부 1개")
        case .attachments: Phrase("{0} attachments", "첨부 {0}개")
        case .ahead: Phrase("+{0} ahead", "{0} 앞선 시각")
        case .shownTwice:
            Phrase(
                "{0}: clocks show this time twice; it was taken with the offset {1}; for the other write {2} behind it",
                "{0}: 시계가 두 번 가리키는 시각입니다. 시차 {1} 기준으로 읽었습니다. 다른 쪽은 뒤에 시차를 쓰십시오: {2}")
        case .between: Phrase("{0} to {1} ({2})", "{0}부터 {1} 전까지 ({2})")
        case .from: Phrase("from {0} ({1})", "{0}부터 ({1})")
        case .before: Phrase("before {0} ({1})", "{0} 전까지 ({1})")
        case .asOf: Phrase("as of {0} ({1})", "{0} 기준 ({1})")
        case .knownAt: Phrase("as known at position {0}", "위치 {0}까지 기록된 내용")
        case .knownThen: Phrase("as known at {0} ({1})", "{0}까지 기록된 내용 ({1})")
        case .beginning: Phrase("beginning", "처음")
        case .now: Phrase("now", "지금")
        case .place: Phrase("position", "위치")
        default: finding
        }
    }

    private var finding: Phrase {
        switch self {
        case .noSuchType: Phrase("there is no event of type {0}", "이 종류의 이벤트가 없습니다: {0}")
        case .didYouMean: Phrase("; did you mean {0}?", ". 혹시 이것을 찾으십니까? {0}")
        case .noEventOf: Phrase("no event of {0} matched", "조건에 맞는 이벤트가 없습니다: {0}")
        case .noUser: Phrase("there is no user {0}", "사용자를 찾을 수 없습니다: {0}")
        case .noUsers: Phrase("no user has a name here yet", "아직 이름이 있는 사용자가 없습니다")
        case .noConversation: Phrase("there is no conversation {0}", "대화를 찾을 수 없습니다: {0}")
        case .nothingFound: Phrase("nothing found: {0}", "찾은 것이 없습니다: {0}")
        case .moreFound:
            Phrase("the newest {0}; there are more: --last N or --all", "최근 {0}건입니다. 더 있습니다: --last N 또는 --all")
        case .lookedAtMany:
            Phrase(
                "cut here: {0} were looked at, the latest active first; --all looks at all of them",
                "여기까지: 최근에 쓰인 {0}개를 살펴보았습니다. 모두 살펴보려면 --all")
        case .moreRanked:
            Phrase("the best {0}; there are more: --last N", "가장 잘 맞는 {0}건입니다. 더 있습니다: --last N")
        case .unindexed:
            Phrase(
                "{0} events are not indexed yet: ask again to find what is in them",
                "이벤트 {0}건은 아직 색인되지 않았습니다. 잠시 뒤 다시 검색하면 그 안의 말도 찾을 수 있습니다")
        case .languageOfWords:
            Phrase(
                "--lang is the language of the headings; --language {0} finds messages in that language alone",
                "--lang은 화면 언어입니다. 그 언어로 표시된 메시지만 찾으려면 --language {0}")
        case .noConversations: Phrase("no conversations", "대화가 없습니다")
        case .noProfile: Phrase("no profile of {0}", "프로필이 없습니다: {0}")
        case .noSurveys: Phrase("no surveys", "설문이 없습니다")
        case .noAnswers: Phrase("no answers to survey {0}", "설문에 응답이 없습니다: {0}")
        case .noEvent: Phrase("no event {0}", "이벤트를 찾을 수 없습니다: {0}")
        case .noEventsMatched: Phrase("no event matched", "조건에 맞는 이벤트가 없습니다")
        case .nothingParked: Phrase("nothing is parked", "보류된 이벤트가 없습니다")
        case .noSubscriptions:
            Phrase(
                "no subscriptions; syncctl subscriptions create NAME makes one",
                "구독이 없습니다. 새로 만들려면 syncctl subscriptions create NAME을 실행하십시오")
        case .noPeers:
            Phrase(
                "no peers; syncctl peers invite here, or peers join with a line from another node",
                "피어가 없습니다. 이 노드에서 syncctl peers invite를 실행하거나, 다른 노드에서 받은 초대 한 줄로 syncctl peers join을 실행하십시오")
        case .nothingQuarantined: Phrase("nothing is quarantined", "격리된 이벤트가 없습니다")
        case .nothingMoreQuarantined: Phrase("nothing more is quarantined", "격리된 이벤트가 더 없습니다")
        case .moreQuarantined:
            Phrase(
                "{0} events are quarantined in all; more: --after {1}", "격리된 이벤트는 모두 {0}건입니다. 더 보기: --after {1}")
        case .usingStore: Phrase("using the store {0}", "사용하는 저장소: {0}")
        case .unknownZone:
            Phrase("TZ={0} is no time zone here: times are shown in UTC", "TZ={0}: 알 수 없는 시간대이므로 시각을 UTC로 표시합니다")
        case .viewsBehind:
            Phrase(
                "the views are behind: the newest {0} events are missing from this answer",
                "뷰가 아직 따라오지 못했습니다. 최근 이벤트 {0}건이 이 결과에 빠져 있습니다")
        case .erasedEvents:
            Phrase(
                "{0} events are erased: their lines have no data, and import passes them over",
                "이벤트 {0}건은 삭제되어 내용이 없으며, 가져올 때 건너뜁니다")
        default: list
        }
    }
}

extension Session {
    /// A text for standard error, in the language of the user, with these values filled in.
    func text(_ wording: Wording, _ values: String...) -> String { wording.phrase.text(language, values) }

    /// A text in the answer itself.
    func shown(_ wording: Wording, _ values: String...) -> String { wording.phrase.text(outputLanguage, values) }

    /// The heading of a column.
    func heading(_ wording: Wording) -> String { shown(wording) }

    /// The heading of a column of times: `TIME (+09:00)`.
    func headingOfTimes(_ wording: Wording) -> String { "\(heading(wording)) (\(offset))" }

    /// How long something is, with its two largest units.
    func span(_ milliseconds: Int64) -> String {
        let text = TimeSpan.text(milliseconds)
        guard outputLanguage == .korean else { return text }
        // Of `ms` before `m` and `s`.
        let units = [("ms", "밀리초"), ("d", "일"), ("h", "시간"), ("m", "분"), ("s", "초")]
        return text.split(separator: " ").map { part in
            let digits = part.prefix { !$0.isLetter }
            let unit = part.dropFirst(digits.count)
            return digits + (units.first { $0.0 == unit }?.1 ?? String(unit))
        }.joined(separator: " ")
    }

    /// How many events there are.
    func eventCount(_ count: some BinaryInteger) -> String {
        count == 1 ? shown(.oneEvent) : shown(.manyEvents, String(count))
    }

    /// Says something to the user in their language.
    func say(_ wording: Wording, _ values: String...) { say(wording.phrase.text(language, values)) }

    /// Says something about the answer, in its language: who asked for a form that programs read reads English on both
    /// streams.
    func remark(_ wording: Wording, _ values: String...) { say(wording.phrase.text(outputLanguage, values)) }
}
