internal import CCrypto

/// HMAC-SHA-256 (RFC 2104): proves knowledge of a secret without showing it.
package enum MessageCode {
    /// The 32 bytes for `message` under `key`.
    package static func code(_ message: [UInt8], key: [UInt8]) -> [UInt8] {
        var out = [UInt8](repeating: 0, count: 32)
        var count: UInt32 = 32
        let done = HMAC(EVP_sha256(), key, Int32(key.count), message, message.count, &out, &count)
        precondition(done != nil && count == 32, "OpenSSL cannot make an HMAC")
        return out
    }

    /// Whether `code` is that for `message`; takes the same time wherever they differ.
    package static func isValid(_ code: [UInt8], for message: [UInt8], key: [UInt8]) -> Bool {
        let right = self.code(message, key: key)
        return code.count == right.count && CRYPTO_memcmp(code, right, right.count) == 0
    }
}

/// Random bytes from the kernel.
package func randomBytes(_ count: Int) -> [UInt8] {
    var source = RandomSource()
    var bytes: [UInt8] = []
    while bytes.count < count { bytes += withUnsafeBytes(of: source.next()) { Array($0) } }
    return Array(bytes.prefix(count))
}
