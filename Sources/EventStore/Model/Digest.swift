/// 32 bytes of SHA-256 (FIPS 180-4).
public struct Digest: Hashable, Sendable {
    let words: (UInt64, UInt64, UInt64, UInt64)

    /// The digest in `bytes`; `nil` unless there are exactly 32.
    public init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 32 else { return nil }
        var words: [UInt64] = [0, 0, 0, 0]
        for (index, byte) in bytes.enumerated() { words[index / 8] = words[index / 8] << 8 | UInt64(byte) }
        self.words = (words[0], words[1], words[2], words[3])
    }

    /// 32 zero bytes: a place for a digest.
    package static let zero = Digest(words: (0, 0, 0, 0))

    init(words: (UInt64, UInt64, UInt64, UInt64)) { self.words = words }

    /// Reads the first 32 of `bytes`.
    init(reading bytes: UnsafeRawBufferPointer) {
        func word(_ index: Int) -> UInt64 {
            UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: index * 8, as: UInt64.self))
        }
        words = (word(0), word(1), word(2), word(3))
    }

    /// The 32 bytes.
    public var bytes: [UInt8] {
        var out: [UInt8] = []
        out.reserveCapacity(32)
        append(to: &out)
        return out
    }

    /// The first eight bytes, most significant first: enough to see that two histories differ.
    package var prefix64: UInt64 { words.0 }

    package func append(to out: inout [UInt8]) {
        out.appendBigEndian(words.0)
        out.appendBigEndian(words.1)
        out.appendBigEndian(words.2)
        out.appendBigEndian(words.3)
    }

    /// Same 32 bytes.
    public static func == (a: Digest, b: Digest) -> Bool {
        a.words.0 == b.words.0 && a.words.1 == b.words.1 && a.words.2 == b.words.2 && a.words.3 == b.words.3
    }

    /// Feeds the first word: SHA-256 output is uniform.
    public func hash(into hasher: inout Hasher) { hasher.combine(words.0) }
}

extension Digest: CustomStringConvertible {
    /// 64 lowercase hexadecimal digits.
    public var description: String { hexText(bytes) }
}
