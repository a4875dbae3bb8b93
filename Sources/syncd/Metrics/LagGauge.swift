internal import EventStore
internal import SyncEngine

/// What each peer lacks, in events, bytes and age.
///
/// ## Concurrency model
/// One lock around the meter, which reads the log.
final class LagGauge: Sendable {
    private let files: StoreFiles
    private let meter = Lock<LagMeter?>(nil)

    init(_ files: StoreFiles) { self.files = files }

    /// The lag of every peer, by node. Of a peer that has not said anything yet it is everything.
    func lags(
        _ mine: VersionVector, _ peers: [PeerStanding]
    ) throws(StoreError) -> [NodeID: PeerLag] {
        try meter.withLock { meter throws(StoreError) in
            let current: LagMeter
            if let meter {
                current = meter
            } else {
                current = try LagMeter(files)
                meter = current
            }
            var lags: [NodeID: PeerLag] = [:]
            for peer in peers {
                lags[peer.peer.node] = try current.lag(of: mine, at: peer.durable ?? VersionVector())
            }
            return lags
        }
    }
}
