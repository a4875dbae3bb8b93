internal import CommandLineKit
internal import EventStore
internal import SyncEngine

extension HTTPExchange {
    /// One JSON object.
    func send(_ line: JSONLine, status: Int = 200, headers: [HTTPField] = []) {
        var body: [UInt8] = []
        line.write(to: &body)
        reply(status: status, contentType: "application/json", headers: headers, body: body)
    }

    /// JSON objects, one to a line.
    func send(lines: [JSONLine]) {
        var body: [UInt8] = []
        for line in lines { line.write(to: &body) }
        send(lines: body)
    }

    /// JSON objects that are written already, each with the end of its line.
    func send(lines: [UInt8]) { reply(status: 200, contentType: "application/x-ndjson", body: lines) }

    /// An error with its stable code.
    func refuse(_ status: Int, _ code: String, _ message: String) {
        var line = JSONLine(type: "error")
        line.add("code", code)
        line.add("message", message)
        send(line, status: status, headers: status == 503 ? [HTTPField("Retry-After", "1")] : [])
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
        refuse(status, error.code, error.description)
    }
}
