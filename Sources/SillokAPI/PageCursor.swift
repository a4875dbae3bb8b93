package import EventStore

/// Where a page of an answer ended, in the terms of its route.
package enum PagePlace: Hashable, Sendable {
    /// In a history or a conversation.
    case entry(DisplayKey)
    /// In the list of conversations.
    case conversation(ConversationPlace)
    /// In the log, where the cursor says that it ended.
    case log
    /// In a list that is sorted by names.
    case names([String])
    /// In a list of attachments.
    case attachment(AttachmentPlace)

    fileprivate init?(_ bytes: ArraySlice<UInt8>) {
        var rest = bytes
        switch (rest.popFirst(), rest.count) {
        case (1, 40):
            let words = rest.words
            let origin = OriginID(UUIDBits(high: words[2], low: words[3]))
            self = .entry(
                DisplayKey(
                    time: Int64(bitPattern: words[0]), hlc: HybridTime(rawValue: words[1]),
                    dot: Dot(origin: origin, seq: words[4])))
        case (2, 16):
            let words = rest.words
            self = .conversation(
                ConversationPlace(time: Int64(bitPattern: words[0]), hlc: HybridTime(rawValue: words[1])))
        case (3, 0): self = .log
        case (4, _):
            var names: [String] = []
            while !rest.isEmpty {
                guard rest.count >= 4 else { return nil }
                let count = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
                rest.removeFirst(4)
                guard let name = String(validating: rest.prefix(count), as: UTF8.self), name.utf8.count == count
                else {
                    return nil
                }
                names.append(name)
                rest.removeFirst(count)
            }
            self = .names(names)
        case (5, 56):
            let words = rest.prefix(24).words
            guard let digest = Digest(bytes: rest.suffix(32)) else { return nil }
            self = .attachment(
                AttachmentPlace(
                    time: Int64(bitPattern: words[0]), hlc: Int64(bitPattern: words[1]), position: words[2],
                    digest: digest))
        default: return nil
        }
    }

    fileprivate var bytes: [UInt8] {
        var bytes: [UInt8]
        switch self {
        case .entry(let key):
            bytes = [1]
            bytes.appendBigEndian(key.time)
            bytes.appendBigEndian(key.hlc.rawValue)
            key.dot.origin.bits.append(to: &bytes)
            bytes.appendBigEndian(key.dot.seq)
        case .conversation(let place):
            bytes = [2]
            bytes.appendBigEndian(place.time)
            bytes.appendBigEndian(place.hlc.rawValue)
        case .log: bytes = [3]
        case .names(let names):
            bytes = [4]
            for name in names { bytes.append(counted: name) }
        case .attachment(let place):
            bytes = [5]
            bytes.appendBigEndian(place.time)
            bytes.appendBigEndian(place.hlc)
            bytes.appendBigEndian(place.position)
            bytes += place.digest.bytes
        }
        return bytes
    }
}

/// What `next` of a page's last line has, and `cursor` of the request for the next page. To clients it is an opaque text, of use
/// with the request it came from alone.
package struct PageCursor: Hashable, Sendable {
    private static let version: UInt8 = 3

    /// What it belongs to: ``scope(_:_:)``.
    package let scope: UInt64
    /// Where the log ended when the first page was made: what came later is on no page, so that none repeats or skips anything. Of the
    /// log itself where this page ended.
    package let end: LogPlace
    package let place: PagePlace

    package init(scope: UInt64, end: LogPlace, place: PagePlace) {
        (self.scope, self.end, self.place) = (scope, end, place)
    }

    /// `nil` if `text` is none.
    package init?(text: String) {
        guard let bytes = hexBytes(text), bytes.count > 33, bytes[0] == Self.version,
            let place = PagePlace(bytes[33...])
        else { return nil }
        let words = bytes[1..<33].words
        guard words[2] <= UInt64(Int64.max) else { return nil }
        let end = LogPlace(
            incarnation: words[1], position: words[2],
            leaf: words[2] == 0 ? nil : UInt32(truncatingIfNeeded: words[3]))
        self.init(scope: words[0], end: end, place: place)
    }

    package var text: String {
        var bytes = [Self.version]
        bytes.appendBigEndian(scope)
        bytes.appendBigEndian(end.incarnation)
        bytes.appendBigEndian(end.position)
        bytes.appendBigEndian(UInt64(end.leaf ?? 0))
        return hexText(bytes + place.bytes)
    }

    /// Tells requests apart whose pages do not go together: all counts but what asks for the next page, or how much of it.
    package static func scope(_ route: ReadRoute, _ query: [(name: String, value: String)]) -> UInt64 {
        var text: [UInt8] = []
        for segment in route.segments { text.append(counted: segment) }
        let filters = query.filter { !["cursor", "limit", "wait_ms", "at_least"].contains($0.name) }
        for (name, value) in filters.sorted(by: { ($0.name, $0.value) < ($1.name, $1.value) }) {
            text.append(counted: name)
            text.append(counted: value)
        }
        return SHA256().digest(text).bytes.prefix(8)[...].words[0]
    }
}

extension [UInt8] {
    fileprivate mutating func append(counted text: String) {
        appendBigEndian(UInt32(clamping: text.utf8.count))
        self += text.utf8
    }
}

extension ArraySlice<UInt8> {
    /// Big-endian numbers of eight bytes.
    fileprivate var words: [UInt64] {
        stride(from: startIndex, to: endIndex, by: 8).map { self[$0..<$0 + 8].reduce(0) { $0 << 8 | UInt64($1) } }
    }
}
