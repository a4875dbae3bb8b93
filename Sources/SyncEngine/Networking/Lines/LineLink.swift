internal import CLibevent
internal import EventStore
internal import Glibc

/// One connection of a ``LineServer``. Loop thread only; the server holds it until it is closed.
package final class LineLink {
    /// How long a client may take to say goodbye.
    private static let goodbye: UInt64 = 1_000_000_000

    /// No other connection of this server has or had it.
    package let number: UInt64
    private unowned let server: LineServer
    private let descriptor: Int32
    private var readWatch: DescriptorWatch?
    private var writeWatch: DescriptorWatch?
    /// What the kernel has not taken yet.
    private var output: [UInt8] = []
    private var isClosed = false
    private(set) var isLeaving = false
    /// Nanoseconds of ``MonotonicClock``.
    private var lastProgress = MonotonicClock.now
    /// The client sends no more. It may still read.
    package private(set) var hasEnded = false

    /// What came; the bytes are there for the length of the call.
    package var onBytes: ((UnsafeRawBufferPointer) -> Void)?
    /// The client sends no more.
    package var onEnd: (() -> Void)?
    /// The kernel has taken everything that was sent.
    package var onDrained: (() -> Void)?
    /// It is closed, by either side.
    package var onClosed: (() -> Void)?

    init(server: LineServer, number: UInt64, descriptor: Int32) {
        (self.server, self.number, self.descriptor) = (server, number, descriptor)
    }

    /// Whether bytes are wanted.
    package var isReading = false {
        didSet {
            guard isReading != oldValue, !isClosed else { return }
            readWatch?.cancel()
            readWatch = nil
            guard isReading, !hasEnded else { return }
            readWatch = DescriptorWatch(loop: server.loop, descriptor: descriptor, interest: .readable) {
                [weak self] in self?.readable()
            }
        }
    }

    /// Whether the kernel has all that was sent.
    package var isDrained: Bool { output.isEmpty }

    /// The client has done something that counts: the time of ``LineServer/Limits/idle`` begins anew.
    package func touch() { lastProgress = MonotonicClock.now }

    /// Sends bytes in one write, where the kernel takes them; what it does not take waits.
    package func send(_ bytes: [UInt8]) {
        guard !isClosed, !isLeaving else { return }
        guard output.isEmpty else {
            output += bytes
            return
        }
        let count = write(bytes[...])
        guard !isClosed, count < bytes.count else { return }
        output = Array(bytes[count...])
        writeWatch = DescriptorWatch(loop: server.loop, descriptor: descriptor, interest: .writable) {
            [weak self] in self?.writable()
        }
    }

    /// Closes the connection when everything has been taken: the client's end is awaited, so that nothing it has not read is lost.
    package func finish() {
        guard !isClosed, !isLeaving else { return }
        isLeaving = true
        lastProgress = MonotonicClock.now
        if output.isEmpty { leave() }
    }

    /// Closes at once.
    package func close() {
        guard !isClosed else { return }
        isClosed = true
        readWatch?.cancel()
        writeWatch?.cancel()
        (readWatch, writeWatch) = (nil, nil)
        Glibc.close(descriptor)
        server.forget(self)
        let closed = onClosed
        (onBytes, onEnd, onDrained, onClosed) = (nil, nil, nil, nil)
        closed?()
    }

    func isOver(now: UInt64) -> Bool {
        guard now > lastProgress else { return false }
        // A client that is to go may take what waits for it within its time; then its goodbye is short.
        return now - lastProgress > (isLeaving && output.isEmpty ? Self.goodbye : server.limits.idle.wholeNanoseconds)
    }

    private func leave() {
        if hasEnded { return close() }
        shutdown(descriptor, Int32(SHUT_WR))
        lastProgress = MonotonicClock.now
        isReading = true
    }

    private func readable() {
        let count = server.scratch.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress, $0.count, 0) }
        if count < 0 {
            if errno != EAGAIN, errno != EINTR { close() }
            return
        }
        guard count > 0 else {
            hasEnded = true
            isReading = false
            if isLeaving { return output.isEmpty ? close() : () }
            onEnd?()
            return
        }
        // Of a client that is to go nothing more counts.
        guard !isLeaving else { return }
        server.scratch.withUnsafeBytes { onBytes?(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
    }

    private func writable() {
        let count = write(output[...])
        guard !isClosed else { return }
        output.removeFirst(count)
        if count > 0 { touch() }
        guard output.isEmpty else { return }
        writeWatch?.cancel()
        writeWatch = nil
        if isLeaving { return leave() }
        onDrained?()
    }

    /// How many bytes the kernel took; a client that is gone is closed.
    private func write(_ bytes: ArraySlice<UInt8>) -> Int {
        while true {
            let count = bytes.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count >= 0 { return count }
            if errno == EINTR { continue }
            if errno != EAGAIN { close() }
            return 0
        }
    }
}
