internal import Glibc

/// A connection that a ``Listener`` accepted. Its receiver owns the descriptor.
package struct AcceptedSocket {
    /// Connected, non-blocking, close-on-exec.
    package let descriptor: Int32
    /// Numeric address and port of the caller.
    package let peer: String
    /// To be handed to the ``TLSLink``, which keeps it until it is let in or ends.
    package let ticket: HandshakeTicket
}

/// Accepts TCP connections for peer links.
///
/// At most `maximumPending` accepted connections may be there that are not let in (``TLSLink/letIn()``). One more takes
/// the place of the oldest: a caller that says nothing keeps no other out, as an honest handshake takes a few round
/// trips. So strangers never take more than so many file descriptors.
///
/// ## Concurrency model
/// Not `Sendable`: belongs, with its callback, to the thread of its ``EventLoop``, which holds it until ``close()``.
package final class Listener: LoopResource {
    private let loop: EventLoop
    private let maximumPending: Int
    private var socket: ListeningSocket?
    /// Tickets that have not been given back, the oldest first.
    private var tickets: [(number: UInt64, ticket: Weak)] = []
    private var nextNumber = UInt64(0)

    private struct Weak { weak var ticket: HandshakeTicket? }

    /// Accepted connections that are not let in yet.
    package var pending: Int { tickets.count }

    /// Listens at once.
    /// - Parameters:
    ///   - host: a numeric IPv4 or IPv6 address, or `localhost` (127.0.0.1).
    ///   - port: 0 lets the kernel choose; see ``boundPort``.
    package init(
        loop: EventLoop, host: String, port: UInt16, maximumPending: Int = 256,
        onAccept: @escaping (AcceptedSocket) -> Void
    ) throws(TransportError) {
        loop.assertOnLoop()
        self.loop = loop
        self.maximumPending = maximumPending
        let descriptor = try ListeningSocket.bindTCP(host: host, port: port)
        socket = try ListeningSocket(loop: loop, descriptor: descriptor) { [weak self] descriptor, address in
            guard let self else {
                _ = Glibc.close(descriptor)
                return
            }
            onAccept(AcceptedSocket(descriptor: descriptor, peer: address.text, ticket: admit()))
        }
        loop.adopt(self)
    }

    /// The local port; 0 after ``close()``.
    package var boundPort: UInt16 { socket?.boundPort ?? 0 }

    /// Closes the listening socket; accepted connections live on.
    package func close() {
        loop.assertOnLoop()
        loopIsStopping()
    }

    func loopIsStopping() {
        socket?.close()
        socket = nil
        loop.forget(self)
    }

    private func admit() -> HandshakeTicket {
        if pending >= maximumPending {
            tickets.lazy.compactMap { $0.ticket.ticket?.onCrowdedOut }.first?()
        }
        let number = nextNumber
        nextNumber += 1
        let ticket = HandshakeTicket { [weak self] in
            guard let self else { return }
            tickets.removeAll { $0.number == number }
            if pending < maximumPending { socket?.isEnabled = true }
        }
        tickets.append((number, Weak(ticket: ticket)))
        // Its owner did not let go: then new callers wait in the kernel's backlog.
        if pending > maximumPending { socket?.isEnabled = false }
        return ticket
    }
}
