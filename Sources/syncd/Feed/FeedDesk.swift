internal import Access
internal import EventStore
internal import SillokAPI
internal import SyncEngine

/// Those who follow the log, and what they are given next. Used by one thread, that of ``FeedHub``.
///
/// Who is at the end of the log gets what was read and written out once for all. Who is behind reads the log, a batch at a time, by turns of
/// those who ask: one with many followers waits for himself.
final class FeedDesk {
    /// Most who follow, and who wait for anything else: the server's places to wait in are no more.
    static let most = 4_096
    /// Bytes that may wait for a client; with more it is given nothing until it has taken them.
    private static let backlog = 256 << 10
    private static let heartbeat: UInt64 = 15_000_000_000
    /// What is kept written out for those at the end of the log.
    private static let tail = (events: 2_000, bytes: 2 << 20)

    let store: EventStore
    private let authenticator: Authenticator
    private let accessLog: AccessLog
    /// For those who do not see all: who takes part in which conversation.
    let reader: EventReader
    private var readers: OpenReaders
    private var log: LogReader?
    private var lines: EventLines?
    private var incarnation: UInt64 = 0
    var followers: [UInt64: Follower] = [:]
    /// Those who have more to come, by who asks.
    private var behind = TurnQueue<String, UInt64>()
    /// Whether the hub is at giving those their turns.
    private var isGoing = false
    /// When the last commits were.
    var commits = CommitTimes()
    private var delays = DurationHistogram()
    /// Events in the order of their positions, without gaps.
    private var (recent, recentBytes) = ([FeedItem](), 0)
    /// Tells the hub that a follower goes on later: its client has taken what was there.
    private let later: @Sendable (UInt64) -> Void
    /// Tells the hub that the client of a stream has left.
    private let gone: @Sendable (UInt64) -> Void

    init(
        _ store: EventStore, _ views: ProjectorThread, _ authenticator: Authenticator, _ accessLog: AccessLog,
        later: @escaping @Sendable (UInt64) -> Void, gone: @escaping @Sendable (UInt64) -> Void
    ) {
        (self.store, self.authenticator, self.accessLog) = (store, authenticator, accessLog)
        reader = EventReader(Freshness(store.files, projector: views))
        (self.later, self.gone) = (later, gone)
        readers = OpenReaders(Freshness(store.files))
    }

    var isEmpty: Bool { followers.isEmpty }

    var figures: FollowerFigures {
        var figures = FollowerFigures()
        for name in FeedRequest.Face.Name.allCases { figures.followers[name] = 0 }
        for follower in followers.values {
            figures.followers[follower.request.face.name, default: 0] += 1
            if follower.isFull { figures.slow += 1 }
        }
        figures.delays = delays
        return figures
    }

    // MARK: Coming and going

    /// Takes on who asks; what there is comes with its turn.
    func open(_ id: UInt64, _ exchange: HTTPExchange, _ request: FeedRequest, durable: UInt64) {
        guard followers.count < Self.most else {
            return exchange.refuse(.busy, "\(Self.most) clients follow the log already")
        }
        do throws(StoreError) {
            let place: FeedPlace?
            let log = try currentLog()
            try record(request)
            switch try start(request, log, durable) {
            case .success(let found): place = found
            case .failure(let refusal):
                guard case .ahead = refusal, case .page(_, let wait) = request.face, wait > 0 else {
                    return exchange.refuse(refusal)
                }
                place = nil
            }
            let now = MonotonicClock.now
            let sink: Follower.Sink
            switch request.face {
            case .page(let limit, let wait):
                sink = .page(exchange, limit: limit, until: now + UInt64(wait) * 1_000_000)
            // Who asks only whether there is something follows nothing.
            case .lines where exchange.request.method == "HEAD", .eventStream where exchange.request.method == "HEAD":
                return exchange.reply(status: 200, contentType: request.face.contentType)
            case .lines, .eventStream:
                let stream = exchange.startStream(
                    status: 200, contentType: request.face.contentType,
                    headers: [HTTPField("Cache-Control", "no-store")], onGone: { [gone] in gone(id) })
                stream.write(request.face.preamble)
                sink = .stream(stream)
            }
            followers[id] = Follower(
                request: request, sink: sink, filter: request.filter, sight: Sight(request.caller), place: place,
                wrote: now)
        } catch {
            return exchange.refuse(error)
        }
        wait(id)
    }

