package import EventStore

// What the files of a store say.
extension NodeNotice {
    /// What the files of a store say without their daemon: forks, and why the node appends to another origin than before.
    package static func standing(_ files: StoreFiles) throws(StoreError) -> [NodeNotice] {
        let log = try LogReader(files)
        let own = try log.origins(of: try StoreIdentity(log).node)
        var notices: [NodeNotice] = []
        let proofs = Dictionary(grouping: try ForkEvidence.list(files), by: \.origin)
        for (origin, proofs) in proofs.sorted(by: { $0.key < $1.key }) {
            var at = Int64(0)
            for proof in proofs { at = max(at, try log.event(proof.dot)?.event.header.hlc.milliseconds ?? 0) }
            let isOwn = own.contains { $0.id == origin }
            notices.append(.fork(origin, isOwn: isOwn, with: "another node", proofs, at: at))
        }
        notices += try CutEvidence.standing(files, log).map(cut)
        notices += try flagged(log, wall: WallClock.now)
        for turn in Self.open(own) {
            let size = own.first { $0.id == turn.succession.previous }?.size ?? 0
            notices.append(.succession(turn, size: size))
        }
        return notices
    }

    /// Origins whose stamps were too far ahead when they came here.
    package static func flagged(_ log: LogReader, wall: Int64) throws(StoreError) -> [NodeNotice] {
        let own = try StoreIdentity(log).node
        return try log.flaggedOrigins().map { flagged in
            let isAhead = flagged.isAhead(of: wall)
            let end = flagged.next.map { "; that is over: the node has gone on with origin \($0)" } ?? ""
            let text =
                "stamps of origin \(flagged.origin) (node \(flagged.node.short)) were up to \(flagged.skew.ahead / 1_000) s "
                + "ahead of this clock when they came, at \(Timestamp.text(flagged.skew.at)); its events are kept, and moved no "
                + "other clock\(end)"
            return NodeNotice(
                .clock, isAhead ? .warning : .information, subject: flagged.origin.description, text,
                action: isAhead ? "set the clock of that node right; it then goes on with a new origin" : "",
                at: flagged.skew.at, flagged.node == own ? .state : flagged.matter)
        }
    }
}

extension FlaggedOrigin {
    /// What a settlement of its stamps has to name. The skew was measured when the stamp came: together they are the stamp.
    fileprivate var matter: NodeNotice.Matter {
        .stamps(seq: size, last: last, worst: skew.at.addingSaturated(skew.ahead))
    }
}
