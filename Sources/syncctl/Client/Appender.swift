internal import CommandLineKit
internal import EventStore
internal import Glibc
internal import SillokAPI

/// Appends events to a store: through its daemon when one runs, else directly under the writer's lock. Every draft needs
/// an id, so that a request whose answer was lost can be repeated.
enum Appender {
    /// `views` follow beside it when much is coming; `nil`: they are brought up to date in the end.
    case direct(EventStore, views: ProjectorThread?)
    /// `isImport`: what is appended happened elsewhere.
    case daemon(DaemonClient, isImport: Bool)

    /// Appends where the command line says: at the node of `--url`, or to the store here.
    static func open(_ session: Session) throws(CommandFailure) -> Appender {
        if let named = try DaemonClient.named(by: session) { return .daemon(named, isImport: false) }
        return try open(StoreLocation.find(for: session).files)
    }

    /// - Parameter isBulk: Whether many events are coming, from elsewhere.
    static func open(_ files: StoreFiles, isBulk: Bool = false) throws(CommandFailure) -> Appender {
        // Another syncctl has the store for a moment only while it brings the views up to date.
        let start = WallClock.now
        while true {
            do throws(CommandFailure) {
                if let daemon = try DaemonClient.running(files) { return .daemon(daemon, isImport: isBulk) }
                return try stored {
                    let store = try EventStore(opening: files.folder, owner: "syncctl pid \(getpid())")
                    guard isBulk else { return .direct(store, views: nil) }
                    return .direct(store, views: try ProjectorThread.following(store))
                }
            } catch {
                guard error.exitCode == .tryAgain, WallClock.now - start < 5_000 else { throw error }
                sleep(milliseconds: 20)
            }
        }
    }

    /// Who appends without a daemon: this process alone says whose it is.
    static var actor: EventActor? { EventActor(.file, principal: "uid:\(geteuid())") }

    private static func attributed(_ drafts: [EventDraft]) -> [EventDraft] {
        let actor = actor
        return drafts.map { draft in
            var draft = draft
            draft.actor = actor
            return draft
        }
    }

    /// A batch that was handed in; the call gives its results, in order, once they are durable.
    typealias Pending = () throws(CommandFailure) -> [AppendedLine]

    /// Hands in drafts, each of which stands for itself. A store takes the next batch while the disk syncs this one.
    func start(_ drafts: [EventDraft]) -> Pending {
        switch self {
        case .direct(let store, _):
            let answer = Monitor<Result<[AppendOutcome], StoreError>?>(nil)
            let drafts = Self.attributed(drafts)
            let handedIn = Self.submit(drafts, to: store, answer)
            return { () throws(CommandFailure) in
                defer { withExtendedLifetime(handedIn) {} }
                return try Self.results(of: drafts, store, answer)
            }
        case .daemon(let client, let isImport):
            return { () throws(CommandFailure) in
                try client.append(drafts, isImport: isImport)
            }
        }
    }

    /// Puts bytes that an event is about to name; the line says whether they are new.
    func put(_ bytes: AttachmentBytes) throws(CommandFailure) -> JSONObject {
        switch self {
        case .direct(let store, _): try store.put(bytes)
        case .daemon(let client, _): try client.put(bytes)
        }
    }

    /// Appends one event if its conversation has `expected` events on this node (D6).
    func append(_ draft: EventDraft, expecting expected: UInt64) throws(CommandFailure) -> [AppendedLine] {
        guard let conversation = draft.conversation else { throw usageFailure("--expect needs --conversation") }
        switch self {
        case .daemon(let client, _): return try client.append([draft], expecting: "\(conversation):\(expected)")
        case .direct(let store, _):
            let outcomes = try stored {
                try Projector.catchUp(store.files, isIndexed: false)
                let (actual, top) = try ViewReader(store.files).conversationVersion(conversation)
                let condition = AppendCondition(
                    ExpectedVersion(conversation: conversation, version: expected), found: actual, at: top)
                return try blocking { completion in
                    store.append([
                        AppendCall(
                            drafts: Self.attributed([draft]), atomicity: .each, condition: condition,
                            completion: completion)
                    ])
                }
            }
            return outcomes.map(AppendedLine.init)
        }
    }

    /// Brings the views up to date, signs and stores a head over what was appended, and lets go of the store.
    func close() {
        guard case .direct(let store, let views) = self else { return }
        // What was appended is durable; views that cannot be written now are caught up by the next reader.
        if let views {
            while views.lastError == nil, !views.wait(for: views.top, milliseconds: 100) {}
            views.stop()
        }
        // After many events, also what the views have not compacted yet: the next reader may be another process.
        _ = try? Projector.catchUp(store.files, isIndexed: false)
        store.close()
    }

    @discardableResult
    private static func submit(
        _ drafts: [EventDraft], to store: EventStore, _ answer: Monitor<Result<[AppendOutcome], StoreError>?>
    ) -> [DraftValidation] {
        store.append([AppendCall(drafts: drafts, atomicity: .each) { result in answer.wakeAll { $0 = result } }])
    }

    private static func results(
        of drafts: [EventDraft], _ store: EventStore, _ answer: Monitor<Result<[AppendOutcome], StoreError>?>
    ) throws(CommandFailure) -> [AppendedLine] {
        let start = WallClock.now
        while true {
            guard let result = answer.wait(for: { $0 }) else { throw CommandFailure(StoreError.closed) }
            if case .failure(.busy) = result, WallClock.now - start < DaemonClient.patience {
                sleep(milliseconds: 100)
                answer.withLock { $0 = nil }
                submit(drafts, to: store, answer)
                continue
            }
            return try stored { try result.get() }.map(AppendedLine.init)
        }
    }
}
