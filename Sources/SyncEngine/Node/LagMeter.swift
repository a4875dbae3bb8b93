package import EventStore

/// Measures lag in the log itself. Sums over whole blocks of an origin are kept, so that a peer that is millions of events
/// behind is not counted through each time; what erasure takes away later is not subtracted from them.
package final class LagMeter {
    private static let block: UInt64 = 4_096
    private let log: LogReader
    private var blocks: [OriginID: [UInt64: UInt64]] = [:]

    package init(_ files: StoreFiles) throws(StoreError) { log = try LogReader(files) }

    /// What `durable` lacks of `mine`.
    package func lag(of mine: VersionVector, at durable: VersionVector) throws(StoreError) -> PeerLag {
        var origins: [OriginLag] = []
        for last in mine.entries {
            let first = durable[last.origin]
            guard first < last.seq else { continue }
            origins.append(
                OriginLag(
                    origin: last.origin, events: last.seq - first, bytes: try bytes(last.origin, first, last.seq),
                    oldest: try log.recorded(Dot(origin: last.origin, seq: first + 1)) ?? 0))
        }
        return PeerLag(origins: origins.sorted { ($1.events, $0.origin) < ($0.events, $1.origin) })
    }

    private func bytes(_ origin: OriginID, _ first: UInt64, _ last: UInt64) throws(StoreError) -> UInt64 {
        var sum: UInt64 = 0
        var from = first
        while from < last {
            let end = (from / Self.block + 1) * Self.block
            let isWhole = from % Self.block == 0 && end <= last
            if isWhole, let known = blocks[origin]?[from] {
                sum += known
            } else {
                let found = try log.payloadBytes(of: origin, after: from, through: min(end, last))
                if isWhole { blocks[origin, default: [:]][from] = found }
                sum += found
            }
            from = min(end, last)
        }
        return sum
    }
}
