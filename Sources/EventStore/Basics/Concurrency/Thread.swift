internal import CLinux
internal import Glibc

/// A thread of our own: the blocking work of SQLite never runs on Swift's cooperative pool.
package final class WorkerThread: Sendable {
    /// `nil` once the thread has ended.
    private let handle: Lock<pthread_t?>

    /// Starts `body` on a thread named `name` (at most 15 bytes).
    package init(name: String, _ body: @escaping @Sendable () -> Void) {
        let start = Unmanaged.passRetained(Start(name: name, body: body))
        var handle = pthread_t()
        let code = pthread_create(
            &handle, nil,
            { argument in
                guard let argument else { return nil }
                let start = Unmanaged<Start>.fromOpaque(argument).takeRetainedValue()
                sillok_name_this_thread(start.name)
                start.body()
                return nil
            }, start.toOpaque())
        precondition(code == 0, "pthread_create: \(code)")
        self.handle = Lock(handle)
    }

    /// Waits for the end of the thread.
    package func join() {
        handle.withLock { handle in
            if let thread = handle.take() { pthread_join(thread, nil) }
        }
    }

    private final class Start {
        let name: String
        let body: @Sendable () -> Void
        init(name: String, body: @escaping @Sendable () -> Void) {
            self.name = name
            self.body = body
        }
    }
}

/// Lets threads go first that wait for this one's processor. A kernel may wake a thread where it ran last, though another processor is
/// idle, and let the thread that runs there go on for some milliseconds.
func giveWay() { sched_yield() }

/// Gives free memory of the heap back to the system, after work that took much.
package func returnFreeMemory() { _ = malloc_trim(0) }

/// Lets go of the program's text as far as only its start has used it: half of what an idle process has in memory. What is used again comes
/// back with a page fault for each 64 KB, a fifth of a millisecond in all.
package func forgetStart() { sillok_unmap_text() }
