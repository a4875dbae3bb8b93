package import EventStore

/// That an operator has seen a notice and dealt with what it tells: an event of type `finding.settled`, which all nodes get.
/// Its payload is `{"code":"FORK","subject":"<origin>","of":"…","note":"…"}`, its user `node/<64 hex digits>`, the node it was
/// settled at. `of` names what there was to settle (docs/FORMATS.md §5): no one can do so before it happened.
package struct Settlement: Hashable, Sendable {
    package static let type = "finding.settled"

    package let code: String
    package let subject: String
    /// What it settles, as ``NodeNotice/of`` tells it; `nil` in those of earlier releases.
    package let of: String?
    /// What the operator said about it; may be empty.
    package let note: String
    /// Where it was settled.
    package let node: NodeID
    /// When, Unix milliseconds.
    package private(set) var at: Int64
    /// Up to which stamp it settles those of an origin, Unix milliseconds.
    private var stamp: Int64?

    /// The event that settles a notice at `node`.
    package static func draft(
        code: String, subject: String, of: String, note: String, at node: NodeID
    ) -> EventDraft {
        var payload: [UInt8] = []
        for (name, value) in [("code", code), ("subject", subject), ("of", of), ("note", note)] {
            if name == "note", value.isEmpty { continue }
            payload += "\(payload.isEmpty ? "{" : ",")\"\(name)\":".utf8
            JSONText.append(value, to: &payload)
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
        of = object.string("of")
        note = object.string("note") ?? ""
        node = writer
        at = event.header.hlc.milliseconds
    }

    /// All that count at the views' own node, whichever node they come from (docs/FORMATS.md §5).
    package static func all(in views: ViewReader) throws(StoreError) -> [Settlement] {
        var query = TimelineQuery()
        query.types = [type]
        var writers: [OriginID: NodeID] = [:]
        for origin in try views.log.origins() { writers[origin.id] = origin.node }
        var skews: [OriginID: ClockSkew] = [:]
        for flagged in try views.log.flaggedOrigins() { skews[flagged.origin] = flagged.skew }
        var found: [(settlement: Settlement, position: UInt64)] = []
        for node in Set(writers.values) {
            _ = try views.history(user: "node/\(node)", query) { entry in
                let event = entry.stored.event
                let origin = event.header.dot.origin
                if writers[origin] == node, var settlement = Settlement(event, by: node) {
                    // A stamp far ahead says nothing about what was before it.
                    if let skew = skews[origin] {
                        settlement.at = min(settlement.at, skew.at.addingSaturated(HybridClock.bound))
                    }
                    found.append((settlement, entry.stored.position))
                }
                return true
            }
        }
        let own = try StoreIdentity(views.log).node
        var all: [Settlement] = []
        for (settlement, position) in found where settlement.counts(at: own, writers) {
            if let settlement = try settlement.placed(position, views.log, writers) { all.append(settlement) }
        }
        return all
    }

    /// Notes in the evidence that this node keeps of it that it is settled. `verify` asks the log.
    package static func keep(code: String, subject: String, at: Int64, _ files: StoreFiles) throws(StoreError) {
        switch NodeNotice.Code(rawValue: code) {
        case .logCut, .witnessLost:
            try StoreLock.requirePrivate(files.folder)
            _ = try CutEvidence.settle(subject, files, at: at)
        default: break
        }
    }

    /// Whether its node may settle that for `own`. What a store has found of itself only its own node settles. A fork or a wrong
    /// clock is seen by all, and any node settles it for all but the one that writes the origin: that speaks for itself alone.
    private func counts(at own: NodeID, _ writers: [OriginID: NodeID]) -> Bool {
        guard node != own else { return true }
        guard let code = NodeNotice.Code(rawValue: code), code.isOfOrigin, let origin = OriginID(text: subject),
            let writer = writers[origin]
        else { return false }
        return writer != node
    }

    /// With the stamp that it names, where it is about stamps; `nil` if it does not count: no node settles what is wrong with his
    /// own clock, nor stamps that did not stand in the log before.
    private func placed(
        _ position: UInt64, _ log: LogReader, _ writers: [OriginID: NodeID]
    ) throws(StoreError) -> Settlement? {
        guard code == NodeNotice.Code.clock.rawValue else { return self }
        guard let origin = OriginID(text: subject), let writer = writers[origin], writer != node else { return nil }
        guard let of else { return self }
        let parts = of.split(separator: " ")
        guard parts.count == 2, let seq = UInt64(parts[0]), let hlc = HybridTime(text: parts[1]),
            let named = try log.event(Dot(origin: origin, seq: seq)), named.position < position,
            named.event.header.hlc == hlc
        else { return nil }
        var placed = self
        placed.stamp = hlc.milliseconds
        return placed
    }

    /// Whether it speaks of the notice. One of an earlier release, which names nothing, speaks of what came about before it.
    package func settles(_ notice: NodeNotice) -> Bool {
        guard notice.code.rawValue == code, notice.subject == subject else { return false }
        switch notice.matter {
        case .state: return false
        // A clock that was ahead may have dated it later than what settles it.
        case .moment: return notice.at <= at || of == notice.of
        case .once(let names, let since):
            guard let of else { return since <= at }
            return names.isSubset(of: of.split(separator: " ").map(String.init))
        case .stamps(_, _, let worst):
            return if of == nil { notice.at <= at } else { worst <= stamp ?? .min }
        }
    }
}

extension NodeNotice {
    /// What a settlement of it has to name; `nil` if nothing settles it.
    package var of: String? {
        switch matter {
        case .state: nil
        case .moment: Timestamp.text(at)
        case .once(let names, _): names.sorted().joined(separator: " ")
        case .stamps(let seq, let last, _): "\(seq) \(last)"
        }
    }

    /// The newest settlement that speaks of it.
    package func settlement(among all: [Settlement]) -> Settlement? {
        all.filter { $0.settles(self) }.max { $0.at < $1.at }
    }
}
