internal import Access
internal import CommandLineKit
internal import EventStore
internal import SillokAPI
internal import SyncEngine

/// Finds out who asks: by the token that a request shows, else by the process at the other end of the socket.
///
/// ## Concurrency model
/// One lock around what is known. The API's loop asks; a thread of its own reads the log when grants have changed; requests that give or take
/// tokens wait for that.
final class Authenticator: Sendable {
    enum Refusal: Error {
        case missing
        case invalid(String)
        /// It was right, and is over.
        case expired
        /// A browser's session is over, or is none.
        case over
        /// Too many wrong ones came from there.
        case tooMany
        /// It is not known yet which tokens there are.
        case starting
    }

    /// What one is told who was let in, and would not be now.
    static let noLonger = "the token was taken back, or it or the session is over"

    private struct State {
        var sockets: SocketCallers
        var file: CredentialsFile
        var records: AccessRecords
        /// The log was read once.
        var isRead = false
        /// A reading waits for its turn.
        var isDue = false
        var isStopping = false
        var attempts = AttemptLimit()
        /// Refusals since the start, by what was shown and why.
        var failures: [AuthenticationFailure: UInt64] = [:]
    }

    private let store: EventStore
    private let reader: EventReader
    private let issuers: TokenIssuers
    let sessions = Sessions()
    private let state: Lock<State>
    /// What the log tells; held while it is read.
    private let source: Lock<AccessRecords>
    private let worker = SerialWorker<Void>(name: "api-access") {}
    private let changed = Lock<(@Sendable () -> Void)?>(nil)

    init(
        _ store: EventStore, _ views: ProjectorThread, _ api: DaemonConfiguration.API, _ issuers: TokenIssuers
    ) throws(StoreError) {
        (self.store, self.issuers) = (store, issuers)
        reader = EventReader(Freshness(store.files, projector: views))
        let file = try CredentialsFile(store.files)
        let records = AccessRecords(own: store.identity.node, trustsPeers: api.trustGrants)
        source = Lock(records)
        state = Lock(State(sockets: SocketCallers(api.socket), file: file, records: records))
        _ = store.observeCommits { [weak self] notice in
            // A notice without events stands for many.
            let isOfAccess = notice.events.contains { $0.event.header.type.hasPrefix("access.") }
            if isOfAccess || notice.events.isEmpty { self?.readSoon() }
        }
        readSoon()
    }

    /// Runs `body` when credentials have changed.
    func observe(_ body: @escaping @Sendable () -> Void) { changed.withLock { $0 = body } }

    /// The configuration was read again.
    func take(_ socket: DaemonConfiguration.Socket, _ issuers: [TokenIssuers.Issuer]) {
        state.withLock { $0.sockets = SocketCallers(socket, after: $0.sockets) }
        self.issuers.take(issuers)
        changed.withLock { $0 }?()
    }

    func stop() {
        changed.withLock { $0 = nil }
        state.withLock { $0.isStopping = true }
        worker.stop()
    }

    // MARK: Asking

    /// Who has sent a request. A refusal is counted.
    func caller(_ request: HTTPRequest) -> Result<Caller, Refusal> {
        let found = known(request)
        if case .failure(let refusal) = found, let reason = refusal.reason {
            let failure = AuthenticationFailure(method: AuthenticationFailure.Method(request), reason: reason)
            state.withLock { $0.failures[failure, default: 0] += 1 }
        }
        return found
    }

    /// How often who was refused since the start.
    var failures: [AuthenticationFailure: UInt64] {
        let none = Dictionary(uniqueKeysWithValues: AuthenticationFailure.all.map { ($0, UInt64(0)) })
        return state.withLock { none.merging($0.failures) { $1 } }
    }

    /// When the keys of each identity provider were read, Unix milliseconds.
    var keysRead: [(issuer: String, at: Int64)] { issuers.read }

