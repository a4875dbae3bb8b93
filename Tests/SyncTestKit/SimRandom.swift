internal import EventStore

/// The one source of chance in a simulation. Same seed, same numbers.
package struct SimRandom: Sendable {
    private var numbers: SeededGenerator

    package init(seed: UInt64) { numbers = SeededGenerator(seed: seed) }

    /// A generator of its own for `purpose`: what one part of a run draws does not disturb the others.
    package init(seed: UInt64, purpose: UInt64) {
        var mixed = SeededGenerator(seed: seed ^ (purpose &* 0xd1b5_4a32_d192_ed03))
        self.init(seed: mixed.next())
    }

    package mutating func next() -> UInt64 { numbers.next() }

    /// A number in `range`.
    package mutating func pick(_ range: ClosedRange<Int>) -> Int {
        range.lowerBound + Int(next() % UInt64(range.upperBound - range.lowerBound + 1))
    }

    /// A number in `range`.
    package mutating func pick(_ range: ClosedRange<UInt64>) -> UInt64 {
        range.lowerBound + next() % (range.upperBound - range.lowerBound + 1)
    }

    /// One of `choices`, which are not empty.
    package mutating func pick<Choice>(_ choices: [Choice]) -> Choice { choices[pick(0...choices.count - 1)] }

    /// True with this probability.
    package mutating func chance(_ probability: Double) -> Bool {
        Double(next() >> 11) * 0x1p-53 < probability
    }

    package mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) }
    }
}

extension SimRandom {
    mutating func uuid() -> UUIDBits { UUIDBits(high: next(), low: next()) }
}

extension SigningKey {
    /// The Ed25519 key of a 32-byte seed, in the PKCS #8 form of RFC 8410.
    static func seeded(_ seed: [UInt8]) -> SigningKey {
        let der: [UInt8] =
            [0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20] + seed
        let pem = "-----BEGIN PRIVATE KEY-----\n\(base64Text(der))\n-----END PRIVATE KEY-----\n"
        guard let key = SigningKey(pem: Array(pem.utf8)) else { preconditionFailure("not 32 bytes") }
        return key
    }
}
