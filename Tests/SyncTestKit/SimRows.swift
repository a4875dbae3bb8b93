internal import EventStore
internal import SyncEngine

/// Pieces of a snapshot as docs/reference/FORMATS.md §7 describes them, read without the code under test.
enum SimRows {
    private static let conversation: UInt8 = 1
    private static let time: UInt8 = 2
    private static let author: UInt8 = 4
    private static let cause: UInt8 = 8
    private static let dependencies: UInt8 = 16
    private static let version: UInt8 = 32
    private static let erased: UInt8 = 128

    /// The events in a piece; `nil` unless it can be read.
    static func events(_ rows: SnapshotRows) -> [Event]? {
        var reader = Reader(rows)
        var events: [Event] = []
        for _ in 0..<rows.count {
            guard let event = reader.next() else { return nil }
            events.append(event)
        }
        return events
    }

    private struct Reader {
        private var columns: ArraySlice<UInt8>
        private var ids: ArraySlice<UInt8>
        private var salts: ArraySlice<UInt8>
        private var payloads: ArraySlice<UInt8>
        private var runs: [(origin: OriginID, next: UInt64)]
        private var names: [String] = []

        init(_ rows: SnapshotRows) {
            columns = rows.columns
            ids = rows.ids
            salts = rows.salts
            payloads = rows.payloads
            runs = rows.runs.map { ($0.origin, $0.first) }
            var texts = rows.names
            while let count = Self.varint(&texts), let bytes = Self.take(Int(count), &texts) {
                names.append(String(decoding: bytes, as: UTF8.self))
            }
        }

        mutating func next() -> Event? {
            guard let flags = columns.popFirst(), let run = Self.varint(&columns), run < runs.count,
                let hlc = Self.fixed(&columns), let type = name(), let user = name()
            else { return nil }
            let dot = Dot(origin: runs[Int(run)].origin, seq: runs[Int(run)].next)
            runs[Int(run)].next += 1
            let conversation = flags & SimRows.conversation != 0 ? name() : nil
            let time = flags & SimRows.time != 0 ? Self.fixed(&columns) : nil
            let author = flags & SimRows.author != 0 ? name() : nil
            let cause = flags & SimRows.cause != 0 ? Self.uuid(&columns) : nil
            var needs: [Dot] = []
            if flags & dependencies != 0 {
                guard let count = Self.varint(&columns) else { return nil }
                for _ in 0..<min(count, 1_000) {
                    guard let origin = Self.uuid(&columns), let seq = Self.varint(&columns) else { return nil }
                    needs.append(Dot(origin: OriginID(origin), seq: seq))
                }
            }
            let version = flags & SimRows.version != 0 ? Self.varint(&columns) ?? 1 : 1
            guard let id = Self.uuid(&ids), let body = body(isErased: flags & erased != 0) else { return nil }
            return Event(
                header: EventHeader(
                    dot: dot, hlc: HybridTime(rawValue: hlc), time: time.map(Int64.init(bitPattern:)),
                    id: EventID(id), type: type, conversation: conversation, user: user, author: author,
                    cause: cause.map(EventID.init), dependencies: needs, version: UInt32(clamping: version)),
                body: body)
        }

        private mutating func body(isErased: Bool) -> EventBody? {
            if isErased {
                return Self.take(32, &salts).flatMap { Digest(bytes: Array($0)) }
                    .map { .erased(payloadDigest: $0) }
            }
            guard let count = Self.varint(&columns), let salt = Self.uuid(&salts),
                let payload = Self.take(Int(clamping: count), &payloads)
            else { return nil }
            return EventBody.present(salt: salt, payload: Array(payload)).judged
        }

        private mutating func name() -> String? {
            guard let number = Self.varint(&columns), number < names.count else { return nil }
            return names[Int(number)]
        }

        private static func take(_ count: Int, _ bytes: inout ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
            guard count >= 0, count <= bytes.count else { return nil }
            defer { bytes = bytes.dropFirst(count) }
            return bytes.prefix(count)
        }

        private static func varint(_ bytes: inout ArraySlice<UInt8>) -> UInt64? {
            var value = UInt64(0)
            for shift in stride(from: UInt64(0), to: 64, by: 7) {
                guard let byte = bytes.popFirst() else { return nil }
                value |= UInt64(byte & 127) << shift
                if byte < 128 { return value }
            }
            return nil
        }

        private static func fixed(_ bytes: inout ArraySlice<UInt8>) -> UInt64? {
            take(8, &bytes).map { $0.reduce(0) { $0 << 8 | UInt64($1) } }
        }

        private static func uuid(_ bytes: inout ArraySlice<UInt8>) -> UUIDBits? {
            take(16, &bytes).flatMap { UUIDBits(bytes: $0) }
        }
    }
}
