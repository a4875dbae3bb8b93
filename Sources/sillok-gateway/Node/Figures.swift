internal import EventStore
internal import GatewayKit
internal import SillokAPI

/// What a gateway has done since its start.
final class Figures: Sendable {
    private struct State {
        var answers: [String: UInt64] = [:]
        var times = DurationHistogram()
        var appends: UInt64 = 0
        var stored: UInt64 = 0
        var tries: UInt64 = 0
        var clients = 0
        var refused: UInt64 = 0
        var timedOut: UInt64 = 0
        /// Whether the node keeps nothing at present.
        var isAway = false
    }

    /// The answers that are told apart: the figure of each, and the word behind `9@`.
    static let kinds = ["0", "1", "2", "3"] + TripFault.allCases.map(\.rawValue)

    private let state = Lock(State())

    func answered(_ kind: String, nanoseconds: UInt64) {
        state.withLock {
            $0.answers[kind, default: 0] += 1
            $0.times.note(nanoseconds)
        }
    }

    func appended(_ count: Int) {
        state.withLock {
            $0.appends += 1
            $0.stored += UInt64(count)
        }
    }

    func triesAgain() { state.withLock { $0.tries += 1 } }

    func clients(_ open: Int, refused: UInt64, timedOut: UInt64) {
        state.withLock { ($0.clients, $0.refused, $0.timedOut) = (open, refused, timedOut) }
    }

    /// Whether it was otherwise before.
    func isAway(_ isAway: Bool) -> Bool {
        state.withLock { state in
            defer { state.isAway = isAway }
            return state.isAway != isAway
        }
    }

    /// In the text format of Prometheus.
    var text: MetricsText {
        let state = state.withLock { $0 }
        var text = MetricsText(.plain)
        text.counter(
            "sillok_gateway_answers", "Answers, by their first figure or the word of the refusal.",
            Self.kinds.map { ([("answer", $0)], Double(state.answers[$0] ?? 0)) })
        text.gauge("sillok_gateway_clients", "Connections of the line protocol.", state.clients)
        text.counter(
            "sillok_gateway_clients_refused", "Connections for which there was no place.", state.refused)
        text.counter(
            "sillok_gateway_clients_timed_out", "Connections closed because they were idle.", state.timedOut)
        text.counter("sillok_gateway_appends", "Requests to the node that were stored.", state.appends)
        text.counter(
            "sillok_gateway_recorded", "Questions, and alarms that rang or stopped, that are stored.", state.stored)
        text.counter("sillok_gateway_tries", "Requests to the node that are made again.", state.tries)
        text.gauge("sillok_gateway_away", "1 while the node keeps nothing.", state.isAway ? 1 : 0)
        text.histogram(
            "sillok_gateway_answer_seconds", "From the whole question to its answer.", [([], state.times)])
        return text
    }
}
