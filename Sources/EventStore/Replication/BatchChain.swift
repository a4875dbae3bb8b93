/// What ties verified batches together: each counts on those that its verifier let pass before it. When one of them is not
/// stored, those that follow must not be either, for their dependencies and repetitions may be in it (INV-5, INV-7).
package final class BatchChain: Sendable {
    private let broken = Lock(false)

    package init() {}

    /// Whether a batch was not stored: the verifier must be made anew.
    package var isBroken: Bool { broken.withLock { $0 } }

    /// A batch was not stored.
    package func breakOff() { broken.withLock { $0 = true } }
}
