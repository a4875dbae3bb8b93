internal import CommandLineKit
internal import EventStore
internal import Interchange
internal import SillokAPI

/// Puts the bytes that events of an export name, each before its event is handed in.
final class AttachmentIntake {
    private let target: ImportTarget
    private let before: ImportedBefore
    /// Bytes of which it is known what became of them: a picture may stand in many messages. Of these many at most (INV-9).
    private var settled: Set<Digest> = []
    private static let mostSettled = 10_000
    private static let mostShown = 20

    private(set) var new = 0
    private(set) var already = 0
    /// Those that the node does not take, for their length or media type. Their events name them all the same.
    private(set) var rejected = 0
    /// Of all of them.
    private(set) var bytes = 0
    /// The first that were not taken, with place and reason.
    private(set) var problems: [(place: String, code: String, message: String)] = []

    init(_ target: ImportTarget, _ before: ImportedBefore) { (self.target, self.before) = (target, before) }

    var count: Int { new + already + rejected }

    /// Of an event that is here, and names other bytes or was erased, none are put: they would be those of no event.
    func put(for event: ImportedEvent) throws(CommandFailure) {
        guard !event.attachments.isEmpty else { return }
        let named = try named(by: event.draft)
        for attachment in event.attachments where named?.contains(attachment.digest) ?? true {
            try put(attachment, at: event.place)
        }
    }

    /// What an event names that is here already; `nil`: it is not.
    private func named(by draft: EventDraft) throws(CommandFailure) -> [Digest]? {
        guard let id = draft.id, let there = try before.event(id) else { return nil }
        let items = there.payload.map { try? AttachmentNaming.items(type: draft.type, JSONObject(validated: $0)) }
        return items??.map(\.digest) ?? []
    }

    /// Bytes that the node does not take refuse no event: when its configuration takes them, the same import brings them.
    private func put(_ attachment: ImportedAttachment, at place: String) throws(CommandFailure) {
        guard settled.insert(attachment.digest).inserted else { return }
        if settled.count > Self.mostSettled { settled = [attachment.digest] }
        do throws(CommandFailure) {
            let isHere = try before.has(attachment.digest)
            let isNew = isHere ? false : try target.put(AttachmentBytes(attachment))
            if isNew { new += 1 } else { already += 1 }
        } catch {
            let refusals = [ErrorCode.attachmentSize, .attachmentType].map(\.rawValue)
            guard refusals.contains(error.code) else { throw error }
            rejected += 1
            if problems.count < Self.mostShown { problems.append((place, error.code, error.what)) }
        }
        bytes += attachment.count
    }
}

extension AttachmentBytes {
    /// Those of an export, which stay there until they are read.
    fileprivate init(_ attachment: ImportedAttachment) {
        self.init(digest: attachment.digest, count: attachment.count, mediaType: attachment.mediaType) {
            () throws(CommandFailure) in
            let reader = try Self.exported { () throws(ImportError) in try attachment.open() }
            return { buffer throws(CommandFailure) in
                try Self.exported { () throws(ImportError) in try reader.fill(&buffer) }
            }
        }
    }

    private static func exported<Result>(_ body: () throws(ImportError) -> Result) throws(CommandFailure) -> Result {
        do throws(ImportError) { return try body() } catch { throw ImportExport.failure(error) }
    }
}
