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
    private var known: [Substring] = []

    /// What is to be said of the change since the last look.
    mutating func look(_ state: State) -> [Line] {
        var lines: [Line] = []
        let refusing = Self.matters(state.refusals)
        if refusing != refused {
            lines.append(
                refusing.isEmpty
                    ? .information("appends are taken again")
                    : .warning("appends are refused: \(state.refusals.joined(separator: "; "))"))
        }
        let found = Self.matters(state.problems)
        for problem in state.problems where !known.contains(Self.matter(problem)) { lines.append(.warning(problem)) }
        for matter in known where !found.contains(matter) { lines.append(.information("\(matter): over")) }
        (refused, known) = (refusing, found)
        return lines
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
        let wal = store.wal
        if wal.isProblem { state.problems.append("wal: \(wal.text)") }
        return state
    }
}
