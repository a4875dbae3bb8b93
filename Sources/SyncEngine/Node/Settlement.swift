package import EventStore

/// That somebody has seen a notice and dealt with what it tells: an event of type `finding.settled`, which all nodes get.
/// Its payload is `{"code":"FORK","subject":"<origin>","note":"…"}`, its user `node/<64 hex digits>`, the node it was
/// settled at.
package struct Settlement: Hashable, Sendable {
    package static let type = "finding.settled"

    package let code: String
    package let subject: String
    /// What the operator said about it; may be empty.
    package let note: String
    /// Where it was settled.
    package let node: NodeID
    /// When, Unix milliseconds.
    package let at: Int64

    /// The event that settles a notice at `node`.
    package static func draft(code: String, subject: String, note: String, at node: NodeID) -> EventDraft {
        var payload = Array(#"{"code":"#.utf8)
        JSONText.append(code, to: &payload)
        payload += #","subject":"#.utf8
        JSONText.append(subject, to: &payload)
        if !note.isEmpty {
            payload += #","note":"#.utf8
            JSONText.append(note, to: &payload)
        }
        payload.append(UInt8(ascii: "}"))
        return EventDraft(type: type, user: "node/\(node)", payload: payload)
    }

    /// Reads the event; `nil` if it is none, or its user is not the node that wrote it.
    ///
    /// - Parameter writer: The node that the event's origin belongs to.
    package init?(_ event: Event, by writer: NodeID) {
        guard event.header.type == Self.type, event.header.user == "node/\(writer)", let payload = event.payload
        else {
            return nil
        }
        let object = JSONObject(validated: payload)
        guard let code = object.string("code"), let subject = object.string("subject") else { return nil }
        self.code = code
        self.subject = subject
        note = object.string("note") ?? ""
        node = writer
        at = event.header.hlc.milliseconds
    }

    /// All that the views know of, of every node.
    package static func all(in views: ViewReader) throws(StoreError) -> [Settlement] {
        var query = TimelineQuery()
        query.types = [type]
        var writers: [OriginID: NodeID] = [:]
        for origin in try views.log.origins() { writers[origin.id] = origin.node }
        var found: [Settlement] = []
        for node in Set(writers.values) {
            _ = try views.history(user: "node/\(node)", query) { entry in
                let event = entry.stored.event
                if writers[event.header.dot.origin] == node, let settlement = Settlement(event, by: node) {
                    found.append(settlement)
                }
                return true
            }
        }
        return found
    }

    /// Writes into the evidence that this node keeps of it that it is settled: `verify`, which reads no views, is to know.
    package static func keep(code: String, subject: String, at: Int64, _ files: StoreFiles) throws(StoreError) {
        switch NodeNotice.Code(rawValue: code) {
        case .logCut, .witnessLost: _ = try CutEvidence.settle(subject, files, at: at)
        default: break
        }
    }

    /// Whether it speaks of a notice of this code and subject that was last seen at `at`. What happens once is settled for good;
    /// what happens again after it was settled is open again.
    package func settles(code: String, subject: String, at: Int64) -> Bool {
        guard code == self.code, subject == self.subject else { return false }
        switch NodeNotice.Code(rawValue: code) {
        // Of an origin: each has one such story.
        case .fork, .amnesia, .newOrigin: return true
        default: return at <= self.at
        }
    }
}

extension NodeNotice {
    /// The newest settlement that speaks of it.
    package func settlement(among all: [Settlement]) -> Settlement? {
        all.filter { $0.settles(code: code.rawValue, subject: subject, at: at) }.max { $0.at < $1.at }
    }
}
