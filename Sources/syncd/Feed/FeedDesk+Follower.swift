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
        /// Its client has to take what is there first.
        var isFull = false
        /// How many events were looked at for a page.
        var looked: UInt64 = 0
        /// When something was written last, monotonic nanoseconds.
        var wrote: UInt64
    }

    /// What comes of one turn; `again`: there is more for it.
    enum Turn { case again, rests, ended }
}
