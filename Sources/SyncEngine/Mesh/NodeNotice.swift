package import EventStore

/// Something an operator should know about who is who, with what to do.
package struct NodeNotice: Hashable, Sendable {
    /// Stable names for machines.
    package enum Code: String, Sendable, CaseIterable {
        /// A peer has another history of an origin.
        case fork = "FORK"
        /// The log had lost events of this node; a new origin was started.
        case amnesia = "AMNESIA"
        /// A new origin was started because the log might have lost events, or has another history than others.
        case newOrigin = "NEW_ORIGIN"
        /// The log had been cut: its WAL was damaged, or it ended before what the node knows it had written.
        case logCut = "LOG_CUT"
        /// Two processes with one key are alive.
        case duplicateNodeID = "DUPLICATE_NODE_ID"
        /// This node's clock, or the stamps of an origin, cannot be right.
        case clock = "CLOCK"
        /// A peer has claimed something of this node's own origin that it could not show.
        case unprovenClaim = "UNPROVEN_CLAIM"
        /// A peer's store was made anew: it has the key, and none of its memory.
        case newStore = "NEW_STORE"
    }

    package enum Severity: String, Sendable {
        /// For information: it was dealt with.
        case information
        /// Something does not go on by itself.
        case warning
        /// The record has two versions.
        case integrity
    }

    package let code: Code
    package let severity: Severity
    /// What it is about: an origin or a node. One notice is kept for each code and subject.
    package let subject: String
    /// What happened, one sentence.
    package let text: String
    /// What to do, one sentence; empty where there is nothing to do.
    package let action: String
    /// When it was last seen, Unix milliseconds.
    package let at: Int64

    package init(
        _ code: Code, _ severity: Severity, subject: String, _ text: String, action: String, at: Int64
    ) {
        self.code = code
        self.severity = severity
        self.subject = subject
        self.text = text
        self.action = action
        self.at = at
    }
}

/// The last notices, one for each code and subject, newest first; bounded.
struct NoticeBoard: Sendable {
    private(set) var notices: [NodeNotice] = []
    private static let capacity = 100

    /// Puts up a notice. True if there was none of its code and subject.
    mutating func put(_ notice: NodeNotice) -> Bool {
        let before = notices.count
        notices.removeAll { $0.code == notice.code && $0.subject == notice.subject }
        let isNew = notices.count == before
        notices.insert(notice, at: 0)
        if notices.count > Self.capacity { notices.removeLast() }
        return isNew
    }

    mutating func remove(_ code: NodeNotice.Code, _ subject: String) {
        notices.removeAll { $0.code == code && $0.subject == subject }
    }
}

extension NodeNotice {
    static func fork(_ origin: OriginID, isOwn: Bool, with peer: String, isProven: Bool, at: Int64) -> NodeNotice {
        let whose = isOwn ? "this node's origin \(origin)" : "origin \(origin)"
        let proof = isProven ? "the proof is kept in the folder evidence" : "there is no proof of it (yet)"
        return NodeNotice(
            .fork, isProven ? .integrity : .warning, subject: origin.description,
            "two histories of \(whose), one here and one at \(peer); both stay where they are, \(proof)",
            action: isOwn
                ? "the node goes on with a new origin; bring over what only one side has: OPERATING.md, 'A fork'"
                : "nothing of that origin is exchanged with \(peer); see OPERATING.md, 'A fork'", at: at)
    }

    /// - Parameter size: How many events of the origin that was given up are here now.
    static func succession(_ succession: OriginSuccession, size: UInt64, at: Int64) -> NodeNotice {
        let isLoss = succession.change.isLoss
        let missing = succession.known > size ? succession.known - size : 0
        let text =
            "this node went on with a new origin: \(succession.change.summary) "
            + "(\(succession.had) of at least \(succession.known) events of origin \(succession.previous))"
        let recovery = missing > 0 ? "; recovering, \(missing) of its own events are not back yet" : ""
        let action =
            if missing > 0 {
                "connect it with a peer that has them"
            } else if succession.change == .forked {
                "bring over what only one side has: OPERATING.md, 'A fork'"
            } else {
                isLoss ? "find out why the store was old; nothing else is to be done" : ""
            }
        return NodeNotice(
            isLoss ? .amnesia : .newOrigin, missing > 0 ? .warning : .information,
            subject: succession.previous.description, text + recovery, action: action, at: at)
    }

