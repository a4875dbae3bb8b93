internal import BotKit
internal import CommandLineKit
internal import EventStore
internal import SillokAPI
internal import SillokClient

/// The API of the node, as one thread speaks with it.
final class NodeAPI {
    let place: NodePlace
    let subscription: String
    private let connection: ClientConnection?
    private let stopping: Stopping
    private let log: BotLog

    private static let longestPause = 5_000
    private static let patience = 30_000

    init(_ place: NodePlace, subscription: String, stopping: Stopping, log: BotLog) {
        (self.place, self.subscription, self.stopping, self.log) = (place, subscription, stopping, log)
        connection = ClientConnection()
    }

    /// Asks once.
    func once(_ request: ClientRequest) throws(CommandFailure) -> ClientRequest.Answer {
        do throws(ClientRequest.Failure) { return try request.send(to: place, over: connection) } catch {
            throw CommandFailure(
                code: "E_UNREACHABLE", "the node does not answer: \(error.reason)",
                hint: "is syncd running, and is api.url right?", exitCode: .unreachable)
        }
    }

    /// Asks until there is an answer that will be no other: a node that cannot be reached or is busy is asked again, for as long as the
    /// program runs. Calls `meanwhile` between.
    func ask(
        _ request: ClientRequest, accepting accepted: Set<Int> = [], meanwhile: () -> Bool = { true }
    ) throws(CommandFailure) -> ClientRequest.Answer {
        var pause = 100
        while true {
            let (answer, problem) = try attempt(request, accepting: accepted)
            if let answer, problem == nil { return answer }
            let failure = problem ?? CommandFailure(code: "E_UNREACHABLE", "no answer", exitCode: .unreachable)
            let asked = min(answer?.retryAfter ?? 0, 30) * 1_000
            if pause >= 800 { log.warning("\(failure.what); again soon", failure.code) }
            guard meanwhile(), !stopping.rest(max(pause, asked)) else { throw failure }
            pause = min(pause * 2, Self.longestPause)
        }
    }

    /// An answer, or why there is none for now; what will be no better is thrown.
    private func attempt(
        _ request: ClientRequest, accepting accepted: Set<Int>
    ) throws(CommandFailure) -> (ClientRequest.Answer?, CommandFailure?) {
        let answer: ClientRequest.Answer
        do throws(CommandFailure) { answer = try once(request) } catch { return (nil, error) }
        if (200..<300).contains(answer.status) || accepted.contains(answer.status) { return (answer, nil) }
        let failure = ErrorAnswer(body: answer.body, status: answer.status).failure(status: answer.status)
        guard [429, 502, 503, 504, 507].contains(answer.status) else { throw failure }
        return (answer, failure)
    }

    /// The roles that the node takes this program for, from an answer of ``Route/me``; one of them must let it answer as `bot`.
    static func roles(
        _ answer: ClientRequest.Answer, answeringAs bot: String
    ) throws(CommandFailure) -> [String] {
        let roles = lines(of: answer.body).first?.strings("roles") ?? []
        guard roles.contains("app") || roles.contains(where: { $0.hasSameBytes(as: "bot:" + bot) }) else {
            throw CommandFailure(
                code: ErrorCode.role.rawValue,
                "the node takes it for someone with the roles \(roles.joined(separator: ", ")), who may not answer as '\(bot)'",
                hint: "syncctl tokens create bot/\(bot) --role bot:\(bot) --all --out \(bot).token",
                exitCode: .notPermitted)
        }
        return roles
    }

    /// The lines of a list without its end; `nil` where there is no such thing, or it is not to be seen.
    func lines(_ target: String) throws(CommandFailure) -> [JSONObject]? {
        let answer = try ask(ClientRequest(target: target, timeout: Self.patience), accepting: [404])
        guard answer.status != 404 else { return nil }
        let lines = Self.lines(of: answer.body)
        return lines.filter { $0.string("type") != "end" || $0["event"] != nil }
    }

    static func lines(of body: [UInt8]) -> [JSONObject] {
        body.split(separator: UInt8(ascii: "\n")).compactMap { try? JSONObject(validating: Array($0)) }
    }

    /// Asks something of the subscription.
    func subscription(
        _ verb: String, method: String = "POST", body: JSONLine? = nil, accepting: Set<Int> = []
    ) throws(CommandFailure) -> ClientRequest.Answer {
        let path =
            verb.isEmpty ? Route.subscriptions.path(subscription) : Route.subscriptions.path(subscription, verb)
        return try ask(
            ClientRequest(
                method: method, target: path, body: body?.utf8, contentType: "application/json",
                timeout: Self.patience),
            accepting: accepting)
    }
}

extension NodeAPI {
    /// What came of appending.
    enum Stored {
        case stored(isAcked: Bool)
        /// Another event has one of the ids.
        ///
        /// - Parameter byBot: Whether it is by the same author and has the same cause: another worker has answered.
        case taken(byBot: Bool)
        case refused(CommandFailure)
    }

    /// Appends native lines, all or none, and acks a delivery with them. Throws where the program ends before it is known.
    func append(
        _ lines: [UInt8], ack token: String?, meanwhile: () -> Bool = { true }
    ) throws(CommandFailure) -> Stored {
        let query = token.map { [("ack", $0)] } ?? []
        let target = query.isEmpty ? Route.events.path : Route.events.path(with: query)
        let request = ClientRequest(method: "POST", target: target, body: lines, timeout: Self.patience)
        // 401 is answered again when the token's file has another one: until then nothing is lost.
        let answer = try ask(request, accepting: [400, 403, 404, 409, 413, 422], meanwhile: meanwhile)
        let told = Self.lines(of: answer.body)
        if (200..<300).contains(answer.status) {
            return .stored(isAcked: told.contains { $0.string("type") == "acked" && $0.integer("done") == 1 })
        }
        let rejected = told.filter { $0.string("type") == "rejected" && $0.string("code") != "E_BATCH" }
        let taken = rejected.filter { $0.string("code") == "E_ID_REUSED" }
        if !taken.isEmpty {
            for line in taken where try !isSaid(line, lines) { return .taken(byBot: false) }
            return .taken(byBot: true)
        }
        if let first = rejected.first {
            return .refused(
                CommandFailure(
                    code: first.string("code") ?? "E_REJECTED", first.string("message") ?? "refused",
                    exitCode: .badInput))
        }
        return .refused(ErrorAnswer(body: answer.body, status: answer.status).failure(status: answer.status))
    }

    /// Whether the event that has the id of a rejected line is by the line's author and about its cause.
    private func isSaid(_ rejected: JSONObject, _ lines: [UInt8]) throws(CommandFailure) -> Bool {
        let wanted = Self.lines(of: lines)
        let index = Int(clamping: rejected.integer("line") ?? 0) - 1
        guard wanted.indices.contains(index), let id = wanted[index].string("id").flatMap({ EventID(text: $0) }),
            let author = wanted[index].string("author")
        else { return false }
        let cause = wanted[index].string("cause").flatMap { EventID(text: $0) }
        return try event(id, by: author, about: cause) != nil
    }

    /// The event with this id; `nil` where there is none that can be seen, or it is another one's: an id alone proves nothing.
    func event(_ id: EventID, by author: String, about cause: EventID?) throws(CommandFailure) -> BotEvent? {
        let found = try lines(ReadRoute.event(id.description).path(with: []))?.first.flatMap(BotEvent.init)
        guard let found, found.author.hasSameBytes(as: author), found.cause == cause else { return nil }
        return found
    }
}
