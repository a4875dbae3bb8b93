/// Which events a follower wants. Each condition that is given has to hold; of several values of one, any.
package struct EventFilter: Hashable, Sendable {
    /// Types, or their beginnings: `message.*`. Types that only nodes write are wanted only where one of these names them, or is `*`.
    package var types: [String] = []
    package var users: TextSet = []
    package var authors: TextSet = []
    package var conversations: TextSet = []
    package var origins: Set<OriginID> = []

    package init() {}

    /// Whether it says nothing: all are wanted but what nodes write for themselves.
    package var isEmpty: Bool { self == EventFilter() }

    /// Whether the event is wanted. Of an opaque one nothing is known but its origin.
    package func matches(_ header: EventHeader) -> Bool {
        if !origins.isEmpty, !origins.contains(header.dot.origin) { return false }
        if header.isOpaque {
            return (types.isEmpty || types.contains("*")) && users.isEmpty && authors.isEmpty && conversations.isEmpty
        }
        let isOfType =
            types.isEmpty ? !ReservedType.contains(header.type) : types.contains { Self.names($0, header.type) }
        guard isOfType else { return false }
        if !users.isEmpty, !users.contains(header.user) { return false }
        if !authors.isEmpty, !authors.contains(header.author) { return false }
        guard !conversations.isEmpty else { return true }
        return header.conversation.map(conversations.contains) ?? false
    }

    /// Whether `pattern` is the type, or its beginning with `.*` behind it.
    private static func names(_ pattern: String, _ type: String) -> Bool {
        if pattern == "*" { return true }
        guard pattern.hasSuffix(".*") else { return pattern.hasSameBytes(as: type) }
        return type.utf8.starts(with: pattern.utf8.dropLast())
    }
}
