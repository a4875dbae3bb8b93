internal import EventStore

/// What a credential may do (docs/operating/access.md). Roles add up.
package enum Role: Hashable, Sendable {
    /// A person: appends as this user, reads the conversations that the user is in.
    case user(String)
    /// A bot: appends as this author, in the conversations that it is in.
    case bot(String)
    /// A program that speaks for all users, as a chat server does.
    case app
    /// Reads everything.
    case reader
    /// Reads everything, with a reason, and is recorded.
    case auditor
    /// Keeps the node running; sees no bodies.
    case `operator`
    /// Gives and takes credentials, peers; sees no bodies.
    case admin

    /// Ids are equal when their bytes are.
    package static func == (a: Role, b: Role) -> Bool { a.text.hasSameBytes(as: b.text) }

    /// Roles that no other node can grant, and no event.
    package var isOfNodeAlone: Bool { self == .admin || self == .operator }

    /// The roles without those of one person or bot, by their texts.
    private static let plain: [(text: String, role: Role)] = [
        ("app", .app), ("reader", .reader), ("auditor", .auditor), ("operator", .operator), ("admin", .admin),
    ]

    /// Reads `app`, `reader`, `auditor`, `operator`, `admin`, `user:<id>` or `bot:<id>`.
    package init?(text: String) {
        if let known = Self.plain.first(where: { $0.text == text }) {
            self = known.role
            return
        }
        guard let colon = text.firstIndex(of: ":") else { return nil }
        let id = String(text[text.index(after: colon)...])
        guard (1...Limits.identifier).contains(id.utf8.count), id.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f }) else {
            return nil
        }
        switch text[..<colon] {
        case "user": self = .user(id)
        case "bot": self = .bot(id)
        default: return nil
        }
    }

    /// The text that is read back as it.
    package var text: String {
        switch self {
        case .user(let id): "user:\(id)"
        case .bot(let id): "bot:\(id)"
        case .app: "app"
        case .reader: "reader"
        case .auditor: "auditor"
        case .operator: "operator"
        case .admin: "admin"
        }
    }

    /// Why the id in it is hardly what was meant; `nil` if nothing speaks against it. Tokens of before may have such ids.
    package var doubt: String? {
        guard case .user(let id) = self else {
            if case .bot(let id) = self { return Self.doubt(id) }
            return nil
        }
        return Self.doubt(id)
    }

    private static func doubt(_ id: String) -> String? {
        if id.first?.isWhitespace == true || id.last?.isWhitespace == true {
            return "the id begins or ends with a blank"
        }
        let others = id.split(separator: ",", omittingEmptySubsequences: false).dropFirst()
        let isList = others.contains { Role(text: String($0.drop(while: \.isWhitespace))) != nil }
        return isList ? "that is one role with a comma in its id: each role is given by itself" : nil
    }

    /// What a role's text looks like, for errors.
    package static let forms = "user:<id>, bot:<id>, app, reader, auditor, operator or admin"

    /// Reads all of them; `nil` where one is none.
    package static func roles(_ texts: [String]) -> Set<Role>? {
        let roles = texts.compactMap(Role.init(text:))
        return roles.count == texts.count ? Set(roles) : nil
    }
}

/// Roles without the persons and bots that they are of: what a route asks for. A bit each, for each request is compared with them.
package struct RoleKinds: OptionSet, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let user = RoleKinds(rawValue: 1 << 0)
    package static let bot = RoleKinds(rawValue: 1 << 1)
    package static let app = RoleKinds(rawValue: 1 << 2)
    package static let reader = RoleKinds(rawValue: 1 << 3)
    package static let auditor = RoleKinds(rawValue: 1 << 4)
    package static let `operator` = RoleKinds(rawValue: 1 << 5)
    package static let admin = RoleKinds(rawValue: 1 << 6)
    package static let all: RoleKinds = [.user, .bot, .app, .reader, .auditor, .operator, .admin]

    package init(_ role: Role) {
        self =
            switch role {
            case .user: .user
            case .bot: .bot
            case .app: .app
            case .reader: .reader
            case .auditor: .auditor
            case .operator: .operator
            case .admin: .admin
            }
    }

    /// Their names, in the order in which the documents have them.
    package var names: [String] {
        let named: [(RoleKinds, String)] = [
            (.user, "user"), (.bot, "bot"), (.app, "app"), (.reader, "reader"), (.auditor, "auditor"),
            (.operator, "operator"), (.admin, "admin"),
        ]
        return named.filter { contains($0.0) }.map(\.1)
    }
}
