internal import CommandLineKit
internal import EventStore
internal import Glibc
internal import SyncEngine

/// The lines of a request, parsed, and how the outcomes map back to them.
struct AppendBatch: Sendable {
    private(set) var drafts: [EventDraft] = []
    /// For each line: its number, and why it is no event; `nil` if it is the next of `drafts`.
    private var lines: [(number: Int, problem: InvalidLine?)] = []
    let atomicity: Atomicity

    /// - Parameter derivesIDs: A line without id gets one from its content, as an import wants it: what was said twice
    ///   counts once. Otherwise it gets a new one, unless it carries a `recordid`.
    init(_ body: [UInt8], _ atomicity: Atomicity, derivesIDs: Bool, _ parser: NativeLineParser) {
        self.atomicity = atomicity
        var start = 0
        var number = 0
        while start < body.count {
            let end = Self.lineEnd(in: body, from: start)
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
        _ condition: (ExpectedVersion, at: UInt64)? = nil,
        completion: @escaping @Sendable (Result<[AppendOutcome], StoreError>) -> Void
    ) -> AppendCall {
        AppendCall(drafts: drafts, atomicity: atomicity, condition: condition, completion: completion)
    }

    /// Tells the client what came of it.
    func answer(_ exchange: HTTPExchange, _ result: Result<[AppendOutcome], StoreError>) {
        switch result {
        case .failure(let error): exchange.refuse(error)
        case .success(let outcomes): exchange.send(lines: text(outcomes))
        }
    }

    /// What came of each line, one line of NDJSON for each.
    func text(_ outcomes: [AppendOutcome]) -> [UInt8] {
        let isRefused = drafts.isEmpty && lines.contains { $0.problem != nil }
        let culprit = lines.firstIndex { $0.problem != nil } ?? 0
        var text: [UInt8] = []
        text.reserveCapacity(lines.count * 224)
        var rest = outcomes[...]
        for line in lines {
            if let problem = line.problem {
                rejected(line.number, problem.code, problem.description).write(to: &text)
            } else if isRefused {
                rejected(line.number, .batchRejected(index: culprit)).write(to: &text)
            } else {
                switch rest.removeFirst() {
                case .appended(let receipt): Self.write("appended", line.number, receipt, to: &text)
                case .already(let receipt): Self.write("already", line.number, receipt, to: &text)
                case .rejected(let rejection): rejected(line.number, rejection).write(to: &text)
                }
            }
        }
        return text
    }

    func rejected(_ rejection: AppendRejection) -> [JSONLine] { lines.map { rejected($0.number, rejection) } }

    private func rejected(_ number: Int, _ rejection: AppendRejection) -> JSONLine {
        rejected(number, rejection.code, rejection.description)
    }

    private func rejected(_ number: Int, _ code: String, _ message: String) -> JSONLine {
        var line = JSONLine(type: "rejected")
        line.add("line", number)
        line.add("code", code)
        line.add("message", message)
        return line
    }

    /// What a ``JSONLine`` would say, in a tenth of its time: each append waits for this line, and no text in it can need an
    /// escape.
    private static func write(
        _ type: StaticString, _ line: Int, _ receipt: AppendReceipt, to text: inout [UInt8]
    ) {
        text.append(literal: #"{"type":""#)
        text.append(literal: type)
        text.append(literal: #"","v":1,"line":"#)
        text.append(decimal: UInt64(line))
        text.append(literal: #","position":""#)
        text.append(decimal: receipt.position)
        text.append(literal: #"","id":""#)
        receipt.id.bits.appendText(to: &text)
        text.append(literal: #"","origin":""#)
        receipt.dot.origin.bits.appendText(to: &text)
        text.append(literal: #"","sequence":""#)
        text.append(decimal: receipt.dot.seq)
        text.append(literal: #"","hlc":""#)
        receipt.hlc.appendText(to: &text)
        text.append(literal: "\"}\n")
    }
}
