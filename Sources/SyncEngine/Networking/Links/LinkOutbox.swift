/// Frames waiting to be written: all control frames go before all data frames, each kind in order. A pure value.
struct LinkOutbox {
    struct Entry {
        var header: LinkFrameHeader
        var body: [UInt8]
        var size: Int { LinkFrameHeader.length + body.count }
    }

    /// A frame, or a part of one: all of a frame's parts come one after the other.
    struct Part {
        /// In a frame's first part.
        var header: LinkFrameHeader?
        var body: ArraySlice<UInt8>
        var size: Int { (header == nil ? 0 : LinkFrameHeader.length) + body.count }
    }

    private var control = FrameQueue()
    private var data = FrameQueue()
    /// What is left of the body of the frame that was begun.
    private var rest: ArraySlice<UInt8> = []
    /// Headers and bodies of all waiting frames.
    private(set) var bytes = 0

    var isEmpty: Bool { control.isEmpty && data.isEmpty && rest.isEmpty }

    mutating func append(_ entry: Entry, priority: TLSLink.Priority) {
        switch priority {
        case .control: control.append(entry)
        case .data: data.append(entry)
        }
        bytes += entry.size
    }

    /// What to write next, with at most `most` bytes of a body.
    mutating func next(most: Int) -> Part? {
        var part = Part(header: nil, body: rest)
        if rest.isEmpty {
            guard let entry = control.next() ?? data.next() else { return nil }
            part = Part(header: entry.header, body: entry.body[...])
        }
        rest = part.body.dropFirst(most)
        part.body = part.body.prefix(most)
        bytes -= part.size
        return part
    }

    mutating func removeAll() { self = LinkOutbox() }
}

/// First in, first out; taking is O(1), and memory of taken frames is given back at once.
private struct FrameQueue {
    private var entries: [LinkOutbox.Entry?] = []
    private var head = 0

    var isEmpty: Bool { head == entries.count }

    mutating func append(_ entry: LinkOutbox.Entry) { entries.append(entry) }

    mutating func next() -> LinkOutbox.Entry? {
        guard !isEmpty else { return nil }
        defer { compact() }
        let entry = entries[head]
        entries[head] = nil
        head += 1
        return entry
    }

    private mutating func compact() {
        guard head == entries.count || head >= 1024 else { return }
        entries.removeFirst(head)
        head = 0
    }
}
