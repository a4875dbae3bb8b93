package import CommandLineKit
package import EventStore

/// Every error that the API answers with: what HTTP and what the exit code of a program say of it stands here, and nowhere else.
/// docs/reference/ERRORS.md has the meanings.
package enum ErrorCode: String, CaseIterable, Sendable {
    // The request.
    case http = "E_HTTP"
    case notFound = "E_NOT_FOUND"
    case method = "E_METHOD"
    case parameter = "E_PARAMETER"
    case position = "E_POSITION"
    // Who asks.
    case unauthenticated = "E_UNAUTHENTICATED"
    case tokenExpired = "E_TOKEN_EXPIRED"
    case role = "E_ROLE"
    case author = "E_AUTHOR"
    case reason = "E_REASON"
    case cursor = "E_CURSOR"
    case cursorAhead = "E_CURSOR_AHEAD"
    // Subscriptions.
    case exists = "E_EXISTS"
    case elsewhere = "E_ELSEWHERE"
    case deliveryStale = "E_DELIVERY_STALE"
    case rate = "E_RATE"
    case json = "E_JSON"
    case empty = "E_EMPTY"
    case bodySize = "E_BODY_SIZE"
    case limit = "E_LIMIT"
    case rejected = "E_REJECTED"
    // Attachments.
    case attachmentMissing = "E_ATTACHMENT_MISSING"
    case attachmentDigest = "E_ATTACHMENT_DIGEST"
    case attachmentSize = "E_ATTACHMENT_SIZE"
    case attachmentType = "E_ATTACHMENT_TYPE"
    case range = "E_RANGE"
    // Peers and findings.
    case noPeer = "E_NO_PEER"
    case noFinding = "E_NO_FINDING"
    case notParked = "E_NOT_PARKED"
    case noPong = "E_NO_PONG"
    case planChanged = "E_PLAN"
    case configured = "E_CONFIGURED"
    case name = "E_NAME"
    case notListening = "E_NOT_LISTENING"
    case invitation = "E_INVITATION"
    case ownInvitation = "E_SELF"
    case expired = "E_EXPIRED"
    case cluster = "E_CLUSTER"
    case refused = "E_REFUSED"
    case unreachable = "E_UNREACHABLE"
    // The store: the codes of ``StoreError``.
    case noStore = "E_NO_STORE"
    case storeExists = "E_STORE_EXISTS"
    case locked = "E_LOCKED"
    case format = "E_FORMAT"
    case upgrade = "E_UPGRADE"
    case noKey = "E_NO_KEY"
    case corrupt = "E_CORRUPT"
    case storeFile = "E_STORE_FILE"
    case disk = "E_DISK"
    case permission = "E_PERMISSION"
    case unsafe = "E_UNSAFE"
    case readOnly = "E_READ_ONLY"
    case io = "E_IO"
    case busy = "E_BUSY"
    case scope = "E_SCOPE"
    case batchSize = "E_BATCH_SIZE"
    case closed = "E_CLOSED"
    case fault = "E_INTERNAL"

    package init(_ error: StoreError) { self = ErrorCode(rawValue: error.code) ?? .fault }

    /// The status of the answer (RFC 9110 §15).
    package var status: Int { answer.status }
    /// How a program ends that was answered so.
    package var exitCode: ExitCode { answer.exitCode }

    private var answer: (status: Int, exitCode: ExitCode) {
        switch self {
        case .http, .parameter, .json, .empty, .invitation, .ownInvitation: (400, .badInput)
        case .reason: (400, .badInput)
        case .position: (400, .usage)
        case .unauthenticated, .tokenExpired: (401, .notPermitted)
        case .refused, .role, .author: (403, .notPermitted)
        case .notFound, .noPeer, .noFinding, .notParked: (404, .nothingFound)
        case .method: (405, .internalError)
        case .cursor: (409, .badInput)
        case .cursorAhead, .deliveryStale, .planChanged: (409, .tryAgain)
        case .exists, .elsewhere: (409, .configuration)
        case .configured, .name, .notListening, .expired, .cluster: (409, .configuration)
        case .bodySize, .limit, .batchSize: (413, .badInput)
        case .attachmentSize: (413, .badInput)
        case .attachmentType: (415, .badInput)
        case .range: (416, .badInput)
        case .rejected, .scope, .attachmentDigest: (422, .badInput)
        case .rate: (429, .tryAgain)
        case .noStore, .noKey: (500, .inputMissing)
        case .corrupt, .storeFile, .upgrade: (500, .badInput)
        case .storeExists: (500, .cannotCreate)
        case .format: (500, .versionMismatch)
        case .permission, .unsafe: (500, .notPermitted)
        case .readOnly, .io: (500, .ioError)
        case .fault: (500, .internalError)
        case .locked, .busy, .closed, .attachmentMissing: (503, .tryAgain)
        case .noPong, .unreachable: (504, .unreachable)
        case .disk: (507, .cannotCreate)
        }
    }

    /// How a program ends that was answered with a code of another release, or of a proxy: by the status alone.
    package static func exitCode(ofStatus status: Int) -> ExitCode {
        switch status {
        case 400, 413, 417, 422: .badInput
        case 401, 403: .notPermitted
        case 404: .nothingFound
        case 409: .configuration
        case 426, 505: .versionMismatch
        case 429, 503: .tryAgain
        case 504: .unreachable
        case 507: .cannotCreate
        default: .internalError
        }
    }
}

extension CommandFailure {
    /// What went wrong with a store, as a program tells it.
    package init(_ error: StoreError) {
        self.init(
            code: error.code, error.description, hint: error.hint, exitCode: ErrorCode(error).exitCode)
    }
}
