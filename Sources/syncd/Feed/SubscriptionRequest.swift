internal import EventStore
internal import SillokAPI
internal import Subscriptions
internal import SyncEngine

/// What is asked of a subscription that there is.
enum SubscriptionAction: Sendable {
    case tell
    case delete
    /// Up to `most` deliveries, when those that are done are put away; an empty answer waits so many milliseconds for one.
    case pull(most: Int, wait: UInt64, done: [DeliveryToken])
    /// A stream, of which at most `window` deliveries are out.
    case deliveries(window: Int, isEventStream: Bool)
    case ack([DeliveryToken])
    /// - Parameter isUntried: That was no attempt.
    case release([DeliveryToken], delay: UInt64?, error: String?, isUntried: Bool)
    case extend([DeliveryToken])
    case park([DeliveryToken], reason: String)
    case parked(ListPage)
    /// Events by their ids.
    case retry([EventID])
    /// This node is to become its home.
    case move
    /// Other members.
    case change(JSONObject)
    /// Another place.
    case seek(SubscriptionDefinition.Start, reason: String?)

    /// Whether a worker asks for deliveries, or settles some.
    var isWork: Bool {
        switch self {
        case .pull, .deliveries, .ack, .release, .extend, .park: true
        case .tell, .delete, .parked, .retry, .move, .change, .seek: false
        }
    }

    var isMove: Bool { if case .move = self { true } else { false } }
}

/// What is asked below `/v1/subscriptions`.
enum SubscriptionRequest: Sendable {
    case list(ListPage)
    case make(String, SubscriptionDefinition)
    case one(String, SubscriptionAction)

    static let most = 1_000
    private static let longestWait: Int64 = 25_000
    private static let longestDelay: Int64 = 86_400_000
    private static let longestText = 4_096

    init(_ admitted: AdmittedRequest) throws(BadParameter) {
        let request = admitted.request
        guard let name = admitted.values.first else {
            self = .list(try ListPage(request))
            return
        }
        guard SubscriptionRecord.isName(name) else {
            throw BadParameter(message: "name: '\(name)' is none", hint: "1 to 64 of a-z 0-9 . _ -, but not . or ..")
        }
        switch admitted.operation {
        case .putSubscription:
            let object = try Self.object(request)
            do throws(InvalidDefinition) { self = .make(name, try SubscriptionDefinition(object)) } catch {
                throw BadParameter(message: error.description)
            }
            try Self.checkFilter(object)
        case .changeSubscription:
            let object = try Self.object(request)
            try Self.checkFilter(object)
            self = .one(name, .change(object))
        case .getSubscription: self = .one(name, .tell)
        case .deleteSubscription: self = .one(name, .delete)
        case .listParked: self = .one(name, .parked(try ListPage(request)))
        case .streamDeliveries:
            let accept = request.header("Accept")?.lowercased() ?? ""
            let isEventStream = accept.contains("text/event-stream")
            self = .one(
                name, .deliveries(window: request.number("window") ?? 32, isEventStream: isEventStream))
        default: self = .one(name, try Self.settling(admitted.operation, request))
        }
    }

    /// A filter that will never let anything pass is hardly meant.
    private static func checkFilter(_ object: JSONObject) throws(BadParameter) {
        let types = object.object("filter")?.strings("type") ?? []
        if let type = TypePattern.misspelt(in: types) {
            throw BadParameter(message: "filter.type: '\(type)' is no pattern", hint: TypePattern.hint)
        }
        guard !types.isEmpty, types.allSatisfy(ReservedType.isOfAccess) else { return }
        throw BadParameter(
            message: "filter: no subscription hands out events of access.*",
            hint: "the feed, GET /v1/changes, with role auditor")
    }

