import Testing

@testable import EventStore

/// Gives `parts` outputs for each piece; fails at one of them if told to.
private struct Counting: PieceWorker {
    let parts: Int
    var failing: Int?
    private var piece = 0
    private var part = 0
    /// How many workers were made.
    let made: Lock<Int>
    /// How many outputs were made.
    let done: Lock<Int>

    init(parts: Int, failing: Int? = nil, made: Lock<Int> = Lock(0), done: Lock<Int> = Lock(0)) {
        (self.parts, self.failing, self.made, self.done) = (parts, failing, made, done)
        made.withLock { $0 += 1 }
    }

    mutating func begin(_ piece: Int) { (self.piece, part) = (piece, 0) }

    mutating func next(reusing spent: consuming [Int]?) throws(StoreError) -> [Int]? {
        guard part < parts else { return nil }
        if piece == failing { throw .busy("piece \(piece)") }
        // Later pieces of a round are ready before the first one.
        if piece % 3 == 0 { sleepMilliseconds(1) }
        part += 1
        done.withLock { $0 += 1 }
        var output = spent ?? []
        output.removeAll(keepingCapacity: true)
        output += [piece, part]
        return output
    }
}

struct OrderedPipelineTests {
    private func all(_ work: OrderedPipeline<Counting>) throws -> [[Int]] {
        var found: [[Int]] = []
        while let output = try work.next() {
            found.append(output)
            work.giveBack(output)
        }
        return found
    }

    @Test("Outputs come in the order of the pieces, whoever makes them", arguments: [1, 2, 3, 8])
    func order(threads: Int) throws {
        let made = Lock(0)
        let work = try OrderedPipeline(pieces: 40, threads: threads) { () throws(StoreError) in
            Counting(parts: 3, made: made)
        }
        #expect(try all(work) == (0..<40).flatMap { piece in (1...3).map { [piece, $0] } })
        #expect(made.withLock { $0 } == threads)
        #expect(try work.next() == nil)
    }

    @Test("No piece, one piece, and pieces without outputs", arguments: [1, 4])
    func little(threads: Int) throws {
        #expect(
            try all(OrderedPipeline(pieces: 0, threads: threads) { () throws(StoreError) in Counting(parts: 3) })
                .isEmpty)
        #expect(
            try all(OrderedPipeline(pieces: 1, threads: threads) { () throws(StoreError) in Counting(parts: 1) }) == [
                [0, 1]
            ])
        #expect(
            try all(OrderedPipeline(pieces: 9, threads: threads) { () throws(StoreError) in Counting(parts: 0) })
                .isEmpty)
    }

    @Test("An error comes in its place, after all outputs before it, and ends the work", arguments: [1, 3])
    func failure(threads: Int) throws {
        let work = try OrderedPipeline(pieces: 20, threads: threads) { () throws(StoreError) in
            Counting(parts: 2, failing: 7)
        }
        for piece in 0..<7 {
            #expect(try work.next() == [piece, 1])
            #expect(try work.next() == [piece, 2])
        }
        #expect(throws: StoreError.busy("piece 7")) { try work.next() }
        #expect(try work.next() == nil)
    }

    @Test("A thread that cannot begin is an error", arguments: [1, 3])
    func cannotBegin(threads: Int) {
        #expect(throws: StoreError.closed) {
            let work = try OrderedPipeline(pieces: 6, threads: threads) { () throws(StoreError) -> Counting in
                throw .closed
            }
            _ = try work.next()
        }
    }

    @Test("Threads run ahead of the reader only so far, and end when nobody wants more (INV-9)")
    func bounded() throws {
        let done = Lock(0)
        var work: OrderedPipeline? = try OrderedPipeline(pieces: 1_000, threads: 3) { () throws(StoreError) in
            Counting(parts: 1, done: done)
        }
        #expect(try work?.next() == [0, 1])
        sleepMilliseconds(50)
        // Three items wait for each thread, of which at most two are outputs, and one is being made.
        #expect(done.withLock { $0 } <= 1 + 3 * 3)
        work = nil
        #expect(done.withLock { $0 } <= 1 + 3 * 4)
    }
}
