internal import BotKit
internal import CommandLineKit
internal import EventStore
internal import Glibc

/// What a bot has done since its start, in the text format of Prometheus.
final class Figures: Sendable {
    private struct State {
        var replies: UInt64 = 0
        var withoutModel: UInt64 = 0
        var passedOver: UInt64 = 0
        var lost: UInt64 = 0
        var tries: UInt64 = 0
        var tokens: UInt64 = 0
        var failures: [String: UInt64] = [:]
        var times = DurationHistogram()
        var underWay = 0
        /// Whether an operator has to mend something before anything is answered.
        var isDegraded = false
    }

    private let state = Lock(State())

    func begins() { state.withLock { $0.underWay += 1 } }
    func ends() { state.withLock { $0.underWay -= 1 } }

    func take(_ note: ReplyMachine.Note) {
        state.withLock { state in
            switch note {
            case .replied(let milliseconds, let tokens):
                state.replies += 1
                state.tokens += UInt64(max(0, tokens))
                state.times.note(milliseconds * 1_000_000)
                state.isDegraded = false
            case .saidWithoutModel: state.withoutModel += 1
            case .failed(let fault, _): state.failures[fault.code.rawValue, default: 0] += 1
            case .triesAgain: state.tries += 1
            case .degraded: state.isDegraded = true
            case .passedOver: state.passedOver += 1
            case .lost: state.lost += 1
            }
        }
    }

    var text: String {
        let state = state.withLock { $0 }
        var out = ""
        func head(_ name: String, _ kind: String, _ help: String) {
            out += "# HELP sillok_bot_\(name) \(help)\n# TYPE sillok_bot_\(name) \(kind)\n"
        }
        func one(_ name: String, _ kind: String, _ help: String, _ value: some BinaryInteger) {
            head(name, kind, help)
            out += "sillok_bot_\(name) \(value)\n"
        }
        one("replies_total", "counter", "Replies of the model that are stored.", state.replies)
        one("texts_total", "counter", "What was said without the model.", state.withoutModel)
        head("failures_total", "counter", "Questions that were failed, by code.")
        for code in ModelFault.Code.allCases {
            out += "sillok_bot_failures_total{code=\"\(code.rawValue)\"} \(state.failures[code.rawValue] ?? 0)\n"
        }
        one("tries_total", "counter", "Requests to the model that are made again.", state.tries)
        one("passed_over_total", "counter", "Events that wanted no answer.", state.passedOver)
        one("lost_total", "counter", "Deliveries that went to another worker meanwhile.", state.lost)
        one("tokens_total", "counter", "Tokens, as the model's endpoint counts them.", state.tokens)
        one("under_way", "gauge", "Questions that are being answered.", state.underWay)
        one("degraded", "gauge", "1 where nothing is answered until an operator mends it.", state.isDegraded ? 1 : 0)
        head("reply_seconds", "histogram", "From the delivery to the reply.")
        var sum: UInt64 = 0
        for (bound, count) in zip(DurationHistogram.bounds, state.times.counts) {
            sum += count
            out += "sillok_bot_reply_seconds_bucket{le=\"\(Double(bound) / 1e9)\"} \(sum)\n"
        }
        sum += state.times.counts.last ?? 0
        out += "sillok_bot_reply_seconds_bucket{le=\"+Inf\"} \(sum)\n"
        out +=
            "sillok_bot_reply_seconds_sum \(Double(state.times.sum) / 1e9)\nsillok_bot_reply_seconds_count \(sum)\n"
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
