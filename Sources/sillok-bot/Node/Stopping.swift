internal import CommandLineKit
internal import EventStore

/// Whether the program is to end, and why; shared by its threads.
final class Stopping: Sendable {
    private struct State {
        var isAsked = false
        var failure: CommandFailure?
    }

    private let state = Monitor(State())

    /// The first reason stands.
    func ask(_ failure: CommandFailure? = nil) {
        state.wakeAll { state in
            if !state.isAsked { state.failure = failure }
            state.isAsked = true
        }
    }

    var isAsked: Bool { state.withLock { $0.isAsked } }
    var failure: CommandFailure? { state.withLock { $0.failure } }

    /// Rests, at most so long, until the program is to end. Whether it is.
    @discardableResult
    func rest(_ milliseconds: Int) -> Bool {
        state.wait(milliseconds: milliseconds) { state in state.isAsked ? true : nil } ?? false
    }
}
