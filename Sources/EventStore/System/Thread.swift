internal import CLinux
internal import Glibc

/// A thread of our own: the blocking work of SQLite never runs on Swift's cooperative pool.
///
/// `@unchecked Sendable`: the handle is written once, before the thread is shared.
package final class WorkerThread: @unchecked Sendable {
    private var handle = pthread_t()

    /// Starts `body` on a thread called `name` (at most 15 bytes).
    ///
    /// - Parameter yields: It does not take the processor from whoever wakes it, and gives it back to whoever wakes up
    ///   (`SCHED_BATCH`, sched(7)): for work that is to be done while others wait for a disk.
    package init(name: String, yields: Bool = false, _ body: @escaping @Sendable () -> Void) {
        let start = Unmanaged.passRetained(Start(name: name, yields: yields, body: body))
        let code = pthread_create(
            &handle, nil,
            { argument in
                guard let argument else { return nil }
                let start = Unmanaged<Start>.fromOpaque(argument).takeRetainedValue()
                sillok_name_this_thread(start.name)
                if start.yields { sillok_yield_this_thread() }
                start.body()
                return nil
            }, start.toOpaque())
        precondition(code == 0, "pthread_create: \(code)")
    }

    /// Waits for the end of the thread; call it once.
    package func join() {
        pthread_join(handle, nil)
    }

    private final class Start {
        let name: String
        let yields: Bool
        let body: @Sendable () -> Void
        init(name: String, yields: Bool, body: @escaping @Sendable () -> Void) {
            self.name = name
            self.yields = yields
            self.body = body
        }
    }
}

/// Gives free memory of the heap back to the system, after work that took much.
package func returnFreeMemory() { _ = malloc_trim(0) }
