import Foundation
import TestSupport
import Testing

@testable import EventStore

/// A WAL that had become long is cut in pieces once it has begun anew, and never shorter than what is in use.
struct WALTrimmingTests {
    private let folder = TemporaryFolder()
    private var database: String { folder.path + "/log.db" }
    private var wal: String { database + "-wal" }
    private let piece = WALTrimming.piece

    private func makeFile(_ bytes: Int) throws {
        try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
        if !FileManager.default.fileExists(atPath: wal) { try Data().write(to: URL(fileURLWithPath: wal)) }
        #expect(truncate(wal, bytes) == 0)
    }

    private var size: Int {
        (try? FileManager.default.attributesOfItem(atPath: wal)[.size] as? Int) ?? 0
    }

    @Test("One piece at a time, with a pause, down to the usual length")
    func pieces() throws {
        try makeFile(10 * piece + 100)
        var trimming = WALTrimming(database: database, most: 8 * piece, usual: 3 * piece)
        #expect(trimming.due == nil)
        trimming.begin()
        var sizes: [Int] = []
        while let due = trimming.due {
            while MonotonicClock.now < due { sleepMilliseconds(1) }
            trimming.cut(used: piece)
            sizes.append(size)
            #expect(sizes.count < 20)
        }
        #expect(sizes == (3...9).reversed().map { $0 * piece + 100 } + [3 * piece])
    }

    @Test("What is in use stays, and a WAL of usual length is left as it is")
    func used() throws {
        try makeFile(10 * piece)
        var trimming = WALTrimming(database: database, most: 8 * piece, usual: 2 * piece)
        trimming.begin()
        trimming.cut(used: 7 * piece)
        #expect(size == 9 * piece)
        trimming.cut(used: 7 * piece + 1)
        #expect(size == 9 * piece && trimming.due == nil)
        try makeFile(8 * piece)
        trimming.begin()
        #expect(trimming.due == nil)
        unlink(wal)
        trimming.begin()
        #expect(trimming.due == nil)
    }
}
