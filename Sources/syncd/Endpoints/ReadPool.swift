internal import EventStore
internal import SillokAPI

/// Answers queries, on threads of their own: none waits behind an append, and a heavy one holds up only one of them.
///
/// ## Concurrency model
/// Each thread has a reader of its own, kept open. Queries wait in one queue; a connection asks one at a time, so that its clients
/// take turns. What is still queued when the pool stops loses its client.
final class ReadPool: Sendable {
    typealias Query = @Sendable (Reader) -> Void

    /// What a thread of the pool reads with.
    final class Reader {
        private let reader: EventReader
        private var lines: EventLines?

        init(_ reader: EventReader) { self.reader = reader }

        /// Runs `body` on views that show all that is in the log now, with what writes their events.
        func fresh<Value>(
            _ body: (ViewReader, EventLines) throws(StoreError) -> Value
        ) throws(StoreError) -> Value {
            try reader.fresh { views throws(StoreError) in try body(views, try lines(of: views.log)) }
        }

        /// The origins of a log and their nodes are read once, and again when another one comes.
        private func lines(of log: LogReader) throws(StoreError) -> EventLines {
            if let lines, lines.isOf(log) { return lines }
            let made = try EventLines(log)
            lines = made
            return made
        }
    }

    private struct Line {
        var queries: [Query] = []
        var isStopping = false
    }

    private static let threads = 2
    /// Most queries that wait; further ones are refused.
    private static let most = 1_024

    /// For those that follow the log.
    let feed: CommitFeed
    private let waiting: Monitor<Line>
    private let threads: [WorkerThread]

    init(_ feed: CommitFeed, _ make: @escaping @Sendable () -> EventReader) {
        self.feed = feed
        let waiting = Monitor(Line())
        self.waiting = waiting
        threads = (0..<Self.threads).map { number in
            WorkerThread(name: "api-read-\(number)") {
                let reader = Reader(make())
                while let query = waiting.wait(for: Self.next) { query(reader) }
            }
        }
    }

    /// What a thread does next; nothing more when the pool stops.
    private static func next(_ waiting: inout Line) -> Waiting<Query?> {
        if waiting.isStopping { return .done(nil) }
        return waiting.queries.isEmpty ? .forever : .done(waiting.queries.removeFirst())
    }

    /// False if too many wait.
    func submit(_ query: @escaping Query) -> Bool {
        var isTaken = false
        waiting.update { waiting in
            isTaken = !waiting.isStopping && waiting.queries.count < Self.most
            if isTaken { waiting.queries.append(query) }
            return isTaken
        }
        return isTaken
    }

    func stop() {
        waiting.wakeAll { waiting in
            waiting.isStopping = true
            waiting.queries = []
        }
        for thread in threads { thread.join() }
    }
}
