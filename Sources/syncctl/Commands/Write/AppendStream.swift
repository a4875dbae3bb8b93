internal import CommandLineKit
internal import EventStore
internal import Glibc
internal import SillokAPI

/// Appends the native NDJSON on stdin; one result for each line, in order. What has come is appended as soon as nothing
/// more is waiting, so that a program at the other end of the pipe hears about each event soon.
struct AppendStream {
    /// A line: its number, and the event in it or why there is none.
    private struct Entry {
        let number: Int
        let draft: EventDraft?
        let problem: AppendedLine?
    }

    private let session: Session
    private let parser = NativeLineParser()
    private var tally = AppendTally()
    private var waiting: [Entry] = []
    private var waitingBytes = 0
    private static let batch = 1_000
    private static let batchBytes = 4 << 20

    init(_ session: Session) { self.session = session }

    mutating func run() throws(CommandFailure) -> ExitCode {
        let appender = try Appender.open(session)
        defer { appender.close() }
        var reader = LineReader(descriptor: StandardStream.input.rawValue, chunk: 64 << 10)
        while let line = try reader.line(of: "stdin") {
            let entry = entry(line)
            waiting.append(entry)
            waitingBytes += entry.draft?.payload.count ?? 0
            if waiting.count >= Self.batch || waitingBytes >= Self.batchBytes || !Self.hasMoreInput {
                try flush(appender)
            }
        }
        try flush(appender)
        return try tally.finish(session)
    }

    private func entry(_ line: Line) -> Entry {
        switch line.content {
        case .tooLong(let count):
            let message = "\(count) bytes; a line has at most \(LineReader.longestLine)"
            return Entry(
                number: line.number, draft: nil, problem: .rejected(code: "E_LINE_SIZE", message: message))
        case .text(let bytes, let range):
            do throws(InvalidLine) {
                var parsed = try parser.parse(bytes, range)
                // Said twice is meant twice: only a record's own name makes two lines one event.
                if parsed.isDerivedID, parsed.recordID == nil { parsed.draft.id = .timeOrdered(WallClock.now) }
                return Entry(number: line.number, draft: parsed.draft, problem: nil)
            } catch {
                return Entry(
                    number: line.number, draft: nil,
                    problem: .rejected(code: error.code, message: error.description))
            }
        }
    }

    private mutating func flush(_ appender: Appender) throws(CommandFailure) {
        let drafts = waiting.compactMap(\.draft)
        var results = (drafts.isEmpty ? [] : try appender.start(drafts)())[...]
        for entry in waiting {
            if let problem = entry.problem {
                try tally.add(problem, line: entry.number, session)
            } else if let result = results.popFirst() {
                try tally.add(result, line: entry.number, session)
            }
        }
        waiting.removeAll(keepingCapacity: true)
        waitingBytes = 0
        try session.output.flush()
    }

    private static var hasMoreInput: Bool {
        var request = pollfd(fd: StandardStream.input.rawValue, events: Int16(POLLIN), revents: 0)
        return poll(&request, 1, 0) > 0
    }
}
