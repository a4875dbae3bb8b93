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
        /// The log contradicts what was signed or stored, as the daemon's last verification has found.
        case logDamaged = "LOG_DAMAGED"
        /// What should say from outside how far the log went says nothing.
        case witnessLost = "WITNESS_LOST"
        /// Two processes with one key are alive.
        case duplicateNodeID = "DUPLICATE_NODE_ID"
        /// This node's clock, or the stamps of an origin, cannot be right.
        case clock = "CLOCK"
        /// A peer has claimed something of this node's own origin that it could not show.
        case unprovenClaim = "UNPROVEN_CLAIM"
        /// A peer's store was made anew: it has the key, and none of its memory.
        case newStore = "NEW_STORE"
        /// What this node has of an origin is not what it has said to have: it cosigns nothing more of it.
        case witnessRefused = "WITNESS_REFUSED"
        /// An event of another node, recorded earlier by its own stamp, has changed what was shown here of the past.
        case replaced = "EVENT_REPLACED"
        /// The node takes no appends.
        case refusing = "APPENDS_REFUSED"

        /// Whether it tells of an origin what every node that has it can see for itself; all others tell what one store has found.
        package var isOfOrigin: Bool { self == .fork || self == .clock }
    }

    package enum Severity: String, Sendable {
        /// For information: it was dealt with.
        case information
        /// Something does not go on by itself.
        case warning
        /// The record has two versions.
        case integrity
    }

    /// What a settlement has to name to speak of a notice, so that none can be made before there is something to settle.
    package enum Matter: Hashable, Sendable {
        /// It tells of a state, and ends when that does: nothing settles it.
        case state
        /// It may happen again: settled is what was seen before.
        case moment
        /// It happened once, under these names; it came about at `since`, Unix milliseconds.
        case once(Set<String>, since: Int64)
        /// The stamps of an origin: the last one that is here, and the one that was furthest ahead when it came, Unix
        /// milliseconds.
        case stamps(seq: UInt64, last: HybridTime, worst: Int64)

        /// Forks of one origin that are proven.
        init(_ proofs: [ForkEvidence]) {
            self = proofs.isEmpty ? .moment : .once(Set(proofs.map(\.name)), since: proofs.map(\.stamp).max() ?? 0)
        }
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
    /// What settles it.
    package let matter: Matter

    package init(
        _ code: Code, _ severity: Severity, subject: String, _ text: String, action: String, at: Int64,
        _ matter: Matter = .moment
    ) {
        self.code = code
        self.severity = severity
        self.subject = subject
        self.text = text
        self.action = action
        self.at = at
        self.matter = matter
    }
}

/// That this node went on with another origin.
struct OriginTurn: Hashable, Sendable {
    let succession: OriginSuccession
    /// The new one.
    let origin: OriginID
    /// Unix milliseconds.
    let at: Int64
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
    /// - Parameter proofs: `nil` while there is none.
    static func fork(
        _ origin: OriginID, isOwn: Bool, with peer: String, _ proofs: [ForkEvidence]?, at: Int64
    ) -> NodeNotice {
        let isProven = proofs != nil
        let whose = isOwn ? "this node's origin \(origin)" : "origin \(origin)"
        let proof = isProven ? "the proof is kept in the folder evidence" : "there is no proof of it (yet)"
        return NodeNotice(
            .fork, isProven ? .integrity : .warning, subject: origin.description,
            "two histories of \(whose), one here and one at \(peer); both stay where they are, \(proof)",
            action: isOwn
                ? "the node goes on with a new origin; bring over what only one side has: operating/trouble.md, 'A fork'"
                : "nothing of that origin is exchanged with \(peer); see operating/trouble.md, 'A fork'", at: at,
            Matter(proofs ?? []))
    }

    /// - Parameter size: How many events of the origin that was given up are here now.
    static func succession(_ turn: OriginTurn, size: UInt64) -> NodeNotice {
        let succession = turn.succession
        let isLoss = succession.change.isLoss
        let missing = succession.known > size ? succession.known - size : 0
        let isUncounted = isLoss && succession.known == succession.had
        let count =
            isUncounted
            ? "\(succession.had) events of origin \(succession.previous) are left; how many there were is not known"
            : "\(succession.had) of at least \(succession.known) events of origin \(succession.previous)"
        let text = "this node went on with a new origin: \(succession.change.summary) (\(count))"
        let recovery = missing > 0 ? "; recovering, \(missing) of its own events are not back yet" : ""
        let action =
            if missing > 0 {
                "connect it with a peer that has them"
            } else if succession.change == .forked {
                "bring over what only one side has: operating/trouble.md, 'A fork'"
            } else if let evidence = succession.evidence, isUncounted {
                "compare with its peers what it has; what was found is told by LOG_CUT \(evidence)"
            } else {
                isLoss ? "find out why the store was old; nothing else is to be done" : ""
            }
        return NodeNotice(
            isLoss ? .amnesia : .newOrigin, missing > 0 ? .warning : .information,
            subject: succession.previous.description, text + recovery, action: action, at: turn.at,
            .once([turn.origin.description], since: turn.at))
    }

