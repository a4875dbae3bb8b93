/// An origin and how far the log has it.
package struct OriginProgress: Hashable, Sendable {
    package let origin: OriginID
    package let seq: UInt64
    /// The first eight bytes of the Merkle root at `seq`.
    package let rootPrefix: UInt64

    package init(origin: OriginID, seq: UInt64, rootPrefix: UInt64) {
        self.origin = origin
        self.seq = seq
        self.rootPrefix = rootPrefix
    }
}

/// What a commit changed. Everything in it is durable.
package struct CommitNotice: Sendable {
    /// The log's last position.
    package let top: UInt64
    /// The origins that advanced, in the order in which the log met them.
    package let advanced: [OriginProgress]

    package init(top: UInt64, advanced: [OriginProgress]) {
        self.top = top
        self.advanced = advanced
    }
}
