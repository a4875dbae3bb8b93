internal import EventStore
internal import Subscriptions
internal import SyncEngine

/// What is asked of a subscription that there is.
enum SubscriptionAction: Sendable {
    case tell
    case delete
    /// Up to `most` deliveries; an empty answer waits so many milliseconds for one.
    case pull(most: Int, wait: UInt64)
    /// A stream, of which at most `window` deliveries are out.
    case deliveries(window: Int, isEventStream: Bool)
    case ack([DeliveryToken])
    case release([DeliveryToken], delay: UInt64?, error: String?)
    case extend([DeliveryToken])
    case park([DeliveryToken], reason: String)
    case parked
    /// Events by their ids.
    case retry([EventID])
    /// This node is to become its home.
    case move

    /// Whether a worker asks for deliveries, or settles some.
    var isWork: Bool {
        switch self {
        case .pull, .deliveries, .ack, .release, .extend, .park: true
        case .tell, .delete, .parked, .retry, .move: false
        }
    }

    var isMove: Bool { if case .move = self { true } else { false } }
}

/// What is asked below `/v1/subscriptions`.
enum SubscriptionRequest: Sendable {
    case list
    case make(String, SubscriptionDefinition)
    case one(String, SubscriptionAction)

    static let most = 1_000
    private static let longestWait: Int64 = 25_000
    private static let longestDelay: Int64 = 86_400_000
    private static let longestText = 4_096

    /// Why it cannot be answered.
    enum Refusal: Error {
        case parameter(String, hint: String?)
        case method
        case notFound
    }

    /// - Parameter path: What stands behind `/v1/subscriptions`.
    init(_ request: HTTPRequest, _ path: [String]) throws(Refusal) {
        let method = request.method == "HEAD" ? "GET" : request.method
        guard let name = path.first else {
            guard method == "GET" else { throw .method }
            try Self.requireQuery(request, [])
            self = .list
            return
        }
        guard SubscriptionRecord.isName(name) else {
            throw .parameter("name: '\(name)' is none", hint: "1 to 64 of a-z 0-9 . _ -")
        }
        guard path.count <= 2 else { throw .notFound }
        guard let action = path.dropFirst().first else {
            try Self.requireQuery(request, [])
            switch method {
            case "GET": self = .one(name, .tell)
            case "DELETE": self = .one(name, .delete)
            case "PUT":
                let object = try Self.object(request)
                do throws(InvalidDefinition) {
                    self = .make(name, try SubscriptionDefinition(object))
                } catch {
                    throw .parameter(error.description, hint: nil)
                }
            default: throw .method
            }
            return
        }
        let isGet = ["deliveries", "parked"].contains(action)
        let known = ["pull", "ack", "release", "extend", "park", "retry", "move"]
        guard isGet || known.contains(action) else { throw .notFound }
        guard method == (isGet ? "GET" : "POST") else { throw .method }
        try Self.requireQuery(request, action == "deliveries" ? ["window"] : [])
        self = .one(name, isGet ? try Self.reading(action, request) : try Self.settling(action, request))
    }

    private static func reading(_ action: String, _ request: HTTPRequest) throws(Refusal) -> SubscriptionAction {
        guard action == "deliveries" else { return .parked }
        var window = 32
        if let text = request.queryItem("window") {
            guard let number = Int(text), (1...most).contains(number) else {
                throw .parameter("window: a number from 1 to \(most)", hint: nil)
            }
            window = number
        }
        let accept = request.header("Accept")?.lowercased() ?? ""
        return .deliveries(window: window, isEventStream: accept.contains("text/event-stream"))
    }

    private static func settling(_ action: String, _ request: HTTPRequest) throws(Refusal) -> SubscriptionAction {
        if action == "pull", request.body.isEmpty { return .pull(most: 1, wait: 0) }
        if action == "move", request.body.isEmpty { return .move }
        let object = try object(request)
        let members: Set<String> =
            switch action {
            case "pull": ["max", "wait_ms"]
            case "release": ["deliveries", "delay_ms", "error"]
            case "park": ["deliveries", "reason"]
            case "retry": ["events"]
            case "move": []
            default: ["deliveries"]
            }
        for member in object where !members.contains(member.name) {
            throw .parameter("\(member.name): no such member", hint: members.sorted().joined(separator: ", "))
        }
        switch action {
        case "pull":
            let most = try number(object, "max", in: 1...Int64(Self.most)) ?? 1
            return .pull(most: Int(most), wait: UInt64(try number(object, "wait_ms", in: 0...longestWait) ?? 0))
        case "ack": return .ack(try tokens(object))
        case "release":
            let delay = try number(object, "delay_ms", in: 0...longestDelay).map { UInt64($0) }
            return .release(try tokens(object), delay: delay, error: try text(object, "error"))
        case "extend": return .extend(try tokens(object))
        case "move": return .move
        case "park":
            return .park(try tokens(object), reason: try text(object, "reason") ?? "set aside by the worker")
        default:
            let texts = try strings(object, "events")
            let ids = texts.compactMap { EventID(text: $0) }
            guard ids.count == texts.count else { throw .parameter("events: ids of events", hint: nil) }
            return .retry(ids)
        }
    }

    private static func requireQuery(_ request: HTTPRequest, _ known: Set<String>) throws(Refusal) {
        do throws(BadParameter) {
            try request.requireParameters(known)
        } catch {
            throw .parameter(error.message, hint: error.hint)
        }
    }

    private static func object(_ request: HTTPRequest) throws(Refusal) -> JSONObject {
        do { return try JSONObject(validating: request.body) } catch {
            throw .parameter("the body is no JSON object: \(error.description)", hint: nil)
        }
    }

    private static func number(
        _ object: JSONObject, _ name: String, in range: ClosedRange<Int64>
    ) throws(Refusal) -> Int64? {
        guard object[name] != nil else { return nil }
        guard let number = object.integer(name), range.contains(number) else {
            throw .parameter("\(name): a number from \(range.lowerBound) to \(range.upperBound)", hint: nil)
        }
        return number
    }

    private static func text(_ object: JSONObject, _ name: String) throws(Refusal) -> String? {
        guard object[name] != nil else { return nil }
        guard let text = object.string(name), text.utf8.count <= longestText else {
            throw .parameter("\(name): a text of at most \(longestText) bytes", hint: nil)
        }
        return text
    }

    private static func strings(_ object: JSONObject, _ name: String) throws(Refusal) -> [String] {
        guard let texts = object.strings(name), texts.count == object.elements(name)?.count,
            (1...most).contains(texts.count)
        else { throw .parameter("\(name): a list of 1 to \(most) texts", hint: nil) }
        return texts
    }

    private static func tokens(_ object: JSONObject) throws(Refusal) -> [DeliveryToken] {
        let texts = try strings(object, "deliveries")
        var tokens: [DeliveryToken] = []
        for text in texts {
            guard let token = DeliveryToken(text: text) else {
                throw .parameter(
                    "deliveries: '\(text.prefix(80))' is none", hint: "the member 'delivery' of a delivery")
            }
            tokens.append(token)
        }
        return tokens
    }
}
