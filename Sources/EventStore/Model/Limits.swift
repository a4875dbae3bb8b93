/// Sizes checked when an event is appended, so that no relay ever meets one it must refuse. Bytes of UTF-8.
public enum Limits {
    /// Longest payload that is taken for one.
    public static let payload = 256 << 10
    /// Longest payload that is stored and relayed as it came, if another node has let it in: with a header and its
    /// proofs it still fits a frame of 1 MiB.
    package static let carriedPayload = 896 << 10
    /// Longest conversation, user or author id.
    public static let identifier = 256
    /// Longest event type.
    public static let type = 128
    /// Deepest nesting of a payload.
    public static let nesting = JSONDepth.most
    /// Most drafts of one append.
    public static let batch = 4_096
    /// The format of the log that this release writes; it reads those before, too.
    static let logFormat = 3
    /// Longest canonical header.
    public static let header = 64 << 10
    /// Most bytes of a header's ancillary fields together.
    package static let ancillary = 4_096

    // Bounds of numbers that come from outside, from peers and from store files alike (D22).

    /// Greatest seq, size, position or count: the sum over as many origins as a peer may state is below 2^63.
    package static let number: UInt64 = (1 << 44) - 1
    /// Unix milliseconds of a clock, up to the end of year 9999 and as far back from 1970.
    package static let clock: ClosedRange<Int64> = -253_402_300_799_999...253_402_300_799_999
    /// Greatest 64-bit form of a hybrid logical time: SQLite's integers are signed.
    package static let stamp = UInt64(Int64.max)
}

/// Why an event cannot be what it claims to be.
public enum InvalidEvent: Error, Hashable, Sendable {
    /// The type is empty, too long or has a control character.
    case type(reason: String)
    /// The type is one that only nodes write for themselves (docs/reference/ERRORS.md, `E_RESERVED`).
    case reserved(type: String)
    /// An id (`conversation`, `user`, `author`) is empty, too long or has a control character.
    case identifier(field: String, reason: String)
    /// The payload has `bytes`, more than ``Limits/payload``.
    case payloadTooLarge(bytes: Int)
    /// The payload is not a JSON object in UTF-8; `offset` is the byte where that shows.
    case payloadNotJSON(reason: String, offset: Int)
    /// An item of `attachments` that names bytes by their SHA-256 is not of the form of FORMATS.md, section 5.
    case attachment(reason: String)
    /// The time is before year 1 or after year 9999.
    case time(Int64)
    /// The schema version is 0.
    case version
    /// The canonical header would have `bytes`, more than ``Limits/header``.
    case headerTooLarge(bytes: Int)

    /// A stable name for machines.
    public var code: String {
        switch self {
        case .type: "E_TYPE"
        case .reserved: "E_RESERVED"
        case .identifier: "E_IDENTIFIER"
        case .payloadTooLarge: "E_PAYLOAD_SIZE"
        case .payloadNotJSON: "E_PAYLOAD_JSON"
        case .attachment: "E_ATTACHMENT_FORM"
        case .time: "E_TIME"
        case .version: "E_VERSION_ZERO"
        case .headerTooLarge: "E_HEADER_SIZE"
        }
    }
}

extension InvalidEvent: CustomStringConvertible {
    /// One sentence for people.
    public var description: String {
        switch self {
        case .type(let reason): "type: \(reason)"
        case .reserved(let type):
            "type: '\(type)' is reserved: only a node writes such events, for itself or its operator"
        case .identifier(let field, let reason): "\(field): \(reason)"
        case .payloadTooLarge(let bytes):
            "payload: \(bytes) bytes, at most \(Limits.payload) are taken; put large content into attachments"
        case .payloadNotJSON(let reason, let offset): "payload: \(reason) at byte \(offset)"
        case .attachment(let reason): "attachments: \(reason)"
        case .time(let time): "time: \(time) ms is outside of years 1 to 9999"
        case .version: "version: the schema version counts from 1"
        case .headerTooLarge(let bytes): "header: \(bytes) bytes, at most \(Limits.header) are taken"
        }
    }
}

/// Types of events that nodes write for themselves and their operators, and that mean something to other nodes. Appends and imports
/// are refused with them.
package enum ReservedType {
    private static let prefixes = ["origin.", "access.", "subscription.", "finding."]
    static let userErased = "user.erased"
    static let conversationErased = "conversation.erased"
    /// An operator has dealt with what a notice tells.
    static let findingSettled = "finding.settled"

    /// Whether events of this type say who may do what here, or who has read what.
    package static func isOfAccess(_ type: String) -> Bool {
        type.utf8.first == UInt8(ascii: "a") && type.hasPrefix("access.")
    }

    /// Whether events of this type let payloads go.
    static func isErasure(_ type: String) -> Bool {
        switch type.utf8.first {
        case UInt8(ascii: "u"), UInt8(ascii: "c"): type == userErased || type == conversationErased
        default: false
        }
    }

    static func contains(_ type: String) -> Bool {
        // Nearly all other types differ in the first byte.
        switch type.utf8.first {
        case UInt8(ascii: "o"), UInt8(ascii: "a"), UInt8(ascii: "s"), UInt8(ascii: "f"):
            prefixes.contains { type.hasPrefix($0) }
        case UInt8(ascii: "u"), UInt8(ascii: "c"): isErasure(type)
        default: false
        }
    }
}

extension EventDraft {
    /// Checks everything but the payload's grammar.
    package func validateHeader() throws(InvalidEvent) {
        try checkedText(type, field: nil, limit: Limits.type)
        try checkedText(user, field: "user", limit: Limits.identifier)
        if let author { try checkedText(author, field: "author", limit: Limits.identifier) }
        if let conversation { try checkedText(conversation, field: "conversation", limit: Limits.identifier) }
        if let time, time < -62_135_596_800_000 || time > 253_402_300_799_999 { throw .time(time) }
        if version == 0 { throw .version }
        if payload.count > Limits.payload { throw .payloadTooLarge(bytes: payload.count) }
    }
}

extension EventHeader {
    func validate() throws(InvalidEvent) {
        let draft = EventDraft(
            type: type, time: time, conversation: conversation, user: user, author: author, version: version,
            payload: [])
        try draft.validateHeader()
        // SQLite's integers are signed: a stamp beyond the year 6429 would sort before all others.
        if hlc.rawValue > Limits.stamp { throw .time(hlc.milliseconds) }
    }
}

private func checkedText(_ text: String, field: String?, limit: Int) throws(InvalidEvent) {
    func fail(_ reason: String) -> InvalidEvent {
        if let field { .identifier(field: field, reason: reason) } else { .type(reason: reason) }
    }
    let count = text.utf8.count
    if count == 0 { throw fail("must not be empty") }
    if count > limit { throw fail("\(count) bytes, at most \(limit) are taken") }
    let hasControl = text.withUTF8Bytes { bytes in bytes.contains { $0 < 0x20 || $0 == 0x7f } }
    if hasControl { throw fail("has a control character") }
}
