internal import Dispatch

/// A piece of work that another thread does if one is free, and else the thread that wants what comes of it.
final class Deferred<Output: Sendable>: Sendable {
    private enum Progress {
        case waiting(@Sendable () -> Output)
        case begun
        case done(Output)
    }

    private let progress: Monitor<Progress>

    init(_ work: @escaping @Sendable () -> Output) { progress = Monitor(.waiting(work)) }

    /// Asks another thread to do it.
    func offer() { DispatchQueue.global().async { self.work() } }

    /// What comes of it. Blocks while another thread is at it.
    func output() -> Output {
        work()
        return progress.wait { progress in if case .done(let output) = progress { .done(output) } else { .forever } }
    }

    /// Does the work, unless another thread has begun with it.
    private func work() {
        let work: (@Sendable () -> Output)? = progress.withLock { progress in
            guard case .waiting(let work) = progress else { return nil }
            progress = .begun
            return work
        }
        guard let work else { return }
        let output = work()
        progress.wakeAll { $0 = .done(output) }
    }
}
