package import EventStore

/// Who asks, as the node has found out, and what they may do.
package struct Caller: Sendable {
    /// Stands in what they append.
    package let actor: EventActor
    package let roles: Set<Role>
    /// Whether users and bots among the roles may speak and read in all conversations, and not only in their own.
    package let isInAll: Bool
    /// The token's, whose end ends their streams; `nil` where they have shown none.
    package let credential: CredentialID?
    /// When what they have shown ends, milliseconds since 1970, as far as it says so itself.
    package let until: Int64?
    /// Which state of the rules has let it in, where they may change while it is connected.
    package let generation: UInt64
    /// Of a browser: the session that it has shown, whose end ends its streams, too.
    package var session: String?
    private let kinds: RoleKinds

    package init(
        _ actor: EventActor, _ roles: Set<Role>, isInAll: Bool = false, credential: CredentialID? = nil,
        until: Int64? = nil, generation: UInt64 = 0
    ) {
        (self.actor, self.roles, self.isInAll) = (actor, roles, isInAll)
        (self.credential, self.until, self.generation) = (credential, until, generation)
        kinds = RoleKinds(roles.map(RoleKinds.init))
    }

    /// Whether it is one person or bot, in their own conversations, and nothing else.
    package var isNarrow: Bool { !isInAll && !kinds.isEmpty && kinds.isSubset(of: [.user, .bot]) }

    /// Whether one of its roles is of these kinds.
    package func isAny(of wanted: RoleKinds) -> Bool { !kinds.isDisjoint(with: wanted) }

    /// Whether it reads every conversation; what an auditor reads so is recorded.
    package var readsAll: Bool { readsKept || isInAll && isAny(of: [.user, .bot]) }

    /// Whether it reads, too, what is not of conversations: what users keep for themselves, and who has which subscription.
    package var readsKept: Bool { isAny(of: [.app, .reader, .auditor]) }

    /// Whether what it reads has to be recorded first: it sees bodies as an auditor alone.
    package var isRecorded: Bool { isAny(of: .auditor) && !isAny(of: [.app, .reader]) }

    /// The ids under which it takes part in conversations, of users and bots.
    package var selves: [String] {
        roles.compactMap { role in
            switch role {
            case .user(let id), .bot(let id): id
            default: nil
            }
        }.sorted()
    }

    /// Whether it is that user or bot, by the bytes of the id.
    package func isSelf(_ id: String) -> Bool { isUser(id) || isBot(id) }

    /// Whether it is that user.
    package func isUser(_ id: String) -> Bool {
        roles.contains { if case .user(let own) = $0 { own.hasSameBytes(as: id) } else { false } }
    }

    /// Whether it is that bot.
    package func isBot(_ id: String) -> Bool {
        roles.contains { if case .bot(let own) = $0 { own.hasSameBytes(as: id) } else { false } }
    }
}
