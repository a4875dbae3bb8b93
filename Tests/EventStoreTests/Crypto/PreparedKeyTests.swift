import Testing

@testable import EventStore

struct PreparedKeyTests {
    private func bytes(_ hex: String) -> [UInt8] {
        stride(from: 0, to: hex.utf8.count, by: 2).map { at in
            UInt8(hex.dropFirst(at).prefix(2), radix: 16) ?? 0
        }
    }

    /// RFC 8032 §7.1: public key, message, signature.
    private static let vectors = [
        (
            "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
            "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595b"
                + "be24655141438e7a100b"
        ),
        (
            "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb430"
                + "2aeeb00d291612bb0c00"
        ),
        (
            "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
            "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716e"
                + "d28dc027beceea1ec40a"
        ),
    ]

    @Test("The signatures of RFC 8032 are certain, and those with any one bit changed are not", arguments: vectors)
    func standard(_ vector: (key: String, message: String, signature: String)) throws {
        let key = try #require(VerifyingKey(rawBytes: bytes(vector.key)))
        let prepared = try #require(PreparedKey(key))
        let (message, signature) = (bytes(vector.message), bytes(vector.signature))
        #expect(prepared.isCertain(signature, for: message))
        for bit in 0..<512 {
            var bad = signature
            bad[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(!prepared.isCertain(bad, for: message))
        }
        #expect(!prepared.isCertain(signature, for: message + [0]))
        #expect(!prepared.isCertain(Array(signature.dropLast()), for: message))
        #expect(!prepared.isCertain(signature + [0], for: message))
        #expect(!prepared.isCertain([], for: message))
    }

    @Test("Of many keys and messages it says what OpenSSL says")
    func agrees() throws {
        for round in 0..<12 {
            let key = SigningKey.generate()
            let prepared = try #require(PreparedKey(key.publicKey))
            for length in 0..<10 {
                let message = (0..<length * 13).map { UInt8(truncatingIfNeeded: $0 * 7 + round) }
                let signature = key.sign(message)
                #expect(prepared.isCertain(signature, for: message))
                var bad = signature
                bad[(round * 10 + length) % 64] ^= UInt8(1 + (round + length) % 255)
                #expect(!prepared.isCertain(bad, for: message))
                #expect(!key.publicKey.isValid(signature: bad, for: message))
            }
        }
    }

    @Test("A signature is not accepted a second time as another one: S is below the group's order")
    func malleability() throws {
        let key = SigningKey.generate()
        let prepared = try #require(PreparedKey(key.publicKey))
        for number in 0..<20 {
            let message = [UInt8(number)]
            let signature = key.sign(message)
            // S + L verifies the same equation.
            var (sum, carry) = (signature, 0)
            let order = [GroupOrder.words.0, GroupOrder.words.1, GroupOrder.words.2, GroupOrder.words.3]
            for index in 0..<32 {
                let total = Int(sum[32 + index]) + Int(order[index / 8] >> UInt64(index % 8 * 8) & 255) + carry
                (sum[32 + index], carry) = (UInt8(total & 255), total >> 8)
            }
            #expect(prepared.isCertain(signature, for: message))
            #expect(!prepared.isCertain(sum, for: message))
            #expect(!key.publicKey.isValid(signature: sum, for: message))
        }
    }

    @Test("Keys that are no point, or not encoded as they should be, are left to OpenSSL")
    func oddKeys() throws {
        // 2^255 − 19 + 1 is 1 in another encoding; 2 is no y of a point; of y = 1 and y = −1 there is no odd x.
        let again: [UInt8] = [0xee] + [UInt8](repeating: 0xff, count: 30) + [0x7f]
        let none: [UInt8] = [2] + [UInt8](repeating: 0, count: 31)
        let oddZero: [UInt8] = [1] + [UInt8](repeating: 0, count: 30) + [0x80]
        let oddMinusOne: [UInt8] = [0xec] + [UInt8](repeating: 0xff, count: 31)
        for raw in [again, none, oddZero, oddMinusOne, [UInt8](repeating: 0xff, count: 32)] {
            #expect(PreparedKey(try #require(VerifyingKey(rawBytes: raw))) == nil)
        }
    }

    @Test("Multiples of the generator: none and the group's order are zero, one is the generator itself")
    func multiples() {
        let base = PointTable(.base)
        let nothing: Words = (0, 0, 0, 0)
        #expect(PointTable.sum(nothing, base, nothing, base).encoded == (1, 0, 0, 0))
        #expect(PointTable.sum(GroupOrder.words, base, nothing, base).encoded == (1, 0, 0, 0))
        #expect(PointTable.sum((1, 0, 0, 0), base, nothing, base).encoded == EdwardsPoint.base.encoded)
        // (L − 1) · B is −B, and doubling is adding.
        let last: Words = (GroupOrder.words.0 - 1, GroupOrder.words.1, 0, GroupOrder.words.3)
        #expect(PointTable.sum(last, base, nothing, base).encoded == (-EdwardsPoint.base).encoded)
        #expect(PointTable.sum(last, base, (1, 0, 0, 0), base).encoded == (1, 0, 0, 0))
        var doubled = EdwardsPoint.base
        for power in 1..<200 {
            doubled = doubled.doubled
            var number = [UInt64](repeating: 0, count: 4)
            number[power / 64] = 1 << UInt64(power % 64)
            let words = (number[0], number[1], number[2], number[3])
            #expect(PointTable.sum(words, base, nothing, base).encoded == doubled.encoded)
            #expect(PointTable.sum(nothing, base, words, base).encoded == doubled.encoded)
        }
    }

    @Test("Digits from −8 to 8 stand for the number they were made of")
    func digits() {
        var random = SystemRandomNumberGenerator()
        let numbers: [Words] = [
            (0, 0, 0, 0), (.max, .max, .max, 1 << 61 - 1), (0x8888_8888_8888_8888, 0x7777_7777_7777_7777, 8, 0),
            GroupOrder.words,
        ]
        let more = (0..<200).map { _ -> Words in
            (random.next(), random.next(), random.next(), random.next() >> 3)
        }
        for number in numbers + more {
            let digits = PointTable.digits(number)
            #expect(digits.count == 64 && digits.allSatisfy { (-8...8).contains($0) })
            // Put together from the highest digit on, modulo 2^256.
            var value: Words = (0, 0, 0, 0)
            for digit in digits.reversed() {
                value = (
                    value.0 << 4, value.1 << 4 | value.0 >> 60, value.2 << 4 | value.1 >> 60,
                    value.3 << 4 | value.2 >> 60
                )
                value = added(value, digit)
            }
            #expect(value == number)
        }
    }

    private func added(_ number: Words, _ digit: Int8) -> Words {
        let high = UInt64(bitPattern: digit < 0 ? -1 : 0)
        var (words, carry) = ([number.0, number.1, number.2, number.3], UInt64(0))
        for index in 0..<4 {
            let term = index == 0 ? UInt64(bitPattern: Int64(digit)) : high
            let (sum, one) = words[index].addingReportingOverflow(term)
            let (total, two) = sum.addingReportingOverflow(carry)
            (words[index], carry) = (total, one || two ? 1 : 0)
        }
        return (words[0], words[1], words[2], words[3])
    }

    @Test("What is left of a number after division by the group's order")
    func remainders() {
        let order = [GroupOrder.words.0, GroupOrder.words.1, GroupOrder.words.2, GroupOrder.words.3]
        let bytes = order.flatMap { word in (0..<8).map { UInt8(word >> UInt64($0 * 8) & 255) } }
        let zeros = [UInt8](repeating: 0, count: 32)
        #expect(GroupOrder.remainder(of: bytes + zeros) == (0, 0, 0, 0))
        #expect(GroupOrder.remainder(of: zeros + bytes) == (0, 0, 0, 0))
        #expect(GroupOrder.remainder(of: [7] + zeros.dropFirst() + bytes) == (7, 0, 0, 0))
        #expect(GroupOrder.remainder(of: [5] + [UInt8](repeating: 0, count: 63)) == (5, 0, 0, 0))
        #expect(!GroupOrder.contains(GroupOrder.words) && GroupOrder.contains((.max, .max, .max, 0)))
        #expect(!GroupOrder.contains((.max, .max, .max, .max)) && GroupOrder.contains((0, 0, 0, 0)))
    }
}
