internal import EventStore

/// When bytes that events name are fetched, and how many there may be.
package struct AttachmentOptions: Sendable {
    /// As soon as an event names them; else when someone asks for them.
    package var isEager: Bool
    /// Most bytes of one attachment.
    package var limit: UInt64

    package init(isEager: Bool = true, limit: UInt64 = 100 << 20) { (self.isEager, self.limit) = (isEager, limit) }
}

/// Fetches attachments for all sessions, and reads those that peers ask for.
///
/// ## Concurrency model
/// One lock around the plan; the disk is waited for outside of it, on a thread of the ``StoreWorkers``.
final class AttachmentDesk: Sendable {
    private let store: EventStore
    private let options: AttachmentOptions
    private let log: @Sendable (NodeRemark) -> Void
    private let plan = Lock(AttachmentPlan())
    private let walk = Lock(Walk())

    /// How far the plan has come in the index.
    private struct Walk {
        /// Up to where what is missing, and what is damaged, has come into the plan.
        var places: [AttachmentState: AttachmentStanding] = [:]
        /// Whether nothing was found behind them.
        var isAtEnd = false
    }

    init(_ store: EventStore, _ options: AttachmentOptions, _ log: @escaping @Sendable (NodeRemark) -> Void) {
        (self.store, self.options, self.log) = (store, options, log)
    }

    // MARK: Any thread

    /// Someone asks for these bytes, whose event is here.
    func demand(_ want: AttachmentWant) {
        plan.withLock { plan in
            plan.makeRoom()
            plan.add([want])
        }
    }
    func opened(_ node: NodeID) { plan.withLock { $0.opened(node) } }
    func lost(_ node: NodeID) { plan.withLock { $0.lost(node) } }
    func letGo(of digest: Digest, _ node: NodeID) { plan.withLock { $0.letGo(of: digest, node) } }

    /// Asks all again; whether there is anything to ask for.
    func retry() -> Bool {
        // What made room for others comes again, once all others have had their turn.
        let beginsAnew = walk.withLock { walk in
            guard walk.isAtEnd, !walk.places.isEmpty else { return false }
            walk = Walk()
            return true
        }
        return plan.withLock { plan in
            plan.retry()
            return !plan.isEmpty || beginsAnew
        }
    }

    // MARK: The thread of attachments

    /// Bytes for a peer. What was not read from its first byte on is not compared with its name here: the peer does that.
    func piece(_ ask: AttachmentAsk, most: Int) -> AttachmentTold {
        guard let attachments = try? store.attachmentsIfAny(),
            let piece = try? attachments.piece(ask.digest, at: ask.offset, most: most)
        else { return AttachmentTold(lacking: ask) }
        return AttachmentTold(digest: ask.digest, offset: ask.offset, total: piece.total, bytes: piece.bytes)
    }

    /// Keeps what a peer has told, and chooses what to ask it for next.
    func next(_ node: NodeID, _ told: AttachmentTold?) -> AttachmentPlaceWanted? {
        do throws(StoreError) {
            if let told, let place = try keep(told, from: node) { return place }
            return try choose(for: node)
        } catch {
            log(NodeRemark("ATTACHMENTS", "attachments cannot be kept: \(error)"))
            if let told { plan.withLock { $0.failed(told.digest, at: node) } }
            return nil
        }
    }

    /// Where to go on with the same attachment; `nil` if it is done with, as far as this peer goes.
    private func keep(_ told: AttachmentTold, from node: NodeID) throws(StoreError) -> AttachmentPlaceWanted? {
        guard plan.withLock({ $0.isAsked(told.digest, of: node) }), told.isHere,
            let attachments = try store.attachmentsIfAny()
        else {
            plan.withLock { $0.failed(told.digest, at: node) }
            return nil
        }
        let outcome = try attachments.keep(
            told.digest, at: told.offset, told.bytes, total: told.total, limit: options.limit)
        switch outcome {
        case .more(let count):
            guard count > told.offset else { break }
            plan.withLock { $0.progressed(told.digest) }
            return AttachmentPlaceWanted(digest: told.digest, offset: count)
        case .whole, .unwanted:
            plan.withLock { $0.done(told.digest) }
            return nil
        case .tooLarge:
            plan.withLock { $0.isTooLarge(told.digest, at: node) }
            return nil
        case .wrong:
            log(
                NodeRemark(
                    "ATTACHMENT_WRONG",
                    "node \(node.short) has sent other bytes than attachment \(told.digest) has: thrown away, others are asked"
                ))
        }
        plan.withLock { $0.failed(told.digest, at: node) }
        return nil
    }

    private func choose(for node: NodeID) throws(StoreError) -> AttachmentPlaceWanted? {
        guard let attachments = try store.attachmentsIfAny() else { return nil }
        while true {
            let isMore = options.isEager ? try extendPlan(attachments) : false
            if let found = try take(for: node, attachments) { return found }
            if !isMore { return nil }
        }
    }

    /// Adds what is wanted next, as the index has it; true if there was something. How many bytes an event states is not looked at: the bytes
    /// that come say it.
    private func extendPlan(_ attachments: AttachmentStore) throws(StoreError) -> Bool {
        let room = plan.withLock { plan in
            plan.makeRoom()
            return AttachmentPlan.most - plan.count
        }
        guard room > 0 else { return false }
        for state in [AttachmentState.missing, .damaged] {
            let found = try attachments.standing(state, limit: room, after: walk.withLock { $0.places[state] })
            guard let last = found.last else { continue }
            plan.withLock { $0.add(found.map(\.want)) }
            walk.withLock { $0.places[state] = last.place }
            return true
        }
        walk.withLock { $0.isAtEnd = true }
        return false
    }

    /// The next of the plan that is still wanted.
    private func take(
        for node: NodeID, _ attachments: AttachmentStore
    ) throws(StoreError) -> AttachmentPlaceWanted? {
        while let want = plan.withLock({ $0.next(for: node) }) {
            do throws(StoreError) {
                let state = try attachments.standing(of: want.digest)?.state
                if state == .missing || state == .damaged {
                    return AttachmentPlaceWanted(digest: want.digest, offset: try attachments.resume(want.digest))
                }
                plan.withLock { $0.done(want.digest) }
            } catch {
                plan.withLock { $0.failed(want.digest, at: node) }
                throw error
            }
        }
        return nil
    }
}
