/// The payload of an event on its way to a log that has the event without.
public struct CarriedPayload: Hashable, Sendable {
    /// Whose.
    public let dot: Dot
    /// 16 random bytes that stand before it when it is hashed.
    public let salt: UUIDBits
    /// Its bytes, which need not be a payload.
    public let payload: [UInt8]

    /// A payload with its place.
    public init(dot: Dot, salt: UUIDBits, payload: [UInt8]) {
        self.dot = dot
        self.salt = salt
        self.payload = payload
    }
}

extension LogReader {
    /// The payloads of the first of `dots` that are here whole.
    ///
    /// - Parameters:
    ///   - bytes: How many bytes they may have together.
    ///   - longest: Longer ones are left out.
    package func payloads(of dots: [Dot], bytes: Int, longest: Int) throws(StoreError) -> [CarriedPayload] {
        var found: [CarriedPayload] = []
        var room = bytes
        for dot in dots {
            switch try event(dot)?.event.body {
            case .present(let salt, let payload)?, .unreadable(let salt, let payload)?:
                guard payload.count <= longest else { continue }
                let size = payload.count + CarriedPayload.overhead
                guard size <= room else { return found }
                room -= size
                found.append(CarriedPayload(dot: dot, salt: salt, payload: payload))
            case .erased?, nil: continue
            }
        }
        return found
    }
}

extension CarriedPayload {
    /// Most bytes that it takes in a message, beside the payload.
    fileprivate static let overhead = 64
}

extension Appender {
    /// Gives events back the payloads they have lost; nothing but the bytes that were hashed when they were recorded (INV-4). Returns
    /// whose were missing.
    func heal(_ payloads: [CarriedPayload]) throws(SQLiteError) -> [Dot] {
        var healed: [Dot] = []
        for carried in payloads where try heal(carried) { healed.append(carried.dot) }
        guard !healed.isEmpty else { return [] }
        // Views were made without them.
        try LogUpgrade.noteReread(on: connection)
        isHealed = true
        return healed
    }

    private func heal(_ carried: CarriedPayload) throws(SQLiteError) -> Bool {
        guard let index = state.indexes[carried.dot.origin] else { return false }
        let select = try connection.statement("SELECT position, digest FROM event WHERE origin = ? AND seq = ?")
        defer { select.reset() }
        try select.bind(1, state.origins[index].ref)
        try select.bind(2, carried.dot.seq)
        guard try select.step(), let digest = select.digest(1),
            digest == sha.payloadDigest(salt: carried.salt, payload: carried.payload)
        else { return false }
        let position = select.uint64(0)
        select.reset()
        let update = try connection.statement(
            "UPDATE event SET salt = ?, payload = ?, digest = NULL WHERE position = ?")
        try update.bind(1, carried.salt)
        switch EventBody.present(salt: carried.salt, payload: carried.payload).judged {
        case .present(_, let text): try update.bind(2, text: text)
        case .unreadable(_, let bytes): try update.bind(2, blob: bytes)
        case .erased: return false
        }
        try update.bind(3, position)
        try update.run()
        return true
    }
}

extension EventStore {
    /// Gives events that are here without a payload that of `payloads` which was hashed when they were recorded. `completion` is called
    /// once, with those it was given, when that is durable. Views are built anew.
    package func heal(
        _ payloads: [CarriedPayload], completion: @escaping @Sendable (Result<[Dot], StoreError>) -> Void
    ) { writer.submit([.heal(payloads, completion)]) }
}
