internal import CommandLineKit
internal import EventStore
internal import GatewayKit
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
        /// The alarm that it speaks of: it has to be one of the trip, as the node has it.
        var alarm: (event: EventID, trip: Trip)?
        /// Nanoseconds of ``MonotonicClock``: who waits for it is told that the node is away.
        let deadline: UInt64
    }

    /// What came of an entry: stored, or why it is not known to be.
    struct Outcome: Sendable {
        let number: UInt64
        var failure: CommandFailure?
        /// Whether the node has refused the entry for good: it would again.
        var isRefused = false
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
        while let group = next() {
            let (alarms, others) = (group.filter { $0.alarm != nil }, group.filter { $0.alarm == nil })
            if !others.isEmpty { append(others, over: connection) }
            for alarm in alarms { append([alarm], over: connection) }
        }
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
                    // What a page says of an alarm must not grow the log.
                    if rest[0].alarm == nil {
                        log.warning("the node refuses a question: \(failure.what)", failure.code)
                    }
                } else {
                    isAway(failure)
                }
                return tell(rest.map { Outcome(number: $0.number, failure: failure, isRefused: isOfLines) })
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
        if let alarm = group.first?.alarm {
            let route = ReadRoute.event(alarm.event.description)
            switch ask(ClientRequest(target: route.path(with: [])), group, connection) {
            case .success(let answer) where answer.status == 404 || answer.status == 200 && !Self.has(answer, alarm):
                return .refused(Self.strange, isOfLines: true)
            case .success(let answer) where answer.status != 200: return Self.attempt(failing: answer)
            case .success: break
            case .failure(let failure): return failure.attempt
            }
        }
        let request = ClientRequest(method: "POST", target: Route.events.path, body: group.flatMap(\.lines))
        switch ask(request, group, connection) {
        // A request with a line that is not stored is answered with another status.
        case .success(let answer): return answer.status == 200 ? .stored : Self.attempt(failing: answer)
        case .failure(let failure): return failure.attempt
        }
    }

    private static let strange = CommandFailure(
        code: ErrorCode.notFound.rawValue, "there is no such alarm of this trip",
        hint: "trip and alarm, as an answer has them", exitCode: .nothingFound)

    /// Whether the node's answer is the alarm of that trip.
    private static func has(_ answer: ClientRequest.Answer, _ alarm: (event: EventID, trip: Trip)) -> Bool {
        guard let line = answer.body.split(separator: UInt8(ascii: "\n")).first,
            let object = try? JSONObject(validating: Array(line))
        else { return false }
        let event = object.object("event") ?? object
        return event.string("type") == TripRecord.alarmSet
            && event.string("subject") == "conversation/" + alarm.trip.conversation
    }

    /// No answer of the node.
    private struct Silence: Error {
        let attempt: Attempt
    }

    private func ask(
        _ wanted: ClientRequest, _ group: [Entry], _ connection: ClientConnection?
    ) -> Result<ClientRequest.Answer, Silence> {
        let now = MonotonicClock.now
        let latest = group.map(\.deadline).max() ?? now
        let left = latest > now ? (latest - now) / 1_000_000 : 0
        var request = wanted
        request.timeout = Int(max(left, 200))
        do throws(CommandFailure) {
            // The token's file is read with each request: a new token counts at once.
            let place = try configuration.node.place()
            do throws(ClientRequest.Failure) {
                return .success(try request.send(to: place, over: connection))
            } catch {
                throw CommandFailure(
                    code: "E_UNREACHABLE", "the node does not answer: \(error.reason)",
                    hint: "is syncd running, and is api.url right?", exitCode: .unreachable)
            }
        } catch {
            return .failure(
                Silence(attempt: error.exitCode == .unreachable ? .again(error) : .refused(error, isOfLines: false)))
        }
    }

    /// What an answer that is no success comes to.
    private static func attempt(failing answer: ClientRequest.Answer) -> Attempt {
        let failure = ErrorAnswer(body: answer.body, status: answer.status).failure(status: answer.status)
        return switch answer.status {
        case 400, 409, 413, 422: .refused(failure, isOfLines: true)
        case 429, 500..<600: .again(failure)
        default: .refused(failure, isOfLines: false)
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
