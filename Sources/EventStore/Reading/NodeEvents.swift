/// What nodes have written of themselves, of some types, read as it comes.
///
/// A node speaks for itself alone: under the user `node/<its id>`, in origins of its own.
package struct NodeEvents: Sendable {
    /// How far a node's own events were read.
    private struct Reading {
        var origins: Set<OriginID> = []
        var last: DisplayKey?
        /// Whether some of them had lost their payload.
        var isPartial = false
    }

    private static let page = 500
    private let types: [String]
    private var readings: [NodeID: Reading] = [:]

    package init(types: [String]) { self.types = types }

    /// Gives `take` what has come since the last time, each node's in the order of display. What comes again changes nothing for a reader
    /// that takes it twice. What has lost its payload comes with `nil`, and each time, with all of its node: a peer may give it back.
    package mutating func update(
        _ views: ViewReader, _ take: (EventHeader, JSONObject?, NodeID) -> Void
    ) throws(StoreError) {
        var origins: [NodeID: Set<OriginID>] = [:]
        for origin in try views.log.origins() { origins[origin.node, default: []].insert(origin.id) }
        for (node, own) in origins { try read(node, own, views, take) }
    }

    private mutating func read(
        _ node: NodeID, _ own: Set<OriginID>, _ views: ViewReader, _ take: (EventHeader, JSONObject?, NodeID) -> Void
    ) throws(StoreError) {
        var reading = readings[node] ?? Reading()
        // The stamps of a new origin may begin before those of the one before it: then all is read again, which changes nothing.
        if reading.origins != own || reading.isPartial { reading = Reading(origins: own) }
        var query = TimelineQuery()
        query.types = types
        var bound = reading.last
        repeat {
            let page = try views.oldest(Self.page, of: .user("node/\(node)"), query, after: bound)
            for entry in page.entries {
                let header = entry.stored.event.header
                // What others write in its name does not count, nor how far ahead of all that is.
                guard own.contains(header.dot.origin) else { continue }
                reading.last = max(reading.last ?? header.displayKey, header.displayKey)
                let object = entry.stored.event.payload.map { JSONObject(validated: $0) }
                if object == nil { reading.isPartial = true }
                take(header, object, node)
            }
            bound = page.next
        } while bound != nil
        readings[node] = reading
    }
}
