internal import CommandLineKit
internal import EventStore
internal import SyncEngine

/// `POST /v1/events`: native lines in, one result for each line out.
extension Service {
    func append(_ exchange: HTTPExchange) {
        let request = exchange.request
        if let obstacle = obstacles.first { return exchange.refuse(507, "E_DISK", obstacle) }
        let atomicity: Atomicity
        switch request.queryItem("atomicity") {
        case nil, "whole": atomicity = .whole
        case "each": atomicity = .each
        case let other?: return exchange.refuse(400, "E_PARAMETER", "atomicity is whole or each, not '\(other)'")
        }
        let batch = AppendBatch(request.body, atomicity, derivesIDs: request.queryItem("ids") == "derived")
        guard batch.drafts.count <= EventStore.maximumBatch else {
            return exchange.refuse(StoreError.batchTooLarge(count: batch.drafts.count))
        }
        var condition: (ExpectedVersion, at: UInt64)?
        if let text = request.queryItem("expect") {
            guard let expected = ExpectedVersion(text) else {
                return exchange.refuse(400, "E_PARAMETER", "expect is <conversation>:<number of its events>")
            }
            do throws(StoreError) {
                let found = try version(of: expected.conversation)
                guard found.version == expected.version else {
                    return exchange.send(
                        lines: batch.rejected(
                            .conversationMoved(expected: expected.version, actual: found.version)))
                }
                condition = (expected, found.at)
            } catch {
                return exchange.refuse(error)
            }
        }
        if isTooFarBehind { return exchange.refuse(.busy("the views are over \(Self.maximumLag) events behind")) }
        store.append(batch.drafts, atomicity: atomicity, condition: condition) { result in
            switch result {
            case .failure(let error): exchange.refuse(error)
            case .success(let outcomes): exchange.send(lines: batch.lines(outcomes))
            }
        }
    }

    private var isTooFarBehind: Bool {
        let applied = views.applied
        return !views.isRebuilding && views.top > applied + Self.maximumLag
    }

    /// How many events a conversation has, once the views have seen everything committed before the request.
    private func version(of conversation: String) throws(StoreError) -> (version: UInt64, at: UInt64) {
        guard views.wait(for: views.top, milliseconds: 2_000) else { throw .busy("the views are behind") }
        return try ViewReader(store.files, pattern: .mixed).conversationVersion(conversation)
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

/// The lines of a request, parsed, and how the outcomes map back to them.
private struct AppendBatch: Sendable {
    private(set) var drafts: [EventDraft] = []
    /// For each line: its number, and why it is no event; `nil` if it is the next of `drafts`.
    private var lines: [(number: Int, problem: InvalidLine?)] = []

    /// - Parameter derivesIDs: A line without id gets one from its content, as an import wants it: what was said twice
    ///   counts once. Otherwise it gets a new one, unless it carries a `recordid`.
    init(_ body: [UInt8], _ atomicity: Atomicity, derivesIDs: Bool) {
        let parser = NativeLineParser()
        var start = 0
        var number = 0
        while start < body.count {
            let end = body[start...].firstIndex(of: UInt8(ascii: "\n")) ?? body.count
            number += 1
            defer { start = end + 1 }
            guard body[start..<end].contains(where: { $0 > 0x20 }) else { continue }
            do throws(InvalidLine) {
                var line = try parser.parse(body, start..<end)
                if line.isDerivedID, line.recordID == nil, !derivesIDs { line.draft.id = nil }
                drafts.append(line.draft)
                lines.append((number, nil))
            } catch {
                lines.append((number, error))
            }
        }
        if atomicity == .whole, lines.contains(where: { $0.problem != nil }) { drafts = [] }
    }

    func lines(_ outcomes: [AppendOutcome]) -> [JSONLine] {
        let isRefused = drafts.isEmpty && lines.contains { $0.problem != nil }
        let culprit = lines.firstIndex { $0.problem != nil } ?? 0
        var rest = outcomes[...]
        return lines.map { line in
            if let problem = line.problem { return rejected(line.number, problem.code, problem.description) }
            if isRefused {
                let rejection = AppendRejection.batchRejected(index: culprit)
                return rejected(line.number, rejection.code, rejection.description)
            }
            return result(line.number, rest.removeFirst())
        }
    }

    func rejected(_ rejection: AppendRejection) -> [JSONLine] {
        lines.map { rejected($0.number, rejection.code, rejection.description) }
    }

    private func rejected(_ number: Int, _ code: String, _ message: String) -> JSONLine {
        var line = JSONLine(type: "rejected")
        line.add("line", number)
        line.add("code", code)
        line.add("message", message)
        return line
    }

    private func result(_ number: Int, _ outcome: AppendOutcome) -> JSONLine {
        if case .rejected(let rejection) = outcome { return rejected(number, rejection.code, rejection.description) }
        var line: JSONLine
        if case .already = outcome { line = JSONLine(type: "already") } else { line = JSONLine(type: "appended") }
        line.add("line", number)
        guard let receipt = outcome.receipt else { return line }
        line.addExact("position", receipt.position)
        line.add("id", receipt.id.description)
        line.add("origin", receipt.dot.origin.description)
        line.addExact("sequence", receipt.dot.seq)
        line.add("hlc", receipt.hlc.description)
        return line
    }
}
