internal import EventStore
internal import GatewayKit
internal import Glibc

/// What a gateway has done since its start, in the text format of Prometheus.
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

    var text: String {
        let state = state.withLock { $0 }
        var out = ""
        func head(_ name: String, _ kind: String, _ help: String) {
            out += "# HELP sillok_gateway_\(name) \(help)\n# TYPE sillok_gateway_\(name) \(kind)\n"
        }
        func one(_ name: String, _ kind: String, _ help: String, _ value: some BinaryInteger) {
            head(name, kind, help)
            out += "sillok_gateway_\(name) \(value)\n"
        }
        head("answers_total", "counter", "Answers, by their first figure or the word of the refusal.")
        for kind in Self.kinds {
            out += "sillok_gateway_answers_total{answer=\"\(kind)\"} \(state.answers[kind] ?? 0)\n"
        }
        one("clients", "gauge", "Connections of the line protocol.", state.clients)
        one("clients_refused_total", "counter", "Connections for which there was no place.", state.refused)
        one("clients_timed_out_total", "counter", "Connections closed because they were idle.", state.timedOut)
        one("appends_total", "counter", "Requests to the node that were stored.", state.appends)
        one("recorded_total", "counter", "Questions, and alarms that rang or stopped, that are stored.", state.stored)
        one("tries_total", "counter", "Requests to the node that are made again.", state.tries)
        one("away", "gauge", "1 while the node keeps nothing.", state.isAway ? 1 : 0)
        head("answer_seconds", "histogram", "From the whole question to its answer.")
        var sum: UInt64 = 0
        for (bound, count) in zip(DurationHistogram.bounds, state.times.counts) {
            sum += count
            out += "sillok_gateway_answer_seconds_bucket{le=\"\(Double(bound) / 1e9)\"} \(sum)\n"
        }
        sum += state.times.counts.last ?? 0
        out += "sillok_gateway_answer_seconds_bucket{le=\"+Inf\"} \(sum)\n"
        out += "sillok_gateway_answer_seconds_sum \(Double(state.times.sum) / 1e9)\n"
        out += "sillok_gateway_answer_seconds_count \(sum)\n"
        return out
    }

    /// Writes them into a file, which is whole at every moment.
    func write(to path: String) -> Bool {
        let beside = path + ".new"
        guard let file = fopen(beside, "w") else { return false }
        let isWritten = fputs(text, file) >= 0
        guard fclose(file) == 0, isWritten else { return false }
        return rename(beside, path) == 0
    }
}
