internal import CLibevent

/// Runs a job when everything that was found ready at once has been served: at the end of a turn of the loop, without
/// asking the kernel again. Loop thread only.
package final class TurnEnd: LoopResource {
    private unowned let loop: EventLoop
    private var event: OpaquePointer?
    private var job: (() -> Void)?

    /// `job` is held, and may be asked for, until the loop stops.
    package init(loop: EventLoop, job: @escaping () -> Void) {
        loop.assertOnLoop()
        self.loop = loop
        self.job = job
        // Unretained: the loop's list of resources keeps this object alive as long as the event exists.
        event = event_new(
            loop.base, -1, 0,
            { _, _, context in
                guard let context else { return }
                Unmanaged<TurnEnd>.fromOpaque(context).takeUnretainedValue().job?()
            }, Unmanaged.passUnretained(self).toOpaque())
        loop.adopt(self)
    }

    /// Asks for the job, once, at the end of the turn at hand. libevent appends it to what it has to call in this turn.
    package func request() {
        if let event { event_active(event, Int32(EV_TIMEOUT), 0) }
    }

    func loopIsStopping() {
        if let event { event_free(event) }
        event = nil
        job = nil
        loop.forget(self)
    }
}
