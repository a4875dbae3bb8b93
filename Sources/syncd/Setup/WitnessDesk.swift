internal import EventStore
internal import Glibc
internal import SyncEngine

/// Makes this node a witness for its peers: cosigns what it has stored of their origins, tells all nodes, and keeps what they tell.
///
/// ## Concurrency model
/// One thread of its own has the ``Cosigner``. The writer's threads and the node's loop only note what there is to do. It looks at most
/// once a second, and not at all while no origin of another node grows and no peer tells anything.
final class WitnessDesk: Sendable {
    private struct State {
        /// Origins that have grown since they were looked at.
        var grown: Set<OriginID> = []
        /// What peers have told, the latest of each node.
        var heard: [NodeID: SharedState] = [:]
        var isStopping = false
    }

    /// Between two looks, milliseconds: longer where much is told, 64 KiB a second.
    private static let pause = 1_000
    /// Most nodes whose word waits until an origin of theirs is here.
    private static let mostUnknown = 256
    /// Most origins that are looked at in one go.
    private static let mostAtOnce = 256
    /// Most refusals that are told as findings; the log has all.
    private static let mostRefusals = 100

    private let state = Monitor(State())
    private let refusals = Lock<[NodeNotice]>([])
    private let thread = Lock<WorkerThread?>(nil)
    private let token: Int
    private let store: EventStore
    private let node: SyncNode

    init(_ store: EventStore, _ node: SyncNode, _ log: Logger) {
        (self.store, self.node) = (store, node)
        let (state, refusals) = (state, refusals)
        token = store.observeCommits { notice in
            let own = store.identity.origin
            let grown = notice.advancedOrigins.filter { $0 != own }
            guard !grown.isEmpty else { return }
            state.update { state in
                state.grown.formUnion(grown)
                return true
            }
        }
        node.observeShared(about: .cosignatures) { value in
            state.update { state in
                if state.heard.count < Self.mostUnknown || state.heard[value.node] != nil {
                    state.heard[value.node] = value
                }
                return true
            }
        }
        let started = WorkerThread(name: "witness") {
            // On Linux a thread's own.
            setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 10)
            Work(store, node, log, state, refusals).run()
        }
        thread.withLock { $0 = started }
    }

    /// Origins of which nothing more is cosigned, for who looks after the node.
    var notices: [NodeNotice] { refusals.withLock { $0 } }

    func stop() {
        node.observeShared(about: .cosignatures, nil)
        store.removeObserver(token)
        state.wakeAll { $0.isStopping = true }
        thread.withLock { $0 }?.join()
    }

    /// What the thread has.
    private final class Work {
        private let store: EventStore
        private let node: SyncNode
        private let log: Logger
        private let state: Monitor<State>
        private let refusals: Lock<[NodeNotice]>
        private var cosigner: Cosigner?
        /// Origins that are to be looked at, and those whose newest events no head covered at the last look.
        private var (due, later): (Set<OriginID>, Set<OriginID>) = ([], [])
        /// What nodes have told that have no origin here yet.
        private var unknown: [NodeID: SharedState] = [:]
        private var (told, number): (CosignatureList?, UInt64) = (nil, 0)
        private var refused: Set<OriginID> = []
        /// Why the last look failed.
        private var problem: String?

        init(
            _ store: EventStore, _ node: SyncNode, _ log: Logger, _ state: Monitor<State>,
            _ refusals: Lock<[NodeNotice]>
        ) {
            (self.store, self.node, self.log, self.state, self.refusals) = (store, node, log, state, refusals)
        }

        func run() {
            attempt { () throws(StoreError) in
                let own = store.identity.node
                due = Set(try LogReader(store.files).origins().filter { $0.node != own }.map(\.id))
            }
            var pause = 0
            while pause == 0 || !rests(pause), let heard = next() {
                attempt { () throws(StoreError) in try look(heard) }
                let bytes = told?.entries.count ?? 0
                pause = WitnessDesk.pause + bytes * 200 * 1_000 / (64 << 10)
            }
        }

        /// Waits for so long; true once it is to stop.
        private func rests(_ milliseconds: Int) -> Bool {
            state.wait(milliseconds: milliseconds) { $0.isStopping ? true : nil } ?? false
        }

        /// Waits until there is something to do; `nil` once it is to stop.
        private func next() -> [NodeID: SharedState]? {
            let mayWait = due.isEmpty && later.isEmpty
            let found = state.wait { state -> Waiting<State?> in
                if state.isStopping { return .done(nil) }
                guard !mayWait || !state.grown.isEmpty || !state.heard.isEmpty else { return .forever }
                defer { (state.heard, state.grown) = ([:], []) }
                return .done(state)
            }
            guard let found else { return nil }
            if due.isEmpty { (due, later) = (later, []) }
            due.formUnion(found.grown)
            return found.heard
        }

        private func attempt(_ body: () throws(StoreError) -> Void) {
            do throws(StoreError) {
                try body()
                problem = nil
            } catch {
                // It is tried again each second, and told once.
                guard problem != error.description else { return }
                problem = error.description
                log.warning("cannot witness what peers have: \(error.description)", "WITNESS")
            }
        }

        private func look(_ heard: [NodeID: SharedState]) throws(StoreError) {
            let cosigner: Cosigner
            if let made = self.cosigner {
                cosigner = made
            } else {
                cosigner = try Cosigner(store.files, key: store.key)
                self.cosigner = cosigner
            }
            let all = unknown.merging(heard) { _, new in new }
            try take(all, cosigner)
            let some = Set(due.prefix(WitnessDesk.mostAtOnce))
            later.formUnion(try cosigner.look(at: some, now: UInt64(max(WallClock.now, 0) / 1_000)))
            due.subtract(some)
            for (origin, why) in cosigner.refused where refused.insert(origin).inserted {
                let notice = NodeNotice.refused(origin, why, at: WallClock.now)
                log.error(notice.text, notice.code.rawValue)
                refusals.withLock { if $0.count < WitnessDesk.mostRefusals { $0.append(notice) } }
            }
            tell(cosigner.list)
        }

        private func take(_ heard: [NodeID: SharedState], _ cosigner: Cosigner) throws(StoreError) {
            unknown = [:]
            var passedOn: [SharedState] = []
            for (node, value) in heard {
                guard let key = try cosigner.key(of: node) else {
                    if unknown.count < WitnessDesk.mostUnknown { unknown[node] = value }
                    continue
                }
                guard value.isValid(for: key), let list = CosignatureList(value.value, of: node) else { continue }
                try cosigner.take(list, of: node)
                if node == store.identity.node { number = max(number, value.number) } else { passedOn.append(value) }
            }
            if !passedOn.isEmpty { node.share(passedOn) }
        }

        private func tell(_ list: CosignatureList) {
            guard list != told, !list.entries.isEmpty else { return }
            told = list
            number = max(number + 1, UInt64(max(WallClock.now, 0)))
            node.share([
                SharedState(
                    key: CosignatureList.key, node: store.identity.node, number: number, value: list.bytes,
                    signing: store.key)
            ])
        }
    }
}
