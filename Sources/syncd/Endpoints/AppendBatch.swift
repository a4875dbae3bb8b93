internal import Access
internal import CommandLineKit
internal import EventStore
internal import Glibc
internal import SillokAPI
internal import Subscriptions
internal import SyncEngine

/// The lines of a request, parsed, and how the outcomes map back to them.
struct AppendBatch: Sendable {
    private(set) var drafts: [EventDraft] = []
    /// For each line: its number, and why it is no event; `nil` if it is the next of `drafts`.
    private var lines: [(number: Int, problem: Problem?)] = []

    /// Why a line is not taken.
    struct Problem {
        let code: String
        let message: String

        init(code: String, message: String) { (self.code, self.message) = (code, message) }

        /// What views would not read; `nil` if they would.
        init?(formOf draft: EventDraft) {
            guard let refusal = PayloadForm.refusal(draft) else { return nil }
            self.init(code: "E_PAYLOAD_FORM", message: refusal)
        }
    }
    let atomicity: Atomicity
    /// Ids that follow from all that their lines say.
    private(set) var ofContent: Set<EventID> = []
    /// Whether who asks may know where other events stand.
    private let tellsPlaces: Bool
    /// What it may begin; `nil`: any conversation. Of those that it may not, which the caller is in.
    var newOnly: NewConversations?
    var own: TextSet = []

    /// - Parameters:
    ///   - derivesIDs: A line without id gets one from its content, as an import wants it: what was said twice
    ///     counts once. Otherwise it gets a new one, unless it carries a `recordid`.
    ///   - caller: Who asks for it, whatever the lines say.
    /// - Throws: `batchTooLarge`, whatever the lines are: each that is refused has its answer, too (INV-9).
    init(
        _ body: [UInt8], _ atomicity: Atomicity, derivesIDs: Bool, by caller: Caller, _ parser: NativeLineParser
    ) throws(StoreError) {
        (self.atomicity, tellsPlaces) = (atomicity, caller.readsAll)
        // A byte order mark is passed over, as in a file (docs/reference/FORMATS.md §4).
        var start = body.starts(with: [0xef, 0xbb, 0xbf]) ? 3 : 0
        var (number, written) = (0, 0)
        while start < body.count {
            let end = Self.lineEnd(in: body, from: start)
            number += 1
            defer { start = end + 1 }
            guard !body[start..<end].isBlank else { continue }
            written += 1
            guard written <= EventStore.maximumBatch else { continue }
            let size = end - start - (body[end - 1] == 0x0d ? 1 : 0)
            guard size <= LineReader.longestLine else {
                let message = "\(size) bytes; a line has at most \(LineReader.longestLine)"
                lines.append((number, Problem(code: "E_LINE_SIZE", message: message)))
                continue
            }
            do throws(InvalidLine) {
                var line = try parser.parse(body, start..<end)
                if line.isDerivedID, line.recordID == nil {
                    if derivesIDs, let id = line.draft.id { ofContent.insert(id) } else { line.draft.id = nil }
                }
                line.draft.actor = caller.actor
                drafts.append(line.draft)
                lines.append((number, nil))
            } catch {
                lines.append((number, Problem(code: error.code, message: error.description)))
            }
        }
        guard written <= EventStore.maximumBatch else { throw .batchTooLarge(count: written) }
        if atomicity == .whole, lines.contains(where: { $0.problem != nil }) { drafts = [] }
    }

    /// Takes away what `judge` has something against, which is given what stays of the lines before, too.
    mutating func refuse(
        _ judge: (EventDraft, _ earlier: [EventDraft]) throws(StoreError) -> Problem?
    ) throws(StoreError) {
        guard !drafts.isEmpty else { return }
        var kept: [EventDraft] = []
        var rest = drafts[...]
        for index in lines.indices where lines[index].problem == nil {
            let draft = rest.removeFirst()
            if let problem = try judge(draft, kept) { lines[index].problem = problem } else { kept.append(draft) }
        }
        drafts = atomicity == .whole && kept.count < drafts.count ? [] : kept
    }

    /// The line that says the message which another line edits or retracts.
    func message(amendedBy draft: EventDraft) -> EventDraft? {
        guard let target = ViewReader.target(of: draft) else { return nil }
        return drafts.first { $0.id == target && DialogueRole.all.types.contains($0.type) }
    }

    /// Whether it has edits or retractions: whether those are the author's stands in the log.
    var hasAmendments: Bool { drafts.contains { AmendmentRule.isAmendment($0.type) } }

    /// Where the line's newline stands, or the end.
    private static func lineEnd(in body: [UInt8], from start: Int) -> Int {
        body.withUnsafeBytes { bytes in
            guard let first = bytes.baseAddress, let end = memchr(first + start, 0x0a, bytes.count - start) else {
                return bytes.count
            }
            return UnsafeRawPointer(end) - first
        }
    }

    func call(
        _ condition: AppendCondition? = nil,
        completion: @escaping @Sendable (Result<[AppendOutcome], StoreError>) -> Void
    ) -> AppendCall {
        AppendCall(
            drafts: drafts, atomicity: atomicity, condition: condition, newOnly: newOnly, completion: completion)
    }

    /// Whether the request has no line at all.
    var isEmpty: Bool { lines.isEmpty }

    /// Tells the client what came of it.
    func answer(_ exchange: HTTPExchange, _ result: Result<[AppendOutcome], StoreError>) {
        switch result {
        case .failure(let error): exchange.refuse(error)
        case .success(let outcomes): exchange.send(answer(outcomes))
        }
    }

