package import EventStore

/// What nodes say to each other: the messages of docs/reference/sync.proto.
package enum Message: Hashable, Sendable {
    /// Who the sender is and what it can take: the first frame of each side.
    case hello(Hello)
    /// What the sender has stored, strictly ascending by origin.
    case vector([VectorEntry])
    /// Events the receiver lacks.
    case events(EventBatch)
    /// What the sender has made durable, strictly ascending by origin.
    case ack([VectorEntry])
    /// How many more bytes of Events frames the other side may send.
    case credit(UInt64)
    /// Asks for a Pong.
    case ping(Ping)
    /// Answers a Ping.
    case pong(Pong)
    /// The last frame.
    case bye(Bye)
    /// What the sender has made durable, as a difference; between those that have ``Features/standings`` instead of
    /// Vector and Ack.
    case stateDelta(StateDelta)
    /// Asks for a whole StateDelta.
    case resync
    /// Which origins the sender takes from this connection.
    case want(Want)
    /// Offers an empty node a copy of the log.
    case snapshotOffer(SnapshotOffer)
    /// Takes it.
    case snapshotGet(SnapshotGet)
    /// Rows of it.
    case snapshotRows(SnapshotRows)
    /// What proves it.
    case snapshotEnd(SnapshotEnd)
    /// What became of it.
    case snapshotDone(SnapshotDone)
    /// An origin has two histories.
    case fork(Fork)
    /// Asks to be let in.
    case join(Join)
    /// Asks for a signed head.
    case headAsk(HeadAsk)
    /// Answers that.
    case headTold(HeadTold)
    /// Asks for payloads that have been lost.
    case payloadAsk(PayloadAsk)
    /// Answers that.
    case payloadTold(PayloadTold)
    /// What a node tells all others and no event tells.
    case sharedState(SharedState)
    /// Asks for bytes of an attachment.
    case attachmentAsk(AttachmentAsk)
    /// Answers that.
    case attachmentTold(AttachmentTold)
    /// A message of a later version: to be skipped.
    case unknown(type: UInt8)
}

extension Message {
    /// The frame's type.
    package var type: UInt8 {
        switch self {
        case .hello: MessageType.hello.rawValue
        case .vector: MessageType.vector.rawValue
        case .events: MessageType.events.rawValue
        case .ack: MessageType.ack.rawValue
        case .credit: MessageType.credit.rawValue
        case .ping: MessageType.ping.rawValue
        case .pong: MessageType.pong.rawValue
        case .bye: MessageType.bye.rawValue
        case .stateDelta: MessageType.stateDelta.rawValue
        case .resync: MessageType.resync.rawValue
        case .want: MessageType.want.rawValue
        case .snapshotOffer: MessageType.snapshotOffer.rawValue
        case .snapshotGet: MessageType.snapshotGet.rawValue
        case .snapshotRows: MessageType.snapshotRows.rawValue
        case .snapshotEnd: MessageType.snapshotEnd.rawValue
        case .snapshotDone: MessageType.snapshotDone.rawValue
        case .fork: MessageType.fork.rawValue
        case .join: MessageType.join.rawValue
        case .headAsk: MessageType.headAsk.rawValue
        case .headTold: MessageType.headTold.rawValue
        case .payloadAsk: MessageType.payloadAsk.rawValue
        case .payloadTold: MessageType.payloadTold.rawValue
        case .sharedState: MessageType.sharedState.rawValue
        case .attachmentAsk: MessageType.attachmentAsk.rawValue
        case .attachmentTold: MessageType.attachmentTold.rawValue
        case .unknown(let type): type
        }
    }

    /// The message's name in docs/reference/sync.proto.
    package var name: String { MessageType(rawValue: type)?.name ?? "message of type \(type)" }

    /// The frame that carries this message, compressed where `compress` allows it and it pays. A Hello is never
    /// compressed: it says who can read that.
    package func frame(compress: Bool) -> Frame {
        let body = encodedBody
        if compress, type != MessageType.hello.rawValue, let smaller = Compression.compress(body) {
            return Frame(type: type, flags: Frame.compressed, body: smaller)
        }
        return Frame(type: type, body: body)
    }

