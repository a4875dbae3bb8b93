extension NativeLineWriter {
    /// Appends a draft as a native line, without a newline: what an importer hands to a daemon.
    package static func append(_ draft: EventDraft, to out: inout [UInt8]) {
        func text(_ name: String, _ value: String) {
            out.append(contentsOf: ",\"\(name)\":".utf8)
            JSONText.append(value, to: &out)
        }
        out.append(contentsOf: "{\"specversion\":\"1.0\"".utf8)
        if let id = draft.id { text("id", id.description) }
        text("type", draft.type)
        if let time = draft.time { text("time", Timestamp.text(time)) }
        if let conversation = draft.conversation { text("subject", "conversation/\(conversation)") }
        text("user", draft.user)
        if let author = draft.author { text("author", author) }
        if let cause = draft.cause { text("cause", cause.description) }
        if draft.version != 1 { out.append(contentsOf: ",\"dataversion\":\(draft.version)".utf8) }
        out.append(contentsOf: ",\"data\":".utf8)
        // Line breaks between tokens are blanks; inside strings they cannot stand.
        out.append(contentsOf: draft.payload.map { $0 == 0x0a || $0 == 0x0d ? 0x20 : $0 })
        out.append(UInt8(ascii: "}"))
    }
}
