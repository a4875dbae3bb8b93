internal import EventStore

/// What the clients of an ``HTTPServer`` have under way, and what it cost them.
///
/// ## Concurrency model
/// One lock: the loop counts connections and what has come of requests; an ``HTTPExchange`` that ends on another thread
/// counts itself out.
package final class HTTPUsage: Sendable {
    package struct Figures: Sendable, Equatable {
        package var connections = 0
        /// Bytes of requests that have come in part, or whole and are not answered yet, and of answers that clients have not taken.
        package var pendingBytes = 0
        /// Whole requests that are not answered yet.
        package var pendingRequests = 0
        /// Requests refused, since the start, because too much was under way.
        package var refused: UInt64 = 0
        /// Connections closed, since the start, because a new caller needed the place.
        package var crowdedOut: UInt64 = 0
    }

    private let state = Lock(Figures())

    package init() {}

    package var figures: Figures { state.withLock { $0 } }

    func change(_ body: (inout Figures) -> Void) { state.withLock { body(&$0) } }
}

/// The body of an answer that the server makes by itself, when it refuses a request.
package struct HTTPRefusal {
    package var contentType: String
    package var body: [UInt8]

    package init(contentType: String, body: [UInt8]) {
        self.contentType = contentType
        self.body = body
    }

    /// One line for people.
    package static func text(_ status: Int, _ reason: String) -> HTTPRefusal {
        HTTPRefusal(contentType: "text/plain", body: Array((reason + "\n").utf8))
    }
}
