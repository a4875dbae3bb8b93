internal import CSodium

/// A key for files that leave the machine: 32 bytes.
package struct StreamKey: Sendable {
    fileprivate let bytes: [UInt8]

    /// How many bytes a key has.
    package static let size = crypto_secretstream_xchacha20poly1305_keybytes()

    /// The key in these bytes; `nil` for any other count.
    package init?(bytes: [UInt8]) {
        guard sodium_init() >= 0, bytes.count == Self.size else { return nil }
        self.bytes = bytes
    }

    /// A name for what has this digest, for a place where others see the names: the digest itself would let them try a guess.
    package func name(of digest: Digest) -> String {
        hexText(MessageCode.code(Array("sillok attachment v1\n".utf8) + digest.bytes, key: bytes))
    }

    /// A key as a file has it: 64 hexadecimal digits, with nothing but blanks around them.
    package init?(text: [UInt8]) {
        let digits = text.filter { !" \t\r\n".utf8.contains($0) }
        guard let bytes = hexBytes(String(decoding: digits, as: UTF8.self)) else { return nil }
        self.init(bytes: bytes)
    }
}

/// Seals chunks one after the other, so that none can be changed, left out, moved or added (libsodium's secretstream:
/// XChaCha20-Poly1305, a random header for each stream). Not Sendable.
package final class SealingStream {
    private var state: crypto_secretstream_xchacha20poly1305_state
    /// What stands before the chunks.
    package let header: [UInt8]

    /// Begins a stream under `key`.
    package init(_ key: StreamKey) {
        var header = [UInt8](repeating: 0, count: crypto_secretstream_xchacha20poly1305_headerbytes())
        var state = crypto_secretstream_xchacha20poly1305_state()
        let done = crypto_secretstream_xchacha20poly1305_init_push(&state, &header, key.bytes)
        precondition(done == 0, "libsodium cannot begin a stream")
        (self.state, self.header) = (state, header)
    }

    /// The sealed form of the next chunk, with `bound` bound to it.
    package func seal(_ chunk: [UInt8], bound: [UInt8] = [], isLast: Bool) -> [UInt8] {
        var out = [UInt8](repeating: 0, count: chunk.count + OpeningStream.overhead)
        let tag = isLast ? crypto_secretstream_xchacha20poly1305_tag_final() : 0
        let done = crypto_secretstream_xchacha20poly1305_push(
            &state, &out, nil, chunk, UInt64(chunk.count), bound, UInt64(bound.count), tag)
        precondition(done == 0, "libsodium cannot seal a chunk")
        return out
    }
}

/// Opens what a ``SealingStream`` has sealed. Not Sendable.
package final class OpeningStream {
    private var state = crypto_secretstream_xchacha20poly1305_state()

    /// Bytes of the header.
    package static let headerSize = crypto_secretstream_xchacha20poly1305_headerbytes()
    /// By how many bytes a sealed chunk is longer.
    package static let overhead = crypto_secretstream_xchacha20poly1305_abytes()

    /// Begins a stream; `nil` for what is no header.
    package init?(_ key: StreamKey, header: [UInt8]) {
        guard header.count == Self.headerSize,
            crypto_secretstream_xchacha20poly1305_init_pull(&state, header, key.bytes) == 0
        else { return nil }
    }

    /// The next chunk and whether it is the last; `nil` for one that is not the next of this stream, under this key, with `bound`.
    package func open(_ sealed: [UInt8], bound: [UInt8] = []) -> (chunk: [UInt8], isLast: Bool)? {
        guard sealed.count >= Self.overhead else { return nil }
        var out = [UInt8](repeating: 0, count: sealed.count - Self.overhead)
        var tag = UInt8(0)
        let done = crypto_secretstream_xchacha20poly1305_pull(
            &state, &out, nil, &tag, sealed, UInt64(sealed.count), bound, UInt64(bound.count))
        return done == 0 ? (out, tag == crypto_secretstream_xchacha20poly1305_tag_final()) : nil
    }
}
