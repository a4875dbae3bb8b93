/// Times of other services as Unix milliseconds.
enum Moments {
    /// Seconds from 1970 to 2001, where Apple's clocks begin.
    static let apple: Double = 978_307_200

    /// Seconds with a fraction. Digits finer than a microsecond are noise of the conversion and rounded away; the rest is cut.
    static func milliseconds(seconds: Double) -> Int64? {
        guard seconds.isFinite, seconds.magnitude < 1e12 else { return nil }
        return Int64(((seconds * 1e6).rounded() / 1e3).rounded(.down))
    }

    /// `1516454398.000069`, of any number of digits, without a way through binary fractions.
    static func milliseconds(decimal text: String) -> Int64? {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard let seconds = Int64(parts[0]), seconds.magnitude < 1 << 40 else { return nil }
        guard parts.count == 2 else { return seconds * 1_000 }
        guard parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return seconds * 1_000 + (Int64((parts[1] + "000").prefix(3)) ?? 0)
    }
}
