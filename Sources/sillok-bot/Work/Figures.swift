internal import BotKit
internal import EventStore
internal import SillokAPI

/// What a bot has done since its start.
final class Figures: Sendable {
    private struct State {
        var replies: UInt64 = 0
        var withoutModel: UInt64 = 0
        var passedOver: UInt64 = 0
        var taken: UInt64 = 0
        var lost: UInt64 = 0
        var tries: UInt64 = 0
        var tokens: UInt64 = 0
        var failures: [String: UInt64] = [:]
        var times = DurationHistogram()
        var underWay = 0
        /// How often in a row the endpoint has refused all: an operator has to mend something before anything is answered.
        var refusals = 0
        /// When that was told last, monotonic milliseconds.
        var told: UInt64?
    }

    /// Pauses between two lines of the log that the endpoint refuses all, in milliseconds.
    private static let pause: UInt64 = 60_000

    private let state = Lock(State())

    func begins() { state.withLock { $0.underWay += 1 } }
    func ends() { state.withLock { $0.underWay -= 1 } }

    /// How often in a row the endpoint has refused all, of whatever message.
    var refusals: Int { state.withLock { $0.refusals } }

    /// Whether the log is to say that the endpoint refuses all: where it takes other messages, each that it refuses would say so again.
    ///
    /// - Parameters:
    ///   - times: So often in a row.
    ///   - now: Monotonic milliseconds.
    func tellsRefusal(_ times: Int, _ now: UInt64) -> Bool {
        state.withLock { state in
            guard times == 1, state.told.map({ now >= $0 + Self.pause }) ?? true else { return false }
            state.told = now
            return true
        }
    }

    func take(_ note: ReplyMachine.Note) {
        state.withLock { state in
            switch note {
            case .replied(let milliseconds, let tokens):
                state.replies += 1
                state.tokens += UInt64(max(0, tokens))
                state.times.note(milliseconds * 1_000_000)
                state.refusals = 0
            case .saidWithoutModel: state.withoutModel += 1
            case .failed(let fault, _):
                state.failures[fault.code.rawValue, default: 0] += 1
                // Who refuses one message takes the key.
                if fault.status != nil { state.refusals = 0 }
            case .triesAgain: state.tries += 1
            case .degraded: state.refusals += 1
            case .passedOver: state.passedOver += 1
            case .taken: state.taken += 1
            case .lost: state.lost += 1
            }
        }
    }

    /// In the text format of Prometheus.
    var text: MetricsText {
        let state = state.withLock { $0 }
        var text = MetricsText(.plain)
        text.counter("sillok_bot_replies", "Replies of the model that are stored.", state.replies)
        text.counter("sillok_bot_texts", "What was said without the model.", state.withoutModel)
        text.counter(
            "sillok_bot_failures", "Questions that were failed, by code.",
            ModelFault.Code.allCases.map { ([("code", $0.rawValue)], Double(state.failures[$0.rawValue] ?? 0)) })
        text.counter("sillok_bot_tries", "Requests to the model that are made again.", state.tries)
        text.counter("sillok_bot_passed_over", "Events that wanted no answer.", state.passedOver)
        text.counter("sillok_bot_taken_ids", "Ids of replies that someone else's events had.", state.taken)
        text.counter("sillok_bot_lost", "Deliveries that went to another worker meanwhile.", state.lost)
        text.counter("sillok_bot_tokens", "Tokens, as the model's endpoint counts them.", state.tokens)
        text.gauge("sillok_bot_under_way", "Questions that are being answered.", state.underWay)
        text.gauge(
            "sillok_bot_degraded", "1 where nothing is answered until an operator mends it.",
            state.refusals > 0 ? 1 : 0)
        text.histogram("sillok_bot_reply_seconds", "From the delivery to the reply.", [([], state.times)])
        return text
    }
}
