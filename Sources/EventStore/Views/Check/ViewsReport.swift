/// A row of a view that is not what the log says.
package struct ViewDifference: Hashable, Sendable {
    /// The view, or `database` for what no view has.
    package let view: String
    /// Which row, in words that hold on every node where there are any: `user kim, field name`.
    package let row: String
    /// Which part of the row; `nil` if one of the two has no such row.
    package let field: String?
    /// What stands in the views; `nil`: no such row.
    package let found: String?
    /// What the log says; `nil`: no such row.
    package let expected: String?
    /// The positions of events that the row is made of, or was said to be: the last of them, where they are many.
    package var events: [UInt64] = []
}

extension ViewDifference: CustomStringConvertible {
    package var description: String {
        let place = "\(view): \(row)"
        switch (field, found, expected) {
        case (let field?, let found, let expected):
            return "\(place): \(field) is \(found ?? "missing"), the log says \(expected ?? "there is none")"
        case (nil, nil, _): return "\(place): missing"
        case (nil, let found?, nil): return "\(place): \(found.isEmpty ? "the log has no such row" : found)"
        case (nil, let found?, let expected?): return "\(place): is \(found), the log says \(expected)"
        }
    }
}

/// What comparing views with the log has found.
package struct ViewsReport: Sendable {
    /// Differences that are kept.
    package static let capacity = 100

    /// The position that the views had applied.
    package internal(set) var position = UInt64(0)
    /// How many rows were compared.
    package internal(set) var rows = UInt64(0)
    /// The first differences.
    package private(set) var differences: [ViewDifference] = []
    /// How many there are.
    package private(set) var count = UInt64(0)

    package var isIntact: Bool { count == 0 }

    /// Whether the next difference is kept.
    var hasRoom: Bool { differences.count < Self.capacity }

    mutating func add(_ difference: ViewDifference) {
        count += 1
        if differences.count < Self.capacity { differences.append(difference) }
    }
}
