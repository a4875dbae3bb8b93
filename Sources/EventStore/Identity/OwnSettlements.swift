/// Which findings about this store an operator has settled: what `verify`, which reads no views, takes from the log (FORMATS.md §5).
/// Only what the store's own node has appended counts.
struct OwnSettlements {
    /// The node that the store belongs to; `nil` where the log does not say.
    private let node: NodeID?
    /// The latest of each, by code and subject, Unix milliseconds.
    private var times: [String: Int64] = [:]
    /// Those that name the very time of what they settle: a clock that was ahead may have dated that later than them.
    private var named: [String: Int64] = [:]

    init(of node: NodeID?) { self.node = node }

    /// Takes note of an event of `writer`, if it settles something.
    mutating func take(_ event: Event, of writer: NodeID) {
        guard event.header.type == ReservedType.findingSettled, writer == node, let payload = event.payload,
            event.header.user == "node/\(writer)"
        else { return }
        let object = JSONObject(validated: payload)
        guard let code = object["code"]?.text, let subject = object["subject"]?.text else { return }
        let name = "\(code) \(subject)"
        let time = event.header.hlc.milliseconds
        times[name] = max(times[name] ?? .min, time)
        if let of = object["of"]?.text { named["\(name) \(of)"] = time }
    }

    /// Whether it was settled that events of this origin are lost (`AMNESIA`).
    func hasSettledLoss(of origin: OriginID) -> Bool { times["AMNESIA \(origin)"] != nil }

    /// When the finding was settled; `nil` if it was not, after it was found.
    func time(of found: CutEvidence) -> Int64? {
        let name = "\(found.kind.code) \(found.name)"
        if let time = times[name], time >= found.at { return time }
        return named["\(name) \(Timestamp.text(found.at))"]
    }
}
