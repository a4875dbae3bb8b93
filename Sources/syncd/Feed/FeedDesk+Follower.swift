internal import Access
internal import EventStore
internal import SyncEngine

extension FeedDesk {
    /// One who follows.
    struct Follower {
        enum Sink {
            case page(HTTPExchange, limit: Int, until: UInt64)
            case stream(HTTPStream)
        }

        let request: FeedRequest
        let sink: Sink
        var filter: EventFilter
        var sight: Sight
        /// `nil`: the event of its cursor is not here yet.
        var place: FeedPlace?
        var isCaughtUp = false
        /// It has had all there was: what comes next is new.
        var isAtEnd = false
        /// It has more to come, and a turn for that.
        var isWaiting = false
        /// Its client has to take what is there first.
        var isFull = false
        /// Of one who asks for a page: what is on it.
        var page = FeedPage()
        /// When something was written last, monotonic nanoseconds.
        var wrote: UInt64
    }

    /// How many streams users have. Who asks for pages is here and gone.
    var users: [[UInt8]: Int] {
        var users: [[UInt8]: Int] = [:]
        for follower in followers.values {
            guard case .stream = follower.sink else { continue }
            let caller = follower.request.caller
            for user in caller.selves where caller.isUser(user) { users[Array(user.utf8), default: 0] += 1 }
        }
        return users
    }

    /// What comes of one turn; `again`: there is more for it.
    enum Turn { case again, rests, ended }

    /// Where a follower begins. Of the last events those count that they see.
    func start(
        _ request: FeedRequest, _ log: LogReader, _ durable: UInt64
    ) throws(StoreError) -> Result<FeedPlace, FeedRefusal> {
        let filter = request.filter(at: store.identity.origin)
        var sight = Sight(request.caller)
        guard case .last = request.start, !sight.isWhole else {
            return try log.place(of: request.start, durable: durable, filter) { sight.mayKnow($0) }
        }
        return try reader.fresh { views throws(StoreError) in
            try log.place(of: request.start, durable: durable, filter) { header throws(StoreError) in
                try sight.sees(header, views)
            }
        }
    }

    /// Whether a follower is in the conversation of a live item.
    func hears(_ id: UInt64, _ item: LiveItem) -> Bool {
        guard var sight = followers[id]?.sight, !sight.isWhole else { return true }
        // Who has left before it was told does not hear it, though the turn that shows them the leave is still to come.
        sight.forget(item.conversation)
        let found = try? reader.fresh { views throws(StoreError) in try sight.isIn(item.conversation, views) }
        followers[id]?.sight = sight
        return found ?? false
    }

    /// Whether a caller may tell something live in the conversation: one who takes part in it.
    func mayTell(_ caller: Caller, _ item: LiveItem) -> Bool {
        var sight = Sight(caller)
        if sight.isWhole { return true }
        let found = try? reader.fresh { views throws(StoreError) in try sight.isIn(item.conversation, views) }
        return found ?? false
    }
}

/// A page that is being gathered, as far as its caller sees: what they do not see ends it no sooner.
struct FeedPage {
    /// After so many events it ends, wanted or not.
    private static let mostLooked: UInt64 = 20_000
    private static let mostBytes = 256 << 10

    private(set) var items: [FeedItem] = []
    private var bytes = 0
    private var looked: UInt64 = 0

    /// How many more events may be looked at.
    var left: UInt64 { Self.mostLooked - min(looked, Self.mostLooked) }

    /// Takes what was found between two positions, and gives back the last one where there is place for less.
    ///
    /// - Returns: Whether it is full.
    mutating func take(_ more: [FeedItem], from start: UInt64, through end: inout UInt64, limit: Int) -> Bool {
        for item in more {
            items.append(item)
            bytes += item.object.count
            if items.count >= limit || bytes >= Self.mostBytes {
                end = item.stored.position
                return true
            }
        }
        looked += end - start
        return left == 0
    }

    /// How many wanted events are read at once: as many as it takes, unless many of them are not seen.
    func batch(_ limit: Int) -> Int { looked == 0 ? limit : .max }
}
