package import EventStore

/// What a subscription hands out, and how (docs/operating/following.md). It is made of events, and every node reads the same.
package struct SubscriptionDefinition: Hashable, Sendable {
    /// With which events it begins.
    package enum Start: Hashable, Sendable {
        /// What was not stored at its node when it was made there.
        case now
        case first
        /// What was recorded from then on, Unix milliseconds.
        case time(Int64)
        /// What the vector does not contain.
        case vector(VersionVector)
    }

    /// What comes one at a time.
    package enum Order: String, CaseIterable, Sendable {
        /// The events of a conversation; of a user where there is none.
        case conversation
        case none
    }

    /// Who delivers.
    package enum Home: String, CaseIterable, Sendable {
        /// One node, until another takes over.
        case single
        /// Each node what was appended there; what others have not done after a while, too.
        case local
    }

    /// What counted before a change.
    struct Replaced: Hashable, Sendable {
        let filter: EventFilter
        let late: Int64?
        /// It counts for these events still: all that was where the change was made.
        let through: VersionVector
    }

    package var start: Start
    package var filter = EventFilter()
    /// Passes over what happened so many milliseconds before it was recorded; `nil`: over nothing.
    package var late: Int64?
    /// How long a delivery may take, milliseconds.
    package var ackWait: UInt64 = 30_000
    /// After so many an event is parked.
    package var attempts = 5
    /// Pauses after a release, milliseconds; the last one is repeated.
    package var backoff: [UInt64] = [1_000, 5_000, 30_000, 120_000]
    package var order = Order.conversation
    package var home = Home.single
    /// The oldest first.
    var replaced: [Replaced] = []

    package init(start: Start) { self.start = start }

    /// Whether the event is handed out. Tokens and reads never are: who may know of them, workers need not.
    package func wants(_ header: EventHeader) -> Bool {
        if ReservedType.isOfAccess(header.type) { return false }
        if case .time(let time) = start, header.hlc.milliseconds < time { return false }
        var (filter, late) = (filter, late)
        for old in replaced.reversed() {
            guard old.through.contains(header.dot) else { break }
            (filter, late) = (old.filter, old.late)
        }
        guard filter.matches(header) else { return false }
        guard let late else { return true }
        return header.hlc.milliseconds - header.time < late
    }

    /// Whether it is wanted and not passed over by the place: then it is done by a worker, or set aside.
    func handsOut(_ header: EventHeader) -> Bool {
        if case .vector(let known) = start, known.contains(header.dot) { return false }
        return wants(header)
    }

    /// What stands before and after each other.
    package func key(of header: EventHeader) -> ByteText {
        switch order {
        case .conversation: Self.conversationKey(of: header)
        case .none: ByteText(header.dot.description)
        }
    }

    /// The conversation; the user where there is none. Kinds of keys must not meet: a user may have the name of a conversation.
    static func conversationKey(of header: EventHeader) -> ByteText {
        ByteText(header.conversation.map { "c" + $0 } ?? "u" + header.user)
    }

    /// The pause after a worker has gone in its attempt `number`, milliseconds: none the first time. Workers that die of an event at once
    /// would use up its attempts in a moment.
    func pause(afterEnd number: Int) -> UInt64 { number > 1 ? pause(after: number - 1) : 0 }

    /// The pause before attempt `number` + 1, milliseconds.
    func pause(after number: Int) -> UInt64 {
        backoff.isEmpty ? 0 : backoff[min(max(number - 1, 0), backoff.count - 1)]
    }
}

/// Why something is no definition, in one sentence that begins with the member.
package struct InvalidDefinition: Error, Hashable, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}

extension SubscriptionDefinition {
    private static let mostValues = 1_000
    private static let longestPause: Int64 = 86_400_000
    static let members: Set<String> = [
        "start", "filter", "late_ms", "ack_wait_ms", "attempts", "backoff_ms", "order", "home",
    ]
    /// What stays as it was made.
    private static let fixed: Set<String> = ["start", "home"]

    /// Reads the members of a request, or of the event that made it.
    ///
    /// - Parameter others: Members that may be there besides.
    package init(_ object: JSONObject, besides others: Set<String> = []) throws(InvalidDefinition) {
        var seen: Set<String> = []
        for member in object {
            let name = member.name
            guard Self.members.contains(name) || others.contains(name) else {
                throw InvalidDefinition("\(name): no such member; \(Self.members.sorted().joined(separator: ", "))")
            }
            guard seen.insert(name).inserted else { throw InvalidDefinition("\(name): given twice") }
        }
        self.init(start: try Self.start(object))
        if let value = object["home"] {
            guard let home = value.string.flatMap(Home.init(rawValue:)) else {
                throw InvalidDefinition("home: single or local")
            }
            self.home = home
        }
        try read(object)
    }

