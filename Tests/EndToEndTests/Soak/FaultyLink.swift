import Foundation

/// A TCP proxy between two nodes whose network a test can spoil.
///
/// ## Concurrency model
/// `@unchecked Sendable`: `state` is guarded by `lock`; each connection has two threads that read it, and closes its sockets
/// when both have ended.
final class FaultyLink: @unchecked Sendable {
    enum Fault: Equatable {
        case none
        /// Nothing arrives for a while, and then all of it, as TCP sends again: a short partition.
        case held
        /// Connections are cut and new ones refused.
        case cut
        /// Those that stand now have lost the other end without a word: what is sent goes nowhere, for ever.
        case halfOpen
        /// Every piece arrives so much later.
        case late(milliseconds: UInt32)
        /// So many bytes a second.
        case slow(bytesPerSecond: Int)
    }

    private struct State {
        var fault = Fault.none
        var isClosed = false
        var connections: [Connection] = []
    }

    /// Two sockets that belong together.
    /// `@unchecked Sendable`: what changes is guarded by the link's lock.
    private final class Connection: @unchecked Sendable {
        let ends: [Int32]
        var isLost = false
        var threads = 2
        init(_ a: Int32, _ b: Int32) { ends = [a, b] }
    }

    let port: Int
    private let target: Int
    private let listener: Int32
    private let lock = NSLock()
    private var state = State()

    /// Listens on a port of its own choice and passes on to `target` of this machine.
    init(to target: Int) throws {
        self.target = target
        (listener, port) = try Self.listen()
        Thread.detachNewThread { [self] in acceptAll() }
    }

    private static func listen() throws -> (descriptor: Int32, port: Int) {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = loopback(0)
        let bound = withAddress(&address) { bind(descriptor, $0, $1) }
        guard bound == 0, Foundation.listen(descriptor, 64) == 0 else { throw POSIXError(.EADDRINUSE) }
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        return (descriptor, Int(UInt16(bigEndian: address.sin_port)))
    }

    var fault: Fault {
        get { lock.withLock { state.fault } }
        set {
            lock.withLock {
                state.fault = newValue
                if newValue == .cut { state.connections.forEach(shutDown) }
                if newValue == .halfOpen { state.connections.forEach { $0.isLost = true } }
            }
        }
    }

    func close() {
        lock.withLock {
            state.isClosed = true
            state.connections.forEach(shutDown)
        }
        shutdown(listener, Int32(SHUT_RDWR))
        Foundation.close(listener)
    }

    private func shutDown(_ connection: Connection) {
        for end in connection.ends { shutdown(end, Int32(SHUT_RDWR)) }
    }

    private func acceptAll() {
        while true {
            let caller = accept(listener, nil, nil)
            if lock.withLock({ state.isClosed }) { return }
            guard caller >= 0 else {
                usleep(10_000)
                continue
            }
            let callee = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            var address = loopback(target)
            guard fault != .cut, fault != .held, withAddress(&address, { connect(callee, $0, $1) }) == 0 else {
                Foundation.close(caller)
                Foundation.close(callee)
                continue
            }
            let connection = Connection(caller, callee)
            connection.isLost = fault == .halfOpen
            lock.withLock { state.connections.append(connection) }
            for (from, to) in [(caller, callee), (callee, caller)] {
                Thread.detachNewThread { [self] in pump(connection, from, to) }
            }
        }
    }

    private func pump(_ connection: Connection, _ from: Int32, _ to: Int32) {
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        while true {
            let count = recv(from, &buffer, buffer.count, 0)
            guard count > 0 else { break }
            switch weather(connection) {
            case .halfOpen: continue
            case .late(let milliseconds): usleep(milliseconds * 1_000)
            case .slow(let rate): usleep(UInt32(count * 1_000_000 / rate))
            case .held, .cut, .none: break
            }
            while weather(connection) == .held { usleep(5_000) }
            var sent = 0
            while sent < count {
                let more = buffer[sent..<count].withUnsafeBytes {
                    send(to, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                guard more > 0 else { break }
                sent += more
            }
            guard sent == count else { break }
        }
        lock.withLock {
            // One that lost its other end does not hear of its leaving either.
            if !connection.isLost { shutDown(connection) }
            connection.threads -= 1
            guard connection.threads == 0 else { return }
            connection.ends.forEach { _ = Foundation.close($0) }
            state.connections.removeAll { $0 === connection }
        }
    }

    private func weather(_ connection: Connection) -> Fault {
        lock.withLock {
            state.isClosed ? .none : connection.isLost ? .halfOpen : state.fault == .halfOpen ? .none : state.fault
        }
    }
}

private func loopback(_ port: Int) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    return address
}

private func withAddress(
    _ address: inout sockaddr_in, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
) -> Int32 {
    withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
    }
}

/// A port that was free a moment ago. It lies below those that the kernel gives to outgoing connections (ip_local_port_range begins with 32768):
/// among these another test's connection may take it before a daemon listens.
func freePort() throws -> Int {
    for _ in 0..<1_000 {
        let port = Int.random(in: 10_000..<32_000)
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { _ = Foundation.close(descriptor) }
        var address = loopback(port)
        if withAddress(&address, { bind(descriptor, $0, $1) }) == 0 { return port }
    }
    throw POSIXError(.EADDRINUSE)
}
