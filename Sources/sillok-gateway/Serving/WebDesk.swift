internal import CommandLineKit
internal import EventStore
internal import GatewayKit
internal import SillokAPI
internal import SyncEngine

/// The face of the gateway for browsers, which cannot speak TCP: the same questions, answers and events, as JSON
/// (docs/reference/GATEWAY.md).
final class WebDesk {
    private let desk: Desk
    private let shelf = PageShelf()

    private static let path = "/v1/gateway/arrive"

    init(_ desk: Desk) { self.desk = desk }

    /// A rider asks little, and a page few questions at once.
    static var limits: HTTPLimits {
        var limits = HTTPLimits()
        limits.maximumHeaderBytes = 8 << 10
        limits.maximumBodyBytes = 8 << 10
        limits.maximumPendingBytes = 8 << 20
        limits.allowedMethods = ["GET", "HEAD", "POST"]
        return limits
    }

    static func refusal(_ status: Int, _ reason: String) -> HTTPRefusal {
        let code: ErrorCode =
            switch status {
            case 405: .method
            case 413: .bodySize
            case 503: .busy
            default: .http
            }
        var body: [UInt8] = []
        ErrorAnswer(code, reason).line(status: status).write(to: &body)
        return HTTPRefusal(contentType: ErrorAnswer.mediaType, body: body)
    }

    func answer(_ exchange: HTTPExchange) {
        let request = exchange.request
        switch (request.method, request.path) {
        case ("GET", "/livez"), ("HEAD", "/livez"): send(exchange, JSONLine(type: "alive"))
        case ("GET", Self.path), ("HEAD", Self.path): offer(exchange)
        case ("POST", Self.path): ask(exchange)
        case ("POST", Self.path + "/alarms"): tell(exchange)
        default:
            if !shelf.answer(exchange) { refuse(exchange, 404, .notFound, "there is nothing at this address") }
        }
    }

    /// What there is to choose from before the first question: the protocol has none for cities.
    private func offer(_ exchange: HTTPExchange) {
        var line = JSONLine(type: "gateway")
        line.add("protocol", TripRecord.protocolName)
        line.add("cities", desk.transit.cities.map(\.name))
        send(exchange, line)
    }

    private func ask(_ exchange: HTTPExchange) {
        guard let (object, trip) = body(exchange) else { return }
        guard let text = object.string("text"), text.utf8.count <= RequestReader.longest + 1, text.hasSuffix(";"),
            !text.dropLast().contains(";")
        else {
            return refuse(
                exchange, 400, .parameter, "text: one request that ends with ';', of at most 1,024 bytes without it")
        }
        let bytes = Array(text.utf8.dropLast())
        // What a page asks again it asks once more: no two questions have one number.
        desk.ask(
            .request(bytes), of: trip, number: UInt64.random(in: .min ... .max), at: "page \(exchange.client)"
        ) { answered in
            if case .refused(.busy) = answered.answer {
                return Self.refuseBusy(exchange)
            }
            var line = JSONLine(type: "answer")
            line.add("trip", trip.id)
            line.add("code", answered.answer.code)
            line.add("answer", answered.answer.text)
            if let record = answered.record {
                line.add("question", record.question.description)
                line.add("reply", record.reply.description)
                if let alarm = record.alarm, let rings = record.rings {
                    line.add("alarm", alarm.description)
                    line.add("rings", Timestamp.text(rings))
                    // The page counts from now on: its own clock may be wrong.
                    line.add("seconds", max(0, (rings - WallClock.now + 999) / 1_000))
                }
            }
            Self.send(exchange, line)
        }
    }

    private func tell(_ exchange: HTTPExchange) {
        guard let (object, trip) = body(exchange) else { return }
        guard object["trip"] != nil, let alarm = object.string("alarm").flatMap({ EventID(text: $0) }),
            let state = object.string("state").flatMap(TripRecord.AlarmState.init)
        else {
            return refuse(
                exchange, 400, .parameter, "trip and alarm, as an answer has them, and state: rang or stopped")
        }
        desk.record(state, of: alarm, in: trip) { outcome in
            if let failure = outcome.failure {
                guard outcome.isRefused else { return Self.refuseBusy(exchange) }
                guard failure.code != ErrorCode.notFound.rawValue else {
                    return Self.refuse(exchange, 404, .notFound, failure.what)
                }
                // The node would refuse it as often as it is told.
                return Self.refuse(exchange, 409, .exists, "something else stands in its place: \(failure.what)")
            }
            var line = JSONLine(type: "alarm")
            line.add("alarm", alarm.description)
            line.add("state", state.rawValue)
            Self.send(exchange, line)
        }
    }

    /// The object that is asked with, and the trip that it names, or a new one; `nil` if the request was refused.
    private func body(_ exchange: HTTPExchange) -> (JSONObject, Trip)? {
        let request = exchange.request
        // Another site's form or script may send no JSON, and says where it comes from.
        let kind = request.header("Content-Type")?.prefix { $0 != ";" && $0 != " " }.lowercased()
        guard kind == "application/json" else {
            refuse(exchange, 415, .parameter, "Content-Type: application/json")
            return nil
        }
        if let site = request.header("Sec-Fetch-Site"), site != "same-origin", site != "none" {
            refuse(exchange, 403, .refused, "a page of another site asks")
            return nil
        }
        let object: JSONObject
        do { object = try JSONObject(validating: request.body) } catch {
            refuse(exchange, 400, .json, error.description)
            return nil
        }
        guard let named = object["trip"] else {
            return (object, Trip(random: (UInt64.random(in: .min ... .max), UInt64.random(in: .min ... .max))))
        }
        guard let trip = named.string.flatMap({ Trip(text: $0) }) else {
            refuse(exchange, 400, .parameter, "trip: as an answer has it, or none")
            return nil
        }
        return (object, trip)
    }

    private func send(_ exchange: HTTPExchange, _ line: JSONLine) { Self.send(exchange, line) }

    private static func send(_ exchange: HTTPExchange, _ line: JSONLine) {
        var body: [UInt8] = []
        line.write(to: &body)
        exchange.reply(
            status: 200, contentType: "application/json", headers: [HTTPField("Cache-Control", "no-store")],
            body: body)
    }

    private func refuse(_ exchange: HTTPExchange, _ status: Int, _ code: ErrorCode, _ message: String) {
        Self.refuse(exchange, status, code, message)
    }

    private static func refuseBusy(_ exchange: HTTPExchange) {
        refuse(
            exchange, 503, .busy, "nothing can be recorded now, so nothing is answered",
            [HTTPField("Retry-After", "2")])
    }

    private static func refuse(
        _ exchange: HTTPExchange, _ status: Int, _ code: ErrorCode, _ message: String, _ headers: [HTTPField] = []
    ) {
        var body: [UInt8] = []
        ErrorAnswer(code, message).line(status: status).write(to: &body)
        exchange.reply(status: status, contentType: ErrorAnswer.mediaType, headers: headers, body: body)
    }
}
