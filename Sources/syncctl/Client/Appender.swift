internal import CommandLineKit
internal import EventStore
internal import Glibc

/// What came of one event that was handed in.
enum AppendResult {
    /// Where the event is; its texts are made when they are asked for, which an import never does.
    enum Place {
        case here(AppendReceipt)
        case told(PlaceTexts)

        var texts: PlaceTexts {
            switch self {
            case .told(let texts): texts
            case .here(let receipt):
                PlaceTexts(
                    position: receipt.position, id: receipt.id.description,
                    origin: receipt.dot.origin.description, sequence: receipt.dot.seq,
                    hlc: receipt.hlc.description)
            }
        }
    }

    case appended(Place)
    /// It was there before, with the same id and the same content.
    case already(Place)
    case rejected(code: String, message: String)

    init(_ outcome: AppendOutcome) {
        self =
            switch outcome {
            case .appended(let receipt): .appended(.here(receipt))
            case .already(let receipt): .already(.here(receipt))
            case .rejected(let rejection): .rejected(code: rejection.code, message: rejection.description)
            }
    }

    /// One line of the answer, as the daemon gives it too.
    func json(line number: Int) -> JSONLine {
        func placed(_ type: String, _ place: Place) -> JSONLine {
            let texts = place.texts
            var line = JSONLine(type: type)
            line.add("line", number)
            line.add("position", texts.position)
            line.add("id", texts.id)
            line.add("origin", texts.origin)
            line.add("sequence", texts.sequence)
            line.add("hlc", texts.hlc)
            return line
        }
        switch self {
        case .appended(let place): return placed("appended", place)
        case .already(let place): return placed("already", place)
        case .rejected(let code, let message):
            var line = JSONLine(type: "rejected")
            line.add("line", number)
            line.add("code", code)
            line.add("message", message)
            return line
        }
    }
}

/// The place of an event in words, as a daemon tells it.
struct PlaceTexts {
    var position: UInt64 = 0
    var id = ""
    var origin = ""
    var sequence: UInt64 = 0
    var hlc = ""
}

/// Appends events to a store: through its daemon when one runs, else directly under the writer's lock. Every draft needs
/// an id, so that a request whose answer was lost can be repeated.
enum Appender {
    /// `views` follow beside it when much is coming; `nil`: they are brought up to date in the end.
    case direct(EventStore, views: ProjectorThread?)
    case daemon(DaemonClient)

    /// - Parameter isBulk: Whether many events are coming.
    static func open(_ files: StoreFiles, isBulk: Bool = false) throws(CommandFailure) -> Appender {
        // Another syncctl has the store for a moment only while it brings the views up to date.
        let start = WallClock.now
        while true {
            do throws(CommandFailure) {
                if let daemon = try DaemonClient.running(files) { return .daemon(daemon) }
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

    /// A batch that was handed in; the call gives its results, in order, once they are durable.
    typealias Pending = () throws(CommandFailure) -> [AppendResult]

    /// Hands in drafts, each of which stands for itself. A store takes the next batch while the disk syncs this one.
    func start(_ drafts: [EventDraft]) -> Pending {
        switch self {
        case .direct(let store, _):
            let answer = Monitor<Result<[AppendOutcome], StoreError>?>(nil)
            let handedIn = Self.submit(drafts, to: store, answer)
            return { () throws(CommandFailure) in
                defer { withExtendedLifetime(handedIn) {} }
                return try Self.results(of: drafts, store, answer)
            }
        case .daemon(let client):
            return { () throws(CommandFailure) in
                try client.append(drafts)
            }
        }
    }

    /// Appends one event if its conversation has `expected` events on this node (D6).
    func append(_ draft: EventDraft, expecting expected: UInt64) throws(CommandFailure) -> [AppendResult] {
        guard let conversation = draft.conversation else { throw usageFailure("--expect needs --conversation") }
        switch self {
        case .daemon(let client): return try client.append([draft], expecting: "\(conversation):\(expected)")
        case .direct(let store, _):
            let outcomes = try stored {
                try Projector.catchUp(store.files)
                let (actual, top) = try ViewReader(store.files, pattern: .mixed).conversationVersion(conversation)
                let condition = AppendCondition(
                    ExpectedVersion(conversation: conversation, version: expected), found: actual, at: top)
                return try store.appendBlocking([draft], atomicity: .each, condition: condition)
            }
            return outcomes.map(AppendResult.init)
        }
    }

    /// Brings the views up to date, signs and stores a head over what was appended, and lets go of the store.
    func close() {
        guard case .direct(let store, let views) = self else { return }
        // What was appended is durable; views that cannot be written now are caught up by the next reader.
        if let views {
            while views.lastError == nil, !views.wait(for: views.top, milliseconds: 100) {}
            views.stop()
        } else {
            _ = try? Projector.catchUp(store.files)
        }
        store.close()
    }

    @discardableResult
    private static func submit(
        _ drafts: [EventDraft], to store: EventStore, _ answer: Monitor<Result<[AppendOutcome], StoreError>?>
    ) -> ValidatedDrafts? {
        store.append(drafts, atomicity: .each) { result in
            answer.update { answer in
                answer = result
                return true
            }
        }
    }

    private static func results(
        of drafts: [EventDraft], _ store: EventStore, _ answer: Monitor<Result<[AppendOutcome], StoreError>?>
    ) throws(CommandFailure) -> [AppendResult] {
        let start = WallClock.now
        while true {
            guard let result = answer.wait(for: { $0 }) else { throw CommandFailure(StoreError.closed) }
            if case .failure(.busy) = result, WallClock.now - start < DaemonClient.patience {
                sleep(milliseconds: 100)
                answer.withLock { $0 = nil }
                submit(drafts, to: store, answer)
                continue
            }
            return try stored { try result.get() }.map(AppendResult.init)
        }
    }
}
