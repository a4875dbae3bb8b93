package import EventStore

// Events that are set aside.
extension SubscriptionMachine {
    /// The worker sets it aside. False if this is not its current delivery.
    @discardableResult
    package mutating func park(_ dot: Dot, number: UInt64, reason: String, now: UInt64) -> Bool {
        heard(dot, number)
        guard isCurrent(dot, number) else { return false }
        setAside(dot, reason: reason, now: now)
        return true
    }

    mutating func setAside(_ dot: Dot, reason: String, now: UInt64) {
        guard let entry = entries[dot] else { return }
        unload(dot, now: now)
        tally.note(.parked)
        entries[dot]?.status = .parking
        parkings.append(Parking(dot: dot, attempts: entry.attempts, reason: reason, error: entry.error))
    }

    /// What is to be set aside.
    package mutating func takeParkings() -> [Parking] {
        defer { parkings = [] }
        return parkings.filter { entries[$0.dot] != nil }
    }

    /// The event that says so is stored, under `proof`.
    package mutating func parked(_ dot: Dot, by proof: Dot, now: UInt64) {
        needs.advance(to: proof)
        finish(dot, now: now)
    }

    /// It could not be stored: tried again after a while.
    package mutating func notParked(_ dot: Dot, now: UInt64) {
        guard let entry = entries[dot], case .parking = entry.status else { return }
        entries[dot]?.status = .waiting
        entries[dot]?.attempts = definition.attempts - 1
        begin(entry.key, at: now + 5_000, now: now)
    }
}
