internal import EventStore

/// Says once when the daemon's state changes: when appends stop and go on, and when something needs an operator.
///
/// A value; its owner looks from time to time. What changes and changes back in between is not told.
struct HealthLog {
    /// What is found at a look. Each text begins with a word and a colon, which name the matter.
    struct State {
        /// Why appends are refused; empty if they are not.
        var refusals: [String] = []
        /// What does not stop appends, and needs looking at.
        var problems: [String] = []
    }

    enum Line: Equatable {
        case warning(String)
        case information(String)
    }

    private var refused: [Substring] = []
    /// Since when they are, nanoseconds.
    private var refusedSince: UInt64 = 0
    private var known: [Substring] = []
    /// Since when each of them is there, nanoseconds.
    private var since: [Substring: UInt64] = [:]

    /// What is to be said of the change since the last look. `now`: nanoseconds.
    mutating func look(_ state: State, now: UInt64) -> [Line] {
        var lines: [Line] = []
        let refusing = Self.matters(state.refusals)
        if refusing != refused {
            if refused.isEmpty { refusedSince = now }
            lines.append(
                refusing.isEmpty
                    ? .information("appends are taken again, after \(Self.seconds(from: refusedSince, to: now))")
                    : .warning("appends are refused: \(state.refusals.joined(separator: "; "))"))
        }
        let found = Self.matters(state.problems)
        for problem in state.problems where !known.contains(Self.matter(problem)) { lines.append(.warning(problem)) }
        for matter in known where !found.contains(matter) {
            let begin = since.removeValue(forKey: matter) ?? now
            lines.append(.information("\(matter): over, after \(Self.seconds(from: begin, to: now))"))
        }
        for matter in found where since[matter] == nil { since[matter] = now }
        (refused, known) = (refusing, found)
        return lines
    }

    private static func seconds(from start: UInt64, to end: UInt64) -> String {
        "\((max(end, start) - start + 500_000_000) / 1_000_000_000) s"
    }

    private static func matter(_ text: String) -> Substring { text.prefix { $0 != ":" } }
    private static func matters(_ texts: [String]) -> [Substring] { texts.map(matter).sorted() }
}

extension Service {
    /// For the daemon's own log.
    var health: HealthLog.State {
        var state = HealthLog.State()
        if let refusal = store.refusal { state.refusals.append("store: \(refusal.description)") }
        state.refusals += surroundingObstacles
        if isTooFarBehind { state.refusals.append("behind: the views are over \(Self.maximumLag) events behind") }
        if let problem = store.witness?.problem { state.problems.append("witness: \(problem)") }
        state.refusals += heart.silent()
        let wal = store.wal
        if wal.isProblem { state.problems.append("wal: \(wal.text)") }
        return state
    }
}
