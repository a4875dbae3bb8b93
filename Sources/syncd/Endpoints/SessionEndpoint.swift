internal import Access
internal import CommandLineKit
internal import EventStore
internal import SillokAPI
internal import SyncEngine

/// `/v1/sessions`: a browser's cookie in place of a token.
extension Service {
    /// `POST /v1/sessions`. Who asks has shown a token: it alone can be exchanged.
    func openSession(_ request: AdmittedRequest) {
        let exchange = request.exchange
        guard let token = Authenticator.token(in: request.request) else {
            return exchange.refuse(
                .unauthenticated, "a session is opened with a token", hint: "Authorization: Bearer slk1_…")
        }
        let now = WallClock.now
        let id = authenticator.sessions.open(token, now: now)
        var line = JSONLine(type: "session")
        line.add("until", Timestamp.text(min(now + Sessions.validity, request.caller.until ?? .max)))
        exchange.send(
            line, status: 201, headers: [Sessions.setCookie(id), HTTPField("Cache-Control", "no-store")])
    }

    /// `DELETE /v1/sessions`: the one whose cookie is shown.
    func closeSession(_ request: AdmittedRequest) {
        if let id = Sessions.id(in: request.request) { authenticator.close(session: id) }
        request.exchange.reply(
            status: 204, contentType: nil, headers: [Sessions.setCookie(nil), HTTPField("Cache-Control", "no-store")])
    }
}
