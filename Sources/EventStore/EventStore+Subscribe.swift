extension EventStore {
    /// The events after `position` in the order of the log: first what is stored, then what is committed, each once, when it is
    /// durable. Own events and received ones.
    ///
    /// ```swift
    /// for try await stored in store.subscribe(after: lastSeen) {
    ///     handle(stored.event)
    ///     lastSeen = stored.position
    /// }
    /// ```
    ///
    /// The sequence reads on when it is asked: a slow reader costs no memory but a page of at most 500 events and about 1 MiB of payloads.
    /// It ends when the task is cancelled, and after the last stored event when the store is closed.
    ///
    /// Where the log does not reach so far, or another event stands there, the sequence throws ``StoreError/lostPlace(_:)``: begin anew at 0.
    /// A store that was restored, or put back, gives positions behind its end to other events. So keep the id, too.
    ///
    /// - Parameters:
    ///   - position: 0 begins with the first event; ``StoredEvent/position`` of the last one you have dealt with goes on after it.
    ///   - id: The id of that event; `nil`: not known.
    public func subscribe(after position: UInt64 = 0, id: EventID? = nil) -> Subscription {
        let reading = try? follower { SubscriptionReading(files, writer) }
        return Subscription(place: SubscriptionPlace(position: position, id: id), reading: reading)
    }

    /// Events as they are stored: ``EventStore/subscribe(after:id:)``. Each iteration begins anew after the same position.
    public struct Subscription: AsyncSequence, Sendable {
        /// An event with its position.
        public typealias Element = StoredEvent
        /// What reading the log may throw: `E_CURSOR`, `E_CORRUPT`, `E_IO`, `E_PERMISSION`.
        public typealias Failure = StoreError

        fileprivate let place: SubscriptionPlace
        /// `nil` once the store is closed.
        fileprivate let reading: SubscriptionReading?

        /// One pass over the events.
        public struct AsyncIterator: AsyncIteratorProtocol {
            fileprivate let reading: SubscriptionReading?
            fileprivate var place: SubscriptionPlace
            /// What was read, and how much of it was given.
            private var page: [StoredEvent] = []
            private var given = 0

            fileprivate init(_ reading: SubscriptionReading?, _ place: SubscriptionPlace) {
                (self.reading, self.place) = (reading, place)
            }

            /// The next event, once there is one; `nil` at the end.
            public mutating func next(
                isolation actor: isolated (any Actor)?
            ) async throws(StoreError) -> StoredEvent? {
                if Task.isCancelled { return nil }
                if given == page.count {
                    page = try await reading?.page(after: place, isolation: actor) ?? []
                    given = 0
                }
                guard given < page.count else { return nil }
                let event = page[given]
                given += 1
                place = SubscriptionPlace(position: event.position, id: nil, isKnown: true)
                return event
            }
        }

        /// Begins a pass.
        public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(reading, place) }
    }
}

/// After which event a subscription goes on.
struct SubscriptionPlace {
    let position: UInt64
    let id: EventID?
    /// Whether the event was read here: no one has to look whether it is there.
    var isKnown = false
}

/// Reads the log for all subscriptions of a store.
///
/// ## Concurrency model
/// Pages are read on a queue of its own, one after the other. Who asks for what is not there yet waits in a list, which the thread that
/// tells of a commit hands to that queue: no thread waits. Nothing is read beyond the last position that was told to be durable.
final class SubscriptionReading: StoreFollower {
    private typealias Page = Result<[StoredEvent], StoreError>

    private struct Request {
        var place: SubscriptionPlace
        let answer: CheckedContinuation<Page, Never>
    }

    private struct State {
        /// Everything up to here is durable; `nil` until that is known.
        var durable: UInt64?
        var isClosed = false
        /// Why it cannot be known.
        var failure: StoreError?
        var lastRequest: UInt64 = 0
        /// Those that wait for events, by their numbers.
        var waiting: [UInt64: Request] = [:]
        /// Numbers of requests that were cancelled before they waited.
        var cancelled: Set<UInt64> = []

        /// Takes out those who can be answered now.
        mutating func takeReady() -> [Request] {
            let ready = waiting.filter { isClosed || failure != nil || $0.value.place.position < durable ?? 0 }
            for number in ready.keys { waiting[number] = nil }
            return Array(ready.values)
        }
    }

    private let files: StoreFiles
    private let state = Lock(State())
    private let queue = BlockingQueue(name: "sillok-subscriptions")
    /// Used on the queue alone.
    private let log = Lock<LogReader?>(nil)

