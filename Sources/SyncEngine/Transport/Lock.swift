internal import Glibc

/// Guards a value with a `pthread_mutex_t`.
///
/// `Synchronization.Mutex` of Swift 6.3.1 is not understood by ThreadSanitizer; a pthread mutex is.
///
/// ## Concurrency model
/// The state is reached only inside ``withLock(_:)``, on whichever thread calls it. Not recursive.
/// `@unchecked Sendable`: the compiler cannot see that the mutex orders every access to `state`.
final class Lock<State>: @unchecked Sendable {
    /// On the heap, because a mutex must never move.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private var state: State

    init(_ state: State) {
        self.state = state
        mutex = .allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    func withLock<Result, Failure: Error>(
        _ body: (inout State) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&state)
    }
}
