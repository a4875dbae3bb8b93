/// Signs heads of this node's own origin, off the append's path (D5): when something is about to leave the node, when the
/// writer is idle, and now and then under load.
///
/// While peers follow live, a head is signed during the sync of what it speaks of (``signAhead()``). It is handed out when
/// that is committed, and forgotten if it is not.
///
/// ## Concurrency model
/// Any thread may ask; everything is behind one lock. What is handed out speaks of what was committed before.
package final class HeadSigner: Sendable {
    private struct State {
        var committed: OriginState?
        var latest: SignedHead?
        var unstored: [SignedHead] = []
        /// Those that the commit at hand stores.
        var storing: [SignedHead] = []
        /// The last head that was stored.
        var stored: SignedHead?
        /// Told when something is about to be committed.
        var onExpected: (@Sendable () -> Void)?
        /// How the origin will stand if the commit under way succeeds.
        var expected: OriginState?
        /// The head of that.
        var ahead: (head: SignedHead, range: MerkleRange)?
    }

    /// The first head, and then one of so many events more, is stored with the next commit; one of fewer when the writer is
    /// idle.
    private static let storedEvery: UInt64 = 256

    let key: SigningKey
    private let state = Lock(State())

    init(key: SigningKey) { self.key = key }

    /// Takes note of what the writer has just committed.
    func committed(_ origin: OriginState) {
        state.withLock { state in
            // Heads of the origin that was given up are stored by now, or wait in `unstored`.
            if state.latest?.head.origin != origin.id { (state.latest, state.stored) = (nil, nil) }
            state.committed = origin
            state.expected = nil
        }
    }

    /// From now on `body` runs, on the writer's thread, when something is about to be committed and the head of what is
    /// committed has been asked for: a peer follows live. It leads to ``signAhead()`` on another thread, soon.
    func observeExpected(_ body: (@Sendable () -> Void)?) { state.withLock { $0.onExpected = body } }

    /// The commit that is about to be synced leads to `origin`. Gives what is to run when that has begun, if anything.
    func expect(_ origin: OriginState) -> (@Sendable () -> Void)? {
        state.withLock { state in
            guard let tell = state.onExpected, let latest = state.latest, let committed = state.committed,
                latest.head.origin == origin.id, latest.head.size == committed.size, origin.size > committed.size
            else { return nil }
            state.expected = origin
            return tell
        }
    }

    /// Signs what is being committed. Nothing of it is handed out before that is done.
    package func signAhead() {
        guard let origin = state.withLock({ $0.expected }) else { return }
        let head = sign(origin)
        state.withLock { $0.ahead = (head, origin.range) }
    }

    private func sign(_ origin: OriginState) -> SignedHead {
        SignedHead(signing: origin.head(using: SHA256()), with: key)
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
    func restore(_ head: SignedHead?) {
        state.withLock { state in
            state.latest = head
            state.stored = head
        }
    }

    /// A head of everything committed so far; `nil` only while the store is being made.
    package func head() -> SignedHead? {
        state.withLock { state in
            guard let origin = state.committed, origin.size > 0 else { return nil }
            if let latest = state.latest, latest.head.size == origin.size { return latest }
            let signed: SignedHead
            if let ahead = state.ahead, ahead.head.head.origin == origin.id, ahead.range == origin.range {
                signed = ahead.head
            } else {
                signed = sign(origin)
            }
            state.ahead = nil
            state.latest = signed
            if let last = state.unstored.last, MerkleStore.replaces(signed.head, last.head) {
                state.unstored.removeLast()
            }
            state.unstored.append(signed)
            return signed
        }
    }

    /// Heads that the commit at hand should store: all, or those for which it is time.
    func takeUnstored(all: Bool) -> [SignedHead] {
        state.withLock { state in
            guard let last = state.unstored.last,
                all || state.unstored.count > 1
                    || last.head.size >= state.stored.map({ $0.head.size + Self.storedEvery }) ?? 0
            else { return [] }
            defer { state.unstored = [] }
            state.storing += state.unstored
            return state.unstored
        }
    }

    /// The commit at hand has ended. What it was to store waits for another one if it has failed.
    func endStoring(isCommitted: Bool) {
        state.withLock { state in
            if !isCommitted {
                state.unstored = state.storing + state.unstored
            } else if let last = state.storing.last {
                state.stored = last
            }
            state.storing = []
        }
    }

    var hasUnstored: Bool { state.withLock { !$0.unstored.isEmpty || !$0.storing.isEmpty } }
    /// The last head that is in the log.
    var stored: SignedHead? { state.withLock { $0.stored } }
}
