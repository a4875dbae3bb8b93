internal import Dispatch

/// Does pieces of work that may block, one after the other, on a thread that is there while there is some: for tasks, whose own threads
/// are few and must not wait (Swift's cooperative pool).
package final class BlockingQueue: Sendable {
    private let queue: DispatchQueue

    /// - Parameter name: For debuggers.
    package init(name: String) { queue = DispatchQueue(label: name) }

    /// Does `body` after what was handed in before it. Does not wait.
    package func later(_ body: @escaping @Sendable () -> Void) { queue.async(execute: body) }

    /// What comes of `body`, done after what was handed in before it. The task waits, no thread of the pool does.
    package func value<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in later { continuation.resume(returning: body()) } }
    }
}
