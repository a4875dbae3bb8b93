/// How far an erasure has come, as far as the log of one node can tell.
package struct ErasureReport: Sendable {
    /// The event, of whichever node, that is no confirmation.
    package let stored: StoredErasure
    /// The nodes that have recorded that they erase the same, and when.
    package fileprivate(set) var confirmed: [(node: NodeID, hlc: HybridTime)] = []
    /// The others that have ever written into this log. Some may be gone for good.
    package fileprivate(set) var waiting: [NodeID] = []
    /// How far this node is.
    package fileprivate(set) var standing = Standing.unconfirmed

    /// How far the files of this node are.
    package enum Standing: Hashable, Sendable {
        /// It is another node's, which this one has not confirmed.
        case unconfirmed
        /// Payloads are being taken away: the log was looked through up to a position of so many.
        case underWay(position: UInt64, of: UInt64)
        /// Nothing of it is left in the log.
        case applied
    }
}

extension LogReader {
    /// Up to which position the erasures of the log's node are applied. Where no erasure stands there, no node has written it, and none is.
    package func erasedThrough() throws(StoreError) -> UInt64 {
        guard let done = try meta(ErasureIndex.erased).flatMap({ ErasureIndex.position($0) }),
            let event = try event(at: done)?.event, ReservedType.isErasure(event.header.type)
        else { return 0 }
        return done
    }

    /// Up to which position erasures of other nodes were confirmed.
    func confirmedThrough() throws(StoreError) -> UInt64 {
        try meta(ErasureIndex.confirmed).flatMap { UInt64($0) } ?? 0
    }

    /// The last erasure that `node` has recorded; 0 if it has none.
    func lastErasure(of node: NodeID) throws(StoreError) -> UInt64 {
        try erasures().last { $0.node == node }?.position ?? 0
    }

    /// The erasures of the log, the latest first, without confirmations.
    ///
    /// - Parameter isSearched: As of ``erasures(isSearched:)``.
    package func erasureReports(isSearched: Bool = false) throws(StoreError) -> [ErasureReport] {
        let all = try erasures(isSearched: isSearched)
        guard !all.isEmpty else { return [] }
        let nodes = Set(try origins().map(\.node))
        let keeper = try keeper()
        let done = try erasedThrough()
        let progress = try meta(ErasureIndex.erasing).flatMap { ErasureIndex.Progress(text: $0) }
        func standing(_ position: UInt64) -> ErasureReport.Standing {
            if position <= done { return .applied }
            guard let progress, progress.goal >= position else { return .underWay(position: 0, of: position) }
            return .underWay(position: min(progress.cursor, progress.goal), of: progress.goal)
        }
        return all.filter { $0.erasure != nil && $0.erasure?.confirms == nil }.reversed().map { stored in
            let dot = stored.event.header.dot
            let confirmations = all.filter { $0.erasure?.confirms == dot && $0.node != stored.node }
            var report = ErasureReport(stored: stored)
            report.confirmed = confirmations.map { ($0.node, $0.event.header.hlc) }
            report.waiting = nodes.subtracting(confirmations.map(\.node) + [stored.node]).sorted()
            if stored.node == keeper {
                report.standing = standing(stored.position)
            } else if let own = confirmations.first(where: { $0.node == keeper }) {
                report.standing = standing(own.position)
            }
            return report
        }
    }
}
