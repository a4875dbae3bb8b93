internal import CommandLineKit
internal import EventStore
internal import SillokAPI
internal import SillokClient

/// Appends what has to be durable before an answer leaves.
///
/// What comes while a request to the node is under way goes out together with the next one: a thousand clients are a few
/// requests, not a thousand. Each request is stored whole or not at all, so a question never stands without its answer.
///
/// ## Concurrency model
/// Two threads block in libcurl: one request is on its way while the other one gathers. What is submitted, from any thread, is
/// told of exactly once, on one of them.
final class Recorder: Sendable {
    /// Lines of the native form that belong together.
    struct Entry: Sendable {
        /// No other one has it.
        let number: UInt64
        let lines: [UInt8]
        /// Nanoseconds of ``MonotonicClock``: who waits for it is told that the node is away.
        let deadline: UInt64
    }

    /// What came of an entry: stored, or why it is not known to be.
    struct Outcome: Sendable {
        let number: UInt64
        let failure: CommandFailure?
    }

    private struct State {
        var waiting: [Entry] = []
        var isOver = false
    }

    private enum Attempt {
        case stored
        case again(CommandFailure)
        case refused(CommandFailure, isOfLines: Bool)
    }

    /// Entries of one request: some 300 KB.
    private static let largestGroup = 256
    private static let threadCount = 2
    private static let longestPause: UInt64 = 500

    private let configuration: GatewayConfiguration
    private let figures: Figures
    private let log: GatewayLog
    private let tell: @Sendable ([Outcome]) -> Void
    private let state = Monitor(State())
    private let threads = Lock<[WorkerThread]>([])

    /// - Parameter tell: Told of what came of entries, on a thread of the recorder.
    init(
        _ configuration: GatewayConfiguration, _ figures: Figures, _ log: GatewayLog,
        tell: @escaping @Sendable ([Outcome]) -> Void
    ) {
        (self.configuration, self.figures, self.log, self.tell) = (configuration, figures, log, tell)
    }

    func start() {
        threads.withLock { threads in
            threads = (0..<Self.threadCount).map { _ in WorkerThread(name: "gateway-append") { [self] in work() } }
        }
    }

    func submit(_ entry: Entry) {
        state.wakeOne { state in
            state.waiting.append(entry)
            return true
        }
    }

    /// What was submitted is still appended; then the threads end.
    func end() {
        state.wakeAll { $0.isOver = true }
        for thread in threads.withLock({ $0 }) { thread.join() }
    }

    private func work() {
        let connection = ClientConnection()
        while let group = next() { append(group, over: connection) }
    }

    private func next() -> [Entry]? {
        state.wait(for: { state -> Waiting<[Entry]?> in
            guard !state.waiting.isEmpty else { return state.isOver ? .done(nil) : .forever }
            let group = Array(state.waiting.prefix(Self.largestGroup))
            state.waiting.removeFirst(group.count)
            return .done(group)
        })
    }

    private func append(_ group: [Entry], over connection: ClientConnection?) {
        var rest = group
        var pause: UInt64 = 25
        while !rest.isEmpty {
            switch attempt(rest, over: connection) {
            case .stored:
                figures.appended(rest.count)
                isBack()
                return tell(rest.map { Outcome(number: $0.number, failure: nil) })
            case .refused(_, isOfLines: true) where rest.count > 1:
                // One of them is to blame: the others are none the worse for it.
                for entry in rest { append([entry], over: connection) }
                return
            case .refused(let failure, let isOfLines):
                if isOfLines {
                    log.warning("the node refuses a question: \(failure.what)", failure.code)
                } else {
                    isAway(failure)
                }
                return tell(rest.map { Outcome(number: $0.number, failure: failure) })
            case .again(let failure):
                isAway(failure)
                figures.triesAgain()
                let earliest = rest.map(\.deadline).min() ?? 0
                let now = MonotonicClock.now
                let left = earliest > now ? (earliest - now) / 1_000_000 : 0
                sleepMilliseconds(Int(min(pause, left)))
                pause = min(pause * 2, Self.longestPause)
                let end = MonotonicClock.now
                let late = rest.filter { $0.deadline <= end }
                if !late.isEmpty { tell(late.map { Outcome(number: $0.number, failure: failure) }) }
                rest.removeAll { $0.deadline <= end }
            }
        }
    }

    private func attempt(_ group: [Entry], over connection: ClientConnection?) -> Attempt {
        let now = MonotonicClock.now
        let latest = group.map(\.deadline).max() ?? now
        let left = latest > now ? (latest - now) / 1_000_000 : 0
        let request = ClientRequest(
            method: "POST", target: Route.events.path, body: group.flatMap(\.lines),
            timeout: Int(max(left, 200)))
        let node = configuration.node
        let answer: ClientRequest.Answer
        do throws(CommandFailure) {
            // The token's file is read with each request: a new token counts at once.
            let place = try NodePlace.configured(
                url: node.url, tokenFile: node.tokenFile, authorities: node.authorities)
            do throws(ClientRequest.Failure) { answer = try request.send(to: place, over: connection) } catch {
                throw CommandFailure(
                    code: "E_UNREACHABLE", "the node does not answer: \(error.reason)",
                    hint: "is syncd running, and is api.url right?", exitCode: .unreachable)
            }
        } catch {
            return error.exitCode == .unreachable ? .again(error) : .refused(error, isOfLines: false)
        }
        // A request with a line that is not stored is answered with another status.
        if answer.status == 200 { return .stored }
        let failure = ErrorAnswer(body: answer.body, status: answer.status).failure(status: answer.status)
        switch answer.status {
        case 400, 409, 413, 422: return .refused(failure, isOfLines: true)
        case 429, 500..<600: return .again(failure)
        default: return .refused(failure, isOfLines: false)
        }
    }

    private func isAway(_ failure: CommandFailure) {
        guard figures.isAway(true) else { return }
        log.warning("nothing is recorded, and riders are told so: \(failure.what)", failure.code)
    }

    private func isBack() {
        guard figures.isAway(false) else { return }
        log.info("the node records again", "recording")
    }
}
