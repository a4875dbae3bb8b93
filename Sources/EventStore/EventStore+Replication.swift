extension EventStore {
    /// Gives events that are here without a payload that of `payloads` which was hashed when they were recorded. `completion` runs
    /// once, with those it was given, when that is durable. Views are built anew.
    package func heal(
        _ payloads: [CarriedPayload], completion: @escaping @Sendable (Result<[Dot], StoreError>) -> Void
    ) { writer.submit([.heal(payloads, completion)]) }
}

extension OutgoingReader {
    /// Reads the log of an open store.
    package convenience init(_ store: EventStore) throws(StoreError) {
        self.init(try LogReader(store.files)) { store.head() }
    }
}
