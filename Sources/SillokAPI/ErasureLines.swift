package import CommandLineKit
package import EventStore

/// What programs are told of erasures, by `syncctl erase` and by `/v1/erasures` alike.
package enum ErasureLines {
    /// The types of its lines.
    package static let type = "erasure"
    package static let partType = "erasure_part"

    /// How far an erasure is.
    ///
    /// - Parameter hasViews: Whether the views of this node stand without it.
    package static func line(_ report: ErasureReport, hasViews: Bool) -> JSONLine {
        let header = report.stored.event.header
        var line = JSONLine(type: type)
        line.add("event", header.id.description)
        line.add("position", report.stored.position)
        line.add("at", Timestamp.text(header.hlc.milliseconds))
        line.add("node", report.stored.node.description)
        if let erasure = report.stored.erasure { add(erasure, to: &line) }
        switch report.standing {
        case .unconfirmed: line.add("state", "unconfirmed")
        case .underWay(let position, let last):
            line.add("state", "under_way")
            line.add("done", position)
            line.add("of", last)
        case .applied: line.add("state", hasViews ? "applied" : "views")
        }
        line.addArray("confirmed") { array in
            for (node, hlc) in report.confirmed {
                array.addObject { line in
                    line.add("node", node.description)
                    line.add("at", Timestamp.text(hlc.milliseconds))
                }
            }
        }
        line.add("waiting", report.waiting.map(\.description))
        return line
    }

    private static func add(_ erasure: Erasure, to line: inout JSONLine) {
        switch erasure.subject {
        case .user(let name): line.add("user", name)
        case .conversation(let name): line.add("conversation", name)
        case nil: break
        }
        line.add("authored", erasure.isWithAuthored)
        line.add("replies", erasure.isWithReplies)
        line.add("shared", erasure.isWithShared)
        line.add("events", erasure.events.count)
        line.add("reason", erasure.reason)
        line.add("who", erasure.who)
    }

    /// By what another keeps an erased user as a contact.
    package static let contactType = "erasure_contact"

    package static func line(contact entry: StoredEvent) -> JSONLine {
        var line = JSONLine(type: contactType)
        line.add("event", entry.event.header.id.description)
        line.add("user", entry.event.header.user)
        line.add("position", entry.position)
        return line
    }

    /// What would go, a line for each part and type, ascending.
    package static func lines(_ plan: ErasurePlan) -> [JSONLine] {
        var lines: [JSONLine] = []
        for part in ErasurePlan.Part.allCases {
            for (type, count) in (plan.counts[part] ?? [:]).sorted(by: { $0.key < $1.key }) {
                var line = JSONLine(type: partType)
                line.add("part", part.rawValue)
                line.add("event_type", type)
                line.add("count", count)
                lines.append(line)
            }
        }
        return lines
    }
}

