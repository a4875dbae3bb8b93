import Foundation
import TestSupport
import Testing

@testable import EventStore

/// Views take the place of others while threads of the same process open them (INV-10).
struct ViewsSwapTests {
    private static func make(_ path: String, _ rows: Int) throws {
        let connection = try Connection(path: path, mode: .write)
        try connection.execute("PRAGMA journal_mode = WAL; CREATE TABLE row(number INTEGER)")
        for number in 0..<rows { try connection.run("INSERT INTO row VALUES(?)", .integer(Int64(number))) }
    }

    @Test("Who had the old file open never begins the index of the new one's WAL anew: that was SIGBUS")
    func turns() throws {
        let folder = try TemporaryFolder.made()
        let path = folder.path + "/views.db"
        try Self.make(path, 1)
        let isOver = Lock(false)
        let opened = Lock(0)
        let ended = DispatchGroup()
        for _ in 0..<4 {
            ended.enter()
            Thread.detachNewThread {
                while !isOver.withLock(\.self) {
                    if (try? openForReading(path)) != nil { opened.withLock { $0 += 1 } }
                }
                ended.leave()
            }
        }
        for round in 1...150 {
            let new = path + ".new"
            try Self.make(new, round)
            try ViewDatabase.swap(new, into: path)
            // What the projector does then.
            let connection = try Connection(path: path, mode: .write)
            for _ in 0..<20 { try connection.run("INSERT INTO row VALUES(0)") }
            #expect(try connection.integer("SELECT count(*) FROM row") == Int64(round + 20))
        }
        isOver.withLock { $0 = true }
        ended.wait()
        #expect(opened.withLock(\.self) > 150)
    }
}
