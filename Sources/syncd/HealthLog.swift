internal import EventStore
internal import SyncEngine

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

        fileprivate var refusal: String { "appends are refused: \(refusals.joined(separator: "; "))" }
    }

    /// Since when appends are refused, nanoseconds; `nil`: they are not.
    private var refusedSince: UInt64?
    private var known: [Substring] = []
    /// Since when each of them is there, nanoseconds.
    private var since: [Substring: UInt64] = [:]

    /// What is to be said of the change since the last look. `now`: nanoseconds.
    mutating func look(_ state: State, now: UInt64) -> [LogLine] {
        var lines: [LogLine] = []
        // Another reason, or one more, is no other state.
        switch (refusedSince, state.refusals.isEmpty) {
        case (nil, false):
            refusedSince = now
            lines.append(LogLine(level: .warning, code: NodeNotice.Code.refusing.rawValue, text: state.refusal))
        case (let since?, true):
            refusedSince = nil
            lines.append(Self.end("APPENDS_TAKEN", "appends are taken again", from: since, to: now))
        default: break
        }
        let found = Self.matters(state.problems)
        for problem in state.problems where !known.contains(Self.matter(problem)) {
            let field = LogLine.Field("matter", String(Self.matter(problem)))
            lines.append(LogLine(level: .warning, code: "PROBLEM", text: problem, fields: [field]))
        }
        for matter in known where !found.contains(matter) {
            let begin = since.removeValue(forKey: matter) ?? now
            var line = Self.end("PROBLEM_OVER", "\(matter): over", from: begin, to: now)
            line.fields.append(LogLine.Field("matter", String(matter)))
            lines.append(line)
        }
        for matter in found where since[matter] == nil { since[matter] = now }
        known = found
        return lines
    }

    private static func end(_ code: String, _ text: String, from start: UInt64, to end: UInt64) -> LogLine {
        let taken = (max(end, start) - start) / 1_000_000
        return LogLine(
            level: .info, code: code, text: "\(text), after \(LogLine.seconds(taken))",
            fields: [.duration(milliseconds: taken)])
    }

    private static func matter(_ text: String) -> Substring { text.prefix { $0 != ":" } }
    private static func matters(_ texts: [String]) -> [Substring] { texts.map(matter).sorted() }
}

extension Service {
    /// WALs that a transaction has kept until they were long.
    var longWALs: [WALStanding] { [store.wal, views.wal].compactMap(\.self).filter(\.isProblem) }

    /// That appends are refused, as long as they are.
    var refusal: NodeNotice? {
        let state = health
        guard !state.refusals.isEmpty else { return nil }
        let isSpace = state.refusals.contains { $0.hasPrefix("disk:") || $0.contains("disk is full") }
        return NodeNotice(
            .refusing, .warning, subject: store.identity.node.description, state.refusal,
            action: isSpace
                ? "make room on the disk of \(store.files.folder); it goes on by itself"
                : "operating/watching.md; the daemon's own log", at: WallClock.now, .state)
    }

    /// For the daemon's own log.
    var health: HealthLog.State {
        var state = HealthLog.State()
        if let refusal = store.refusal { state.refusals.append("store: \(refusal.description)") }
        state.refusals += surroundingObstacles.map(\.text)
        if isTooFarBehind { state.refusals.append("behind: the views are over \(Self.maximumLag) events behind") }
        if let problem = store.witness?.problem { state.problems.append("witness: \(problem)") }
        state.refusals += heart.silent()
        state.problems += longWALs.map { "wal: \($0.text)" }
        return state
    }
}
