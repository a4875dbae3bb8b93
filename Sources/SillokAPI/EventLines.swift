package import CommandLineKit
package import EventStore

/// The native form of events: with the node of their origin, and with what counts in place of a twin. Not Sendable.
package final class EventLines {
    private let reader: LogReader
    private var writer: NativeLineWriter
    private let sha = SHA256()

    package init(_ reader: LogReader) throws(StoreError) {
        self.reader = reader
        writer = NativeLineWriter(nodes: try reader.nodes())
    }

    /// Whether they are of that log.
    package func isOf(_ log: LogReader) -> Bool { reader === log }

    /// The event in its native form inside a line of JSON output: `{"type":"event","v":1,"event":{…}}`. The leaf, which
    /// costs a hash, is left to ``line(_:)``.
    package func wrapped(_ event: StoredEvent) throws(StoreError) -> JSONLine {
        try learn(event.event.header.dot.origin)
        let (counting, others) = try reader.twins(of: event)
        var line = JSONLine(type: "event")
        line.addRaw("event", writer.line(event, twinOf: counting)[...])
        if others > 0 { line.add("twins", others) }
        return line
    }

    /// How many others were recorded as the event, with another payload.
    package func twins(of event: StoredEvent) throws(StoreError) -> Int { try reader.twins(of: event).others }

    /// The event in its native form, without its leaf.
    func native(_ event: StoredEvent) throws(StoreError) -> ArraySlice<UInt8> {
        try learn(event.event.header.dot.origin)
        return writer.line(event, twinOf: try reader.counting(inPlaceOf: event))[...]
    }

    /// The line with its newline.
    package func line(_ event: StoredEvent) throws(StoreError) -> [UInt8] {
        try object(event).bytes + [UInt8(ascii: "\n")]
    }

    /// The object without a newline, and the leaf that it names.
    package func object(_ event: StoredEvent) throws(StoreError) -> (bytes: [UInt8], leaf: Digest) {
        try learn(event.event.header.dot.origin)
        let leaf = sha.leaf(of: event.event)
        return (writer.line(event, leaf: leaf, twinOf: try reader.counting(inPlaceOf: event)), leaf)
    }

    /// Makes what writes lines of events up to position `top` on several threads, for each of them.
    ///
    /// - Parameter origins: Only events of these; `nil`: all.
    package func adder(
        upTo top: UInt64, of origins: Set<OriginID>? = nil
    ) throws(StoreError) -> @Sendable () -> (inout LinePart, StoredEvent) -> Void {
        writer = NativeLineWriter(nodes: try reader.nodes())
        let writer = writer
        let twins = try reader.twinMarks(through: top)
        return {
            let sha = SHA256()
            return { part, event in
                if let origins, !origins.contains(event.event.header.dot.origin) { return }
                writer.append(
                    event, leaf: sha.leaf(of: event.event), twinOf: twins[event.position], to: &part.bytes)
                part.bytes.append(UInt8(ascii: "\n"))
                part.count += 1
                if event.event.isErased { part.erased += 1 }
            }
        }
    }

    /// An origin may have come after the others were read.
    private func learn(_ origin: OriginID) throws(StoreError) {
        guard !writer.knows(origin) else { return }
        writer = NativeLineWriter(nodes: try reader.nodes())
    }
}

/// Lines of events in a row, each with its newline.
package struct LinePart: ReplayPart {
    package var bytes: [UInt8] = []
    package var count: UInt64 = 0
    package var erased: UInt64 = 0

    package init() {}

    package mutating func removeAll(keepingCapacity: Bool) {
        bytes.removeAll(keepingCapacity: keepingCapacity)
        (count, erased) = (0, 0)
    }
}
