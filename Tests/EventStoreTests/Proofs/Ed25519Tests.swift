import Testing

@testable import EventStore

struct Ed25519Tests {
    private let message = Array("origin 12 root".utf8)

    /// RFC 8032, 7.1, test 2.
    private let seed = bytes("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb")
    private let half = bytes("3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c")
    private let signature = bytes(
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
            + "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00")
    /// The order of the group, little endian.
    private let order = bytes("edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010")

    @Test("Keys and signatures are those of RFC 8032, and a key file is read back as it was written")
    func vector() throws {
        // PKCS #8 of RFC 8410.
        let der = Self.bytes("302e020100300506032b657004220420") + seed
        let pem = "-----BEGIN PRIVATE KEY-----\n\(base64Text(der))\n-----END PRIVATE KEY-----\n"
        let key = try #require(SigningKey(pem: Array(pem.utf8)))
        #expect(key.publicKey.rawBytes == half)
        #expect(key.sign([0x72]) == signature)
        #expect(key.publicKey.isValid(signature: signature, for: [0x72]))
        #expect(key.pem == Array(pem.utf8))
    }

    @Test("Nothing but the signature of this text by this key is valid")
    func refusals() throws {
        let (key, other) = (SigningKey.generate(), SigningKey.generate())
        let good = key.sign(message)
        #expect(key.publicKey.isValid(signature: good, for: message))
        #expect(!other.publicKey.isValid(signature: good, for: message))
        #expect(!key.publicKey.isValid(signature: good, for: message + [0]))
        for count in [0, 63] { #expect(!key.publicKey.isValid(signature: Array(good.prefix(count)), for: message)) }
        #expect(!key.publicKey.isValid(signature: good + [0], for: message))
        for index in 0..<64 {
            var bad = good
            bad[index] ^= 0x10
            #expect(!key.publicKey.isValid(signature: bad, for: message), "byte \(index)")
        }
        let none = try #require(VerifyingKey(rawBytes: [UInt8](repeating: 0xff, count: 32)))
        #expect(!none.isValid(signature: good, for: message))
        for count in [0, 31, 33] { #expect(VerifyingKey(rawBytes: [UInt8](repeating: 1, count: count)) == nil) }
    }

    @Test("A signature's second form, and a key that has signed everything, are refused (docs/reference/FORMATS.md)")
    func strictness() throws {
        let key = try #require(VerifyingKey(rawBytes: half))
        var carry = 0
        let larger = zip(signature[32...], order).map { left, right in
            carry += Int(left) + Int(right)
            defer { carry >>= 8 }
            return UInt8(carry & 0xff)
        }
        #expect(!key.isValid(signature: signature[..<32] + larger, for: [0x72]))
        // The neutral element as a key: R = B * S holds for every text, with R the neutral element and S = 0.
        let neutral = [1] + [UInt8](repeating: 0, count: 31)
        let weak = try #require(VerifyingKey(rawBytes: neutral))
        #expect(!weak.isValid(signature: neutral + [UInt8](repeating: 0, count: 32), for: message))
    }

    private static func bytes(_ hex: String) -> [UInt8] {
        let digits = hex.compactMap(\.hexDigitValue)
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }
}
