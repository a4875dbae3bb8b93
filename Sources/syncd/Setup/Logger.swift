internal import CommandLineKit
internal import EventStore
internal import Glibc

/// One line for each fact, on standard error, as text or as JSON; with a syslog priority where journald reads it.
struct Logger: Sendable {
    private let log: Lock<DaemonConfiguration.Log>
    private let hasPriorities = getenv("JOURNAL_STREAM") != nil

    init(_ log: DaemonConfiguration.Log) { self.log = Lock(log) }

    /// From now on lines are written so, and of this importance or above it.
    func take(_ log: DaemonConfiguration.Log) { self.log.withLock { $0 = log } }

    func error(_ text: String, _ code: String, _ fields: LogLine.Field...) {
        write(LogLine(level: .error, code: code, text: text, fields: fields))
    }

    func warning(_ text: String, _ code: String, _ fields: LogLine.Field...) {
        write(LogLine(level: .warning, code: code, text: text, fields: fields))
    }

    func info(_ text: String, _ code: String, _ fields: LogLine.Field...) {
        write(LogLine(level: .info, code: code, text: text, fields: fields))
    }

    func write(_ line: LogLine) {
        let log = log.withLock { $0 }
        let order = DaemonConfiguration.LogLevel.allCases
        guard let limit = order.firstIndex(of: log.level), let rank = order.firstIndex(of: line.level), rank <= limit
        else { return }
        let priority = hasPriorities ? "<\(line.level.priority)>" : ""
        switch log.format {
        case .text: Output.message((hasPriorities ? priority : "syncd: ") + Sanitizer.line(line.text) + "\n")
        case .json: Output.message(priority + line.json(at: WallClock.now) + "\n")
        }
    }
}

extension DaemonConfiguration.LogLevel {
    /// As syslog has it.
    fileprivate var priority: Int {
        switch self {
        case .error: 3
        case .warning: 4
        case .info: 6
        case .debug: 7
        }
    }
}
