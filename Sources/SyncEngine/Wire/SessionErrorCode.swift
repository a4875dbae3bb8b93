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
    package var errorClass: Class { row.errorClass }

    /// The stable name in logs and docs: `PROTO_VERSION`.
    package var name: String { row.name }

    private var row: (name: String, errorClass: Class) {
        switch self {
        case .protocolVersion: ("PROTO_VERSION", .fatal)
        case .wrongCluster: ("WRONG_CLUSTER", .fatal)
        case .unknownPeer: ("UNKNOWN_PEER", .fatal)
        case .metSelf: ("SELF", .fatal)
        case .duplicateNodeID: ("DUPLICATE_NODE_ID", .fatal)
        case .busy: ("BUSY", .retry)
        case .rateLimited: ("RATE_LIMITED", .retry)
        case .frameTooLarge: ("FRAME_TOO_LARGE", .fatal)
        case .badFrame: ("BAD_FRAME", .retry)
        case .badChain: ("BAD_CHAIN", .stream)
        case .fork: ("FORK", .stream)
        case .amnesia: ("AMNESIA", .stream)
        case .eventTooLarge: ("EVENT_TOO_LARGE", .stream)
        case .storeFull: ("STORE_FULL", .retry)
        case .storeError: ("STORE_ERROR", .fatal)
        case .idleTimeout: ("IDLE_TIMEOUT", .retry)
        case .slowPeer: ("SLOW_PEER", .retry)
        case .shutdown: ("SHUTDOWN", .retry)
        case .badProof: ("BAD_PROOF", .stream)
        case .badSignature: ("BAD_SIGNATURE", .stream)
        case .wrongCertificate: ("WRONG_CERTIFICATE", .fatal)
        case .duplicateLink: ("DUPLICATE_LINK", .retry)
        case .causalGap: ("CAUSAL_GAP", .stream)
        case .joinRefused: ("JOIN_REFUSED", .fatal)
        case .paused: ("PAUSED", .retry)
        case .snapshot: ("SNAPSHOT", .stream)
        }
    }
}
