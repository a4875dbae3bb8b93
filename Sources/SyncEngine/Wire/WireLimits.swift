internal import EventStore

/// What a node is ready to take, announced in its Hello. Sizes in bytes.
package struct WireLimits: Hashable, Sendable {
    /// Longest body of a frame.
    package var maxBody: UInt32
    /// The credit the other side starts with.
    package var window: UInt64
    /// Longest payload of an event. More than ``Limits/payload``: what another node has let in is carried on.
    package var maxPayload: UInt32

    /// The limits a node announces unless it is told otherwise.
    package init(
        maxBody: UInt32 = 1 << 20, window: UInt64 = 1 << 20, maxPayload: UInt32 = UInt32(Limits.carriedPayload)
    ) {
        self.maxBody = maxBody
        self.window = window
        self.maxPayload = maxPayload
    }

    /// The longest body these limits allow a frame of `type`: control messages are small, and nothing passes 8 MiB.
    package func body(of type: UInt8) -> Int {
        let limit = min(Int(maxBody), Self.hardBody)
        return switch MessageType(rawValue: type) {
        case .hello, .credit, .ping, .pong, .bye, .resync, .snapshotGet, .snapshotDone, .join, .headAsk,
            .headTold, .payloadAsk, .attachmentAsk:
            min(limit, Self.controlBody)
        case .vector, .events, .ack, .stateDelta, .want, .snapshotOffer, .snapshotRows, .snapshotEnd, .fork,
            .payloadTold, .sharedState, .attachmentTold, nil:
            limit
        }
    }

    /// No body is longer, compressed or not, whatever was announced.
    package static let hardBody = 8 << 20
    /// Longest body of Hello, Credit, Ping, Pong, Bye and Resync.
    package static let controlBody = 4 << 10
    /// A peer that takes no bodies of this length is sent no snapshot: one row must always fit.
    package static let snapshotBody = UInt32(1 << 20)
    /// Most entries of a Vector, an Ack or one part of a StateDelta.
    package static let entries = 100_000
    /// Most origins of a node that a peer must remember.
    package static let origins = 400_000
    /// Most events of a batch, and so most origins in it.
    package static let events = 8_192
    /// Longest RFC 6962 consistency proof between sizes of 64 bits.
    package static let proof = 65
    /// Most roots of a Fork.
    package static let forkRoots = 64
    /// Most events of a PayloadAsk.
    package static let payloadsAsked = 64
    /// Most bytes of an attachment in one frame.
    package static let attachmentPiece = 256 << 10
    /// Longest text of a Bye.
    package static let byeText = 1_000
}
