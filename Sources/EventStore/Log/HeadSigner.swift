/// Signs heads of this node's own origin, off the append's path (D5): when something is about to leave the node, when the
/// writer is idle, and now and then under load.
///
/// ## Concurrency model
/// Any thread may ask; everything is behind one lock. What is signed was committed before.
package final class HeadSigner: Sendable {
    private struct State {
        var committed: OriginState?
        var latest: SignedHead?
        var unstored: [SignedHead] = []
    }

    let key: SigningKey
    private let state = Lock(State())

    init(key: SigningKey) { self.key = key }

    /// Takes note of what the writer has just committed.
    func committed(_ origin: OriginState) {
        state.withLock { state in
            // Heads of the origin that was given up are stored by now, or wait in `unstored`.
            if state.latest?.head.origin != origin.id { state.latest = nil }
            state.committed = origin
        }
    }

    /// The stamp of the last committed event.
    var lastStamp: HybridTime? { state.withLock { $0.committed?.hlc } }

    /// How many events of `origin` are committed, if it is the one this node appends to; else 0.
    func size(of origin: OriginID) -> UInt64 {
        state.withLock { state in
            guard let committed = state.committed, committed.id == origin else { return 0 }
            return committed.size
        }
    }

    /// How many committed events no head speaks of yet.
    var unsigned: UInt64 {
        state.withLock { ($0.committed?.size ?? 0) - ($0.latest?.head.size ?? 0) }
    }

    /// The head stored last, when the store is opened.
    func restore(_ head: SignedHead?) { state.withLock { $0.latest = head } }

    /// A head of everything committed so far; `nil` only while the store is being made.
    package func head() -> SignedHead? {
        state.withLock { state in
            guard let origin = state.committed, origin.size > 0 else { return nil }
            if let latest = state.latest, latest.head.size == origin.size { return latest }
            let head = TreeHead(
                origin: origin.id, size: origin.size, root: origin.range.root(using: SHA256()), hlc: origin.hlc)
            let signed = SignedHead(signing: head, with: key)
            state.latest = signed
            state.unstored.append(signed)
            return signed
        }
    }

    /// Heads that the next commit should store.
    func takeUnstored() -> [SignedHead] {
        state.withLock { state in
            defer { state.unstored = [] }
            return state.unstored
        }
    }

    var hasUnstored: Bool { state.withLock { !$0.unstored.isEmpty } }
}
