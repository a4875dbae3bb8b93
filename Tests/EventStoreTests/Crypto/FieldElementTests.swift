import Testing

@testable import EventStore

struct FieldElementTests {
    /// p = 2^255 − 19.
    private let p: Words = (.max - 18, .max, .max, .max >> 1)

    private func bytes(_ words: Words) -> [UInt8] {
        [words.0, words.1, words.2, words.3].flatMap { word in (0..<8).map { UInt8(word >> UInt64($0 * 8) & 255) } }
    }

    private func element(_ words: Words) throws -> FieldElement {
        try #require(FieldElement(canonical: bytes(words)[...]))
    }

    /// The product by adding and doubling, modulo p, without limbs.
    private func product(_ a: Words, _ b: Words) -> Words {
        var result: Words = (0, 0, 0, 0)
        for bit in (0..<255).reversed() {
            result = sum(result, result)
            let word = [b.0, b.1, b.2, b.3][bit / 64]
            if word >> UInt64(bit % 64) & 1 == 1 { result = sum(result, a) }
        }
        return result
    }

    private func sum(_ a: Words, _ b: Words) -> Words {
        var (out, carry) = ([UInt64](), UInt64(0))
        for (x, y) in zip([a.0, a.1, a.2, a.3], [b.0, b.1, b.2, b.3]) {
            let total = UInt128(x) + UInt128(y) + UInt128(carry)
            out.append(UInt64(truncatingIfNeeded: total))
            carry = UInt64(total >> 64)
        }
        return less(p, (out[0], out[1], out[2], out[3]))
    }

    /// `number` without `other`, unless it is smaller.
    private func less(_ other: Words, _ number: Words) -> Words {
        var (out, borrow) = ([UInt64](), Int128(0))
        for (x, y) in zip([number.0, number.1, number.2, number.3], [other.0, other.1, other.2, other.3]) {
            let rest = Int128(x) - Int128(y) + borrow
            out.append(UInt64(truncatingIfNeeded: rest))
            borrow = rest < 0 ? -1 : 0
        }
        return borrow < 0 ? number : (out[0], out[1], out[2], out[3])
    }

    private var numbers: [Words] {
        var random = SystemRandomNumberGenerator()
        let edges: [Words] = [
            (0, 0, 0, 0), (1, 0, 0, 0), (19, 0, 0, 0), (p.0 - 1, p.1, p.2, p.3), (p.0 - 2, p.1, p.2, p.3),
            (1 << 51 - 1, 0, 0, 0), (1 << 51, 0, 0, 0), (.max, .max, .max, .max >> 2), (0, 0, 0, 1 << 62),
            (0x0007_ffff_ffff_ffff, 0xffff_ffff_ffff_fff8, 0, 0),
        ]
        let others = (0..<20).map { _ -> Words in
            less(p, (random.next(), random.next(), random.next(), random.next() >> 1))
        }
        return edges + others
    }

    @Test("Sums, differences and products are those of numbers modulo p, also at the edges of the limbs")
    func arithmetic() throws {
        for a in numbers {
            let x = try element(a)
            #expect(x.words == a && x.isOdd == (a.0 & 1 == 1) && x.isZero == (a == (0, 0, 0, 0)))
            #expect((-x + x).isZero)
            for b in numbers {
                let y = try element(b)
                #expect((x + y).words == sum(a, b))
                #expect((x - y + y).words == a)
                #expect((x * y).words == product(a, b))
                // The largest limbs that are allowed.
                let large = (x - y) * (x - y + (x + x))
                #expect((large + (x - y).reduced * y).words == ((x - y).reduced * ((x + x + x).reduced)).words)
            }
        }
    }

    @Test("What is divided by itself is one; the square of a square's root is the square")
    func powers() throws {
        for a in numbers where a != (0, 0, 0, 0) {
            let x = try element(a)
            #expect((x * x.inverse).words == (1, 0, 0, 0))
            // (x^((p − 5) / 8))⁸ · x³ is x^(p − 2), the inverse.
            let power = x.rootPower.squared.squared.squared
            #expect((power * x * x.squared).words == x.inverse.words)
        }
    }

    @Test("A number of p or more is not taken, and the highest bit is not part of it")
    func canonical() throws {
        for words in [p, (p.0 + 1, p.1, p.2, p.3), (.max, .max, .max, .max >> 1)] {
            #expect(FieldElement(canonical: bytes(words)[...]) == nil)
        }
        #expect(try element((5, 0, 0, 1 << 63)).words == (5, 0, 0, 0))
    }
}
