internal import CommandLineKit
internal import EventStore

extension Session {
    /// The types that views read, for suggestions; others are free.
    private static let usualTypes = [
        "conversation.started", "conversation.renamed", "participant.joined", "participant.left", "message.posted",
        "message.edited", "message.retracted", "bot.replied", "survey.answered", "profile.changed", "origin.started",
        "finding.settled",
    ]

    /// Says that nothing was found, and whether that is because a name is nowhere in the log.
    ///
    /// - Parameters:
    ///   - subject: What is said where the name is unknown, and whose events were wanted.
    ///   - reads: Where it was looked for.
    func sayNothing(of subject: (kind: Wording, name: String), _ reads: Reads) throws(CommandFailure) {
        // Another node says no more than that there is nothing.
        guard !reads.isElsewhere else { return say(.noEventOf, subject.name) }
        let log = try reads.log()
        for type in arguments.values("type") where try stored({ try log.knows(type) }) == false {
            let nearest = Suggestion.nearest(to: type, among: Self.usualTypes)
            return say(text(.noSuchType, type) + (nearest.map { text(.didYouMean, $0) } ?? ""))
        }
        let isKnown = try stored { try log.knows(subject.name) }
        say(isKnown ? .noEventOf : subject.kind, subject.name)
    }
}
