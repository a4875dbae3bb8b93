import TestSupport
import Testing

@testable import EventStore

/// Names of a snapshot have one ref each, however many there are (INV-4).
struct SnapshotNamesTests {
    private func refs(_ numbers: Range<Int>, _ names: inout SnapshotNames) throws -> [Int64] {
        let texts = numbers.map { "name-\($0)" }
        let bytes = texts.flatMap { Array($0.utf8) }
        return try bytes.withUnsafeBytes { bytes in
            var start = 0
            let parts = texts.map { text in
                defer { start += text.utf8.count }
                return UnsafeRawBufferPointer(rebasing: bytes[start..<start + text.utf8.count])
            }
            return try names.refs(of: parts)
        }
    }

    @Test("More than are kept in memory: a name that comes again, early or late, is the same one")
    func many() throws {
        let folder = try TemporaryFolder.made()
        let connection = try Connection(path: folder.path + "/scratch", mode: .write)
        try connection.execute("CREATE TABLE name(ref INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE); BEGIN")
        var names = try SnapshotNames(connection: connection)
        let (kept, step) = (1 << 17, 1 << 12)
        for start in stride(from: 0, to: kept, by: step) {
            let found = try refs(start..<start + step, &names)
            try #require(found == (start..<start + step).map { Int64($0) + 1 })
        }
        let list = try #require(names.list)
        var known: [String] = []
        try list.each { _, text in known.append(String(decoding: text, as: UTF8.self)) }
        #expect(known == (0..<kept).map { "name-\($0)" })
        for start in stride(from: kept, to: kept + 4 * step, by: step) {
            try #require(try refs(start..<start + step, &names) == (start..<start + step).map { Int64($0) + 1 })
            // From the beginning on.
            let early = start - kept..<start - kept + step
            try #require(try refs(early, &names) == early.map { Int64($0) + 1 })
        }
        #expect(names.list == nil)
        let count = try connection.integer("SELECT count(DISTINCT text) FROM fresh")
        #expect(count == Int64(kept + 4 * step))
    }
}
