internal import CommandLineKit
internal import EventStore
internal import SillokAPI
internal import SyncEngine

/// One import: reads lines, hands events in batch by batch, reports what is rejected. While the writer has some batches, the
/// next are read: it puts what waits into one commit, and a page of an index that many events touch is written once.
struct ImportRun {
    let session: Session
    private let target: ImportTarget
    private let batch: Int
    private let size: UInt64?
    private let rejects: RejectsFile?
    private let parser = NativeLineParser()
    private var progress: Progress
    private(set) var tally = AppendTally()
    /// Rejected lines that were not printed.
    private(set) var unshown = 0

    private var drafts: [EventDraft] = []
    private var numbers: [Int] = []
    /// The lines of ``drafts`` as they came, if rejected ones are kept.
    private var texts: [[UInt8]] = []
    private var bytes = 0
    /// What was handed in and not yet answered, oldest first.
    private var pending: [Batch] = []

    private struct Batch {
        let numbers: [Int]
        let texts: [[UInt8]]
        let bytes: Int
        let results: Appender.Pending
    }

    private static let mostShown = 20
    private static let batchBytes = 8 << 20
    /// Most events, and bytes, that are handed in and not answered (INV-9): twice what the writer puts into one commit.
    private static let ahead = (events: 16_384, bytes: 16 << 20)

    init(session: Session, target: ImportTarget, batch: Int, size: UInt64?, rejects: RejectsFile?) {
        self.rejects = rejects
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
        while !Interrupt.isRequested, let line = try reader.line(of: "the input"), !Interrupt.isRequested {
            offset = line.offset
            try take(line)
            if drafts.count >= batch || bytes >= Self.batchBytes { try submit() }
            progress.update(
                done: size == nil ? UInt64(tally.lines) : UInt64(offset >> 10), total: size.map { $0 >> 10 })
        }
        try submit()
        while !pending.isEmpty { try settle() }
        try rejects?.flush()
        progress.finish(
            done: size == nil
                ? UInt64(tally.lines) : Interrupt.isRequested ? UInt64(offset >> 10) : (size ?? 0) >> 10,
            total: size.map { $0 >> 10 })
    }

    private mutating func take(_ line: Line) throws(CommandFailure) {
        switch line.content {
        case .tooLong(let count):
            let message = "\(count) bytes; a line has at most \(LineReader.longestLine)"
            try report(
                .rejected(code: "E_LINE_SIZE", message: message), line.number,
                .tooLong(offset: line.offset, count: count))
        case .text(let text, let range):
            do throws(InvalidLine) {
                let parsed = try parser.parse(text, range)
                if parsed.draft.type == OriginStart.type || parsed.draft.type == Settlement.type {
                    tally.passOver()
                    return
                }
                if parsed.isTwin {
                    tally.passOverTwin()
                    return
                }
                if AttachmentNaming.isLikely(parsed.draft.payload) {
                    let payload = JSONObject(validated: parsed.draft.payload)
                    let items = try? AttachmentNaming.items(type: parsed.draft.type, payload)
                    tally.name(attachments: items?.count ?? 0)
                }
                drafts.append(parsed.draft)
                numbers.append(line.number)
                if rejects != nil { texts.append(Array(text[range])) }
                bytes += rejects == nil ? parsed.draft.payload.count + 256 : parsed.draft.payload.count + range.count
            } catch {
                if Self.isEnd(text[range]) { return }
                try Self.refuseEvidence(text[range])
                try report(
                    .rejected(code: error.code, message: error.description), line.number, .line(Array(text[range])))
            }
        }
    }

    /// The final line of `export --json` is no event and no mistake.
    private static func isEnd(_ line: ArraySlice<UInt8>) -> Bool {
        line.starts(with: #"{"type":"end","v":1,"#.utf8)
    }

    /// Events with all that proves them are not native lines.
    private static func refuseEvidence(_ line: ArraySlice<UInt8>) throws(CommandFailure) {
        guard line.starts(with: #"{"type":"evidence","#.utf8) else { return }
        throw CommandFailure(
            code: "E_EVIDENCE", "this is an evidence file", hint: "syncctl import --evidence FILE",
            exitCode: .badInput)
    }

    private mutating func submit() throws(CommandFailure) {
        guard !drafts.isEmpty else { return }
        pending.append(Batch(numbers: numbers, texts: texts, bytes: bytes, results: target.start(drafts)))
        (drafts, numbers, texts, bytes) = ([], [], [], 0)
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
        for (index, result) in try first.results().enumerated() {
            if case .rejected = result {
                try report(result, first.numbers[index], .line(rejects == nil ? [] : first.texts[index]))
            } else {
                tally.count(result)
            }
        }
    }

    private mutating func report(
        _ result: AppendedLine, _ number: Int, _ line: Rejected
    ) throws(CommandFailure) {
        tally.count(result)
        guard case .rejected(let code, let message) = result else { return }
        try rejects?.add((code, message), number: number, line)
        if session.isJSON {
            try session.output.line(result.json(line: number))
        } else if tally.rejected <= Self.mostShown {
            AppendTally.tell((code, message), line: number, session)
        } else {
            unshown += 1
        }
    }
}
