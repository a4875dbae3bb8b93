internal import CommandLineKit
package import EventStore

/// Messages of people and bots as they stand now, a record each (`--format csv`). Two nodes with the same events write the same.
package final class MessagesCSV: ConversationWriter {
    package static let columns = [
        "conversation", "time", "role", "user", "author", "name", "text", "state", "first_text", "attachments", "id",
        "cause",
    ]

    package let types = DialogueRole.all.types
    package let survey: SurveyWish? = nil
    package let leftOut: [String: Int] = [:]
    package private(set) var written = 0

    package init() {}

    package func begin() -> [UInt8] { Array(CSVLine.record(Self.columns.map { .text($0) }).utf8) }
    package func begin(_ conversation: ExportedConversation) -> [UInt8] { [] }
    package func end() -> [UInt8] { [] }

    package func add(_ entry: TimelineEntry) -> [UInt8] {
        guard let spoken = Spoken(entry), types.contains(spoken.header.type) else { return [] }
        written += 1
        let header = spoken.header
        let attachments = spoken.payload?.elements("attachments") ?? []
        let first = entry.edited == nil ? nil : spoken.payload?.string("text")
        return Array(
            CSVLine.record([
                Self.field(header.conversation), .text(Timestamp.text(header.time)), .text(spoken.role.rawValue),
                .text(header.user), .text(header.author), Self.field(spoken.payload?.string("name")),
                Self.field(spoken.text), Self.field(spoken.state?.rawValue), Self.field(first),
                attachments.isEmpty ? .none : .number(String(attachments.count)), .text(header.id.description),
                Self.field(header.cause?.description),
            ]).utf8)
    }

    static func field(_ text: String?) -> CSVLine.Field { text.map { .text($0) } ?? .none }
}
