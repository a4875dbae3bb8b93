/// Reads server-sent events (WHATWG HTML §9.2.6) from bytes that are cut anywhere, also within a character.
///
/// Only what an event says is kept: names, ids and times of reconnection are nothing to a reply.
package struct ServerSentEvents: Sendable {
    /// Longest line, and longest event, that is taken.
    package static let longest = 1 << 20

    /// A line or an event has more than ``longest`` bytes.
    package struct TooLong: Error, Equatable {}

    private var line: [UInt8] = []
    private var data: [UInt8] = []
    private var hasData = false
    private var endedByCarriageReturn = false
    private var isFirstLine = true

    package init() {}

    /// The data of the events that end in `bytes`.
    package mutating func take(_ bytes: some Sequence<UInt8>) throws(TooLong) -> [[UInt8]] {
        var events: [[UInt8]] = []
        for byte in bytes {
            let isFeed = byte == UInt8(ascii: "\n")
            if isFeed || byte == UInt8(ascii: "\r") {
                // The two of CR LF are one end.
                if !(isFeed && endedByCarriageReturn), let event = endLine() { events.append(event) }
                endedByCarriageReturn = !isFeed
                continue
            }
            endedByCarriageReturn = false
            guard line.count < Self.longest else { throw TooLong() }
            line.append(byte)
        }
        guard data.count <= Self.longest else { throw TooLong() }
        return events
    }

    private mutating func endLine() -> [UInt8]? {
        defer { line.removeAll(keepingCapacity: true) }
        if isFirstLine {
            isFirstLine = false
            if line.starts(with: [0xef, 0xbb, 0xbf]) { line.removeFirst(3) }
        }
        guard !line.isEmpty else {
            defer {
                data.removeAll(keepingCapacity: true)
                hasData = false
            }
            return hasData ? data : nil
        }
        let name = line.prefix { $0 != UInt8(ascii: ":") }
        // A line that begins with a colon is a comment; other fields than data say nothing here.
        guard name.elementsEqual("data".utf8) else { return nil }
        var value = line.dropFirst(name.count + 1)
        if value.first == UInt8(ascii: " ") { value.removeFirst() }
        if hasData { data.append(UInt8(ascii: "\n")) }
        data += value
        hasData = true
        return nil
    }
}
