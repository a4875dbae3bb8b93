internal import EventStore
internal import CLibevent
internal import CLinux
internal import Glibc

/// Something that lives on one loop and must let go of the loop's memory before the loop ends.
protocol LoopResource: AnyObject {
    /// Runs once, on the loop thread, while the loop stops.
    func loopIsStopping()
}

/// One thread running one libevent `event_base`.
///
/// ## Concurrency model
/// The loop owns one thread, from ``start(name:)`` to ``stop()``. Only ``post(_:)``, ``sync(_:)``, ``isOnLoop`` and
/// ``stop()`` are for any thread; everything else, and every object made for the loop (links, listeners,
/// servers, timers), belongs to the loop thread and checks that it is there. The base is made without libevent's
/// own locks; other threads reach it through a locked array and one `eventfd`, written only while the thread sleeps: it
/// looks for jobs after each turn.
/// `@unchecked Sendable`: `shared` is locked, `resources`, `base`, `wakeEvent` and `isOver` are touched by the
/// loop thread alone (or before it exists), and the other properties never change.
package final class EventLoop: @unchecked Sendable {
    package typealias Job = @Sendable () -> Void

    private enum Phase { case idle, running, stopped }

    private struct Shared {
        var jobs: [Job] = []
        var phase = Phase.idle
        /// Whether the thread sleeps, or is about to, and has not been woken.
        var isAsleep = false
        var thread: pthread_t?
        var joinable: pthread_t?

        /// Whether who has just queued a job is to wake the thread; asked once for each job.
        mutating func mustBeWoken() -> Bool {
            guard isAsleep, thread.map({ pthread_equal($0, pthread_self()) != 0 }) != true else { return false }
            isAsleep = false
            return true
        }
    }

    let base: OpaquePointer
    private let wakeFD: Int32
    private let shared = Lock(Shared())
    private var wakeEvent: OpaquePointer?
    private var resources: [ObjectIdentifier: any LoopResource] = [:]
    private var isOver = false
    /// How often it has waited for events. Loop thread only.
    private(set) var turn: UInt64 = 0

    /// Makes a loop that does not run yet, and makes the process ignore `SIGPIPE` (see ``ignoreBrokenPipes()``).
    package init() throws(TransportError) {
        EventLoop.ignoreBrokenPipes()
        guard let configuration = event_config_new() else {
            throw .system(call: "event_config_new", code: ENOMEM)
        }
        defer { event_config_free(configuration) }
        // No list of changes for epoll: where a descriptor is closed and given out again within one turn, libevent 2.1 takes over from the
        // old watch that it is edge-triggered, and the end of the new connection is never seen.
        event_config_set_flag(configuration, Int32(EVENT_BASE_FLAG_NOLOCK.rawValue))
        guard let base = event_base_new_with_config(configuration) else {
            throw .system(call: "event_base_new", code: errno)
        }
        wakeFD = eventfd(0, Int32(EFD_NONBLOCK | EFD_CLOEXEC))
        guard wakeFD >= 0 else {
            let code = errno
            event_base_free(base)
            throw .system(call: "eventfd", code: code)
        }
        self.base = base
        // Unretained: the event is freed in `tearDown`, which runs while there is still a reference to the loop.
        wakeEvent = event_new(
            base, wakeFD, Int16(EV_READ | EV_PERSIST),
            { _, _, context in
                guard let context else { return }
                Unmanaged<EventLoop>.fromOpaque(context).takeUnretainedValue().drain()
            }, Unmanaged.passUnretained(self).toOpaque())
        event_add(wakeEvent, nil)
    }

    deinit {
        // A running loop is held by its own thread, so this one never started or has been torn down.
        if wakeEvent != nil { tearDown() }
        close(wakeFD)
    }

    /// A write to a closed socket must be an error of that call, not the end of the process.
    package static func ignoreBrokenPipes() {
        _ = signal(SIGPIPE, SIG_IGN)
    }

    /// Starts the thread. `name` (at most 15 bytes are kept) shows in `top -H` and debuggers.
    package func start(name: String) throws(TransportError) {
        let begin = shared.withLock { shared -> Bool in
            guard shared.phase == .idle else { return false }
            shared.phase = .running
            return true
        }
        precondition(begin, "an event loop starts once")
        let context = Unmanaged.passRetained(ThreadStart(loop: self, name: name))
        var thread = pthread_t()
        let code = pthread_create(
            &thread, nil,
            { context in
                guard let context else { return nil }
                let start = Unmanaged<ThreadStart>.fromOpaque(context).takeRetainedValue()
                sillok_name_this_thread(start.name)
                start.loop.run()
                return nil
            }, context.toOpaque())
        guard code == 0 else {
            context.release()
            shared.withLock { $0.phase = .stopped }
            throw .system(call: "pthread_create", code: code)
        }
        shared.withLock { $0.joinable = thread }
    }

    /// Runs `job` on the loop thread, after all jobs posted before it. Any thread may call.
    /// - Returns: false when the loop has stopped; the job is then dropped.
    @discardableResult
    package func post(_ job: @escaping Job) -> Bool {
        let (accepted, wake) = shared.withLock { shared -> (Bool, Bool) in
            guard shared.phase != .stopped else { return (false, false) }
            shared.jobs.append(job)
            return (true, shared.mustBeWoken())
        }
        if wake { eventfd_write(wakeFD, 1) }
        return accepted
    }

    /// Runs `body` on the loop thread and waits for its result. Blocks: never call it from Swift's cooperative pool
    /// in production code. On the loop thread itself `body` simply runs.
    /// - Returns: nil when the loop is not running.
    package func sync<Value: Sendable>(_ body: @escaping @Sendable () -> Value) -> Value? {
        if isOnLoop { return body() }
        guard shared.withLock({ $0.phase == .running }) else { return nil }
        let result = Lock<Value?>(nil)
        let done = Gate()
        guard
            post({
                let value = body()
                result.withLock { $0 = value }
                done.open()
            })
        else { return nil }
        done.wait()
        return result.withLock { $0 }
    }

    /// Runs the jobs already posted, closes everything that lives on the loop, ends the thread and waits for it.
    /// Not for the loop thread. Later uses return at once.
    package func stop() {
        precondition(!isOnLoop, "a loop cannot wait for itself")
        let thread = shared.withLock { shared -> pthread_t? in
            guard shared.phase == .running else {
                shared.phase = .stopped
                return nil
            }
            shared.phase = .stopped
            shared.jobs.append { [unowned self] in isOver = true }
            return shared.joinable
        }
        eventfd_write(wakeFD, 1)
        if let thread { pthread_join(thread, nil) }
    }

    /// Whether ``stop()`` has run: what is dropped from now on is dropped because of that.
    package var isStopping: Bool { shared.withLock { $0.phase == .stopped } }

    /// Whether the caller runs on the loop thread.
    package var isOnLoop: Bool {
        let thread = shared.withLock { $0.thread }
        return thread.map { pthread_equal($0, pthread_self()) != 0 } ?? false
    }

    /// Stops the process when the caller is not on the loop thread: that is a bug that would corrupt memory.
    package func assertOnLoop() {
        precondition(isOnLoop, "must be called on the event loop's thread")
    }

    /// Runs `job` once, on the loop thread, `delay` from now. Loop thread only.
    /// The token need not be kept: dropping it does not cancel the timer.
    @discardableResult
    package func schedule(after delay: Duration, _ job: @escaping () -> Void) -> TimerToken {
        assertOnLoop()
        return TimerToken(loop: self, delay: delay, job: job)
    }

    func adopt(_ resource: any LoopResource) {
        resources[ObjectIdentifier(resource)] = resource
    }

    func forget(_ resource: any LoopResource) {
        resources[ObjectIdentifier(resource)] = nil
    }

    private func run() {
        shared.withLock { $0.thread = pthread_self() }
        while !isOver {
            for job in takeJobs() { job() }
            turn += 1
            event_base_loop(base, EVLOOP_ONCE | (maySleep() ? EVLOOP_NO_EXIT_ON_EMPTY : EVLOOP_NONBLOCK))
        }
        while let resource = resources.first?.value {
            forget(resource)
            resource.loopIsStopping()
        }
        tearDown()
        shared.withLock { $0.thread = nil }
    }

    private func takeJobs() -> [Job] {
        shared.withLock { shared in
            shared.isAsleep = false
            defer { shared.jobs = [] }
            return shared.jobs
        }
    }

    /// Whether there is nothing to do but to wait for the kernel; a thread that posts a job from then on has to wake the thread.
    private func maySleep() -> Bool {
        guard !isOver else { return false }
        return shared.withLock { shared in
            shared.isAsleep = shared.jobs.isEmpty
            return shared.isAsleep
        }
    }

    /// The thread was woken: what for it finds after this turn.
    private func drain() {
        var count: eventfd_t = 0
        eventfd_read(wakeFD, &count)
    }

    private func tearDown() {
        // libevent frees closed bufferevents in a later turn; give it that turn before the base goes.
        event_base_loop(base, EVLOOP_NONBLOCK)
        if let wakeEvent { event_free(wakeEvent) }
        wakeEvent = nil
        event_base_free(base)
    }
}

/// What the new thread needs; it holds the loop until the thread ends.
private final class ThreadStart {
    let loop: EventLoop
    let name: String

    init(loop: EventLoop, name: String) {
        self.loop = loop
        self.name = name
    }
}

/// Opens once; `wait` returns when it has.
/// `@unchecked Sendable`: a POSIX semaphore on the heap is made for use from several threads.
private final class Gate: @unchecked Sendable {
    private let semaphore: UnsafeMutablePointer<sem_t>

    init() {
        semaphore = .allocate(capacity: 1)
        sem_init(semaphore, 0, 0)
    }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    func open() { sem_post(semaphore) }

    func wait() {
        while sem_wait(semaphore) != 0 && errno == EINTR {}
    }
}
