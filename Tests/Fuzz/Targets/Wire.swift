internal import EventStore
internal import SyncEngine
internal import WireKit

/// The first byte says how large the pieces are in which the rest arrives.
func fuzzFrames(_ bytes: [UInt8]) throws {
    let limits = WireLimits(maxBody: 4_096)
    var decoder = FrameDecoder(limits: limits)
    let piece = max(1, Int(bytes.first ?? 1))
    var rest = bytes.dropFirst()
    var taken = 0
    do {
        while !rest.isEmpty {
            decoder.feed(rest.prefix(piece))
            rest = rest.dropFirst(piece)
            while let frame = try decoder.next() {
                let end = 1 + taken + frame.count
                try promise(frame.bytes.elementsEqual(bytes[1 + taken..<end]), "the frame at \(taken) was changed")
                taken += frame.count
                _ = try Message(frame: frame, limits: limits)
            }
            try promise(decoder.buffered <= Frame.headerSize + Int(limits.maxBody), "more than a frame is held")
        }
    } catch is WireError {
        // A refusal is a fine answer.
    }
}

/// The type, the flags, and the body.
func fuzzMessages(_ bytes: [UInt8]) throws {
    guard bytes.count >= 2 else { return }
    let frame = Frame(type: bytes[0] % 20, flags: bytes[1], body: Array(bytes[2...]))
    guard let message = try? Message(frame: frame) else { return }
    try promise(message.type == frame.type, "a \(message.name) came out of type \(frame.type)")
    for compress in [false, true] {
        let again = try Message(frame: message.frame(compress: compress))
        try promise(again == message, "a \(message.name) changed on the way back")
    }
}

/// A canonical header has one form only; one that cannot be read keeps its bytes and its place.
func fuzzHeaders(_ bytes: [UInt8]) throws {
    guard let header = try? EventHeader(received: bytes) else {
        try promise((try? EventHeader(canonicalBytes: bytes)) == nil, "a canonical header is not received")
        return
    }
    try promise(header.canonicalBytes == bytes, "two forms of one header")
    try promise(
        header.isOpaque == ((try? EventHeader(canonicalBytes: bytes)) == nil), "opaque, and yet it can be read")
    try promise((header.obstacle != nil) == header.isOpaque, "an obstacle where there is none")
    try promise(header.dot.seq > 0, "an event without a place")
    try promise(header.actor.map { EventActor(text: $0.text) == $0 } ?? true, "an actor that is none")
    if !header.isOpaque {
        // What stands in ancillary fields changes nothing of the rest.
        var bare = header
        bare.actor = nil
        if !header.isOfLaterFormat { bare.unknownFields = [] }
        try promise(
            (try? EventHeader(canonicalBytes: bare.canonicalBytes)) == bare, "not the same without ancillary fields")
    }
    try promise(header.displayKey.time <= header.hlc.milliseconds, "displayed after it was recorded")
    let body = EventBody.present(salt: header.id.bits, payload: Array("{}".utf8))
    let event = StoredEvent(position: 1, event: Event(header: header, body: body))
    try JSONScanner.validateValue(NativeLineWriter(nodes: [:]).line(event))
}

/// Two sizes and roots, then a proof of what is left. A true proof of small trees must hold, a changed one must not.
func fuzzProofs(_ bytes: [UInt8]) throws {
    var script = Script(bytes)
    let sha = SHA256()
    let (old, new) = (script.number(), script.number())
    func digest() -> Digest { sha.digest([script.byte()]) }
    let roots = (digest(), digest())
    let proof = (0..<script.below(70)).map { _ in digest() }
    _ = MerkleProof.isConsistent(old: old, oldRoot: roots.0, new: new, newRoot: roots.1, proof: proof, using: sha)

    let sizes = (UInt64(script.byte()), UInt64(script.byte()))
    let (small, large) = (min(sizes.0, sizes.1), max(sizes.0, sizes.1))
    var range = MerkleRange()
    var nodes: [[Digest]] = Array(repeating: [], count: 9)
    var smallRoot = range.root(using: sha)
    for leaf in 0..<large {
        if leaf == small { smallRoot = range.root(using: sha) }
        range.append(sha.digest([UInt8(leaf)]), using: sha) { level, _, node in nodes[level].append(node) }
    }
    if small == large { smallRoot = range.root(using: sha) }
    let largeRoot = range.root(using: sha)
    var proofOfTrees = MerkleProof.consistency(from: small, to: large, using: sha) { level, index in
        nodes[level][Int(index)]
    }
    func holds() -> Bool {
        MerkleProof.isConsistent(
            old: small, oldRoot: smallRoot, new: large, newRoot: largeRoot, proof: proofOfTrees, using: sha)
    }
    try promise(holds(), "the proof from \(small) to \(large) does not hold")
    guard !proofOfTrees.isEmpty else { return }
    proofOfTrees[script.below(proofOfTrees.count)] = sha.digest([])
    try promise(!holds(), "a forged proof from \(small) to \(large) holds")
}