    /// Its client has left.
    func leave(_ id: UInt64) { followers[id] = nil }

    /// Its client has taken all there was.
    func drained(_ id: UInt64) {
        followers[id]?.isFull = false
        wait(id)
    }

    /// The log has grown: those who are at its end have it at once.
    func advanced(durable: UInt64) {
        turn(followers.filter { !$0.value.isWaiting }.keys.sorted(), durable: durable)
    }

    /// Whether someone is behind for whom the hub is not yet to call ``next(durable:)``.
    func mustGoOn() -> Bool {
        guard !isGoing, !behind.isEmpty else { return false }
        isGoing = true
        return true
    }

    /// Gives the one whose turn it is what is next. Returns whether others wait for theirs.
    func next(durable: UInt64) -> Bool {
        if let id = behind.popFirst() {
            followers[id]?.isWaiting = false
            turn([id], durable: durable)
        }
        isGoing = !behind.isEmpty
        return isGoing
    }

    /// It has its turn behind one of each other who asks.
    private func wait(_ id: UInt64) {
        guard let follower = followers[id], !follower.isWaiting else { return }
        followers[id]?.isWaiting = true
        behind.append(id, of: follower.request.caller.actor.principal)
    }

    /// Something that matters only now: for those who can take it at once.
    func tell(_ item: LiveItem) {
        let object = item.object
        for (id, follower) in followers where follower.request.isLive && !follower.isFull {
            let wanted = follower.filter.conversations
            guard wanted.isEmpty || wanted.contains(item.conversation), case .stream(let stream) = follower.sink,
                hears(id, item)
            else { continue }
            var bytes: [UInt8] = []
            follower.request.face.append(live: object, to: &bytes)
            // It has waiting what it has not taken: events come first.
            guard stream.backlog + bytes.count <= Self.backlog else { continue }
            if !stream.write(bytes) { followers[id] = nil }
        }
    }

    /// What is due with time: heartbeats, and pages that have waited long enough.
    func tick(durable: UInt64) {
        let now = MonotonicClock.now
        reconsider()
        for (id, follower) in followers {
            do throws(StoreError) { try record(follower.request) } catch {
                fail(id, error)
                continue
            }
            switch follower.sink {
            case .page(_, _, let until) where now >= until && !follower.isWaiting: turn([id], durable: durable)
            case .page: break
            case .stream(let stream):
                guard let place = follower.place, !follower.isFull, now >= follower.wrote + Self.heartbeat else {
                    continue
                }
                write(.heartbeat, to: stream, id, place)
            }
        }
    }

    /// The daemon stops.
    func close() {
        for (_, follower) in followers {
            switch follower.sink {
            case .page(let exchange, _, _): exchange.refuse(.closed)
            case .stream(let stream): close(stream, follower, .closing("the node stops"))
            }
        }
        followers = [:]
    }

    /// Lets those go whose credential has ended.
    func reconsider() {
        for (id, follower) in followers where !authenticator.stands(follower.request.caller) {
            followers[id] = nil
            switch follower.sink {
            case .page(let exchange, _, _): exchange.refuse(.unauthenticated, Authenticator.noLonger)
            case .stream(let stream): close(stream, follower, .closing(Authenticator.noLonger))
            }
        }
    }

    private func close(_ stream: HTTPStream, _ follower: Follower, _ control: FeedControl) {
        var bytes: [UInt8] = []
        follower.request.face.append(control, nil, nil, to: &bytes)
        stream.write(bytes)
        stream.end()
    }

    /// Records a read of one whose reads are recorded: before the first event, and again while it goes on.
    private func record(_ request: FeedRequest) throws(StoreError) {
        guard request.caller.isRecorded, let reason = request.reason else { return }
        let filter = request.filter
        var users = filter.users.sorted() + filter.authors.sorted()
        // Only these need the views, for which a feed else does not wait.
        if !filter.conversations.isEmpty {
            users += try reader.fresh { views throws(StoreError) in
                try AccessLog.concerned([], filter.conversations.sorted(), views)
            }
        }
        try accessLog.record(
            request.caller, route: Route.changes.path, subject: request.subject, users: users, reason: reason)
    }

    // MARK: Giving

