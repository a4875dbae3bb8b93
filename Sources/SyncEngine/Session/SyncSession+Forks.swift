package import EventStore

/// Two histories of one origin, seen from one session.
package struct ForkState: Sendable {
    /// Origins of which the peer has another history: nothing of them is sent.
    package internal(set) var held: Set<OriginID> = []
    /// What the peer has of origins of which this log has more, still to be compared.
    var unread: [VectorEntry] = []
    /// What is being compared.
    var reading: (id: RequestID, theirs: [VectorEntry])?
    /// Forks to be looked into; the first is being looked into.
    var inquiries: [ForkInquiry] = []
    /// When the peer must have answered.
    var deadline: AnswerDeadline?
    /// Forked origins that the peer has, and of which it was sent the proofs: before, it could not check them.
    var shown: Set<OriginID> = []
    /// What the store was asked, and what for.
    var asked: [RequestID: Purpose] = [:]

    enum Purpose: Hashable, Sendable {
        case inquiry
        /// To answer the peer's question.
        case answer(Fork)
        case proof(OriginID, isAnswerWanted: Bool)
        case gossip
        /// To send the proofs of these origins again.
        case showing([OriginID])
        /// To answer a HeadAsk.
        case head(OriginID)
        /// To answer a PayloadAsk.
        case payloads
        /// To store the answer to one.
        case healing
        /// To answer an AttachmentAsk.
        case attachment
        /// To send one.
        case nextAttachment
    }

    /// Proofs from the peer that wait for the one that is being checked: one at a time, for each takes the thread that
    /// also verifies the events of all other peers.
    var proofs: [Fork] = []
    /// Bytes of the proof being checked and of those that wait.
    var proofBytes = 0
    /// How many proofs of the peer proved nothing.
    var fruitless = 0

    /// Whether a question of the peer is being answered: one at a time, each costs reads.
    var isAnswering: Bool {
        asked.values.contains { purpose in
            switch purpose {
            case .answer, .head, .proof(_, isAnswerWanted: true): true
            case .inquiry, .gossip, .showing, .proof, .payloads, .healing, .attachment, .nextAttachment: false
            }
        } || proofs.contains(where: \.asks)
    }

    var isProving: Bool { asked.values.contains { if case .proof = $0 { true } else { false } } }

    /// Events wait until it is known which histories they belong to: those that depend on a forked origin need the proof
    /// to be there before them.
    var isSettled: Bool {
        unread.isEmpty && reading == nil && inquiries.isEmpty && !asked.values.contains(.gossip)
    }

    /// The vector for reading: what is held counts as known.
    func masked(_ known: VersionVector) -> VersionVector {
        var result = known
        for origin in held.sorted() { result.advance(to: Dot(origin: origin, seq: .max)) }
        return result
    }
}

// Forks and lost memory: seen in the first exchange, named, looked into while everything else goes on (D12).
extension SyncSession {
    /// Most origins whose roots are read at once: other sessions wait for the same thread.
    private static let readAtOnce = 64
    /// Most proofs that wait. A peer may send all it keeps at the opening, and some that come up meanwhile.
    private static let mostProofs = ForkEvidence.capacity * 2

    // MARK: Noticing

    /// Compares what the peer says it has with what is here. At the opening also origins of which it has less: their
    /// roots have to be read.
    mutating func examine(_ entries: [VectorEntry], isOpening: Bool, now: Moment, _ effects: inout [SessionEffect]) {
        for entry in entries {
            let mine = progress[entry.origin]
            let have = mine?.seq ?? 0
            if entry.origin == local.origin, entry.seq > have {
                claimed(entry, have: have, now: now, &effects)
            } else if let mine, mine.seq == entry.seq, mine.rootPrefix != entry.root {
                suspect(entry.origin, differsAt: entry.seq, &effects)
            } else if isOpening, entry.seq < have {
                forks.unread.append(entry)
            }
        }
        let shown = entries.map(\.origin).filter { local.forked.contains($0) && forks.shown.insert($0).inserted }
        if isOpening, !local.forked.isEmpty {
            inspect(.evidence, for: .gossip, &effects)
        } else if !shown.isEmpty {
            inspect(.evidence, for: .showing(shown), &effects)
        }
        goOnComparing(now: now, &effects)
    }

    private mutating func suspect(_ origin: OriginID, differsAt size: UInt64, _ effects: inout [SessionEffect]) {
        guard forks.held.insert(origin).inserted else { return }
        effects.append(.report(.forked(origin, size: size)))
        // What is proven already needs no second proof.
        if !local.forked.contains(origin) { forks.inquiries.append(ForkInquiry(origin, differsAt: size)) }
    }

