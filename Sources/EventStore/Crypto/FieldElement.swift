/// A number modulo p = 2^255 − 19 (RFC 8032 §5.1), in five limbs of 51 bits. Not in constant time: it is for what is public.
///
/// Limbs may be larger than 51 bits between two multiplications. What a multiplication gives is below 2^51 + 2^14; a sum of two
/// such is below 2^52 + 2^15, a difference below 2^54 + 2^53, and those products' sums stay far below 2^128.
struct FieldElement {
    private var limbs: (UInt64, UInt64, UInt64, UInt64, UInt64)

    private static let mask: UInt64 = 1 << 51 - 1

    private init(_ limbs: (UInt64, UInt64, UInt64, UInt64, UInt64)) { self.limbs = limbs }

    /// A number below 2^51.
    init(_ small: UInt64) { limbs = (small, 0, 0, 0, 0) }

    /// The number in 32 bytes, the lowest first, without the highest bit; `nil` if it is p or more.
    init?(canonical bytes: ArraySlice<UInt8>) {
        let (a, b, c, d) = littleEndianWords(bytes)
        limbs = (
            a & Self.mask, (a >> 51 | b << 13) & Self.mask, (b >> 38 | c << 26) & Self.mask,
            (c >> 25 | d << 39) & Self.mask, d >> 12 & Self.mask
        )
        guard words == (a, b, c, d & (1 << 63 - 1)) else { return nil }
    }

    /// The number, from 0 to p − 1.
    var words: Words {
        var reduced = self
        for _ in 0..<2 { reduced.carry() }
        // Whether it is p or more: then 19 more go beyond 2^255.
        let (a, b, c, d, e) = reduced.limbs
        var over = (a + 19) >> 51
        over = (b + over) >> 51
        over = (c + over) >> 51
        over = (d + over) >> 51
        over = (e + over) >> 51
        reduced.limbs.0 += 19 * over
        reduced.carry(folding: false)
        let (f, g, h, i, j) = reduced.limbs
        return (f | g << 51, g >> 13 | h << 38, h >> 26 | i << 25, i >> 39 | j << 12)
    }

    /// Leaves 51 bits in each limb, and what is beyond 2^255 in the first as 19 times as much, or leaves it out.
    private mutating func carry(folding: Bool = true) {
        limbs.1 += limbs.0 >> 51
        limbs.2 += limbs.1 >> 51
        limbs.3 += limbs.2 >> 51
        limbs.4 += limbs.3 >> 51
        let over = folding ? limbs.4 >> 51 * 19 : 0
        limbs = (
            limbs.0 & Self.mask + over, limbs.1 & Self.mask, limbs.2 & Self.mask, limbs.3 & Self.mask,
            limbs.4 & Self.mask
        )
    }

    var isZero: Bool { words == (0, 0, 0, 0) }
    /// What RFC 8032 calls the sign of a coordinate.
    var isOdd: Bool { words.0 & 1 == 1 }

    @inline(__always)
    static func + (_ a: FieldElement, _ b: FieldElement) -> FieldElement {
        FieldElement(
            (
                a.limbs.0 &+ b.limbs.0, a.limbs.1 &+ b.limbs.1, a.limbs.2 &+ b.limbs.2, a.limbs.3 &+ b.limbs.3,
                a.limbs.4 &+ b.limbs.4
            ))
    }

    /// 8 p more, so that no limb goes below zero; `b` is a product or a sum of two.
    @inline(__always)
    static func - (_ a: FieldElement, _ b: FieldElement) -> FieldElement {
        let (first, other): (UInt64, UInt64) = (1 << 54 - 152, 1 << 54 - 8)
        return FieldElement(
            (
                a.limbs.0 &+ first &- b.limbs.0, a.limbs.1 &+ other &- b.limbs.1, a.limbs.2 &+ other &- b.limbs.2,
                a.limbs.3 &+ other &- b.limbs.3, a.limbs.4 &+ other &- b.limbs.4
            ))
    }

