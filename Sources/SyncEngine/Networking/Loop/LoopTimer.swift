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
        var interval = delay.timeInterval
        event_add(event, &interval)
        loop.adopt(self)
    }

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

extension Duration {
    /// Rounded up; negative durations count as zero.
    var wholeMicroseconds: Int64 {
        let (seconds, attoseconds) = max(self, .zero).components
        return seconds * 1_000_000 + (attoseconds + 999_999_999_999) / 1_000_000_000_000
    }

    /// As ``MonotonicClock`` counts.
    var wholeNanoseconds: UInt64 { UInt64(wholeMicroseconds) * 1000 }

    /// libevent's form of ``wholeMicroseconds``.
    var timeInterval: timeval {
        timeval(tv_sec: Int(wholeMicroseconds / 1_000_000), tv_usec: Int(wholeMicroseconds % 1_000_000))
    }
}
