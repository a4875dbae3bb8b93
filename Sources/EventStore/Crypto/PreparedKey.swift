internal import CCrypto

/// A public key with tables of multiples of its point: whoever verifies many signatures of one key saves two thirds of the
/// arithmetic. It says yes or that it does not know; only OpenSSL says no. So of what this computes one thing matters: that it
/// says yes to nothing but signatures (RFC 8032 §5.1.7).
///
/// Some 30 KB.
struct PreparedKey {
    private let bytes: [UInt8]
    /// Of −A, where A is the key's point.
    private let table: PointTable

    private static let base = PointTable(.base)
    /// As in ``SHA256``.
    private nonisolated(unsafe) static let sha512: OpaquePointer? = EVP_MD_fetch(nil, "SHA512", nil)

    /// `nil` for a key that is not encoded as it should be.
    init?(_ key: VerifyingKey) {
        guard let point = EdwardsPoint(key.rawBytes) else { return nil }
        bytes = key.rawBytes
        table = PointTable(-point)
    }

    /// Whether `signature` is certainly the key's for `message`.
    func isCertain(_ signature: [UInt8], for message: [UInt8]) -> Bool {
        guard signature.count == 64 else { return false }
        let s = littleEndianWords(signature[32...])
        guard GroupOrder.contains(s), let hash = Self.hash(signature[..<32] + bytes + message) else { return false }
        // S · B − H(R ‖ A ‖ M) · A is R.
        let point = PointTable.sum(s, Self.base, GroupOrder.remainder(of: hash), table)
        return point.encoded == littleEndianWords(signature[..<32])
    }

    private static func hash(_ bytes: ArraySlice<UInt8>) -> [UInt8]? {
        var digest = [UInt8](repeating: 0, count: 64)
        let done = bytes.withUnsafeBytes { EVP_Digest($0.baseAddress, $0.count, &digest, nil, sha512, nil) }
        return done == 1 ? digest : nil
    }
}

/// L = 2^252 + 27742317777372353535851937790883648493, the order of the generator.
enum GroupOrder {
    static let words: Words = (0x5812_631a_5cf5_d3ed, 0x14de_f9de_a2f7_9cd6, 0, 0x1000_0000_0000_0000)

    /// Whether the number is below it.
    static func contains(_ number: Words) -> Bool { subtracted(from: number).borrows }

    /// What is left of a number of 64 bytes, the lowest first.
    static func remainder(of bytes: [UInt8]) -> Words {
        var rest: Words = (0, 0, 0, 0)
        for byte in bytes.reversed() {
            for shift in (0..<8).reversed() {
                rest = (
                    rest.0 << 1 | UInt64(byte >> UInt8(shift) & 1), rest.1 << 1 | rest.0 >> 63,
                    rest.2 << 1 | rest.1 >> 63, rest.3 << 1 | rest.2 >> 63
                )
                let (difference, borrows) = subtracted(from: rest)
                if !borrows { rest = difference }
            }
        }
        return rest
    }

    private static func subtracted(from number: Words) -> (difference: Words, borrows: Bool) {
        func step(_ a: UInt64, _ b: UInt64, _ borrow: inout UInt64) -> UInt64 {
            let (first, one) = a.subtractingReportingOverflow(b)
            let (second, two) = first.subtractingReportingOverflow(borrow)
            borrow = one || two ? 1 : 0
            return second
        }
        var borrow: UInt64 = 0
        let difference = (
            step(number.0, words.0, &borrow), step(number.1, words.1, &borrow), step(number.2, words.2, &borrow),
            step(number.3, words.3, &borrow)
        )
        return (difference, borrow == 1)
    }
}
