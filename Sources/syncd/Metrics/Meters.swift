internal import EventStore
internal import SillokAPI
internal import SyncEngine

/// Counts what the API answers, since the daemon's start.
///
/// ## Concurrency model
/// One lock. The loop's thread notes each answer; the probes' thread reads.
final class Meters: Sendable {
    /// One kind of answer.
    struct Answer: Hashable {
        let route: String
        let method: String
        let status: Int
    }

    struct Figures {
        var answers: [Answer: UInt64] = [:]
        /// By route.
        var times: [String: DurationHistogram] = [:]
        /// Of requests whose events are all stored.
        var appends = DurationHistogram()
        /// Bytes of those requests.
        var appendedBytes: UInt64 = 0
        /// Of requests with events that are not: by the first code of the answer.
        var failures: [String: UInt64] = [:]
    }

    /// Most routes with a name of their own: callers make up paths.
    private static let mostRoutes = 64
    /// Most codes likewise.
    private static let mostCodes = 64

    private let state = Lock(Figures())

    var figures: Figures { state.withLock { $0 } }

    func note(_ request: HTTPRequest, _ answered: HTTPAnswered) {
        let isAppend = request.method == "POST" && request.path == Route.events.path
        let found = isAppend ? Route.events.path : RouteName.of(request)
        let isStored = answered.status == 200 || answered.status == 201
        let code = isAppend && !isStored ? Self.code(in: answered.body) : nil
        state.withLock { figures in
            let isKnown = figures.times[found] != nil || figures.times.count < Self.mostRoutes
            let route = isKnown ? found : RouteName.other
            figures.answers[Answer(route: route, method: request.method, status: answered.status), default: 0] += 1
            figures.times[route, default: DurationHistogram()].note(answered.nanoseconds)
            guard isAppend else { return }
            if isStored {
                figures.appendedBytes += UInt64(request.body.count)
                return figures.appends.note(answered.nanoseconds)
            }
            let name = code ?? "HTTP_\(answered.status)"
            let isNamed = figures.failures[name] != nil || figures.failures.count < Self.mostCodes
            figures.failures[isNamed ? name : "other", default: 0] += 1
        }
    }

    /// The first code of an answer: of an error, or of the first event that was not taken.
    private static func code(in body: [UInt8]) -> String? {
        let mark = Array(#""code":""#.utf8)
        let start = body.prefix(16_384)
        guard start.count > mark.count else { return nil }
        for index in 0..<(start.count - mark.count) where start[index] == mark[0] {
            guard start[index...].starts(with: mark) else { continue }
            let code = start[(index + mark.count)...].prefix { $0 != UInt8(ascii: "\"") }
            let isPlain = code.allSatisfy { $0.isCapitalOrLine }
            return isPlain && (1...40).contains(code.count) ? String(decoding: code, as: UTF8.self) : nil
        }
        return nil
    }
}

extension UInt8 {
    fileprivate var isCapitalOrLine: Bool {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) || self == UInt8(ascii: "_")
            || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self)
    }
}

/// A path without what names one of many, as a label: `/v1/conversations/{}/rows`.
enum RouteName {
    static let other = "other"

    /// What a caller has made up is ``other``.
    static func of(_ request: HTTPRequest) -> String {
        if ["/livez", "/readyz", "/metrics"].contains(request.path) { return request.path }
        guard case .found(let route, _) = RouteTable.match(request.method, request.segments) else { return other }
        return route.label
    }
}