    /// Gives each of them what is next. Those for whom there is more wait for their turn.
    private func turn(_ ids: [UInt64], durable: UInt64) {
        do throws(StoreError) {
            let log = try currentLog()
            try extendRecent(log, through: durable)
            for id in ids {
                guard let follower = followers[id], !follower.isFull else { continue }
                switch try turn(id, follower, log, durable) {
                case .again: wait(id)
                case .rests: break
                case .ended: followers[id] = nil
                }
            }
        } catch {
            for id in ids { fail(id, error) }
        }
    }

    private func turn(
        _ id: UInt64, _ follower: Follower, _ log: LogReader, _ durable: UInt64
    ) throws(StoreError) -> Turn {
        guard var place = try place(of: follower, log, durable) else {
            return late(follower)
        }
        let filter = follower.request.filter(at: store.identity.origin)
        let start = place.position
        var (limit, end, page) = (Int.max, durable, follower.page)
        if case .page(let most, _) = follower.request.face { (limit, end) = (most, min(durable, start + page.left)) }
        var items: [FeedItem]
        (items, place.position) = try next(place, filter, page.batch(limit), log, end)
        items = try seen(items, by: id).map { [marks = place.marks] in $0.with(marks) }
        var isFull = false
        if case .page = follower.request.face {
            isFull = page.take(items, from: start, through: &place.position, limit: limit)
            followers[id]?.page = page
        }
        followers[id]?.place = place
        let isAtEnd = place.position >= durable
        followers[id]?.isAtEnd = isAtEnd
        switch follower.sink {
        case .page(let exchange, _, let until):
            guard isFull || isAtEnd && (!page.items.isEmpty || MonotonicClock.now >= until) else {
                return isAtEnd ? .rests : .again
            }
            exchange.reply(
                status: 200, contentType: "application/json",
                body: FeedLines.page(page.items, cursor: try log.cursor(of: place), hasMore: !isAtEnd))
            noteDelay(follower, page.items)
            return .ended
        case .stream(let stream):
            var bytes: [UInt8] = []
            for item in items { follower.request.face.append(item, to: &bytes) }
            if isAtEnd, !follower.isCaughtUp {
                followers[id]?.isCaughtUp = true
                let cursor = try log.cursor(of: place)
                follower.request.face.append(.caughtUp, cursor.text, try log.vector(), to: &bytes)
            }
            guard !bytes.isEmpty else { return isAtEnd ? .rests : .again }
            followers[id]?.wrote = MonotonicClock.now
            guard stream.write(bytes) else { return .ended }
            noteDelay(follower, items)
            guard stream.backlog > Self.backlog else { return isAtEnd ? .rests : .again }
            followers[id]?.isFull = true
            followers[id]?.isAtEnd = false
            stream.write([]) { [later] in later(id) }
            return .rests
        }
    }

    /// Notes how long the oldest of them has taken to a follower who waited for it.
    private func noteDelay(_ follower: Follower, _ items: [FeedItem]) {
        guard follower.isAtEnd, let first = items.first, let begin = commits.time(of: first.stored.position) else {
            return
        }
        delays.note(MonotonicClock.now - begin)
    }

    /// Where it stands; `nil` while the event of its cursor is not here.
    private func place(
        of follower: Follower, _ log: LogReader, _ durable: UInt64
    ) throws(StoreError) -> FeedPlace? {
        if let place = follower.place { return place }
        return try? log.place(of: follower.request.start, durable: durable).get()
    }

    /// The event of its cursor has not come.
    private func late(_ follower: Follower) -> Turn {
        guard case .page(let exchange, _, let until) = follower.sink else { return .ended }
        guard MonotonicClock.now >= until else { return .rests }
        if case .cursor(let cursor) = follower.request.start, let dot = cursor.dot { exchange.refuse(.ahead(dot)) }
        return .ended
    }

    /// The next events for a follower, and how far they were looked at.
    private func next(
        _ place: FeedPlace, _ filter: EventFilter, _ limit: Int, _ log: LogReader, _ durable: UInt64
    ) throws(StoreError) -> ([FeedItem], through: UInt64) {
        guard let first = recent.first?.stored.position, place.position + 1 >= first else {
            let batch = try log.batch(after: place, through: durable, filter, limit: limit)
            let lines = try lines(of: log)
            var items: [FeedItem] = []
            for stored in batch.events { items.append(try FeedItem(stored, incarnation: incarnation, lines)) }
            return (items, batch.through)
        }
        var items: [FeedItem] = []
        var through = place.position
        for item in recent.dropFirst(Int(place.position + 1 - first)) {
            guard items.count < limit, item.stored.position <= durable else { break }
            through = item.stored.position
            let header = item.stored.event.header
            if !place.known.contains(header.dot), filter.matches(header) { items.append(item) }
        }
        return (items, through)
    }

