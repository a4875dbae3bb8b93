internal import CLibevent
internal import COpenSSL

extension TLSLink {
    /// 32 bytes that both ends of this connection can compute and no one else (RFC 8446 §7.5): what is proven over them
    /// cannot be carried to another connection. `nil` unless the link is open.
    package func sharedSecret(label: String) -> [UInt8]? {
        loop.assertOnLoop()
        guard isOpen, let bufferevent, let session = bufferevent_openssl_get_ssl(bufferevent) else { return nil }
        var out = [UInt8](repeating: 0, count: 32)
        let text = label.utf8.map { CChar(bitPattern: $0) }
        guard SSL_export_keying_material(session, &out, out.count, text, text.count, nil, 0, 0) == 1 else {
            return nil
        }
        return out
    }
}
