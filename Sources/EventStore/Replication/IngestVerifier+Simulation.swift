/// What a log that is not a file needs to take part in replication: the simulator keeps the logs of its nodes in memory
/// and checks what they receive with the verifier of the real store.
extension IngestVerifier {
    /// A verifier over a log that stands at these trees; those of `own` are left out.
    package convenience init(
        known: [(id: OriginID, key: VerifyingKey, range: MerkleRange)], own: OriginID,
        forked: Set<OriginID> = [], reaches: [PendingCoverage] = [], ownSize: @escaping () -> UInt64
    ) {
        var state = LogState()
        for (index, origin) in known.enumerated() {
            state.add(
                OriginState(
                    ref: Int64(index) + 1, id: origin.id, key: origin.key, range: origin.range,
                    hlc: HybridTime(rawValue: 0)))
        }
        self.init(state: state, own: own, forked: forked, reaches: reaches, ownSize: ownSize)
    }
}

extension VerifiedBatch {
    /// The events to store, in order, each with its leaf and, for the first of an origin, the origin's key.
    package var accepted: [(event: Event, leaf: Digest, key: VerifyingKey?)] {
        events.map { ($0.event, $0.leaf, $0.start?.key) }
    }

    /// The verified heads to store with them.
    package var signedHeads: [SignedHead] { heads }
    /// Where it ended before the head that covers it.
    package var endings: [PendingCoverage] { reaches }
}
