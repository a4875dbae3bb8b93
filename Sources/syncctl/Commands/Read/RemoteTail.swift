internal import CommandLineKit
internal import EventStore
internal import SillokAPI

/// `tail` of a node that was named: follows its feed (docs/operating/following.md). The cursor says where it stands, so that nothing is lost
/// when the node is started anew, and that it can go on at another node.
struct RemoteTail {
    private let session: Session
    private let client: DaemonClient
    private let filter: EventSelection
    private var lister: EventLister
    private let cursorFile: String?
    private var count = 0
    /// Where the next page begins.
    private var after = "now"

    private static let page = 500
    private static let mostLast = 1_000
    /// Waits of the node, milliseconds.
    private static let patience = 25_000
    /// Between two attempts, milliseconds.
    private static let pause = 1_000
    /// A device's clock may be ahead of the node's: what came so long before `--since` is looked at, too.
    private static let slack: Int64 = 3_600_000

    init(_ session: Session, _ client: DaemonClient) throws(CommandFailure) {
        (self.session, self.client) = (session, client)
        filter = try EventSelection(session)
        lister = EventLister(session)
        cursorFile = session.arguments.value("cursor-file")
    }

    mutating func run() throws(CommandFailure) -> ExitCode {
        let wanted = try usage { try session.arguments.integer("last", in: 0...10_000_000) }
        let known = try cursorFile.map { name throws(CommandFailure) in try Self.load(name) } ?? nil
        filter.range.tell(session)
        try lister.begin()
        let isGoingOn = known != nil || session.arguments.flag("from-start")
        try begin(at: known, wanted)
        try take(atMost: isGoingOn ? wanted ?? .max : .max, waiting: false)
        while session.arguments.flag("follow") { try take(atMost: .max, waiting: true) }
        let position = FeedCursor(text: after)?.place.position ?? 0
        try session.end(count: count, filter.range) { line in line.add("position", position) }
        if count == 0, cursorFile == nil { session.say(.noEventsMatched) }
        return count > 0 || cursorFile != nil ? .success : .nothingFound
    }

    private mutating func begin(at known: String?, _ wanted: Int?) throws(CommandFailure) {
        if let known {
            after = known
        } else if session.arguments.flag("from-start") {
            after = "first"
        } else if wanted == nil, let since = filter.range.since {
            after = Timestamp.text(since - Self.slack)
        } else if cursorFile == nil || wanted != nil {
            let last = wanted ?? 10
            guard last <= Self.mostLast else {
                throw usageFailure(
                    "--last \(last): a node tells its last \(Self.mostLast) events at most",
                    hint: "--since TIME, or --cursor-file FILE --from-start")
            }
            after = "last:\(last)"
        }
    }

    /// Prints what there is, page by page. Where it is waited for, until some has come or the time is up.
    private mutating func take(atMost limit: Int, waiting: Bool) throws(CommandFailure) {
        var hasMore = true
        while hasMore, count < limit {
            guard let page = try next(min(Self.page, limit - count), waiting: waiting) else { continue }
            guard let cursor = page.string("cursor"), let items = page.elements("items") else {
                throw DaemonClient.misunderstood("no page of events")
            }
            try print(items.compactMap(\.object))
            after = cursor
            if let cursorFile {
                try stored { try SmallFile.replace(cursorFile, with: Array("\(cursor)\n".utf8), mode: 0o600) }
            }
            hasMore = page.bool("more") ?? false
        }
    }

    /// The next page. A follower goes on when the node is there again; `nil`: it was not.
    private func next(_ limit: Int, waiting: Bool) throws(CommandFailure) -> JSONObject? {
        var query = [("after", after), ("limit", String(limit)), ("wait_ms", String(waiting ? Self.patience : 0))]
        query += (filter.types.isEmpty ? ["*"] : filter.types).map { ("type", $0) }
        query += filter.users.map { ("user", $0) } + filter.authors.map { ("author", $0) }
        query += filter.conversations.map { ("conversation", $0) }
        do throws(CommandFailure) {
            return try client.page(Route.changes.path(with: query.map { (name: $0.0, value: $0.1) }), timeout: 60_000)
        } catch {
            let isOver = error.exitCode == .unreachable || error.exitCode == .tryAgain
            guard waiting, isOver || error.code == "E_CURSOR_AHEAD" else { throw error }
            session.say(.tailAgain, error.what)
            sleep(milliseconds: Self.pause)
            return nil
        }
    }

    private mutating func print(_ objects: [JSONObject]) throws(CommandFailure) {
        var found: [StoredEvent] = []
        for object in objects {
            guard let stored = StoredEvent(native: object) else { throw DaemonClient.misunderstood("no event") }
            guard filter.matches(stored.event.header) else { continue }
            count += 1
            if session.isJSON { try session.output.line(Self.line(object)) } else { found.append(stored) }
        }
        try lister.print(found)
        try session.output.flush()
    }

    /// As `tail` of files prints it: without the leaf, and the cursor, which is kept for the reader.
    private static func line(_ object: JSONObject) -> JSONLine {
        var event = JSONLine()
        for member in object where member.name != "leaf" && member.name != "cursor" {
            event.addRaw(member.name, member.value.raw)
        }
        var line = JSONLine(type: "event")
        line.addRaw("event", event.utf8[...])
        return line
    }

    private static func load(_ path: String) throws(CommandFailure) -> String? {
        guard let bytes = try stored({ try SmallFile.read(path) }) else { return nil }
        let text = String(decoding: bytes.prefix(4_096), as: UTF8.self).filter { !$0.isWhitespace }
        guard FeedCursor(text: text) != nil else {
            throw CommandFailure(
                code: "E_CURSOR", "\(path) is no cursor of a node",
                why: "A place that tail has kept while it read the files of a store is of use there alone.",
                hint: "another file, or remove this one", exitCode: .badInput)
        }
        return text
    }
}
