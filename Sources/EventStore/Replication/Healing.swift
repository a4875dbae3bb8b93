/// The payload of an event on its way to a log that has the event without.
package struct CarriedPayload: Hashable, Sendable {
    /// Whose.
    package let dot: Dot
    /// 16 random bytes that stand before it when it is hashed.
    package let salt: UUIDBits
    /// Its bytes, which need not be a payload.
    package let payload: [UInt8]

    /// A payload with its place.
    package init(dot: Dot, salt: UUIDBits, payload: [UInt8]) {
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