    /// Whose event has the id may be none of the caller's business, and so is how much was stored before it.
    private static let idReused = "id: already used for an event with other content"

    /// What came of each line, one line of NDJSON for each, and a last one that says that this is all. A request of which nothing
    /// was stored is no success: a client that looks at the status alone must not take it for stored.
    ///
    /// - Parameter acked: What came of deliveries that were to be acked with it.
    func answer(_ outcomes: [AppendOutcome], acked: AckedDeliveries? = nil) -> AppendAnswer {
        let isRefused = drafts.isEmpty && lines.contains { $0.problem != nil }
        let culprit = lines.firstIndex { $0.problem != nil } ?? 0
        var answer = AppendAnswer(expecting: lines.count)
        var rest = outcomes[...]
        for line in lines {
            if let problem = line.problem {
                answer.reject(line.number, problem.code, problem.message)
            } else if isRefused {
                answer.reject(line.number, .batchRejected(index: culprit))
            } else {
                switch rest.removeFirst() {
                case .appended(let receipt): answer.append(line.number, receipt)
                case .already(let receipt): answer.find(line.number, receipt)
                case .rejected(.idReused(let position)) where !tellsPlaces:
                    answer.reject(line.number, AppendRejection.idReused(position: position).code, Self.idReused)
                // Another has begun it meanwhile: to who is not in it that is a conversation of others.
                case .rejected(.begun(let conversation)) where !own.contains(conversation):
                    answer.reject(line.number, "E_AUTHOR", AppendRefusal.conversation(conversation).description)
                case .rejected(let rejection): answer.reject(line.number, rejection)
                }
            }
        }
        if let acked { answer.tell(acked) }
        answer.end()
        return answer
    }
}

/// `POST /v1/events`: native lines in, one result for each line out.
extension Service {
    /// Runs on a worker's thread: an expectation may have to wait for the views.
    func append(_ request: AdmittedRequest) {
        let exchange = request.exchange
        let tokens: [DeliveryToken]
        do throws(BadParameter) { tokens = try Self.acks(exchange.request) } catch {
            return exchange.refuse(.parameter, error.message, hint: error.hint)
        }
        guard var batch = appendBatch(request, NativeLineParser()) else { return }
        do throws(StoreError) {
            try permit(&batch, request.caller, isImport: exchange.request.queryItem("ids") != nil)
            var condition: AppendCondition?
            if let text = exchange.request.queryItem("expect") {
                guard let expected = ExpectedVersion(text) else {
                    return exchange.refuse(.parameter, "expect is <conversation>:<number of its events>")
                }
                guard try mayExpect(expected, request.caller) else {
                    return exchange.refuse(.notFound, "expect: there is no conversation \(expected.conversation)")
                }
                let found = try reader.conversationVersion(expected.conversation)
                condition = AppendCondition(expected, found: found.version, at: found.at)
            }
            try restrict(&batch, request.caller)
            let subscriptions = tokens.isEmpty ? nil : following.withLock { $0?.subscriptions }
            store.append([
                batch.call(condition) { [batch] result in
                    // What was not stored is not answered: its delivery stays out.
                    guard let subscriptions, case .success(let outcomes) = result,
                        batch.answer(outcomes).status == 200
                    else { return batch.answer(exchange, result) }
                    subscriptions.acknowledge(tokens, request) { batch.answer(outcomes, acked: $0) }
                }
            ])
        } catch {
            exchange.refuse(error)
        }
    }

    /// Deliveries that are done when its events are stored.
    private static func acks(_ request: HTTPRequest) throws(BadParameter) -> [DeliveryToken] {
        var tokens: [DeliveryToken] = []
        for text in request.queryItems("ack") {
            guard let token = DeliveryToken(text: text) else {
                throw BadParameter(
                    message: "ack: '\(text.prefix(80))' is none", hint: "the member 'delivery' of a delivery")
            }
            tokens.append(token)
        }
        guard Set(tokens.map(\.subscription)).count <= 1 else {
            throw BadParameter(message: "ack: deliveries of one subscription")
        }
        return tokens
    }

    /// What a request wants appended; `nil` if it has been refused. Does not wait.
    func appendBatch(_ admitted: AdmittedRequest, _ parser: NativeLineParser) -> AppendBatch? {
        let exchange = admitted.exchange
        let request = exchange.request
        // What the store itself does not take it refuses with its own words.
        if let obstacle = surroundingObstacles.first {
            exchange.refuse(
                .disk, obstacle.told, hint: "again when there is room; what was reported as appended is safe")
            return nil
        }
        let atomicity: Atomicity = request.queryItem("atomicity") == "each" ? .each : .whole
        let derivesIDs = request.queryItem("ids") != nil
        if isTooFarBehind {
            exchange.refuse(.busy("the views are over \(Self.maximumLag) events behind"))
            return nil
        }
        let batch: AppendBatch
        do throws(StoreError) {
            batch = try AppendBatch(
                request.body, atomicity, derivesIDs: derivesIDs, by: admitted.caller, parser)
        } catch {
            exchange.refuse(error)
            return nil
        }
        guard !batch.isEmpty else {
            exchange.refuse(
                .empty, "the body has no line", hint: "one event in the native form on each line of the body")
            return nil
        }
        return batch
    }

    var isTooFarBehind: Bool {
        let applied = views.applied
        return !views.isRebuilding && views.top > applied + Self.maximumLag
    }
}

extension ExpectedVersion {
    /// Reads `<conversation>:<version>`.
    fileprivate init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":"), let version = UInt64(text[text.index(after: colon)...]) else {
            return nil
        }
        self.init(conversation: String(text[..<colon]), version: version)
    }
}
