internal import CommandLineKit
internal import EventStore

/// The native form of events with their Merkle leaves, which needs the node's name.
struct NativeLines {
    private let writer: NativeLineWriter
    private let sha = SHA256()

    init(_ reader: LogReader) throws(CommandFailure) {
        let name = try stored { try StoreIdentity(reader).name }
        writer = NativeLineWriter(node: name)
    }

    /// The event in its native form inside a line of JSON output: `{"type":"event","v":1,"event":{…}}`. The leaf, which
    /// costs a hash, is left to `export` and `show`.
    func wrapped(_ event: StoredEvent) -> JSONLine {
        var line = JSONLine(type: "event")
        line.addRaw("event", writer.line(event))
        return line
    }

    /// The line with its newline.
    func line(_ event: StoredEvent) -> [UInt8] {
        var out: [UInt8] = []
        Self.append(event, writer, sha, to: &out)
        return out
    }

    /// Makes what writes lines on several threads, for each of them.
    var adder: @Sendable () -> (inout LinePart, StoredEvent) -> Void {
        let writer = writer
        return {
            let sha = SHA256()
            return { part, event in
                Self.append(event, writer, sha, to: &part.bytes)
                part.count += 1
                if event.event.isErased { part.erased += 1 }
            }
        }
    }

    private static func append(
        _ event: StoredEvent, _ writer: NativeLineWriter, _ sha: SHA256, to out: inout [UInt8]
    ) {
        writer.append(event, leaf: sha.leaf(of: event.event), to: &out)
        out.append(UInt8(ascii: "\n"))
    }
}

/// Lines of events in a row, each with its newline.
struct LinePart: ReplayPart {
    var bytes: [UInt8] = []
    var count: UInt64 = 0
    var erased: UInt64 = 0

    mutating func removeAll(keepingCapacity: Bool) {
        bytes.removeAll(keepingCapacity: keepingCapacity)
        (count, erased) = (0, 0)
    }
}
