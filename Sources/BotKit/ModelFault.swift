internal import EventStore

/// Why a model gave no answer. `code` is what `bot.failed` says.
package struct ModelFault: Error, Equatable, Sendable {
    package enum Code: String, Sendable, CaseIterable {
        /// No server was reached, or the connection broke before the answer began.
        case network
        /// No answer in time.
        case timeout
        /// The answer broke off.
        case cut
        /// What came is no answer of such an endpoint.
        case decode
        /// A status that says nothing more.
        case status
        /// Too many requests.
        case rate
        /// The account has nothing left.
        case quota
        /// The key is missing or wrong, or the account may not use the endpoint: whatever is asked.
        case noKey = "no_key"
        /// The endpoint will not answer that for safety's sake.
        case filtered
        /// The question, or what goes with it, is too long.
        case tooLong = "too_long"
        /// The endpoint has no such model, or it may not be chosen.
        case model
        /// The answer has nothing of what was asked for.
        case noData = "no_data"
        /// A recording, a picture or a sound has more bytes than are taken.
        case tooLarge = "too_large"
        /// The endpoint names a place for its picture from which none is fetched.
        case address
        /// The bytes of a recording are not at the node.
        case missing
    }

    package let code: Code
    /// The status of the answer, where there was one.
    package var status: Int?
    /// In words of the bot, for people: it goes into the record, so none of it is the endpoint's own but names of errors.
    package let reason: String
    /// What the endpoint, or the system, says of it, without the key. It may hold addresses and what was asked: for who stands at a terminal.
    package let words: String?
    /// Seconds that the endpoint asks to wait.
    package var retryAfter: Int?

    package init(_ code: Code, _ reason: String, words: String? = nil, status: Int? = nil, retryAfter: Int? = nil) {
        (self.code, self.status, self.retryAfter) = (code, status, retryAfter)
        self.reason = String(reason.prefix(Self.longestReason))
        self.words = words.map { String($0.prefix(Self.longestReason)) }
    }

    /// Longest reason, and longest words, that are kept, in characters: an endpoint may answer with a whole page.
    private static let longestReason = 300

    /// Whether the same request may have an answer later.
    package var isTransient: Bool {
        switch code {
        case .network, .timeout, .cut, .decode, .rate, .missing: true
        case .status: status.map { [408, 425, 500, 502, 503, 504].contains($0) } ?? true
        case .quota, .noKey, .filtered, .tooLong, .model, .noData, .tooLarge, .address: false
        }
    }

    /// Whether it concerns all questions alike, and is mended by an operator: no question is failed for it.
    package var isOfTheEndpoint: Bool { code == .noKey }

    /// What an answer with a status outside of 200 to 299 means.
    ///
    /// - Parameter secret: The key; it is taken out of the words, where an endpoint repeats it.
    package init(status: Int, retryAfter: Int?, body: [UInt8], secret: String?) {
        let error = (try? JSONObject(validating: body))?.object("error")
        var words = error?.string("message")
        if let secret, !secret.isEmpty { words = words.map { Self.without(secret, in: $0) } }
        let names = [error?.string("code"), error?.string("type")]
        let says = { (word: String) in names.contains(word) }
        let code: Code =
            switch status {
            case 401: .noKey
            case 403 where Self.refusalsOfAll.contains(where: says): .noKey
            case 429: says("insufficient_quota") ? .quota : .rate
            case 403 where says("model_not_found"), 404 where says("model_not_found"): .model
            case 400...499 where says("context_length_exceeded"), 413: .tooLong
            case 400...499 where Self.refusals.contains(where: says): .filtered
            default: .status
            }
        self.init(
            code, "HTTP status \(status)" + Self.named(error, without: secret), words: words, status: status,
            retryAfter: retryAfter)
    }

    /// What endpoints call it when they answer 403 whatever is asked. Any other 403 is of the one request: a model that is not for this
    /// account, or what a filter in front of the endpoint does not like.
    private static let refusalsOfAll = [
        "invalid_api_key", "invalid_authentication", "authentication_error", "insufficient_permissions",
        "missing_scope",
        "permission_error", "account_deactivated", "billing_not_active", "access_terminated", "ip_not_authorized",
        "unsupported_country_region_territory",
    ]

    /// The names that an endpoint gives an error, behind a colon; empty where it gives none.
    static func named(_ error: JSONObject?, without secret: String? = nil) -> String {
        let names = ["type", "code"].compactMap { error?.string($0) }.filter { name in
            (1...64).contains(name.utf8.count) && !secret.hasSameBytes(as: name)
                && name.utf8.allSatisfy { UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 || $0 == UInt8(ascii: "_") }
        }
        return names.isEmpty ? "" : ": " + names.joined(separator: ", ")
    }

    /// What endpoints call what they will not answer for safety's sake: texts, and pictures.
    private static let refusals = ["content_filter", "content_policy_violation", "moderation_blocked"]

    private static func without(_ secret: String, in text: String) -> String {
        let (text, secret) = (Array(text.utf8), Array(secret.utf8))
        var out: [UInt8] = []
        var index = 0
        while index < text.count {
            if text[index...].starts(with: secret) {
                out += "[key]".utf8
                index += secret.count
            } else {
                out.append(text[index])
                index += 1
            }
        }
        return String(decoding: out, as: UTF8.self)
    }
}
