internal import CLibevent
internal import COpenSSL
internal import Glibc

/// Why a ``TLSLink`` ended.
package enum LinkEnd: Error, Equatable, Sendable, CustomStringConvertible {
    /// The peer said goodbye (`close_notify`) between two frames.
    case peerClosed
    /// The stream stopped inside a frame, or without goodbye: nothing after the last whole frame can be trusted.
    case truncated
    /// The peer broke off with this TLS alert (RFC 8446 §6), for example because it does not know our key.
    case rejectedByPeer(alert: UInt8)
    /// The peer's certificate holds no Ed25519 key.
    case wrongKeyType
    /// Another failure of TLS, in OpenSSL's words.
    case tls(String)
    /// The connection failed below TLS; the name of the `errno`.
    case socket(String)
    /// The TLS handshake took too long.
    case handshakeTimeout
    /// The peer accepted no byte for too long, or let our outbox fill up.
    case slowPeer
    /// Newer callers took the place of one that was not let in yet.
    case crowdedOut
    /// The peer sent a frame header that breaks the rules.
    case badFrame(String)
    /// The peer announced a body of `bytes`, more than the `limit` it had been told of.
    case frameTooLarge(bytes: Int, limit: Int)
    /// We closed it, or our loop stopped.
    case closedByUs

    package var description: String {
        switch self {
        case .peerClosed: "the peer closed the connection"
        case .truncated: "the connection was cut off"
        case .rejectedByPeer(let alert): "the peer refused us: \(LinkEnd.name(ofAlert: alert)) (TLS alert \(alert))"
        case .wrongKeyType: "the peer's certificate has no Ed25519 key"
        case .tls(let reason): "TLS failed: \(reason)"
        case .socket(let name): "the connection failed: \(name)"
        case .handshakeTimeout: "the TLS handshake took too long"
        case .slowPeer: "the peer takes data too slowly"
        case .crowdedOut: "newer callers came before it was let in"
        case .badFrame(let reason): "the peer sent a bad frame: \(reason)"
        case .frameTooLarge(let bytes, let limit):
            "the peer sent a frame of \(bytes) bytes, at most \(limit) are taken"
        case .closedByUs: "closed by this node"
        }
    }

    private static func name(ofAlert alert: UInt8) -> String {
        // The level (high byte) does not matter for the description.
        String(cString: SSL_alert_desc_string_long(Int32(alert)))
    }

    /// Reads the reason out of a failed bufferevent, which must still own its session.
    static func failure(of bufferevent: OpaquePointer, socketError: Int32) -> LinkEnd {
        var found: LinkEnd?
        while true {
            let code = UInt(bufferevent_get_openssl_error(bufferevent))
            guard code != 0 else { break }
            // Values below 10 are results of SSL_get_error, not errors of the queue. The first real one is the cause.
            if code >= 10 && found == nil { found = LinkEnd(openSSLCode: code) }
        }
        if case .tls = found, let session = bufferevent_openssl_get_ssl(bufferevent),
            SSL_get_verify_result(session) == wrongKeyTypeResult
        {
            return .wrongKeyType
        }
        return found ?? (socketError == 0 ? .truncated : .socket(errnoName(socketError)))
    }

    private init(openSSLCode code: UInt) {
        // ERR_SYSTEM_FLAG of OpenSSL 3: the rest of the code is an errno.
        if code & 0x8000_0000 != 0 {
            self = .socket(errnoName(Int32(code & 0x7fff_ffff)))
            return
        }
        let reason = Int32(code & 0x7f_ffff)
        switch reason {
        case SSL_R_UNEXPECTED_EOF_WHILE_READING: self = .truncated
        case SSL_AD_REASON_OFFSET...(SSL_AD_REASON_OFFSET + 255):
            self = .rejectedByPeer(alert: UInt8(reason - SSL_AD_REASON_OFFSET))
        default: self = .tls(openSSLReason(code))
        }
    }
}
