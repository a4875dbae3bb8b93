/// A file of views under work.
struct ProjectionTarget {
    let path: String
    let store: ViewStore
    /// Those that stand together.
    let views: ViewGroup
    /// Those that follow them.
    let deferred: ViewGroup
    let trees: [LSMTree]
    let held: HeldFiles
    /// The names of views that were begun anew when it was opened.
    let renewed: [String]
    /// The views that do not stand where the others do yet, and how far they are.
    var behind: [String: UInt64]
    /// The last position that the deferred views have applied.
    var indexed: UInt64
    /// How many events are quarantined here.
    var quarantined: UInt64
    private var quarantine: DigestSum
    let wal: ViewsWAL

    init(
        path: String, source: ProjectionSource, tails: ViewMemtables, _ versions: ViewVersions
    ) throws(DatabaseError) {
        self.path = path
        let made = ViewDatabase.makeViews(tails)
        views = ViewGroup(made.filter { !type(of: $0).isDeferred }, isWhole: true)
        deferred = ViewGroup(made.filter { type(of: $0).isDeferred }, isWhole: false)
        trees = made.compactMap(\.tree)
        let connection = try Connection(path: path, mode: .write)
        try SearchTokenizer.register(on: connection)
        try connection.execute(
            """
            PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0;
            PRAGMA cache_size = -8192;
            """)
        wal = ViewsWAL(connection)
        // What another left in it counts, too.
        try connection.checkpoint()
        held = HeldFiles([path])
        store = ViewStore(connection: connection, source: source)
        renewed = try ViewDatabase.renew(made, store, versions)
        for view in made {
            view.digest = try DigestSum(of: type(of: view).name, connection)
            try view.load(store)
        }
        quarantine = try DigestSum(of: QuarantinedEvent.digest, connection)
        for tree in trees { try tree.load(connection) }
        behind = try ViewDatabase.behind(connection)
        indexed = try ViewDatabase.deferred(connection)
        for view in deferred.all { try ViewDatabase.place(type(of: view), at: indexed, connection) }
        quarantined = try ViewDatabase.quarantined(connection)
        connection.gatherWALWrites()
        connection.paceCopying()
    }

    /// A view refuses an event, or this release cannot read it at all.
    mutating func quarantine(_ event: ProjectedEvent, _ view: String, _ reason: String) throws(DatabaseError) {
        try store.connection.run(
            "INSERT OR IGNORE INTO quarantine VALUES(?, ?, ?)", .unsigned(event.position), .text(view), .text(reason))
        if store.connection.changes > 0 { quarantine.add([.dot(event.key.dot), .text(view)]) }
    }

    /// Stores what the views of a group, and the quarantine, come to.
    mutating func saveDigests(_ group: ViewGroup) throws(DatabaseError) {
        for view in group.all { try view.digest.save(as: type(of: view).name, store.connection) }
        try quarantine.save(as: QuarantinedEvent.digest, store.connection)
    }

    /// Reads again which views are behind, and how many events are quarantined.
    mutating func lookAgain() throws(DatabaseError) {
        behind = try ViewDatabase.behind(store.connection)
        quarantined = try ViewDatabase.quarantined(store.connection)
    }

    /// Views that were opened.
    struct Opened {
        let target: ProjectionTarget
        /// The position that they have applied.
        let position: UInt64
        /// What has become of those that were there, if they are of another release.
        let renewal: String?
    }

    /// Opens the first of `paths` whose views can be used; else makes new ones at the last of them.
    static func open(
        _ paths: [String], _ top: UInt64, _ source: ProjectionSource, _ tails: ViewMemtables, _ versions: ViewVersions
    ) throws(StoreError) -> Opened {
        var renewal: String?
        for path in paths {
            let standing = try ViewDatabase.standing(at: path, of: source.log, through: top)
            if standing == nil, let version = ViewDatabase.strangeVersion(at: path) {
                renewal = renewal ?? "the views of version \(version) are all built anew"
            }
            guard let standing, let target = try usable(path, source, tails, versions) else { continue }
            if !target.renewed.isEmpty {
                renewal = "views of another version are built anew: \(target.renewed.joined(separator: ", "))"
            }
            return Opened(target: target, position: standing.position, renewal: renewal)
        }
        let new = paths[paths.count - 1]
        let incarnation = try source.log.viewMark()
        let target = try mapped { () throws(DatabaseError) in
            try ViewDatabase.create(at: new, incarnation: incarnation, versions)
            return try ProjectionTarget(path: new, source: source, tails: tails, versions)
        }
        return Opened(target: target, position: 0, renewal: renewal)
    }

    /// The views at `path`; `nil` if they turn out to be damaged.
    private static func usable(
        _ path: String, _ source: ProjectionSource, _ tails: ViewMemtables, _ versions: ViewVersions
    ) throws(StoreError) -> ProjectionTarget? {
        do {
            return try ProjectionTarget(path: path, source: source, tails: tails, versions)
        } catch .damage {
            return nil
        } catch {
            throw StoreError(error)
        }
    }
}

/// Views that are given the same events: those that stand together, those that follow them, or those that are built anew while the others
/// wait.
struct ViewGroup {
    let all: [any View]
    /// Those that only list events, whatever is in them.
    private let lists: [any View]
    /// Those that are given messages.
    private let dialogue: [any View]
    /// Those that see every event before any of them takes it in.
    let watching: [any View]
    /// Whether they are those that stand together: what none of them can read is quarantined for all.
    let isWhole: Bool

    init(_ views: [any View], isWhole: Bool) {
        all = views
        lists = views.filter { type(of: $0).takesAll }
        dialogue = views.filter { type(of: $0).takesAll || type(of: $0).readsMessages }
        watching = views.filter { type(of: $0).isWatching }
        self.isWhole = isWhole
    }

    /// The views that have something to do with an event. What this release cannot read is listed if it can be, and not interpreted;
    /// nor are messages and what has no meaning here.
    func views(for event: ProjectedEvent) -> [any View] {
        if let obstacle = event.obstacle { return obstacle.isListed ? lists : [] }
        if event.isMessage { return dialogue }
        return event.type?.isRead == true ? all : lists
    }

    /// Whether the view of this name is one of them.
    func hasView(_ name: String) -> Bool { isWhole || all.contains { type(of: $0).name == name } }
}
