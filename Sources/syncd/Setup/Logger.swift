internal import CommandLineKit
internal import EventStore
internal import Glibc

/// One line for each fact, on standard error; with a syslog priority where journald reads it.
struct Logger: Sendable {
    private let level: Lock<DaemonConfiguration.LogLevel>
    private let hasPriorities = getenv("JOURNAL_STREAM") != nil

    init(level: DaemonConfiguration.LogLevel) { self.level = Lock(level) }

    /// From now on lines of this importance are written, and those above it.
    func setLevel(_ level: DaemonConfiguration.LogLevel) { self.level.withLock { $0 = level } }

    func error(_ text: String) { write(text, .error, 3) }
    func warning(_ text: String) { write(text, .warning, 4) }
    func info(_ text: String) { write(text, .info, 6) }

    private func write(_ text: String, _ wanted: DaemonConfiguration.LogLevel, _ priority: Int) {
        let order = DaemonConfiguration.LogLevel.allCases
        guard let limit = order.firstIndex(of: level.withLock { $0 }), let rank = order.firstIndex(of: wanted),
            rank <= limit
        else {
            return
        }
        Output.message((hasPriorities ? "<\(priority)>" : "syncd: ") + Sanitizer.line(text) + "\n")
    }
}
