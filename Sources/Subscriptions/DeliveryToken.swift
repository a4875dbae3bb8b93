package import EventStore

/// Names one delivery of one event: which subscription's, by which run of which node, the how manieth, of which event. Opaque to workers.
package struct DeliveryToken: Hashable, Sendable {
    private static let version: UInt8 = 1
    private static let byteCount = 1 + 16 + 8 + 8 + 16 + 8

    /// The event that made the subscription.
    package let subscription: EventID
    /// Drawn by the node at its start: deliveries of an earlier run are not out any more.
    package let run: UInt64
    /// Deliveries of a run are numbered from 1.
    package let number: UInt64
    package let dot: Dot

    package init(subscription: EventID, run: UInt64, number: UInt64, dot: Dot) {
        (self.subscription, self.run, self.number, self.dot) = (subscription, run, number, dot)
    }

    package var text: String {
        var bytes = [Self.version]
        subscription.bits.append(to: &bytes)
        bytes.appendBigEndian(run)
        bytes.appendBigEndian(number)
        dot.origin.bits.append(to: &bytes)
        bytes.appendBigEndian(dot.seq)
        return base64URLText(bytes)
    }

    package init?(text: String) {
        guard let bytes = base64URLBytes(text), bytes.count == Self.byteCount, bytes[0] == Self.version else {
            return nil
        }
        func word(_ at: Int) -> UInt64 { bytes[at..<at + 8].reduce(0) { $0 << 8 | UInt64($1) } }
        guard word(49) > 0, word(49) <= Limits.number else { return nil }
        self.init(
            subscription: EventID(UUIDBits(high: word(1), low: word(9))), run: word(17), number: word(25),
            dot: Dot(origin: OriginID(UUIDBits(high: word(33), low: word(41))), seq: word(49)))
    }
}
