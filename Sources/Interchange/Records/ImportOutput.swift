package import EventStore

/// An event made of a record of an export.
package struct ImportedEvent {
    package var draft: EventDraft
    /// Where it stands in the export.
    package var place: String
    /// What of it may be told otherwise elsewhere.
    package var variance: Variance
    /// Its id if day and month of its date were exchanged: where an export leaves open which is which, it may be there so.
    package var otherReading: EventID?
    /// The same under other names, which an import before may have given it: where one of these is there, that is it.
    package var others: [EventDraft] = []
    /// What it names: the bytes come before it.
    package var attachments: [ImportedAttachment] = []
}

/// Where formats put what they have read.
package final class ImportOutput {
    /// Most reasons of one kind whose places are kept.
    package static let mostPlaces = 20

    /// Whether this is the first pass, which only looks whether all can be read.
    package let isCheck: Bool
    /// What was passed over, by reason: how often, and the first places.
    package private(set) var skipped: [String: (count: Int, places: [String])] = [:]
    /// Events by type.
    package private(set) var counts: [String: Int] = [:]
    /// What is to be known of how the file was read.
    package var remarks: [String] {
        said
            + noted.sorted { $0.key < $1.key }.map { reason, entry in
                let places = entry.places.joined(separator: ", ")
                return "\(entry.count) \(entry.count == 1 ? "time" : "times"): \(reason) (\(places))"
            }
    }
    /// Conversations whose dates can be read in two ways, for nothing in the export says which number is the day.
    package private(set) var openDates: Set<String> = []
    private var said: [String] = []
    private var noted: [String: (count: Int, places: [String])] = [:]
    private let take: (ImportedEvent) -> Bool
    private let file: String

    /// - Parameter take: Takes an event; false: no more are wanted.
    package init(isCheck: Bool, file: String, take: @escaping (ImportedEvent) -> Bool) {
        (self.isCheck, self.file, self.take) = (isCheck, file, take)
    }

    package var events: Int { counts.values.reduce(0, +) }

    /// Hands in an event. One that no store takes is passed over, with the reason.
    package func emit(
        _ draft: EventDraft, at place: String, _ variance: Variance = .none, otherReading: EventID? = nil,
        others: [EventDraft] = [], naming named: [ImportedAttachment] = []
    ) throws(ImportError) {
        do throws(InvalidEvent) { try draft.validate() } catch {
            skip(Self.reason(error), at: place)
            return
        }
        counts[draft.type, default: 0] += 1
        guard
            take(
                ImportedEvent(
                    draft: draft, place: place, variance: variance, otherReading: otherReading, others: others,
                    attachments: named))
        else {
            throw ImportError(.stopped, file, "no more is wanted")
        }
    }

    private static func reason(_ error: InvalidEvent) -> String {
        switch error {
        case .payloadTooLarge: "larger than \(Limits.payload) bytes"
        case .time: "its time is before year 1 or after year 9999"
        default: "no event can have it: \(error)"
        }
    }

    /// The dates of a conversation can be read in two ways.
    package func leaveDatesOpen(of conversation: String) { openDates.insert(conversation) }

    /// Passes over a record.
    package func skip(_ reason: String, at place: String) { Self.count(reason, place, in: &skipped) }

    /// A record is taken otherwise than it says.
    package func note(_ reason: String, at place: String) { Self.count(reason, place, in: &noted) }

    /// RFC 8259 leaves open which one counts.
    func noteRepeated(at place: String) { note("a member stands twice in one object: the first counts", at: place) }

    private static func count(
        _ reason: String, _ place: String, in reasons: inout [String: (count: Int, places: [String])]
    ) {
        var entry = reasons[reason] ?? (0, [])
        entry.count += 1
        if entry.places.count < mostPlaces { entry.places.append(place) }
        reasons[reason] = entry
    }

    package func remark(_ text: String) {
        if !said.contains(text), said.count < 100 { said.append(text) }
    }
}