    /// What the files of a store say without their daemon: forks, and why the node appends to another origin than before.
    package static func standing(_ files: StoreFiles) throws(StoreError) -> [NodeNotice] {
        let log = try LogReader(files)
        let own = try log.origins(of: try StoreIdentity(log).node)
        var notices: [NodeNotice] = []
        for evidence in try ForkEvidence.list(files) {
            let at = try log.event(evidence.dot)?.event.header.hlc.milliseconds ?? 0
            let isOwn = own.contains { $0.id == evidence.origin }
            notices.append(.fork(evidence.origin, isOwn: isOwn, with: "another node", isProven: true, at: at))
        }
        notices += try CutEvidence.open(files, log).map(cut)
        notices += try flagged(log, wall: WallClock.now)
        for (succession, at) in Self.open(own) {
            let size = own.first { $0.id == succession.previous }?.size ?? 0
            notices.append(.succession(succession, size: size, at: at))
        }
        return notices
    }

    static func cut(_ cut: CutEvidence) -> NodeNotice {
        NodeNotice(
            .logCut, .integrity, subject: cut.name,
            "when the log was opened, \(cut.text); it had \(cut.had.seq) events of this node's origin \(cut.had.origin)",
            action: "let it take back from its peers what they have, find out what damaged the disk, then settle it: "
                + "OPERATING.md, 'A log that was cut'", at: cut.at)
    }

    /// The last change of origin, and earlier ones after which something is still missing.
    static func open(_ own: [OwnOrigin]) -> [(OriginSuccession, at: Int64)] {
        own.compactMap { origin in
            guard let succession = origin.succession else { return nil }
            let size = own.first { $0.id == succession.previous }?.size ?? 0
            guard origin.isCurrent || size < succession.known else { return nil }
            return (succession, origin.started)
        }
    }

    static func duplicate(_ node: NodeID, _ text: String, at: Int64) -> NodeNotice {
        NodeNotice(
            .duplicateNodeID, .warning, subject: node.description, text,
            action: "stop one of the two and make it a node of its own: OPERATING.md, 'Two nodes with one key'",
            at: at)
    }

    /// Origins whose stamps were too far ahead when they came here.
    package static func flagged(_ log: LogReader, wall: Int64) throws(StoreError) -> [NodeNotice] {
        try log.flaggedOrigins().map { flagged in
            let isAhead = flagged.last.milliseconds > wall + HybridClock.bound
            let text =
                "stamps of origin \(flagged.origin) (node \(flagged.node.short)) were up to "
                + "\(flagged.skew.ahead / 1_000) s ahead of this clock; its events are kept, and moved no other clock"
            return NodeNotice(
                .clock, isAhead ? .warning : .information, subject: flagged.origin.description, text,
                action: isAhead ? "set the clock of that node right; it then goes on with a new origin" : "",
                at: flagged.skew.at)
        }
    }

    /// - Parameter offset: The peers' clocks minus this node's, the middle one, milliseconds.
    static func disputed(_ node: NodeID, offset: Int64, by count: Int, of all: Int, at: Int64) -> NodeNotice {
        NodeNotice(
            .clock, .warning, subject: node.description,
            "this node's clock differs from those of \(count) of \(all) connected peers, about \(offset / 1_000) s; what is "
                + "appended now gets wrong stamps",
            action: "set this machine's clock right: timedatectl, chronyc tracking", at: at)
    }

    static func stamped(_ node: NodeID, ahead: Int64, at: Int64) -> NodeNotice {
        NodeNotice(
            .clock, .warning, subject: node.description,
            "this node's last stamp is \(ahead / 1_000) s ahead of its clock: one of the two is or was wrong",
            action:
                "check this machine's clock; when connected peers agree with it, the node goes on with a new origin",
            at: at)
    }

    static func unproven(
        _ node: NodeID, name: String, _ claim: String, times: Int, isSuspended: Bool, at: Int64
    ) -> NodeNotice {
        NodeNotice(
            .unprovenClaim, .warning, subject: node.description,
            "\(name) says that \(claim), and cannot show what this node's key has signed (\(times) times): it lies or is "
                + "damaged; nothing it says to have counts as durable" + (isSuspended ? ", and it is paused" : ""),
            action: isSuspended
                ? "look at that node; 'syncctl peers resume \(name)' goes on with it" : "look at that node", at: at)
    }

    static func newStore(_ node: NodeID, name: String, at: Int64) -> NodeNotice {
        NodeNotice(
            .newStore, .information, subject: node.description,
            "the store of \(name) was made anew with its old key; what it had written before is sent back to it",
            action: "", at: at)
    }
}
