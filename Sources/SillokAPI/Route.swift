internal import EventStore

/// What the API has below `/v1/` (docs/operating/api.md), as both sides name it.
package enum Route: String, CaseIterable, Sendable {
    case events, changes, status, wait, peers, findings, invitations, join, quarantine, forks, subscriptions,
        credentials, access, me, receipt, erasures, sessions, attachments, verifications

    /// Without what names one of them.
    package var path: String { "/v1/" + rawValue }

    /// `/v1/peers/<name>/ping` and its like; blanks and slashes in the parts are encoded.
    package func path(_ parts: String...) -> String {
        path + parts.map { "/" + percentEncoded($0) }.joined()
    }

    /// With parameters, in this order.
    package func path(with query: [(name: String, value: String)]) -> String {
        path + "?" + encodedQuery(query)
    }
}

/// `name=value&name=value`.
func encodedQuery(_ query: [(name: String, value: String)]) -> String {
    query.map { "\($0.name)=\(percentEncoded($0.value))" }.joined(separator: "&")
}

/// Percent-encodes everything but the unreserved characters of RFC 3986 §2.3.
package func percentEncoded(_ text: String) -> String {
    var out: [UInt8] = []
    for byte in text.utf8 {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            out.append(byte)
        default:
            out += "%".utf8
            out += hexText([byte]).uppercased().utf8
        }
    }
    return String(decoding: out, as: UTF8.self)
}
