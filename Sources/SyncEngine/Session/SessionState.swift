package import EventStore

extension SyncSession {
    /// Who this node is, for the Hello.
    package struct Local: Sendable {
        package let node: NodeID
        package let name: String
        package let cluster: String
        package let incarnation: UInt64
        package internal(set) var origin: OriginID
        package let software: String
        /// Origins that are proven to have two histories.
        package internal(set) var forked: Set<OriginID>
        /// Random, new for every process: tells a node that was started anew from two that live at once.
        package let run: UInt64
        /// Whether what is committed here can be lost when the power fails.
        package let isVolatile: Bool

        package init(
            _ identity: StoreIdentity, software: String, forked: Set<OriginID> = [], run: UInt64 = 0,
            isVolatile: Bool = false
        ) {
            self.isVolatile = isVolatile
            node = identity.node
            name = identity.name
            cluster = identity.cluster
            incarnation = identity.incarnation
            origin = identity.origin
            self.software = software
            self.forked = forked
            self.run = run
        }
    }

    /// Where the conversation stands. `closed` is reached from everywhere and never left.
    package enum State: Sendable {
        /// Nothing was said. Next: `greeting`.
        case idle
        /// Our Hello is out, theirs has not come. Next: `comparing`.
        case greeting
        /// Both Hellos are in order and our vector is out. Next: `open`, with their vector.
        case comparing(Hello)
        /// Events flow both ways.
        case open(Hello, Outgoing, Incoming)
        /// Over.
        case closed(SessionEnd)
    }

    /// What the peer has been told of the local log.
    struct SentState: Sendable {
        /// Numbers of origins that have changed since.
        var changed: Set<Int> = []
        /// How many origins it has been told of.
        var origins = 0
        /// The log's position it was told of.
        var through = UInt64(0)
        /// When.
        var at = UInt64(0)
    }

    /// What goes to the peer. The vectors speak of origins of this log only: a peer may state as many others as it likes.
    package struct Outgoing: Sendable {
        /// What the peer has, or has been sent.
        var known: VersionVector
        /// What the peer has, or will have without anything from elsewhere.
        var sound: VersionVector
        /// What the peer has said is durable there.
        package internal(set) var durable: VersionVector
        /// The origins it takes from this node; `nil`: all.
        var wanted: Set<OriginID>?
        /// Where to read on.
        var start = ReadRequest.Start.firstMissing
        /// Whether the log may have something for the peer beyond `start`.
        var hasMore = true
        /// Whether `start` was set anew while a read was under way.
        var hasRestarted = false
        /// Origins that have to be sent again from before what is being read.
        var resent: Set<OriginID> = []
        /// Whether the read under way is of what is new.
        var isReadingAhead = false
        /// The read under way.
        var reading: RequestID?
        /// What is on its way.
        package internal(set) var flight: CongestionWindow
        /// Whether there is a backlog: the last read did not come to the log's end.
        var isBehind = false
        /// While there is: the position from which on what is new has not been looked at.
        var tail: UInt64?
        /// Bytes of Events frames the peer will take. The frame that uses it up may go below zero.
        var credit: Int64
        /// No more credit than this is ever taken; more while a snapshot is sent.
        var window: UInt64
        package internal(set) var events = UInt64(0)
        package internal(set) var bytes = UInt64(0)

        /// The peer has these durably.
        mutating func holds(_ dots: [Dot]) {
            for dot in dots {
                durable.advance(to: dot)
                known.advance(to: dot)
                sound.advance(to: dot)
            }
        }
    }

    /// What comes from the peer.
    package struct Incoming: Sendable {
        /// A frame that came before what its events depend on.
        struct Held: Sendable {
            let frame: Frame
            let failure: SessionFailure
            let since: UInt64
            /// Whether the peer has its credit back: what it waits for may have to come from the same peer.
            let isCredited: Bool
            /// Whether a peer was told what it needs.
            var isTold = false
        }

        /// Frames being stored, since when they are here, and whether the peer has their credit back.
        var storing: [RequestID: (frame: Frame, since: UInt64, isCredited: Bool)] = [:]
        /// Bytes of their messages, decompressed.
        var work = 0
        /// Bytes of frames that are here beyond the window, because the peer has their credit back.
        var beyond = 0
        /// When the last frame came.
        var lastFrame = UInt64(0)
        /// In the order of their coming.
        var held: [Held] = []
        /// How often held frames were dropped since something new was stored.
        var drops = 0
        /// Bytes of frames being stored or held whose credit the peer does not have.
        var waiting = 0
        /// Bytes stored that the peer has not been given credit for.
        var owed = 0
        package internal(set) var events = UInt64(0)
        package internal(set) var bytes = UInt64(0)

        mutating func begin(_ id: RequestID, _ frame: Frame, since: UInt64, isCredited: Bool) {
            storing[id] = (frame, since, isCredited)
            work += frame.messageSize
        }

        mutating func end(_ id: RequestID) -> (frame: Frame, since: UInt64, isCredited: Bool)? {
            guard let ended = storing.removeValue(forKey: id) else { return nil }
            work -= ended.frame.messageSize
            return ended
        }
    }
}

/// Time limits of a session, milliseconds.
package struct SessionTiming: Sendable {
    /// From the start to the end of both Hellos and vectors.
    package var opening: UInt64 = 20_000
    /// A Ping goes out when nothing else did for so long.
    package var keepalive: UInt64 = 10_000
    /// The peer is gone when nothing was heard for so long.
    package var silence: UInt64 = 25_000
    /// A snapshot is given up when no part of it came for so long.
    package var snapshotStall: UInt64 = 60_000
    /// So long a frame may wait for what its events depend on before that is asked of the same peer.
    package var held: UInt64 = 1_000
    /// So long it may wait while nothing more comes from the peer.
    package var heldAtMost: UInt64 = 30_000
    /// Between two statements of what is durable here.
    package var statement: UInt64 = 20

    package init() {}
}

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
