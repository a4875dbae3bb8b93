internal import EventStore

/// What a peer makes this node do and keep at the moment (INV-9 as numbers). What threads have still to do for it is bounded
/// by not reading on; what is kept, by the limits of the protocol.
package struct LinkAccount: Hashable, Sendable {
    /// What the store's threads were asked for and have not answered.
    package let jobs: Int
    /// Bytes of messages under way in those threads or waiting for them, decompressed.
    package let work: Int
    /// Bytes kept: frames as they came, and what the peer has said that it has.
    package let kept: Int
    /// Origins the peer has stated.
    package let origins: Int

    /// Most jobs and bytes of work before nothing more is read from the peer.
    package static let mostJobs = 1_024
    package static let mostWork = 16 << 20
    /// Bytes that an origin takes, with its number and its place in a table.
    private static let originSize = 96

    init(jobs: Int, work: Int, frames: Int, origins: Int) {
        self.jobs = jobs
        self.work = work
        self.origins = origins
        kept = frames + origins * Self.originSize
    }

    /// In all.
    package var bytes: Int { work + kept }

    /// Whether nothing more is read from the peer until some of it is done.
    package var isFull: Bool { jobs >= Self.mostJobs || work >= Self.mostWork }
}

extension SyncSession {
    package var account: LinkAccount {
        var (jobs, work, frames) = (forks.asked.count + (forks.reading == nil ? 0 : 1), forks.proofBytes, earlyBytes)
        // Proofs wait for each other: this many is as many as an honest peer has.
        if forks.proofs.count >= ForkEvidence.capacity { work = max(work, LinkAccount.mostWork) }
        if case .open(_, let outgoing, let incoming) = state {
            jobs += incoming.storing.count + (outgoing.reading == nil ? 0 : 1)
            work += incoming.work + healing.storing
            frames += incoming.waiting + incoming.beyond
        }
        if case .receiving(let receiving) = snapshot.role {
            jobs += receiving.storing.count
            frames += receiving.waiting
        }
        return LinkAccount(jobs: jobs, work: work, frames: frames, origins: memory?.entries.count ?? 0)
    }
}
