package import CommandLineKit
package import EventStore

/// What led to an event and what followed, a line each, on the command line and of the API alike (docs/reference/CLI-JSON.md).
package enum CauseLines {
    /// The type of its lines.
    package static let type = "why"

    package static func lines(_ tree: CauseTree, _ events: EventLines) throws(StoreError) -> [JSONLine] {
        var lines: [JSONLine] = []
        for node in tree.nodes { lines.append(try line(node, events)) }
        return lines
    }

    private static func line(_ node: CauseNode, _ events: EventLines) throws(StoreError) -> JSONLine {
        var line = JSONLine(type: type)
        line.add("id", node.id.description)
        line.add("parent", node.causes.first?.id.description)
        line.add("relation", node.causes.first?.relation.rawValue)
        line.add("depth", node.depth)
        if node.causes.count > 1 {
            line.addArray("also") { array in
                for link in node.causes.dropFirst() {
                    array.addObject { object in
                        object.add("id", link.id.description)
                        object.add("relation", link.relation.rawValue)
                    }
                }
            }
        }
        switch node.state {
        case .pending: line.add("state", "pending")
        case .hidden: line.add("state", "hidden")
        case .event(let entry, let quarantined):
            line.addRaw("event", try events.object(entry.stored).bytes[...])
            line.addHistory(of: entry)
            if !quarantined.isEmpty {
                line.addArray("quarantined") { array in
                    for refusal in quarantined {
                        array.addObject { object in
                            object.add("view", refusal.view)
                            object.add("reason", refusal.reason)
                        }
                    }
                }
            }
        }
        if let cut = node.cut { line.add("cut", cut.rawValue) }
        return line
    }
}
