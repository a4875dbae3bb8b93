internal import CLibevent
internal import EventStore
internal import Glibc

/// A TCP server for protocols of short texts: it knows connections and bytes, and nothing of what they say.
///
/// Times, the number of connections and what is read at once are bounded; what waits to be read or sent is the bound of who uses it.
///
/// ## Concurrency model
/// Not `Sendable`: belongs, with its connections, to the thread of its ``EventLoop``, which holds it until it stops.
package final class LineServer: LoopResource {
    package struct Limits: Sendable {
        /// More are told ``farewell``, and closed.
        package var connections = 4_096
        /// Without a sign of progress (``LineLink/touch()``) a connection is closed.
        package var idle: Duration = .seconds(600)
        /// What one is told for whom there is no place.
        package var farewell: [UInt8] = []

        package init() {}
    }

    /// What became of connections, since the start.
    package struct Counts: Sendable, Equatable {
        package var accepted: UInt64 = 0
        package var refused: UInt64 = 0
        package var timedOut: UInt64 = 0
    }

    /// Bytes of one read.
    static let readSize = 2_048

    let loop: EventLoop
    let limits: Limits
    private let opened: (LineLink) -> Void
    private var socket: ListeningSocket?
    private var links: [ObjectIdentifier: LineLink] = [:]
    private var sweep: TimerToken?
    /// What a read takes, before it is handed on.
    var scratch = [UInt8](repeating: 0, count: readSize)
    package private(set) var counts = Counts()

    /// Listens at once.
    /// - Parameters:
    ///   - host: A numeric IPv4 or IPv6 address, or `localhost`.
    ///   - port: 0 lets the kernel choose; see ``boundPort``.
    ///   - opened: Told of each new connection, before anything of it is read.
    package init(
        loop: EventLoop, host: String, port: UInt16, limits: Limits, opened: @escaping (LineLink) -> Void
    ) throws(TransportError) {
        loop.assertOnLoop()
        self.loop = loop
        self.limits = limits
        self.opened = opened
        let descriptor = try ListeningSocket.bindTCP(host: host, port: port)
        socket = try ListeningSocket(loop: loop, descriptor: descriptor) { [weak self] descriptor, address in
            guard let self else {
                _ = Glibc.close(descriptor)
                return
            }
            accept(descriptor)
        }
        loop.adopt(self)
        scheduleSweep()
    }

    /// The local port; 0 when it listens no more.
    package var boundPort: UInt16 { socket?.boundPort ?? 0 }

    /// Connections now open.
    package var openLinks: Int { links.count }

    /// Accepts no more. Connections that are there live on.
    package func stopListening() {
        loop.assertOnLoop()
        socket?.close()
        socket = nil
    }

    /// The connections now open, the oldest first.
    package var all: [LineLink] { links.values.sorted { $0.number < $1.number } }

    func loopIsStopping() {
        sweep?.cancel()
        sweep = nil
        socket?.close()
        socket = nil
        for link in links.values { link.close() }
        loop.forget(self)
    }

    func forget(_ link: LineLink) { links[ObjectIdentifier(link)] = nil }

    private func accept(_ descriptor: Int32) {
        setOption(descriptor, tcpLevel, TCP_NODELAY, 1)
        guard links.count < limits.connections else {
            counts.refused += 1
            return sendAway(descriptor)
        }
        counts.accepted += 1
        let link = LineLink(server: self, number: counts.accepted, descriptor: descriptor)
        links[ObjectIdentifier(link)] = link
        opened(link)
        link.isReading = true
    }

    /// What has come is read, for a close with unread bytes would take away what was sent (RFC 1122 §4.2.2.13).
    private func sendAway(_ descriptor: Int32) {
        _ = scratch.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress, $0.count, 0) }
        _ = limits.farewell.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        shutdown(descriptor, Int32(SHUT_WR))
        Glibc.close(descriptor)
    }

    /// One timer looks at the clock for all.
    private func scheduleSweep() {
        sweep = loop.schedule(after: min(.seconds(1), limits.idle / 4)) { [unowned self] in
            let now = MonotonicClock.now
            for link in links.values where link.isOver(now: now) {
                if !link.isLeaving { counts.timedOut += 1 }
                link.close()
            }
            scheduleSweep()
        }
    }
}
