internal import CommandLineKit
internal import EventStore
internal import SillokAPI
internal import SyncEngine

/// What matters only now: a piece of a reply that is being written, that someone types, how far some work is. It is given to those who
/// follow the conversation with `live=1`, stored nowhere and told to no other node.
struct LiveItem: Sendable {
    enum Kind: String, CaseIterable, Sendable {
        case delta, typing, progress
    }

    private static let longestText = 16 << 10

    let conversation: String
    let kind: Kind
    let author: String?
    /// The event that is being answered.
    let inReplyTo: EventID?
    /// Pieces of a reply are numbered: who sees a gap drops what it has.
    let number: Int64?
    let text: String?

    init(_ object: JSONObject, conversation: String) throws(BadParameter) {
        try object.requireOnly(["kind", "author", "in_reply_to", "n", "text"])
        guard let kind = object.string("kind").flatMap(Kind.init(rawValue:)) else {
            throw BadParameter(message: "kind: one of \(Kind.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        self.conversation = conversation
        self.kind = kind
        author = try Self.text(object, "author", longest: Limits.identifier)
        text = try Self.text(object, "text", longest: Self.longestText)
        if object["in_reply_to"] != nil {
            guard let id = object.string("in_reply_to").flatMap({ EventID(text: $0) }) else {
                throw BadParameter(message: "in_reply_to: no id of an event")
            }
            inReplyTo = id
        } else {
            inReplyTo = nil
        }
        number = object.integer("n")
        if object["n"] != nil, number.map({ $0 < 0 }) ?? true { throw BadParameter(message: "n: a number from 0") }
        guard kind != .delta || inReplyTo != nil && number != nil && text != nil else {
            throw BadParameter(message: "a delta has in_reply_to, n and text")
        }
    }

    private static func text(
        _ object: JSONObject, _ name: String, longest: Int
    ) throws(BadParameter) -> String? {
        guard object[name] != nil else { return nil }
        guard let text = object.string(name), text.utf8.count <= longest else {
            throw BadParameter(message: "\(name): a text of at most \(longest) bytes")
        }
        return text
    }

    /// `{"control":"live",…}`, without a newline.
    var object: [UInt8] {
        var line = JSONLine()
        line.add("control", "live")
        line.add("conversation", conversation)
        line.add("kind", kind.rawValue)
        if let author { line.add("author", author) }
        if let inReplyTo { line.add("in_reply_to", inReplyTo.description) }
        if let number { line.add("n", number) }
        if let text { line.add("text", text) }
        return line.utf8
    }
}

/// How much may be told live: so many items a second of a connection, so many bytes and so long for one reply (INV-9).
struct LiveBudget {
    private static let perSecond = 50
    private static let reply = (bytes: 64 << 10, milliseconds: UInt64(60_000))
    /// Most connections, and most replies, that are kept in mind.
    private static let most = 4_096

    private struct Reply {
        let began: UInt64
        var bytes: Int
    }

    private var seconds: [UInt64: (second: UInt64, count: Int)] = [:]
    private var replies: [ByteText: [EventID: Reply]] = [:]

    /// Why an item of this connection cannot be told at `now`, monotonic milliseconds; `nil`: it can, and counts. What a later try
    /// changes nothing of is no matter of the rate.
    mutating func refuses(
        _ item: LiveItem, of client: UInt64, now: UInt64
    ) -> (code: ErrorCode, reason: String)? {
        if seconds.count >= Self.most { seconds = seconds.filter { $0.value.second == now / 1_000 } }
        guard seconds.count < Self.most else { return (.rate, "too much is told live") }
        let count = seconds[client].map { $0.second == now / 1_000 ? $0.count : 0 } ?? 0
        guard count < Self.perSecond else { return (.rate, "more than \(Self.perSecond) items in a second") }
        seconds[client] = (now / 1_000, count + 1)
        guard let id = item.inReplyTo else { return nil }
        let author = ByteText(item.author ?? "")
        if replies[author]?[id] == nil { makeRoom(now) }
        var reply = replies[author]?[id] ?? Reply(began: now, bytes: 0)
        reply.bytes += item.text?.utf8.count ?? 0
        guard reply.bytes <= Self.reply.bytes, now - reply.began <= Self.reply.milliseconds else {
            return (
                .limit,
                "a reply is told live for \(Self.reply.milliseconds / 1_000) s and \(Self.reply.bytes) bytes at most"
            )
        }
        replies[author, default: [:]][id] = reply
        return nil
    }

    /// Where there are too many replies, forgets those whose time is over; else the author with the most forgets the older half of
    /// theirs, so that one who begins thousands takes no room from others.
    private mutating func makeRoom(_ now: UInt64) {
        func isFull() -> Bool { replies.values.reduce(0) { $0 + $1.count } >= Self.most }
        guard isFull() else { return }
        replies = replies.compactMapValues { all in
            let left = all.filter { now - $0.value.began < Self.reply.milliseconds }
            return left.isEmpty ? nil : left
        }
        guard isFull(), let (author, all) = replies.max(by: { $0.value.count < $1.value.count }) else { return }
        let median = all.values.map(\.began).sorted()[all.count / 2]
        replies[author] = all.filter { $0.value.began > median }
    }
}
