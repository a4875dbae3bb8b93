internal import CommandLineKit
internal import EventStore
internal import Interchange

/// Whether messages of an export are here already with day and month exchanged. An export whose dates could be read in two ways was
/// taken with the day first; a later one may tell that it is the month. The ids of all messages would be others then, and all of
/// them here twice.
struct ImportedDates {
    private struct Pair {
        let id: EventID
        let other: EventID
    }

    /// Of each conversation some of its messages, all along it (INV-9).
    private struct Sample {
        let most: Int
        var pairs: [Pair] = []
        var stride = 1
        var seen = 0

        init(most: Int) { self.most = most }

        mutating func add(_ pair: Pair) {
            defer { seen += 1 }
            guard seen % stride == 0 else { return }
            if pairs.count >= most {
                pairs = pairs.enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
                stride *= 2
                guard seen % stride == 0 else { return }
            }
            pairs.append(pair)
        }
    }

    private var samples: [String: Sample] = [:]
    private let most: Int
    private var count = 0
    private static let mostConversations = 100_000
    /// Of all samples. Behind that, few of each further conversation are kept.
    private static let mostPairs = 200_000
    private static let few = 16

    init(isFar: Bool) { most = isFar ? 256 : 4_000 }

    mutating func add(_ event: ImportedEvent) {
        guard let other = event.otherReading, let id = event.draft.id, let conversation = event.draft.conversation,
            samples[conversation] != nil || samples.count < Self.mostConversations
        else { return }
        count += 1
        samples[conversation, default: Sample(most: count > Self.mostPairs ? Self.few : most)].add(
            Pair(id: id, other: other))
    }

    /// The conversations that are here in the other reading: more of their messages are here so than as the export is read, and between
    /// the first and the last of these at least each second one. A single wish for a good morning at nine sharp is no sign.
    func exchanged(in before: ImportedBefore) throws(CommandFailure) -> [String: Int] {
        var found: [String: Int] = [:]
        for (conversation, sample) in samples {
            var places: [Int] = []
            for (index, pair) in sample.pairs.enumerated() where try before.event(pair.other) != nil {
                places.append(index)
            }
            guard let first = places.first, let last = places.last, places.count * 2 >= last - first + 1 else {
                continue
            }
            var same = 0
            for pair in sample.pairs where try before.event(pair.id) != nil { same += 1 }
            if places.count > same { found[conversation] = places.count * sample.stride }
        }
        return found
    }

    static func refusal(_ conversation: String, _ count: Int, of path: String) -> CommandFailure {
        CommandFailure(
            code: "E_IMPORT_DATES",
            "\(path): \(conversation) is here with day and month exchanged: about "
                + "\(CountedNoun.message.text(count, in: .english)) of this file",
            why: "An earlier import read the other number of a date as the day. Nothing of this one was stored.",
            hint: "--conversation ID takes all of it as a conversation of its own, and 'syncctl erase conversation' "
                + "the other one away; --twice adds all that is not there under the same date",
            exitCode: .badInput)
    }
}
