internal import CLibevent
internal import Glibc

/// A libevent listener that survives a lack of file descriptors: on an accept error it rests for 200 ms, instead of
/// spinning on the same error. It survives a flood of callers, too: of them it takes some in a turn. Loop thread only.
final class ListeningSocket {
    typealias Accept = (Int32, SocketAddress) -> Void

    private let loop: EventLoop
    private let accept: Accept
    private var listener: OpaquePointer?
    private var rest: TimerToken?
    /// So many are let in in one turn of the loop. libevent lets in callers as long as there are any: who calls, is closed and calls again
    /// would keep the loop from all others.
    static let most = 64
    private var turn: UInt64 = 0
    private var taken = 0
    /// Accept errors met so far.
    private(set) var errors = 0
    /// False stops accepting; the kernel's backlog holds new connections.
    var isEnabled = true { didSet { apply() } }

    /// Owns `descriptor`, which is bound. Those that `accept` gets do not block.
    init(loop: EventLoop, descriptor: Int32, accept: @escaping Accept) throws(TransportError) {
        self.loop = loop
        self.accept = accept
        let flags = UInt32(LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC)
        let made = evconnlistener_new(
            loop.base,
            { _, descriptor, address, length, context in
                guard let address else { return }
                let peer = SocketAddress(copying: address, length: socklen_t(length))
                ListeningSocket.from(context)?.take(descriptor, peer)
            }, Unmanaged.passUnretained(self).toOpaque(), flags, 512, descriptor)
        guard let made else {
            let code = errno
            Glibc.close(descriptor)
            throw .system(call: "listen", code: code)
        }
        listener = made
        evconnlistener_set_error_cb(made) { _, context in ListeningSocket.from(context)?.failed() }
    }

    /// A TCP socket bound to a numeric address (or `localhost`), not yet listening.
    static func bindTCP(host: String, port: UInt16) throws(TransportError) -> Int32 {
        guard let address = address(host, port: port) else { throw .notAnAddress(host) }
        let descriptor = socket(address.family, SocketType.nonBlockingStream, 0)
        guard descriptor >= 0 else { throw .system(call: "socket", code: errno) }
        setOption(descriptor, SOL_SOCKET, SO_REUSEADDR, 1)
        // Accepted sockets inherit it; the pieces of an answer would wait 40 ms for each other.
        setOption(descriptor, tcpLevel, TCP_NODELAY, 1)
        guard address.withPointer({ bind(descriptor, $0, address.length) }) == 0 else {
            let code = errno
            Glibc.close(descriptor)
            throw .system(call: "bind \(host):\(port)", code: code)
        }
        return descriptor
    }

    /// A numeric address (or `localhost`) in the kernel's form.
    fileprivate static func address(_ host: String, port: UInt16) -> SocketAddress? {
        let numeric = host == "localhost" ? "127.0.0.1" : host
        guard case .success(let found) = SocketAddress.lookUp(numeric, port: port, numericOnly: true) else {
            return nil
        }
        return found.first
    }

    /// The local port; 0 for a Unix socket and after ``close()``.
    var boundPort: UInt16 {
        guard let listener else { return 0 }
        let address = SocketAddress(ofLocalEnd: evconnlistener_get_fd(listener))
        return address.map { $0.family == AF_UNIX ? 0 : $0.port } ?? 0
    }

    /// Stops listening, and resting, for good.
    func close() {
        rest?.cancel()
        rest = nil
        if let listener { evconnlistener_free(listener) }
        listener = nil
    }

    private static func from(_ context: UnsafeMutableRawPointer?) -> ListeningSocket? {
        context.map { Unmanaged<ListeningSocket>.fromOpaque($0).takeUnretainedValue() }
    }

    private func take(_ descriptor: Int32, _ peer: SocketAddress) {
        accept(descriptor, peer)
        if turn != loop.turn { (turn, taken) = (loop.turn, 0) }
        taken += 1
        if taken == Self.most { pause(.zero) }
    }

    func failed() {
        errors += 1
        pause(.milliseconds(200))
    }

    private func pause(_ time: Duration) {
        rest?.cancel()
        rest = loop.schedule(after: time) { [weak self] in
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

/// An address that a configuration names.
package enum ListeningAddress {
    /// Why this process cannot listen there; `nil` if it can, or could if no other did.
    package static func problem(host: String, port: UInt16) -> TransportError? {
        do throws(TransportError) {
            close(try ListeningSocket.bindTCP(host: host, port: port))
            return nil
        } catch {
            if case .system(_, EADDRINUSE) = error { return nil }
            return error
        }
    }

    /// Whether both are one address, or one of them is all addresses and the other among these: one port serves only one of them.
    package static func overlap(_ one: String, _ other: String) -> Bool {
        guard let one = numeric(one), let other = numeric(other) else { return false }
        func isAll(_ host: String, of others: String) -> Bool {
            // The IPv6 one takes IPv4, too (ipv6(7), IPV6_V6ONLY).
            host == "::" || host == "0.0.0.0" && !others.contains(":")
        }
        return one == other || isAll(one, of: other) || isAll(other, of: one)
    }

    /// In the one form that the system gives it; an IPv4 address in IPv6 as itself.
    private static func numeric(_ host: String) -> String? {
        guard let host = ListeningSocket.address(host, port: 0)?.host else { return nil }
        return host.hasPrefix("::ffff:") && host.contains(".") ? String(host.dropFirst("::ffff:".count)) : host
    }
}
