extension ProjectorThread: StoreFollower {
    /// The one that follows `store`, until that is closed; made if there is none. Blocks for the writer.
    ///
    /// - Parameters: As of ``init(_:top:tails:distrusted:renewed:)``, if it is made.
    package static func following(
        _ store: EventStore, distrusted: @escaping @Sendable (String) -> Void = { _ in },
        renewed: @escaping @Sendable (String) -> Void = { _ in }
    ) throws(StoreError) -> ProjectorThread {
        try store.follower { () throws(StoreError) in
            let top = try store.standingBlocking().top
            let log = try LogReader(store.files)
            let mark = try log.viewMark()
            let made = ProjectorThread(store.files, top: top, distrusted: distrusted, renewed: renewed)
            _ = made.observe(store)
            // What was committed before it was told.
            made.logAdvanced(to: try store.standingBlocking().top)
            // An erasure may have taken away meanwhile what the views had read.
            if try log.viewMark() != mark { made.rebuild() }
            return made
        }
    }

    package func storeHasClosed() { stop() }
}
