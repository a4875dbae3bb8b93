// Arithmetic on numbers from outside: what is out of range is the nearest that is not, and nothing traps (D22).

extension FixedWidthInteger {
    /// The sum, or the nearest number to it.
    package func addingSaturated(_ other: Self) -> Self {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }

    /// The difference, or the nearest number to it.
    package func subtractingSaturated(_ other: Self) -> Self {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow ? (self < other ? .min : .max) : difference
    }
}

extension Sequence {
    /// The sum of a number of each element, or the nearest number to it.
    package func saturatedSum<Number: FixedWidthInteger>(of number: (Element) -> Number) -> Number {
        var sum = Number.zero
        for element in self { sum = sum.addingSaturated(number(element)) }
        return sum
    }
}
