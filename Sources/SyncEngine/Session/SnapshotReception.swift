package import EventStore

/// What was offered and how much of its proof has come: the rules by which a snapshot is taken, apart from threads and files.
package struct SnapshotReception: Sendable {
    package let offer: SnapshotOffer
    private var coverage: [Coverage] = []

    /// Takes up `offer`, of which the rows up to `last` are here.
    package init(_ offer: SnapshotOffer, resuming last: UInt64) throws(SnapshotError) {
        guard last <= offer.through else {
            throw .stale("it ends at \(offer.through), the sender's rows up to \(last) are here already")
        }
        self.offer = offer
    }

    /// Whether `offer` is one of `sender`'s, for a node of `cluster`.
    package static func check(
        _ offer: SnapshotOffer, of sender: SnapshotSender, cluster: String
    ) throws(SnapshotError) {
        guard sender.cluster == cluster else { throw .foreign("it is of cluster '\(sender.cluster)'") }
        let plan = SnapshotPlan(offer)
        guard offer.id == plan.id(node: sender.node, incarnation: sender.incarnation), offer.events == plan.events,
            offer.events == offer.through
        else { throw .foreign("its name is not that of what node \(sender.node.short) offers") }
    }

    /// The rows in a frame.
    package static func rows(in frame: Frame) throws(SnapshotError) -> SnapshotRows {
        do throws(WireError) {
            guard case .snapshotRows(let rows) = try Message(frame: frame) else {
                throw .malformed(message: "SnapshotRows", reason: "it is another message")
            }
            return rows
        } catch {
            throw .malformed(error.description)
        }
    }

    /// Rows up to `last` are right and in their place.
    package func placed(through last: UInt64) throws(SnapshotError) {
        guard last <= offer.through else { throw .foreign("it has more rows than were offered") }
    }

    /// Takes a part of the proof. Returns all of it with the last part.
    package mutating func take(proof frame: Frame) throws(SnapshotError) -> [Coverage]? {
        let end: SnapshotEnd
        do throws(WireError) {
            guard case .snapshotEnd(let found) = try Message(frame: frame) else {
                throw .malformed(message: "SnapshotEnd", reason: "it is another message")
            }
            end = found
        } catch {
            throw .malformed(error.description)
        }
        coverage += end.coverage
        guard coverage.count <= offer.entries.count else { throw .malformed("more proofs than origins") }
        return end.hasMore ? nil : coverage
    }
}

extension SnapshotPlan {
    package init(_ offer: SnapshotOffer) {
        self.init(
            through: offer.through,
            progress: offer.entries.map { OriginProgress(origin: $0.origin, seq: $0.seq, rootPrefix: $0.root) })
    }
}

extension SnapshotOffer {
    /// The offer of a plan by a node.
    package init(_ plan: SnapshotPlan, of node: NodeID, incarnation: UInt64, bytes: UInt64) {
        self.init(
            id: plan.id(node: node, incarnation: incarnation), through: plan.through, events: plan.events,
            bytes: bytes, entries: plan.progress.map(VectorEntry.init))
    }
}

extension SnapshotEnd {
    /// The proof of a snapshot, in frames that a peer takes.
    package static func frames(_ coverage: [Coverage], for request: SnapshotRead) -> [Frame] {
        let most = max(1, min(WireLimits.events, request.bytes / Coverage.maximumBytes(.max)))
        var frames: [Frame] = []
        var start = 0
        repeat {
            let end = min(start + most, coverage.count)
            let part = SnapshotEnd(coverage: Array(coverage[start..<end]), hasMore: end < coverage.count)
            frames.append(Message.snapshotEnd(part).frame(compress: request.compress))
            start = end
        } while start < coverage.count
        return frames
    }
}

extension SessionFailure {
    /// A refusal that names its reason.
    package init(_ error: SnapshotError) {
        let text = "\(error.code): \(error)"
        let code: SessionErrorCode =
            switch error {
            case .event(let event): SessionFailure(event).code
            case .malformed: .badFrame
            case .stale, .foreign: .snapshot
            case .notEmpty, .busy: .busy
            case .noSpace, .store(.diskFull): .storeFull
            case .store: .storeError
            }
        self.init(code, text)
    }
}
