internal import EventStore

/// Which origins of the receiver's log the sender takes events of, from this connection; changes what it said before. At
/// first it takes none.
package struct Want: Hashable, Sendable {
    /// From now on these, by the receiver's numbers: everything of them that the sender lacks.
    package var take: [ClosedRange<UInt32>]
    /// No longer these. Said after `take`.
    package var leave: [ClosedRange<UInt32>]
}

extension Want {
    /// A change by numbers in any order; runs of them become ranges.
    package init(take: some Sequence<UInt32>, leave: some Sequence<UInt32>) {
        self.init(take: Self.ranges(take), leave: Self.ranges(leave))
    }

    private static func ranges(_ numbers: some Sequence<UInt32>) -> [ClosedRange<UInt32>] {
        var ranges: [ClosedRange<UInt32>] = []
        for number in numbers.sorted() {
            if let last = ranges.last, number <= last.upperBound &+ 1, number >= last.lowerBound {
                ranges[ranges.count - 1] = last.lowerBound...max(number, last.upperBound)
            } else {
                ranges.append(number...number)
            }
        }
        return ranges
    }

    func write(to writer: inout ProtobufWriter) {
        Self.write(take, 1, to: &writer)
        Self.write(leave, 2, to: &writer)
    }

    private static func write(_ ranges: [ClosedRange<UInt32>], _ field: UInt64, to writer: inout ProtobufWriter) {
        for range in ranges {
            writer.message(field) { inner in
                inner.uint(1, UInt64(range.lowerBound))
                inner.uint(2, UInt64(range.upperBound - range.lowerBound))
            }
        }
    }

    init(_ message: consuming MessageReader) throws(WireError) {
        self.init(take: [ClosedRange<UInt32>](), leave: [ClosedRange<UInt32>]())
        while let field = try message.next() {
            switch field.number {
            case 1: take.append(try Self.range(message.nested("NumberRange", field), take.count))
            case 2: leave.append(try Self.range(message.nested("NumberRange", field), leave.count))
            default: break
            }
        }
        for ranges in [take, leave]
        where zip(ranges, ranges.dropFirst()).contains(where: { $0.upperBound >= $1.lowerBound }) {
            throw message.invalid("ranges do not ascend")
        }
    }

    private static func range(
        _ message: consuming MessageReader, _ count: Int
    ) throws(WireError) -> ClosedRange<UInt32> {
        guard count < WireLimits.entries else {
            throw .tooMany(message: "Want", field: "ranges", limit: WireLimits.entries)
        }
        var first = UInt32(0), more = UInt32(0)
        while let field = try message.next() {
            switch field.number {
            case 1: first = try message.uint32(field)
            case 2: more = try message.uint32(field)
            default: break
            }
        }
        guard first > 0 else { throw message.missing("first") }
        let (last, isOver) = first.addingReportingOverflow(more)
        guard !isOver else { throw message.invalid("more goes beyond 32 bits") }
        return first...last
    }
}
