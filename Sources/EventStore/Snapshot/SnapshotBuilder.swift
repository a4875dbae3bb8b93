/// Builds a log from the pieces of a snapshot with all cores: pieces are read and hashed side by side, brought into order
/// one after the other, turned into pages side by side, and written one after the other.
///
/// ## Concurrency model
/// Any thread may call ``add(_:completion:)``; the caller bounds how many pieces are on their way. Completions run on the
/// builder's threads. The sequencer is used by whichever thread holds its turn, and so is the assembly.
package final class SnapshotBuilder: Sendable {
    /// Gives the rows of a piece; runs on one of the builder's threads.
    package typealias Source = @Sendable () throws(SnapshotError) -> SnapshotRows
    /// Hears, in order, that a piece was found right and is in its place: its last position at the sender.
    package typealias Completion = @Sendable (Result<UInt64, SnapshotError>) -> Void

    /// Sees each piece in their order, one at a time, when it was found to follow upon those before it.
    package typealias Observer = @Sendable (CheckedRows) -> Void

    private enum Stage {
        case waiting(Source)
        case checking
        case checked(CheckedRows)
        case sequencing
        case sequenced(SequencedRows)
        case building
        case built(RowLeaves, last: UInt64)
        case writing
    }

    private struct Piece {
        var stage: Stage
        let completion: Completion
    }

    private struct State {
        var pieces: [Int: Piece] = [:]
        /// The number the next piece gets.
        var next = 0
        /// The next to be put in order, and to be written.
        var toSequence = 0
        var toWrite = 0
        var isSequencing = false
        var isWriting = false
        var failure: SnapshotError?
        var isClosed = false
    }

    private enum Work {
        case check(Int, Source)
        case sequence(Int, CheckedRows)
        case build(Int, SequencedRows)
        case write(Int, RowLeaves, last: UInt64)
        case stop
    }

    /// Carries the parts that belong to one thread at a time.
    ///
    /// `@unchecked Sendable`: each part is used only by the thread whose turn it is; turns change under the monitor.
    private final class Parts: @unchecked Sendable {
        let scratch: ScratchDatabase
        let sequencer: Sequencer
        let assembly: LogFileBuilder

        init(_ folder: SnapshotFolder, own: OriginID) throws(DatabaseError) {
            assembly = try LogFileBuilder(folder)
            scratch = try ScratchDatabase(assembly.scratch)
            sequencer = try Sequencer(scratch, own: own)
        }
    }

    private let state = Monitor(State())
    /// What was written: memory for what is built next.
    private let spent = Lock<[RowLeaves]>([])
    private let parts: Parts
    private let inOrder: Observer
    private let files: StoreFiles
    private let threads: Lock<[WorkerThread]>
    private let threadCount: Int
    /// This node's own events, which come first.
    package let ownEvents: UInt64

    /// Begins a log with this node's own events, which must be all there are.
    package init(
        _ files: StoreFiles, own: OriginID, threads count: Int, inOrder: @escaping Observer = { _ in }
    ) throws(SnapshotError) {
        self.files = files
        self.inOrder = inOrder
        threadCount = max(1, count)
        let folder = SnapshotFolder(files: files)
        do throws(StoreError) {
            try folder.make()
            let reader = try SnapshotReader(files)
            ownEvents = try reader.top()
            do { parts = try Parts(folder, own: own) } catch { throw StoreError(error) }
        } catch {
            throw .store(error)
        }
        threads = Lock([])
        try addOwnRows()
        parts.sequencer.ownRowsEnded()
        let started = (0..<threadCount).map { index in
            WorkerThread(name: "snapshot-\(index)") { [self] in run() }
        }
        threads.withLock { $0 = started }
    }

    private func addOwnRows() throws(SnapshotError) {
        let sha = SHA256()
        var after = UInt64(0)
        var built = RowLeaves()
        while after < ownEvents {
            let rows: SnapshotRows
            do { rows = try SnapshotReader(files).rows(after: after, through: ownEvents, bytes: 1 << 20) } catch {
                throw .store(error)
            }
            after = rows.last
            built.fill(try parts.sequencer.take(try CheckedRows(rows, using: sha)))
            do { try parts.assembly.add(&built) } catch { throw SnapshotError(error) }
        }
    }

    /// Adds the next piece.
    package func add(_ source: @escaping Source, completion: @escaping Completion) {
        var refusal: SnapshotError?
        state.update { state in
            refusal = state.failure ?? (state.isClosed ? .busy("the snapshot was called off") : nil)
            guard refusal == nil else { return false }
            state.pieces[state.next] = Piece(stage: .waiting(source), completion: completion)
            state.next += 1
            return true
        }
        if let refusal { completion(.failure(refusal)) }
    }

    /// How far each origin is. Only when all pieces are written.
    package var progress: [OriginProgress] { parts.sequencer.progress }

    /// Completes the log once every piece is written: proves it with `coverage` and lets it wait for the store to be opened
    /// again. Blocks.
    package func finishBlocking(_ coverage: [Coverage], expecting: [OriginProgress]) throws(SnapshotError) {
        let failure = state.wait { state -> SnapshotError?? in
            if let failure = state.failure { return .some(.some(failure)) }
            return state.toWrite == state.next ? .some(nil) : nil
        }
        if let failure = failure ?? nil { throw failure }
        stop()
        let indexes: LogFileBuilder.Indexes
        do throws(DatabaseError) {
            indexes = try parts.assembly.beginIndexes(parts.scratch.nameList, threads: threadCount)
        } catch {
            throw SnapshotError(error)
        }
        // While they are built, for nothing if this fails.
        try parts.sequencer.finish(coverage, expecting: expecting)
        do throws(DatabaseError) {
            let now = WallClock.now
            try parts.assembly.finish(
                indexes, as: files.readyLog, wall: now, skews: parts.sequencer.skews(wall: now))
        } catch {
            throw SnapshotError(error)
        }
        SnapshotFolder(files: files).removeAll()
    }

    /// Refuses a log that was made and does not begin with this node's own events: a start would throw it away, and ask for another one.
    package func requireFit() throws(SnapshotError) {
        do throws(StoreError) {
            if try SnapshotInstall.fits(files) { return }
        } catch {
            throw .store(error)
        }
        SmallFile.removeDatabase(files.readyLog)
        throw .store(.corrupt("the log that was made of it does not begin with this node's own events"))
    }

    /// Ends the threads; the unfinished log is taken away.
    package func cancel() {
        stop()
        SnapshotFolder(files: files).removeParts()
    }

    private func stop() {
        state.wakeAll { $0.isClosed = true }
        for thread in threads.withLock({ $0 }) { thread.join() }
    }

    // MARK: The builder's threads

    private func run() {
        let sha = SHA256()
        while let work = state.wait(for: { Self.next(&$0) }) {
            switch work {
            case .stop: return
            case .check(let number, let source):
                perform(number) { () throws(SnapshotError) in .checked(try CheckedRows(try source(), using: sha)) }
            case .sequence(let number, let checked):
                perform(number) { () throws(SnapshotError) in
                    let sequenced = try parts.sequencer.take(checked)
                    inOrder(checked)
                    return .sequenced(sequenced)
                }
            case .build(let number, let sequenced):
                perform(number) { () throws(SnapshotError) in
                    var built = spent.withLock { $0.popLast() } ?? RowLeaves()
                    built.fill(sequenced)
                    return .built(built, last: sequenced.checked.rows.last)
                }
            case .write(let number, var built, let last):
                do throws(DatabaseError) {
                    try parts.assembly.add(&built)
                    spent.withLock { $0.append(built) }
                    written(number, last)
                } catch {
                    fail(SnapshotError(error))
                }
            }
        }
    }

    private func perform(_ number: Int, _ body: () throws(SnapshotError) -> Stage) {
        do throws(SnapshotError) {
            let stage = try body()
            state.wakeAll { state in
                if case .sequenced = stage {
                    state.isSequencing = false
                    state.toSequence = number + 1
                }
                state.pieces[number]?.stage = stage
            }
        } catch {
            fail(error)
        }
    }

    private func written(_ number: Int, _ last: UInt64) {
        // Told before the turn passes on, so that they are told in order.
        state.withLock { $0.pieces[number]?.completion }?(.success(last))
        state.wakeAll { state in
            state.pieces[number] = nil
            state.isWriting = false
            state.toWrite = number + 1
        }
    }

    /// Gives up: every piece that is not written yet, and all that is asked for later, is answered with `error`. A piece may do so in its
    /// completion.
    package func fail(_ error: SnapshotError) {
        var told: [Completion] = []
        state.wakeAll { state in
            if state.failure == nil {
                state.failure = error
                told = state.pieces.sorted { $0.key < $1.key }.map(\.value.completion)
                state.pieces = [:]
            }
        }
        for completion in told { completion(.failure(error)) }
    }

    /// Most pieces that are more than the bytes they came as.
    private static let unpacked = 16

    /// What to do now: what frees memory first.
    private static func next(_ state: inout State) -> Work? {
        if state.isClosed || state.failure != nil { return .stop }
        if !state.isWriting, case .built(let built, let last)? = state.pieces[state.toWrite]?.stage {
            state.isWriting = true
            state.pieces[state.toWrite]?.stage = .writing
            return .write(state.toWrite, built, last: last)
        }
        if !state.isSequencing, case .checked(let checked)? = state.pieces[state.toSequence]?.stage {
            state.isSequencing = true
            state.pieces[state.toSequence]?.stage = .sequencing
            return .sequence(state.toSequence, checked)
        }
        for number in state.toWrite..<state.next {
            guard case .sequenced(let sequenced)? = state.pieces[number]?.stage else { continue }
            state.pieces[number]?.stage = .building
            return .build(number, sequenced)
        }
        // Unpacked pieces take several times what they took on the way: only so many at a time.
        for number in state.toSequence..<max(state.toSequence, min(state.next, state.toWrite + unpacked)) {
            guard case .waiting(let source)? = state.pieces[number]?.stage else { continue }
            state.pieces[number]?.stage = .checking
            return .check(number, source)
        }
        return nil
    }
}
