internal import CommandLineKit
internal import EventStore
internal import SyncEngine

/// `POST /v1/findings`: an operator has dealt with what a notice tells. The body is `{"code":…,"subject":…,"note":…}`.
extension Service {
    /// Longest note, bytes of UTF-8.
    private static let longestNote = 4_096

    func settle(_ exchange: HTTPExchange) {
        let object: JSONObject
        do { object = try JSONObject(validating: exchange.request.body) } catch {
            return exchange.refuse(400, "E_JSON", error.description)
        }
        guard let code = object.string("code"), (1...64).contains(code.utf8.count) else {
            return exchange.refuse(400, "E_PARAMETER", "code: the finding's code, as FORK")
        }
        let (subject, note) = (object.string("subject") ?? "", object.string("note") ?? "")
        guard subject.utf8.count <= 256, note.utf8.count <= Self.longestNote else {
            return exchange.refuse(
                400, "E_PARAMETER", "subject: at most 256 bytes; note: at most \(Self.longestNote)")
        }
        let draft = Settlement.draft(code: code, subject: subject, note: note, at: store.identity.node)
        do throws(StoreError) {
            guard let receipt = try store.recordBlocking([draft]).first?.receipt else {
                return exchange.refuse(422, "E_REJECTED", "the settlement was not taken")
            }
            try Settlement.keep(code: code, subject: subject, at: receipt.hlc.milliseconds, store.files)
            var line = JSONLine(type: "settled")
            line.add("code", code)
            line.add("subject", subject)
            line.add("position", receipt.position)
            line.add("id", receipt.id.description)
            exchange.send(line, status: 201)
        } catch {
            exchange.refuse(error)
        }
    }

    /// What was settled, for notices that ask for it: looked up only when there is one.
    func settlements(of notices: [NodeNotice]) throws(StoreError) -> [Settlement] {
        guard !notices.isEmpty else { return [] }
        return try Settlement.all(in: ViewReader(store.files, tails: views.tails, pattern: .mixed))
    }
}