    /// One step: reads the next roots, or asks about the next fork, or lets events flow.
    private mutating func goOnComparing(now: Moment, _ effects: inout [SessionEffect]) {
        guard forks.reading == nil else { return }
        if !forks.unread.isEmpty {
            let theirs = Array(forks.unread.prefix(Self.readAtOnce))
            forks.unread.removeFirst(theirs.count)
            let id = RequestID(number: takeNumber())
            forks.reading = (id, theirs)
            effects.append(.inspect(id, .roots(theirs.map { Dot(origin: $0.origin, seq: $0.seq) })))
        } else if let inquiry = forks.inquiries.first, forks.deadline == nil {
            forks.deadline = AnswerDeadline(asked: now.monotonic)
            ask(inquiry, &effects)
        }
        pump(now: now, &effects)
    }

    mutating func inspect(
        _ question: Inspection, for purpose: ForkState.Purpose, _ effects: inout [SessionEffect]
    ) {
        let id = RequestID(number: takeNumber())
        forks.asked[id] = purpose
        effects.append(.inspect(id, question))
    }

    // MARK: Looking into one

    /// Reads what the next question needs: roots, or this log's branch when it is known where the histories part.
    private mutating func ask(_ inquiry: ForkInquiry, _ effects: inout [SessionEffect]) {
        if let seq = inquiry.found {
            inspect(.branch(Dot(origin: inquiry.origin, seq: seq)), for: .inquiry, &effects)
        } else {
            inspect(.roots(inquiry.sizes.map { Dot(origin: inquiry.origin, seq: $0) }), for: .inquiry, &effects)
        }
    }

    /// There is nothing more to learn of the first fork.
    private mutating func endInquiry(isProven: Bool = false, now: Moment, _ effects: inout [SessionEffect]) {
        let inquiry = forks.inquiries.removeFirst()
        if !isProven, inquiry.origin == local.origin { effects.append(.report(.disputed(inquiry.origin))) }
        forks.deadline = nil
        goOnComparing(now: now, &effects)
    }

    /// The peer has not answered: an earlier release. The origin stays held.
    mutating func forkTimerFired(now: Moment, _ effects: inout [SessionEffect]) {
        guard !forks.inquiries.isEmpty, forks.deadline?.isOver(at: now.monotonic, heard: lastReceived) == true else {
            return
        }
        endInquiry(now: now, &effects)
    }

    /// A Fork came.
    mutating func forkReceived(_ fork: Fork, now: Moment, _ effects: inout [SessionEffect]) {
        if fork.asks, forks.isAnswering {
            return fail(SessionFailure(.rateLimited, "two questions about forks at once"), now: now, &effects)
        }
        switch fork.branches.count {
        case 2: prove(fork, now: now, &effects)
        case 1 where fork.asks:
            hold(fork.origin)
            prove(fork, now: now, &effects)
        case 0 where fork.asks:
            // The peer says that its history is another: whatever is true, it wants nothing of ours.
            hold(fork.origin)
            let have = progress[fork.origin]?.seq ?? 0
            let dots = fork.roots.filter { $0.size <= have }.map { Dot(origin: fork.origin, seq: $0.size) }
            inspect(.roots(dots), for: .answer(fork), &effects)
        default: answered(fork, now: now, &effects)
        }
    }

    /// Has a proof checked, now or when those before it are.
    private mutating func prove(_ fork: Fork, now: Moment, _ effects: inout [SessionEffect]) {
        guard forks.proofs.count < Self.mostProofs, forks.fruitless < Self.mostProofs else {
            return fail(SessionFailure(.rateLimited, "proofs of forks without end"), now: now, &effects)
        }
        forks.proofBytes += fork.byteCount
        guard !forks.isProving else { return forks.proofs.append(fork) }
        inspect(.prove(fork), for: .proof(fork.origin, isAnswerWanted: fork.asks), &effects)
    }

    /// The next one that waits.
    private mutating func proveNext(_ effects: inout [SessionEffect]) {
        forks.proofBytes = forks.proofs.saturatedSum(of: \.byteCount)
        guard !forks.proofs.isEmpty else { return }
        let fork = forks.proofs.removeFirst()
        inspect(.prove(fork), for: .proof(fork.origin, isAnswerWanted: fork.asks), &effects)
    }

    /// Nothing of the origin is sent from now on. A peer may make up origins: of those that are not here only some are
    /// remembered (INV-9).
    private mutating func hold(_ origin: OriginID) {
        guard progress[origin] != nil || forks.held.count < ForkEvidence.capacity else { return }
        forks.held.insert(origin)
    }

    /// The peer's roots, or that it has no branch to show.
    private mutating func answered(_ fork: Fork, now: Moment, _ effects: inout [SessionEffect]) {
        guard var inquiry = forks.inquiries.first, inquiry.origin == fork.origin else { return }
        guard fork.seq == 0, inquiry.narrow(fork.roots) else { return endInquiry(now: now, &effects) }
        forks.inquiries[0] = inquiry
        forks.deadline = AnswerDeadline(asked: now.monotonic)
        ask(inquiry, &effects)
    }

    // MARK: The store's answers

