internal import Glibc

/// Builds a store's log from the pieces of a backup, each row at the position that it had, proves it, and cuts it where it is to end. Not
/// Sendable: one thread adds; pieces are read and hashed on the builder's own.
package final class RestoredLog {
    /// Most pieces on their way.
    private static let ahead = 12

    private let files: StoreFiles
    private let builder: SnapshotBuilder
    private let arrivals: ArrivalSpool
    private let tally: SegmentTally
    private let state = Monitor(State())

    private struct State {
        var onTheirWay = 0
        var position: UInt64 = 0
        var failure: SnapshotError?
    }

    /// Begins in the folder of `files`, which is there and empty.
    package init(_ files: StoreFiles, threads: Int) throws(SnapshotError) {
        self.files = files
        do throws(StoreError) {
            try mapped { () throws(DatabaseError) in
                let connection = try Connection(path: files.log, mode: .write)
                try Schema.create(on: connection)
            }
            arrivals = try ArrivalSpool(files.folder + "/arrivals.part")
        } catch { throw .store(error) }
        // No origin is this node's own while it is built: every row gets the next position.
        var random = RandomSource()
        let tally = SegmentTally()
        self.tally = tally
        builder = try SnapshotBuilder(files, own: .random(from: &random), threads: threads) { tally.add($0) }
    }

    /// How far it is.
    package var position: UInt64 { state.withLock { $0.position } }

    /// Adds the next piece, which is of the `segment`-th segment; waits where many are on their way.
    package func add(_ piece: BackupPiece, of segment: Int) throws(SnapshotError) {
        let failure = state.wait { state -> SnapshotError?? in
            if let failure = state.failure { return .some(.some(failure)) }
            guard state.onTheirWay < Self.ahead else { return nil }
            state.onTheirWay += 1
            return .some(nil)
        }
        if let failure = failure ?? nil { throw failure }
        do throws(StoreError) { try arrivals.add(piece.arrivals) } catch { throw .store(error) }
        let rows = piece.rows
        tally.expect(segment)
        builder.add({ () throws(SnapshotError) in rows }) { [state] result in
            state.wakeAll { state in
                state.onTheirWay -= 1
                switch result {
                case .success(let position): state.position = position
                case .failure(let error): state.failure = state.failure ?? error
                }
            }
        }
    }

    /// Ends the threads; what is there is left to who has made the folder.
    package func cancel() { builder.cancel() }

    /// Proves what was added by the heads of the backup, lets it end at `end` if that is less, and gives it to the node. It is on the disk when
    /// this returns. Returns where the log ends.
    ///
    /// - Parameter key: The node's, if it comes with the backup.
    package func finish(
        _ manifest: BackupManifest, at end: RestoreEnd, key: SigningKey?, erasures: [ProvenErasure]
    ) throws(SnapshotError) -> (position: UInt64, erasedLater: UInt64) {
        let origins = manifest.origins
        try builder.finishBlocking(origins.map(\.coverage), expecting: origins.map(\.offered))
        let top: UInt64
        do throws(StoreError) { top = try place() } catch { throw .store(error) }
        try checkOwners(of: manifest)
        guard tally.finish() == manifest.segments.map({ SegmentTally.Sum(leaves: $0.leaves, holes: $0.holes) }) else {
            throw .foreign("the rows of its segments are not those that it names")
        }
        do throws(StoreError) {
            // What lies behind the end may be what let payloads before it go.
            let cutOff = end == .all ? [] : try LogReader(files).provenErasures(of: manifest.node)
            let last = try cut(end, top: top)
            let later = try LostErasures(files, node: manifest.node).apply(erasures + cutOff)
            try give(to: manifest, key)
            try SmallFile.syncFolder(of: files.log)
            return (last, later)
        } catch { throw .store(error) }
    }

    /// Whose origins are the rows say: a manifest that says otherwise is not of them.
    private func checkOwners(of manifest: BackupManifest) throws(SnapshotError) {
        var keys: [OriginID: VerifyingKey] = [:]
        let first: Event?
        do throws(StoreError) {
            let log = try LogReader(files)
            for origin in try log.origins() { keys[origin.id] = origin.key }
            first = try log.event(Dot(origin: manifest.origin, seq: 1))?.event
        } catch { throw .store(error) }
        try manifest.check(name: first.flatMap { OriginStart($0)?.name })
        for entry in manifest.origins where keys[entry.progress.origin] != entry.key {
            throw .foreign("it gives origin \(entry.progress.origin) to a node that the rows do not")
        }
    }

    private func place() throws(StoreError) -> UInt64 {
        SmallFile.removeDatabase(files.log)
        guard chmod(files.readyLog, 0o600) == 0, rename(files.readyLog, files.log) == 0 else {
            throw .system(files.log)
        }
        let position = try mapped { () throws(DatabaseError) in
            let connection = try Connection(path: files.log, mode: .write)
            try connection.execute(
                "PRAGMA journal_mode = DELETE; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON;")
            let top = UInt64(bitPattern: try connection.integer("SELECT max(position) FROM event") ?? 0)
            return try connection.transaction { () throws(DatabaseError) in
                try connection.execute("DELETE FROM arrival")
                try arrivals.each { arrival throws(DatabaseError) in
                    try connection.run(
                        "INSERT OR REPLACE INTO arrival(position, time) VALUES(?, ?)", .unsigned(arrival.position),
                        .integer(arrival.time))
                }
                return top
            }
        }
        arrivals.remove()
        return position
    }

    /// Takes the rows away that are behind the end. What vouches for the rest stays: a proof to a later head.
    private func cut(_ end: RestoreEnd, top: UInt64) throws(StoreError) -> UInt64 {
        let log = try LogReader(files)
        let last: UInt64 =
            switch end {
            case .all: top
            case .position(let position): min(position, top)
            case .time(let time): min(try log.known(at: time).position, top)
            }
        guard last < top else { return top }
        guard last > 0 else { throw .badFile("nothing had come by then", wayOut: "a later moment") }
        var kept: [(ref: Int64, seq: UInt64, coverage: Coverage?)] = []
        for origin in try log.origins() {
            let seq = try log.last(of: origin.id, through: last) ?? 0
            let coverage =
                seq == 0
                ? nil : try log.coverage(of: Dot(origin: origin.id, seq: seq), nil, using: SHA256())
            kept.append((origin.ref, seq, coverage))
        }
        try mapped { () throws(DatabaseError) in
            let connection = try Connection(path: files.log, mode: .write)
            try connection.execute("PRAGMA synchronous = FULL; PRAGMA secure_delete = ON;")
            try connection.transaction { () throws(DatabaseError) in
                let merkle = MerkleStore(connection: connection, sha: SHA256())
                try connection.run("DELETE FROM event WHERE position > ?", .unsigned(last))
                try connection.run("DELETE FROM arrival WHERE position > ?", .unsigned(last))
                try connection.run("DELETE FROM tile WHERE position > ?", .unsigned(last))
                for (ref, seq, coverage) in kept {
                    try connection.run(
                        "DELETE FROM node WHERE origin = ? AND ((number + 1) << level) > ?", .integer(ref),
                        .unsigned(seq))
                    try connection.run(
                        "DELETE FROM head WHERE origin = ? AND size > ?", .integer(ref), .unsigned(seq))
                    if let coverage, coverage.head.head.size > seq {
                        try merkle.replaceReach(PendingCoverage(size: seq, coverage: coverage), origin: ref)
                    }
                    if seq == 0 {
                        try connection.run("DELETE FROM reach WHERE origin = ?", .integer(ref))
                        try connection.run("DELETE FROM origin WHERE ref = ?", .integer(ref))
                    }
                }
            }
        }
        return last
    }

    /// Says whose log it is: the origin that the node wrote to, or where that had not begun yet, the one of it that began last.
    private func give(to manifest: BackupManifest, _ key: SigningKey?) throws(StoreError) {
        let log = try LogReader(files)
        let mine = try log.origins().filter { $0.node == manifest.node }
        guard let own = mine.first(where: { $0.id == manifest.origin }) ?? mine.max(by: { $0.ref < $1.ref }) else {
            throw .badFile(
                "the node had not written anything by then, and its store was not there yet", wayOut: "a later moment"
            )
        }
        // A later head proves that what is left was the node's; the node itself goes by heads of what it has, and by its seal beyond them.
        let isCovered = try log.hasHead(of: own.id, atLeast: own.size)
        let tree = isCovered ? nil : try log.tree(of: own.id, size: own.size)
        try mapped { () throws(DatabaseError) in
            let connection = try Connection(path: files.log, mode: .write)
            try connection.execute("PRAGMA synchronous = FULL;")
            if let tree, let key, key.publicKey == own.key {
                var seal: [UInt8] = []
                key.sealer.seal(tree).append(to: &seal)
                try connection.run(
                    "UPDATE event SET seal = ? WHERE origin = ? AND seq = ?", .blob(seal), .integer(own.ref),
                    .unsigned(own.size))
            }
            let incarnation = hexText(withUnsafeBytes(of: manifest.incarnation.bigEndian) { Array($0) })
            for (key, value) in [
                ("name", manifest.name), ("cluster", manifest.cluster), ("incarnation", incarnation),
            ] {
                try Schema.setMeta(key, .text(value), on: connection)
            }
            try Schema.setMeta("origin", .integer(own.ref), on: connection)
        }
        let descriptor = open(files.log, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0, fsync(descriptor) == 0, close(descriptor) == 0 else { throw .system(files.log) }
    }
}

/// What the rows of each segment come to, as they are put in their order.
private final class SegmentTally: Sendable {
    struct Sum: Hashable {
        let leaves: Digest
        let holes: Holes
    }

    private struct State {
        /// Of the pieces on their way the number of their segment, in order.
        var expected: [Int] = []
        var next = 0
        var current: Int?
        var leaves = RunningSHA256()
        var holes = HoleTally()
        var sums: [Sum] = []

        mutating func close() {
            guard current != nil else { return }
            sums.append(Sum(leaves: leaves.finish(), holes: holes.finish()))
            (leaves, holes, current) = (RunningSHA256(), HoleTally(), nil)
        }
    }

    private let state = Lock(State())

    /// The next piece will be of this segment.
    func expect(_ segment: Int) { state.withLock { $0.expected.append(segment) } }

    func add(_ checked: CheckedRows) {
        state.withLock { state in
            guard state.next < state.expected.count else { return }
            let segment = state.expected[state.next]
            state.next += 1
            if segment != state.current { state.close() }
            state.current = segment
            for row in checked.list { state.leaves.add(row.leaf.bytes[...]) }
            state.holes.add(checked)
        }
    }

    func finish() -> [Sum] {
        state.withLock { state in
            state.close()
            return state.sums
        }
    }
}

/// Where a restored log ends.
package enum RestoreEnd: Hashable, Sendable {
    case all
    case position(UInt64)
    /// With what had come by this time, Unix milliseconds.
    case time(Int64)
}

/// When the rows came, kept in a file until the log is there: of years these are more than memory should have.
private final class ArrivalSpool {
    private let path: String
    private let descriptor: Int32
    private var buffer: [UInt8] = []
    private var written = 0
    private static let size = 16

    init(_ path: String) throws(StoreError) {
        self.path = path
        descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .system(path) }
    }

    deinit { close(descriptor) }

    func add(_ arrivals: [Arrival]) throws(StoreError) {
        for arrival in arrivals {
            buffer.appendBigEndian(arrival.position)
            buffer.appendBigEndian(arrival.time)
        }
        if buffer.count >= 65_536 { try flush() }
    }

    private func flush() throws(StoreError) {
        guard buffer.withUnsafeBytes({ SmallFile.write($0, to: descriptor, at: written) }) else {
            throw .system(path)
        }
        written += buffer.count
        buffer = []
    }

    func each(_ body: (Arrival) throws(DatabaseError) -> Void) throws(DatabaseError) {
        do { try flush() } catch { throw .file(error) }
        var place = 0
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while place < written {
            let count = pread(descriptor, &chunk, min(chunk.count, written - place), off_t(place))
            guard count > 0, count % Self.size == 0 else { throw .file(.system(path)) }
            for start in stride(from: 0, to: count, by: Self.size) {
                func number(_ at: Int) -> UInt64 { chunk[at..<at + 8].reduce(0) { $0 << 8 | UInt64($1) } }
                try body(Arrival(position: number(start), time: Int64(bitPattern: number(start + 8))))
            }
            place += count
        }
    }

    func remove() { unlink(path) }
}