    private static func settling(
        _ operation: Operation, _ request: HTTPRequest
    ) throws(BadParameter) -> SubscriptionAction {
        if operation == .pullDeliveries, request.body.isEmpty { return .pull(most: 1, wait: 0, done: []) }
        if operation == .moveSubscription, request.body.isEmpty { return .move }
        let object = try object(request)
        let members: [String] =
            switch operation {
            case .pullDeliveries: ["max", "wait_ms", "ack"]
            case .releaseDeliveries: ["deliveries", "delay_ms", "error", "untried"]
            case .parkDeliveries: ["deliveries", "reason"]
            case .retryParked: ["events"]
            case .seekSubscription: ["start", "reason"]
            case .moveSubscription: []
            default: ["deliveries"]
            }
        try object.requireOnly(members)
        switch operation {
        case .pullDeliveries:
            let most = try number(object, "max", in: 1...Int64(Self.most)) ?? 1
            let wait = UInt64(try number(object, "wait_ms", in: 0...longestWait) ?? 0)
            let done = object["ack"] == nil ? [] : try tokens(object, "ack")
            return .pull(most: Int(most), wait: wait, done: done)
        case .ackDeliveries: return .ack(try tokens(object))
        case .releaseDeliveries:
            let delay = try number(object, "delay_ms", in: 0...longestDelay).map { UInt64($0) }
            return .release(
                try tokens(object), delay: delay, error: try text(object, "error"),
                isUntried: try flag(object, "untried"))
        case .extendDeliveries: return .extend(try tokens(object))
        case .moveSubscription: return .move
        case .seekSubscription:
            let start: SubscriptionDefinition.Start
            do throws(InvalidDefinition) { start = try SubscriptionDefinition.start(object) } catch {
                throw BadParameter(message: error.description)
            }
            return .seek(start, reason: try text(object, "reason"))
        case .parkDeliveries:
            return .park(try tokens(object), reason: try text(object, "reason") ?? "set aside by the worker")
        default:
            let texts = try strings(object, "events")
            let ids = texts.compactMap { EventID(text: $0) }
            guard ids.count == texts.count else { throw BadParameter(message: "events: ids of events") }
            return .retry(ids)
        }
    }

    private static func object(_ request: HTTPRequest) throws(BadParameter) -> JSONObject {
        do { return try JSONObject(validating: request.body) } catch {
            throw BadParameter(message: "the body is no JSON object: \(error.description)")
        }
    }

    private static func number(
        _ object: JSONObject, _ name: String, in range: ClosedRange<Int64>
    ) throws(BadParameter) -> Int64? {
        guard object[name] != nil else { return nil }
        guard let number = object.integer(name), range.contains(number) else {
            throw BadParameter(message: "\(name): a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    private static func flag(_ object: JSONObject, _ name: String) throws(BadParameter) -> Bool {
        guard let value = object[name] else { return false }
        guard let flag = value.bool else { throw BadParameter(message: "\(name): true or false") }
        return flag
    }

    private static func text(_ object: JSONObject, _ name: String) throws(BadParameter) -> String? {
        guard object[name] != nil else { return nil }
        guard let text = object.string(name), text.utf8.count <= longestText else {
            throw BadParameter(message: "\(name): a text of at most \(longestText) bytes")
        }
        return text
    }

    private static func strings(_ object: JSONObject, _ name: String) throws(BadParameter) -> [String] {
        guard let texts = object.strings(name), texts.count == object.elements(name)?.count,
            (1...most).contains(texts.count)
        else { throw BadParameter(message: "\(name): a list of 1 to \(most) texts") }
        return texts
    }

    private static func tokens(
        _ object: JSONObject, _ name: String = "deliveries"
    ) throws(BadParameter) -> [DeliveryToken] {
        let texts = try strings(object, name)
        var tokens: [DeliveryToken] = []
        for text in texts {
            guard let token = DeliveryToken(text: text) else {
                throw BadParameter(
                    message: "\(name): '\(text.prefix(80))' is none", hint: "the member 'delivery' of a delivery")
            }
            tokens.append(token)
        }
        return tokens
    }
}
