/// Why an evidence file is not taken, or not on. What was stored before is proven, and stays.
package enum EvidenceError: Error, Hashable, Sendable {
    /// The line is none of an evidence file, or not at this place.
    case line(String)
    /// An event is not the one that the store has: its origin has two histories.
    case other(Dot)
    /// A head of the file is not of as many events that the store has: its origin has two histories, and the proof is kept.
    case otherHead(Dot)
    /// The events are refused as a peer's would be.
    case refused(IngestError)
    /// The file ends before its last line.
    case cut
    /// The file is not as it was written.
    case changed
    /// The store could not be read or written.
    case store(StoreError)

    /// A stable name for machines.
    package var code: String {
        switch self {
        case .line: "E_EVIDENCE_LINE"
        case .other, .otherHead: "E_EVIDENCE_FORK"
        case .refused: "E_EVIDENCE_PROOF"
        case .cut: "E_EVIDENCE_CUT"
        case .changed: "E_EVIDENCE_CHANGED"
        case .store(let error): error.code
        }
    }
}

extension EvidenceError: CustomStringConvertible {
    /// One sentence for people.
    package var description: String {
        switch self {
        case .line(let reason): reason
        case .other(let dot): "event \(dot) of the file is not the one that is stored: two histories of one origin"
        case .otherHead(let dot):
            "a signed head of \(dot.seq) events of origin \(dot.origin) is not of those that are stored: two histories of one origin; "
                + "the proof is kept in the folder evidence"
        case .refused(let error): error.description
        case .cut: "the file ends before its last line: something is missing"
        case .changed: "the file is not as it was written: its SHA-256 is another"
        case .store(let error): error.description
        }
    }
}

