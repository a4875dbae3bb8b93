internal import EventStore

/// Durable commits of a thousand events; with views, until every view has all of them.
enum AppendBatchesBenchmark {
    private static let measured = 200_000
    private static let batch = 1_000

    static func run(_ folder: String, _ drafts: [EventDraft], withViews: Bool) throws {
        guard drafts.count >= measured else { throw BenchmarkError("too few records") }
        let store = try makeStore(folder)
        let top = try LogReader(store.files).top()
        let projector = withViews ? ProjectorThread(store.files, top: top) : nil
        let observer = store.observeCommits { projector?.logAdvanced(to: $0.top) }
        if let projector { try wait(projector, for: top) }
        let written = try writtenBytes()
        let cpu = cpuTime()
        let elapsed = try nanoseconds {
            try store.fill(drafts[..<measured], batch: batch)
            if let projector { try wait(projector, for: top + UInt64(measured)) }
        }
        let used = cpuTime() - cpu
        let bytes = try writtenBytes() - written
        store.removeObserver(observer)
        projector?.stop()
        store.close()
        let name = "2. durable append, batches of \(batch)" + (withViews ? ", views fresh" : "")
        report(name, events: measured, elapsed: elapsed, cpu: used)
        report("\(name), written (bytes/event)", Double(bytes) / Double(measured))
    }

    private static func wait(_ projector: ProjectorThread, for position: UInt64) throws {
        guard projector.wait(for: position, milliseconds: 600_000) else {
            throw BenchmarkError("the views did not catch up: \(String(describing: projector.lastError))")
        }
    }
}
