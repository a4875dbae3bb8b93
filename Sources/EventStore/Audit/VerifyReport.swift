/// What ``EventReader/verify(progress:)`` looks at. Each is a named result of its own: ``VerifyReport/count(of:)`` says how it went.
public enum VerifyCheck: String, CaseIterable, Sendable {
    /// The file is a sound SQLite database with exactly the tables it should have.
    case database
    /// The indexes are there and agree with their tables.
    case index
    /// Positions are gapless from 1 to the top (INV-2); times of arrival can have been noted.
    case positions
    /// Each origin's seqs are gapless and ascend with the position (INV-3); dependencies stand before what needs them
    /// (INV-5).
    case order
    /// Every event is well-formed and has the leaf that was stored with it (INV-4).
    case events
    /// Every interned text is one.
    case names
    /// The stored Merkle nodes are those of the events.
    case tree
    /// Each signed head has a valid signature and is the root of the events it speaks of (INV-3).
    case heads
    /// Every origin belongs to the node that its first event names, and one of them is this store's own.
    case origins
    /// A repeated id is marked as such, and nothing else is.
    case twins
    /// The log reaches as far as the store's mark, its witness and its WAL know, and says the same (D21).
    case ends
    /// What no head covers of this node's own events carries its seal.
    case seals
    /// Every event without payload is covered by an erasure (D27).
    case erasures
}

/// What a verification says in the end.
public enum VerifyAnswer: String, Sendable {
    /// Everything is covered by signed heads, and as it was written.
    case proven
    /// Nothing contradicts; but not all is covered by what could prove it.
    case notCovered = "not-covered"
    /// Something is not as it was written, or not where it must be.
    case contradicted
}

/// What is known of the own events that no head covers yet.
public enum TailSeal: String, Sendable {
    /// There are none, or they have no seals, as in a log of version 1.
    case none
    /// They carry a seal; without the node's key no one can tell whose.
    case present
    /// This node has written them.
    case right
}

/// One thing that is not as it should be.
public struct VerifyFinding: Hashable, Sendable {
    /// What was being looked at.
    public let check: VerifyCheck
    /// Where the event in question is, if it is about one.
    public let position: UInt64?
    /// Which event it is, as far as that can still be read.
    public let dot: Dot?
    /// Its id, as far as that can still be read.
    public let eventID: EventID?
    /// What is wrong, in one sentence for people.
    public let message: String

    init(
        _ check: VerifyCheck, _ message: String, position: UInt64? = nil, dot: Dot? = nil, eventID: EventID? = nil
    ) {
        self.check = check
        self.message = message
        self.position = position
        self.dot = dot
        self.eventID = eventID
    }
}

extension VerifyFinding: CustomStringConvertible {
    /// `events: position 12, <origin>/<seq>, id <uuid>: …`
    public var description: String {
        let subject = [
            position.map { "position \($0)" }, dot.map(\.description), eventID.map { "id \($0)" },
        ].compactMap { $0 }.joined(separator: ", ")
        return subject.isEmpty ? "\(check.rawValue): \(message)" : "\(check.rawValue): \(subject): \(message)"
    }
}

/// How far an origin was proved.
public struct VerifiedOrigin: Hashable, Sendable {
    /// Whose sequence of events.
    public let origin: OriginID
    /// The node that writes to it.
    public let node: NodeID
    /// How many of its events were looked at.
    public let size: UInt64
    /// The Merkle root over all of them; `nil` if damage kept it from being computed.
    public let root: Digest?
    /// The largest stored head that was found right: its signature covers this many events. 0 if there is none.
    public let headSize: UInt64
}

/// What ``EventReader/verify(progress:)`` found. Everything speaks of the log up to ``top``; what was appended later is not part of it.
public struct VerifyReport: Hashable, Sendable {
    /// The last position when the verifier began.
    public let top: UInt64
    /// How many events were looked at.
    public let events: UInt64
    /// Ascending by id.
    public let origins: [VerifiedOrigin]
    /// Events whose payload was erased. Their headers and digests are covered, what they said is not.
    public let erased: UInt64
    /// Events that no right head covers. Not a finding, because a head follows its events by some milliseconds; after an orderly
    /// close it is 0.
    public let unsigned: UInt64
    /// What is known of those of them that are this node's own.
    public let seal: TailSeal
    /// Proofs beside the log that one of its origins has two histories. Nothing of this store contradicts because of them.
    package let forks: [ForkEvidence]
    /// Origins that are proven to have two histories, by proofs that lie beside the log. Nothing of this store contradicts because of
    /// them.
    public var forked: [OriginID] { forks.map(\.origin) }
    /// What else keeps something from being proven, a sentence each.
    public let notes: [String]
    /// What should be known beside that, and keeps nothing from being proven, a sentence each.
    public let remarks: [String]
    /// The first findings of each check, at most ``maximumPerCheck`` of each.
    public let findings: [VerifyFinding]
    /// How many findings there were of each check that had any, listed or not.
    public let counts: [VerifyCheck: UInt64]

    /// Most findings listed for one check, so that one damage with many consequences does not hide another.
    public static let maximumPerCheck = 20

    /// How many findings there were, listed or not.
    public var findingCount: UInt64 { counts.values.reduce(0, +) }
    /// What it comes to.
    public var answer: VerifyAnswer {
        if !isIntact { return .contradicted }
        return unsigned > 0 || !notes.isEmpty ? .notCovered : .proven
    }
    /// Whether nothing contradicts.
    public var isIntact: Bool { counts.isEmpty }
    /// How many findings `check` had; 0 means it passed.
    public func count(of check: VerifyCheck) -> UInt64 { counts[check] ?? 0 }
}

/// Collects findings in bounded memory.
struct VerifyFindings {
    private(set) var listed: [VerifyFinding] = []
    private(set) var counts: [VerifyCheck: UInt64] = [:]

    mutating func add(_ finding: VerifyFinding) {
        let count = counts[finding.check, default: 0]
        counts[finding.check] = count + 1
        if count < VerifyReport.maximumPerCheck { listed.append(finding) }
    }

    mutating func add(_ check: VerifyCheck, _ message: String) { add(VerifyFinding(check, message)) }
}
