internal import Access
internal import CommandLineKit
internal import EventStore
internal import SillokAPI
internal import SyncEngine

/// Short forms of appends: contacts, recent searches, and conversations of two.
extension Service {
    /// `PUT` and `DELETE` of what a user keeps.
    func keep(_ request: AdmittedRequest, _ user: String) throws(StoreError) {
        let exchange = request.exchange
        var data = JSONLine()
        var type: String
        switch request.operation {
        case .putContact, .deleteContact:
            data.add("contact", request.values.last)
            type = "contact.removed"
            if request.operation == .putContact {
                type = "contact.added"
                if !exchange.request.body.isEmpty {
                    let names = PayloadForm.ofContact
                    guard let object = exchange.object(only: names + ["contact"]) else { return }
                    let named = object["contact"]
                    guard named == nil || named?.string.hasSameBytes(as: request.values.last) == true else {
                        return exchange.refuse(
                            .parameter, "contact: another one than in the path", hint: "the path alone names them")
                    }
                    for name in names { data.copy(name, of: object) }
                }
            }
        case .putSearch:
            guard let object = exchange.object(only: ["query", "scope"]) else { return }
            type = "search.remembered"
            for name in ["query", "scope"] { data.copy(name, of: object) }
        default:
            type = "search.forgotten"
            let asked = exchange.request
            if let query = asked.queryItem("query") { data.add("query", query) } else { data.add("all", true) }
            if let scope = asked.queryItem("scope") { data.add("scope", scope) }
        }
        append(request, user, type, subject: nil, data) { batch, result in batch.answer(exchange, result) }
    }

    /// `POST /v1/direct/{user}`: the conversation of two, which is begun where no event says so yet.
    func openDirect(_ request: AdmittedRequest, _ other: String) throws(StoreError) {
        let exchange = request.exchange
        let named = exchange.request.queryItem("as")
        let users = request.caller.selves.filter(request.caller.isUser)
        guard let user = named ?? users.first else {
            return exchange.refuse(
                .parameter, "as: whose conversation with \(other) it is", hint: "POST /v1/direct/\(other)?as=<user>")
        }
        guard request.caller.isAny(of: .app) || request.caller.isUser(user) else {
            return exchange.refuse(.author, "as: \(user) is another one than the token is for")
        }
        guard !user.hasSameBytes(as: other) else {
            return exchange.refuse(.parameter, "\(other): a conversation of two is with another")
        }
        do throws(InvalidEvent) {
            try EventDraft(type: "conversation.started", user: other, payload: []).validateHeader()
        } catch {
            return exchange.refuse(.parameter, "there can be no user of this id: \(error.description)")
        }
        let direct = DirectConversation(user, other)
        let isThere = try reader.fresh { views throws(StoreError) in
            // What others have brought into it does not begin it for the two.
            let isOpen = try Membership(of: user, in: direct.id, views).isOpen
            let begun = try views.conversationSummary(direct.id)?.startedBy != nil
            let joined = try views.participant(user, of: direct.id)?.joined
            return isOpen && begun && joined == true
        }
        if isThere { return exchange.reply(direct, begun: false) }
        // Also where the two have said something already: it gives neither of them more than the other, and names no moderators.
        var data = JSONLine()
        data.add("category", "text")
        data.add("participants", direct.users)
        append(request, user, "conversation.started", subject: direct.id, data) { batch, result in
            guard case .success(let outcomes) = result, batch.answer(outcomes).status == 200 else {
                return batch.answer(exchange, result)
            }
            exchange.reply(direct, begun: true)
        }
    }

    /// Appends one event of a user, under the rules of all appends.
    private func append(
        _ request: AdmittedRequest, _ user: String, _ type: String, subject: String?, _ data: JSONLine,
        _ answer: @escaping @Sendable (AppendBatch, Result<[AppendOutcome], StoreError>) -> Void
    ) {
        let exchange = request.exchange
        if let obstacle = surroundingObstacles.first {
            return exchange.refuse(
                .disk, obstacle.told, hint: "again when there is room; what was reported as appended is safe")
        }
        if isTooFarBehind {
            return exchange.refuse(.busy("the views are over \(Self.maximumLag) events behind"))
        }
        var line = JSONLine()
        line.add("type", type)
        line.add("user", user)
        if let subject { line.add("subject", "conversation/\(subject)") }
        line.addRaw("data", String(decoding: data.utf8, as: UTF8.self))
        do throws(StoreError) {
            var batch = try AppendBatch(
                Array(line.utf8), .whole, derivesIDs: false, by: request.caller, NativeLineParser())
            try permit(&batch, request.caller, isImport: false)
            // What no list would show is not stored for it.
            try batch.refuse { draft, _ in
                AppendBatch.Problem(formOf: draft)
            }
            store.append([batch.call { [batch] result in answer(batch, result) }])
        } catch {
            exchange.refuse(error)
        }
    }
}

extension JSONLine {
    /// A member as it was sent; nothing, where it is not there or null.
    fileprivate mutating func copy(_ name: String, of object: JSONObject) {
        if let value = object[name], !value.isNull { addRaw(name, value.raw) }
    }
}

extension HTTPExchange {
    fileprivate func reply(_ direct: DirectConversation, begun: Bool) {
        var line = JSONLine(type: "direct")
        line.add("conversation", direct.id)
        line.add("participants", direct.users)
        line.add("begun", begun)
        reply(status: begun ? 201 : 200, contentType: "application/json", body: Array(line.utf8))
    }
}
