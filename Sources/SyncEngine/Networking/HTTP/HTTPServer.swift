internal import EventStore
internal import Glibc

/// An HTTP/1.1 server over a Unix socket and, if wanted, TCP.
///
/// ``HTTPParser`` vets requests against RFC 9112 before the handler sees them; sizes, times, the number of connections and
/// what may wait in memory for one client are bounded by ``HTTPLimits``. A connection's requests are handed out one at a time.
///
/// ## Concurrency model
/// Not `Sendable`: belongs, with its handler, to the thread of its ``EventLoop``, which holds it until ``close()``. The
/// ``HTTPExchange`` given to the handler may be answered from any thread.
package final class HTTPServer: LoopResource {
    package typealias Handler = (HTTPExchange) -> Void
    /// Makes the body of a refusal from its status and a sentence for people.
    package typealias Refusal = (Int, String) -> HTTPRefusal
    /// Told of each answer on the loop's thread, before it goes out; of a stream, when it begins.
    package typealias Observer = (HTTPRequest, HTTPAnswered) -> Void

    let loop: EventLoop
    /// What a read takes at most, before it goes to the connection.
    var scratch = [UInt8](repeating: 0, count: 64 << 10)
    var date = HTTPDate()
    private let limits: HTTPLimits
    private let handler: Handler
    let refusal: Refusal
    private let observer: Observer?
    let usage: HTTPUsage
    private let report: @Sendable (String) -> Void
    private var isClosed = false
    private var sockets: [ListeningSocket] = []
    /// Those of them that are Unix sockets.
    private var localSockets: Set<ObjectIdentifier> = []
    private var files: [UnixSocket] = []
    private var connections: [ObjectIdentifier: HTTPConnection] = [:]
    /// Those that wait for their clients' goodbye, the oldest first.
    private var leaving: [HTTPConnection] = []
    private var waiting: WaitingPlaces?
    /// Those who wait for what comes, by their places.
    private var waiters: [UInt64: HTTPConnection] = [:]
    /// How many connections there have been.
    private var accepted: UInt64 = 0
    private var sweep: TimerToken?

    /// Makes a server that does not listen yet.
    ///
    /// - Parameter report: Takes what handlers do not tell their clients, on any thread.
    package init(
        loop: EventLoop, limits: HTTPLimits = HTTPLimits(), usage: HTTPUsage = HTTPUsage(),
        refusal: @escaping Refusal = HTTPRefusal.text, observer: Observer? = nil,
        report: @escaping @Sendable (String) -> Void = { _ in }, handler: @escaping Handler
    ) {
        loop.assertOnLoop()
        self.loop = loop
        self.limits = limits
        self.usage = usage
        self.refusal = refusal
        self.observer = observer
        self.report = report
        self.handler = handler
        waiting = limits.maximumWaiting.map(WaitingPlaces.init)
        loop.adopt(self)
    }

    /// Serves a Unix socket at `path`, with these permissions. A stale socket file is replaced.
    package func listen(unixSocket path: String, mode: UInt32) throws(TransportError) {
        loop.assertOnLoop()
        let file = try UnixSocket(path: path, mode: mode)
        do throws(TransportError) {
            try serve(file.descriptor)
        } catch {
            file.remove()
            throw error
        }
        files.append(file)
    }

    /// Serves TCP.
    ///
    /// - Parameter tls: With what it is encrypted, asked for each connection; without it use a loopback address.
    /// - Returns: the local port, which the kernel chose if `port` is 0.
    @discardableResult
    package func listen(
        host: String, port: UInt16, tls: (() -> ServerTLS)? = nil
    ) throws(TransportError) -> UInt16 {
        loop.assertOnLoop()
        try serve(ListeningSocket.bindTCP(host: host, port: port), tls)
        return sockets.last?.boundPort ?? 0
    }

    /// Serves a socket that listens already. Takes over `descriptor`; a file in which it lies is not the server's to remove.
    /// - Returns: the local port; 0 for a Unix socket.
    @discardableResult
    package func listen(given descriptor: Int32) throws(TransportError) -> UInt16 {
        loop.assertOnLoop()
        let flags = fcntl(descriptor, F_GETFL)
        guard flags >= 0, fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) == 0 else {
            let code = errno
            Glibc.close(descriptor)
            throw .system(call: "fcntl \(descriptor)", code: code)
        }
        try serve(descriptor)
        return sockets.last?.boundPort ?? 0
    }

    /// Accepts no more connections. Those that are open go on; callers of a socket that another process holds as well wait for it.
    package func stopListening() {
        loop.assertOnLoop()
        for socket in sockets { socket.close() }
        (sockets, localSockets) = ([], [])
    }

    /// Connections now open.
    package var openConnections: Int { connections.count }

    /// Closes everything in a later turn of the loop; unanswered exchanges lose their client.
    package func close() {
        loop.assertOnLoop()
        // The answer of a handler that calls this still goes out.
        loop.schedule(after: .zero) { self.loopIsStopping() }
    }

    func loopIsStopping() {
        guard !isClosed else { return }
        isClosed = true
        sweep?.cancel()
        for socket in sockets { socket.close() }
        (sockets, localSockets) = ([], [])
        for connection in connections.values { connection.close() }
        for file in files { file.remove() }
        files = []
        loop.forget(self)
    }

    // MARK: Connections

    private func serve(_ descriptor: Int32, _ tls: (() -> ServerTLS)? = nil) throws(TransportError) {
        guard !isClosed else {
            Glibc.close(descriptor)
            throw .loopNotRunning
        }
        let isLocal = SocketAddress(ofLocalEnd: descriptor)?.family == AF_UNIX
        let socket = try ListeningSocket(loop: loop, descriptor: descriptor) { [unowned self] descriptor, address in
            accepted(descriptor, from: address, tls?())
        }
        sockets.append(socket)
        if isLocal { localSockets.insert(ObjectIdentifier(socket)) }
    }

    private func accepted(_ descriptor: Int32, from address: SocketAddress, _ tls: ServerTLS?) {
        let stream = tls?.stream(over: descriptor)
        guard (tls == nil) == (stream == nil) else {
            Glibc.close(descriptor)
            return
        }
        accepted += 1
        if connections.count >= limits.maximumConnections, let oldest = nextToGo {
            usage.change { $0.crowdedOut += 1 }
            oldest.close()
        }
        let isFull = connections.count >= limits.maximumConnections
        let peer = peerCredentials(of: descriptor)
        // Who can take the others' credentials away is let in while there is no other place.
        let isOperator = limits.operatorConnections > 0 && peer?.isOperator ?? false
        if limits.operatorConnections > 0, connections.count >= (isOperator ? mostConnections : mostOfAll) {
            Glibc.close(descriptor)
            return
        }
        let connection = HTTPConnection(
            server: self, number: accepted, limits: limits, descriptor: descriptor, from: address, peer, tls: stream,
            isReserved: isFull && !isOperator)
        connections[ObjectIdentifier(connection)] = connection
        updateAccepting()
        if sweep == nil { scheduleSweep() }
    }

    /// Those that anyone may have, and all that there may be.
    private var mostOfAll: Int { limits.maximumConnections + limits.reservedConnections }
    private var mostConnections: Int { mostOfAll + limits.operatorConnections }

    /// Whether a connection whose client waits for what comes has a place for that. Another one may lose its own.
    func takesWaiting(_ connection: HTTPConnection) -> Bool {
        guard connection.waitingPlace == nil else { return true }
        guard let outcome = waiting?.take(for: connection.waiter) else { return true }
        switch outcome {
        case .refused: return false
        case .taken(let place): note(connection, at: place)
        case .takenFrom(let place, let last):
            note(connection, at: place)
            let other = waiters.removeValue(forKey: last)
            other?.waitingPlace = nil
            other?.giveWay()
        }
        return true
    }

    private func note(_ connection: HTTPConnection, at place: UInt64) {
        connection.waitingPlace = place
        waiters[place] = connection
    }

    /// The client of a connection waits no longer.
    func leaveWaiting(_ connection: HTTPConnection) {
        guard let place = connection.waitingPlace else { return }
        connection.waitingPlace = nil
        waiters[place] = nil
        waiting?.giveBack(place)
    }

    /// A connection waits for its client's goodbye from now on.
    func leaves(_ connection: HTTPConnection) {
        leaving.append(connection)
        if leaving.count > limits.maximumLeaving { leaving[0].close() }
    }

    /// The connection is closed.
    func forget(_ connection: HTTPConnection) {
        connections[ObjectIdentifier(connection)] = nil
        if let index = leaving.firstIndex(where: { $0 === connection }) { leaving.remove(at: index) }
        updateAccepting()
    }

    /// Who loses its place to a new caller: a connection that no thread works for. First comes the one that has had its last answer for
    /// longest, then the one that has kept a request unfinished, then the one that has been idle for longest.
    private var nextToGo: HTTPConnection? {
        leaving.first ?? first(\.unfinishedSince) ?? first(\.idleSince)
    }

    /// The connection for which a time is the earliest, if there is one that has it.
    private func first(_ time: (HTTPConnection) -> UInt64?) -> HTTPConnection? {
        var earliest: (connection: HTTPConnection, time: UInt64)?
        for connection in connections.values {
            guard let found = time(connection), found < earliest?.time ?? .max else { continue }
            earliest = (connection, found)
        }
        return earliest?.connection
    }

    /// Until what is under way, and `more` bytes, keep to the bound: closes clients that have let an answer wait for longest, then
    /// refuses requests that have been coming for longest.
    func makeRoom(for more: Int = 0) {
        while usage.figures.pendingBytes + more > limits.maximumPendingBytes {
            if let idler = first(\.untakenSince) {
                usage.change { $0.crowdedOut += 1 }
                idler.close()
            } else if let slowest = first(\.unfinishedSince) {
                slowest.refuseAsBusy()
            } else {
                return
            }
        }
    }

    /// Whether a whole request may be handed out.
    func hasRoom(for request: HTTPRequest) -> Bool {
        makeRoom(for: request.body.count)
        let figures = usage.figures
        return figures.pendingRequests < limits.maximumPendingRequests
            && figures.pendingBytes + request.body.count <= limits.maximumPendingBytes
    }

    /// Whether a request may come over a place that is kept for some.
    func isReserved(_ path: String) -> Bool { limits.reservedPaths.contains(path) }

    private func updateAccepting() {
        usage.change { [count = connections.count] in $0.connections = count }
        let isEnabled = connections.count < mostOfAll || nextToGo != nil
        // Who calls at a Unix socket is known when they were let in.
        let isLocalEnabled = isEnabled || connections.count < mostConnections
        for socket in sockets {
            let wanted = localSockets.contains(ObjectIdentifier(socket)) ? isLocalEnabled : isEnabled
            if socket.isEnabled != wanted { socket.isEnabled = wanted }
        }
    }

    /// One timer looks at the clock for all connections, as long as there are any: setting one for each request would cost
    /// more than it is worth.
    private func scheduleSweep() {
        let interval = min(.milliseconds(250), limits.requestDeadline / 4)
        sweep = loop.schedule(after: interval) { [unowned self] in
            let now = MonotonicClock.now
            for connection in connections.values { connection.check(now: now) }
            sweep = nil
            // Who has been answered may be the one to go.
            updateAccepting()
            if !connections.isEmpty { scheduleSweep() }
        }
    }

    // MARK: Requests

    func received(_ request: HTTPRequest, from client: UInt64, _ transaction: HTTPTransaction) {
        if let allowed = limits.allowedMethods, !allowed.contains(request.method) {
            let field = HTTPField("Allow", allowed.sorted().joined(separator: ", "))
            return transaction.refuse(405, "method not allowed", headers: [field])
        }
        if let observer { transaction.observe(request, observer) }
        handler(
            HTTPExchange(
                request: request, client: client, transaction: loop.bind(transaction), usage: usage, report: report))
    }
}
