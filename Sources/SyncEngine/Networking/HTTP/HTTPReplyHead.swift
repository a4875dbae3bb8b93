internal import EventStore
internal import Glibc

/// The status line and the header of an answer (RFC 9112 §4, §5).
struct HTTPReplyHead {
    var status: Int
    var contentType: String?
    var headers: [HTTPField] = []

    /// How the answer says where its body ends.
    enum Body {
        case length(Int)
        case chunked
        /// It does not: there is none, or the connection ends with it.
        case untold
    }

    /// Appends the head's bytes, the empty line included.
    ///
    /// - Parameter isLast: Whether the connection ends with this answer.
    func write(to bytes: inout [UInt8], _ body: Body, date: [UInt8], isLast: Bool) {
        bytes.append(literal: "HTTP/1.1 ")
        bytes.append(decimal: UInt64(status.magnitude))
        bytes.append(literal: " ")
        bytes.append(literal: Self.reason(status))
        bytes.append(literal: "\r\nDate: ")
        bytes += date
        bytes.append(literal: "\r\n")
        if let contentType { Self.write(HTTPField("Content-Type", contentType), to: &bytes) }
        for field in headers { Self.write(field, to: &bytes) }
        switch body {
        case .length(let count):
            bytes.append(literal: "Content-Length: ")
            bytes.append(decimal: UInt64(count.magnitude))
            bytes.append(literal: "\r\n")
        case .chunked: bytes.append(literal: "Transfer-Encoding: chunked\r\n")
        case .untold: break
        }
        if isLast { bytes.append(literal: "Connection: close\r\n") }
        bytes.append(literal: "\r\n")
    }

    /// Leaves out a field that would break into lines.
    private static func write(_ field: HTTPField, to bytes: inout [UInt8]) {
        let start = bytes.count
        bytes.append(text: field.name)
        bytes.append(literal: ": ")
        bytes.append(text: field.value)
        if bytes[start...].contains(where: { $0 == 0x0d || $0 == 0x0a || $0 == 0 }) {
            bytes.removeSubrange(start...)
        } else {
            bytes.append(literal: "\r\n")
        }
    }

    /// The words of RFC 9110 §15; none for a status that is not used here.
    private static func reason(_ status: Int) -> StaticString {
        switch status {
        case 200: "OK"
        case 201: "Created"
        case 202: "Accepted"
        case 204: "No Content"
        case 206: "Partial Content"
        case 207: "Multi-Status"
        case 304: "Not Modified"
        case 308: "Permanent Redirect"
        case 400: "Bad Request"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 409: "Conflict"
        case 413: "Content Too Large"
        case 415: "Unsupported Media Type"
        case 416: "Range Not Satisfiable"
        case 422: "Unprocessable Content"
        case 417: "Expectation Failed"
        case 500: "Internal Server Error"
        case 502: "Bad Gateway"
        case 503: "Service Unavailable"
        case 504: "Gateway Timeout"
        case 505: "HTTP Version Not Supported"
        case 507: "Insufficient Storage"
        default: ""
        }
    }
}

/// The date as answers tell it (RFC 9110 §5.6.7), written once a second.
struct HTTPDate {
    private var second: time_t = -1
    private var written: [UInt8] = []

    /// `Sun, 06 Nov 1994 08:49:37 GMT`.
    var text: [UInt8] {
        mutating get {
            var now = time_t(WallClock.now / 1000)
            guard now != second else { return written }
            second = now
            var parts = tm()
            gmtime_r(&now, &parts)
            let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
            let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
            func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
            let day = "\(days[Int(parts.tm_wday)]), \(two(parts.tm_mday)) \(months[Int(parts.tm_mon)])"
            let time = "\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))"
            written = Array("\(day) \(parts.tm_year + 1900) \(time) GMT".utf8)
            return written
        }
    }
}
