internal import CLibevent
internal import COpenSSL
internal import Glibc

/// One TLS connection between two nodes, carrying frames.
///
/// A frame is `u32 body length | u8 type | u8 flags | u16 zero` (big-endian) and a body. A link is *open* when its own
/// side of the handshake is done; with TLS 1.3 the calling side is open before the answering side has judged its
/// certificate, so count a peer as up only after its first frame.
///
/// ## Concurrency model
/// Not `Sendable`: the link, all its members and all its callbacks belong to the thread of its ``EventLoop``. Use
/// ``EventLoop/bind(_:)`` to name it in jobs of other threads. While open it is held by its connection; it lets go of
/// everything, callbacks included, after ``onClose``. No callback ever runs inside a call of ``send(type:flags:body:priority:)``,
/// ``close(afterFlush:)``, ``abort()`` or ``resumeReading()``; all of these are allowed inside callbacks.
package final class TLSLink: LoopResource {
    package enum Role: Sendable { case client, server }

    /// Which of the two queues a frame waits in. Control frames overtake data frames, never one already being written.
    package enum Priority: Sendable { case control, data }

    /// Times and sizes of a link. The defaults are those of the protocol.
    package struct Limits: Sendable {
        package var handshakeTimeout: Duration = .seconds(10)
        /// With bytes waiting, at least one must be accepted within this time.
        package var writeProgressTimeout: Duration = .seconds(20)
        /// More than this many bytes waiting end the link as ``LinkEnd/slowPeer``.
        package var maximumQueuedBytes = 16 << 20
        /// At most about this many bytes are handed to libevent, and as many unsent to the kernel: what is beyond
        /// them can still be overtaken.
        package var writeAhead = 64 << 10

        package init() {}
    }

    enum State { case handshaking, open, flushing, lingering, ended }

    /// The handshake is done; the peer holds the key of this node id (32 bytes). The owner decides whether it may stay.
    package var onOpen: (([UInt8]) -> Void)?
    /// A whole frame came: type, flags, body.
    package var onFrame: ((UInt8, UInt8, [UInt8]) -> Void)?
    /// Bytes came, but not the whole of a frame yet.
    package var onPartialFrame: (() -> Void)?
    /// The peer broke the rules of framing. Nothing more is read; the owner says why and closes. Without this the link ends
    /// by itself.
    package var onViolation: ((LinkEnd) -> Void)?
    /// ``queuedBytes`` fell to ``Limits/writeAhead`` or less after it had been above.
    package var onWritable: (() -> Void)?
    /// The link is gone. Runs exactly once, last.
    package var onClose: ((LinkEnd) -> Void)?

    /// Longest body accepted, in bytes. Small until the owner trusts the peer and raises it.
    package var maximumBody = 4096

    let loop: EventLoop
    let limits: Limits
    var state = State.handshaking
    var bufferevent: OpaquePointer?
    var outbox = LinkOutbox()
    var isPaused = false
    var wantsWritable = false
    /// Bytes libevent has been given in all, for the progress watchdog.
    var handedOver: UInt64 = 0
    var deadline: TimerToken?
    var watchdog: TimerToken?
    private var ticket: HandshakeTicket?
    /// Why the link ended, while the owner has not been told yet.
    private var farewell: LinkEnd?

    /// Starts the handshake on a connected, non-blocking stream socket, and owns it from now on, whatever happens.
    package init(
        loop: EventLoop, descriptor: Int32, context: TLSContext, role: Role, limits: Limits = Limits(),
        ticket: HandshakeTicket? = nil
    ) throws(TransportError) {
        loop.assertOnLoop()
        self.loop = loop
        self.limits = limits
        self.ticket = ticket
        setLinkOptions(descriptor, unsentBytes: limits.writeAhead)
        guard let session = context.newSession() else {
            Glibc.close(descriptor)
            throw .system(call: "SSL_new", code: ENOMEM)
        }
        let side = role == .server ? BUFFEREVENT_SSL_ACCEPTING : BUFFEREVENT_SSL_CONNECTING
        guard
            let bufferevent = bufferevent_openssl_socket_new(
                loop.base, descriptor, session, side, Int32(BEV_OPT_CLOSE_ON_FREE.rawValue))
        else {
            SSL_free(session)
            Glibc.close(descriptor)
            throw .system(call: "bufferevent_openssl_socket_new", code: ENOMEM)
        }
        self.bufferevent = bufferevent
        attach(bufferevent)
        ticket?.onCrowdedOut = { [unowned self] in end(.crowdedOut) }
        deadline = loop.schedule(after: limits.handshakeTimeout) { [unowned self] in end(.handshakeTimeout) }
    }

    /// Registers the C callbacks. The loop's list of resources holds `self` until ``end(_:)`` takes them away.
    private func attach(_ bufferevent: OpaquePointer) {
        loop.adopt(self)
        bufferevent_setcb(
            bufferevent,
            { _, context in TLSLink.from(context)?.readable() },
            { _, context in TLSLink.from(context)?.writable() },
            { _, what, context in
                let socketError = errno
                TLSLink.from(context)?.happened(Int32(what), socketError: socketError)
            }, Unmanaged.passUnretained(self).toOpaque())
        bufferevent_setwatermark(bufferevent, Int16(EV_WRITE), limits.writeAhead, 0)
        bufferevent_enable(bufferevent, Int16(EV_READ | EV_WRITE))
    }

    private static func from(_ context: UnsafeMutableRawPointer?) -> TLSLink? {
        context.map { Unmanaged<TLSLink>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Whether the handshake is done and neither side has begun to close.
    package var isOpen: Bool { state == .open }

    private func happened(_ what: Int32, socketError: Int32) {
        guard let bufferevent else { return }
        if what & BEV_EVENT_CONNECTED != 0 {
            opened(bufferevent)
        } else if state == .lingering {
            // We have said goodbye and sent everything; how the peer leaves no longer matters.
            end(.closedByUs)
        } else if what & BEV_EVENT_EOF != 0 {
            let rest = evbuffer_get_length(bufferevent_get_input(bufferevent))
            end(rest == 0 ? .peerClosed : .truncated)
        } else {
            end(.failure(of: bufferevent, socketError: socketError))
        }
    }

    private func opened(_ bufferevent: OpaquePointer) {
        guard state == .handshaking else { return }
        guard let session = bufferevent_openssl_get_ssl(bufferevent), let peer = peerNodeID(of: session) else {
            end(.tls("the peer sent no certificate"))
            return
        }
        deadline?.cancel()
        deadline = nil
        state = .open
        onOpen?(peer)
        refill()
    }

    /// The owner has decided that the peer may stay: it no longer counts among the callers of whom nothing is known, of
    /// which a ``Listener`` bears only so many.
    package func letIn() {
        ticket?.onCrowdedOut = nil
        ticket = nil
    }

    /// Ends the link at once; unsent bytes are lost. ``onClose`` follows soon, with ``LinkEnd/closedByUs``.
    package func abort() {
        loop.assertOnLoop()
        endSoon(.closedByUs)
    }

    func loopIsStopping() { if let farewell { tell(farewell) } else { end(.closedByUs) } }

    /// Frees the connection and tells the owner. Only from the loop's own callbacks.
    func end(_ reason: LinkEnd) {
        guard state != .ended else { return }
        release()
        tell(reason)
    }

    /// Frees the connection now, and tells the owner in a later turn of the loop, because it is inside a call of ours.
    func endSoon(_ reason: LinkEnd) {
        guard state != .ended else { return }
        release()
        farewell = reason
        loop.adopt(self)
        loop.schedule(after: .zero) { [weak self] in self?.tell(reason) }
    }

    /// Callbacks usually make reference cycles with their owner; the last one cuts them all.
    private func tell(_ reason: LinkEnd) {
        let tell = onClose
        farewell = nil
        onOpen = nil
        onFrame = nil
        onPartialFrame = nil
        onViolation = nil
        onWritable = nil
        onClose = nil
        loop.forget(self)
        tell?(reason)
    }

    private func release() {
        state = .ended
        deadline?.cancel()
        watchdog?.cancel()
        deadline = nil
        watchdog = nil
        ticket?.onCrowdedOut = nil
        ticket = nil
        outbox.removeAll()
        if let bufferevent {
            bufferevent_setcb(bufferevent, nil, nil, nil, nil)
            bufferevent_free(bufferevent)
        }
        bufferevent = nil
        loop.forget(self)
    }
}