    private func known(_ request: HTTPRequest) -> Result<Caller, Refusal> {
        let source = request.peer?.principal ?? request.address ?? ""
        let now = WallClock.now
        guard request.header("Authorization") != nil else {
            if let id = Sessions.id(in: request) {
                guard Sessions.isOfOwnPage(request) else {
                    return .failure(.invalid("a session is for the node's own pages: Sec-Fetch-Site: same-origin"))
                }
                guard let token = sessions.token(of: id, now: now) else { return .failure(.over) }
                return caller(showing: token, source, now).map { caller in
                    var caller = caller
                    caller.session = id
                    return caller
                }
            }
            guard let peer = request.peer, let caller = state.withLock({ $0.sockets.caller(peer) }) else {
                return .failure(.missing)
            }
            return .success(caller)
        }
        guard request.headers.filter({ $0.name.lowercased() == "authorization" }).count == 1 else {
            return .failure(.invalid("Authorization stands there more than once"))
        }
        guard let text = Self.token(in: request) else {
            return .failure(.invalid("Authorization: 'Bearer' and a token"))
        }
        return caller(showing: text, source, now)
    }

    /// The bearer token that a request shows.
    static func token(in request: HTTPRequest) -> String? {
        let parts = request.header("Authorization")?.split(separator: " ", maxSplits: 1) ?? []
        return parts.count == 2 && parts[0].lowercased() == "bearer" ? String(parts[1]) : nil
    }

    private func caller(showing text: String, _ source: String, _ now: Int64) -> Result<Caller, Refusal> {
        guard AccessToken.isClaimed(by: text) else { return caller(text, source, now) }
        guard let token = AccessToken(text: text) else {
            return .failure(guess("the token has not the form of one", source, now))
        }
        return state.withLock { state in
            let grant =
                state.file.grant(of: token, at: now).flatMap { state.records.isRevoked($0.credential) ? nil : $0 }
                ?? state.records.grant(of: token, at: now)
            if let caller = grant?.caller { return .success(caller) }
            guard state.isRead else { return .failure(.starting) }
            guard state.attempts.takes(source, now: now) else { return .failure(.tooMany) }
            return .failure(.invalid("the token is none, is over, or was taken back"))
        }
    }

    /// Looks whether files of keys have changed. The daemon's watch calls it again and again.
    func lookAtKeys() {
        guard issuers.isDue(WallClock.now) else { return }
        worker.submit { [weak self] _ in
            guard let self, issuers.look() else { return }
            changed.withLock { $0 }?()
        }
    }

    /// Who shows a token of an identity provider.
    private func caller(_ text: String, _ source: String, _ now: Int64) -> Result<Caller, Refusal> {
        switch issuers.caller(text, now: now) {
        case .success(let caller): return .success(caller)
        case .failure(.expired): return .failure(.expired)
        case .failure(let refusal): return .failure(guess(refusal.text, source, now))
        }
    }

    /// What is told of a token that is none; of many from one place no more than that.
    private func guess(_ why: String, _ source: String, _ now: Int64) -> Refusal {
        state.withLock { $0.attempts.takes(source, now: now) } ? .invalid(why) : .tooMany
    }

    /// Whether who was let in would be let in still.
    func stands(_ caller: Caller) -> Bool {
        let now = WallClock.now
        guard caller.until.map({ now < $0 }) ?? true, issuers.stands(caller) else { return false }
        if let session = caller.session, sessions.token(of: session, now: now) == nil { return false }
        guard let id = caller.credential else {
            return caller.actor.method != .socket || state.withLock { $0.sockets.generation == caller.generation }
        }
        return state.withLock { state in
            if let grant = state.file.grant(id) { return !grant.isOver(at: now) && !state.records.isRevoked(id) }
            return !state.isRead || state.records.stands(id, at: now)
        }
    }

    /// Ends a browser's session, and with it the streams that it has opened.
    func close(session id: String) {
        sessions.close(id)
        changed.withLock { $0 }?()
    }

    // MARK: Giving and taking

    /// Gives a token. What it is to be used for counts here when this returns.
    func create(_ grant: AccessGrant, _ token: AccessToken, by caller: Caller) throws(StoreError) {
        if grant.roles.contains(where: \.isOfNodeAlone) {
            try changeFile { file throws(StoreError) in try file.add(grant, token.verifier) }
        }
        _ = try store.recordBlocking([grant.draft(token.verifier, by: caller.actor, at: store.identity.node)])
        try read()
    }

