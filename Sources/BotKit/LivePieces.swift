internal import EventStore

/// The pieces of a reply that those who follow the conversation see while it is written.
///
/// Pieces are gathered, a few a second, within what a node takes of one reply (docs/operating/following.md). A reply that was begun anew after
/// a failure is not told: its pieces would not follow the first ones. Where words are forbidden, so much is held back at the end as may
/// become one of them, and from such a word on nothing is told.
struct LivePieces: Sendable {
    /// Pauses between two pieces, in milliseconds.
    static let pause: UInt64 = 100
    private static let longestPiece = 8 << 10
    private static let longestReply = 60 << 10
    private static let longestTime: UInt64 = 55_000

    private let isWanted: Bool
    private let forbidden: [String]
    /// Scalars of the longest forbidden word but one: so many at the end may become one.
    private let held: Int
    private var conversation: String?
    private var message: EventID?
    private var untold: [Character] = []
    private var number: Int64 = 0
    private var bytes = 0
    private var firstTold: UInt64?
    private var lastTold: UInt64 = 0
    private var isOver = false

    init(_ settings: BotSettings) {
        isWanted = settings.tellsLive && settings.isStreamed
        forbidden = settings.guards.flatMap { rule -> [String] in
            if case .forbidden(let words) = rule.rule { return words }
            return []
        }
        held = max(0, (forbidden.map { FoldedText($0).scalars.count }.max() ?? 0) - 1)
    }

    mutating func begin(_ question: BotEvent) { (conversation, message) = (question.conversation, question.id) }

    /// Another request is made: what was told of this one is all that is told.
    mutating func restart() {
        untold = []
        if number > 0 { isOver = true }
    }

    mutating func take(_ text: String, _ now: UInt64) -> [ReplyMachine.Effect] {
        guard isWanted, !isOver, !text.isEmpty else { return [] }
        // A piece may end within a character that the next one completes.
        untold = Array(String(untold) + text)
        if !forbidden.isEmpty, FoldedText(String(untold)).containsAny(of: forbidden) {
            isOver = true
            untold = []
            return []
        }
        return due(now)
    }

    mutating func due(_ now: UInt64) -> [ReplyMachine.Effect] {
        now >= lastTold + Self.pause ? tell(holding: max(mayBecomeForbidden, 1), now) : []
    }

    /// How many characters at the end may become part of a forbidden word. Those that show nothing count for none of its letters.
    private var mayBecomeForbidden: Int {
        guard held > 0 else { return 0 }
        var (characters, left) = (0, held)
        for character in untold.reversed() {
            let count = FoldedText(String(character)).scalars.count
            // A word may also begin within a character that has several.
            guard count <= left else { return count > 1 ? characters + 1 : characters }
            (characters, left) = (characters + 1, left - count)
        }
        return characters
    }

    /// All that is left, at the end of the answer.
    mutating func rest(_ now: UInt64) -> [ReplyMachine.Effect] { tell(holding: 0, now) }

    private mutating func tell(holding count: Int, _ now: UInt64) -> [ReplyMachine.Effect] {
        guard isWanted, !isOver, let conversation, let message, untold.count > count else { return [] }
        guard now <= (firstTold ?? now) + Self.longestTime else {
            isOver = true
            return []
        }
        var effects: [ReplyMachine.Effect] = []
        while untold.count > count {
            var piece = ""
            var taken = 0
            for character in untold.dropLast(count) {
                guard piece.utf8.count + character.utf8.count <= Self.longestPiece else { break }
                piece.append(character)
                taken += 1
            }
            bytes += piece.utf8.count
            guard taken > 0, bytes <= Self.longestReply else {
                isOver = true
                break
            }
            untold.removeFirst(taken)
            effects.append(.tell(number: number, text: piece, conversation: conversation, message: message))
            number += 1
        }
        if firstTold == nil { firstTold = now }
        lastTold = now
        return effects
    }
}
