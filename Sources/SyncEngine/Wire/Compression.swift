internal import CZstd
internal import EventStore

/// Compressed bodies: the message's length as big-endian `u32`, then one Zstandard frame (RFC 8878).
enum Compression {
    /// The greatest `decompressed / compressed` that is taken; text of chats stays below 10.
    static let maxRatio = 64
    /// Shorter bodies are not worth the try: of one event a tenth is saved, and both sides take as long as for its signature.
    static let minBody = 1_024
    /// Level 1: 2.4 times smaller on Korean text at 260 MB/s; higher levels cost more than they save.
    private static let level: Int32 = 1
    private static let lengthSize = 4

    /// The compressed form of `message`; `nil` where it is not worth it or the peer would refuse it.
    static func compress(_ message: [UInt8]) -> [UInt8]? {
        guard message.count >= minBody, message.count <= WireLimits.hardBody else { return nil }
        let body = compressAlways(message)
        guard body.count * 100 <= message.count * 97, message.count <= (body.count - lengthSize) * maxRatio else {
            return nil
        }
        return body
    }

    /// The compressed form of `message`, worth it or not.
    static func compressAlways(_ message: [UInt8]) -> [UInt8] {
        let bound = ZSTD_compressBound(message.count)
        return [UInt8](unsafeUninitializedCapacity: lengthSize + bound) { out, count in
            withUnsafeBytes(of: UInt32(message.count).bigEndian) { length in
                for index in 0..<lengthSize { out.initializeElement(at: index, to: length[index]) }
            }
            let rest = UnsafeMutableBufferPointer(rebasing: out[lengthSize...])
            let written = message.withUnsafeBytes {
                ZSTD_compress(rest.baseAddress, bound, $0.baseAddress, $0.count, level)
            }
            // The bound leaves room for every input; only a failed allocation remains.
            precondition(ZSTD_isError(written) == 0, "zstd: \(String(cString: ZSTD_getErrorName(written)))")
            count = lengthSize + written
        }
    }

    /// Bytes of the message in a compressed `body`, as it says itself; at most ``WireLimits/hardBody``.
    static func declaredSize(_ body: [UInt8]) -> Int {
        guard body.count > lengthSize else { return body.count }
        return min(body.prefix(lengthSize).reduce(0) { $0 << 8 | Int($1) }, WireLimits.hardBody)
    }

    /// The message in a compressed `body`. Nothing is allocated before the declared length is found bearable.
    static func decompress(_ body: [UInt8]) throws(WireError) -> [UInt8] {
        guard body.count > lengthSize else { throw .zstd("too short") }
        let declared = body.prefix(lengthSize).reduce(0) { $0 << 8 | Int($1) }
        let compressed = body.count - lengthSize
        guard declared <= WireLimits.hardBody, declared <= compressed * maxRatio else {
            throw .decompressionBomb(declared: declared, compressed: compressed)
        }
        let frame = body.withUnsafeBytes {
            ZSTD_findFrameCompressedSize($0.baseAddress.map { $0 + lengthSize }, compressed)
        }
        if ZSTD_isError(frame) != 0 { throw .zstd(String(cString: ZSTD_getErrorName(frame))) }
        guard frame == compressed else { throw .zstd("\(compressed - frame) bytes follow the frame") }

        var result = 0
        let message = [UInt8](unsafeUninitializedCapacity: declared) { out, count in
            result = body.withUnsafeBytes {
                ZSTD_decompress(out.baseAddress, declared, $0.baseAddress.map { $0 + lengthSize }, compressed)
            }
            count = ZSTD_isError(result) == 0 ? result : 0
        }
        if ZSTD_isError(result) != 0 { throw .zstd(String(cString: ZSTD_getErrorName(result))) }
        guard result == declared else { throw .zstd("\(result) bytes came out, \(declared) were declared") }
        return message
    }
}
