internal import BotKit
internal import EventStore

/// Messages whose answer is not wanted any more, as the feed has told it: the latest of them, for those that are being answered.
final class Withdrawals: Sendable {
    enum Kind: Sendable {
        case cancelled(by: String)
        case retracted
    }

    private struct State {
        var kinds: [EventID: Kind] = [:]
        /// In the order in which they came.
        var order: [EventID] = []
    }

    /// Most that are kept; the oldest go first.
    private static let most = 1_024

    private let state = Lock(State())

    /// The types of the events that tell it.
    static let types = ["bot.cancelled", "message.retracted"]

    func take(_ event: BotEvent) {
        guard let message = event.inReplyTo else { return }
        let kind: Kind? =
            switch event.type {
            case "bot.cancelled": .cancelled(by: event.author)
            case "message.retracted": .retracted
            default: nil
            }
        guard let kind else { return }
        state.withLock { state in
            if state.kinds.updateValue(kind, forKey: message) == nil { state.order.append(message) }
            if state.order.count > Self.most { state.kinds[state.order.removeFirst()] = nil }
        }
    }

    /// What was told of a message; told once.
    func next(of message: EventID) -> Kind? {
        state.withLock { state in
            guard let kind = state.kinds.removeValue(forKey: message) else { return nil }
            state.order.removeAll { $0 == message }
            return kind
        }
    }
}
