/// What follows an open store, and ends with it. A store has one of each kind at most.
package protocol StoreFollower: AnyObject, Sendable {
    /// The store has stored all that it will; its files are let go of when this returns. May run twice.
    func storeHasClosed()
}

/// The followers of a store.
struct StoreFollowers: Sendable {
    /// `nil` once the store is closed.
    private let all = Lock<[any StoreFollower]?>([])

    /// The follower of this kind, made now if there is none.
    func one<Follower: StoreFollower>(_ make: () throws(StoreError) -> Follower) throws(StoreError) -> Follower {
        try all.withLock { all throws(StoreError) in
            guard let others = all else { throw .closed }
            for case let found as Follower in others { return found }
            let new = try make()
            all = others + [new]
            return new
        }
    }

    /// Ends them. There will be no others.
    func end() { for follower in all.withLock({ $0.take() }) ?? [] { follower.storeHasClosed() } }
}
