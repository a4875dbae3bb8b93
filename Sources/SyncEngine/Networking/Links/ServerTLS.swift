internal import COpenSSL
internal import Glibc

/// The certificate and the key with which an HTTP server proves who it is. TLS 1.2 and 1.3 (RFC 8446, RFC 9325).
///
/// ## Concurrency model
/// `@unchecked Sendable`: the `SSL_CTX` is not changed after `init`, and OpenSSL guards the rest of it itself.
package final class ServerTLS: @unchecked Sendable {
    private let context: OpaquePointer

    /// - Parameters:
    ///   - certificate: A PEM file: the certificate, then those that lead to a root.
    ///   - key: A PEM file: its private key.
    package init(certificate: String, key: String) throws(TLSSetupError) {
        guard let context = SSL_CTX_new(TLS_server_method()) else { throw .last("SSL_CTX_new") }
        if let step = Self.configure(context, certificate, key) {
            SSL_CTX_free(context)
            throw .last(step)
        }
        self.context = context
    }

    deinit { SSL_CTX_free(context) }

    // <openssl/ssl.h> has them as macros that the importer cannot read: bits 30 and 17.
    private static let noRenegotiation: UInt64 = 1 << 30
    private static let noCompression: UInt64 = 1 << 17

    /// The step that failed; `nil` if none did.
    private static func configure(_ context: OpaquePointer, _ certificate: String, _ key: String) -> String? {
        _ = SSL_CTX_ctrl(context, SSL_CTRL_SET_SESS_CACHE_MODE, Int(SSL_SESS_CACHE_OFF), nil)
        let modes =
            SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER
        _ = SSL_CTX_ctrl(context, SSL_CTRL_MODE, Int(modes), nil)
        // A client that asks for new keys again and again would cost without asking for anything.
        SSL_CTX_set_options(context, noRenegotiation | noCompression)
        guard SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(TLS1_2_VERSION), nil) == 1 else {
            return "ask for TLS 1.2 at least"
        }
        guard SSL_CTX_use_certificate_chain_file(context, certificate) == 1 else { return "read \(certificate)" }
        guard SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) == 1 else { return "read \(key)" }
        return SSL_CTX_check_private_key(context) == 1 ? nil : "use \(key) with \(certificate)"
    }

    /// When its certificate ends, Unix seconds; `nil` where it does not say.
    package var ends: Int64? {
        guard let certificate = SSL_CTX_get0_certificate(context), let end = X509_get0_notAfter(certificate) else {
            return nil
        }
        var parts = tm()
        return ASN1_TIME_to_tm(end, &parts) == 1 ? Int64(timegm(&parts)) : nil
    }

    /// TLS over a connection that was accepted, which stays the caller's.
    func stream(over descriptor: Int32) -> TLSStream? {
        guard let session = SSL_new(context) else { return nil }
        guard SSL_set_fd(session, descriptor) == 1 else {
            SSL_free(session)
            return nil
        }
        SSL_set_accept_state(session)
        return TLSStream(session)
    }
}

/// The server's side of TLS over one connection that does not block. Not `Sendable`: belongs to one thread.
final class TLSStream {
    enum Outcome {
        case bytes(Int)
        /// Nothing can be done now.
        case wait
        /// The client has said that it is done.
        case ended
        case failed
    }

    private let session: OpaquePointer

    fileprivate init(_ session: OpaquePointer) { self.session = session }

    deinit { SSL_free(session) }

    /// Reads what was decrypted; the handshake goes on with it.
    func read(into bytes: UnsafeMutableRawBufferPointer) -> Outcome {
        // What another session has left there is not of this one.
        ERR_clear_error()
        let count = SSL_read(session, bytes.baseAddress, Int32(clamping: bytes.count))
        return count > 0 ? .bytes(Int(count)) : outcome(count)
    }

    func write(_ bytes: UnsafeRawBufferPointer) -> Outcome {
        guard !bytes.isEmpty else { return .bytes(0) }
        ERR_clear_error()
        let count = SSL_write(session, bytes.baseAddress, Int32(clamping: bytes.count))
        return count > 0 ? .bytes(Int(count)) : outcome(count)
    }

    /// Tells the client that nothing more comes, so that it can tell an end from a cut.
    func finish() {
        ERR_clear_error()
        if SSL_is_init_finished(session) == 1 { SSL_shutdown(session) }
    }

    private func outcome(_ result: Int32) -> Outcome {
        switch SSL_get_error(session, result) {
        case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: .wait
        case SSL_ERROR_ZERO_RETURN: .ended
        default: .failed
        }
    }
}
