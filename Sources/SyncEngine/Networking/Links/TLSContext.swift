internal import COpenSSL

/// The TLS settings of a node, for both the calling and the answering side of peer links.
///
/// TLS 1.3 only; both sides must send a certificate; no session tickets, so every link proves both keys anew. Any
/// well-formed certificate with an Ed25519 key passes here, and whether its node is welcome is decided by the owner of
/// the ``TLSLink``, from the node id that ``TLSLink/onOpen`` reports. TLS itself proves possession of the private key
/// (CertificateVerify, RFC 8446 §4.4.3).
///
/// ## Concurrency model
/// `@unchecked Sendable`: the `SSL_CTX` is not changed after `init`, and OpenSSL guards the rest of it itself.
package final class TLSContext: @unchecked Sendable {
    package let identity: TLSIdentity
    private let context: OpaquePointer

    package init(identity: TLSIdentity) throws(TLSSetupError) {
        guard let context = SSL_CTX_new(TLS_method()) else { throw .last("SSL_CTX_new") }
        guard TLSContext.configure(context, for: identity) else {
            SSL_CTX_free(context)
            throw .last("configure TLS")
        }
        self.identity = identity
        self.context = context
    }

    deinit { SSL_CTX_free(context) }

    /// A new session object for one link; the caller owns it.
    func newSession() -> OpaquePointer? { SSL_new(context) }

    private static func configure(_ context: OpaquePointer, for identity: TLSIdentity) -> Bool {
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
        SSL_CTX_set_cert_verify_callback(context, { store, _ in acceptEd25519(store) }, nil)
        // The four below are macros over SSL_CTX_ctrl, which the importer cannot read.
        _ = SSL_CTX_ctrl(context, SSL_CTRL_SET_SESS_CACHE_MODE, Int(SSL_SESS_CACHE_OFF), nil)
        let modes =
            SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER
        _ = SSL_CTX_ctrl(context, SSL_CTRL_MODE, Int(modes), nil)
        // A certificate of ours has about 300 bytes; the default limit is 100 KiB per unknown caller.
        _ = SSL_CTX_ctrl(context, SSL_CTRL_SET_MAX_CERT_LIST, 8 * 1024, nil)
        return SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(TLS1_3_VERSION), nil) == 1
            && SSL_CTX_ctrl(context, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(TLS1_3_VERSION), nil) == 1
            && SSL_CTX_set_num_tickets(context, 0) == 1
            && SSL_CTX_use_certificate(context, identity.certificate) == 1
            && SSL_CTX_use_PrivateKey(context, identity.key) == 1
    }
}

/// What ``acceptEd25519(_:)`` leaves as the verify result of a session whose peer has another kind of key.
let wrongKeyTypeResult = Int(X509_V_ERR_APPLICATION_VERIFICATION)

/// The verify callback: 1 when the peer's certificate carries an Ed25519 key.
private func acceptEd25519(_ store: OpaquePointer?) -> Int32 {
    guard let certificate = X509_STORE_CTX_get0_cert(store), let key = X509_get0_pubkey(certificate),
        EVP_PKEY_is_a(key, "ED25519") == 1
    else {
        X509_STORE_CTX_set_error(store, X509_V_ERR_APPLICATION_VERIFICATION)
        return 0
    }
    X509_STORE_CTX_set_error(store, X509_V_OK)
    return 1
}

/// The node id of a session's peer; nil before the handshake.
func peerNodeID(of session: OpaquePointer) -> [UInt8]? {
    guard let certificate = SSL_get1_peer_certificate(session) else { return nil }
    defer { X509_free(certificate) }
    return publicKeyDigest(of: certificate)
}
