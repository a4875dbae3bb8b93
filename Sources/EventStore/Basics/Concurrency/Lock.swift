internal import Glibc

/// A value behind a `pthread_mutex_t`. (`Synchronization.Mutex` of Swift 6.3.1 is a priority-inheritance futex that
/// is slow under contention and that ThreadSanitizer reports as racing.)
///
/// `@unchecked Sendable`: `state` is only touched while the mutex is held.
package final class Lock<State: ~Copyable>: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private var state: State

    package init(_ state: consuming sending State) {
        mutex = .allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
        self.state = state
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    package func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout State) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&state)
    }
}

/// What a thread that looked at a ``Monitor``'s value does next.
package enum Waiting<Result> {
    case done(Result)
    /// Waits to be woken.
    case forever
    /// Waits to be woken, at most until this time (nanoseconds of ``MonotonicClock``).
    case until(UInt64)
}

/// Who waits at a ``Monitor``, where not all need to be woken: each that is costs the one who wakes them some 10 µs.
package struct Waiters: OptionSet, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Those who do what is to be done: all who do not say otherwise.
    package static let workers = Waiters(rawValue: 1)
    /// Those who look at what was done.
    package static let readers = Waiters(rawValue: 2)
}

/// A value behind a mutex, with a condition that threads wait for.
///
/// `@unchecked Sendable`: as ``Lock``.
package final class Monitor<State>: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    /// For the workers and for the readers.
    private let conditions: UnsafeMutablePointer<pthread_cond_t>
    private var state: State

    package init(_ state: sending State) {
        mutex = .allocate(capacity: 1)
        conditions = .allocate(capacity: 2)
        pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        for index in 0..<2 { pthread_cond_init(conditions + index, &attributes) }
        pthread_condattr_destroy(&attributes)
        self.state = state
    }

    deinit {
        for index in 0..<2 { pthread_cond_destroy(conditions + index) }
        pthread_mutex_destroy(mutex)
        conditions.deallocate()
        mutex.deallocate()
    }

    private func condition(_ waiters: Waiters) -> UnsafeMutablePointer<pthread_cond_t> {
        conditions + (waiters.contains(.readers) ? 1 : 0)
    }

    /// Runs `body` under the mutex, then wakes every waiting thread if `body` returns true.
    package func update(_ body: (inout State) -> Bool) {
        wake { state in body(&state) ? [.workers, .readers] : [] }
    }

    /// Runs `body` under the mutex, then wakes every waiting thread.
    package func wakeAll(_ body: (inout State) -> Void) {
        update { state in
            body(&state)
            return true
        }
    }

    /// Runs `body` under the mutex, then wakes those whom it returns.
    package func wake(_ body: (inout State) -> Waiters) {
        pthread_mutex_lock(mutex)
        let woken = body(&state)
        pthread_mutex_unlock(mutex)
        if woken.contains(.workers) { pthread_cond_broadcast(condition(.workers)) }
        if woken.contains(.readers) { pthread_cond_broadcast(condition(.readers)) }
    }

    /// Runs `body` under the mutex, then wakes one of the workers if `body` returns true: for those who do all the same.
    package func wakeOne(_ body: (inout State) -> Bool) {
        pthread_mutex_lock(mutex)
        let isWoken = body(&state)
        pthread_mutex_unlock(mutex)
        if isWoken { pthread_cond_signal(condition(.workers)) }
    }

    package func withLock<Result>(_ body: (inout State) -> Result) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body(&state)
    }

    /// Waits until `body`, asked again after each wake-up and at each of its deadlines, is done.
    package func wait<Result>(for body: (inout State) -> Waiting<Result>) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            switch body(&state) {
            case .done(let result): return result
            case .forever: pthread_cond_wait(condition(.workers), mutex)
            case .until(let deadline):
                var time = timespec(tv_sec: Int(deadline / 1_000_000_000), tv_nsec: Int(deadline % 1_000_000_000))
                pthread_cond_timedwait(condition(.workers), mutex, &time)
            }
        }
    }

    /// Waits until `body` gives a value, or until `milliseconds` have passed (then `nil`; forever if not given).
    package func wait<Result>(
        as waiter: Waiters = .workers, milliseconds: Int? = nil, for body: (inout State) -> Result?
    ) -> Result? {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        let deadline = milliseconds.map { MonotonicClock.now + UInt64($0) * 1_000_000 }
        while true {
            if let result = body(&state) { return result }
            guard let deadline else {
                pthread_cond_wait(condition(waiter), mutex)
                continue
            }
            var time = timespec(tv_sec: Int(deadline / 1_000_000_000), tv_nsec: Int(deadline % 1_000_000_000))
            if pthread_cond_timedwait(condition(waiter), mutex, &time) == ETIMEDOUT { return body(&state) }
        }
    }
}
