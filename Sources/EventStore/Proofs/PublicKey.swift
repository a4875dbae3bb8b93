internal import CCrypto

/// A public key of someone else, who signs with it what the node reads: RSA, or ECDSA on the curve P-256, both over SHA-256
/// (RFC 7518 §3.3, §3.4).
package struct PublicKey: Hashable, Sendable {
    package enum Algorithm: String, Sendable {
        /// RSASSA-PKCS1-v1_5.
        case rs256 = "RS256"
        /// ECDSA; the signature is R and S, of 32 bytes each.
        case es256 = "ES256"
    }

    package let algorithm: Algorithm
    /// DER SubjectPublicKeyInfo (RFC 5280 §4.1).
    private let info: [UInt8]

    /// Bits of RSA's modulus: fewer do not last (RFC 7518 §3.3), more take too long to check.
    package static let rsaBits = 2_048...8_192

    /// An RSA key; `nil` where it is none, is of another size, or has an exponent that FIPS 186-5 §5.4 does not allow.
    package init?(modulus: [UInt8], exponent: [UInt8]) {
        let exponent = Array(exponent.drop { $0 == 0 })
        let isOdd = exponent.last.map { $0 & 1 == 1 } ?? false
        guard (3...8).contains(exponent.count), isOdd else { return nil }
        let key = DER.sequence(DER.integer(modulus) + DER.integer(exponent))
        self.init(.rs256, DER.sequence(DER.rsa + DER.bits(key)))
    }

    /// The point of P-256 with these coordinates, 32 bytes each; `nil` where they are no point of it.
    package init?(x: [UInt8], y: [UInt8]) {
        guard x.count == 32, y.count == 32 else { return nil }
        self.init(.es256, DER.sequence(DER.p256 + DER.bits([4] + x + y)))
    }

    private init?(_ algorithm: Algorithm, _ info: [UInt8]) {
        (self.algorithm, self.info) = (algorithm, info)
        guard let key = opened else { return nil }
        defer { EVP_PKEY_free(key) }
        if algorithm == .rs256, !Self.rsaBits.contains(Int(EVP_PKEY_get_bits(key))) { return nil }
    }

    /// OpenSSL's form of it, to be freed.
    private var opened: OpaquePointer? {
        info.withUnsafeBufferPointer { bytes in
            var place = bytes.baseAddress
            let key = d2i_PUBKEY(nil, &place, bytes.count)
            if key == nil { ERR_clear_error() }
            return key
        }
    }

    /// Whether `signature` is this key's for `message`. Takes some 50 microseconds.
    package func isValid(_ signature: [UInt8], of message: [UInt8]) -> Bool {
        var signature = signature
        if algorithm == .es256 {
            guard signature.count == 64 else { return false }
            signature = DER.sequence(DER.integer(signature[..<32]) + DER.integer(signature[32...]))
        }
        guard let key = opened else { return false }
        defer { EVP_PKEY_free(key) }
        let context = EVP_MD_CTX_new()
        defer { EVP_MD_CTX_free(context) }
        let isValid =
            EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, key) == 1
            && EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
        if !isValid { ERR_clear_error() }
        return isValid
    }
}

/// The few forms of DER (X.690) that keys and signatures of ECDSA need.
private enum DER {
    /// AlgorithmIdentifier of rsaEncryption (RFC 8017 §A.1).
    static let rsa: [UInt8] = [
        0x30, 0x0d, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01, 0x05, 0x00,
    ]
    /// AlgorithmIdentifier of id-ecPublicKey with prime256v1 (RFC 5480 §2.1.1).
    static let p256: [UInt8] = [
        0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d,
        0x03,
        0x01, 0x07,
    ]

    static func sequence(_ content: [UInt8]) -> [UInt8] { element(0x30, content) }
    static func bits(_ content: [UInt8]) -> [UInt8] { element(0x03, [0] + content) }

    /// A whole number that is not negative, from its bytes, the most significant first.
    static func integer(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        var digits = Array(bytes.drop { $0 == 0 })
        if digits.first.map({ $0 >= 0x80 }) ?? true { digits.insert(0, at: 0) }
        return element(0x02, digits)
    }

    private static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        let count = content.count
        let length: [UInt8] =
            switch count {
            case ..<0x80: [UInt8(count)]
            case ..<0x100: [0x81, UInt8(count)]
            default: [0x82, UInt8(truncatingIfNeeded: count >> 8), UInt8(truncatingIfNeeded: count)]
            }
        return [tag] + length + content
    }
}