    /// Those of them that a follower may see.
    private func seen(_ items: [FeedItem], by id: UInt64) throws(StoreError) -> [FeedItem] {
        guard var sight = followers[id]?.sight, !items.isEmpty else { return items }
        guard !sight.isWhole else { return items.filter { sight.mayKnow($0.stored.event.header) } }
        // Who takes part may have changed with events that the follower does not want.
        sight.forgetAll()
        var seen: [FeedItem] = []
        try reader.fresh { views throws(StoreError) in
            seen = []
            for item in items {
                if try sight.sees(item.stored.event.header, views) { seen.append(item) }
            }
        }
        followers[id]?.sight = sight
        return seen
    }

    private func write(_ control: FeedControl, to stream: HTTPStream, _ id: UInt64, _ place: FeedPlace) {
        guard let follower = followers[id], let log, let cursor = try? log.cursor(of: place) else { return }
        var bytes: [UInt8] = []
        follower.request.face.append(control, cursor.text, nil, to: &bytes)
        followers[id]?.wrote = MonotonicClock.now
        if !stream.write(bytes) { followers[id] = nil }
    }

    /// The log cannot be read for it.
    private func fail(_ id: UInt64, _ error: StoreError) {
        guard let follower = followers.removeValue(forKey: id) else { return }
        switch follower.sink {
        case .page(let exchange, _, _): exchange.refuse(error)
        case .stream(let stream):
            stream.note(error)
            close(stream, follower, .closing(error.told))
        }
    }

    // MARK: The log

    /// The log as it is in the folder now. A snapshot may have taken its place: then all are placed anew by what they have had.
    private func currentLog() throws(StoreError) -> LogReader {
        let current = try readers.currentLog()
        guard current !== log else { return current }
        let old = log
        (log, lines, recent, recentBytes) = (current, nil, [], 0)
        incarnation = try current.incarnation()
        guard let old else { return current }
        for (id, follower) in followers {
            guard let place = follower.place else { continue }
            // The old file is open still.
            let cursor = try old.cursor(at: place.position)
            let known = place.known
            switch try current.place(of: .cursor(cursor), durable: current.top()) {
            case .success(var found):
                for entry in known.entries { found.known.advance(to: entry) }
                found.marks = try current.marks(found.known)
                followers[id]?.place = found
            case .failure(let refusal): end(id, follower, refusal)
            }
        }
        return current
    }

    /// The log in its place has not what it has had.
    private func end(_ id: UInt64, _ follower: Follower, _ refusal: FeedRefusal) {
        followers[id] = nil
        switch follower.sink {
        case .page(let exchange, _, _): exchange.refuse(refusal)
        case .stream(let stream): close(stream, follower, .reset(refusal.description))
        }
    }

    /// The origins of a log and their nodes are read once, and again when another one comes.
    private func lines(of log: LogReader) throws(StoreError) -> EventLines {
        if let lines { return lines }
        let made = try EventLines(log)
        lines = made
        return made
    }

    /// Reads what has come, once for all who are at the end.
    private func extendRecent(_ log: LogReader, through durable: UInt64) throws(StoreError) {
        let places = followers.values.compactMap { $0.place?.position }
        guard let last = recent.last?.stored.position ?? places.max(), last < durable else { return }
        // Who is so far behind reads for himself, and what would be kept is passed over soon.
        guard durable - last <= UInt64(Self.tail.events) else { return (recent, recentBytes) = ([], 0) }
        let lines = try lines(of: log)
        for stored in try log.page(after: last, through: durable) {
            let item = try FeedItem(stored, incarnation: incarnation, lines)
            recent.append(item)
            recentBytes += item.object.count
        }
        var surplus = 0
        while recent.count - surplus > 1,
            recentBytes > Self.tail.bytes || recent.count - surplus > Self.tail.events
        {
            recentBytes -= recent[surplus].object.count
            surplus += 1
        }
        recent.removeFirst(surplus)
    }
}
