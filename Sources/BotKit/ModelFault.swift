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
        /// The key is missing, wrong, or not for this.
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
    /// In words, for people; without what may be secret.
    package let reason: String
    /// Seconds that the endpoint asks to wait.
    package var retryAfter: Int?

    package init(_ code: Code, _ reason: String, status: Int? = nil, retryAfter: Int? = nil) {
        (self.code, self.status, self.retryAfter) = (code, status, retryAfter)
        self.reason = String(reason.prefix(Self.longestReason))
    }

    /// Longest reason that is kept, in characters: an endpoint may answer with a whole page.
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
        var reason = error?.string("message") ?? "HTTP status \(status)"
        if let secret, !secret.isEmpty { reason = Self.without(secret, in: reason) }
        let names = [error?.string("code"), error?.string("type")]
        let says = { (word: String) in names.contains(word) }
        let code: Code =
            switch status {
            case 401, 403: .noKey
            case 429: says("insufficient_quota") ? .quota : .rate
            case 404 where says("model_not_found"): .model
            case 400...499 where says("context_length_exceeded"), 413: .tooLong
            case 400...499 where Self.refusals.contains(where: says): .filtered
            default: .status
            }
        self.init(code, reason, status: status, retryAfter: retryAfter)
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
