package import CommandLineKit
package import EventStore

/// What changed between two moments, a line each (docs/reference/CLI-JSON.md).
extension JSONLine {
    /// `{"type":"change",…}`.
    ///
    /// - Parameter event: The event in its native form.
    package init(_ change: TimelineChange, _ event: [UInt8]) {
        self.init(type: "change")
        add("changes", change.kinds.map(\.rawValue))
        addRaw("event", event[...])
        if let before = change.before {
            addObject("before") { $0.add(state: before) }
        } else {
            addRaw("before", "null")
        }
        addObject("after") { $0.add(state: change.after) }
    }

    /// `{"type":"field_change",…}`.
    package init(_ change: ProfileChange) {
        self.init(type: "field_change")
        add("name", (change.after ?? change.before)?.name)
        for (name, field) in [("before", change.before), ("after", change.after)] {
            guard let field else {
                addRaw(name, "null")
                continue
            }
            let line = JSONLine(field)
            addRaw(name, line.utf8[...])
        }
    }

    /// What stood there.
    private mutating func add(state entry: TimelineEntry) {
        add("event", entry.stored.event.header.dot.description)
        let said = entry.stored.event.payload.flatMap { JSONObject(validated: $0).string("text") }
        add("text", entry.edited ?? said)
        add("edits", entry.edits)
        add("retracted", entry.isRetracted)
        add("beside", (entry.history?.amendments.count { !$0.counts }) ?? 0)
    }
}

extension PointInTime {
    /// The members of a moment.
    package func add(to line: inout JSONLine) {
        if let asOf { line.add("as_of", Timestamp.text(asOf)) }
        if let knownAt { line.add("known_at", knownAt) }
    }
}
