package import EventStore

/// Finds the first event in which two histories of an origin differ, by comparing roots of growing sizes: each round asks
/// for 16 sizes and leaves a 17th of what there was. A million events take five rounds.
struct ForkInquiry: Hashable, Sendable {
    let origin: OriginID
    /// Up to here the histories are the same.
    private(set) var equal: UInt64 = 0
    /// Here they differ.
    private(set) var differs: UInt64
    /// This node's roots of ``sizes``, once they are read.
    var mine: [Fork.Root] = []

    /// The histories of `origin` differ at `size`.
    init(_ origin: OriginID, differsAt size: UInt64) {
        self.origin = origin
        differs = size
    }

    /// Sizes to compare next; empty when ``found`` is known.
    var sizes: [UInt64] {
        let between = differs - equal - 1
        guard between > 16 else { return Array((equal + 1)..<differs) }
        return (1...16).map { equal + (between / 17) * $0 + (between % 17) * $0 / 17 }
    }

    /// The first event that differs.
    var found: UInt64? { differs == equal + 1 ? differs : nil }

    /// Takes in the peer's roots of the same sizes. False if they are not that: then there is nothing more to learn.
    mutating func narrow(_ theirs: [Fork.Root]) -> Bool {
        guard !mine.isEmpty, theirs.map(\.size) == mine.map(\.size) else { return false }
        for (mine, theirs) in zip(mine, theirs) {
            if mine.root == theirs.root {
                equal = mine.size
            } else {
                differs = mine.size
                break
            }
        }
        mine = []
        return true
    }
}

/// What the session asks the store about histories, and about payloads that were lost.
package enum Inspection: Hashable, Sendable {
    /// The roots of each origin's first events, up to the dot; answered by ``Finding/roots(_:)``.
    case roots([Dot])
    /// This log's branch at a dot; answered by ``Finding/branch(_:)``.
    case branch(Dot)
    /// Check the proof in the message, with this log's branch added if only the peer's is there, and keep it; answered
    /// by ``Finding/proof(_:isNew:)``.
    case prove(Fork)
    /// All proofs that are kept; answered by ``Finding/evidence(_:)``.
    case evidence
    /// A head of at least so many events that the origin's key has signed; answered by ``Finding/head(_:)``.
    case head(Dot)
    /// The payloads of the first of these events that are here whole, so many bytes at most and none longer than the last number;
    /// answered by ``Finding/payloads(_:)``.
    case payloads([Dot], bytes: Int, longest: Int)
    /// Give events back what they have lost; answered by ``Finding/healed(_:)``.
    case heal([CarriedPayload])
    /// Bytes of an attachment for the peer, so many at most; answered by ``Finding/attachment(_:)``.
    case attachment(AttachmentAsk, most: Int)
    /// Keep what this peer has told of an attachment, if it has, and choose what to ask it for next; answered by
    /// ``Finding/nextAttachment(_:)``.
    case nextAttachment(NodeID, AttachmentTold?)
}

/// What the store found.
package enum Finding: Hashable, Sendable {
    /// In the order asked for; those the log cannot answer are left out.
    case roots([VectorEntry])
    case branch(ForkBranch?)
    /// `nil`: it proves nothing.
    case proof(ForkEvidence?, isNew: Bool)
    case evidence([ForkEvidence])
    case head(SignedHead?)
    case payloads([CarriedPayload])
    /// Those that lacked their payloads and have them now, durably.
    case healed([Dot])
    case attachment(AttachmentTold)
    /// `nil`: nothing for now.
    case nextAttachment(AttachmentPlaceWanted?)
}

/// What a session has learnt about who is who: for the shell to act on and to show.
package enum IdentityReport: Hashable, Sendable {
    /// This node's key has signed `known` events of its own origin, of which the node has fewer: that is verified.
    case behind(OriginID, have: UInt64, known: UInt64)
    /// The peer says that it has `size` events of this node's own origin, the node fewer. The head is what it has shown, not
    /// verified; `nil`: nothing.
    case claimed(OriginID, size: UInt64, SignedHead?)
    /// The peer says that it has another history of this node's own origin, and could not prove it.
    case disputed(OriginID)
    /// The peer has another history of the origin, which differs at `size` or before. Nothing of it is exchanged.
    case forked(OriginID, size: UInt64)
    /// That is proven, and the proof is kept.
    case proven(ForkEvidence, isNew: Bool)
}
