/// What the feed and subscriptions take in place of a type: `message.*` is all that begin so, `*` all there are.
/// Lists take types by their names alone.
package enum TypePattern {
    /// The first of `types` that is a pattern.
    package static func first(in types: [String]) -> String? { types.first { $0 == "*" || $0.hasSuffix(".*") } }
}
