internal import EventStore

/// Times and sizes of an ``HTTPServer``. A client that passes one of them is answered with 400 or 413, or cut off.
package struct HTTPLimits: Sendable {
    package var maximumHeaderBytes = 32 << 10
    package var maximumBodyBytes = 1 << 20
    /// Of all requests that are not answered yet, heads and bodies together. Above it the request that has been coming for
    /// longest is refused with 503, so that slow ones make room for quick ones.
    package var maximumPendingBytes = 64 << 20
    /// Whole requests that are not answered yet, of clients that have left, too. Above it new ones are refused with 503.
    package var maximumPendingRequests = 4096
    /// Bytes of a streamed answer that may wait for a slow client before it is cut off.
    package var maximumBacklog = 1 << 20
    /// From the first byte of a request to the end of its head.
    package var headDeadline: Duration = .seconds(10)
    /// From connecting, or from the first moment a kept connection may be idle no longer, to the whole request.
    package var requestDeadline: Duration = .seconds(30)
    /// Between two bytes, and between two requests of one connection.
    package var idleTimeout: Duration = .seconds(60)
    /// Above it a new caller takes the place of the one that has been leaving, has kept a request unfinished, or has been idle, for longest.
    package var maximumConnections = 1024
    /// So long a client that has had its last answer may take to say goodbye (RFC 9112 §9.6).
    package var goodbye: Duration = .seconds(1)
    /// Connections that wait for that. Above it the oldest of them is closed.
    package var maximumLeaving: Int { max(1, maximumConnections / 4) }
    /// Places beyond these, for when none can go; they serve ``reservedPaths`` alone, one request each.
    package var reservedConnections = 0
    package var reservedPaths: Set<String> = []
    /// Places beyond all of these for root and the server's own user over a Unix socket, for when none can go.
    package var operatorConnections = 0
    /// Connections whose clients may wait for what comes (streams, and requests with ``HTTPExchange/watchClient(onGone:)``); `nil`: all. Who
    /// waits keeps a place for as long as they like, so some are left for others. ``WaitingPlaces`` says who gets them.
    package var maximumWaiting: Int?
    /// Other methods are answered with 405; `nil`: the handler knows which are for what.
    package var allowedMethods: Set<String>? = ["GET", "HEAD", "POST", "PUT", "DELETE"]

    /// Whether the body of such a request, by method and what stands between the slashes of the path, is handed out as it comes. It has no limit
    /// here: who takes it says when it is enough.
    package var streamed: (@Sendable (_ method: String, _ path: [String]) -> Bool)?
    /// Bytes of such a body that may wait for who takes it; then nothing more is read from the client.
    package var streamedAhead = 256 << 10
    /// Such a body comes at least so fast, bytes a second, once ``requestDeadline`` is over.
    package var streamedRate: UInt64 = 4 << 10

    package init() {}
}

/// Bytes of one stream on their way from any thread to the kernel.
final class StreamBacklog: Sendable {
    private struct State {
        var posted = 0
        var output = 0
        var isOpen = true
    }

    private let limit: Int
    private let state = Lock(State())

    init(limit: Int) { self.limit = limit }

    var bytes: Int { state.withLock { $0.posted + $0.output } }

    /// Counts bytes that are about to be posted to the loop; false when they are too many or the stream is closed.
    func reserve(_ count: Int) -> Bool {
        state.withLock {
            guard $0.isOpen, $0.posted + $0.output + count <= limit else {
                $0.isOpen = false
                return false
            }
            $0.posted += count
            return true
        }
    }

    /// The loop has taken over `count` posted bytes; `output` bytes now wait for the kernel.
    func arrived(_ count: Int, output: Int) {
        state.withLock {
            $0.posted -= count
            $0.output = output
        }
    }

    func close() { state.withLock { $0.isOpen = false } }
}
