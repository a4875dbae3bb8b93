internal import CCrypto

/// SHA-256 (FIPS 180-4) of OpenSSL, with a state that is used again. Not Sendable: one for each thread.
package final class SHA256 {
    private let state = UnsafeMutablePointer<SHA256_CTX>.allocate(capacity: 1)

    package init() { state.initialize(to: SHA256_CTX()) }

    deinit { state.deallocate() }

    /// The digest of what `feed` passes to its argument, in order.
    package func digest(_ feed: (_ update: (UnsafeRawBufferPointer) -> Void) -> Void) -> Digest {
        sillok_sha256_begin(state)
        feed { bytes in sillok_sha256_add(state, bytes.baseAddress, bytes.count) }
        return withUnsafeTemporaryAllocation(byteCount: 32, alignment: 8) { out in
            sillok_sha256_end(state, out.assumingMemoryBound(to: UInt8.self).baseAddress)
            return Digest(reading: UnsafeRawBufferPointer(out))
        }
    }

    /// Writes the digest of one block of memory and another into the first 32 bytes of `out`.
    func digest(
        _ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer, to out: UnsafeMutableRawBufferPointer
    ) {
        precondition(out.count >= 32)
        sillok_sha256_begin(state)
        sillok_sha256_add(state, first.baseAddress, first.count)
        sillok_sha256_add(state, second.baseAddress, second.count)
        sillok_sha256_end(state, out.assumingMemoryBound(to: UInt8.self).baseAddress)
    }

    /// The digest of a block of memory.
    func digest(_ bytes: UnsafeRawBufferPointer) -> Digest {
        withUnsafeTemporaryAllocation(byteCount: 32, alignment: 8) { out in
            digest(bytes, UnsafeRawBufferPointer(start: nil, count: 0), to: out)
            return Digest(reading: UnsafeRawBufferPointer(out))
        }
    }

    package func digest(_ bytes: [UInt8]) -> Digest {
        digest { update in bytes.withUnsafeBytes(update) }
    }

    /// SHA-256(salt ‖ payload).
    package func payloadDigest(salt: UUIDBits, payload: [UInt8]) -> Digest {
        digest { update in
            var halves = (salt.high.bigEndian, salt.low.bigEndian)
            withUnsafeBytes(of: &halves, update)
            payload.withUnsafeBytes(update)
        }
    }

    /// The digest of an event's payload, whether it is still there or not.
    package func payloadDigest(_ body: EventBody) -> Digest {
        switch body {
        case .present(let salt, let payload), .unreadable(let salt, let payload):
            payloadDigest(salt: salt, payload: payload)
        case .erased(let digest): digest
        }
    }

    /// The Merkle leaf of an event: SHA-256(0x00 ‖ canonical header ‖ payload digest).
    package func leaf(header: [UInt8], payloadDigest: Digest) -> Digest {
        digest { update in
            withUnsafeBytes(of: UInt8(0), update)
            header.withUnsafeBytes(update)
            payloadDigest.withBytes(update)
        }
    }

    /// A Merkle node: SHA-256(0x01 ‖ left ‖ right) (RFC 6962 §2.1).
    package func node(_ left: Digest, _ right: Digest) -> Digest {
        withUnsafeTemporaryAllocation(byteCount: 65, alignment: 8) { block in
            block[0] = 1
            left.store(to: block, at: 1)
            right.store(to: block, at: 33)
            return digest(UnsafeRawBufferPointer(block))
        }
    }
}

/// A SHA-256 digest of what comes piece by piece. Not Sendable.
package final class RunningSHA256 {
    private let state = UnsafeMutablePointer<SHA256_CTX>.allocate(capacity: 1)

    package init() {
        state.initialize(to: SHA256_CTX())
        sillok_sha256_begin(state)
    }

    deinit { state.deallocate() }

    package func add(_ bytes: UnsafeRawBufferPointer) { sillok_sha256_add(state, bytes.baseAddress, bytes.count) }

    package func add(_ bytes: ArraySlice<UInt8>) { bytes.withUnsafeBytes(add) }

    /// The digest of all that was added. Nothing may be added after it.
    package func finish() -> Digest {
        withUnsafeTemporaryAllocation(byteCount: 32, alignment: 8) { out in
            sillok_sha256_end(state, out.assumingMemoryBound(to: UInt8.self).baseAddress)
            return Digest(reading: UnsafeRawBufferPointer(out))
        }
    }
}

extension Digest {
    /// Writes the 32 bytes.
    fileprivate func store(to out: UnsafeMutableRawBufferPointer, at offset: Int) {
        out.storeBytes(of: words.0.bigEndian, toByteOffset: offset, as: UInt64.self)
        out.storeBytes(of: words.1.bigEndian, toByteOffset: offset + 8, as: UInt64.self)
        out.storeBytes(of: words.2.bigEndian, toByteOffset: offset + 16, as: UInt64.self)
        out.storeBytes(of: words.3.bigEndian, toByteOffset: offset + 24, as: UInt64.self)
    }

    func withBytes(_ body: (UnsafeRawBufferPointer) -> Void) {
        let big = (
            words.0.bigEndian, words.1.bigEndian, words.2.bigEndian, words.3.bigEndian
        )
        withUnsafeBytes(of: big, body)
    }
}
