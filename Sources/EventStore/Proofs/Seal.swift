internal import CCrypto

/// Binds what no head speaks of yet to the node's key (D21): a hand on the log without the key cannot make the seal of
/// another history. Only the node itself can check it; a signature, which any node can check, would cost each commit ten times
/// as much.
///
/// A seal is the first 16 bytes of HMAC-SHA-256 (RFC 2104), under SHA-256(a purpose ‖ 0x00 ‖ the key's 32 private bytes).
struct Sealer: Sendable {
    /// What seals are for: those of one purpose are of no use for another.
    enum Purpose: String {
        /// The last own event of a commit; over a head's checkpoint text.
        case events = "sillok seal v1"
        /// ``LogEnd``.
        case end = "sillok end v1"
        /// ``ErasureIndex``.
        case erasures = "sillok erasures v1"
    }

    /// The states of HMAC's two hashes that have taken the key in; copied for each seal.
    private let inner: SHA256_CTX
    private let outer: SHA256_CTX

    /// - Parameter secret: The 32 private bytes of the node's key.
    init(_ purpose: Purpose, secret: ArraySlice<UInt8>) {
        let key = SHA256().digest(Array(purpose.rawValue.utf8) + [0] + secret).bytes
        func keyed(_ pad: UInt8) -> SHA256_CTX {
            var state = SHA256_CTX()
            sillok_sha256_begin(&state)
            let block = (0..<64).map { ($0 < key.count ? key[$0] : 0) ^ pad }
            sillok_sha256_add(&state, block, block.count)
            return state
        }
        inner = keyed(0x36)
        outer = keyed(0x5c)
    }

    /// The seal of an origin's history so far; `text` is memory that is used again.
    func seal(_ head: TreeHead, in text: inout [UInt8]) -> UUIDBits {
        text.removeAll(keepingCapacity: true)
        head.appendCheckpoint(to: &text)
        return seal(text)
    }

    /// The seal of any bytes.
    func seal(_ text: [UInt8]) -> UUIDBits {
        withUnsafeTemporaryAllocation(byteCount: 32, alignment: 8) { code in
            let bytes = code.assumingMemoryBound(to: UInt8.self).baseAddress
            var state = inner
            sillok_sha256_add(&state, text, text.count)
            sillok_sha256_end(&state, bytes)
            state = outer
            sillok_sha256_add(&state, bytes, 32)
            sillok_sha256_end(&state, bytes)
            return UUIDBits(
                high: UInt64(bigEndian: code.load(as: UInt64.self)),
                low: UInt64(bigEndian: code.load(fromByteOffset: 8, as: UInt64.self)))
        }
    }

    /// The seal of an origin's history so far.
    func seal(_ head: TreeHead) -> UUIDBits {
        var text: [UInt8] = []
        return seal(head, in: &text)
    }
}