/// What an operator has decided about an erasure: a request to `/v1/erasures`, and the file of `syncctl erase --plan`.
package struct ErasureOrder: Sendable {
    package let target: ErasurePlan.Target
    /// Whether what the user has written in the histories of others goes; `nil`: not decided.
    package var authored: Bool?
    /// Whether replies of others go; `nil`: not decided.
    package var replies: Bool?
    /// Whether what the user has set for others goes; `nil`: not decided.
    package var shared: Bool?
    package var reason: String
    package var who: String
    /// What the operator has seen of a plan (``ErasurePlan/Seen``), as text.
    package var plan: String?
    /// Whether what has come since that plan goes, too.
    package var reach = ErasurePlan.Reach.plan

    /// Longest reason and longest name, bytes of UTF-8.
    package static let longest = 1_024
    /// Most ids.
    package static let mostEvents = 10_000

    package init(target: ErasurePlan.Target, authored: Bool?, replies: Bool?, reason: String, who: String) {
        (self.target, self.authored, self.replies) = (target, authored, replies)
        (self.reason, self.who) = (reason, who)
    }

    /// Reads the object, or says what is wrong with it. What cannot be taken back is not guessed at: a member of another name or form is
    /// refused.
    package init(_ object: JSONObject) throws(OrderProblem) {
        for member in object {
            switch member.name {
            case "user", "conversation", "events": break
            case "authored", "replies", "shared", "dry_run":
                guard member.value.bool != nil else { throw OrderProblem("\(member.name): true or false") }
            case "reason", "who", "plan", "up_to":
                guard member.value.text != nil else { throw OrderProblem("\(member.name): a text") }
            default: throw OrderProblem("'\(member.name)' is no member of an erasure")
            }
        }
        let named = ["user", "conversation", "events"].filter { object[$0] != nil }
        guard named.count == 1 else { throw OrderProblem("one of user, conversation and events") }
        if let user = object["user"]?.text, !user.isEmpty {
            target = .user(user)
        } else if let conversation = object["conversation"]?.text, !conversation.isEmpty {
            target = .conversation(conversation)
        } else if let texts = object.strings("events") {
            let ids = texts.compactMap { EventID(text: $0) }
            guard !ids.isEmpty, ids.count == object.elements("events")?.count, ids.count <= Self.mostEvents else {
                throw OrderProblem("events: ids of events, at most \(Self.mostEvents)")
            }
            target = .events(ids)
        } else {
            throw OrderProblem("\(named[0]): a text that is not empty, or a list of ids")
        }
        (authored, replies) = (object.bool("authored"), object.bool("replies"))
        shared = object.bool("shared")
        (reason, who) = (object["reason"]?.text ?? "", object["who"]?.text ?? "")
        plan = object["plan"]?.text
        reach = try Self.reach(object)
        try check()
    }

    /// How far the request reaches: member `up_to`.
    package static func reach(_ object: JSONObject) throws(OrderProblem) -> ErasurePlan.Reach {
        guard let text = object["up_to"] else { return .plan }
        guard let reach = text.text.flatMap({ ErasurePlan.Reach(rawValue: $0) }) else {
            throw OrderProblem("up_to: \(ErasurePlan.Reach.allCases.map(\.rawValue).joined(separator: " or "))")
        }
        return reach
    }

    /// Why and who are part of the record.
    package func check() throws(OrderProblem) {
        for (name, text) in [("reason", reason), ("who", who)] {
            guard !text.isEmpty, text.utf8.count <= Self.longest else {
                throw OrderProblem("\(name): it is part of the record, 1 to \(Self.longest) bytes")
            }
        }
    }

    /// The parts that are there and that no one has decided about.
    package func undecided(_ plan: ErasurePlan) -> [ErasurePlan.Part] {
        var parts: [ErasurePlan.Part] = []
        if authored == nil, plan.count(.authored, reach) > 0 { parts.append(.authored) }
        if replies == nil, plan.count(.replies, reach) > 0 { parts.append(.replies) }
        if shared == nil, plan.count(.shared, reach) > 0 { parts.append(.shared) }
        return parts
    }

    /// Whether `again`, the plan looked at once more, lists what was seen. Without a plan nothing was.
    package func holds(_ again: ErasurePlan) -> Bool {
        guard let plan else { return true }
        return !again.isBehind && again.seen.text == plan
    }

    /// The erasures that it comes to; `nil` where the plan cannot be done alone any more. Without a plan it goes up to now.
    package func erasures(_ plan: ErasurePlan) -> [Erasure]? {
        plan.erasures(
            authored: authored ?? false, withReplies: replies ?? false, withShared: shared ?? false, reason: reason,
            who: who,
            reach: self.plan == nil ? .now : reach)
    }

    /// How many events have come since the plan that are of what was decided to go.
    package func later(_ plan: ErasurePlan) -> UInt64 {
        plan.later[.own, default: 0] + (authored == true ? plan.later[.authored, default: 0] : 0)
            + (replies == true ? plan.later[.replies, default: 0] : 0)
            + (shared == true ? plan.later[.shared, default: 0] : 0)
    }

    /// The name of these in lines: they are left, or more than planned.
    package var laterName: String { reach == .now ? "more" : "left" }

    /// As ``init(_:)`` reads it.
    package var line: JSONLine {
        var line = JSONLine()
        switch target {
        case .user(let name): line.add("user", name)
        case .conversation(let name): line.add("conversation", name)
        case .events(let ids): line.add("events", ids.map(\.description))
        }
        if let authored { line.add("authored", authored) }
        if let replies { line.add("replies", replies) }
        if let shared { line.add("shared", shared) }
        line.add("reason", reason)
        line.add("who", who)
        if let plan { line.add("plan", plan) }
        if reach != .plan { line.add("up_to", reach.rawValue) }
        return line
    }
}

/// What is wrong with an order.
package struct OrderProblem: Error, Hashable, Sendable {
    package let text: String
    init(_ text: String) { self.text = text }
}
