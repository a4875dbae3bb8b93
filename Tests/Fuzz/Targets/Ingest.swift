internal import EventStore
internal import SyncEngine

/// Changes a true batch in the ways the script says, hands it to a verifier, and sees that nothing false is let in.
func fuzzIngest(_ bytes: [UInt8]) throws {
    let world = try IngestWorld.shared()
    var script = Script(bytes)
    var batch = world.batch
    while !script.isAtEnd { world.change(&batch, &script) }
    let frame = Message.events(batch).frame(compress: true)
    guard case .events(let received)? = try? Message(frame: frame) else { return }
    let verifier = try world.receiver.store.makeVerifierBlocking()
    let origin = world.sender.store.identity.origin
    do {
        let verified = try verifier.verify(received.events, received.coverage)
        try promise(verified.count <= received.events.count, "more was verified than came")
        try promise(verifier.size(of: origin) == UInt64(verified.count), "the verifier lost count")
        let isTrue = zip(received.events, world.batch.events).allSatisfy { $0 == $1 }
        let signed = received.coverage.first?.head
        try promise(
            verified.count == 0 || isTrue || signed.map { !world.batch.coverage.map(\.head).contains($0) } ?? false,
            "changed events passed under a head that does not cover them")
    } catch is IngestError {
        try promise(verifier.size(of: origin) == 0, "a refused batch left traces")
    }
}

/// Two nodes, and what one would send to the other. The sender's key may sign lies too: peers are not trusted.
private struct IngestWorld {
    let sender: FuzzStore
    let receiver: FuzzStore
    let batch: EventBatch
    let key: SigningKey

    private nonisolated(unsafe) static var made: IngestWorld?

    /// One for the process; targets are run one at a time.
    static func shared() throws -> IngestWorld {
        if let made { return made }
        let world = try IngestWorld()
        made = world
        return world
    }

    private init() throws {
        sender = try FuzzStore("sender")
        receiver = try FuzzStore("receiver")
        let drafts = (0..<7).map { index in
            EventDraft(type: "message.posted", user: "u", payload: Array(#"{"text":"\#(index)"}"#.utf8))
        }
        _ = try sender.store.appendBlocking(drafts)
        let read = try OutgoingReader(sender.store).batch(
            after: 0, lacking: VersionVector(), limits: OutgoingLimits(events: 6, bytes: 1 << 20))
        batch = EventBatch(events: read.events, coverage: read.coverage)
        key = sender.store.key
    }

    func change(_ batch: inout EventBatch, _ script: inout Script) {
        let operation = script.below(10)
        if operation < 5 {
            guard !batch.events.isEmpty else { return }
            let index = script.below(batch.events.count)
            switch operation {
            case 0: batch.events.remove(at: index)
            case 1: batch.events.append(batch.events[index])
            case 2: batch.events[index] = EncodedEvent(header: script.bytes(), body: batch.events[index].body)
            case 3:
                var header = batch.events[index].header
                let place = script.below(header.count + 1)
                if place < header.count { header[place] = script.byte() } else { header += script.bytes() }
                if !header.isEmpty {
                    batch.events[index] = EncodedEvent(header: header, body: batch.events[index].body)
                }
            default:
                let body = EventBody.present(salt: UUIDBits(high: 0, low: 1), payload: script.bytes())
                batch.events[index] = EncodedEvent(header: batch.events[index].header, body: body)
            }
        } else {
            guard let cover = batch.coverage.first else { return }
            switch operation {
            case 5: batch.coverage = []
            case 6:
                var proof = cover.proof
                if !proof.isEmpty { proof.removeLast() }
                batch.coverage[0] = Coverage(head: cover.head, proof: proof)
            case 7:
                batch.coverage[0] = Coverage(
                    head: cover.head, proof: cover.proof + [SHA256().digest([script.byte()])])
            case 8: batch.events.swapAt(0, max(0, batch.events.count - 1 - script.below(4)))
            default:
                // A head that the sender signs although it is not so.
                let old = cover.head.head
                let head = TreeHead(
                    origin: old.origin, size: max(1, script.number()), root: SHA256().digest([script.byte()]),
                    hlc: HybridTime(rawValue: script.number()))
                batch.coverage[0] = Coverage(head: SignedHead(signing: head, with: key), proof: cover.proof)
            }
        }
    }
}
