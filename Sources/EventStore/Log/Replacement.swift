/// An event of another node that came later than what was here, and is recorded earlier by its own stamp: it changes what views show of the past.
package struct Replacement: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// It counts instead of one with the same id, author, type and conversation, and with another payload.
        case content
        /// It may say how a conversation began that had events here.
        case opening
    }

    /// Most of them that a commit tells.
    package static let most = 100

    package let kind: Kind
    package let id: EventID
    package let dot: Dot
    package let position: UInt64
}
