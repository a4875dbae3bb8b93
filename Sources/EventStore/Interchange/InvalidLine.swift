/// Why a line is not an event in the native form.
package enum InvalidLine: Error, Hashable, Sendable {
    /// Not a JSON object; `offset` is the byte of the line where that shows.
    case notJSON(reason: String, offset: Int)
    /// A member that every line needs is not there.
    case missing(member: String)
    /// A member is there twice.
    case duplicate(member: String)
    /// A member of this name has no place in an event and would be lost.
    case unknown(member: String)
    /// A member is of another JSON type than it should be.
    case wrongType(member: String, expected: String)
    /// A member's value is not among those it may have.
    case wrongValue(member: String, expected: String)
    /// The member is not a UUID.
    case notUUID(member: String)
    /// The time is not RFC 3339 in years 1 to 9999.
    case time
    /// The event was erased before it was exported: there is no payload to import.
    case erased
    /// The event could not be read where it was exported: its bytes are no payload, or its header is opaque.
    case unreadable
    /// The line is read, but no event can be made of it.
    case event(InvalidEvent)

    /// A stable name for machines.
    package var code: String {
        switch self {
        case .notJSON: "E_LINE_JSON"
        case .missing: "E_LINE_MISSING"
        case .duplicate: "E_LINE_DUPLICATE"
        case .unknown: "E_LINE_UNKNOWN"
        case .wrongType: "E_LINE_TYPE"
        case .wrongValue: "E_LINE_VALUE"
        case .notUUID: "E_LINE_UUID"
        case .time: "E_LINE_TIME"
        case .erased: "E_LINE_ERASED"
        case .unreadable: "E_LINE_UNREADABLE"
        case .event(let error): error.code
        }
    }
}

extension InvalidLine: CustomStringConvertible {
    /// One sentence for people.
    package var description: String {
        switch self {
        case .notJSON(let reason, let offset): "JSON: \(reason) at byte \(offset)"
        case .missing(let member): "\(member): missing, every line needs it"
        case .duplicate(let member): "\(member): there twice"
        case .unknown(let member): "\(member): not a member of an event; \(Self.place(of: member))"
        case .wrongType(let member, let expected), .wrongValue(let member, let expected):
            "\(member): must be \(expected)"
        case .notUUID(let member): "\(member): must be a UUID such as 0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e5f"
        case .time: "time: must be RFC 3339 in years 1 to 9999, such as 2026-08-01T02:02:15.120Z"
        case .erased: "data: the event was erased, its payload is gone; leave the line out"
        case .unreadable:
            "data_base64: the event could not be read where it was exported, and cannot be appended here; leave it out"
        case .event(let error): error.description
        }
    }

    /// Where what people write under this name belongs.
    private static func place(of member: String) -> String {
        switch member {
        case "conversation": #"write "subject":"conversation/ID""#
        case "payload": "write it as data"
        default: "put it into data"
        }
    }
}
