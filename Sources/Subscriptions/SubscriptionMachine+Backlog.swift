internal import EventStore

extension SubscriptionMachine {
    /// How much of the log is held at a time.
    package struct Bounds: Hashable, Sendable {
        /// Most events that are open.
        package var capacity = 4_096
        /// Most of one conversation, while half of the capacity is free; one after that, so that the other half is for conversations that
        /// have nothing open.
        package var share = 64
        /// Most conversations that are behind; a further one may fill the window.
        package var behind = 1_024

        package init() {}
    }

    /// One reading of the log for those that are behind.
    struct BacklogPass {
        /// It begins after this.
        let start: UInt64
        /// Whose events are looked at: each until it has no room.
        var marks: Set<ConversationMark>
    }

    /// Conversations that have events behind the window.
    package var countBehind: Int { cursors.count }

    /// All before this was looked at, for each of them.
    package var oldestCursor: UInt64? { cursors.values.min() }

    private var isHalfFree: Bool { openCount < bounds.capacity / 2 }

    private func hasRoom(_ mark: ConversationMark) -> Bool {
        openCount < bounds.capacity && held[mark, default: 0] < (isHalfFree ? bounds.share : 1)
    }

    /// Leaves an event for later if its conversation has enough. True if it did.
    mutating func leave(_ dot: Dot, of mark: ConversationMark, position: UInt64, isWanted: Bool) -> Bool {
        let (isPending, isNew) = (pending[dot] != nil, !looked.through.contains(dot))
        guard isPending || isNew && isWanted else { return false }
        let known = cursors[mark]
        if known == nil {
            guard definition.order == .conversation, openCount < bounds.capacity, !hasRoom(mark),
                cursors.count < bounds.behind
            else { return false }
        }
        if isNew {
            looked.through.advance(to: dot)
            looked.leave(dot, of: mark)
            revision += 1
        }
        // In another home's log it may have stood behind those that were looked at.
        cursors[mark] = min(known ?? .max, position - 1)
        return true
    }

    /// Where those are that are behind and have little left in the window. A reading that adds one event to a full half would cost as much as
    /// one that adds many: there must be some room, and where workers have enough to do some of those that are behind, too.
    private func due(through position: UInt64, isShort: Bool) -> [UInt64] {
        guard !cursors.isEmpty, openCount < bounds.capacity else { return [] }
        let few = openCount < bounds.capacity / 2 - bounds.capacity / 8 ? bounds.share / 2 : 0
        let due = cursors.filter { $0.value < position && held[$0.key, default: 0] <= few }
        return isShort || due.count * 8 >= cursors.count ? due.map(\.value) : []
    }

    /// Whether there is something to look at for those that are behind.
    ///
    /// - Parameters:
    ///   - position: All up to here was looked at, but for those that are behind.
    ///   - isShort: Whether workers would take more than there is.
    package func isBacklogDue(through position: UInt64, isShort: Bool) -> Bool {
        !due(through: position, isShort: isShort).isEmpty
    }

    /// The next reading, from the first place of those that have little left; it serves all others on its way.
    func backlogPass(through position: UInt64, isShort: Bool = true) -> BacklogPass? {
        guard let start = due(through: position, isShort: isShort).min() else { return nil }
        let marks = cursors.filter { $0.value >= start && hasRoom($0.key) }.keys
        return BacklogPass(start: start, marks: Set(marks))
    }

    /// The next event of a reading.
    ///
    /// - Parameter notBefore: It is for another home until then, monotonic milliseconds.
    mutating func lookBack(
        at header: EventHeader, position: UInt64, isWanted: Bool, twinOf first: Dot?, notBefore: UInt64,
        _ pass: inout BacklogPass
    ) {
        let dot = header.dot
        let mark = ConversationMark(of: header)
        guard pass.marks.contains(mark), let cursor = cursors[mark], cursor < position else { return }
        let isPending = pending[dot] != nil
        guard isPending || looked.through.contains(dot) && !looked.contains(dot, of: mark) else { return }
        guard hasRoom(mark) else {
            pass.marks.remove(mark)
            cursors[mark] = position - 1
            return
        }
        looked.advance(to: dot, of: mark)
        cursors[mark] = position
        take(
            header, mark, position, attempts: pending.removeValue(forKey: dot)?.attempts, isWanted: isWanted,
            twinOf: first, notBefore: notBefore)
    }

    /// The reading has ended.
    ///
    /// - Parameters:
    ///   - end: It went so far.
    ///   - position: All up to here was looked at, but for those that are behind.
    mutating func ended(_ pass: BacklogPass, at end: UInt64, through position: UInt64) {
        for mark in pass.marks {
            guard let cursor = cursors[mark] else { continue }
            cursors[mark] = max(cursor, end)
            guard end >= position, position >= backlogEnd else { continue }
            cursors[mark] = nil
            looked.caughtUp(mark)
            revision += 1
        }
        if cursors.isEmpty { early = Set(looked.early(early)) }
    }

    /// Whether an event that is not open was looked at.
    func isLookedAt(_ dot: Dot, _ mark: () -> ConversationMark?) -> Bool {
        guard looked.through.contains(dot), looked.mayLack(dot) else { return looked.through.contains(dot) }
        return mark().map { looked.contains(dot, of: $0) } ?? true
    }
}
