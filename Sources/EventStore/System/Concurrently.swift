internal import Dispatch

/// What comes of the pieces 0 ..< `count`, in order, worked on by the calling thread and others that are free. Blocks until all
/// are done, and takes part itself: so it needs no other to be free.
func concurrently<Output: Sendable>(_ count: Int, _ body: @escaping @Sendable (Int) -> Output) -> [Output] {
    guard count > 1 else { return (0..<count).map(body) }
    let outputs = (0..<count).map { _ in Lock(Output?.none) }
    DispatchQueue.concurrentPerform(iterations: count) { piece in
        let output = body(piece)
        outputs[piece].withLock { $0 = output }
    }
    return outputs.compactMap { $0.withLock { $0 } }
}

/// A piece of work that another thread does if one is free, and else whoever wants what comes of it.
final class WorkAside<Output: Sendable>: Sendable {
    private enum Progress {
        case waiting(@Sendable () -> Output)
        case begun
        case done(Output)
    }

    private let progress: Monitor<Progress>

    init(_ work: @escaping @Sendable () -> Output) {
        progress = Monitor(.waiting(work))
        DispatchQueue.global().async { self.work() }
    }

    /// What comes of it. Blocks while another thread is at it.
    func output() -> Output {
        work()
        return progress.wait { progress in if case .done(let output) = progress { .done(output) } else { .forever } }
    }

    /// Does the work, unless somebody has begun with it.
    private func work() {
        let work: (@Sendable () -> Output)? = progress.withLock { progress in
            guard case .waiting(let work) = progress else { return nil }
            progress = .begun
            return work
        }
        guard let work else { return }
        let output = work()
        progress.update { progress in
            progress = .done(output)
            return true
        }
    }
}
