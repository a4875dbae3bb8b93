/// A write of which it is told whether another one knows of it.
protocol CausalWrite {
    var stamp: Stamp { get }
    /// Whether no other write of the same knows of it.
    var isMaximal: Bool { get set }
}

/// Writes of one thing by several who may not know of each other.
enum CausalWrites {
    /// Those that stand once `write` has come: the last one, and those that no other knows of.
    ///
    /// - Parameter isKnown: Whether the origin of `write` had applied an event when it appended this one.
    static func adding<Write: CausalWrite, Failure: Error>(
        _ write: Write, to writes: [Write], isKnown: (Dot) throws(Failure) -> Bool
    ) throws(Failure) -> [Write] {
        // A name that stands twice in one event.
        if writes.contains(where: { $0.stamp == write.stamp }) { return writes }
        var all = writes
        for index in all.indices where all[index].isMaximal {
            if try isKnown(all[index].stamp.key.dot) { all[index].isMaximal = false }
        }
        all.append(write)
        all.sort { $0.stamp < $1.stamp }
        let last = all[all.count - 1].stamp
        all.removeAll { !$0.isMaximal && $0.stamp != last }
        return all
    }
}
