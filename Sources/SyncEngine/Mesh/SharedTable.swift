package import EventStore

/// What nodes tell all others: of each key and node the last value. A pure value.
package struct SharedTable: Sendable {
    /// Most values, and their bytes (INV-9). Further ones are not kept.
    private static let most = (values: 4_096, bytes: 16 << 20)

    private struct Name: Hashable {
        let key: UUIDBits
        let node: NodeID
    }

    private var values: [Name: (value: SharedState, revision: UInt64)] = [:]
    private var bytes = 0
    /// Grows with each value that is put in.
    package private(set) var revision: UInt64 = 0

    package init() {}

    /// Puts in a value that was checked. False if there is a later one, or no room.
    @discardableResult
    package mutating func put(_ value: SharedState) -> Bool {
        let name = Name(key: value.key, node: value.node)
        let known = values[name]?.value
        if let known, known.number >= value.number { return false }
        let sum = bytes + value.value.count - (known?.value.count ?? 0)
        guard sum <= Self.most.bytes, known != nil || values.count < Self.most.values else { return false }
        revision += 1
        values[name] = (value, revision)
        bytes = sum
        return true
    }

    /// Whether `value` may say what the node `own` does not know: it is later than what is known; or `own` has told it before it lost its
    /// memory, and may have begun to tell less since.
    package func isNews(_ value: SharedState, to own: NodeID) -> Bool {
        let known = values[Name(key: value.key, node: value.node)]?.value
        return known.map { $0.number < value.number || value.node == own && $0.number != value.number } ?? true
    }

    /// What was put in after `revision`, in that order.
    package func values(after revision: UInt64) -> [SharedState] {
        guard self.revision > revision else { return [] }
        return values.values.filter { $0.revision > revision }.sorted { $0.revision < $1.revision }.map(\.value)
    }
}
