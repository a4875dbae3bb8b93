internal import CommandLineKit
internal import EventStore

/// How fast events are replayed: as far apart as they were, divided by a number.
struct ReplayPace {
    /// Milliseconds of the log for one of the clock.
    private let speed: Double
    /// Whether it goes by when events were recorded, and not by when they happened.
    private let isByLog: Bool
    private var last: Int64?

    /// `nil` where nothing is waited for.
    init?(_ session: Session) throws(CommandFailure) {
        guard let text = session.arguments.value("speed"), text != "max" else { return nil }
        guard let speed = Double(text), speed.isFinite, speed > 0 else {
            throw usageFailure("--speed '\(text)' is neither a number above 0 nor 'max'", hint: "--speed 60")
        }
        self.speed = speed
        isByLog = session.arguments.value("order") == "log"
    }

    /// Waits until the event is due. Who recorded at a time before the one before it is due at once.
    mutating func wait(for header: EventHeader) {
        let time = isByLog ? header.hlc.milliseconds : header.displayKey.time
        defer { last = max(last ?? time, time) }
        guard let last, time > last else { return }
        var left = Double(time - last) / speed
        while left >= 1 {
            let part = min(left, 1_000_000)
            sleep(milliseconds: Int(part))
            left -= part
        }
    }
}