    /// Answers ``SessionEffect/inspect(_:_:)``.
    package mutating func inspected(
        _ id: RequestID, _ result: Result<Finding, SessionFailure>, now: Moment, effects: inout [SessionEffect]
    ) {
        guard case .open = state else { return }
        let finding: Finding
        switch result {
        case .failure(let failure): return fail(failure, now: now, &effects)
        case .success(let found): finding = found
        }
        if let reading = forks.reading, reading.id == id {
            forks.reading = nil
            compared(reading.theirs, finding, &effects)
            return goOnComparing(now: now, &effects)
        }
        guard let purpose = forks.asked.removeValue(forKey: id) else { return }
        switch (purpose, finding) {
        case (.inquiry, _): inquired(finding, now: now, &effects)
        case (.answer(let fork), .roots(let entries)):
            let roots = entries.map { Fork.Root(size: $0.seq, root: $0.root) }
            send(.fork(Fork(origin: fork.origin, roots: roots)), now: now, &effects)
        case (.proof(let origin, let isAnswerWanted), .proof(let evidence, let isNew)):
            proveNext(&effects)
            proved(origin, evidence, isNew, isAnswerWanted, now: now, &effects)
        case (.head(let origin), .head(let head)):
            send(.headTold(HeadTold(origin: origin, head: head)), now: now, &effects)
        case (.payloads, .payloads(let payloads)): payloadsFound(payloads, now: now, &effects)
        case (.healing, .healed(let dots)): healed(dots, now: now, &effects)
        case (.attachment, .attachment(let told)): attachmentFound(told, now: now, &effects)
        case (.nextAttachment, .nextAttachment(let place)): attachmentChosen(place, now: now, &effects)
        case (.gossip, .evidence(let all)):
            for evidence in all { send(.fork(Fork(evidence)), now: now, &effects) }
            pump(now: now, &effects)
        case (.showing(let origins), .evidence(let all)):
            for evidence in all where origins.contains(evidence.origin) {
                send(.fork(Fork(evidence)), now: now, &effects)
            }
        default: break
        }
    }

    private mutating func compared(
        _ theirs: [VectorEntry], _ finding: Finding, _ effects: inout [SessionEffect]
    ) {
        guard case .roots(let mine) = finding else { return }
        for entry in theirs {
            guard let own = mine.first(where: { $0.origin == entry.origin && $0.seq == entry.seq }) else { continue }
            if own.root != entry.root { suspect(entry.origin, differsAt: entry.seq, &effects) }
        }
    }

    private mutating func inquired(_ finding: Finding, now: Moment, _ effects: inout [SessionEffect]) {
        guard let inquiry = forks.inquiries.first else { return }
        switch finding {
        case .roots(let entries) where !entries.isEmpty:
            let roots = entries.map { Fork.Root(size: $0.seq, root: $0.root) }
            forks.inquiries[0].mine = roots
            send(.fork(Fork(origin: inquiry.origin, roots: roots, asks: true)), now: now, &effects)
        case .branch(let branch?):
            guard let seq = inquiry.found else { return }
            send(
                .fork(Fork(origin: inquiry.origin, seq: seq, branches: [branch], asks: true)), now: now, &effects)
        default: endInquiry(now: now, &effects)
        }
    }

    private mutating func proved(
        _ origin: OriginID, _ evidence: ForkEvidence?, _ isNew: Bool, _ isAnswerWanted: Bool, now: Moment,
        _ effects: inout [SessionEffect]
    ) {
        if let evidence {
            effects.append(.report(.proven(evidence, isNew: isNew)))
        } else {
            forks.fruitless += 1
        }
        if isAnswerWanted {
            let answer = evidence.map(Fork.init) ?? Fork(origin: origin, seq: 1)
            send(.fork(answer), now: now, &effects)
        }
        if forks.inquiries.first?.origin == origin { endInquiry(isProven: evidence != nil, now: now, &effects) }
    }

    // MARK: From the shell

    /// Another session has come by a proof: the peer must have it before events that depend on the origin.
    package mutating func forkProven(_ evidence: ForkEvidence, now: Moment, effects: inout [SessionEffect]) {
        local.forked.insert(evidence.origin)
        guard case .open = state else { return }
        send(.fork(Fork(evidence)), now: now, &effects)
    }

    /// This node appends to another origin from now on. Of the one that was given up events are taken like those of any other.
    package mutating func originChanged(to origin: OriginID) {
        if choosesOrigins, let stated = memory?[local.origin] {
            news.announced.append(Dot(origin: local.origin, seq: stated.seq))
        }
        local.origin = origin
        claim = nil
    }
}

extension SyncSession {
    /// The peer's Hello, once it came and was in order.
    package var hello: Hello? {
        switch state {
        case .comparing(let hello), .open(let hello, _, _): hello
        case .idle, .greeting, .closed: nil
        }
    }

    /// Asks the peer for a sign of life now.
    package mutating func probed(now: Moment, effects: inout [SessionEffect]) {
        guard hello != nil else { return }
        ping(now: now, &effects)
    }
}
