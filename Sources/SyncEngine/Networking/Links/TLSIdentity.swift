internal import COpenSSL

/// Why a key or a TLS context could not be set up.
package enum TLSSetupError: Error, Equatable, CustomStringConvertible {
    /// The bytes are not an unencrypted private key in PEM.
    case unreadableKey(String)
    /// The key is not an Ed25519 key; only those name a node.
    case wrongKeyType
    /// OpenSSL refused a step; `reason` is its own word for it.
    case openSSL(step: String, reason: String)

    package var description: String {
        switch self {
        case .unreadableKey(let reason): "not a readable private key in PEM: \(reason)"
        case .wrongKeyType: "not an Ed25519 key"
        case .openSSL(let step, let reason): "\(step): \(reason)"
        }
    }

    /// Takes the reason from OpenSSL's error queue of this thread and empties it.
    static func last(_ step: String) -> TLSSetupError { .openSSL(step: step, reason: lastOpenSSLReason()) }
}

/// A node's key and the self-signed certificate made from it in memory.
///
/// The certificate carries no claim but its key: peers pin the SHA-256 of the public key (DESIGN D11). It is valid
/// from 1970 to the end of 9999, so that a wrong clock never parts two nodes (RFC 5280 §4.1.2.5 for the latter date).
///
/// ## Concurrency model
/// `@unchecked Sendable`: both OpenSSL objects are only read after `init`, and their reference counts are atomic.
package final class TLSIdentity: @unchecked Sendable {
    /// SHA-256 over the DER SubjectPublicKeyInfo of the key: 32 bytes.
    package let nodeID: [UInt8]
    let key: OpaquePointer
    let certificate: OpaquePointer

    /// Reads an Ed25519 private key from the bytes of a PKCS#8 PEM file.
    package convenience init(privateKeyPEM pem: [UInt8]) throws(TLSSetupError) {
        guard let key = TLSIdentity.readKey(pem) else { throw .unreadableKey(lastOpenSSLReason()) }
        guard EVP_PKEY_is_a(key, "ED25519") == 1 else {
            EVP_PKEY_free(key)
            throw .wrongKeyType
        }
        try self.init(owning: key)
    }

    /// Makes the certificate for any kind of key, and takes over the caller's reference to the key.
    init(owning key: OpaquePointer) throws(TLSSetupError) {
        let certificate = TLSIdentity.selfSigned(key)
        let nodeID = certificate.flatMap { publicKeyDigest(of: $0) }
        guard let certificate, let nodeID else {
            X509_free(certificate)
            EVP_PKEY_free(key)
            throw .last("make a certificate")
        }
        self.key = key
        self.certificate = certificate
        self.nodeID = nodeID
    }

    deinit {
        X509_free(certificate)
        EVP_PKEY_free(key)
    }

    static func readKey(_ pem: [UInt8]) -> OpaquePointer? {
        pem.withUnsafeBytes { bytes in
            guard let file = BIO_new_mem_buf(bytes.baseAddress, Int32(clamping: bytes.count)) else { return nil }
            defer { BIO_free(file) }
            // An encrypted key would otherwise ask for its password on the terminal.
            return PEM_read_bio_PrivateKey(file, nil, { _, _, _, _ in -1 }, nil)
        }
    }

    private static func selfSigned(_ key: OpaquePointer) -> OpaquePointer? {
        guard let certificate = X509_new() else { return nil }
        let name = X509_get_subject_name(certificate)
        // An edwards-curve key brings its own digest; others need one named.
        let digest = EVP_PKEY_is_a(key, "ED25519") == 1 ? nil : EVP_sha256()
        let made =
            X509_set_version(certificate, 2) == 1
            && ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), .random(in: 1...(1 << 63 - 1))) == 1
            && ASN1_TIME_set_string_X509(X509_getm_notBefore(certificate), "19700101000000Z") == 1
            && ASN1_TIME_set_string_X509(X509_getm_notAfter(certificate), "99991231235959Z") == 1
            && X509_NAME_add_entry_by_txt(name, "CN", asciiString, "sillok", -1, -1, 0) == 1
            && X509_set_issuer_name(certificate, name) == 1
            && X509_set_pubkey(certificate, key) == 1
            && X509_sign(certificate, key, digest) > 0
        guard made else {
            X509_free(certificate)
            return nil
        }
        return certificate
    }
}

/// `MBSTRING_ASC`, a macro the importer cannot read.
private let asciiString: Int32 = 0x1001

/// SHA-256 over the DER SubjectPublicKeyInfo of a certificate; nil when it has no readable key.
func publicKeyDigest(of certificate: OpaquePointer) -> [UInt8]? {
    var der: UnsafeMutablePointer<UInt8>?
    let length = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate), &der)
    guard length > 0, let der else { return nil }
    defer { CRYPTO_free(der, "", 0) }
    var digest = [UInt8](repeating: 0, count: 32)
    let done = digest.withUnsafeMutableBufferPointer {
        EVP_Digest(der, Int(length), $0.baseAddress, nil, EVP_sha256(), nil)
    }
    return done == 1 ? digest : nil
}

/// The newest reason in OpenSSL's error queue of this thread, which is emptied.
func lastOpenSSLReason() -> String {
    let code = ERR_peek_last_error()
    ERR_clear_error()
    return openSSLReason(code)
}

func openSSLReason(_ code: UInt) -> String {
    guard let reason = ERR_reason_error_string(code) else { return "unknown error \(code)" }
    return String(cString: reason)
}
