/// A line for the log of who runs the node.
package struct NodeRemark: Hashable, Sendable, ExpressibleByStringInterpolation, CustomStringConvertible {
    /// What it is about, for programs: a word of capitals that stays.
    package let code: String
    package let text: String
    /// The peer it is about, as people know it.
    package let peer: String?
    /// How long what is over has taken, milliseconds.
    package let duration: UInt64?

    package init(_ code: String, _ text: String, peer: String? = nil, duration: UInt64? = nil) {
        (self.code, self.text, self.peer, self.duration) = (code, text, peer, duration)
    }

    package init(stringLiteral text: String) { self.init("NODE", text) }

    package var description: String { text }
}
