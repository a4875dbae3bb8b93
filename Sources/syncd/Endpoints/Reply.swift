internal import CommandLineKit
internal import EventStore
internal import SyncEngine

/// An error as the API tells it: a stable code, a sentence, and the way out where there is one.
enum APIError {
    static func line(_ code: String, _ message: String, hint: String?) -> JSONLine {
        var line = JSONLine(type: "error")
        line.add("code", code)
        line.add("message", message)
        line.add("hint", hint)
        return line
    }

    /// A request that HTTP itself refuses.
    static func refusal(_ status: Int, _ reason: String) -> HTTPRefusal {
        let (code, hint): (String, String?) =
            switch status {
            case 405: ("E_METHOD", nil)
            case 413: ("E_BODY_SIZE", "fewer events in one request; api.max_body of the configuration is the limit")
            case 500: ("E_INTERNAL", "the daemon's log")
            case 503: ("E_BUSY", "again after the seconds of Retry-After")
            default: ("E_HTTP", nil)
            }
        var body: [UInt8] = []
        line(code, reason, hint: hint).write(to: &body)
        return HTTPRefusal(contentType: "application/json", body: body)
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

    /// What came of an append.
    func send(_ answer: AppendAnswer) {
        reply(status: answer.status, contentType: "application/x-ndjson", body: answer.text)
    }

    /// An error with its stable code.
    func refuse(_ status: Int, _ code: String, _ message: String, hint: String? = nil) {
        send(
            APIError.line(code, message, hint: hint), status: status,
            headers: status == 503 ? [HTTPField("Retry-After", "1")] : [])
    }

    /// A peer cannot have the name of another one.
    func refuseName(_ name: String) {
        refuse(
            409, "E_NAME", "another peer is called \(name); give this one another name",
            hint: "another name, or 'syncctl peers remove \(name)' first")
    }

    /// The path is there, but not for this method.
    func refuseMethod() {
        refuse(405, "E_METHOD", "\(request.method) is not for \(request.path)")
    }

    /// An error of the store.
    func refuse(_ error: StoreError) {
        let status =
            switch error {
            case .busy, .closed, .locked: 503
            case .diskFull: 507
            case .batchTooLarge: 413
            default: 500
            }
        refuse(status, error.code, error.description, hint: error.failure.hint)
    }
}
