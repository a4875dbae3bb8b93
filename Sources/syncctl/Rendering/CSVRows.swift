internal import CommandLineKit
internal import EventStore
internal import SillokAPI

/// Events as records of CSV. The columns keep their names and their order; new ones come behind them.
enum EventCSV {
    static let columns = [
        "time", "position", "id", "type", "user", "author", "conversation", "state", "text", "data",
    ]
    static var header: String { CSVLine.record(columns.map { .text($0) }) }

    static func record(_ stored: StoredEvent, _ history: MessageHistory? = nil) -> String {
        let header = stored.event.header
        let payload = stored.event.payload
        let text = history?.edit?.text ?? payload.flatMap { JSONObject(validated: $0).string("text") }
        return CSVLine.record([
            .text(Timestamp.text(header.time)), .number(String(stored.position)), .text(header.id.description),
            .text(header.type), .text(header.user), .text(header.author), field(header.conversation),
            field(state(stored.event, history)), field(text),
            payload.map { CSVLine.json($0) } ?? CSVLine.Field.none,
        ])
    }

    /// What became of it; `nil` if nothing did.
    private static func state(_ event: Event, _ history: MessageHistory?) -> String? {
        if event.header.isOpaque { return "opaque" }
        if event.isErased { return "erased" }
        if event.payload == nil { return "unreadable" }
        if history?.retraction != nil { return "retracted" }
        return history?.edit == nil ? nil : "edited"
    }

    private static func field(_ text: String?) -> CSVLine.Field { text.map { .text($0) } ?? .none }
}

/// Lines of JSON as records of CSV: a column for each of these members, in the form of the line.
struct MemberCSV {
    let columns: [String]

    var header: String { CSVLine.record(columns.map { .text($0) }) }

    func record(_ line: JSONObject) -> String {
        CSVLine.record(columns.map { field(line[$0]) })
    }

    private func field(_ value: JSONValue?) -> CSVLine.Field {
        guard let value else { return .none }
        if let text = value.string { return .text(text) }
        if let digits = value.numberText { return .number(digits) }
        return value.raw.elementsEqual("null".utf8) ? .none : CSVLine.json(Array(value.raw))
    }
}
