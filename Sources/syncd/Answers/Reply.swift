internal import CommandLineKit
internal import EventStore
internal import SillokAPI
internal import SyncEngine

extension ErrorAnswer {
    /// A request that HTTP itself refuses.
    static func refusal(_ status: Int, _ reason: String) -> HTTPRefusal {
        let (code, hint): (ErrorCode, String?) =
            switch status {
            case 405: (.method, nil)
            case 413: (.bodySize, "fewer events in one request; api.max_body of the configuration is the limit")
            case 500: (.fault, "the daemon's log")
            case 503: (.busy, "again after the seconds of Retry-After")
            default: (.http, nil)
            }
        var body: [UInt8] = []
        ErrorAnswer(code, reason, hint: hint).line(status: status).write(to: &body)
        return HTTPRefusal(contentType: ErrorAnswer.mediaType, body: body)
    }
}

extension HTTPExchange {
    /// Whether only an answer is wanted, and for `HEAD` not even that.
    var isReading: Bool { request.method == "GET" || request.method == "HEAD" }

    /// One JSON object.
    func send(_ line: JSONLine, status: Int = 200, headers: [HTTPField] = []) {
        var body: [UInt8] = []
        line.write(to: &body)
        reply(status: status, contentType: "application/json", headers: headers, body: body)
    }

    /// Whether it has a place to wait in, and, if so, what is done once its client has gone. Without a place it is refused, and `onGone` has run.
    func hasPlace(onGone: @escaping @Sendable () -> Void) -> Bool {
        let isGone = Lock(false)
        watchClient {
            isGone.withLock { $0 = true }
            onGone()
        }
        return isGone.withLock { !$0 }
    }

    /// The JSON object in the body; refuses the request if there is none.
    func object() -> JSONObject? {
        do { return try JSONObject(validating: request.body) } catch {
            refuse(.json, error.description)
            return nil
        }
    }

    /// The JSON object in the body with these members alone; else the answer says which no one knows.
    func object(only names: [String]) -> JSONObject? {
        guard let object = object() else { return nil }
        do throws(BadParameter) { try object.requireOnly(names) } catch {
            refuse(.parameter, error.message, hint: error.hint)
            return nil
        }
        return object
    }

    /// The body as an object of these members, none of which must be there; else the answer says which is wrong.
    func object(of forms: [(name: String, form: MemberForm)]) -> JSONObject? {
        guard let object = object(only: forms.map(\.name)) else { return nil }
        for (name, form) in forms {
            guard let value = object[name], !value.isNull, !form.fits(value) else { continue }
            refuse(.parameter, "\(name): \(form.rawValue)")
            return nil
        }
        return object
    }

    /// What came of an append.
    func send(_ answer: AppendAnswer) {
        reply(status: answer.status, contentType: "application/x-ndjson", body: answer.text)
    }

    /// An error with its stable code, which decides the status.
    func refuse(_ code: ErrorCode, _ message: String, hint: String? = nil, headers: [HTTPField] = []) {
        var body: [UInt8] = []
        ErrorAnswer(code, message, hint: hint).line(status: code.status).write(to: &body)
        // RFC 6585, section 4, and RFC 9110, section 10.2.3: when to ask again.
        let isLater = [429, 503].contains(code.status) && !headers.contains { $0.name == "Retry-After" }
        reply(
            status: code.status, contentType: ErrorAnswer.mediaType,
            headers: headers + (isLater ? [HTTPField("Retry-After", "1")] : []), body: body)
    }

    /// A peer cannot have the name of another one.
    func refuseName(_ name: String) {
        refuse(
            .name, "another peer is called \(name); give this one another name",
            hint: "another name, or 'syncctl peers remove \(name)' first")
    }

    /// The path is there, but not for this method.
    func refuseMethod(_ allowed: [String] = ["GET", "HEAD"]) {
        let list = allowed.sorted().joined(separator: ", ")
        refuse(
            .method, "\(request.method) is not for \(request.path)", hint: list,
            headers: [HTTPField("Allow", list)])
    }

    /// One who follows the log cannot go on here.
    func refuse(_ refusal: FeedRefusal) {
        switch refusal {
        case .ahead:
            refuse(
                .cursorAhead, refusal.description,
                hint: "wait_ms waits for it; the node that gave the cursor has it")
        case .elsewhere:
            refuse(
                .cursor, refusal.description,
                hint: "after=first, and events by their ids; or after=<vector>, what each origin is known up to")
        }
    }
}

extension FeedRefusal: CustomStringConvertible {
    /// One sentence for people.
    public var description: String {
        switch self {
        case .ahead(let dot): "the cursor names event \(dot), which is not here yet"
        case .elsewhere(let dot): "the cursor names another event \(dot) than this log has"
        }
    }
}

/// What a member of a body is.
enum MemberForm: String {
    case text = "a text"
    case whole = "a whole number"
    case texts = "a list of texts"

    fileprivate func fits(_ value: JSONValue) -> Bool {
        switch self {
        case .text: value.string != nil
        case .whole: value.integer != nil
        case .texts: value.elements?.allSatisfy { $0.string != nil } ?? false
        }
    }
}