    /// The same number with small limbs.
    var reduced: FieldElement { self * FieldElement(1) }

    static prefix func - (_ a: FieldElement) -> FieldElement { (FieldElement(0) - a.reduced).reduced }

    @inline(__always)
    static func * (_ a: FieldElement, _ b: FieldElement) -> FieldElement {
        let (a0, a1, a2, a3, a4) = a.limbs
        let (b0, b1, b2, b3, b4) = b.limbs
        // What is beyond 2^255 counts 19 times.
        let (c1, c2, c3, c4) = (b1 &* 19, b2 &* 19, b3 &* 19, b4 &* 19)
        return reduce(
            wide(a0, b0) &+ wide(a1, c4) &+ wide(a2, c3) &+ wide(a3, c2) &+ wide(a4, c1),
            wide(a0, b1) &+ wide(a1, b0) &+ wide(a2, c4) &+ wide(a3, c3) &+ wide(a4, c2),
            wide(a0, b2) &+ wide(a1, b1) &+ wide(a2, b0) &+ wide(a3, c4) &+ wide(a4, c3),
            wide(a0, b3) &+ wide(a1, b2) &+ wide(a2, b1) &+ wide(a3, b0) &+ wide(a4, c4),
            wide(a0, b4) &+ wide(a1, b3) &+ wide(a2, b2) &+ wide(a3, b1) &+ wide(a4, b0))
    }

    @inline(__always)
    var squared: FieldElement { self * self }

    @inline(__always)
    private static func wide(_ a: UInt64, _ b: UInt64) -> UInt128 { UInt128(a) &* UInt128(b) }

    @inline(__always)
    private static func reduce(
        _ a: UInt128, _ b: UInt128, _ c: UInt128, _ d: UInt128, _ e: UInt128
    ) -> FieldElement {
        let f = b &+ a >> 51
        let g = c &+ f >> 51
        let h = d &+ g >> 51
        let i = e &+ h >> 51
        let first = UInt128(UInt64(truncatingIfNeeded: a) & mask) &+ (i >> 51) &* 19
        return FieldElement(
            (
                UInt64(truncatingIfNeeded: first) & mask,
                UInt64(truncatingIfNeeded: f) & mask &+ UInt64(truncatingIfNeeded: first >> 51),
                UInt64(truncatingIfNeeded: g) & mask, UInt64(truncatingIfNeeded: h) & mask,
                UInt64(truncatingIfNeeded: i) & mask
            ))
    }

    private func squared(_ times: Int) -> FieldElement {
        var result = self
        for _ in 0..<times { result = result.squared }
        return result
    }

    /// To the power of 2^250 − 1.
    private var power250: FieldElement {
        let two = squared * self
        let four = two.squared(2) * two
        let five = four.squared * self
        let ten = five.squared(5) * five
        let twenty = ten.squared(10) * ten
        let forty = twenty.squared(20) * twenty
        let fifty = forty.squared(10) * ten
        let hundred = fifty.squared(50) * fifty
        return (hundred.squared(100) * hundred).squared(50) * fifty
    }

    /// To the power of p − 2 = 2^255 − 21 (Fermat).
    var inverse: FieldElement { power250.squared(5) * (squared(3) * squared * self) }

    /// To the power of (p − 5) / 8 = 2^252 − 3 (RFC 8032 §5.1.3).
    var rootPower: FieldElement { power250.squared(2) * self }
}

/// A number of 256 bits, the lowest word first.
typealias Words = (UInt64, UInt64, UInt64, UInt64)

/// The number in 32 bytes, the lowest first.
func littleEndianWords(_ bytes: ArraySlice<UInt8>) -> Words {
    func word(_ index: Int) -> UInt64 {
        bytes.dropFirst(index * 8).prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
    return (word(0), word(1), word(2), word(3))
}
