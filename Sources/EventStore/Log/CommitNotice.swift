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
    private let origins: AdvancedOrigins

    /// The origins that advanced, in the order in which the log met them.
    package var advanced: [OriginProgress] { origins.progress }
    /// Their ids alone, which cost no hashes.
    package var advancedOrigins: [OriginID] { origins.ids }
    /// The events that came, in the order of their positions, if they are few; else none.
    package let events: [StoredEvent]
    /// Whether who tells of it soon calls what goes with the observer: ``EventStore/observeCommits(_:afterwards:)``.
    package var isFollowedUp = false
    /// Whether events that were here have got their payloads: what was made of them has to be made anew.
    package let isHealed: Bool
    /// What events of other nodes have done to older ones here; at most ``Replacement/most``.
    package var replacements: [Replacement] = []

    /// Whether `earlier` is of no use beside this one: both speak of one origin, the same.
    package func replaces(_ earlier: CommitNotice) -> Bool {
        guard let only = origins.only else { return false }
        return only == earlier.origins.only
    }

    package init(top: UInt64, advanced: [OriginProgress], events: [StoredEvent] = []) {
        self.top = top
        self.events = events
        isHealed = false
        origins = AdvancedOrigins(advanced)
    }

    init(top: UInt64, origins: [OriginState], events: [StoredEvent] = [], isHealed: Bool = false) {
        self.top = top
        self.isHealed = isHealed
        self.events = events
        self.origins = AdvancedOrigins(origins)
    }
}

/// Origins and how far they are, computed when asked for: a root is a dozen hashes, for which no append should wait,
/// and the views do not need it.
///
/// ## Concurrency model
/// One lock; computed once, on the thread that asks first.
private final class AdvancedOrigins: Sendable {
    private enum Content {
        case states([OriginState])
        case progress([OriginProgress])
    }

    private let content: Lock<Content>

    init(_ states: [OriginState]) { content = Lock(.states(states)) }
    init(_ progress: [OriginProgress]) { content = Lock(.progress(progress)) }

    /// The origin, if it is one.
    var only: OriginID? {
        content.withLock { content in
            switch content {
            case .states(let states): states.count == 1 ? states[0].id : nil
            case .progress(let known): known.count == 1 ? known[0].origin : nil
            }
        }
    }

    var ids: [OriginID] {
        content.withLock { content in
            switch content {
            case .states(let states): states.map(\.id)
            case .progress(let known): known.map(\.origin)
            }
        }
    }

    var progress: [OriginProgress] {
        content.withLock { content in
            switch content {
            case .progress(let known): return known
            case .states(let states):
                let sha = SHA256()
                let progress = states.map { $0.progress(sha) }
                content = .progress(progress)
                return progress
            }
        }
    }
}

extension OriginState {
    func progress(_ sha: SHA256) -> OriginProgress {
        OriginProgress(origin: id, seq: size, rootPrefix: range.root(using: sha).prefix64)
    }
}
