internal import EventStore

/// Places for attachments that are coming, so shared that no one takes them all.
///
/// Each may have as many as are free for others: half of them, if no one else sends. So a place is left for who comes next, and nothing is
/// kept empty for those who do not come (dynamic thresholds: Choudhury and Hahne, "Dynamic queue length thresholds for shared-memory packet
/// switches", 1998).
struct UploadPlaces {
    /// What comes of asking for a place.
    enum Outcome: Equatable {
        case taken
        /// There is none.
        case full
        /// The one who asks has so many already, and what is left is for others.
        case enough(Int)
    }

    static let most = 16

    private var taken: [ByteText: Int] = [:]
    private var free = UploadPlaces.most

    mutating func take(for principal: String) -> Outcome {
        guard free > 0 else { return .full }
        let own = taken[ByteText(principal)] ?? 0
        guard own < free else { return .enough(own) }
        taken[ByteText(principal)] = own + 1
        free -= 1
        return .taken
    }

    mutating func giveBack(of principal: String) {
        guard let own = taken[ByteText(principal)] else { return }
        taken[ByteText(principal)] = own > 1 ? own - 1 : nil
        free += 1
    }
}
