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
        var out = writer.line(event, leaf: sha.leaf(of: event.event))
        out.append(UInt8(ascii: "\n"))
        return out
    }
}