/// Takes the events of an evidence file (FORMATS.md §8) into a store as what they are: events of their origins, proven
/// like what a peer sends. What is there already is compared and left alone. Not Sendable.
///
/// Events are stored piece by piece, each when it is proven. What is kept in memory grows with the number of origins.
package final class EvidenceImport {
    /// How many events were stored.
    package private(set) var appended: UInt64 = 0
    /// How many were there before.
    package private(set) var already: UInt64 = 0
    /// How many of those had lost their payload, and have it again.
    package private(set) var healed: UInt64 = 0
    /// How many the file says it has; `nil` before its first line.
    package private(set) var count: UInt64?
    /// Of how many origins.
    package private(set) var origins: UInt64 = 0

    private let store: EventStore
    private let reader: LogReader
    private let verifier: IngestVerifier
    private let sha = SHA256()
    private let digest = RunningSHA256()
    /// What the store had of each origin before.
    private let before: VersionVector
    private var sources: [OriginID: Source] = [:]
    private var forks: [(dot: Dot, branches: [ForkBranch])] = []
    /// The first head that the events contradict.
    private var contradicted: Dot?
    /// Whether its last line was there.
    package private(set) var hasEnded = false
    /// The piece at hand.
    private var events: [EncodedEvent] = []
    private var bytes = 0
    private var coverage: [Coverage] = []
    /// The piece that the writer has.
    private var pending: Monitor<Result<Void, StoreError>?>?
    /// Payloads of the file that the store has lost.
    private var payloads: [CarriedPayload] = []
    /// Events of the store that are compared with those of the file, the next one last.
    private var stored: [Event] = []

    private struct Source {
        let origin: EvidenceOrigin
        var seen: UInt64 = 0
    }

    /// Most events and bytes of a piece: more would be kept in memory unproven.
    private static let piece = (events: 4_096, bytes: 4 << 20)
    /// Most payloads that are kept until the store has them again.
    private static let mostPayloads = 64

    package init(_ store: EventStore) throws(StoreError) {
        self.store = store
        reader = try LogReader(store.files)
        verifier = try store.makeVerifierBlocking()
        before = try reader.vector()
    }

    /// Takes the next line, which stands at `range` of `bytes`, without its newline.
    package func take(_ bytes: [UInt8], _ range: Range<Int>) throws(EvidenceError) {
        let line: EvidenceLine
        do { line = try EvidenceLine(bytes, range) } catch {
            throw .line(error.reason)
        }
        guard !hasEnded else { throw .line("a line after the last one") }
        if case .end(let origins, let events, let digest) = line {
            return try end(origins, events, digest)
        }
        digest.add(bytes[range])
        digest.add([UInt8(ascii: "\n")])
        if case .proof = line {} else { try storePiece() }
        switch line {
        case .beginning(let origins, let events):
            guard count == nil else { throw .line("a second beginning") }
            (self.origins, count) = (origins, events)
        case .origin(let origin): try begin(origin)
        case .fork(let dot, let branches):
            forks.append((dot, branches))
            verifier.claim(dot, branches[0], branches[1])
        case .event(let dot, let event): try take(dot, event)
        case .proof(let dot, let proof):
            guard let source = sources[dot.origin], source.seen == dot.seq else {
                throw .line("a proof of other events than those before it")
            }
            coverage.append(Coverage(head: source.origin.head, proof: proof))
        case .end: break
        }
    }

    /// Waits for what was handed in to be durable. Throws if the file had not ended.
    package func finish() throws(EvidenceError) {
        try settle()
        guard hasEnded else { throw .cut }
    }

    /// Origins of which the head in the file signs more events than the file and the store have, ascending.
    package var lacking: [(origin: OriginID, size: UInt64, signed: UInt64)] {
        sources.values.map { source -> (origin: OriginID, size: UInt64, signed: UInt64) in
            let origin = source.origin
            return (origin.id, max(source.seen, before[origin.id]), origin.head.head.size)
        }.filter { $0.size < $0.signed }.sorted { $0.origin < $1.origin }
    }

    /// Gives events of the store back what they have lost: bytes that hash to the leaves that are here.
    private func heal() throws(EvidenceError) {
        guard !payloads.isEmpty else { return }
        let answer = Monitor<Result<[Dot], StoreError>?>(nil)
        store.heal(payloads) { result in answer.wakeAll { $0 = result } }
        payloads = []
        guard let result = answer.wait(for: { $0 }) else { throw .store(.closed) }
        do { healed += UInt64(try result.get().count) } catch { throw .store(error) }
    }

    /// Waits for what was handed in to be durable.
    package func settle() throws(EvidenceError) {
        try heal()
        guard let pending else { return }
        self.pending = nil
        guard let result = pending.wait(for: { $0 }) else { throw .store(.closed) }
        do { try result.get() } catch { throw .store(error) }
    }

    private func begin(_ origin: EvidenceOrigin) throws(EvidenceError) {
        guard count != nil, sources[origin.id] == nil else { throw .line("an origin out of place") }
        let known: VerifyingKey?
        do { known = try reader.key(of: origin.id) } catch { throw .store(error) }
        guard known ?? origin.key == origin.key, origin.head.isValid(for: origin.key) else {
            throw .refused(.badSignature(origin.id, size: origin.head.head.size))
        }
        sources[origin.id] = Source(origin: origin)
    }

    private func take(_ dot: Dot, _ event: EncodedEvent) throws(EvidenceError) {
        guard let source = sources[dot.origin] else { throw .line("an event of no origin of the file") }
        let header: EventHeader
        do { header = try EventHeader(received: event.header) } catch { throw .refused(.header(error)) }
        guard header.dot == dot else { throw .line("seq: not that of the header") }
        guard dot.seq == source.seen + 1 else { throw .refused(.gap(dot, have: source.seen)) }
        sources[dot.origin]?.seen = dot.seq
        if dot.seq == 1 {
            let start = OriginStart(Event(header: header, body: event.body.judged))
            guard start?.key == source.origin.key else { throw .refused(.originStart(dot.origin)) }
        }
        if before.contains(dot) {
            try compare(dot, event)
            already += 1
            if payloads.count >= Self.mostPayloads { try heal() }
            return
        }
        events.append(event)
        bytes += event.header.count + event.body.count
        guard events.count <= Self.piece.events, bytes <= Self.piece.bytes else {
            throw .line("too many events without a proof")
        }
    }

    /// Holds an event against the one that is here.
    private func compare(_ dot: Dot, _ event: EncodedEvent) throws(EvidenceError) {
        if stored.last?.header.dot != dot {
            do {
                stored = try reader.events(
                    of: dot.origin, after: dot.seq - 1, limit: 256, bytes: 1 << 20
                ).map(\.event).reversed()
            } catch { throw .store(error) }
        }
        guard let here = stored.popLast(), here.header.dot == dot,
            sha.leaf(of: here) == sha.leaf(header: event.header, payloadDigest: sha.payloadDigest(event.body))
        else { throw .other(dot) }
        switch (here.body, event.body) {
        case (.erased, .present(let salt, let payload)), (.erased, .unreadable(let salt, let payload)):
            payloads.append(CarriedPayload(dot: dot, salt: salt, payload: payload))
        default: break
        }
    }

    /// Hands in the piece that is complete, if there is one.
    private func storePiece() throws(EvidenceError) {
        guard !coverage.isEmpty else { return }
        let verified: VerifiedBatch
        do { verified = try verifier.verify(events, coverage) } catch { throw .refused(error) }
        let count = UInt64(events.count)
        (events, bytes, coverage) = ([], 0, [])
        for evidence in verified.proven { try keep(evidence) }
        for evidence in verified.contradictions { try note(evidence) }
        try settle()
        if verified.count > 0 {
            let answer = Monitor<Result<Void, StoreError>?>(nil)
            store.ingest(verified) { result in answer.wakeAll { $0 = result } }
            pending = answer
        }
        appended += count
    }

    private func end(_ origins: UInt64, _ events: UInt64, _ expected: Digest) throws(EvidenceError) {
        try storePiece()
        try settle()
        guard self.events.isEmpty else { throw .line("events without a proof before the end") }
        guard events == count, origins == self.origins else {
            throw .line("the last line counts \(origins) origins and \(events) events, and the first one others")
        }
        let isWhole = sources.values.allSatisfy { $0.seen == $0.origin.size }
        guard isWhole, sources.count == origins, events == appended + already else { throw .cut }
        guard digest.finish() == expected else { throw .changed }
        for fork in forks {
            guard let key = sources[fork.dot.origin]?.origin.key,
                let evidence = ForkEvidence(fork.dot, fork.branches[0], fork.branches[1], key: key)
            else { throw .line("a fork at \(fork.dot) that is not proven") }
            try keep(evidence)
        }
        // Where the file has fewer events than its head signs, none of them tells what the head says of those that are here.
        for (_, source) in sources.sorted(by: { $0.key < $1.key }) where source.seen < source.origin.head.head.size {
            let evidence: ForkEvidence?
            do { evidence = try reader.contradiction(of: source.origin.head, ownHead: store.head()) } catch {
                throw .store(error)
            }
            if let evidence { try note(evidence) }
        }
        if let contradicted { throw .otherHead(contradicted) }
        hasEnded = true
    }

    private func note(_ evidence: ForkEvidence) throws(EvidenceError) {
        try keep(evidence)
        contradicted = contradicted ?? evidence.dot
    }

    private func keep(_ evidence: ForkEvidence) throws(EvidenceError) {
        do { _ = try store.keep(evidence) } catch { throw .store(error) }
    }
}
