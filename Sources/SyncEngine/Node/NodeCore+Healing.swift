internal import EventStore

/// What is known of events that are here without their payloads, though nothing has erased them.
struct MissingPayloads {
    /// Those that were found and not given back yet.
    var dots: [Dot] = []
    /// Whether there may be more than these.
    var isPart = false
    /// Whether somebody looks for them now.
    var isLooking = false
    /// Whether to look once more after that.
    var isLookDue = false
    /// Not to be looked for before then, monotonic milliseconds: that reads the log.
    var notBefore = UInt64(0)

    /// Most that are known at a time.
    static let most = 1_024
}

// Peers that are here are asked for them: at the start, when a peer comes, and when events have come without payloads.
extension SyncNode.Core {
    /// So much longer than the last look took is waited before the next.
    private static let restFactor: UInt64 = 50

    func lookForMissing() {
        guard !missing.isLooking, !isStopping else {
            missing.isLookDue = true
            return
        }
        let now = PeerLink.now().monotonic
        missing.isLooking = true
        missing.isLookDue = false
        let wait = Duration.milliseconds(missing.notBefore > now ? missing.notBefore - now : 0)
        _ = loop.schedule(after: wait) { [weak self] in self?.look() }
    }

    private func look() {
        guard !isStopping else { return }
        let begun = PeerLink.now().monotonic
        let this = loop.bind(self)
        workers.missingPayloads(most: MissingPayloads.most) { dots in this.post { $0.found(dots, since: begun) } }
    }

    private func found(_ dots: [Dot], since begun: UInt64) {
        let now = PeerLink.now().monotonic
        missing.isLooking = false
        missing.notBefore = now + 1_000 + (now - begun) * Self.restFactor
        missing.dots = dots
        missing.isPart = dots.count == MissingPayloads.most
        if !dots.isEmpty {
            log(
                "\(dots.count) events are here without their payloads, which nothing has erased: peers are asked for them"
            )
            for link in links { link.lacksPayloads(dots) }
        }
        if missing.isLookDue { lookForMissing() }
    }

    /// A peer has come.
    func askForMissing(_ link: PeerLink) {
        if !missing.dots.isEmpty { link.lacksPayloads(missing.dots) }
    }

    /// These have their payloads again.
    func healed(_ dots: [Dot], by link: PeerLink) {
        let healed = Set(dots)
        missing.dots.removeAll { healed.contains($0) }
        log(
            "\(dots.count) events have their payloads again, from \(entries[link.node]?.peer.name ?? link.node.short)"
        )
        if missing.isPart, missing.dots.isEmpty { lookForMissing() }
    }
}
