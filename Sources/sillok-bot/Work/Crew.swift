internal import BotKit
internal import CommandLineKit
internal import EventStore
internal import SillokAPI
internal import SillokClient

/// The workers of one bot: a thread takes deliveries from the node's stream, and as many as `concurrency` says work at them.
///
/// `window` of the stream is that number, so nothing waits here. When the stream ends, the node hands out again what was not settled.
final class Crew: Sendable {
    private struct State {
        var waiting: [BotDelivery] = []
        /// Events that are at work here: when a stream broke off they may come again before that has ended.
        var atWork: Set<EventID> = []
    }

    private let configuration: BotConfiguration
    private let place: NodePlace
    private let model: any Model
    private let stopping: Stopping
    private let log: BotLog
    let figures = Figures()
    private let withdrawals = Withdrawals()
    private let state = Monitor(State())

    init(
        _ configuration: BotConfiguration, _ place: NodePlace, _ model: any Model, _ stopping: Stopping, _ log: BotLog
    ) {
        (self.configuration, self.place, self.model) = (configuration, place, model)
        (self.stopping, self.log) = (stopping, log)
    }

    private func api() -> NodeAPI {
        NodeAPI(place, subscription: configuration.subscription.name, stopping: stopping, log: log)
    }

    /// The threads, which end when the program is to end.
    func start() -> [WorkerThread] {
        let workers = (0..<configuration.concurrency).map { _ in
            WorkerThread(name: "bot-worker") { [self] in work() }
        }
        let readers = [
            WorkerThread(name: "bot-stream") { [self] in follow() },
            WorkerThread(name: "bot-feed") { [self] in watch() },
        ]
        return readers + workers
    }

    private func work() {
        let api = api()
        while let delivery = next() {
            figures.begins()
            DeliveryRun(
                delivery, configuration.settings, api, model, stopping, withdrawals, figures, log
            ).run()
            figures.ends()
            state.wakeAll { _ = $0.atWork.remove(delivery.event.id) }
        }
    }

    private func next() -> BotDelivery? {
        while !stopping.isAsked {
            let found = state.wait(milliseconds: 1_000) { state -> BotDelivery? in
                guard let index = state.waiting.firstIndex(where: { !state.atWork.contains($0.event.id) }) else {
                    return nil
                }
                let delivery = state.waiting.remove(at: index)
                state.atWork.insert(delivery.event.id)
                return delivery
            }
            if let found { return found }
        }
        return nil
    }

    private func follow() {
        var pause = 100
        while !stopping.isAsked {
            do throws(CommandFailure) {
                let retry = try stream { pause = 100 }
                stopping.rest(retry)
            } catch {
                switch error.code {
                case ErrorCode.elsewhere.rawValue: log.info("another node is the home: \(error.what)", error.code)
                case _ where [ExitCode.unreachable, .tryAgain].contains(error.exitCode):
                    log.warning("\(error.what); again soon", error.code)
                // Also a subscription that was deleted while we worked on it: who did that does not want us any more.
                default: return stopping.ask(error)
                }
                stopping.rest(pause)
                pause = min(pause * 2, 5_000)
            }
        }
    }

    /// Follows the stream until it ends; the pause before the next one, in milliseconds.
    private func stream(begun: @escaping () -> Void) throws(CommandFailure) -> Int {
        defer { state.wakeAll { $0.waiting = [] } }
        let path = Route.subscriptions.path(configuration.subscription.name, "deliveries")
        var request = ClientRequest(target: path + "?window=\(configuration.concurrency)", timeout: 0)
        request.accept = "application/x-ndjson"
        request.silence = 60
        return try stream(request) { [self] object in
            guard let delivery = BotDelivery(object) else { return }
            begun()
            state.wakeAll { state in
                // A token of a stream that has ended counts no more.
                state.waiting.removeAll { $0.event.id == delivery.event.id }
                state.waiting.append(delivery)
            }
        }
    }

    /// Follows the feed for what is withdrawn while it is being answered, from now on.
    private func watch() {
        var after = "now"
        var pause = 1_000
        while !stopping.isAsked {
            let query = Withdrawals.types.map { ("type", $0) } + [("after", after)]
            var request = ClientRequest(target: Route.changes.path(with: query), timeout: 0)
            request.accept = "application/x-ndjson"
            request.silence = 60
            do throws(CommandFailure) {
                pause = try stream(request) { [withdrawals] object in
                    if let cursor = object.string("cursor") { after = cursor }
                    if let event = BotEvent(object) { withdrawals.take(event) }
                }
            } catch {
                // Without it answers come that are not wanted any more, and no other harm.
                if error.exitCode != .unreachable {
                    log.warning("the feed cannot be followed: \(error.what)", error.code)
                }
                if error.code == ErrorCode.cursor.rawValue { after = "now" }
                pause = error.exitCode == .unreachable ? 1_000 : 30_000
            }
            stopping.rest(pause)
        }
    }

    /// Hands over the lines of a stream until it ends; the pause before the next one, in milliseconds.
    private func stream(
        _ request: ClientRequest, take: @escaping (JSONObject) -> Void
    ) throws(CommandFailure) -> Int {
        let reader = StreamReader(take)
        let listener = ClientRequest.Listener(
            begins: { status, _ in reader.isError = !(200..<300).contains(status) }, takes: reader.take,
            goesOn: { [stopping] in !stopping.isAsked })
        let answer: ClientRequest.Answer
        do throws(ClientRequest.Failure) { answer = try request.send(to: place, listener) } catch {
            if error.isEnded { return 0 }
            throw CommandFailure(
                code: "E_UNREACHABLE", "the node's stream broke off: \(error.reason)", exitCode: .unreachable)
        }
        guard !reader.isError else {
            throw ErrorAnswer(body: reader.rest, status: answer.status).failure(status: answer.status)
        }
        return reader.pause
    }
}

/// Reads the lines of a stream.
private final class StreamReader {
    var isError = false
    private(set) var rest: [UInt8] = []
    private(set) var pause = 100
    private let take: (JSONObject) -> Void

    /// Longest line: an event has 256 KiB of payload, which base64 and escapes make longer.
    private static let longest = 4 << 20

    init(_ take: @escaping (JSONObject) -> Void) { self.take = take }

    func take(_ piece: UnsafeRawBufferPointer) -> Bool {
        rest += piece
        guard rest.count <= Self.longest else { return false }
        guard !isError else { return true }
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            let line = Array(rest[..<end])
            rest.removeFirst(end + 1)
            guard let object = try? JSONObject(validating: line) else { continue }
            take(object)
            if let milliseconds = object.integer("retry_ms") { pause = Int(min(max(milliseconds, 0), 30_000)) }
        }
        return true
    }
}