    private var encodedBody: [UInt8] {
        var writer = ProtobufWriter()
        switch self {
        case .hello(let hello): hello.write(to: &writer)
        case .vector(let entries), .ack(let entries): VectorEntry.write(entries, to: &writer)
        case .events(let batch): batch.write(to: &writer)
        case .credit(let bytes): writer.uint(1, bytes)
        case .ping(let ping): ping.write(to: &writer)
        case .pong(let pong): pong.write(to: &writer)
        case .bye(let bye): bye.write(to: &writer)
        case .stateDelta(let standing): standing.write(to: &writer)
        case .want(let want): want.write(to: &writer)
        case .snapshotOffer(let offer): offer.write(to: &writer)
        case .snapshotGet(let get): get.write(to: &writer)
        case .snapshotRows(let rows): rows.write(to: &writer)
        case .snapshotEnd(let end): end.write(to: &writer)
        case .snapshotDone(let done): done.write(to: &writer)
        case .fork(let fork): fork.write(to: &writer)
        case .join(let join): join.write(to: &writer)
        case .headAsk(let ask): ask.write(to: &writer)
        case .headTold(let told): told.write(to: &writer)
        case .payloadAsk(let ask): ask.write(to: &writer)
        case .payloadTold(let told): told.write(to: &writer)
        case .sharedState(let shared): shared.write(to: &writer)
        case .attachmentAsk(let ask): ask.write(to: &writer)
        case .attachmentTold(let told): told.write(to: &writer)
        case .resync, .unknown: break
        }
        return writer.bytes
    }

    /// The message in `frame`, which a peer sent that was told of `limits`.
    package init(frame: Frame, limits: WireLimits = WireLimits()) throws(WireError) {
        try Frame.check(
            type: frame.type, flags: frame.flags, reserved: 0, body: frame.body.count,
            limit: limits.body(of: frame.type))
        guard let type = MessageType(rawValue: frame.type) else {
            self = .unknown(type: frame.type)
            return
        }
        var body = frame.body
        if frame.flags & Frame.compressed != 0 {
            guard type != .hello else { throw .malformed(message: "Hello", reason: "it is compressed") }
            body = try Compression.decompress(body)
        }
        switch type {
        case .hello: self = .hello(try Hello(MessageReader("Hello", body)))
        case .vector: self = .vector(try VectorEntry.list("entries", MessageReader("Vector", body)))
        case .events: self = .events(try EventBatch(MessageReader("Events", body), limits: limits))
        case .ack: self = .ack(try VectorEntry.list("durable", MessageReader("Ack", body)))
        case .credit: self = .credit(try readCredit(MessageReader("Credit", body)))
        case .ping: self = .ping(try Ping(MessageReader("Ping", body)))
        case .pong: self = .pong(try Pong(MessageReader("Pong", body)))
        case .bye: self = .bye(try Bye(MessageReader("Bye", body)))
        case .stateDelta: self = .stateDelta(try StateDelta(MessageReader("StateDelta", body)))
        case .want: self = .want(try Want(MessageReader("Want", body)))
        case .resync: self = try readRestate(MessageReader("Resync", body))
        case .snapshotOffer: self = .snapshotOffer(try SnapshotOffer(MessageReader("SnapshotOffer", body)))
        case .snapshotGet: self = .snapshotGet(try SnapshotGet(MessageReader("SnapshotGet", body)))
        case .snapshotRows: self = .snapshotRows(try SnapshotRows(MessageReader("SnapshotRows", body)))
        case .snapshotEnd: self = .snapshotEnd(try SnapshotEnd(MessageReader("SnapshotEnd", body)))
        case .snapshotDone: self = .snapshotDone(try SnapshotDone(MessageReader("SnapshotDone", body)))
        case .fork: self = .fork(try Fork(MessageReader("Fork", body)))
        case .join: self = .join(try Join(MessageReader("Join", body)))
        case .headAsk: self = .headAsk(try HeadAsk(MessageReader("HeadAsk", body)))
        case .headTold: self = .headTold(try HeadTold(MessageReader("HeadTold", body)))
        case .payloadAsk: self = .payloadAsk(try PayloadAsk(MessageReader("PayloadAsk", body)))
        case .payloadTold: self = .payloadTold(try PayloadTold(MessageReader("PayloadTold", body), limits: limits))
        case .sharedState: self = .sharedState(try SharedState(MessageReader("SharedState", body)))
        case .attachmentAsk: self = .attachmentAsk(try AttachmentAsk(MessageReader("AttachmentAsk", body)))
        case .attachmentTold: self = .attachmentTold(try AttachmentTold(MessageReader("AttachmentTold", body)))
        }
    }
}

private func readCredit(_ message: consuming MessageReader) throws(WireError) -> UInt64 {
    var bytes = UInt64(0)
    while let field = try message.next() {
        if field.number == 1 { bytes = try message.amount(field) }
    }
    return bytes
}

private func readRestate(_ message: consuming MessageReader) throws(WireError) -> Message {
    while try message.next() != nil {}
    return .resync
}
