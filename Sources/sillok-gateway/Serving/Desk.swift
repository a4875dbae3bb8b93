internal import CommandLineKit
internal import EventStore
internal import GatewayKit
internal import SyncEngine

/// Answers questions, those that come over TCP and those of the page. An answer is handed out when it is durable together with its
/// question.
///
/// ## Concurrency model
/// Belongs to the loop's thread. What came of appending comes as a job of the loop.
final class Desk {
    /// What goes back to who has asked.
    struct Answered {
        let answer: TripAnswer
        /// As it was stored; `nil` where nothing was.
        let record: TripRecord?
    }

    private struct Pending {
        let done: (Recorder.Outcome) -> Void
    }

    let transit: Transit
    let figures: Figures
    private let recorder: Recorder
    private let log: GatewayLog
    private let patience: UInt64
    private var pending: [UInt64: Pending] = [:]
    private var submitted: UInt64 = 0

    init(
        _ transit: Transit, _ recorder: Recorder, patience milliseconds: UInt64, _ figures: Figures, _ log: GatewayLog
    ) {
        (self.transit, self.recorder, self.figures, self.log) = (transit, recorder, figures, log)
        patience = milliseconds * 1_000_000
    }

    /// Questions that are not answered yet.
    var underWay: Int { pending.count }

    /// Answers a question. What is no text is answered and not recorded: nothing could be kept as it was sent.
    ///
    /// - Parameters:
    ///   - number: Of the question in its trip.
    ///   - place: Where it came from, for the log; `nil`: it is not told there.
    func ask(
        _ piece: RequestReader.Piece, of trip: Trip, number: UInt64, at place: String?,
        _ answered: @escaping (Answered) -> Void
    ) {
        let began = MonotonicClock.now
        let request: TripRequest
        do throws(TripFault) {
            guard case .request(let bytes) = piece else { throw .tooLong }
            request = try TripRequest(bytes)
        } catch {
            note(nil, .refused(error), at: place, since: began)
            return answered(Answered(answer: .refused(error), record: nil))
        }
        let answer = transit.answer(request)
        let record = TripRecord(request, answer, of: trip, number: number, now: WallClock.now)
        submit(record.lines) { [self] outcome in
            let failure = outcome.failure
            let told: TripAnswer = failure == nil ? answer : .refused(.busy)
            note(try? request.question.get().code, told, at: place, since: began)
            answered(Answered(answer: told, record: failure == nil ? record : nil))
        }
    }

    /// Records that an alarm rang, or was stopped, if it is one of the trip.
    func record(
        _ state: TripRecord.AlarmState, of alarm: EventID, in trip: Trip, _ done: @escaping (Recorder.Outcome) -> Void
    ) {
        submit(TripRecord.line(state, of: alarm, in: trip), (alarm, trip), done)
    }

    private func submit(
        _ lines: [UInt8], _ alarm: (event: EventID, trip: Trip)? = nil, _ done: @escaping (Recorder.Outcome) -> Void
    ) {
        submitted += 1
        pending[submitted] = Pending(done: done)
        recorder.submit(
            .init(number: submitted, lines: lines, alarm: alarm, deadline: MonotonicClock.now + patience))
    }

    func told(_ outcomes: [Recorder.Outcome]) {
        for outcome in outcomes { pending.removeValue(forKey: outcome.number)?.done(outcome) }
    }

    private func note(_ code: Int?, _ answer: TripAnswer, at place: String?, since began: UInt64) {
        let nanoseconds = MonotonicClock.now - began
        let kind = if case .refused(let fault) = answer { fault.rawValue } else { "\(answer.code)" }
        figures.answered(kind, nanoseconds: nanoseconds)
        guard let place else { return }
        log.answered(place, asked: code, answer: kind, milliseconds: nanoseconds / 1_000_000)
    }
}
