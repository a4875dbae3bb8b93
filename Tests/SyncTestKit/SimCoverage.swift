internal import EventStore
internal import SyncEngine

/// "Sometimes" assertions: what a run really met, counted. A fault that no run reaches is not tested.
package struct SimCoverage: Sendable {
    package enum Counter: String, CaseIterable, Sendable {
        case events, appends, repeatedAppends, twins, commits, reads, readsAtOnce, frames, sessions, dialsFailed,
            refusedBatches,
            refusedFrames, diskFaults, crashes, crashesInsideCommit, duplicateEvents, forks, amnesia, largeEvents,
            unknownMessages, wholeOpenings,
            differenceOpenings, restatements, sourceChanges, dropped, quietChecks, snapshotsOffered, snapshotPieces,
            snapshotsResumed, snapshotsDropped, snapshotsRefused, appendsHeld, installsInterrupted, snapshotsOutdated,
            spoolsRefused, snapshotDiskFaults, waitsReached, waitsExpired, deliveries, acks, lateAcks,
            staleDeliveries,
            askedElsewhere, moves, takeovers, parkedEvents, retriedEvents, forgedStates, freedEvents,
            subscriptionsAtRest,
            changes, seeks, lookedAtAgain, conversationsBehind

        /// Met in a few of a thousand seeds only, unless ``SimFault/aboutSnapshots`` are always on.
        package static let rare: Set<Counter> = [.installsInterrupted, .snapshotDiskFaults]
        /// Met in a few of a thousand seeds even then: by `make sim`.
        package static let rarest: Set<Counter> = [.spoolsRefused, .snapshotsOutdated, .dropped]
        /// What can happen to deliveries.
        package static let ofDeliveries: [Counter] = [
            .deliveries, .acks, .lateAcks, .staleDeliveries, .askedElsewhere, .moves, .takeovers, .parkedEvents,
            .retriedEvents, .freedEvents, .subscriptionsAtRest, .conversationsBehind,
        ]
    }

    package private(set) var faults: [SimFault: Int] = [:]
    package private(set) var counters: [Counter: Int] = [:]
    /// How sessions ended, by the code's name.
    package private(set) var ends: [String: Int] = [:]

    package init() {}

    mutating func reached(_ fault: SimFault) { faults[fault, default: 0] += 1 }
    mutating func count(_ counter: Counter, _ by: Int = 1) { counters[counter, default: 0] += by }

    mutating func ended(_ end: SessionEnd) {
        let name =
            switch end {
            case .failed(let failure): failure.code.name
            case .refused(let code, _, _): "refused " + (SessionErrorCode(rawValue: code)?.name ?? "\(code)")
            case .linkLost: "link lost"
            }
        ends[name, default: 0] += 1
    }

    /// A caller was told why there is no session.
    mutating func refused(_ code: SessionErrorCode) { ends["not let in: " + code.name, default: 0] += 1 }

    mutating func verified(_ batch: VerifiedBatch, in frame: Frame) {
        guard case .events(let sent)? = try? Message(frame: frame) else { return }
        let known = sent.events.count - batch.count
        if known > 0 {
            count(.duplicateEvents, known)
            reached(.twoPaths)
        }
    }

    package mutating func merge(_ other: SimCoverage) {
        faults.merge(other.faults, uniquingKeysWith: +)
        counters.merge(other.counters, uniquingKeysWith: +)
        ends.merge(other.ends, uniquingKeysWith: +)
    }

    /// A table for people.
    package var text: String {
        var lines = ["faults reached:"]
        for fault in SimFault.allCases {
            lines.append("  \(fault.rawValue)\t\(fault)\t\(faults[fault] ?? 0)")
        }
        lines.append("met:")
        for counter in Counter.allCases { lines.append("  \(counter.rawValue)\t\(counters[counter] ?? 0)") }
        lines.append("sessions ended:")
        for (name, count) in ends.sorted(by: { $0.key < $1.key }) { lines.append("  \(name)\t\(count)") }
        return lines.joined(separator: "\n")
    }
}
