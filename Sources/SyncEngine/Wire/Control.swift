internal import EventStore

/// Asks for a Pong, to see whether the peer lives, how far it is and how its clock stands.
package struct Ping: Hashable, Sendable {
    /// Tells pings apart.
    package var nonce: UInt64
    /// The sender's clock, Unix milliseconds.
    package var clock: Int64
}

extension Ping {
    func write(to writer: inout ProtobufWriter) {
        writer.fixed64(1, nonce)
        writer.uint(2, UInt64(bitPattern: clock))
    }

    init(_ message: consuming MessageReader) throws(WireError) {
        self.init(nonce: 0, clock: 0)
        while let field = try message.next() {
            switch field.number {
            case 1: nonce = try message.bits(field)
            case 2: clock = try message.clock(field)
            default: break
            }
        }
    }
}

/// Answers a Ping at once: with its nonce, and the clock of who answers.
package typealias Pong = Ping

/// The last frame before closing.
package struct Bye: Hashable, Sendable {
    /// A ``SessionErrorCode``, or one of a later version.
    package let code: UInt32
    /// For people; at most ``WireLimits/byeText`` bytes. From a peer it is as hostile as any text.
    package let text: String
    /// The earliest time to come back, milliseconds from now.
    package let retryAfter: UInt32

    /// A Bye of these parts; a longer text is cut.
    package init(code: UInt32, text: String = "", retryAfter: UInt32 = 0) {
        self.code = code
        self.text = cut(text, toBytes: WireLimits.byeText)
        self.retryAfter = retryAfter
    }

    /// A Bye with a code of this release.
    package init(_ code: SessionErrorCode, text: String = "", retryAfter: UInt32 = 0) {
        self.init(code: code.rawValue, text: text, retryAfter: retryAfter)
    }

    /// The code, if this release knows it.
    package var knownCode: SessionErrorCode? { SessionErrorCode(rawValue: code) }

    /// What to do about it; codes of later versions are retried.
    package var errorClass: SessionErrorCode.Class { knownCode?.errorClass ?? .retry }
}

extension Bye {
    func write(to writer: inout ProtobufWriter) {
        writer.uint(1, UInt64(code))
        writer.text(2, text)
        writer.uint(3, UInt64(retryAfter))
    }

    init(_ message: consuming MessageReader) throws(WireError) {
        var code = UInt32(0), retryAfter = UInt32(0)
        var text = ""
        while let field = try message.next() {
            switch field.number {
            case 1: code = try message.uint32(field)
            case 2: text = try message.text(field)
            case 3: retryAfter = try message.uint32(field)
            default: break
            }
        }
        guard text.utf8.count <= WireLimits.byeText else {
            throw message.invalid("text is over \(WireLimits.byeText) bytes")
        }
        self.init(code: code, text: text, retryAfter: retryAfter)
    }
}

/// The longest run of whole Unicode scalars at the start of `text` within `limit` bytes of UTF-8.
func cut(_ text: String, toBytes limit: Int) -> String {
    guard text.utf8.count > limit else { return text }
    var end = text.utf8.index(text.startIndex, offsetBy: limit)
    while String.Index(end, within: text.unicodeScalars) == nil { end = text.utf8.index(before: end) }
    return String(text.unicodeScalars[..<end])
}
