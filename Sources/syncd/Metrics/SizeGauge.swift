internal import EventStore

/// How much there is, of what the views keep count of. Reads a row for each view, and waits for none.
///
/// ## Concurrency model
/// One lock around the reader.
final class SizeGauge: Sendable {
    /// What is there.
    struct Sizes {
        /// The rows of each view, as far as it has come.
        var rows: [(view: String, rows: UInt64)] = []
        /// Users who have a name.
        var users: UInt64?
    }

    /// What is counted for this, and until when that is good.
    private struct Counted {
        var conversations: UInt64
        var users: UInt64
        let until: UInt64
    }

    private let files: StoreFiles
    private let reader = Lock<ViewReader?>(nil)
    /// Of a million that takes longer than all other figures together.
    private let counted = Lock<Counted?>(nil)
    /// So many times as long as the count took it is good for.
    private static let rest: UInt64 = 100

    init(_ files: StoreFiles) { self.files = files }

    /// Nothing where the views cannot be read.
    var sizes: Sizes {
        reader.withLock { reader in
            do throws(StoreError) {
                let current: ViewReader
                if let reader { current = reader } else { current = try ViewReader(files) }
                reader = current
                let counted = try count(current)
                // The digest of conversations is of what was said about them alone.
                let rows = try current.digests().map {
                    ($0.view, $0.view == "conversations" ? counted.conversations : $0.rows)
                }
                return Sizes(rows: rows, users: counted.users)
            } catch {
                reader = nil
                return Sizes()
            }
        }
    }

    private func count(_ reader: ViewReader) throws(StoreError) -> Counted {
        let now = MonotonicClock.now
        if let known = counted.withLock({ $0 }), now < known.until { return known }
        let (conversations, users) = (try reader.conversationCount(), try reader.userCount())
        let end = MonotonicClock.now
        let found = Counted(conversations: conversations, users: users, until: end + Self.rest * (end - now))
        counted.withLock { $0 = found }
        return found
    }
}

/// How far the log was in the last minute.
///
/// ## Concurrency model
/// One lock. The main thread notes once a second; the probes read.
final class MinuteGauge: Sendable {
    private static let span: UInt64 = 60_000_000_000
    private let notes = Lock<[(time: UInt64, position: UInt64)]>([])

    /// Notes the last position of the log. `now`: nanoseconds.
    func note(_ position: UInt64, now: UInt64) {
        notes.withLock { notes in
            guard notes.last.map({ now >= $0.time + 500_000_000 }) ?? true else { return }
            notes.append((now, position))
            // One that is older stays: from it the minute counts.
            while notes.count > 1, notes[1].time + Self.span <= now { notes.removeFirst() }
        }
    }

    /// Events that have come in the last minute, or since the start if that was later.
    func grown(to position: UInt64) -> UInt64 {
        notes.withLock { notes in notes.first.map { position - min(position, $0.position) } ?? 0 }
    }
}
