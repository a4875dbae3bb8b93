/// Writes the events of a log as an evidence file (FORMATS.md §8), piece by piece. What it keeps in memory grows with
/// the number of origins, not with that of events. Not Sendable.
package final class EvidenceExport {
    /// An origin on its way into the file.
    private struct Source {
        let origin: EvidenceOrigin
        /// What vouches for it where its last head is of more events than are here.
        let reach: PendingCoverage?

        /// The same with fewer events in the file.
        func ending(at size: UInt64) -> Source {
            Source(origin: EvidenceOrigin(key: origin.key, size: size, head: origin.head), reach: reach)
        }
    }

    /// Of how many events the file is.
    package let count: UInt64
    /// Events that no signed head covers yet; they are not in the file.
    package let uncovered: UInt64
    /// How many events are written.
    package private(set) var written: UInt64 = 0

    private let reader: LogReader
    private let erasures: OwnErasures
    private let sha = SHA256()
    private let digest = RunningSHA256()
    private let sources: [OriginID: Source]
    private var order: EvidenceOrder
    private var forks: [ForkEvidence]
    private var stage = Stage.beginning
    /// Events of the origin whose turn it is, read ahead; the next one last.
    private var ahead: [LogReader.ProvenEvent] = []
    /// What is written of each origin. A file that does not lead to its own heads would accuse who has them.
    private var trees: [OriginID: MerkleRange] = [:]
    private var aheadOrigin: OriginID?
    private var aheadLimit = 2

    private enum Stage { case beginning, events, end, nothing }

    /// A piece ends with the event that fills it.
    static let piece = (events: 1_024, bytes: 1 << 20)
    /// Most bytes read ahead.
    private static let aheadBytes = 1 << 20

    /// - Parameter origins: Only these; `nil`: all.
    package init(_ files: StoreFiles, origins wanted: Set<OriginID>? = nil) throws(StoreError) {
        let reader = try LogReader(files)
        self.reader = reader
        erasures = try OwnErasures(reader)
        var sources: [OriginID: Source] = [:]
        var uncovered: UInt64 = 0
        try reader.inOneTransaction { () throws(StoreError) in
            let origins = try reader.origins().filter { wanted?.contains($0.id) ?? true }
            for origin in origins { sources[origin.id] = try Self.source(origin, reader) }
            let sizes = try Self.closed(sources.mapValues(\.origin.size), of: origins, reader)
            for origin in origins {
                let size = sizes[origin.id] ?? 0
                uncovered = uncovered.addingSaturated(origin.size - min(size, origin.size))
                sources[origin.id] = size > 0 ? sources[origin.id]?.ending(at: size) : nil
            }
        }
        self.uncovered = uncovered
        self.sources = sources
        count = sources.values.saturatedSum { $0.origin.size }
        order = EvidenceOrder(sources.map { ($0.key, $0.value.origin.size) }.sorted { $0.id < $1.id })
        forks = try ForkEvidence.list(files).filter { sources[$0.origin] != nil }
    }

    /// How many events of each origin can be in the file with all that they depend on, if `sizes` of them are covered by heads: beside a
    /// running node one origin's head is newer than another's.
    private static func closed(
        _ sizes: [OriginID: UInt64], of origins: [StoredOrigin], _ reader: LogReader
    ) throws(StoreError) -> [OriginID: UInt64] {
        var sizes = sizes
        let here = Dictionary(uniqueKeysWithValues: origins.map { ($0.id, $0.size) })
        var first = UInt64.max
        for origin in origins where sizes[origin.id] ?? 0 < origin.size {
            let left = try reader.event(Dot(origin: origin.id, seq: (sizes[origin.id] ?? 0) + 1))
            first = min(first, left?.position ?? 1)
        }
        guard first < UInt64.max else { return sizes }
        // What depends on an event stands behind it.
        try reader.scan(after: first, limit: .max) { stored in
            let dot = stored.event.header.dot
            guard let size = sizes[dot.origin], dot.seq <= size else { return true }
            let isCut = stored.event.header.dependencies.contains { needs in
                // One that is not here belongs to another history of its origin.
                needs.seq <= here[needs.origin] ?? 0 && needs.seq > sizes[needs.origin] ?? 0
            }
            if isCut { sizes[dot.origin] = dot.seq - 1 }
            return true
        }
        return sizes
    }

    /// What vouches for most events of an origin; `nil` if nothing does.
    private static func source(_ origin: StoredOrigin, _ reader: LogReader) throws(StoreError) -> Source? {
        let head = try reader.head(of: origin.id, atLeast: 1, largest: true)
        if let reach = try reader.reach(of: origin.id), reach.size > head?.head.size ?? 0, reach.size <= origin.size {
            let covering = EvidenceOrigin(key: origin.key, size: reach.size, head: reach.coverage.head)
            return Source(origin: covering, reach: reach)
        }
        guard let head, head.head.size <= origin.size else { return nil }
        return Source(origin: EvidenceOrigin(key: origin.key, size: head.head.size, head: head), reach: nil)
    }

    /// The next bytes of the file, whole lines; `nil` when it is complete.
    package func next() throws(StoreError) -> [UInt8]? {
        var out: [UInt8] = []
        switch stage {
        case .beginning:
            EvidenceLine.beginning(origins: UInt64(sources.count), events: count).write(to: &out)
            for origin in sources.keys.sorted() {
                if let source = sources[origin] { EvidenceLine.origin(source.origin).write(to: &out) }
            }
            for fork in forks { EvidenceLine.fork(fork.dot, fork.branches).write(to: &out) }
            stage = order.isComplete ? .end : .events
        case .events:
            try writePiece(to: &out)
            if order.isComplete { stage = .end }
        case .end:
            EvidenceLine.end(origins: UInt64(sources.count), events: count, digest: digest.finish()).write(to: &out)
            stage = .nothing
            return out
        case .nothing: return nil
        }
        digest.add(out[...])
        return out
    }

    /// Some events in a row, and for each origin among them what vouches for it up to here.
    private func writePiece(to out: inout [UInt8]) throws(StoreError) {
        var last: [OriginID: UInt64] = [:]
        var (events, bytes) = (0, 0)
        while events < Self.piece.events, bytes < Self.piece.bytes, !order.isComplete {
            guard let place = order.next else {
                throw .corrupt("the events that are left depend on each other")
            }
            let (event, leaf) = try self.event(after: place)
            guard order.take(event.header.dependencies) else { continue }
            ahead.removeLast()
            trees[place.origin, default: MerkleRange()].append(leaf, using: sha)
            let encoded = EncodedEvent(event)
            EvidenceLine.event(event.header.dot, encoded).write(to: &out)
            last[place.origin] = place.seq + 1
            events += 1
            bytes += encoded.header.count + encoded.body.count
        }
        written += UInt64(events)
        for origin in last.keys.sorted() {
            let dot = Dot(origin: origin, seq: last[origin] ?? 0)
            try check(dot)
            EvidenceLine.proof(dot, try proof(dot)).write(to: &out)
        }
    }

    /// The events written of an origin, up to `dot`, are those that were stored: their root is what proves them.
    private func check(_ dot: Dot) throws(StoreError) {
        guard let head = sources[dot.origin]?.origin.head.head, let tree = trees[dot.origin] else { return }
        let root = dot.seq == head.size ? head.root : try reader.root(of: dot.origin, size: dot.seq)
        guard tree.root(using: sha) == root else {
            throw .corrupt("the events of origin \(dot.origin) up to seq \(dot.seq) are not those that were signed")
        }
    }

    /// The event behind `place`. The first events of a run are read in small parts: most runs of a busy cluster are short.
    private func event(after place: Dot) throws(StoreError) -> LogReader.ProvenEvent {
        if aheadOrigin != place.origin || ahead.last.map({ $0.event.header.dot.seq != place.seq + 1 }) ?? false {
            (ahead, aheadOrigin, aheadLimit) = ([], place.origin, 2)
        }
        if ahead.isEmpty {
            ahead = try reader.events(
                of: place.origin, after: place.seq, limit: aheadLimit, bytes: Self.aheadBytes
            ).reversed()
            aheadLimit = min(aheadLimit * 2, 512)
        }
        guard let next = ahead.last, next.event.header.dot.seq == place.seq + 1 else {
            throw .corrupt("event \(place.origin)/\(place.seq + 1) is missing")
        }
        // Evidence says that a payload is not here, and not why.
        if let refusal = erasures.refusal(ofPutBack: next.event) { throw refusal }
        return next
    }

    private func proof(_ dot: Dot) throws(StoreError) -> [Digest] {
        guard let source = sources[dot.origin] else { return [] }
        guard let reach = source.reach else {
            return try reader.consistency(of: dot.origin, from: dot.seq, to: source.origin.head.head.size, using: sha)
        }
        guard let coverage = try reader.coverage(ofFirst: dot.seq, by: reach, using: sha) else {
            throw .corrupt("what vouches for the events of origin \(dot.origin) does not fit them")
        }
        return coverage.proof
    }
}

