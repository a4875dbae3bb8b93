/// Why a session ends or gives up an origin: `Bye.code` of docs/reference/sync.proto, section 6.
package enum SessionErrorCode: UInt32, CaseIterable, Sendable {
    /// No common protocol version.
    case protocolVersion = 1
    /// The cluster names differ.
    case wrongCluster = 2
    /// The node id is not among the pinned ones.
    case unknownPeer = 3
    /// A node met itself.
    case metSelf = 4
    /// Same node id, other incarnation, both alive: a cloned data directory.
    case duplicateNodeID = 5
    /// Too many connections, or not ready yet.
    case busy = 6
    /// Connecting too often.
    case rateLimited = 7
    /// A length over the limit.
    case frameTooLarge = 8
    /// Not a frame or message of the protocol. After three in a row an operator should look.
    case badFrame = 9
    /// An origin's events do not follow upon each other.
    case badChain = 10
    /// Two histories of one origin.
    case fork = 11
    /// The peer knows more of this node's origin than the node itself.
    case amnesia = 12
    /// A header or payload over the limit.
    case eventTooLarge = 13
    /// A newer payload schema; the event is stored all the same.
    case unknownSchema = 14
    /// No space left.
    case storeFull = 15
    /// The store failed.
    case storeError = 16
    /// Nothing was heard for too long.
    case idleTimeout = 17
    /// Data was not taken for too long.
    case slowPeer = 18
    /// The node is stopping.
    case shutdown = 19
    /// Vectors must be exchanged anew, in full.
    case vectorMismatch = 20
    /// A consistency proof does not lead to the head's root.
    case badProof = 21
    /// A head is not signed by its origin's key.
    case badSignature = 22
    /// The Hello's node id is not the certificate's.
    case wrongCertificate = 23
    /// The two nodes have another connection, which is kept.
    case duplicateLink = 24
    /// An event came before one it depends on.
    case causalGap = 25
    /// The invitation is unknown, used or expired.
    case joinRefused = 26
    /// The operator of this side has paused the peer.
    case paused = 27
    /// A snapshot is stale or not of the node that offers it.
    case snapshot = 32

    /// What to do about it.
    package enum Class: String, Sendable {
        /// Connect again after a growing pause.
        case retry
        /// Do not connect before an operator has acted.
        case fatal
        /// One origin is concerned; the others go on.
        case stream
    }

    /// What to do about it.
    package var errorClass: Class {
        switch self {
        case .protocolVersion, .wrongCluster, .unknownPeer, .metSelf, .duplicateNodeID, .frameTooLarge, .storeError,
            .wrongCertificate, .joinRefused:
            .fatal
        case .busy, .rateLimited, .badFrame, .storeFull, .idleTimeout, .slowPeer, .shutdown, .duplicateLink,
            .paused:
            .retry
        case .badChain, .fork, .amnesia, .eventTooLarge, .unknownSchema, .vectorMismatch, .badProof, .badSignature,
            .causalGap, .snapshot:
            .stream
        }
    }

    /// The stable name in logs and docs: `PROTO_VERSION`.
    package var name: String {
        switch self {
        case .protocolVersion: "PROTO_VERSION"
        case .wrongCluster: "WRONG_CLUSTER"
        case .unknownPeer: "UNKNOWN_PEER"
        case .metSelf: "SELF"
        case .duplicateNodeID: "DUPLICATE_NODE_ID"
        case .busy: "BUSY"
        case .rateLimited: "RATE_LIMITED"
        case .frameTooLarge: "FRAME_TOO_LARGE"
        case .badFrame: "BAD_FRAME"
        case .badChain: "BAD_CHAIN"
        case .fork: "FORK"
        case .amnesia: "AMNESIA"
        case .eventTooLarge: "EVENT_TOO_LARGE"
        case .unknownSchema: "UNKNOWN_SCHEMA"
        case .storeFull: "STORE_FULL"
        case .storeError: "STORE_ERROR"
        case .idleTimeout: "IDLE_TIMEOUT"
        case .slowPeer: "SLOW_PEER"
        case .shutdown: "SHUTDOWN"
        case .vectorMismatch: "VECTOR_MISMATCH"
        case .badProof: "BAD_PROOF"
        case .badSignature: "BAD_SIGNATURE"
        case .wrongCertificate: "WRONG_CERTIFICATE"
        case .duplicateLink: "DUPLICATE_LINK"
        case .causalGap: "CAUSAL_GAP"
        case .joinRefused: "JOIN_REFUSED"
        case .paused: "PAUSED"
        case .snapshot: "SNAPSHOT"
        }
    }
}