    /// Takes a token back; false if there is none of this id.
    func revoke(_ id: CredentialID, by caller: Caller) throws(StoreError) -> Bool {
        let isKnown = state.withLock { $0.file.grant(id) != nil || $0.records.grant(id) != nil }
        guard isKnown else { return false }
        try changeFile { file throws(StoreError) in try file.remove(id) }
        _ = try store.recordBlocking([
            AccessGrant.revocation(of: id, by: caller.actor, at: store.identity.node)
        ])
        try read()
        return true
    }

    /// All that were given and count here.
    var all: [AccessRecords.Listed] { state.withLock { $0.records.all } }

    /// How many grants and revocations have lost their payload.
    var lost: Int { state.withLock { $0.records.lost } }

    private func changeFile(
        _ change: (inout CredentialsFile) throws(StoreError) -> Void
    ) throws(StoreError) {
        // One thread gives and takes.
        var file = state.withLock { $0.file }
        try change(&file)
        state.withLock { [file] in $0.file = file }
    }

    // MARK: Reading

    /// Has the worker read once more. One reading waits at most: it sees what has come until it begins.
    private func readSoon() {
        let isFirst = state.withLock { state in
            defer { state.isDue = true }
            return !state.isDue
        }
        guard isFirst else { return }
        worker.submit { [weak self] _ in
            guard let self,
                state.withLock({ state in
                    state.isDue = false
                    return !state.isStopping
                })
            else { return }
            do throws(StoreError) { try read() } catch {
                // The views are being built, or the disk is full: until they are here, tokens are asked to wait.
                sleepMilliseconds(500)
                readSoon()
            }
        }
    }

    private func read() throws(StoreError) {
        try source.withLock { records throws(StoreError) in
            try reader.fresh { views throws(StoreError) in try records.update(views) }
            state.withLock { [records] state in
                state.records = records
                state.isRead = true
            }
        }
        changed.withLock { $0 }?()
    }
}

/// Why callers were refused, for figures.
struct AuthenticationFailure: Hashable, Comparable {
    enum Method: String {
        case none, token, session
        case jwt = "JWT"

        /// What a request shows.
        init(_ request: HTTPRequest) {
            guard let header = request.header("Authorization"), let last = header.split(separator: " ").last else {
                self = Sessions.id(in: request) == nil ? .none : .session
                return
            }
            self = AccessToken.isClaimed(by: String(last)) ? .token : .jwt
        }
    }

    let method: Method
    let reason: String

    /// All that may be, so that a figure is there before it grows.
    static let all: [AuthenticationFailure] =
        [
            AuthenticationFailure(method: .none, reason: "missing"),
            AuthenticationFailure(method: .jwt, reason: "expired"),
            AuthenticationFailure(method: .session, reason: "expired"),
        ]
        + [Method.token, .jwt, .session].flatMap { method in
            ["invalid", "too_many"].map { AuthenticationFailure(method: method, reason: $0) }
        }

    static func < (a: AuthenticationFailure, b: AuthenticationFailure) -> Bool {
        (a.method.rawValue, a.reason) < (b.method.rawValue, b.reason)
    }
}

extension Authenticator.Refusal {
    /// In a word; `nil` where nothing was wrong.
    fileprivate var reason: String? {
        switch self {
        case .missing: "missing"
        case .invalid: "invalid"
        case .expired, .over: "expired"
        case .tooMany: "too_many"
        case .starting: nil
        }
    }
}

/// How often wrong tokens came from where: ten a minute are answered, more are not looked at.
struct AttemptLimit: Sendable {
    private static let most = 10
    private static let window: Int64 = 60_000
    private static let mostSources = 1_024

    private var sources: [String: (count: Int, since: Int64)] = [:]

    /// Counts one more; false if there were too many.
    mutating func takes(_ source: String, now: Int64) -> Bool {
        var one = sources[source] ?? (0, now)
        if now - one.since >= Self.window || now < one.since { one = (0, now) }
        one.count += 1
        if sources.count >= Self.mostSources, sources[source] == nil {
            let oldest = sources.min { $0.value.since < $1.value.since }?.key
            if let oldest { sources[oldest] = nil }
        }
        sources[source] = one
        return one.count <= Self.most
    }
}
