internal import EventStore
internal import SyncEngine

/// Browsers that have shown a token: each has a cookie, of which the token cannot be found, and no script of a page sees either.
///
/// What a session may do is what its token may, asked anew with each request: it ends with the token, by itself after some hours, and with the
/// daemon.
///
/// ## Concurrency model
/// One lock around the table.
final class Sessions: Sendable {
    private struct Session {
        let token: String
        let until: Int64
    }

    /// With this name browsers take it from this host alone, over TLS or on the machine itself, and for all paths (RFC 6265bis §4.1.3.2).
    static let cookie = "__Host-sillok"
    /// How long one lives, milliseconds.
    static let validity: Int64 = 12 * 3_600_000
    private static let most = 4_096
    /// Of one token: who opens more loses the oldest.
    private static let mostOfOne = 16
    private static let bytes = 32

    private let table = Lock<[String: Session]>([:])

    /// The text of a new cookie.
    func open(_ token: String, now: Int64) -> String {
        var random = SystemRandomNumberGenerator()
        let id = base64URLText((0..<Self.bytes).map { _ in UInt8.random(in: .min ... .max, using: &random) })
        table.withLock { table in
            table = table.filter { $0.value.until > now }
            let own = table.filter { $0.value.token == token }
            if own.count >= Self.mostOfOne, let oldest = Self.oldest(own) { table[oldest] = nil }
            if table.count >= Self.most, let oldest = Self.oldest(table) { table[oldest] = nil }
            table[id] = Session(token: token, until: now + Self.validity)
        }
        return id
    }

    /// The token that a session was opened with; `nil` if there is no such session.
    func token(of id: String, now: Int64) -> String? {
        table.withLock { table in table[id].flatMap { now < $0.until ? $0.token : nil } }
    }

    func close(_ id: String) { table.withLock { $0[id] = nil } }

    private static func oldest(_ table: [String: Session]) -> String? {
        table.min { $0.value.until < $1.value.until }?.key
    }

    // MARK: Cookies

    /// The cookie of a request; `nil` where it has none of this name. Of several none counts, and the request is no other caller's for that.
    static func id(in request: HTTPRequest) -> String? {
        let all = request.headers.filter { $0.name.lowercased() == "cookie" }
            .flatMap { $0.value.split(separator: ";") }
            .compactMap { part -> String? in
                let pair = part.drop { $0 == " " }.split(
                    separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                return pair.count == 2 && pair[0] == cookie ? String(pair[1]) : nil
            }
        return all.isEmpty ? nil : all.count == 1 ? all[0] : ""
    }

    /// Whether a page of this very host asks: browsers say so, and no page can say otherwise (Fetch Metadata). Without it another site
    /// could have its visitors' browsers send requests with their cookie.
    static func isOfOwnPage(_ request: HTTPRequest) -> Bool { request.header("Sec-Fetch-Site") == "same-origin" }

    /// `Set-Cookie` of a new session, or of one that is over.
    static func setCookie(_ id: String?) -> HTTPField {
        let end = id == nil ? "; Max-Age=0" : ""
        return HTTPField(
            "Set-Cookie", "\(cookie)=\(id ?? ""); Path=/; Secure; HttpOnly; SameSite=Strict\(end)")
    }
}
