package import EventStore

/// Bytes of attachments that come from the peer and go to it, one piece at a time each way.
struct AttachmentExchange: Sendable {
    /// What the question under way is for.
    var asked: (ask: AttachmentAsk, at: UInt64)?
    /// When it is given up, monotonic milliseconds.
    var deadline: AnswerDeadline?
    /// Whether the shell is keeping a piece, or choosing what to ask for.
    var isBusy = false
    /// Whether more was wanted meanwhile.
    var isDue = false
    /// How large the next piece may be: so that no message waits long behind one, as in ``CongestionWindow``.
    var size = AttachmentExchange.least
    /// What the peer has asked for and has no answer to yet.
    var question: AttachmentAsk?
    var isAnswering = false

    static let least = 16 << 10

    /// The piece took so long, milliseconds beyond a round trip.
    mutating func took(_ beyond: UInt64) {
        if beyond > CongestionWindow.slow {
            size = max(Self.least, size / 2)
        } else if beyond < CongestionWindow.quick {
            size = min(WireLimits.attachmentPiece, size * 2)
        }
    }
}

// Attachments come last: a side asks for one piece at a time, and the other answers only when it has no event to send. Which bytes are wanted of
// which peer is decided for all sessions together, by the shell.
extension SyncSession {
    /// From the shell: there may be something to ask the peer for.
    package mutating func attachmentsWanted(now: Moment, effects: inout [SessionEffect]) {
        guard takesAttachments else { return }
        guard attachments.asked == nil, !attachments.isBusy else { return attachments.isDue = true }
        attachments.isBusy = true
        inspect(.nextAttachment(remote, nil), for: .nextAttachment, &effects)
    }

    /// Whether the peer answers questions for attachments.
    package var takesAttachments: Bool {
        guard case .open(let hello, _, _) = state else { return false }
        return speaks(.attachments, hello)
    }

    /// What to ask for next; nothing for now, if `nil`.
    mutating func attachmentChosen(
        _ place: AttachmentPlaceWanted?, now: Moment, _ effects: inout [SessionEffect]
    ) {
        attachments.isBusy = false
        guard let place else {
            guard attachments.isDue else { return }
            attachments.isDue = false
            return attachmentsWanted(now: now, effects: &effects)
        }
        let ask = AttachmentAsk(digest: place.digest, offset: place.offset, most: UInt32(attachments.size))
        attachments.asked = (ask, now.monotonic)
        attachments.deadline = AnswerDeadline(asked: now.monotonic)
        send(.attachmentAsk(ask), now: now, &effects)
    }

    /// A piece came, or that the peer has none. One that was given up is passed over.
    mutating func attachmentTold(_ told: AttachmentTold, now: Moment, _ effects: inout [SessionEffect]) {
        guard let asked = attachments.asked, asked.ask.digest == told.digest,
            asked.ask.offset == told.offset || !told.isHere
        else { return }
        let took = now.monotonic - asked.at
        attachments.took(took - min(took, shortestRoundTrip ?? 0))
        endQuestion(with: told, &effects)
    }

    private mutating func endQuestion(with told: AttachmentTold, _ effects: inout [SessionEffect]) {
        (attachments.asked, attachments.deadline, attachments.isBusy) = (nil, nil, true)
        inspect(.nextAttachment(remote, told), for: .nextAttachment, &effects)
    }

    /// The peer has events to send, or cannot find it: others may be asked.
    mutating func attachmentTimerFired(now: Moment, _ effects: inout [SessionEffect]) {
        guard let asked = attachments.asked,
            attachments.deadline?.isOver(at: now.monotonic, heard: lastReceived) == true
        else { return }
        endQuestion(with: AttachmentTold(lacking: asked.ask), &effects)
    }

    // MARK: Answering

    mutating func attachmentAsked(_ ask: AttachmentAsk, now: Moment, _ effects: inout [SessionEffect]) {
        guard attachments.question == nil else {
            return fail(SessionFailure(.rateLimited, "two questions for attachments at once"), now: now, &effects)
        }
        attachments.question = ask
        answerForAttachment(&effects)
    }

    /// Answers when no event waits for the peer or is on its way: an attachment never holds one up for longer than one piece takes.
    mutating func answerForAttachment(_ effects: inout [SessionEffect]) {
        guard let ask = attachments.question, !attachments.isAnswering,
            case .open(let hello, let outgoing, _) = state,
            outgoing.isQuiet, !snapshot.holdsEvents
        else { return }
        attachments.isAnswering = true
        let room = max(1, Int(hello.limits.maxBody) - Self.attachmentOverhead)
        let most = min(Int(clamping: ask.most), WireLimits.attachmentPiece, room)
        inspect(.attachment(ask, most: most), for: .attachment, &effects)
    }

    /// Bytes of an AttachmentTold beside its piece.
    private static let attachmentOverhead = 128

    mutating func attachmentFound(_ told: AttachmentTold, now: Moment, _ effects: inout [SessionEffect]) {
        (attachments.question, attachments.isAnswering) = (nil, false)
        lastSent = now.monotonic
        effects.append(.send(Message.attachmentTold(told).frame(compress: false), .data))
    }
}

/// From where on bytes are asked for.
package struct AttachmentPlaceWanted: Hashable, Sendable {
    package let digest: Digest
    package let offset: UInt64

    package init(digest: Digest, offset: UInt64) { (self.digest, self.offset) = (digest, offset) }
}

extension SyncSession.Outgoing {
    /// Whether there is no event for the peer, as far as is known, and none on its way.
    var isQuiet: Bool {
        guard reading == nil, flight.bytes == 0 else { return false }
        return wanted?.isEmpty == true || !hasMore && tail == nil
    }
}
