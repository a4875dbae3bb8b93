internal import CLibevent
internal import Glibc

/// A timer of an ``EventLoop``, made by ``EventLoop/schedule(after:_:)``. It fires at most once.
///
/// Loop thread only. The loop holds it until it fires, is cancelled, or the loop stops.
package final class TimerToken: LoopResource {
    private unowned let loop: EventLoop
    private var event: OpaquePointer?
    private var job: (() -> Void)?

    init(loop: EventLoop, delay: Duration, job: @escaping () -> Void) {
        self.loop = loop
        self.job = job
        // Unretained: the loop's list of resources keeps this object alive as long as the event exists.
        event = event_new(
            loop.base, -1, 0,
            { _, _, context in
                guard let context else { return }
                Unmanaged<TimerToken>.fromOpaque(context).takeUnretainedValue().fire()
            }, Unmanaged.passUnretained(self).toOpaque())
        var interval = timeval(delay)
        event_add(event, &interval)
        loop.adopt(self)
    }

    /// Whether the timer may still fire.
    package var isPending: Bool { event != nil }

    /// The job will not run. Harmless after it ran.
    package func cancel() {
        loop.assertOnLoop()
        release()
    }

    func loopIsStopping() { release() }

    private func fire() {
        let job = self.job
        release()
        job?()
    }

    private func release() {
        guard let event else { return }
        event_free(event)
        self.event = nil
        job = nil
        loop.forget(self)
    }
}

extension timeval {
    /// Rounded up to a microsecond; negative durations count as zero.
    init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        guard duration > .zero else {
            self.init(tv_sec: 0, tv_usec: 0)
            return
        }
        let microseconds = (attoseconds + 999_999_999_999) / 1_000_000_000_000
        self.init(tv_sec: Int(seconds + microseconds / 1_000_000), tv_usec: Int(microseconds % 1_000_000))
    }
}