extension LogReader {
    /// An event and its leaf, which is the one that was stored with it.
    typealias ProvenEvent = (event: Event, leaf: Digest)

    /// The events of an origin after `seq`, in order: at most `limit`, and no more once their payloads come to `bytes`. Fails at one
    /// that is not what was stored.
    func events(
        of origin: OriginID, after seq: UInt64, limit: Int, bytes: Int
    ) throws(StoreError) -> [ProvenEvent] {
        try mapped { () throws(DatabaseError) in
            guard let ref = try names.originRef(origin, on: connection) else { return [] }
            let select = try connection.statement(
                "SELECT \(EventRow.allColumns) FROM event WHERE origin = ? AND seq > ? ORDER BY seq LIMIT ?")
            defer { select.reset() }
            try select.bind(1, ref)
            try select.bind(2, seq)
            try select.bind(3, Int64(limit))
            var events: [ProvenEvent] = []
            var left = bytes
            let sha = SHA256()
            while left > 0, try select.step() {
                let stored = try EventRow.read(select, names: &names, on: connection)
                let leaf = sha.leaf(of: stored.event)
                guard EventRow.leafCheck(select) == EventRow.leafCheck(leaf) else {
                    throw .damaged(
                        .event(stored.position), "event \(stored.event.header.dot) is not what was stored")
                }
                left -= stored.event.body.count
                events.append((stored.event, leaf))
            }
            return events
        }
    }
}
