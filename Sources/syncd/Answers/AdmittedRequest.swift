internal import Access
internal import EventStore
internal import SillokAPI
internal import SyncEngine

/// A request of one who may ask it: what is wanted, of what, and by whom.
struct AdmittedRequest: Sendable {
    let exchange: HTTPExchange
    let operation: Operation
    /// What the names in the path stand for, in their order.
    let values: [String]
    let caller: Caller

    var request: HTTPRequest { exchange.request }

    /// Admits a request, or refuses it.
    init?(_ exchange: HTTPExchange, _ authenticator: Authenticator) {
        let request = exchange.request
        guard request.segments.first == "v1" else {
            exchange.refuse(.notFound, "there is no \(request.path)", hint: "GET /v1/openapi.json has all routes")
            return nil
        }
        switch authenticator.caller(request) {
        case .success(let caller):
            self.caller = caller
            let isOperator = caller.actor.method == .socket && caller.isAny(of: .admin)
            exchange.isOf(
                HTTPCaller(caller.actor.text, caller.isNarrow ? .narrow : isOperator ? .first : .usual))
        case .failure(let refusal):
            exchange.refuse(refusal)
            return nil
        }
        switch RouteTable.match(request.method, request.segments) {
        case .none:
            exchange.refuse(.notFound, "there is no \(request.path)", hint: "GET /v1/openapi.json has all routes")
            return nil
        case .otherMethod(let methods):
            exchange.refuseMethod(methods + (methods.contains("GET") ? ["HEAD"] : []))
            return nil
        case .found(let route, let values):
            guard caller.isAny(of: route.roles) else {
                exchange.refuse(route, caller)
                return nil
            }
            do throws(BadParameter) { try request.requireParameters(of: route) } catch {
                exchange.refuse(.parameter, error.message, hint: error.hint)
                return nil
            }
            (self.exchange, operation, self.values) = (exchange, route.operation, values)
        }
    }
}

extension HTTPExchange {
    fileprivate func refuse(_ refusal: Authenticator.Refusal) {
        switch refusal {
        case .missing:
            refuse(
                .unauthenticated, "no token was shown", hint: "Authorization: Bearer slk1_…",
                headers: [HTTPField("WWW-Authenticate", #"Bearer realm="sillok""#)])
        case .invalid(let why):
            refuse(
                .unauthenticated, why, hint: "'syncctl tokens create' makes one",
                headers: [HTTPField("WWW-Authenticate", #"Bearer realm="sillok", error="invalid_token""#)])
        case .expired:
            refuse(
                .tokenExpired, "the token has expired", hint: "a new one of its identity provider",
                headers: [HTTPField("WWW-Authenticate", #"Bearer realm="sillok", error="invalid_token""#)])
        case .over:
            refuse(
                .unauthenticated, "the session is over", hint: "log in again",
                headers: [Sessions.setCookie(nil)])
        case .tooMany:
            refuse(
                .rate, "too many wrong tokens came from there", hint: "one that counts is let in at any time",
                headers: [HTTPField("Retry-After", "60")])
        case .starting: refuse(.busy, "the node is starting: it does not know its tokens yet")
        }
    }

    fileprivate func refuse(_ route: RouteSpecification, _ caller: Caller) {
        let mine = caller.roles.map(\.text).sorted().joined(separator: ", ")
        let wanted = route.roles.names.joined(separator: ", ")
        refuse(
            .role,
            "\(caller.actor) has \(mine.isEmpty ? "no role" : "the roles \(mine)"), and \(request.method) "
                + "\(request.path) is for \(wanted)",
            hint: request.peer == nil
                ? "a token with another role" : "a token with another role, or api.socket.roles of the configuration")
    }
}

extension HTTPRequest {
    /// Refuses what the route does not have, or not so.
    fileprivate func requireParameters(of route: RouteSpecification) throws(BadParameter) {
        guard !query.isEmpty else { return }
        let known = route.parameters
        try requireParameters(Set(known.map(\.name)), repeatable: Set(known.filter(\.isRepeatable).map(\.name)))
        for item in query {
            guard let parameter = known.first(where: { $0.name == item.name }) else { continue }
            try parameter.check(item.value)
        }
    }
}

extension RouteParameter {
    fileprivate func check(_ text: String) throws(BadParameter) {
        switch kind {
        case .text, .place: break
        case .number(let range):
            guard let number = UInt64(text), range.contains(number) else {
                throw BadParameter(message: "\(name): a number from \(range.lowerBound) to \(range.upperBound)")
            }
        case .time:
            guard Timestamp.milliseconds(text) != nil else {
                throw BadParameter(message: "\(name): no time of RFC 3339", hint: "as 2026-08-01T09:00:00+09:00")
            }
        case .moment:
            let isPosition = UInt64(text).map { $0 <= UInt64(Int64.max) } ?? false
            guard isPosition || Timestamp.milliseconds(text) != nil else {
                throw BadParameter(
                    message: "\(name): no position and no time of RFC 3339",
                    hint: "as 10412, or 2026-08-01T09:00:00+09:00")
            }
        case .choice(let choices):
            guard choices.contains(text) else {
                throw BadParameter(
                    message: "\(name): '\(text)' is none", hint: choices.joined(separator: ", "))
            }
        }
    }
}
