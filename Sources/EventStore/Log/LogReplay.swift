/// Events of a log in order, read and decoded on several threads ahead of the reader.
///
/// What is read ends at the position that was the last one when it began, so that all threads see the same log (positions are only
/// added). Each thread reads in short transactions of its own, so that the WAL can be truncated between them.
package struct LogReplay: Sendable {
    /// Which events.
    private enum Selection: Sendable {
        case range(after: UInt64, through: UInt64)
        case positions([UInt64])
    }

    private let files: StoreFiles
    private let selection: Selection

    /// Events of a piece of work: enough that beginning one does not count, few enough that all threads have some.
    private static let piece: UInt64 = 1_024
    /// Payload bytes after which a part of a piece is handed out (INV-9).
    private static let partBytes = 1 << 20
    /// Threads at most: more find each other in the way at the page cache.
    private static let mostThreads = 4

    /// The log of `files` after a position, in order of position.
    ///
    /// - Parameter last: The last position that is wanted; no position after the log's present end is read.
    package init(_ files: StoreFiles, after first: UInt64 = 0, through last: UInt64) {
        self.files = files
        selection = .range(after: min(first, last), through: last)
    }

    /// The events at `positions`, in that order; positions where there is none are passed over.
    package init(_ files: StoreFiles, at positions: [UInt64]) {
        self.files = files
        selection = .positions(positions)
    }

    /// How many events there are at most.
    package var count: UInt64 {
        switch selection {
        case .range(let after, let through): through - after
        case .positions(let positions): UInt64(positions.count)
        }
    }

    /// How many threads read.
    private var threads: Int {
        // A short log is read before a second thread has opened it.
        guard count > 4 * Self.piece else { return 1 }
        return min(max(processorCount - 1, min(processorCount, 2)), Self.mostThreads)
    }

    /// Calls `body` with each event in order until it returns false.
    package func forEach(_ body: (StoredEvent) -> Bool) throws(StoreError) {
        let parts = try parts()
        while let part = try parts.next() {
            let events = part.span
            for index in events.indices where !body(events[index]) { return }
            parts.giveBack(part)
        }
    }

    /// The events, part by part in order.
    package func parts() throws(StoreError) -> OrderedPipeline<Worker<[StoredEvent]>> {
        try parts { { events, event in events.append(event) } }
    }

    /// What comes of the events, part by part in order. `make` runs once on each thread; what it returns adds an event
    /// to a part.
    package func parts<Part: ReplayPart & Sendable>(
        of type: Part.Type = Part.self, _ make: @escaping @Sendable () -> (inout Part, consuming StoredEvent) -> Void
    ) throws(StoreError) -> OrderedPipeline<Worker<Part>> {
        let pieces = Int((count + Self.piece - 1) / Self.piece)
        let erasures = try OwnErasures(LogReader(files))
        return try OrderedPipeline(pieces: pieces, threads: threads) { () throws(StoreError) in
            Worker(replay: self, reader: try LogReader(files), erasures: erasures, add: make())
        }
    }

    /// Reads pieces of the log on one thread.
    package struct Worker<Part: ReplayPart & Sendable>: PieceWorker {
        fileprivate let replay: LogReplay
        fileprivate let reader: LogReader
        fileprivate let erasures: OwnErasures
        fileprivate let add: (inout Part, consuming StoredEvent) -> Void
        /// What is left of the piece: positions after the first of them up to the last, or indexes of positions.
        private var rest: Range<UInt64> = 0..<0

        fileprivate init(
            replay: LogReplay, reader: LogReader, erasures: OwnErasures,
            add: @escaping (inout Part, consuming StoredEvent) -> Void
        ) {
            (self.replay, self.reader, self.erasures, self.add) = (replay, reader, erasures, add)
        }

        package mutating func begin(_ piece: Int) {
            let start = UInt64(piece) * LogReplay.piece
            let range = start..<min(start + LogReplay.piece, replay.count)
            switch replay.selection {
            case .range(let after, _): rest = after + range.lowerBound..<after + range.upperBound
            case .positions: rest = range
            }
        }

        package mutating func next(reusing spent: consuming Part?) throws(StoreError) -> Part? {
            guard !rest.isEmpty else { return nil }
            var part = spent ?? Part()
            part.removeAll(keepingCapacity: true)
            var bytes = 0
            var refused: StoreError?
            func take(_ event: consuming StoredEvent) -> Bool {
                refused = erasures.refusal(of: event.event)
                guard refused == nil else { return false }
                bytes += event.event.body.count
                add(&part, event)
                return bytes < LogReplay.partBytes
            }
            switch replay.selection {
            case .range:
                var start = rest.upperBound
                let found = try reader.scan(
                    after: rest.lowerBound, through: rest.upperBound, limit: rest.count
                ) { event in
                    let position = event.position
                    if take(event) { return true }
                    start = position
                    return false
                }
                // Positions have no gaps (INV-2). A last position that was made up would be read towards for ever.
                if found == rest.lowerBound, try reader.top() > rest.upperBound {
                    throw .corrupt("no event at positions \(rest.lowerBound + 1) to \(rest.upperBound)")
                }
                rest = start..<rest.upperBound
            case .positions(let positions):
                let wanted = Array(positions[Int(rest.lowerBound)..<Int(rest.upperBound)])
                let count = try reader.events(at: wanted) { event in take(event) }
                rest.removeFirst(count)
            }
            if let refused { throw refused }
            return part
        }
    }
}

/// What is made of some events in a row.
package protocol ReplayPart {
    /// Of no event.
    init()
    /// Begins anew.
    mutating func removeAll(keepingCapacity: Bool)
}

extension Array: ReplayPart {}
