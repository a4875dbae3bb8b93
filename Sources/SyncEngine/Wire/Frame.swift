internal import EventStore

/// What `type` of a frame says.
package enum MessageType: UInt8, CaseIterable, Sendable {
    /// Who I am.
    case hello = 1
    /// What I have stored.
    case vector = 2
    /// What you lack.
    case events = 3
    /// What I have made durable.
    case ack = 4
    /// What you may send.
    case credit = 5
    /// Are you there?
    case ping = 6
    /// I am.
    case pong = 7
    /// I close.
    case bye = 8
    /// What I have made durable since I last said so.
    case stateDelta = 9
    /// Say all of what you have.
    case resync = 10
    /// From which origins I take events of you.
    case want = 11
    /// An origin has two histories, one at each side.
    case fork = 16
    /// Let me in: I am invited.
    case join = 17
    /// Show me a head of my origin.
    case headAsk = 18
    /// Here it is.
    case headTold = 19
    /// Have you the payloads of these events?
    case payloadAsk = 20
    /// I have these.
    case payloadTold = 21
    /// Would you rather have a copy of my log?
    case snapshotOffer = 24
    /// Yes, from here on.
    case snapshotGet = 25
    /// Here are rows of it.
    case snapshotRows = 26
    /// That was all; here is the proof.
    case snapshotEnd = 27
    /// It is in place, or refused.
    case snapshotDone = 28
    /// This I tell all.
    case sharedState = 32
    /// Have you the bytes of this attachment?
    case attachmentAsk = 33
    /// Here are some.
    case attachmentTold = 34

    /// The message's name in docs/reference/sync.proto, after which each case is named.
    var name: String {
        let word = "\(self)"
        return word.prefix(1).uppercased() + word.dropFirst()
    }
}

/// The unit of transfer: 8 bytes of header (big-endian `u32` body length, type, flags, 16 zero bits), then the body.
package struct Frame: Hashable, Sendable {
    /// A ``MessageType``, or one of a later version.
    package var type: UInt8
    /// ``compressed`` or 0.
    package var flags: UInt8
    /// A message, perhaps compressed.
    package var body: [UInt8]

    /// A frame of these parts.
    package init(type: UInt8, flags: UInt8 = 0, body: [UInt8]) {
        self.type = type
        self.flags = flags
        self.body = body
    }

    /// The flag of a body that is a length and a Zstandard frame.
    package static let compressed: UInt8 = 1
    /// Bytes of the header.
    package static let headerSize = 8

    /// Bytes of the message, decompressed.
    var messageSize: Int { flags & Self.compressed == 0 ? body.count : Compression.declaredSize(body) }

    /// Bytes to transfer: header and body.
    package var count: Int { Self.headerSize + body.count }

    /// Refuses what no frame may be, from the header alone.
    package static func check(type: UInt8, flags: UInt8, reserved: UInt16, body: Int, limit: Int) throws(WireError) {
        guard flags & ~compressed == 0 else { throw .unknownFlags(flags) }
        guard reserved == 0 else { throw .reservedNotZero(reserved) }
        guard body <= limit else { throw .frameTooLarge(bytes: body, limit: limit) }
    }
}
