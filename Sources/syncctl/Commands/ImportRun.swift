internal import CommandLineKit
internal import EventStore

/// One import: reads lines, hands events in batch by batch, reports what is rejected. While the writer has some batches, the
/// next are read: it puts what waits into one commit, and a page of an index that many events touch is written once.
struct ImportRun {
    let session: Session
    private let target: ImportTarget
    private let batch: Int
    private let size: UInt64?
    private let parser = NativeLineParser()
    private var progress: Progress
    private(set) var tally = AppendTally()
    /// Rejected lines that were not printed.
    private(set) var unshown = 0

    private var drafts: [EventDraft] = []
    private var numbers: [Int] = []
    private var bytes = 0
    /// What was handed in and not yet answered, oldest first.
    private var pending: [Batch] = []

    private struct Batch {
        let numbers: [Int]
        let bytes: Int
        let results: Appender.Pending
    }

    private static let mostShown = 20
    private static let batchBytes = 8 << 20
    /// Most events, and bytes, that are handed in and not answered (INV-9): twice what the writer puts into one commit.
    private static let ahead = (events: 16_384, bytes: 16 << 20)

    init(session: Session, target: ImportTarget, batch: Int, size: UInt64?) {
        self.session = session
        self.target = target
        self.batch = batch
        self.size = size
        progress = Progress("import", unit: size == nil ? "lines" : "KiB", style: session.style())
    }

    /// Imports everything in `descriptor`, or what there is when the user interrupts.
    mutating func read(_ descriptor: Int32) throws(CommandFailure) {
        var reader = LineReader(descriptor: descriptor)
        var offset = 0
        while !Interrupt.isRequested, let line = try next(&reader), !Interrupt.isRequested {
            offset = line.offset
            try take(line)
            if drafts.count >= batch || bytes >= Self.batchBytes { try submit() }
            progress.update(
                done: size == nil ? UInt64(tally.lines) : UInt64(offset >> 10), total: size.map { $0 >> 10 })
        }
        try submit()
        while !pending.isEmpty { try settle() }
        progress.finish(
            done: size == nil
                ? UInt64(tally.lines) : Interrupt.isRequested ? UInt64(offset >> 10) : (size ?? 0) >> 10,
            total: size.map { $0 >> 10 })
    }

    private func next(_ reader: inout LineReader) throws(CommandFailure) -> Line? {
        do { return try reader.next() } catch { throw .system("cannot read the input", errno: error.errno) }
    }

    private mutating func take(_ line: Line) throws(CommandFailure) {
        switch line.content {
        case .tooLong(let count):
            let message = "\(count) bytes; a line has at most \(LineReader.longestLine)"
            try report(.rejected(code: "E_LINE_SIZE", message: message), line.number)
        case .text(let text, let range):
            do throws(InvalidLine) {
                let parsed = try parser.parse(text, range)
                if parsed.draft.type == OriginStart.type {
                    tally.passOver()
                    return
                }
                drafts.append(parsed.draft)
                numbers.append(line.number)
                bytes += parsed.draft.payload.count + 256
            } catch {
                if !Self.isEnd(text[range]) {
                    try report(.rejected(code: error.code, message: error.description), line.number)
                }
            }
        }
    }

    /// The final line of `export --json` is no event and no mistake.
    private static func isEnd(_ line: ArraySlice<UInt8>) -> Bool {
        line.starts(with: #"{"type":"end","v":1,"#.utf8)
    }

    private mutating func submit() throws(CommandFailure) {
        guard !drafts.isEmpty else { return }
        pending.append(Batch(numbers: numbers, bytes: bytes, results: target.start(drafts)))
        (drafts, numbers, bytes) = ([], [], 0)
        while pending.count > 1,
            pending.reduce(0, { $0 + $1.numbers.count }) + batch > Self.ahead.events
                || pending.reduce(0, { $0 + $1.bytes }) > Self.ahead.bytes
        {
            try settle()
        }
    }

    /// Waits for the batch that was handed in first.
    private mutating func settle() throws(CommandFailure) {
        let first = pending.removeFirst()
        for (number, result) in zip(first.numbers, try first.results()) {
            if case .rejected = result { try report(result, number) } else { tally.count(result) }
        }
    }

    private mutating func report(_ result: AppendResult, _ number: Int) throws(CommandFailure) {
        tally.count(result)
        guard case .rejected(let code, let message) = result else { return }
        if session.isJSON {
            try session.output.line(result.json(line: number))
        } else if tally.rejected <= Self.mostShown {
            Output.message("syncctl: line \(number): \(Sanitizer.line(message))   [\(code)]\n")
        } else {
            unshown += 1
        }
    }
}
