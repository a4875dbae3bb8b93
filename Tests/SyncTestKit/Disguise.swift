internal import EventStore
internal import SyncEngine

/// What a node says instead of what its session says: another release, or a peer that lies.
package enum Disguise: String, CaseIterable, Sendable {
    case honest
    /// The first release, which knows acknowledgements only.
    case olderVersion
    /// A later release that still speaks this version, and sends messages this one does not know.
    case newerVersion
    /// A release that no longer speaks this version.
    case tooNewVersion
    case neverAcks, neverCredits
    case garbledBody, reservedBits, hugeLength, bomb, changedPayload, wrongProof, claimsMore, claimsLess,
        oversizeEvent,
        ignoresCredit, wrongRoots, eventsBeforeVector, changedRows, foreignSnapshot, wrongOffer

    static let hostile: [Disguise] = [
        .garbledBody, .reservedBits, .hugeLength, .bomb, .changedPayload, .wrongProof, .claimsMore, .claimsLess,
        .oversizeEvent, .ignoresCredit, .wrongRoots, .eventsBeforeVector, .changedRows, .foreignSnapshot, .wrongOffer,
    ]

    var isHostile: Bool { Disguise.hostile.contains(self) }
}
