extension Appender {
    /// Takes note of an origin whose stamp did not move this node's clock.
    func flag(_ index: Int, _ stamp: HybridTime, wall: Int64) throws(DatabaseError) {
        let ahead = stamp.milliseconds - wall
        guard state.skews[index]?.isSurpassed(by: ahead) ?? true else { return }
        let skew = ClockSkew(ahead: ahead, at: wall)
        try Schema.setMeta("skew \(state.origins[index].id)", .text(skew.text), on: connection)
        noteSkew(index, skew)
    }
}