    /// With other members, as a request gives them; what it does not name stays.
    package func changed(by object: JSONObject) throws(InvalidDefinition) -> Self {
        var changed = self
        var seen: Set<String> = []
        for member in object {
            let name = member.name
            guard !Self.fixed.contains(name) else {
                let hint = name == "start" ? "; POST …/seek sets another place" : ""
                throw InvalidDefinition("\(name): stays as it was made\(hint)")
            }
            guard Self.members.contains(name) else {
                let changeable = Self.members.subtracting(Self.fixed).sorted()
                throw InvalidDefinition("\(name): no such member; \(changeable.joined(separator: ", "))")
            }
            guard seen.insert(name).inserted else { throw InvalidDefinition("\(name): given twice") }
        }
        try changed.read(object)
        return changed
    }

    /// The member `start` of a request or an event.
    package static func start(_ object: JSONObject) throws(InvalidDefinition) -> Start {
        guard let start = object["start"]?.string.flatMap(Start.init(text:)) else {
            throw InvalidDefinition("start: now, first, a time (RFC 3339), or <origin>/<seq> of each origin")
        }
        return start
    }

    private mutating func read(_ object: JSONObject) throws(InvalidDefinition) {
        if let value = object["filter"] { filter = value.isNull ? EventFilter() : try Self.filter(value) }
        if let value = object["late_ms"] {
            late = value.isNull ? nil : try Self.number(object, "late_ms", in: 0...Int64.max / 2)
        }
        if object["ack_wait_ms"] != nil {
            ackWait = UInt64(try Self.number(object, "ack_wait_ms", in: 1_000...3_600_000))
        }
        if object["attempts"] != nil { attempts = Int(try Self.number(object, "attempts", in: 1...100)) }
        if let value = object["backoff_ms"] {
            let pauses = value.elements?.compactMap(\.integer) ?? []
            guard let elements = value.elements, pauses.count == elements.count, (1...16).contains(pauses.count),
                pauses.allSatisfy({ (0...Self.longestPause).contains($0) })
            else {
                throw InvalidDefinition("backoff_ms: 1 to 16 numbers from 0 to \(Self.longestPause)")
            }
            backoff = pauses.map { UInt64($0) }
        }
        if let value = object["order"] {
            guard let order = value.string.flatMap(Order.init(rawValue:)) else {
                throw InvalidDefinition("order: conversation or none")
            }
            self.order = order
        }
    }

    private static func number(
        _ object: JSONObject, _ name: String, in range: ClosedRange<Int64>
    ) throws(InvalidDefinition) -> Int64 {
        guard let number = object.integer(name), range.contains(number) else {
            throw InvalidDefinition("\(name): a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    private static func filter(_ value: JSONValue) throws(InvalidDefinition) -> EventFilter {
        guard let object = value.object else { throw InvalidDefinition("filter: an object") }
        var filter = EventFilter()
        var seen: Set<String> = []
        for member in object {
            guard seen.insert(member.name).inserted else {
                throw InvalidDefinition("filter.\(member.name): given twice")
            }
            guard let strings = object.strings(member.name), strings.count == object.elements(member.name)?.count,
                (1...mostValues).contains(strings.count)
            else {
                throw InvalidDefinition("filter.\(member.name): a list of 1 to \(mostValues) texts")
            }
            switch member.name {
            case "type": filter.types = strings
            case "user": filter.users = TextSet(strings)
            case "author": filter.authors = TextSet(strings)
            case "conversation": filter.conversations = TextSet(strings)
            default: throw InvalidDefinition("filter.\(member.name): type, user, author, conversation")
            }
        }
        return filter
    }

    /// Its members, as the text of a JSON object without braces; those that say nothing new are left out.
    package var text: String {
        var parts = [#""start":\#(quoted(start.text))"#]
        let lists = [
            ("type", filter.types), ("user", filter.users.sorted()), ("author", filter.authors.sorted()),
            ("conversation", filter.conversations.sorted()),
        ]
        let given = lists.filter { !$0.1.isEmpty }.map { name, values in
            #""\#(name)":[\#(values.map(quoted).joined(separator: ","))]"#
        }
        if !given.isEmpty { parts.append(#""filter":{\#(given.joined(separator: ","))}"#) }
        if let late { parts.append(#""late_ms":\#(late)"#) }
        parts.append(#""ack_wait_ms":\#(ackWait),"attempts":\#(attempts)"#)
        parts.append(#""backoff_ms":[\#(backoff.map(String.init).joined(separator: ","))]"#)
        parts.append(#""order":"\#(order.rawValue)""#)
        if home != .single { parts.append(#""home":"\#(home.rawValue)""#) }
        return parts.joined(separator: ",")
    }
}

extension SubscriptionDefinition.Start {
    init?(text: String) {
        switch text {
        case "now": self = .now
        case "first": self = .first
        default:
            if let time = Timestamp.milliseconds(text) {
                self = .time(time)
            } else if text.contains("/"), let vector = VersionVector(text: text) {
                self = .vector(vector)
            } else {
                return nil
            }
        }
    }

    var text: String {
        switch self {
        case .now: "now"
        case .first: "first"
        case .time(let time): Timestamp.text(time)
        case .vector(let vector): vector.text
        }
    }
}

/// A JSON string.
func quoted(_ text: String) -> String {
    var bytes: [UInt8] = []
    JSONText.append(text, to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
}
