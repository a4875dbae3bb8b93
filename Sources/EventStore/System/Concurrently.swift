internal import Dispatch

/// What comes of the pieces 0 ..< `count`, in order, worked on by the calling thread and others that are free. Blocks until all
/// are done, and takes part itself: so it needs no other to be free.
func concurrently<Output: Sendable>(_ count: Int, _ body: @escaping @Sendable (Int) -> Output) -> [Output] {
    let outputs = (0..<count).map { _ in Lock(Output?.none) }
    DispatchQueue.concurrentPerform(iterations: count) { piece in
        let output = body(piece)
        outputs[piece].withLock { $0 = output }
    }
    return outputs.compactMap { $0.withLock { $0 } }
}
