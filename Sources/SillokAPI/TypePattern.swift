/// What the feed and subscriptions take in place of a type: `message.*` is all that begin so, `*` all there are.
/// Lists take types by their names alone.
package enum TypePattern {
    /// The first of `types` that is a pattern.
    package static func first(in types: [String]) -> String? { types.first(where: isPattern) }

    /// The first of `types` that looks like a pattern and is none: it would match nothing, without a word.
    package static func misspelt(in types: [String]) -> String? { types.first { $0.contains("*") && !isPattern($0) } }

    /// What to say of one that is misspelt.
    package static let hint =
        "message.* for all that begin with 'message.', * for all there are, or a type by its whole name"

    private static func isPattern(_ type: String) -> Bool {
        type == "*" || type.hasSuffix(".*") && type.count > 2 && !type.dropLast(2).contains("*")
    }
}
