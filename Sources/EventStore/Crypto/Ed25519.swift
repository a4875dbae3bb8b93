internal import CCrypto

/// A node's private key (Ed25519, RFC 8032).
///
/// `@unchecked Sendable`: an `EVP_PKEY` that is only read may be used by several threads; each signature has a context of
/// its own.
public final class SigningKey: @unchecked Sendable {
    private let key: OpaquePointer
    /// The public half.
    public let publicKey: VerifyingKey

    private init?(_ key: OpaquePointer?) {
        guard let key, EVP_PKEY_get_base_id(key) == EVP_PKEY_ED25519, let publicKey = VerifyingKey(half: key) else {
            EVP_PKEY_free(key)
            return nil
        }
        self.key = key
        self.publicKey = publicKey
    }

    deinit { EVP_PKEY_free(key) }

    /// A new random key.
    public static func generate() -> SigningKey {
        var key: OpaquePointer?
        let context = EVP_PKEY_CTX_new_id(EVP_PKEY_ED25519, nil)
        defer { EVP_PKEY_CTX_free(context) }
        EVP_PKEY_keygen_init(context)
        EVP_PKEY_keygen(context, &key)
        guard let made = SigningKey(key) else { preconditionFailure("OpenSSL cannot make an Ed25519 key") }
        return made
    }

    /// The key in a PKCS #8 PEM file; `nil` if there is none or it is not Ed25519.
    public convenience init?(pem: [UInt8]) {
        let memory = pem.withUnsafeBytes { BIO_new_mem_buf($0.baseAddress, Int32($0.count)) }
        // The BIO reads the array's memory, so it is parsed while the array is alive.
        let key = withExtendedLifetime(pem) { PEM_read_bio_PrivateKey(memory, nil, nil, nil) }
        BIO_free(memory)
        self.init(key)
    }

    /// PKCS #8 PEM, not encrypted: the file must be readable by its owner alone.
    public var pem: [UInt8] {
        let memory = BIO_new(BIO_s_mem())
        defer { BIO_free(memory) }
        PEM_write_bio_PrivateKey(memory, key, nil, nil, 0, nil, nil)
        var out = [UInt8](repeating: 0, count: BIO_ctrl_pending(memory))
        let count = out.withUnsafeMutableBytes { BIO_read(memory, $0.baseAddress, Int32($0.count)) }
        return Array(out.prefix(Int(max(count, 0))))
    }

    /// The 64-byte signature of `message`.
    public func sign(_ message: [UInt8]) -> [UInt8] {
        let context = EVP_MD_CTX_new()
        defer { EVP_MD_CTX_free(context) }
        var signature = [UInt8](repeating: 0, count: 64)
        var count = signature.count
        EVP_DigestSignInit(context, nil, nil, nil, key)
        let done = EVP_DigestSign(context, &signature, &count, message, message.count)
        precondition(done == 1 && count == 64, "Ed25519 cannot sign")
        return signature
    }
}

/// A node's public key (Ed25519, RFC 8032).
public struct VerifyingKey: Hashable, Sendable {
    /// The 32 bytes of RFC 8032.
    public let rawBytes: [UInt8]

    /// The key in these 32 bytes; `nil` for any other count.
    public init?(rawBytes: [UInt8]) {
        guard rawBytes.count == 32 else { return nil }
        self.rawBytes = rawBytes
    }

    fileprivate init?(half key: OpaquePointer) {
        var raw = [UInt8](repeating: 0, count: 32)
        var count = raw.count
        guard EVP_PKEY_get_raw_public_key(key, &raw, &count) == 1, count == 32 else { return nil }
        rawBytes = raw
    }

    /// Whether `signature` is this key's for `message`.
    public func isValid(signature: [UInt8], for message: [UInt8]) -> Bool {
        guard signature.count == 64, let context else { return false }
        defer { EVP_MD_CTX_free(context) }
        return EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
    }

    /// What OpenSSL verifies one signature with; `nil` for bytes that are no key, or without memory. To be freed by the caller.
    fileprivate var context: OpaquePointer? {
        let key = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nil, rawBytes, rawBytes.count)
        guard let key else { return nil }
        // The context holds the key.
        defer { EVP_PKEY_free(key) }
        let context = EVP_MD_CTX_new()
        guard EVP_DigestVerifyInit(context, nil, nil, nil, key) == 1 else {
            EVP_MD_CTX_free(context)
            return nil
        }
        return context
    }

    /// The node that owns this key: SHA-256 of its DER SubjectPublicKeyInfo (RFC 8410), as
    /// `openssl pkey -pubout -outform DER | sha256sum` prints it.
    public var nodeID: NodeID {
        let prefix: [UInt8] = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00]
        return NodeID(SHA256().digest(prefix + rawBytes))
    }
}

/// Verifies signatures of keys that come again and again. What OpenSSL looks up and sets up for a key takes a quarter of a
/// verification when there is a pause between two; here it is done once. Not Sendable: one for each thread at a time.
final class SignatureVerifier {
    /// Most keys that are remembered, some 2 KB each (INV-9).
    static let capacity = 64

    private var contexts: [VerifyingKey: OpaquePointer] = [:]

    /// How many keys are remembered.
    var count: Int { contexts.count }

    deinit { forget() }

    /// Whether `signature` is `key`'s for `message`.
    func isValid(signature: [UInt8], for message: [UInt8], by key: VerifyingKey) -> Bool {
        guard signature.count == 64, let prepared = context(of: key), let once = EVP_MD_CTX_new() else {
            return false
        }
        defer { EVP_MD_CTX_free(once) }
        return EVP_MD_CTX_copy_ex(once, prepared) == 1
            && EVP_DigestVerify(once, signature, signature.count, message, message.count) == 1
    }

    private func context(of key: VerifyingKey) -> OpaquePointer? {
        if let known = contexts[key] { return known }
        guard let made = key.context else { return nil }
        if contexts.count == Self.capacity { forget() }
        contexts[key] = made
        return made
    }

    private func forget() {
        for context in contexts.values { EVP_MD_CTX_free(context) }
        contexts = [:]
    }
}
