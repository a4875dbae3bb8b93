internal import CommandLineKit
internal import EventStore
internal import Glibc
internal import SillokAPI
internal import SillokClient

/// A daemon, as `syncctl` reaches it: the one that owns a store here, or one that `--url` names.
struct DaemonClient {
    /// Where its API is, and what opens it.
    let place: NodePlace
    /// What it wrote into the store's lock; of another node, its address.
    let owner: String

    /// How long a busy daemon is asked again, in milliseconds.
    static let patience: Int64 = 60_000
    /// How long one is tried again whose socket is not there: it may be opening its log again, for a snapshot takes its place.
    private static let pause: Int64 = 2_000

    /// The daemon that has the store open; `nil` if none has it open.
    ///
    /// The owner of a store is `syncd pid <pid> socket <path>`. Any other owner has no API: the store is in use.
    static func running(_ files: StoreFiles) throws(CommandFailure) -> DaemonClient? {
        guard let owner = StoreLock.owner(files) else { return nil }
        let parts = owner.split(separator: " ", maxSplits: 4, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 5, parts[0] == "syncd", parts[3] == "socket" else {
            throw CommandFailure(StoreError.locked(path: files.folder, owner: owner))
        }
        // A relative path is one of the daemon's own folder, which need not be ours.
        let isThere = parts[4].hasPrefix("/") || access(parts[4], F_OK) == 0
        return DaemonClient(
            place: NodePlace(.socket(isThere ? parts[4] : files.socket)), owner: parts[0...2].joined(separator: " "))
    }

    /// The daemon that a command is to speak with: the one that `--url` names, else the one that has the store open, which must run.
    static func required(by session: Session, to what: String) throws(CommandFailure) -> DaemonClient {
        if let named = try named(by: session) { return named }
        if let daemon = try running(StoreLocation.find(for: session).files) { return daemon }
        throw CommandFailure(
            code: "E_NO_DAEMON", "no syncd has this store open, and only it can \(what)",
            hint: "start syncd, or name a node: --url", exitCode: .unreachable)
    }

    /// The node that `--url` or `SYNCCTL_URL` names; `nil` if there is none.
    static func named(by session: Session) throws(CommandFailure) -> DaemonClient? {
        guard let url = session.url else { return nil }
        let place = try NodePlace(url: url, session)
        return DaemonClient(place: place, owner: "the node at \(url)")
    }

    /// Asks until the daemon is not busy any more. The answer's status is 200 to 299, or one of `accepted`.
    ///
    /// - Parameter upload: Makes the body anew for each try; `nil`: the request has it.
    func ask(
        _ request: ClientRequest, accepting accepted: Set<Int> = [],
        upload: (() throws(CommandFailure) -> ClientRequest.Upload)? = nil
    ) throws(CommandFailure) -> ClientRequest.Answer {
        let start = WallClock.now
        while true {
            let answer = try send(request, upload)
            if (200..<300).contains(answer.status) || accepted.contains(answer.status) { return answer }
            let failure = self.failure(answer)
            // Of files: so many are on their way already that the others have to wait.
            let isBusy = answer.status == 503 || answer.status == 429 && upload != nil
            guard isBusy, WallClock.now - start < Self.patience else { throw failure }
            sleep(milliseconds: min(answer.retryAfter ?? 1, 10) * 1_000)
        }
    }

    /// What it answers to `GET`.
    func get(_ target: String, timeout: Int = 10_000) throws(CommandFailure) -> JSONObject {
        Self.object(try ask(ClientRequest(target: target, timeout: timeout)).body)
    }

    /// The one object of an answer, without the end of its line.
    static func object(_ body: [UInt8]) -> JSONObject {
        JSONObject(validated: body.last == UInt8(ascii: "\n") ? body.dropLast() : body)
    }

    /// A page of the feed: where lines are taken, too, it would not end.
    func page(_ target: String, timeout: Int) throws(CommandFailure) -> JSONObject {
        var request = ClientRequest(target: target, timeout: timeout)
        request.accept = "application/json"
        return JSONObject(validated: try ask(request).body)
    }

    /// The lines of a list, page by page, without their ends, which `ended` is given.
    func lines(
        _ target: String, ended: (JSONObject) -> Void = { _ in }
    ) throws(CommandFailure) -> [JSONObject] {
        var all: [JSONObject] = []
        var next: String?
        repeat {
            let page = target + (next.map { "?cursor=" + percentEncoded($0) } ?? "")
            let body = try ask(ClientRequest(target: page)).body
            all += body.split(separator: UInt8(ascii: "\n")).map { JSONObject(validated: Array($0)) }
            guard let end = all.popLast(), end.string("type") == "end" else {
                throw Self.misunderstood("no end line")
            }
            ended(end)
            next = end.bool("more") == true ? end.string("next") : nil
        } while next != nil
        return all
    }

    /// What it answers to `POST` of this object.
    @discardableResult
    func post(
        _ target: String, _ line: JSONLine? = nil, timeout: Int = 120_000
    ) throws(CommandFailure) -> JSONObject {
        let request = ClientRequest(
            method: "POST", target: target, body: line?.utf8 ?? [], contentType: "application/json", timeout: timeout)
        return JSONObject(validated: try ask(request).body)
    }

    private func send(
        _ request: ClientRequest, _ upload: (() throws(CommandFailure) -> ClientRequest.Upload)?,
        until end: Int64 = WallClock.now + pause
    ) throws(CommandFailure) -> ClientRequest.Answer {
        let body = try upload?()
        do {
            return try request.send(to: place, upload: body)
        } catch {
            if case .socket(let path) = place.address, error.isUnsent, access(path, F_OK) != 0, WallClock.now < end {
                sleep(milliseconds: 100)
                return try send(request, upload, until: end)
            }
            if error.isTimeout {
                throw CommandFailure(
                    code: "E_TIMEOUT", "\(owner) did not answer in time",
                    hint: "look whether it was done, and repeat it then",
                    exitCode: .tryAgain)
            }
            throw unreachable(error)
        }
    }

    private func unreachable(_ error: ClientRequest.Failure) -> CommandFailure {
        guard case .socket(let path) = place.address else {
            return CommandFailure(
                code: "E_UNREACHABLE", "cannot reach \(owner): \(error.reason)",
                hint: "is it running, and is --url right? A certificate of your own is named with --ca-file",
                exitCode: .unreachable)
        }
        let isForbidden = access(path, R_OK | W_OK) != 0 && errno == EACCES
        return CommandFailure(
            code: isForbidden ? "E_SOCKET_PERM" : "E_UNREACHABLE",
            "cannot reach syncd at \(path): \(isForbidden ? "permission denied" : error.reason)",
            why: place.isNamed ? nil : "The store is open in \(owner).",
            hint: isForbidden ? "the same command as a user who may write to the socket" : "syncctl status",
            exitCode: isForbidden ? .notPermitted : .unreachable)
    }

    /// The way out, for errors whose text does not have it.
    private static let hints = [
        "E_REASON": "--reason 'complaint 4711'", "E_NO_PEER": "syncctl peers list",
        "E_NOT_LISTENING": "syncd --peer-listen ADDR:PORT, or --address HOST:PORT",
        "E_DISK": "again when there is room; what was reported as appended is safe",
    ]

    /// What the daemon has said went wrong, as a failure of ours.
    func failure(_ answer: ClientRequest.Answer) -> CommandFailure {
        var failure = ErrorAnswer(body: answer.body, status: answer.status).failure(status: answer.status)
        failure.hint = Self.hints[failure.code] ?? failure.hint
        if failure.code == ErrorCode.unauthenticated.rawValue, place.token == nil {
            failure.hint = "--token-file FILE, or SYNCCTL_TOKEN_FILE; 'syncctl tokens create' makes one"
        }
        return failure
    }
}

/// Lets the thread rest; a signal ends it early.
func sleep(milliseconds: Int) {
    var time = timespec(tv_sec: milliseconds / 1_000, tv_nsec: milliseconds % 1_000 * 1_000_000)
    nanosleep(&time, nil)
}
