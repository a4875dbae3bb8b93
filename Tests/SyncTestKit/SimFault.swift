/// What goes wrong: the catalogue of docs/internals/simulator.md, by its numbers. Each run draws which of them are on.
package enum SimFault: Int, CaseIterable, Comparable, Sendable {
    case connectionLoss = 1, halfOpen, delay, splitReads, twoPaths, partition, slowStore, crashBetweenEffects,
        powerCut,
        diskFault, bitFlip, restore, clone, reformat, clockJump, membership, versions, strangeEvents, hostileFrames,
        erasure, pause, relayLoss, reconnectStorm, copiedStore, neverAcks, snapshots, subscriptions

    package static func < (a: SimFault, b: SimFault) -> Bool { a.rawValue < b.rawValue }

    /// Faults after which a node may contradict its own past.
    static let identity: Set<SimFault> = [.restore, .clone, .powerCut]

    /// Snapshots, and what makes of no use what was sent or received of them before.
    package static let aboutSnapshots: Set<SimFault> = [.snapshots, .restore, .powerCut, .diskFault]
}

/// A defect planted on purpose: a simulator that does not find it is worth nothing.
package enum SimMutation: String, CaseIterable, Sendable {
    /// Received events are acknowledged before they are durable.
    case ackBeforeDurable
    /// Appended events do not name what their node had applied.
    case forgetDependencies
    /// The last event of a batch is dropped on its way to the log.
    case loseEvent
    /// Vectors do not say which history they speak of, so two histories look like one.
    case blindToForks
    /// A received event that is here already is stored again.
    case duplicates
    /// A new session starts with a vector that claims more than is stored.
    case staleVector
    /// A session does not hear of commits made after it was opened.
    case deafSession
    /// Credit is never given back.
    case creditLeak
    /// Timers never fire.
    case timersNeverFire
    /// A follower's checkpoint passes events it was not given.
    case checkpointAhead
    /// Events are sent without regard to credit.
    case ignoreCredit
    /// A link that broke is not dialled again.
    case noReconnect
    /// Events leave a node grouped by origin, not in its own order.
    case wrongOrder
    /// Pieces of a snapshot are taken without proof.
    case snapshotUnproved
    /// A broken snapshot is resumed one row too late.
    case resumesTooFar
    /// Appends go on while a snapshot comes, and it takes the log's place all the same.
    case dropsOwnEvents
    /// What a peer knows of a node's own origin is not looked up in the log before it counts as lost memory.
    case vainAmnesia

    /// An event counts as set aside before one says so.
    case parksUnsaid
    /// Any node's word about what is done of a subscription counts.
    case believesAnyone
    /// What was passed over before a change of the filter was known is not looked at again.
    case keepsOldFilter

    /// Faults without which it is seldom found: a test turns them on.
    package var faults: Set<SimFault> {
        switch self {
        case .resumesTooFar, .dropsOwnEvents: [.snapshots]
        case .vainAmnesia: [.restore]
        case .parksUnsaid, .believesAnyone, .keepsOldFilter: [.subscriptions]
        default: []
        }
    }
}
