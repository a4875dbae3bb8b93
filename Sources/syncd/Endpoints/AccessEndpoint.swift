internal import Access
internal import CommandLineKit
internal import EventStore
internal import SillokAPI
internal import SyncEngine

/// `/v1/me` and `/v1/credentials`: who asks, and the tokens that this node gives.
extension Service {
    private static let requestMembers = ["principal", "roles", "scope", "until", "valid_s"]

    /// `GET /v1/me`.
    func tellCaller(_ request: AdmittedRequest) {
        var line = JSONLine(type: "caller")
        line.add("actor", request.caller.actor.text)
        line.add("principal", request.caller.actor.principal)
        line.add("roles", request.caller.roles.map(\.text).sorted())
        line.add("scope", request.caller.isInAll ? "all" : "own")
        line.add("node", store.identity.node.description)
        if request.caller.isAny(of: .user) { line.add("may", live.current.users.permissions) }
        request.exchange.send(line)
    }

    /// `GET /v1/credentials`.
    func listCredentials(_ exchange: HTTPExchange) throws(StoreError) {
        guard let page = exchange.listPage() else { return }
        let now = WallClock.now
        let body = try page.body(authenticator.all, lost: authenticator.lost, key: \.grant.credential.text) { one in
            var line = Self.line(one.grant)
            let isElsewhere = one.node != store.identity.node && one.grant.roles.contains(where: \.isOfNodeAlone)
            let standing = isElsewhere ? "elsewhere" : "valid"
            let refused = one.isInDoubt ? "doubtful" : one.isRevoked ? "revoked" : nil
            line.add("state", refused ?? (one.grant.isOver(at: now) ? "expired" : standing))
            line.add("at", Timestamp.text(one.at))
            line.add("node", one.node.description)
            return line
        }
        exchange.send(lines: body)
    }

    /// `POST /v1/credentials`.
    func createCredential(_ request: AdmittedRequest) throws(StoreError) {
        let exchange = request.exchange
        guard let object = exchange.object() else { return }
        let grant: AccessGrant
        let token = AccessToken.random()
        do throws(BadParameter) { grant = try Self.grant(object, token.id) } catch {
            return exchange.refuse(.parameter, error.message, hint: error.hint)
        }
        try authenticator.create(grant, token, by: request.caller)
        var line = Self.line(grant)
        line.add("token", token.text)
        exchange.send(line, status: 201, headers: [HTTPField("Cache-Control", "no-store")])
    }

    /// `DELETE /v1/credentials/{id}`.
    func revokeCredential(_ request: AdmittedRequest) throws(StoreError) {
        let text = request.values[0]
        guard let id = CredentialID(text), try authenticator.revoke(id, by: request.caller) else {
            return request.exchange.refuse(
                .notFound, "there is no credential \(text)", hint: "'syncctl tokens' has them")
        }
        request.exchange.reply(status: 204, contentType: nil)
    }

    private static func line(_ grant: AccessGrant) -> JSONLine {
        var line = JSONLine(type: "credential")
        line.add("credential", grant.credential.text)
        line.add("principal", grant.principal)
        line.add("roles", grant.roles.map(\.text).sorted())
        line.add("scope", grant.isInAll ? "all" : "own")
        if let until = grant.until { line.add("until", Timestamp.text(until)) }
        return line
    }

    private static func grant(_ object: JSONObject, _ id: CredentialID) throws(BadParameter) -> AccessGrant {
        try object.requireOnly(requestMembers)
        guard let principal = object.string("principal"), AccessGrant.isPrincipal(principal) else {
            throw BadParameter(message: "principal: whom the token is for, 1 to 256 bytes", hint: "bot/medibot")
        }
        if let unknown = object.strings("roles")?.first(where: { Role.roles([$0]) == nil }) {
            throw BadParameter(message: "roles: there is no role '\(unknown)'", hint: Role.forms)
        }
        guard let texts = object.strings("roles"), texts.count == object.elements("roles")?.count,
            (1...16).contains(texts.count), let roles = Role.roles(texts), roles.count == texts.count
        else { throw BadParameter(message: "roles: a list of 1 to 16 different roles", hint: Role.forms) }
        for role in roles.sorted(by: { $0.text < $1.text }) {
            guard let doubt = role.doubt else { continue }
            throw BadParameter(message: "roles: '\(role.text)': \(doubt)", hint: Role.forms)
        }
        let alone = roles.filter(\.isOfNodeAlone).map(\.text).sorted().joined(separator: ", ")
        guard alone.isEmpty || roles.allSatisfy(\.isOfNodeAlone) else {
            throw BadParameter(
                message: "roles: a token for \(alone) counts at this node alone, and its other roles would, too",
                hint: "two tokens: one for \(alone), another one for the rest")
        }
        let scope = object["scope"] == nil ? "own" : object.string("scope")
        guard let scope, ["own", "all"].contains(scope) else { throw BadParameter(message: "scope: own or all") }
        return AccessGrant(
            id, principal: principal, roles, isInAll: scope == "all", until: try until(object))
    }

    private static func until(_ object: JSONObject) throws(BadParameter) -> Int64? {
        let now = WallClock.now
        if object["valid_s"] != nil {
            guard object["until"] == nil, let seconds = object.integer("valid_s"), (1...315_360_000).contains(seconds)
            else { throw BadParameter(message: "valid_s: 1 to 315360000 seconds, without 'until'") }
            return now + seconds * 1_000
        }
        guard object["until"] != nil else { return nil }
        guard let time = object.string("until").flatMap(Timestamp.milliseconds), time > now else {
            throw BadParameter(message: "until: a time that is to come", hint: "as 2027-08-01T09:00:00+09:00")
        }
        return time
    }
}

/// `POST /v1/users/{user}/package`: who puts together what is here of a user says for whom and why, before they give it.
extension Service {
    func recordPackage(_ request: AdmittedRequest, _ user: String) throws(StoreError) {
        let exchange = request.exchange
        guard let object = exchange.object(only: ["reason", "who"]) else { return }
        guard let reason = object.string("reason"), let who = object.string("who"), AccessGrant.isTold(reason),
            AccessGrant.isTold(who)
        else {
            return exchange.refuse(.parameter, "reason, who: 1 to \(AccessGrant.longestText) bytes each, not blank")
        }
        let draft = AccessGrant.draft(
            giving: user, to: who, reason: reason, by: request.caller.actor, at: store.identity.node)
        guard let receipt = try store.recordBlocking([draft]).first?.receipt else {
            return exchange.refuse(.rejected, "the record was not taken")
        }
        // What is put together next has it.
        _ = views.wait(for: receipt.position, milliseconds: 2_000)
        var line = JSONLine(type: "recorded")
        line.add("id", receipt.id.description)
        line.add("event", receipt.dot.description)
        line.add("position", receipt.position)
        exchange.send(line, status: 201)
    }
}
