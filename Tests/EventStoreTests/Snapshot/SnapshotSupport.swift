import Foundation
import TestSupport
import Testing

@testable import EventStore

/// Waits for pieces of a snapshot in a test.
final class PieceResults: Sendable {
    private let results = Monitor([Result<UInt64, SnapshotError>]())

    func take(_ result: Result<UInt64, SnapshotError>) {
        results.update {
            $0.append(result)
            return true
        }
    }

    func wait(for count: Int) throws -> [Result<UInt64, SnapshotError>] {
        try #require(results.wait(milliseconds: 60_000) { $0.count >= count ? $0 : nil })
    }
}

/// All pieces of a store's snapshot.
struct SnapshotPieces {
    var plan: SnapshotPlan
    var pieces: [SnapshotRows]
    var coverage: [Coverage]

    init(of folder: TemporaryFolder, bytes: Int = 4_096) throws {
        let files = StoreFiles(folder.path)
        let reader = try SnapshotReader(files)
        plan = try reader.log.plan(ownHead: nil)
        pieces = []
        var after = UInt64(0)
        while after < plan.through {
            let rows = try reader.rows(after: after, through: plan.through, bytes: bytes)
            pieces.append(rows)
            after = rows.last
        }
        coverage = try reader.log.coverage(of: plan, ownHead: nil)
    }

    /// Builds a log of them for the store in `folder` and waits for it.
    func build(in folder: TemporaryFolder, threads: Int = 3) throws {
        let files = StoreFiles(folder.path)
        let identity = try StoreIdentity(try LogReader(files))
        let builder = try SnapshotBuilder(files, own: identity.origin, threads: threads)
        let results = PieceResults()
        for rows in pieces { builder.add({ () throws(SnapshotError) in rows }, completion: results.take) }
        do {
            for (index, result) in try results.wait(for: pieces.count).enumerated() {
                let last = try result.get()
                if last != pieces[index].last { throw SnapshotError.malformed("told out of order") }
            }
            try builder.finishBlocking(coverage, expecting: plan.progress)
        } catch {
            builder.cancel()
            throw error
        }
    }
}

/// An empty store, closed.
func makeEmptyStore(name: String = "empty") throws -> TemporaryFolder {
    let (folder, store) = try makeStore(name: name)
    store.close()
    return folder
}

/// All events of a log.
func allEvents(_ folder: TemporaryFolder) throws -> [StoredEvent] {
    var events: [StoredEvent] = []
    try LogReader(StoreFiles(folder.path)).scan(after: 0, limit: 10_000_000) {
        events.append($0)
        return true
    }
    return events
}
