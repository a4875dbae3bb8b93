internal import EventStore
internal import SillokAPI
internal import SyncEngine

extension StoreError {
    /// What clients are told of it. Which file it is, and where, is for the daemon's log: who may ask need not know the paths of the server.
    var told: String {
        switch self {
        case .notFound: "there is no store"
        case .exists: "there is a store already"
        case .locked: "the store is in use"
        case .unknownFormat, .notSettled: "the store is of another release"
        case .noKey: "a copy without its key: it can be read, and not appended to"
        case .corrupt: "the store is damaged"
        case .badFile: "a file beside the log is not what it should be"
        case .diskFull: "the disk is full"
        case .forbidden: "the daemon may not read or write a file of its store"
        case .unsafe: "not safe: others could have put a file into the store, or could replace one"
        case .readOnly: "the file system of the store is read-only"
        case .io, .lost: "reading or writing failed"
        case .parameter, .busy, .tooWide, .lostPlace, .batchTooLarge, .closed, .fault: description
        }
    }

    /// What clients are told to try.
    fileprivate var toldHint: String? {
        switch self {
        case .notFound, .exists, .unknownFormat, .notSettled, .noKey, .badFile, .forbidden, .unsafe, .io, .lost:
            "the daemon's log says which file it is, and what to do"
        default: hint
        }
    }
}

extension HTTPExchange {
    /// An error of the store.
    func refuse(_ error: StoreError) {
        note(error)
        refuse(ErrorCode(error), error.told, hint: error.toldHint)
    }

    /// Why bytes are not kept, or not given.
    func refuse(_ error: AttachmentError) {
        if case .store(let error) = error { return refuse(error) }
        refuse(ErrorCode(error), error.description, hint: error.hint)
    }

    /// The daemon's log gets what clients are not told.
    func note(_ error: StoreError) {
        if error.told != error.description { report("\(error.code): \(error)") }
    }
}

extension HTTPStream {
    /// As of an exchange: the stream has begun, and ends with a word.
    func note(_ error: StoreError) {
        if error.told != error.description { report("\(error.code): \(error)") }
    }
}

/// Tells the daemon's log what clients are not told: the same once a minute, however many ask.
///
/// ## Concurrency model
/// One lock.
final class UntoldErrors: Sendable {
    private static let pause: UInt64 = 60_000_000_000
    /// Most that are remembered; then all are told anew (INV-9).
    private static let most = 64

    private let told = Lock<[String: UInt64]>([:])
    private let say: @Sendable (String) -> Void

    init(_ say: @escaping @Sendable (String) -> Void) { self.say = say }

    func take(_ text: String) {
        let now = MonotonicClock.now
        let isNew = told.withLock { told in
            if let last = told[text], now - last < Self.pause { return false }
            if told.count >= Self.most { told = [:] }
            told[text] = now
            return true
        }
        if isNew { say(text) }
    }
}
