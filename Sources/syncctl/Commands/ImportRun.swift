internal import CommandLineKit
internal import EventStore

/// One import: reads lines, hands events in batch by batch, reports what is rejected. While the disk syncs one batch, the
/// next is read.
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
    private var pending: (numbers: [Int], results: Appender.Pending)?

    private static let mostShown = 20
    private static let batchBytes = 8 << 20

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
        try settle()
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
        let next = (numbers, target.start(drafts))
        try settle()
        pending = next
        (drafts, numbers, bytes) = ([], [], 0)
    }

    /// Waits for the batch that was handed in last.
    private mutating func settle() throws(CommandFailure) {
        guard let (numbers, results) = pending else { return }
        pending = nil
        for (number, result) in zip(numbers, try results()) {
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
