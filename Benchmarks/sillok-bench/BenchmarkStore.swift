internal import EventStore

/// A store with its views followed, as a daemon has it.
struct BenchmarkStore {
    let store: EventStore
    let projector: ProjectorThread?
    private let observer: Int?

    /// Opens the store in `folder`; makes one if there is none.
    init(_ folder: String, name: String = "bench", withViews: Bool) throws {
        if !StoreFiles(folder).exists { try EventStore.create(in: folder, name: name) }
        store = try EventStore(opening: folder)
        guard withViews else {
            (projector, observer) = (nil, nil)
            return
        }
        let projector = ProjectorThread(store.files, top: try LogReader(store.files).top())
        self.projector = projector
        observer = projector.observe(store)
        try waitForViews()
    }

    /// Blocks until every view has what the log has, but for the search, which follows.
    func waitForViews() throws {
        guard let projector else { return }
        guard projector.wait(for: try LogReader(store.files).top(), milliseconds: 600_000) else {
            throw BenchmarkError("the views did not catch up: \(String(describing: projector.lastError))")
        }
    }

    /// Blocks until searches find all that the log has.
    func waitForSearch() throws {
        guard let projector else { return }
        guard projector.waitUntilIndexed(try LogReader(store.files).top(), milliseconds: 600_000) else {
            throw BenchmarkError("the search did not catch up: \(String(describing: projector.lastError))")
        }
    }

    func close() {
        if let observer { store.removeObserver(observer) }
        projector?.stop()
        store.close()
    }

    /// Appends in one commit, and fails if one event is not stored. The events of a daemon's clients wait when the views
    /// are far behind (`Service.maximumLag`); so do these.
    func append(_ drafts: [EventDraft]) throws {
        try check(try store.appendBlocking(drafts, atomicity: .each))
    }

    func append(_ draft: EventDraft) async throws {
        try check(try await store.append([draft], atomicity: .each))
    }

    private func check(_ outcomes: [AppendOutcome]) throws {
        guard outcomes.allSatisfy({ if case .appended = $0 { true } else { false } }) else {
            throw BenchmarkError("an event was not appended: \(outcomes.first.map { "\($0)" } ?? "no outcome")")
        }
    }
}
