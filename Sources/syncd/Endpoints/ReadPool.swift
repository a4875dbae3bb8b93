internal import Access
internal import EventStore
internal import SillokAPI
internal import SyncEngine

/// Answers queries, on threads of their own: none waits behind an append, and a heavy one holds up only one of them, for as long as its
/// ``AnswerTerm`` lets it.
///
/// ## Concurrency model
/// Each thread has a reader of its own, kept open. Queries wait in one queue, in which those who ask take turns; a connection asks one at
/// a time. What is still queued when the pool stops loses its client.
final class ReadPool: Sendable {
    typealias Query = @Sendable (Reader) -> Void

    /// What a thread of the pool reads with.
    final class Reader {
        private let reader: EventReader
        private var lines: EventLines?
        /// Of the query that is being answered.
        fileprivate(set) var term = AnswerTerm()
        fileprivate var isLate = false

        init(_ reader: EventReader) { self.reader = reader }

        /// Runs `body` on views that show all that is in the log now, with what writes their events.
        ///
        /// - Parameter isIndexed: As of ``EventReader/fresh(_:isIndexed:_:)``.
        func fresh<Value>(
            isIndexed: Bool = false, _ body: (ViewReader, EventLines) throws(StoreError) -> Value
        ) throws(StoreError) -> Value {
            if isLate { throw .busy("too many queries are waiting") }
            return try reader.fresh(term, isIndexed: isIndexed) { views throws(StoreError) in
                try body(views, try lines(of: views.log))
            }
        }

        /// The origins of a log and their nodes are read once, and again when another one comes.
        private func lines(of log: LogReader) throws(StoreError) -> EventLines {
            if let lines, lines.isOf(log) { return lines }
            let made = try EventLines(log)
            lines = made
            return made
        }
    }

    /// What has come of queries since the start.
    struct Figures {
        /// How many wait now.
        var waiting = 0
        /// Pages that ended before they were full, by why.
        var cut: [PageCut: UInt64] = [:]
        /// Queries whose clients left before they were answered.
        var left: UInt64 = 0
        /// Queries that were given up because they took too long.
        var overdue: UInt64 = 0
        /// Queries that had waited for too long when their turn came.
        var late: UInt64 = 0
    }

    private struct Waiter {
        let exchange: HTTPExchange
        let caller: Caller
        let query: Query
        let term: AnswerTerm
        let since: UInt64
    }

    private struct Line {
        /// By who asks.
        var queries = TurnQueue<String, Waiter>()
        var isStopping = false
    }

    private static let threads = 2
    /// Most queries that wait; further ones are refused, of those first who have most.
    private static let most = 1_024
    /// So long a query waits for its turn, nanoseconds: then its client has better things to do.
    private static let patience: UInt64 = 10_000_000_000

    let store: EventStore
    /// For those that follow the log.
    let feed: CommitFeed
    private let waiting: Monitor<Line>
    private let counts = Lock(Figures())
    private let threads: [WorkerThread]

    /// - Parameter stands: Whether who was let in when the query came would be let in still: it may have waited for an event.
    init(
        _ store: EventStore, _ feed: CommitFeed, stands: @escaping @Sendable (Caller) -> Bool,
        _ make: @escaping @Sendable () -> EventReader
    ) {
        (self.store, self.feed) = (store, feed)
        let (waiting, counts) = (Monitor(Line()), counts)
        self.waiting = waiting
        threads = (0..<Self.threads).map { number in
            WorkerThread(name: "api-read-\(number)") {
                let reader = Reader(make())
                while let next = waiting.wait(for: Self.next) { Self.answer(next, reader, counts, stands) }
            }
        }
    }

    private static func answer(
        _ next: Waiter, _ reader: Reader, _ counts: Lock<Figures>, _ stands: (Caller) -> Bool
    ) {
        next.term.begin()
        if !next.term.isCancelled {
            guard stands(next.caller) else { return next.exchange.refuse(.unauthenticated, Authenticator.noLonger) }
            reader.term = next.term
            reader.isLate = MonotonicClock.now - next.since > patience
            next.query(reader)
        }
        let (isLeft, isOver, isLate) = (next.term.isCancelled, next.term.isOver, reader.isLate)
        guard isLeft || isOver || isLate else { return }
        counts.withLock { counts in
            if isLeft { counts.left += 1 } else if isLate { counts.late += 1 } else { counts.overdue += 1 }
        }
    }

    var figures: Figures {
        var figures = counts.withLock { $0 }
        figures.waiting = waiting.withLock { $0.queries.count }
        return figures
    }

    /// A page has ended early.
    func note(_ cut: PageCut) { counts.withLock { $0.cut[cut, default: 0] += 1 } }

    /// What a thread does next; nothing more when the pool stops.
    private static func next(_ waiting: inout Line) -> Waiting<Waiter?> {
        if waiting.isStopping { return .done(nil) }
        return waiting.queries.popFirst().map { .done($0) } ?? .forever
    }

    /// Takes a query on, or refuses it.
    func submit(_ term: AnswerTerm, _ admitted: AdmittedRequest, _ query: @escaping Query) {
        let waiter = Waiter(
            exchange: admitted.exchange, caller: admitted.caller, query: query, term: term, since: MonotonicClock.now)
        let owner = admitted.caller.actor.principal
        var refused: Waiter?
        waiting.update { waiting in
            if waiting.isStopping {
                refused = waiter
            } else if waiting.queries.count >= Self.most {
                refused = waiting.queries.popLast(ofMoreThan: owner) ?? waiter
            }
            let isTaken = refused?.exchange !== waiter.exchange
            if isTaken { waiting.queries.append(waiter, of: owner) }
            return isTaken
        }
        refused?.exchange.refuse(.busy, "too many queries are waiting")
    }

    func stop() {
        waiting.wakeAll { waiting in
            waiting.isStopping = true
            waiting.queries.removeAll()
        }
        for thread in threads { thread.join() }
    }
}
