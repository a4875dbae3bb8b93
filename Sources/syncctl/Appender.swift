internal import CommandLineKit
internal import EventStore
internal import Glibc

/// Appends to a store: through its daemon when one runs, otherwise directly under the writer's lock.
enum Appender {
    case daemon(APIClient)
    case direct(EventStore)

    /// What came of one line.
    struct Outcome {
        enum Kind { case appended, already, rejected }
        let kind: Kind
        /// For people: where it is, or why it is not.
        let code: String
        let message: String
        let position: String
        let id: String
    }

    init(_ context: Context) throws(CommandFailure) {
        let files = try context.storeFiles()
        if let client = try context.daemon(files) {
            self = .daemon(client)
        } else {
            self = .direct(
                try stored { () throws(StoreError) in
                    try EventStore(opening: files.folder, owner: "syncctl pid \(getpid())")
                })
        }
    }

    /// Appends drafts whose ids are settled; one outcome each. Waits while the store is busy, up to a minute.
    func append(
        _ drafts: [EventDraft], atomicity: Atomicity, expected: ExpectedVersion? = nil
    ) throws(CommandFailure) -> [Outcome] {
        for _ in 0..<600 {
            do throws(CommandFailure) {
                switch self {
                case .daemon(let client): return try post(drafts, atomicity, expected, client)
                case .direct(let store): return try direct(drafts, atomicity, expected, store)
                }
            } catch {
                guard error.exitCode == .tryAgain else { throw error }
                sleepMilliseconds(100)
            }
        }
        throw CommandFailure(code: "E_BUSY", "the store was busy for a minute", exitCode: .tryAgain)
    }

    /// Makes everything durable and, without a daemon, brings the views up to date.
    func finish() throws(CommandFailure) {
        guard case .direct(let store) = self else { return }
        try stored { () throws(StoreError) in
            try store.flushBlocking()
            try Projector(store.files).catchUp()
            store.close()
        }
    }

    private func direct(
        _ drafts: [EventDraft], _ atomicity: Atomicity, _ expected: ExpectedVersion?, _ store: EventStore
    ) throws(CommandFailure) -> [Outcome] {
        try stored { () throws(StoreError) in
            var condition: (ExpectedVersion, at: UInt64)?
            if let expected {
                try Projector(store.files).catchUp()
                let found = try ViewReader(store.files).conversationVersion(expected.conversation)
                guard found.version == expected.version else {
                    let moved = AppendRejection.conversationMoved(expected: expected.version, actual: found.version)
                    return drafts.map { _ in Outcome(.rejected(moved)) }
                }
                condition = (expected, found.at)
            }
            return try store.appendBlocking(drafts, atomicity: atomicity, condition: condition).map(Outcome.init)
        }
    }

    private func post(
        _ drafts: [EventDraft], _ atomicity: Atomicity, _ expected: ExpectedVersion?, _ client: APIClient
    ) throws(CommandFailure) -> [Outcome] {
        var body: [UInt8] = []
        for draft in drafts {
            NativeLineWriter.append(draft, to: &body)
            body.append(UInt8(ascii: "\n"))
        }
        var path = "/v1/events?atomicity=\(atomicity == .whole ? "whole" : "each")"
        if let expected { path += "&expect=\(urlEncoded("\(expected.conversation):\(expected.version)"))" }
        let response = try client.request("POST", path, body: body)
        guard response.status == 200 else { throw response.failure }
        let outcomes = response.body.split(separator: UInt8(ascii: "\n")).map { line in
            Outcome(JSONObject(validated: Array(line)))
        }
        guard outcomes.count == drafts.count else {
            throw CommandFailure(
                code: "E_PROTOCOL", "the daemon answered \(outcomes.count) of \(drafts.count) lines",
                exitCode: .versionMismatch)
        }
        return outcomes
    }
}

extension Appender.Outcome {
    init(_ outcome: AppendOutcome) {
        switch outcome {
        case .appended(let receipt), .already(let receipt):
            if case .appended = outcome { kind = .appended } else { kind = .already }
            code = ""
            message = ""
            position = String(receipt.position)
            id = receipt.id.description
        case .rejected(let rejection):
            kind = .rejected
            code = rejection.code
            message = rejection.description
            position = ""
            id = ""
        }
    }

    init(_ object: JSONObject) {
        kind =
            object.string("type") == "appended"
            ? .appended : object.string("type") == "already" ? .already : .rejected
        code = object.string("code") ?? ""
        message = object.string("message") ?? ""
        position = object.string("position") ?? ""
        id = object.string("id") ?? ""
    }

    /// The line for programs.
    func json(line number: Int?) -> JSONLine {
        var line: JSONLine
        switch kind {
        case .appended: line = JSONLine(type: "appended")
        case .already: line = JSONLine(type: "already")
        case .rejected: line = JSONLine(type: "rejected")
        }
        if let number { line.add("line", number) }
        if kind == .rejected {
            line.add("code", code)
            line.add("message", message)
        } else {
            line.add("position", position)
            line.add("id", id)
        }
        return line
    }
}
