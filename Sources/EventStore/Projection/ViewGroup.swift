/// Views that are given the same events: all of them, or those that are built anew while the others wait.
struct ViewGroup {
    let all: [any View]
    /// Those that only list events, whatever is in them.
    private let lists: [any View]
    /// Those that see every event before any of them takes it in.
    let watching: [any View]
    /// Whether no view is missing: then what none of them can read is quarantined for all.
    let isWhole: Bool

    init(_ views: [any View], isWhole: Bool) {
        all = views
        lists = views.filter { type(of: $0).takesAll }
        watching = views.filter { type(of: $0).isWatching }
        self.isWhole = isWhole
    }

    /// The views that have something to do with an event. What this release cannot read is listed if it can be, and not interpreted;
    /// nor are messages and what has no meaning here.
    func views(for event: ProjectedEvent) -> [any View] {
        if let obstacle = event.obstacle { return obstacle.isListed ? lists : [] }
        return event.type?.isRead == true ? all : lists
    }

    /// Whether the view of this name is one of them.
    func hasView(_ name: String) -> Bool { isWhole || all.contains { type(of: $0).name == name } }
}
