internal import CCrypto
internal import CSodium

/// A node's private key (Ed25519, RFC 8032).
package final class SigningKey: Sendable {
    /// libsodium's form of it: the 32 bytes of RFC 8032 and the public half.
    private let secret: [UInt8]
    /// The public half.
    package let publicKey: VerifyingKey
    /// Seals what this key has not signed yet.
    let sealer: Sealer
    /// Seals where the log ends.
    let endSealer: Sealer
    /// Seals what table `meta` says of erasures.
    let erasureSealer: Sealer

    init?(seed: [UInt8]) {
        guard isSodiumReady, seed.count == Int(crypto_sign_ed25519_SEEDBYTES) else { return nil }
        var secret = [UInt8](repeating: 0, count: Int(crypto_sign_ed25519_SECRETKEYBYTES))
        var half = [UInt8](repeating: 0, count: Int(crypto_sign_ed25519_PUBLICKEYBYTES))
        guard crypto_sign_ed25519_seed_keypair(&half, &secret, seed) == 0,
            let publicKey = VerifyingKey(rawBytes: half)
        else { return nil }
        self.secret = secret
        self.publicKey = publicKey
        sealer = Sealer(.events, secret: seed[...])
        endSealer = Sealer(.end, secret: seed[...])
        erasureSealer = Sealer(.erasures, secret: seed[...])
    }

    /// A new random key.
    package static func generate() -> SigningKey {
        var seed = [UInt8](repeating: 0, count: Int(crypto_sign_ed25519_SEEDBYTES))
        if isSodiumReady { randombytes_buf(&seed, seed.count) }
        guard let made = SigningKey(seed: seed) else { preconditionFailure("libsodium cannot make an Ed25519 key") }
        return made
    }

    /// The key in a PKCS #8 PEM file; `nil` if there is none or it is not Ed25519.
    package convenience init?(pem: [UInt8]) {
        let memory = pem.withUnsafeBytes { BIO_new_mem_buf($0.baseAddress, Int32($0.count)) }
        // The BIO reads the array's memory, so it is parsed while the array is alive.
        let key = withExtendedLifetime(pem) { PEM_read_bio_PrivateKey(memory, nil, nil, nil) }
        BIO_free(memory)
        defer { EVP_PKEY_free(key) }
        guard let key, EVP_PKEY_get_base_id(key) == EVP_PKEY_ED25519 else { return nil }
        var seed = [UInt8](repeating: 0, count: Int(crypto_sign_ed25519_SEEDBYTES))
        var count = seed.count
        guard EVP_PKEY_get_raw_private_key(key, &seed, &count) == 1, count == seed.count else { return nil }
        self.init(seed: seed)
    }

    /// PKCS #8 PEM, not encrypted: the file must be readable by its owner alone.
    package var pem: [UInt8] {
        let key = EVP_PKEY_new_raw_private_key(
            EVP_PKEY_ED25519, nil, secret, Int(crypto_sign_ed25519_SEEDBYTES))
        defer { EVP_PKEY_free(key) }
        let memory = BIO_new(BIO_s_mem())
        defer { BIO_free(memory) }
        PEM_write_bio_PrivateKey(memory, key, nil, nil, 0, nil, nil)
        var out = [UInt8](repeating: 0, count: BIO_ctrl_pending(memory))
        let count = out.withUnsafeMutableBytes { BIO_read(memory, $0.baseAddress, Int32($0.count)) }
        return Array(out.prefix(Int(max(count, 0))))
    }

    /// The 64-byte signature of `message`.
    package func sign(_ message: [UInt8]) -> [UInt8] {
        var signature = [UInt8](repeating: 0, count: Int(crypto_sign_ed25519_BYTES))
        let done = crypto_sign_ed25519_detached(&signature, nil, message, UInt64(message.count), secret)
        precondition(done == 0, "Ed25519 cannot sign")
        return signature
    }
}

/// libsodium is to be told once that it will be used.
private let isSodiumReady = sodium_init() >= 0

/// A node's public key (Ed25519, RFC 8032).
package struct VerifyingKey: Hashable, Sendable {
    /// The 32 bytes of RFC 8032.
    package let rawBytes: [UInt8]

    /// The key in these 32 bytes; `nil` for any other count.
    package init?(rawBytes: [UInt8]) {
        guard rawBytes.count == 32 else { return nil }
        self.rawBytes = rawBytes
    }

    /// Whether `signature` is this key's for `message`, as FORMATS.md says which are: RFC 8032, 5.1.7, without the cofactor,
    /// and none by a key of a small order.
    package func isValid(signature: [UInt8], for message: [UInt8]) -> Bool {
        isSodiumReady && signature.count == Int(crypto_sign_ed25519_BYTES)
            && crypto_sign_ed25519_verify_detached(signature, message, UInt64(message.count), rawBytes) == 0
    }

    /// The node that owns this key: SHA-256 of its DER SubjectPublicKeyInfo (RFC 8410), as
    /// `openssl pkey -pubout -outform DER | sha256sum` prints it.
    package var nodeID: NodeID {
        let prefix: [UInt8] = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00]
        return NodeID(SHA256().digest(prefix + rawBytes))
    }
}
