internal import EventStore
internal import SyncEngine

/// Tells of events of other nodes that change what was shown here of the past: the log at once, and who looks after the node as findings.
///
/// ## Concurrency model
/// One worker of its own. The writer's threads only hand it what a commit has noted.
final class ReplacementDesk: Sendable {
    private struct Told {
        var notice: NodeNotice
        var count: Int
    }

    /// Most origins that are told of as findings; the log has all.
    private static let most = 100

    private let told: Lock<[OriginID: Told]>
    private let worker: SerialWorker<Void>
    private let store: EventStore
    private let token: Int

    init(_ store: EventStore, _ reader: EventReader, _ log: Logger) {
        let told = Lock<[OriginID: Told]>([:])
        let worker = SerialWorker<Void>(name: "replaced") {}
        (self.store, self.told, self.worker) = (store, told, worker)
        token = store.observeCommits { notice in
            guard !notice.replacements.isEmpty else { return }
            worker.submit { _ in
                for replacement in notice.replacements where Self.counts(replacement, reader, log) {
                    Self.tell(replacement, told, log)
                }
            }
        }
    }

    /// What is to be looked at, one for each origin.
    var notices: [NodeNotice] { told.withLock { $0.values.map(\.notice).sorted { $0.subject < $1.subject } } }

    func stop() {
        store.removeObserver(token)
        worker.stop()
    }

    /// Whether it changes anything: of an event that may open a conversation the views know.
    private static func counts(_ replacement: Replacement, _ reader: EventReader, _ log: Logger) -> Bool {
        guard replacement.kind == .opening else { return true }
        do throws(StoreError) {
            return try reader.fresh { views throws(StoreError) in try views.opensLate(replacement.position) }
        } catch {
            log.warning("cannot tell what event \(replacement.id) opens: \(error.description)", "EVENT_REPLACED")
            return false
        }
    }

    private static func tell(_ replacement: Replacement, _ told: Lock<[OriginID: Told]>, _ log: Logger) {
        let origin = replacement.dot.origin
        let notice = told.withLock { told -> NodeNotice in
            let count = (told[origin]?.count ?? 0) + 1
            let notice = NodeNotice.replaced(replacement, count: count, at: WallClock.now)
            if told[origin] != nil || told.count < most { told[origin] = Told(notice: notice, count: count) }
            return notice
        }
        log.warning(notice.text, notice.code.rawValue)
    }
}
