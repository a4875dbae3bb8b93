internal import CommandLineKit
internal import EventStore
internal import SyncEngine

/// The lines of a request, parsed, and how the outcomes map back to them.
struct AppendBatch: Sendable {
    private(set) var drafts: [EventDraft] = []
    /// For each line: its number, and why it is no event; `nil` if it is the next of `drafts`.
    private var lines: [(number: Int, problem: InvalidLine?)] = []
    private let atomicity: Atomicity

    /// - Parameter derivesIDs: A line without id gets one from its content, as an import wants it: what was said twice
    ///   counts once. Otherwise it gets a new one, unless it carries a `recordid`.
    init(_ body: [UInt8], _ atomicity: Atomicity, derivesIDs: Bool) {
        self.atomicity = atomicity
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

    func call(
        _ condition: (ExpectedVersion, at: UInt64)? = nil,
        completion: @escaping @Sendable (Result<[AppendOutcome], StoreError>) -> Void
    ) -> AppendCall {
        AppendCall(drafts: drafts, atomicity: atomicity, condition: condition, completion: completion)
    }

    /// Tells the client what came of it.
    func answer(_ exchange: HTTPExchange, _ result: Result<[AppendOutcome], StoreError>) {
        switch result {
        case .failure(let error): exchange.refuse(error)
        case .success(let outcomes): exchange.send(lines: lines(outcomes))
        }
    }

    private func lines(_ outcomes: [AppendOutcome]) -> [JSONLine] {
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
