/// Why a node gives up its origin and starts a new one (D12): it may have lost its memory, and what it would append to the
/// old one might stand elsewhere already.
public enum OriginChange: String, Sendable, CaseIterable {
    /// The store ran on another machine before.
    case machine
    /// `log.db` is not the file that was written last, but a copy of it.
    case copied
    /// The witness file has seen more of the origin than the log holds, or another history of it.
    case witness
    /// A peer has more of the origin than the log.
    case behind
    /// There are two histories of the origin.
    case forked
    /// The log ends before what the store's own mark knows, or its WAL was cut.
    case cut
    /// The machine ended in the middle of a run whose commits were not synced.
    case boot
    /// The machine's clock was far ahead, and is right again: stamps can begin anew.
    case clock

    /// What happened, in one sentence.
    public var summary: String {
        switch self {
        case .machine: "the store was moved or copied from another machine"
        case .copied: "the log is a copy: it was restored or cloned"
        case .witness: "the witness file has seen more of this node's events than its log holds"
        case .behind: "a peer has more of this node's events than its own log holds"
        case .forked: "there are two histories of this node's events"
        case .cut: "the log was cut: it ends before what this node had written, or its WAL was damaged"
        case .boot: "the machine ended in the middle of a run whose commits were not synced"
        case .clock: "its clock had been far ahead, and is right again"
        }
    }
}

extension OriginChange {
    /// Whether events of this node may have been lost.
    package var isLoss: Bool {
        switch self {
        case .witness, .behind, .cut, .boot: true
        case .machine, .copied, .forked, .clock: false
        }
    }

    /// What becomes of the origin that is given up while the node runs. All of it was written by this node, which its seal has
    /// shown; what a peer says is no head yet, and a fork is proven by the heads of both branches.
    var end: OriginEnd { self == .forked ? .forked : .signed }
}

/// What becomes of an origin that is given up. A node signs nothing that contradicts, or falls short of, a head that is known
/// (D21).
enum OriginEnd: Sendable {
    /// All of it is signed, so that every event of it can still leave the node.
    case signed
    /// A head is known that goes further: those who have more of it have its heads, too.
    case left
    /// A head is known that contradicts it. The new origin does not depend on what stands here.
    case disputed
    /// A peer has another history. This one is signed, so that the two prove the fork; the new origin does not depend on it.
    case forked

    /// Whether a head of all of it is signed.
    var isSigned: Bool { self == .signed || self == .forked }
    /// Whether the new origin may depend on it.
    var isNamed: Bool { self == .signed || self == .left }
}

/// What the first event of a new origin says of the one before it.
package struct OriginSuccession: Hashable, Sendable {
    package let change: OriginChange
    /// The origin that was given up.
    package let previous: OriginID
    /// How many of its events were here then.
    package let had: UInt64
    /// How many were known to exist; at least `had`.
    package var known: UInt64
    /// What was found when the log had been cut, by the name of its ``CutEvidence``.
    package let evidence: String?

    package init(
        _ change: OriginChange, previous: OriginID, had: UInt64, known: UInt64, evidence: String? = nil
    ) {
        self.change = change
        self.previous = previous
        self.had = had
        self.known = max(had, known)
        self.evidence = evidence
    }
}

/// An origin that this node's key has started, and how it came to that.
package struct OwnOrigin: Hashable, Sendable {
    package let id: OriginID
    /// How many of its events are here.
    package let size: UInt64
    /// How many its signed heads speak of; at least `size`.
    package let signed: UInt64
    /// Whether the node appends to it now.
    package let isCurrent: Bool
    /// When it was started, Unix milliseconds.
    package let started: Int64
    /// Why, unless it is the first one of its store.
    package let succession: OriginSuccession?
}

extension LogReader {
    /// The origins of `node`, oldest first. Of each the first event is read.
    package func origins(of node: NodeID) throws(StoreError) -> [OwnOrigin] {
        let current = try meta("origin").flatMap { Int64($0) }
        // A store of an earlier release has none.
        let hasReach = try mapped { () throws(DatabaseError) in
            try connection.integer("SELECT 1 FROM sqlite_schema WHERE name = 'reach'") != nil
        }
        var own: [OwnOrigin] = []
        for origin in try origins() where origin.node == node {
            guard let first = try event(Dot(origin: origin.id, seq: 1)) else { continue }
            let reach = hasReach ? try reach(of: origin.id) : nil
            own.append(
                OwnOrigin(
                    id: origin.id, size: origin.size,
                    signed: max(origin.size, reach?.coverage.head.head.size ?? 0),
                    isCurrent: origin.ref == current,
                    started: first.event.header.hlc.milliseconds, succession: OriginStart(first.event)?.succession))
        }
        return own.sorted { ($0.started, $0.id) < ($1.started, $1.id) }
    }
}
