/// Writes stored events as native NDJSON: one CloudEvents 1.0 object per line, members always in the same order.
package struct NativeLineWriter: Sendable {
    /// `/nodes/<node id>/<origin>` of each origin whose events are written.
    private let sources: [OriginID: String]

    /// A writer of events of these origins, each with the node that writes to it. An event of another origin gets a
    /// `source` without a node.
    package init(nodes: [OriginID: NodeID]) {
        sources = Dictionary(
            uniqueKeysWithValues: nodes.map { origin, node in (origin, "/nodes/\(node)/\(origin)") })
    }

    /// Whether the node of `origin` is known.
    package func knows(_ origin: OriginID) -> Bool { sources[origin] != nil }

    /// The line of `event`, without a newline.
    package func line(_ event: StoredEvent, leaf: Digest? = nil, twinOf: Dot? = nil) -> [UInt8] {
        var out: [UInt8] = []
        append(event, leaf: leaf, twinOf: twinOf, to: &out)
        return out
    }

    /// Appends the line of `event`, without a newline.
    ///
    /// - Parameter twinOf: The event that counts in its place.
    package func append(
        _ stored: StoredEvent, leaf: Digest? = nil, twinOf: Dot? = nil, to out: inout [UInt8]
    ) {
        let header = stored.event.header
        out += #"{"specversion":"1.0","id":""#.utf8
        appendText(header.id.bits, to: &out)
        out += #"","type":"#.utf8
        JSONText.append(header.type, to: &out)
        out += #","source":""#.utf8
        out.append(text: sources[header.dot.origin] ?? "/nodes//\(header.dot.origin)")
        out += #"","time":""#.utf8
        Timestamp.append(header.time, to: &out)
        out += "\"".utf8
        if let conversation = header.conversation { append("subject", "conversation/" + conversation, to: &out) }
        append("user", header.user, to: &out)
        if !header.author.hasSameBytes(as: header.user) { append("author", header.author, to: &out) }
        if let actor = header.actor { append("actor", actor.text, to: &out) }
        if let cause = header.cause { append("cause", cause.description, to: &out) }
        if header.version != 1 { out += #","dataversion":\#(header.version)"#.utf8 }
        out += #","sequence":"\#(header.dot.seq)","position":"\#(stored.position)","hlc":"\#(header.hlc)""#.utf8
        if let leaf { append("leaf", leaf.description, to: &out) }
        if let twinOf { append("twinof", twinOf.description, to: &out) }
        if header.isOpaque { append("headerbytes", base64Text(header.unknownFields), to: &out) }
        switch stored.event.body {
        case .present(_, let payload):
            out += #","data":"#.utf8
            appendOnOneLine(payload, to: &out)
        case .unreadable(_, let bytes): append("data_base64", base64Text(bytes), to: &out)
        case .erased: out += #","erased":true"#.utf8
        }
        out.append(UInt8(ascii: "}"))
    }

    private func append(_ name: StaticString, _ value: String, to out: inout [UInt8]) {
        out += #",""#.utf8
        name.withUTF8Buffer { out += $0 }
        out += #"":"#.utf8
        JSONText.append(value, to: &out)
    }

    /// The 8-4-4-4-12 text form, without the arrays that `description` makes.
    private func appendText(_ bits: UUIDBits, to out: inout [UInt8]) {
        for index in 0..<16 {
            if index == 4 || index == 6 || index == 8 || index == 10 { out.append(UInt8(ascii: "-")) }
            let half = index < 8 ? bits.high : bits.low
            out.appendHex(UInt8(truncatingIfNeeded: half >> UInt64(56 - index % 8 * 8)))
        }
    }
}

/// Newlines of a JSON text stand between tokens only, where a blank means the same.
private func appendOnOneLine(_ payload: [UInt8], to out: inout [UInt8]) {
    let start = out.count
    out += payload
    for index in start..<out.count where out[index] == 0x0a || out[index] == 0x0d { out[index] = 0x20 }
}
