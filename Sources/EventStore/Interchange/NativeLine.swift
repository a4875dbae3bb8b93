/// One line of native NDJSON: a CloudEvents 1.0 object in the JSON format, read into what an appender hands in.
package struct NativeLine: Hashable, Sendable {
    /// The event; its id is always set.
    package var draft: EventDraft
    /// Whether the line had no id and got one from its content; see ``DerivedEventID``.
    package var isDerivedID: Bool
    /// The record's name where it came from. It decides a derived id and is not stored beside it.
    package var recordID: String?
    /// Where it came from. Not stored either.
    package var source: String?
    /// Whether it was written beside another event with the same id, which counts.
    package var isTwin = false
}

/// Reads native NDJSON lines. Not Sendable: one for each thread.
///
/// | member | value |
/// | --- | --- |
/// | `specversion` | `"1.0"`, if there |
/// | `id` | a UUID; missing or empty: derived |
/// | `type`, `user` | strings, required |
/// | `data` | a JSON object, required; kept byte for byte |
/// | `time` | RFC 3339; missing: when it is appended |
/// | `subject` | `conversation/<id>` |
/// | `author` | a string; missing: the user |
/// | `cause` | a UUID |
/// | `dataversion` | an integer from 1; missing: 1 |
/// | `datacontenttype` | `"application/json"`, if there |
/// | `source`, `recordid` | strings that decide a derived id |
/// | `data_base64`, `headerbytes` | written for events that could not be read; such lines are refused |
/// | `sequence`, `position`, `hlc`, `leaf`, `twinof`, `origin`, `erased` | written on output, passed over here |
///
/// `null` is the same as a missing member (CloudEvents 1.0.2, JSON format §2.2). Any other member is refused: it would
/// be lost. So is a member that is there twice.
package struct NativeLineParser {
    private let identifiers = DerivedEventID()

    /// A parser.
    package init() {}

    /// The event in a whole line.
    package func parse(_ line: [UInt8]) throws(InvalidLine) -> NativeLine {
        try parse(line, 0..<line.count)
    }

    /// The event in the line at `range` of `bytes`, with or without its newline.
    package func parse(_ bytes: [UInt8], _ range: Range<Int>) throws(InvalidLine) -> NativeLine {
        let members = try LineMembers(bytes, range)
        try members.require("1.0", .specversion)
        try members.require("application/json", .datacontenttype)
        try members.requireReadable()
        guard let type = try members.string(.type) else { throw .missing(member: "type") }
        guard let user = try members.string(.user) else { throw .missing(member: "user") }
        let data = try members.payload()

        let subject = try members.string(.subject)
        let timeText = try members.string(.time)
        var draft = EventDraft(
            id: try members.uuid(.id).map(EventID.init), type: type,
            time: try timeText.map(Self.milliseconds), conversation: try subject.map(Self.conversation), user: user,
            author: try members.string(.author), cause: try members.uuid(.cause).map(EventID.init),
            version: try members.version(), payload: Array(bytes[data]))
        do { try draft.validateHeader() } catch { throw .event(error) }
        draft.grammar.isChecked = true

        var line = NativeLine(
            draft: draft, isDerivedID: draft.id == nil, recordID: try members.name(.recordid),
            source: try members.name(.source), isTwin: members.isTwin)
        if draft.id == nil { line.draft.id = identifiers.identifier(of: line, time: timeText, subject: subject) }
        return line
    }

    private static func milliseconds(_ text: String) throws(InvalidLine) -> Int64 {
        guard let moment = Timestamp.milliseconds(text) else { throw .time }
        return moment
    }

    private static func conversation(_ subject: String) throws(InvalidLine) -> String {
        let prefix: StaticString = "conversation/"
        let isConversation = subject.withUTF8Bytes { bytes in
            bytes.count > prefix.utf8CodeUnitCount
                && hasEqualBytes(
                    UnsafeRawBufferPointer(rebasing: bytes[..<prefix.utf8CodeUnitCount]),
                    UnsafeRawBufferPointer(start: prefix.utf8Start, count: prefix.utf8CodeUnitCount))
        }
        guard isConversation else { throw .wrongValue(member: "subject", expected: "conversation/<id>") }
        return String(subject.utf8.dropFirst(prefix.utf8CodeUnitCount)) ?? ""
    }
}
