package import EventStore

/// Tells the connections of a process apart. The shell counts them.
package struct LinkID: Hashable, Comparable, Sendable {
    package let number: UInt64
    package init(_ number: UInt64) { self.number = number }
    package static func < (a: LinkID, b: LinkID) -> Bool { a.number < b.number }
}

extension Mesh {
    /// What the mesh tells its shell to do. Plain values: a trace of them can be kept and compared.
    package enum Effect: Hashable, Sendable {
        // Connections without a session.
        /// Connect to the peer. Answered by ``Mesh/callFailed(to:_:now:effects:)`` or ``Mesh/callOpened(_:to:as:now:effects:)``.
        case dial(NodeID, HostPort)
        /// Give up the call to the peer that is under way, without an answer.
        case hangUp(NodeID)
        /// Show the invitation to the peer that was dialled. Answered by ``Mesh/welcomed(_:by:now:effects:)``,
        /// ``Mesh/turnedAway(by:_:now:effects:)`` or ``Mesh/callFailed(to:_:now:effects:)``.
        case knock(LinkID, NodeID, token: [UInt8])
        /// Read one frame from an unknown caller. Answered by ``Mesh/callerSpoke(_:_:now:effects:)`` or ``Mesh/callerLeft(_:)``.
        case hear(LinkID)
        /// Look for the invitation that the caller shows. Answered by ``Mesh/judged(_:_:isOpen:now:effects:)``.
        case judge(LinkID, Caller, Join)
        /// Say why, read nothing, and close.
        case refuse(LinkID, SessionErrorCode, String, retryAfter: UInt32)
        /// Close without a word.
        case abort(LinkID)

        // Connections with a session.
        /// Begin a session. Answered by ``Mesh/ended(_:of:_:memory:now:effects:)`` when it is over.
        case attach(LinkID, NodeID, isOutgoing: Bool)
        /// End the session, and say why.
        case stop(LinkID, SessionFailure)
        /// Ask the peer for a sign of life.
        case probe(LinkID)
        /// Look when the peer was heard last. Answered by ``Mesh/probed(_:_:lastHeard:now:effects:)``.
        case lookAtProbe(NodeID, LinkID)
        /// Let the session tell anew what its peer has: no observer has listened before.
        case tellAnew(LinkID)
        case want(LinkID, take: [OriginID], leave: [OriginID])
        case forkProven(LinkID, ForkEvidence)
        case originChanged(LinkID, OriginID)
        case lacksPayloads(LinkID, [Dot])

        // The store.
        /// Give up an origin, if the store still appends to it, for a new one. Answered by
        /// ``Mesh/originStarted(_:insteadOf:_:known:now:effects:)``.
        case startOrigin(insteadOf: OriginID, OriginChange, known: UInt64)
        /// Look for events without their payloads. Answered by ``Mesh/payloadsMissed(_:since:now:effects:)``.
        case lookForPayloads
        /// Throw away the snapshot that is being received. What came stays for another attempt, or not.
        case dropSnapshot(keepSpool: Bool)
        /// The snapshot waits to become the log: open the store again.
        case reopen

        // Clients and operators.
        /// Compare the clocks. Answered by ``Mesh/clocksRead(_:now:effects:)``.
        case readClocks
        /// Look what is durable where. Answered by ``Mesh/durabilitySeen(_:now:effects:)``.
        case lookAtDurability
        /// What a client has waited for (``Mesh/wait(for:nodes:timeout:now:effects:)``).
        case answer(waiter: UInt64, Holders)
        /// What came of the attempt to join at the peer: `nil` when it let this node in, else why not.
        case joined(NodeID, String?)
        /// The invitation of the peer is used up.
        case forgetToken(NodeID)
        /// A line for the log.
        case say(NodeRemark)

        /// Call ``Mesh/timerFired(_:now:effects:)`` then, monotonic milliseconds. An earlier time for the same timer is void.
        case arm(Timer, at: UInt64)
    }

    /// What the mesh waits for.
    package enum Timer: Hashable, Sendable {
        case dial(NodeID)
        case suspend(NodeID)
        case probe(NodeID)
        case hearing(LinkID)
        case announcing, sources, durability, clocks, payloads
        case waiter(UInt64)
    }

    /// An unknown node that has dialled.
    package struct Caller: Hashable, Sendable {
        package let node: NodeID
        package let address: String
    }
}
