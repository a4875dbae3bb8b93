internal import EventStore
internal import CLibevent
internal import Glibc

/// A libevent listener that survives a lack of file descriptors: on an accept error it rests for 200 ms, instead of
/// spinning on the same error. Loop thread only.
final class ListeningSocket {
    typealias Accept = (Int32, SocketAddress) -> Void

    private let loop: EventLoop
    private let accept: Accept?
    private var listener: OpaquePointer?
    private var rest: TimerToken?
    /// Accept errors met so far.
    private(set) var errors = 0
    /// False stops accepting; the kernel's backlog holds new connections.
    var isEnabled = true { didSet { apply() } }

    /// Owns `descriptor`, which is bound. Without `accept` the listener must be given to evhttp.
    init(loop: EventLoop, descriptor: Int32, accept: Accept?) throws(TransportError) {
        self.loop = loop
        self.accept = accept
        let flags = UInt32(LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC)
        let callback: evconnlistener_cb? =
            accept == nil
            ? nil
            : { _, descriptor, address, length, context in
                guard let address else { return }
                let peer = SocketAddress(copying: address, length: socklen_t(length))
                ListeningSocket.from(context)?.accept?(descriptor, peer)
            }
        guard
            let listener = evconnlistener_new(
                loop.base, callback, Unmanaged.passUnretained(self).toOpaque(), flags, 512, descriptor)
        else {
            let code = errno
            Glibc.close(descriptor)
            throw .system(call: "listen", code: code)
        }
        self.listener = listener
        if accept != nil {
            evconnlistener_set_error_cb(listener) { _, context in ListeningSocket.from(context)?.failed() }
        }
    }

    /// A TCP socket bound to a numeric address (or `localhost`), not yet listening.
    static func bindTCP(host: String, port: UInt16) throws(TransportError) -> Int32 {
        let numeric = host == "localhost" ? "127.0.0.1" : host
        guard case .success(let found) = SocketAddress.lookUp(numeric, port: port, numericOnly: true),
            let address = found.first
        else { throw .notAnAddress(host) }
        let descriptor = socket(address.family, SocketType.nonBlockingStream, 0)
        guard descriptor >= 0 else { throw .system(call: "socket", code: errno) }
        setOption(descriptor, SOL_SOCKET, SO_REUSEADDR, 1)
        // Accepted sockets inherit this one; evhttp never sets it, and replies over it would wait 40 ms.
        setOption(descriptor, tcpLevel, TCP_NODELAY, 1)
        guard address.withPointer({ bind(descriptor, $0, address.length) }) == 0 else {
            let code = errno
            Glibc.close(descriptor)
            throw .system(call: "bind \(host):\(port)", code: code)
        }
        return descriptor
    }

    /// The local port; 0 for a Unix socket and after ``close()``.
    var boundPort: UInt16 {
        guard let listener else { return 0 }
        let address = SocketAddress(ofLocalEnd: evconnlistener_get_fd(listener))
        return address.map { $0.family == AF_UNIX ? 0 : $0.port } ?? 0
    }

    /// Hands the listener to evhttp, which from then on owns and frees it.
    func serve(_ http: OpaquePointer) throws(TransportError) {
        guard let listener, evhttp_bind_listener(http, listener) != nil else {
            throw .system(call: "evhttp_bind_listener", code: ENOMEM)
        }
        // evhttp has put its own argument in place of ours, so errors find us through the listener's address.
        servedByHTTP.withLock { $0[listener] = loop.bind(self) }
        evconnlistener_set_error_cb(listener) { listener, _ in
            guard let listener else { return }
            servedByHTTP.withLock { $0[listener] }?.value.failed()
        }
    }

    /// Stops resting for good; with `freeing` the socket is closed too (not when evhttp owns it).
    func close(freeing: Bool) {
        rest?.cancel()
        rest = nil
        if let listener {
            servedByHTTP.withLock { $0[listener] = nil }
            if freeing { evconnlistener_free(listener) }
        }
        listener = nil
    }

    private static func from(_ context: UnsafeMutableRawPointer?) -> ListeningSocket? {
        context.map { Unmanaged<ListeningSocket>.fromOpaque($0).takeUnretainedValue() }
    }

    func failed() {
        errors += 1
        rest?.cancel()
        rest = loop.schedule(after: .milliseconds(200)) { [weak self] in
            self?.rest = nil
            self?.apply()
        }
        apply()
    }

    private func apply() {
        guard let listener else { return }
        if isEnabled && rest == nil { evconnlistener_enable(listener) } else { evconnlistener_disable(listener) }
    }
}

/// Listeners that belong to evhttp, by address.
private let servedByHTTP = Lock<[OpaquePointer: LoopBound<ListeningSocket>]>([:])
