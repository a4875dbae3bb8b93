internal import CLinux

/// Does a piece of work after the other; each thread has one of its own.
package protocol PieceWorker: SendableMetatype {
    /// What comes of a part of a piece.
    associatedtype Output: Sendable
    associatedtype Failure: Error

    /// Begins with the piece of this number.
    mutating func begin(_ piece: Int)
    /// What comes of the next part of the piece; `nil` at its end.
    ///
    /// - Parameter spent: An earlier output that is not wanted any longer; its memory can be used again.
    mutating func next(reusing spent: consuming Output?) throws(Failure) -> Output?
}

/// Numbered pieces of work, done on several threads ahead of the taker of what comes of them, in the order of their numbers.
///
/// ## Concurrency model
/// Of n threads, thread t has the pieces t, t + n, t + 2n … and a short queue of its own; ``next()`` goes from queue to queue. So nothing
/// has to be sorted, a thread waits for nothing but room in its queue, and what is held is bounded (INV-9). That is
/// ``OutputQueue/capacity`` outputs of each thread, the one it works on, and those that were taken and not yet given back. It belongs to
/// one thread at a time. With a single thread the work is done by the caller of ``next()``.
package final class OrderedPipeline<Worker: PieceWorker> {
    private enum Source {
        case own(Worker)
        case threads([(queue: OutputQueue<Worker.Output, Worker.Failure>, thread: WorkerThread)])
        case over
    }

    private let pieces: Int
    /// Given back, when there are no threads.
    private var spent: Worker.Output?
    /// The piece whose outputs are being taken.
    private var piece = 0
    private var hasBegun = false
    private var source: Source

    /// - Parameters:
    ///   - threads: At most one for each piece is used.
    ///   - make: Runs once on each thread.
    package init(
        pieces: Int, threads: Int, _ make: @escaping @Sendable () throws(Worker.Failure) -> Worker
    ) throws(Worker.Failure) {
        self.pieces = pieces
        let count = min(threads, pieces)
        guard count > 1 else {
            source = .own(try make())
            return
        }
        source = .threads(
            (0..<count).map { first in
                let queue = OutputQueue<Worker.Output, Worker.Failure>()
                let thread = WorkerThread(name: "ordered-work") {
                    do throws(Worker.Failure) {
                        var worker = try make()
                        for piece in stride(from: first, to: pieces, by: count) {
                            worker.begin(piece)
                            while let output = try worker.next(reusing: queue.takeSpent()) {
                                guard queue.put(.output(output)) else { return }
                            }
                            guard queue.put(.end) else { return }
                        }
                    } catch {
                        _ = queue.put(.failure(error))
                    }
                }
                return (queue, thread)
            })
    }

    deinit { stop() }

    /// The next output; `nil` after the last one. After an error there is no more.
    package func next() throws(Worker.Failure) -> Worker.Output? {
        while piece < pieces {
            if let output = try nextOfPiece() { return output }
            piece += 1
            hasBegun = false
        }
        stop()
        return nil
    }

    private func nextOfPiece() throws(Worker.Failure) -> Worker.Output? {
        switch source {
        case .over: return nil
        case .own(var worker):
            if !hasBegun { worker.begin(piece) }
            hasBegun = true
            do throws(Worker.Failure) {
                let output = try worker.next(reusing: spent.take())
                source = .own(worker)
                return output
            } catch {
                stop()
                throw error
            }
        case .threads(let threads):
            switch threads[piece % threads.count].queue.take() {
            case .output(let output): return output
            case .end: return nil
            case .failure(let error):
                stop()
                throw error
            }
        }
    }

    /// Gives back the output taken last: the thread that made it, whose part of the heap it is, uses its memory again.
    package func giveBack(_ output: consuming Worker.Output) {
        switch source {
        case .own: spent = output
        case .threads(let threads): threads[piece % threads.count].queue.giveBack(output)
        case .over: break
        }
    }

    private func stop() {
        if case .threads(let threads) = source {
            for entry in threads { entry.queue.close() }
            for entry in threads { entry.thread.join() }
        }
        (source, piece) = (.over, pieces)
    }
}

/// What one thread has made and another has not yet taken.
private final class OutputQueue<Output: Sendable, Failure: Error>: Sendable {
    enum Item: Sendable {
        case output(Output)
        /// The end of a piece.
        case end
        case failure(Failure)
    }

    private struct State {
        var items: [Item] = []
        var spent: [Output] = []
        var isClosed = false
    }

    /// How many items may wait.
    private let capacity = 3
    private let state = Monitor(State())

    /// Waits for room; false when no more is wanted.
    func put(_ item: Item) -> Bool {
        let isWanted = state.wait { state -> Bool? in
            if state.isClosed { return false }
            return state.items.count < self.capacity ? true : nil
        }
        guard isWanted == true else { return false }
        state.update { state in
            state.items.append(item)
            return state.items.count == 1
        }
        return true
    }

    /// Waits for an item.
    func take() -> Item {
        let item = state.wait { state -> Item? in state.items.first }
        state.update { state in
            state.items.removeFirst()
            return state.items.count == self.capacity - 1
        }
        return item ?? .end
    }

    func giveBack(_ output: consuming Output) {
        let output = output
        state.withLock { $0.spent.append(output) }
    }

    /// An output that was given back.
    func takeSpent() -> Output? { state.withLock { $0.spent.popLast() } }

    func close() {
        state.wakeAll { $0.isClosed = true }
    }
}

/// On how many processors this process may run.
var processorCount: Int { Int(sillok_processor_count()) }
