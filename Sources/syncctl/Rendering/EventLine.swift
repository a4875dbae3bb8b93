internal import CommandLineKit
internal import EventStore

extension JSONLine {
    /// An event as one line of JSON output:
    /// `{"type":"event","v":1,"position","id","origin","sequence","hlc","time","kind","user","author","conversation"?,
    /// "cause"?,"dataversion"?,"twin_of"?,"text","data"|"erased"}`.
    init(_ stored: StoredEvent) {
        let header = stored.event.header
        self.init(type: "event")
        addExact("position", stored.position)
        add("id", header.id.description)
        add("origin", header.dot.origin.description)
        addExact("sequence", header.dot.seq)
        add("hlc", header.hlc.description)
        add("time", Timestamp.text(header.time))
        add("kind", header.type)
        add("user", header.user)
        add("author", header.author)
        if let conversation = header.conversation { add("conversation", conversation) }
        if let cause = header.cause { add("cause", cause.description) }
        if header.version != 1 { add("dataversion", header.version) }
        if let twin = stored.twinOf { addExact("twin_of", twin) }
        if let payload = stored.event.payload {
            if let text = JSONObject(validated: payload).string("text") { add("text", text) }
            addRaw("data", payload)
        } else {
            add("erased", true)
        }
    }
}

/// The native form of events with their Merkle leaves, which needs the node's name.
struct NativeLines {
    private let writer: NativeLineWriter
    private let sha = SHA256()

    init(_ reader: LogReader) throws(CommandFailure) {
        let name = try stored { try StoreIdentity(reader).name }
        writer = NativeLineWriter(node: name)
    }

    /// The line with its newline.
    func line(_ event: StoredEvent) -> [UInt8] {
        var out = writer.line(event, leaf: sha.leaf(of: event.event))
        out.append(UInt8(ascii: "\n"))
        return out
    }
}
