internal import CommandLineKit
internal import EventStore
internal import SillokAPI
internal import SyncEngine

/// `POST /v1/events`: native lines in, one result for each line out.
extension Service {
    /// Runs on a worker's thread: an expectation may have to wait for the views.
    func append(_ exchange: HTTPExchange) {
        guard let batch = appendBatch(exchange, NativeLineParser()) else { return }
        var condition: AppendCondition?
        if let text = exchange.request.queryItem("expect") {
            guard let expected = ExpectedVersion(text) else {
                return exchange.refuse(.parameter, "expect is <conversation>:<number of its events>")
            }
            do throws(StoreError) {
                let found = try reader.conversationVersion(expected.conversation)
                condition = AppendCondition(expected, found: found.version, at: found.at)
            } catch {
                return exchange.refuse(error)
            }
        }
        store.append([batch.call(condition) { batch.answer(exchange, $0) }])
    }

    /// What a request wants appended; `nil` if it has been refused. Does not wait.
    func appendBatch(_ exchange: HTTPExchange, _ parser: NativeLineParser) -> AppendBatch? {
        let request = exchange.request
        // What the store itself does not take it refuses with its own words.
        if let obstacle = surroundingObstacles.first {
            exchange.refuse(
                .disk, obstacle, hint: "again when there is room; what was reported as appended is safe")
            return nil
        }
        let atomicity: Atomicity
        switch request.queryItem("atomicity") {
        case nil, "whole": atomicity = .whole
        case "each": atomicity = .each
        case let other?:
            exchange.refuse(.parameter, "atomicity is whole or each, not '\(other)'")
            return nil
        }
        let derivesIDs: Bool
        switch request.queryItem("ids") {
        case nil: derivesIDs = false
        case "derived": derivesIDs = true
        case let other?:
            exchange.refuse(.parameter, "ids is derived, or left out, not '\(other)'")
            return nil
        }
        if isTooFarBehind {
            exchange.refuse(.busy("the views are over \(Self.maximumLag) events behind"))
            return nil
        }
        let batch = AppendBatch(request.body, atomicity, derivesIDs: derivesIDs, parser)
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
