import Testing

@testable import EventStore

struct SignatureVerifierTests {
    private let message = Array("origin 12 root".utf8)

    @Test("It says of every signature what the key itself says, the first time and later")
    func agrees() {
        let signatures = SignatureVerifier()
        let (key, other) = (SigningKey.generate(), SigningKey.generate())
        let good = key.sign(message)
        for _ in 0..<3 {
            #expect(signatures.isValid(signature: good, for: message, by: key.publicKey))
            #expect(!signatures.isValid(signature: good, for: message, by: other.publicKey))
            #expect(!signatures.isValid(signature: good, for: message + [0], by: key.publicKey))
            #expect(!signatures.isValid(signature: Array(good.dropLast()), for: message, by: key.publicKey))
            #expect(!signatures.isValid(signature: [], for: message, by: key.publicKey))
            for index in stride(from: 0, to: 64, by: 7) {
                var bad = good
                bad[index] ^= 0x10
                #expect(!signatures.isValid(signature: bad, for: message, by: key.publicKey))
            }
            #expect(signatures.isValid(signature: other.sign(message), for: message, by: other.publicKey))
        }
        #expect(signatures.count == 2)
    }

    @Test("However many keys come, few are remembered (INV-9), and all are verified with")
    func bounded() throws {
        let signatures = SignatureVerifier()
        let keys = (0..<SignatureVerifier.capacity + 10).map { _ in SigningKey.generate() }
        for key in keys + keys.reversed() {
            #expect(signatures.isValid(signature: key.sign(message), for: message, by: key.publicKey))
            #expect(signatures.count <= SignatureVerifier.capacity)
        }
        // 32 bytes that are no point of the curve.
        let none = try #require(VerifyingKey(rawBytes: [UInt8](repeating: 0xff, count: 32)))
        #expect(!signatures.isValid(signature: keys[0].sign(message), for: message, by: none))
        #expect(!none.isValid(signature: keys[0].sign(message), for: message))
    }
}
