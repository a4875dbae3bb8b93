internal import EventStore
internal import SyncEngine

/// Pieces of a snapshot as docs/reference/FORMATS.md §7 describes them, written and read without the code under test.
enum SimRows {
    private static let conversation: UInt8 = 1
    private static let time: UInt8 = 2
    private static let author: UInt8 = 4
    private static let cause: UInt8 = 8
    private static let dependencies: UInt8 = 16
    private static let version: UInt8 = 32
    private static let erased: UInt8 = 128

    /// The rows of `log` after `after`, as many as about `bytes` take, one at least.
    static func piece(of log: SimLog, after: UInt64, through: UInt64, bytes: Int) -> SnapshotRows {
        var writer = Writer(after: after)
        for stored in log.events[Int(after)..<Int(through)] {
            if writer.rows.count > 0, writer.rows.size >= bytes { break }
            writer.add(stored.event)
        }
        for run in writer.rows.runs.sorted(by: { $0.origin < $1.origin }) {
            let sizes = run.first..<run.first + (writer.counts[run.origin] ?? 0)
            writer.rows.heads += (log.origins[run.origin]?.heads ?? []).filter { sizes.contains($0.head.size) }
        }
        return writer.rows
    }

    private struct Writer {
        var rows: SnapshotRows
        var counts: [OriginID: UInt64] = [:]
        private var runs: [OriginID: Int] = [:]
        private var names: [[UInt8]: Int] = [:]

        init(after: UInt64) { rows = SnapshotRows(after: after) }

        mutating func add(_ event: Event) {
            let header = event.header
            var flags: UInt8 = 0
            if header.conversation != nil { flags |= conversation }
            if header.time != header.hlc.milliseconds { flags |= time }
            if header.author != header.user { flags |= author }
            if header.cause != nil { flags |= cause }
            if !header.dependencies.isEmpty { flags |= dependencies }
            if header.version > 1 { flags |= version }
            if event.isErased { flags |= erased }
            rows.columns.append(flags)
            varint(run(header.dot))
            fixed(header.hlc.rawValue)
            name(header.type)
            name(header.user)
            if let conversation = header.conversation { name(conversation) }
            if flags & time != 0 { fixed(UInt64(bitPattern: header.time)) }
            if flags & author != 0 { name(header.author) }
            if let cause = header.cause { rows.columns += cause.bits.bytes }
            if !header.dependencies.isEmpty {
                varint(header.dependencies.count)
                for dot in header.dependencies {
                    rows.columns += dot.origin.bits.bytes
                    varint(Int(dot.seq))
                }
            }
            if header.version > 1 { varint(Int(header.version)) }
            rows.ids += header.id.bits.bytes
            switch event.body {
            case .present(let salt, let payload), .unreadable(let salt, let payload):
                varint(payload.count)
                rows.salts += salt.bytes
                rows.payloads += payload
            case .erased(let digest): rows.salts += digest.bytes
            }
            rows.count += 1
            counts[header.dot.origin, default: 0] += 1
        }

        private mutating func run(_ dot: Dot) -> Int {
            if let known = runs[dot.origin] { return known }
            rows.runs.append(SnapshotRows.Run(origin: dot.origin, first: dot.seq))
            runs[dot.origin] = rows.runs.count - 1
            return rows.runs.count - 1
        }

        private mutating func name(_ text: String) {
            let bytes = Array(text.utf8)
            if let known = names[bytes] { return varint(known) }
            names[bytes] = names.count
            append(bytes.count, to: &rows.names)
            rows.names += bytes
            varint(names.count - 1)
        }

        private mutating func varint(_ value: Int) { append(value, to: &rows.columns) }

        private mutating func fixed(_ value: UInt64) {
            withUnsafeBytes(of: value.bigEndian) { rows.columns.append(contentsOf: $0) }
        }

        private func append(_ value: Int, to bytes: inout ArraySlice<UInt8>) {
            var rest = value
            while rest > 127 {
                bytes.append(UInt8(rest & 127) | 128)
                rest >>= 7
            }
            bytes.append(UInt8(rest))
        }
    }

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