    init(_ files: StoreFiles, _ writer: LogWriter) {
        self.files = files
        _ = writer.observe { [weak self] notice in self?.advance(to: notice.top) }
        // What was committed before there was an observer. By when the writer answers it is durable.
        writer.snapshot { [weak self] result in
            switch result {
            case .success(let log): self?.advance(to: log.position)
            case .failure(.closed): self?.storeHasClosed()
            case .failure(let error): self?.update { $0.failure = error }
            }
        }
    }

    /// The next events after `place`, once there are any; none when there will be no more, or the task is cancelled.
    func page(
        after place: SubscriptionPlace, isolation actor: isolated (any Actor)?
    ) async throws(StoreError) -> [StoredEvent] {
        let number = state.withLock { state in
            state.lastRequest += 1
            return state.lastRequest
        }
        let page = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                ask(Request(place: place, answer: continuation), number)
            }
        } onCancel: {
            cancel(number)
        }
        state.withLock { _ = $0.cancelled.remove(number) }
        return try page.get()
    }

    private func ask(_ request: Request, _ number: UInt64) {
        enum Step { case check, wait, read, end }
        let step: Step = state.withLock { state in
            if state.cancelled.contains(number) { return .end }
            if !request.place.isKnown { return .check }
            if request.place.position < state.durable ?? 0 || state.failure != nil { return .read }
            if state.isClosed { return .end }
            state.waiting[number] = request
            return .wait
        }
        switch step {
        case .check: queue.later { [self] in check(request, number) }
        case .wait: break
        case .read: read(request)
        case .end: request.answer.resume(returning: .success([]))
        }
    }

    private func cancel(_ number: UInt64) {
        let request = state.withLock { state -> Request? in
            state.cancelled.insert(number)
            return state.waiting.removeValue(forKey: number)
        }
        request?.answer.resume(returning: .success([]))
    }

    /// The log is durable up to `position`. On the thread that tells of commits: must be short.
    private func advance(to position: UInt64) {
        update { $0.durable = max($0.durable ?? 0, position) }
    }

    func storeHasClosed() { update { $0.isClosed = true } }

    /// Changes what is known of the log, and reads for those who can be answered then.
    private func update(_ change: (inout State) -> Void) {
        let ready = state.withLock { state in
            change(&state)
            return state.takeReady()
        }
        for request in ready { read(request) }
    }

    private func read(_ request: Request) {
        queue.later { [self] in request.answer.resume(returning: page(after: request.place.position)) }
    }

    /// Asks on if the event is there that was dealt with last.
    private func check(_ request: Request, _ number: UInt64) {
        let place = request.place
        do throws(StoreError) {
            if place.position > 0 {
                let event = try reader { log throws(StoreError) in
                    try place.position <= log.top() ? try log.event(at: place.position) : nil
                }
                guard let event, place.id.map({ $0 == event.event.header.id }) ?? true else {
                    throw .lostPlace(place.position)
                }
            }
        } catch {
            return request.answer.resume(returning: .failure(error))
        }
        var known = request
        known.place.isKnown = true
        ask(known, number)
    }

    private func reader<Value>(_ body: (LogReader) throws(StoreError) -> Value) throws(StoreError) -> Value {
        try log.withLock { (log: inout LogReader?) throws(StoreError) in
            let reader: LogReader
            if let log { reader = log } else { reader = try LogReader(files) }
            log = reader
            return try body(reader)
        }
    }

    private func page(after position: UInt64) -> Page {
        let (durable, failure) = state.withLock { ($0.durable ?? 0, $0.failure) }
        guard position < durable else { return failure.map { .failure($0) } ?? .success([]) }
        do throws(StoreError) {
            return .success(try reader { log throws(StoreError) in try log.page(after: position, through: durable) })
        } catch {
            return .failure(error)
        }
    }
}

extension LogReader {
    /// Most events of a page, and payload bytes after which it ends (INV-9).
    static let largestPage = (events: 500, bytes: 1 << 20)

    /// The events after `position` up to `end`, at most `limit` and what a page holds, or what is read until `term` is due.
    package func page(
        after position: UInt64, through end: UInt64 = UInt64(Int64.max), limit: Int = .max, _ term: AnswerTerm? = nil
    ) throws(StoreError) -> [StoredEvent] {
        // SQLite has no larger numbers.
        let end = min(end, UInt64(Int64.max))
        guard position < end else { return [] }
        var page: [StoredEvent] = []
        var left = Self.largestPage.bytes
        try scan(after: position, through: end, limit: min(limit, Self.largestPage.events)) { event in
            left -= event.event.body.count
            page.append(event)
            return left > 0 && (page.count % 16 != 0 || term?.isDue != true)
        }
        return page
    }
}