    static func cut(_ cut: CutEvidence) -> NodeNotice {
        guard cut.kind == .cut else {
            return NodeNotice(
                .witnessLost, .warning, subject: cut.name,
                "when the log was opened at position \(cut.position), it could not be compared with its witness: \(cut.text)",
                action: "bring the witness back and start anew, or compare the roots with a peer's and settle it: "
                    + "operating/trouble.md, 'A lost witness'", at: cut.at)
        }
        return NodeNotice(
            .logCut, .integrity, subject: cut.name,
            "when the log was opened, \(cut.text); it had \(cut.had.seq) events of this node's origin \(cut.had.origin)",
            action: "let it take back from its peers what they have, find out what damaged the disk, then settle it: "
                + "operating/trouble.md, 'A log that was cut'", at: cut.at)
    }

    /// The last change of origin, and earlier ones after which something is still missing. A signed head may know of more events than the
    /// change did.
    static func open(_ own: [OwnOrigin]) -> [OriginTurn] {
        own.compactMap { origin in
            guard var succession = origin.succession else { return nil }
            let previous = own.first { $0.id == succession.previous }
            succession.known = max(succession.known, previous?.signed ?? 0)
            guard origin.isCurrent || previous?.size ?? 0 < succession.known else { return nil }
            return OriginTurn(succession: succession, origin: origin.id, at: origin.started)
        }
    }

    static func duplicate(_ node: NodeID, _ text: String, at: Int64) -> NodeNotice {
        NodeNotice(
            .duplicateNodeID, .warning, subject: node.description, text,
            action: "stop one of the two, make it a node of its own: operating/trouble.md, 'Two nodes with one key'",
            at: at)
    }

    /// - Parameter offset: The peers' clocks minus this node's, the middle one, milliseconds.
    static func disputed(_ node: NodeID, offset: Int64, by count: Int, of all: Int, at: Int64) -> NodeNotice {
        NodeNotice(
            .clock, .warning, subject: node.description,
            "this node's clock differs from those of \(count) of \(all) connected peers, about \(offset / 1_000) s; what is "
                + "appended now gets wrong stamps",
            action: "set this machine's clock right: timedatectl, chronyc tracking", at: at, .state)
    }

    static func stamped(_ node: NodeID, ahead: Int64, at: Int64) -> NodeNotice {
        NodeNotice(
            .clock, .warning, subject: node.description,
            "this node's last stamp is \(ahead / 1_000) s ahead of its clock: one of the two is or was wrong",
            action:
                "check this machine's clock; when connected peers agree with it, the node goes on with a new origin",
            at: at, .state)
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

    package static func refused(_ origin: OriginID, _ why: String, at: Int64) -> NodeNotice {
        NodeNotice(
            .witnessRefused, .integrity, subject: origin.description,
            "this node cosigns nothing more of origin \(origin): \(why)",
            action: "syncctl verify here and at that origin's node; one of the two stores was put back or changed: "
                + "operating/trouble.md, 'A witness that refuses'", at: at)
    }

    /// - Parameters:
    ///   - last: The last event that did it.
    ///   - count: How many of that origin have, since this node's start.
    package static func replaced(_ last: Replacement, count: Int, at: Int64) -> NodeNotice {
        let what =
            switch last.kind {
            case .content: "counts instead of one that was here, with another content"
            case .opening: "says how a conversation began that was here, and so who moderates it"
            }
        return NodeNotice(
            .replaced, .warning, subject: last.dot.origin.description,
            "an event of origin \(last.dot.origin), recorded earlier by its own stamp, \(what): \(last.id) (\(count) of this origin)",
            action:
                "'syncctl show \(last.id)' names both; ask who runs that node whether it was meant: operating/trouble.md, "
                + "'An event in another's place'", at: at)
    }

    static func newStore(_ node: NodeID, name: String, at: Int64) -> NodeNotice {
        NodeNotice(
            .newStore, .information, subject: node.description,
            "the store of \(name) was made anew with its old key; what it had written before is sent back to it",
            action: "", at: at)
    }
}
