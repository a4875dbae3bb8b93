internal import CommandLineKit
internal import EventStore
internal import Interchange
internal import SillokAPI

/// Hands events in batch by batch and counts what became of them. While one batch is written the next is read.
final class ExportIntake {
    private struct Batch {
        let events: [ImportedEvent]
        let results: Appender.Pending
    }

    private let target: ImportTarget
    let attachments: AttachmentIntake
    private let before: ImportedBefore
    private let batch: Int
    private var progress: Progress
    private let total: UInt64
    private let language: Language
    private var waiting: [ImportedEvent] = []
    private var bytes = 0
    private var pending: [Batch] = []
    private static let batchBytes = 8 << 20
    private static let mostShown = 20
    private static let mostProfiles = 10_000

    private(set) var appended = 0
    private(set) var already = 0
    /// Of those, whose payload is gone.
    private(set) var erased = 0
    /// There already, and told otherwise now: what was imported first stays.
    private(set) var differing = 0
    private(set) var rejected = 0
    /// Conversations and profiles that are there already and are described otherwise here, by what differs.
    private(set) var described: [String: (count: Int, places: [String])] = [:]
    /// Whether what differs can be said anew: of a conversation or a profile.
    private(set) var hasWayOut = false
    private var order = RecordOrder()
    /// The first that were not taken, with place and reason.
    private(set) var problems: [(place: String, code: String, message: String)] = []
    private(set) var failure: CommandFailure?
    /// Whether a batch has failed.
    private var isRefused = false
    /// Values without a time that are there: whether they are the newest is looked at in the end. Of these many at most (INV-9).
    private(set) var untimedProfiles: [EventDraft] = []

    init(
        _ target: ImportTarget, _ before: ImportedBefore, batch: Int, progress: Progress, total: UInt64,
        language: Language
    ) {
        (self.target, self.before, self.batch, self.progress, self.total) = (target, before, batch, progress, total)
        self.language = language
        attachments = AttachmentIntake(target, before)
    }

    private func text(_ wording: Wording, _ values: String...) -> String { wording.phrase.text(language, values) }

    var count: Int { appended + already + differing + rejected }

    func take(_ event: ImportedEvent) -> Bool {
        guard failure == nil, !Interrupt.isRequested else { return false }
        var event = event
        do throws(CommandFailure) {
            event.draft = try before.known(event)
            try attachments.put(for: event)
        } catch {
            failure = error
            return false
        }
        // What waits holds no bytes.
        (event.attachments, event.others) = ([], [])
        waiting.append(event)
        bytes += event.draft.payload.count + 256
        if waiting.count >= batch || bytes >= Self.batchBytes { submit() }
        return failure == nil
    }

    func finish() {
        submit()
        settleAll()
        progress.finish(done: UInt64(count), total: total)
    }

    /// Waits for what was handed in, so that it is counted, whatever else has failed. What a daemon was not asked yet it is not asked any more
    /// once it has failed.
    func settleAll() {
        while !pending.isEmpty, target.isAhead || !isRefused { settle() }
    }

    private func submit() {
        guard failure == nil, !waiting.isEmpty else { return }
        pending.append(Batch(events: waiting, results: target.start(waiting.map(\.draft))))
        (waiting, bytes) = ([], 0)
        while failure == nil, pending.count > 4 { settle() }
        progress.update(done: UInt64(count), total: total)
    }

    private func settle() {
        let first = pending.removeFirst()
        do throws(CommandFailure) {
            for (event, result) in zip(first.events, try first.results()) { try count(result, of: event) }
        } catch {
            failure = failure ?? error
            isRefused = true
        }
    }

    private func count(_ result: AppendedLine, of event: ImportedEvent) throws(CommandFailure) {
        switch result {
        case .appended:
            appended += 1
            place(event, at: event.draft.time, isNew: true)
        case .already(let there):
            already += 1
            if there.isErased { erased += 1 }
            place(event, at: event.draft.time, isNew: false)
            if event.variance == .value, untimedProfiles.count < Self.mostProfiles {
                untimedProfiles.append(event.draft)
            }
        case .rejected("E_ID_REUSED", let message):
            let difference = try difference(of: event)
            switch difference?.meaning(event.variance) ?? .other {
            case .same: already += 1
            case .told(let parts):
                already += 1
                for part in parts { tell(part, of: event.draft) }
            case .other:
                differing += 1
                guard problems.count < Self.mostShown else { return }
                let what = difference.map { text(.differingParts, $0.names) } ?? ""
                return problems.append((event.place, "E_ID_REUSED", message + what))
            }
            place(event, at: difference?.time, isNew: false)
        case .rejected(let code, let message):
            rejected += 1
            if problems.count < Self.mostShown { problems.append((event.place, code, message)) }
        }
    }

    /// Tells of a record that stands before the one above it.
    private func place(_ event: ImportedEvent, at time: Int64?, isNew: Bool) {
        guard let time, order.isBroken(by: event, at: time, isNew: isNew) else { return }
        let places = (Timestamp.text(time), event.place)
        tell(ImportDifference.Part(name: "order", isHeader: true, there: places.0, here: places.1), of: event.draft)
    }

    private func difference(of event: ImportedEvent) throws(CommandFailure) -> ImportDifference? {
        guard let id = event.draft.id, let there = try before.event(id) else { return nil }
        return ImportDifference(event.draft, there)
    }

    func tell(_ part: ImportDifference.Part, of draft: EventDraft) {
        let what = text(.partOfType, part.name, draft.type)
        hasWayOut = hasWayOut || ["conversation.started", "profile.changed"].contains(draft.type)
        guard described[what] != nil || described.count < Self.mostShown else { return }
        var entry = described[what] ?? (0, [])
        entry.count += 1
        if entry.places.count < Self.mostShown {
            let name = draft.conversation ?? draft.user
            let values = [part.there, part.here].map { $0 ?? text(.noValue) }
            entry.places.append(text(.valuesOfPart, name, values[0], values[1]))
        }
        described[what] = entry
    }
}

/// Where records stand in their minute or second, which the order of an export alone says: in a later export, which begins earlier, others may
/// come before those that are there.
private struct RecordOrder {
    private var last: (conversation: String?, span: Int64, time: Int64, isNew: Bool)?

    /// Takes the next record of an export: whether it is shown before the one above it.
    mutating func isBroken(by event: ImportedEvent, at time: Int64, isNew: Bool) -> Bool {
        guard case .time(let within) = event.variance else { return false }
        let next = (event.draft.conversation, (event.draft.time ?? time) / within, time, isNew)
        defer { last = next }
        guard let last, last.conversation == next.0, last.span == next.1 else { return false }
        // Of equal times what was recorded first comes first.
        return time < last.time || time == last.time && last.isNew && !isNew
    }
}
