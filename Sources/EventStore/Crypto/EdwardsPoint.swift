/// A point of the curve −x² + y² = 1 + d x² y² of Ed25519 (RFC 8032 §5.1), in extended coordinates (Hisil, Wong, Carter and
/// Dawson, Twisted Edwards Curves Revisited, ASIACRYPT 2008). Not in constant time: it is for what is public.
struct EdwardsPoint {
    private var (x, y, z, t): (FieldElement, FieldElement, FieldElement, FieldElement)

    static let zero = EdwardsPoint(x: FieldElement(0), y: FieldElement(1))

    /// The curve's d.
    private static let d = -FieldElement(121_665) * FieldElement(121_666).inverse
    /// A square root of −1.
    private static let rootOfMinusOne = FieldElement(2).rootPower.squared * FieldElement(2)

    /// The generator: y is 4/5, x is even.
    static let base = EdwardsPoint(y: FieldElement(4) * FieldElement(5).inverse, isOdd: false) ?? zero

    private init(x: FieldElement, y: FieldElement) { (self.x, self.y, z, t) = (x, y, FieldElement(1), x * y) }

    /// The point in these 32 bytes, if they are its only encoding (RFC 8032 §5.1.3).
    init?(_ bytes: [UInt8]) {
        guard bytes.count == 32, let y = FieldElement(canonical: bytes[...]) else { return nil }
        self.init(y: y, isOdd: bytes[31] >> 7 == 1)
    }

    private init?(y: FieldElement, isOdd: Bool) {
        // x² is u / v.
        let u = y.squared - FieldElement(1)
        let v = y.squared * Self.d + FieldElement(1)
        let cube = v.squared * v
        var x = u * cube * (u * cube.squared * v).rootPower
        let found = v * x.squared
        if !(found - u.reduced).isZero {
            guard (found + u).isZero else { return nil }
            x = x * Self.rootOfMinusOne
        }
        if x.isZero, isOdd { return nil }
        self.init(x: x.isOdd == isOdd ? x : -x, y: y)
    }

    static prefix func - (_ point: EdwardsPoint) -> EdwardsPoint {
        var opposite = point
        (opposite.x, opposite.t) = (-point.x, -point.t)
        return opposite
    }

    var doubled: EdwardsPoint {
        let (a, b, c) = (x.squared, y.squared, z.squared)
        let h = a + b
        let e = h - (x + y).squared
        let g = a - b
        let f = c + c + g
        return EdwardsPoint(e, f, g, h)
    }

    /// What the last step of every addition gives.
    @inline(__always)
    private init(_ e: FieldElement, _ f: FieldElement, _ g: FieldElement, _ h: FieldElement) {
        (x, y, z, t) = (e * f, g * h, f * g, e * h)
    }

    /// A point in the form in which it is added most quickly: z is 1.
    struct Addend {
        fileprivate let (sum, difference, product): (FieldElement, FieldElement, FieldElement)

        /// Points in this form; a division is a fifth of a verification, so they share one (Montgomery's trick).
        static func of(_ points: [EdwardsPoint]) -> [Addend] {
            var products = [FieldElement(1)]
            for point in points { products.append(products[products.count - 1] * point.z) }
            var inverse = products[points.count].inverse
            var addends: [Addend] = []
            for (point, before) in zip(points, products).reversed() {
                let own = inverse * before
                inverse = inverse * point.z
                addends.append(Addend(point.x * own, point.y * own))
            }
            return addends.reversed()
        }

        private init(_ x: FieldElement, _ y: FieldElement) {
            (sum, difference, product) = (y + x, y - x, x * y * (EdwardsPoint.d + EdwardsPoint.d))
        }
    }

    /// Adds a point, or takes it away.
    @inline(__always)
    mutating func add(_ other: Addend, negated: Bool) {
        let (plus, minus) = negated ? (other.difference, other.sum) : (other.sum, other.difference)
        let a = (y - x) * minus
        let b = (y + x) * plus
        let c = t * other.product
        let d = z + z
        self = negated ? EdwardsPoint(b - a, d + c, d - c, b + a) : EdwardsPoint(b - a, d - c, d + c, b + a)
    }

    /// The 32 bytes of RFC 8032 §5.1.2, as words.
    var encoded: Words {
        let inverse = z.inverse
        var words = (y * inverse).words
        if (x * inverse).isOdd { words.3 |= 1 << 63 }
        return words
    }
}

/// Multiples of one point, with which it is multiplied almost without doubling: j · 256^i · P for i below 32 and j from 1 to 8
/// (Bernstein, Duif, Lange, Schwabe and Yang, High-speed high-security signatures, CHES 2011, §4). 30 KB.
struct PointTable {
    private let multiples: [EdwardsPoint.Addend]

    init(_ point: EdwardsPoint) {
        var points: [EdwardsPoint] = []
        var base = point
        for _ in 0..<32 {
            let addend = EdwardsPoint.Addend.of([base])[0]
            points.append(base)
            for _ in 1..<8 {
                var next = points[points.count - 1]
                next.add(addend, negated: false)
                points.append(next)
            }
            for _ in 0..<8 { base = base.doubled }
        }
        multiples = EdwardsPoint.Addend.of(points)
    }

    /// a · P + b · Q.
    static func sum(_ a: Words, _ p: PointTable, _ b: Words, _ q: PointTable) -> EdwardsPoint {
        let terms = [(digits(a), p.multiples), (digits(b), q.multiples)]
        var result = EdwardsPoint.zero
        for parity in [1, 0] {
            if parity == 0 { for _ in 0..<4 { result = result.doubled } }
            for (digits, multiples) in terms {
                for index in stride(from: parity, to: 64, by: 2) where digits[index] != 0 {
                    let place = index / 2 * 8 + Int(digits[index].magnitude) - 1
                    result.add(multiples[place], negated: digits[index] < 0)
                }
            }
        }
        return result
    }

    /// The 64 digits of a number below 2^253 to the base of 16, from −8 to 8, the lowest first.
    static func digits(_ number: Words) -> [Int8] {
        var digits: [Int8] = []
        digits.reserveCapacity(64)
        var carry: Int8 = 0
        for word in [number.0, number.1, number.2, number.3] {
            for shift in stride(from: 0, to: 64, by: 4) {
                let digit = Int8(word >> UInt64(shift) & 15) + carry
                carry = digit >= 8 ? 1 : 0
                digits.append(digit - carry * 16)
            }
        }
        return digits
    }
}
