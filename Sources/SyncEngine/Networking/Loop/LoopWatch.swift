internal import CLibevent
internal import CLinux
internal import Glibc

/// Watches a file descriptor on an ``EventLoop``. Loop thread only. Does not own the descriptor.
final class DescriptorWatch: LoopResource {
    enum Interest { case readable, writable }

    private unowned let loop: EventLoop
    private var event: OpaquePointer?
    private var handler: (() -> Void)?

    /// Calls `handler` whenever `descriptor` is ready, until ``cancel()``.
    init(loop: EventLoop, descriptor: Int32, interest: Interest, handler: @escaping () -> Void) {
        self.loop = loop
        self.handler = handler
        let what = interest == .readable ? EV_READ : EV_WRITE
        // Unretained: the loop's list of resources keeps this object alive as long as the event exists.
        event = event_new(
            loop.base, descriptor, Int16(what | EV_PERSIST),
            { _, _, context in
                guard let context else { return }
                Unmanaged<DescriptorWatch>.fromOpaque(context).takeUnretainedValue().handler?()
            }, Unmanaged.passUnretained(self).toOpaque())
        event_add(event, nil)
        loop.adopt(self)
    }

    func cancel() {
        guard let event else { return }
        event_free(event)
        self.event = nil
        handler = nil
        loop.forget(self)
    }

    func loopIsStopping() { cancel() }
}

/// Delivers Unix signals on an ``EventLoop`` as ordinary callbacks, through `signalfd(2)`. Loop thread only.
package final class SignalWatch: LoopResource {
    private unowned let loop: EventLoop
    private var descriptor: Int32
    private var watch: DescriptorWatch?

    fileprivate init(loop: EventLoop, signals: [Int32], handler: @escaping (Int32) -> Void) throws(TransportError) {
        self.loop = loop
        var set = EventLoop.signalSet(signals)
        descriptor = signalfd(-1, &set, Int32(SFD_NONBLOCK | SFD_CLOEXEC))
        guard descriptor >= 0 else { throw .system(call: "signalfd", code: errno) }
        watch = DescriptorWatch(loop: loop, descriptor: descriptor, interest: .readable) { [unowned self] in
            var info = signalfd_siginfo()
            while descriptor >= 0, read(descriptor, &info, MemoryLayout.size(ofValue: info)) > 0 {
                handler(Int32(info.ssi_signo))
            }
        }
        loop.adopt(self)
    }

    /// No more callbacks. The signals stay blocked.
    package func cancel() {
        loop.assertOnLoop()
        release()
    }

    func loopIsStopping() { release() }

    private func release() {
        guard descriptor >= 0 else { return }
        watch?.cancel()
        close(descriptor)
        descriptor = -1
        loop.forget(self)
    }
}

extension EventLoop {
    /// Blocks `signals` for the calling thread and all threads it starts later. Call it first thing in `main`: a
    /// signal that any thread leaves unblocked never reaches ``onSignal(_:handler:)``.
    package static func blockSignals(_ signals: [Int32]) {
        var set = signalSet(signals)
        pthread_sigmask(SIG_BLOCK, &set, nil)
    }

    /// Calls `handler` on the loop thread for each of the (blocked) `signals` the process receives. Loop thread only.
    @discardableResult
    package func onSignal(
        _ signals: [Int32], handler: @escaping (Int32) -> Void
    ) throws(TransportError) -> SignalWatch {
        assertOnLoop()
        return try SignalWatch(loop: self, signals: signals, handler: handler)
    }

    fileprivate static func signalSet(_ signals: [Int32]) -> sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        for signal in signals { sigaddset(&set, signal) }
        return set
    }
}
