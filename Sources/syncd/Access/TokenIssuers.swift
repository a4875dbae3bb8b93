internal import Access
internal import CommandLineKit
internal import EventStore
internal import Glibc

/// The identity providers of `api.jwt`, with their keys as their files had them last. The daemon asks no one over the network: a program
/// beside it writes the files.
///
/// ## Concurrency model
/// One lock. The API's loop asks; files are read by a worker of the authenticator.
final class TokenIssuers: Sendable {
    struct Issuer {
        fileprivate let rules: TokenIssuer
        fileprivate let path: String
        fileprivate var keys: JSONWebKeys
        fileprivate var stamp: FileStamp?
        /// When they were read, Unix milliseconds.
        fileprivate var read = WallClock.now
        /// What was wrong with the file that was there last; it is said once.
        fileprivate var problem: String?
    }

    private struct State {
        var issuers: [Issuer] = []
        /// Tokens that were believed, by their SHA-256: a signature is checked once.
        var believed: [Digest: Caller] = [:]
        var looked: Int64?
        /// Grows whenever keys or rules change: who was let in before is asked anew.
        var generation: UInt64 = 0
    }

    /// How many tokens are remembered.
    private static let mostBelieved = 4_096
    /// Milliseconds from one look at the files to the next.
    private static let patience: Int64 = 2_000

    private let state = Lock(State())
    /// Where it is told what became of a file.
    private let say: @Sendable (_ isProblem: Bool, String) -> Void

    init(_ say: @escaping @Sendable (_ isProblem: Bool, String) -> Void) { self.say = say }

    /// Reads the files of keys.
    ///
    /// - Throws: `E_CONFIG` where one is missing or has none.
    static func read(_ issuers: [DaemonConfiguration.Issuer]) throws(CommandFailure) -> [Issuer] {
        var found: [Issuer] = []
        for issuer in issuers {
            do throws(JSONWebKeys.Problem) {
                let stamp = FileStamp(issuer.keys)
                found.append(
                    Issuer(rules: issuer.rules, path: issuer.keys, keys: try keys(issuer.keys), stamp: stamp))
            } catch {
                throw CommandFailure(
                    code: "E_CONFIG", "api.jwt: '\(issuer.rules.name)': \(issuer.keys) \(error)",
                    hint: "a JWK set, as the provider publishes it at its jwks_uri", exitCode: .configuration)
            }
        }
        return found
    }

    /// These count from now on.
    func take(_ issuers: [Issuer]) {
        state.withLock { state in
            (state.issuers, state.believed) = (issuers, [:])
            state.generation += 1
        }
        for issuer in issuers { tell(issuer.keys, of: issuer) }
    }

    private static func keys(_ path: String) throws(JSONWebKeys.Problem) -> JSONWebKeys {
        let bytes: [UInt8]?
        do throws(StoreError) { bytes = try SmallFile.read(path, most: JSONWebKeys.longest + 1) } catch {
            throw JSONWebKeys.Problem("cannot be read: \(error)")
        }
        guard let bytes else { throw JSONWebKeys.Problem("is not there") }
        return try JSONWebKeys(bytes)
    }

    /// Who holds a token, which says who has signed it.
    func caller(_ text: String, now: Int64) -> Result<Caller, JSONWebToken.Refusal> {
        let digest = SHA256().digest(Array(text.utf8))
        let (known, issuers, generation) = state.withLock { ($0.believed[digest], $0.issuers, $0.generation) }
        if let known, known.until.map({ now < $0 }) ?? false { return .success(known) }
        do throws(JSONWebToken.Refusal) {
            let token = try JSONWebToken(text)
            // Of two with one issuer, as of two applications, the audience decides.
            var refusal = JSONWebToken.Refusal.unknownIssuer
            for issuer in issuers where issuer.rules.isNamed(by: token) {
                do throws(JSONWebToken.Refusal) {
                    let caller = try issuer.rules.caller(token, issuer.keys, now: now, generation: generation)
                    remember(caller, digest)
                    return .success(caller)
                } catch { refusal = error }
            }
            return .failure(refusal)
        } catch { return .failure(error) }
    }

    private func remember(_ caller: Caller, _ digest: Digest) {
        state.withLock { state in
            guard state.generation == caller.generation else { return }
            if state.believed.count >= Self.mostBelieved { state.believed = [:] }
            state.believed[digest] = caller
        }
    }

    /// When the keys of each were read, Unix milliseconds.
    var read: [(issuer: String, at: Int64)] { state.withLock { $0.issuers.map { ($0.rules.name, $0.read) } } }

    /// Whether the keys and rules are still those that a caller was let in by.
    func stands(_ caller: Caller) -> Bool {
        caller.actor.method != .jwt
            || state.withLock { $0.generation == caller.generation }
    }

    /// Whether it is time to look at the files; then it is not for a while.
    func isDue(_ now: Int64) -> Bool {
        state.withLock { state in
            // A clock that was set back does not keep it from looking.
            let isEarly = state.looked.map { $0 <= now && now - $0 < Self.patience } ?? false
            guard !state.issuers.isEmpty, !isEarly else { return false }
            state.looked = now
            return true
        }
    }

    /// Reads the files that have changed; true if keys have. A file that cannot be used changes nothing, and is told of once.
    func look() -> Bool {
        var isNew = false
        for issuer in state.withLock({ $0.issuers }) {
            let stamp = FileStamp(issuer.path)
            guard stamp != issuer.stamp else { continue }
            var next = issuer
            next.stamp = stamp
            do throws(JSONWebKeys.Problem) {
                (next.keys, next.problem, next.read) = (try Self.keys(issuer.path), nil, WallClock.now)
                say(false, "api.jwt: '\(issuer.rules.name)': the keys of \(issuer.path) were read again")
            } catch {
                next.problem = error.description
                if next.problem != issuer.problem {
                    say(
                        true, "api.jwt: '\(issuer.rules.name)': \(issuer.path) \(error); the keys before it count on")
                }
            }
            isNew = isNew || next.problem == nil
            if next.problem == nil { tell(next.keys, of: next) }
            state.withLock { [next] state in
                guard let index = state.issuers.firstIndex(where: { $0.rules == next.rules && $0.path == next.path })
                else { return }
                state.issuers[index] = next
                guard next.problem == nil else { return }
                state.believed = [:]
                state.generation += 1
            }
        }
        return isNew
    }

    private func tell(_ keys: JSONWebKeys, of issuer: Issuer) {
        for remark in keys.remarks { say(true, "api.jwt: '\(issuer.rules.name)': \(issuer.path): \(remark)") }
    }
}

/// Tells whether a file is another than before.
private struct FileStamp: Equatable {
    private let inode: UInt
    private let size: Int
    private let seconds: Int
    private let nanoseconds: Int

    init?(_ path: String) {
        var entry = stat()
        guard stat(path, &entry) == 0 else { return nil }
        (inode, size) = (UInt(entry.st_ino), Int(entry.st_size))
        (seconds, nanoseconds) = (Int(entry.st_mtim.tv_sec), Int(entry.st_mtim.tv_nsec))
    }
}
