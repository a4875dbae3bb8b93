package import EventStore

/// Speaks of an origin with two histories, one at each side. Roots narrow down where they part; one branch is what the
/// sender has there; two are the proof.
package struct Fork: Hashable, Sendable {
    /// Whose histories.
    package var origin: OriginID
    /// Roots of the sender's history, strictly ascending by size; at most ``WireLimits/forkRoots``.
    package var roots: [Root] = []
    /// The first event in which the histories differ; 0 while that is not known.
    package var seq = UInt64(0)
    /// None, the sender's, or both.
    package var branches: [ForkBranch] = []
    /// Whether an answer is wanted: the receiver's roots of the same sizes, or the proof with its own branch.
    package var asks = false

    /// The root of a history's first `size` events.
    package struct Root: Hashable, Sendable {
        /// How many events.
        package var size: UInt64
        /// ``Digest/prefix64`` of the RFC 6962 root over them.
        package var root: UInt64
    }
}

extension Fork {
    /// The proof in `evidence`.
    package init(_ evidence: ForkEvidence) {
        self.init(origin: evidence.origin, seq: evidence.seq, branches: evidence.branches)
    }

    /// About how many bytes this takes in memory.
    var byteCount: Int {
        branches.saturatedSum(of: { 256 + $0.headerLength + 32 * $0.proof.count }) + 16 * roots.count + 128
    }

    /// Where the histories part.
    package var dot: Dot { Dot(origin: origin, seq: seq) }

    func write(to writer: inout ProtobufWriter) {
        writer.uuid(1, origin.bits)
        for root in roots {
            writer.message(2) { inner in
                inner.uint(1, root.size)
                inner.fixed64(2, root.root)
            }
        }
        writer.uint(3, seq)
        for branch in branches { writer.message(4) { branch.write(to: &$0) } }
        writer.uint(5, asks ? 1 : 0)
    }

    init(_ message: consuming MessageReader) throws(WireError) {
        var origin: UUIDBits?
        self.init(origin: OriginID(UUIDBits(high: 0, low: 0)))
        while let field = try message.next() {
            switch field.number {
            case 1: origin = try message.uuid(field)
            case 2:
                try message.checkRoom(roots.count, "roots", WireLimits.forkRoots)
                roots.append(try Root(try message.nested("ForkRoot", field)))
            case 3: seq = try message.number(field)
            case 4:
                try message.checkRoom(branches.count, "branches", 2)
                branches.append(try ForkBranch(try message.nested("ForkBranch", field)))
            case 5: asks = try message.flag(field)
            default: break
            }
        }
        guard let origin else { throw message.missing("origin") }
        self.origin = OriginID(origin)
        guard branches.isEmpty || seq > 0 else { throw message.missing("seq") }
        for (a, b) in zip(roots, roots.dropFirst()) where a.size >= b.size {
            throw message.invalid("sizes do not ascend")
        }
    }
}

extension Fork.Root {
    fileprivate init(_ message: consuming MessageReader) throws(WireError) {
        self.init(size: 0, root: 0)
        while let field = try message.next() {
            switch field.number {
            case 1: size = try message.number(field)
            case 2: root = try message.bits(field)
            default: break
            }
        }
        guard size > 0 else { throw message.missing("size") }
    }
}

extension ForkBranch {
    fileprivate var headerLength: Int {
        if case .event(let header, _) = content { header.count } else { 0 }
    }

    fileprivate func write(to writer: inout ProtobufWriter) {
        writer.message(1) { head.write(to: &$0) }
        // One that shows a root is not passed on (``ForkEvidence/namesEvent``).
        if case .event(let header, let payloadDigest) = content {
            writer.data(2, header)
            writer.digest(3, payloadDigest)
        }
        for digest in proof { writer.digest(4, digest) }
    }

    fileprivate init(_ message: consuming MessageReader) throws(WireError) {
        var head: SignedHead?, payloadDigest: Digest?
        var header: [UInt8] = []
        var proof: [Digest] = []
        while let field = try message.next() {
            switch field.number {
            case 1: head = try SignedHead(try message.nested("Head", field))
            case 2: header = try message.eventData(field, limit: Limits.header)
            case 3: payloadDigest = try message.digest(field)
            case 4:
                try message.checkRoom(proof.count, "proof", WireLimits.proof)
                proof.append(try message.digest(field))
            default: break
            }
        }
        guard let head else { throw message.missing("head") }
        guard !header.isEmpty else { throw message.missing("header") }
        guard let payloadDigest else { throw message.missing("payload_digest") }
        self.init(head: head, header: header, payloadDigest: payloadDigest, proof: proof)
    }
}
