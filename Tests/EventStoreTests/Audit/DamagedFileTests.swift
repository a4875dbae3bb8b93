import Foundation
import TestSupport
import Testing

@testable import EventStore

/// Files damaged below SQLite: the verifier reports or refuses, and never crashes.
struct DamagedFileTests {
    private static let sample = Result { try SampleStore() }
    private let sample: SampleStore

    init() throws { sample = try Self.sample.get() }

    /// Whether the damage was seen, as findings or as an error, on a copy whose bytes `change` changed.
    private func isSeen(_ change: (inout Data) -> Void) throws -> Bool {
        let copy = try sample.damaged { _ in }
        let url = URL(filePath: StoreFiles(copy.path).log)
        var bytes = try Data(contentsOf: url)
        change(&bytes)
        try bytes.write(to: url)
        do throws(StoreError) {
            return try !Verifier(StoreFiles(copy.path)).run().isIntact
        } catch {
            return true
        }
    }

    private func pages() throws -> (count: Int, size: Int) {
        let connection = try Connection(path: StoreFiles(sample.folder.path).log, mode: .read)
        return (
            Int(try #require(try connection.integer("PRAGMA page_count"))),
            Int(try #require(try connection.integer("PRAGMA page_size")))
        )
    }

    @Test("Each page zeroed")
    func zeroed() throws {
        let (count, size) = try pages()
        for page in 0..<count {
            #expect(
                try isSeen { $0.replaceSubrange(page * size..<(page + 1) * size, with: Data(count: size)) },
                "page \(page + 1) of \(count)")
        }
    }

    @Test("The file cut at, before and after each page")
    func truncated() throws {
        let (count, size) = try pages()
        for page in 0..<count {
            for length in [page * size, page * size + 1, page * size + size / 2] {
                #expect(try isSeen { $0 = $0.prefix(length) }, "\(length) bytes left")
            }
        }
    }

    @Test("Random bytes overwritten: never a crash, and damage inside rows is found")
    func random() throws {
        let (_, size) = try pages()
        var random = SplitMix64(state: 20_261_121)
        var seen = 0
        for _ in 0..<150 {
            let isFound = try isSeen { bytes in
                for _ in 0..<4 {
                    // Page 1 as well, but not the version of the format in its header.
                    let offset = Int.random(in: 100..<bytes.count, using: &random)
                    bytes[offset] = bytes[offset] &+ UInt8.random(in: 1...255, using: &random)
                }
            }
            if isFound { seen += 1 }
        }
        // The rest hit free space inside pages, which says nothing.
        #expect(seen > 75, "\(seen) of 150, page size \(size)")
    }

    @Test("An index that has another id for an event is found, though no row is another (INV-4)")
    func indexEntry() throws {
        let copy = try sample.damaged { _ in }
        let files = StoreFiles(copy.path)
        var id: [UInt8] = []
        try #require(try LogReader(files).event(at: 40)).event.header.id.bits.append(to: &id)
        let url = URL(filePath: files.log)
        var bytes = try Data(contentsOf: url)
        var (start, found) = (bytes.startIndex, 0)
        while let place = bytes.range(of: Data(id), in: start..<bytes.endIndex) {
            start = place.upperBound
            // Pages of an index begin so (https://sqlite.org/fileformat2.html#b_tree_pages).
            guard [2, 10].contains(bytes[place.lowerBound / 4_096 * 4_096]) else { continue }
            bytes[place.upperBound - 1] ^= 1
            found += 1
        }
        #expect(found == 1)
        try bytes.write(to: url)
        let report = try verify(copy)
        #expect(report.says(.index, "missing from index event_id"), report.text)
        #expect(report.count(of: .events) == 0 && report.count(of: .tree) == 0, report.text)
    }

    @Test("A damaged page costs the events on it; those behind it are still looked at")
    func pageLost() throws {
        let folder = TemporaryFolder()
        try EventStore.create(in: folder.path, name: "n")
        let store = try EventStore(opening: folder.path)
        _ = try store.appendBlocking((0..<3_000).map { .message("event \($0)", user: "u") })
        store.close()
        let url = URL(filePath: store.files.log)
        var bytes = try Data(contentsOf: url)
        let place = try #require(bytes.range(of: Data(#"{"text":"event 1500"}"#.utf8)))
        let page = place.lowerBound / 4_096 * 4_096
        bytes.replaceSubrange(page..<page + 4_096, with: Data(count: 4_096))
        // A change far behind the damage, which must still be found.
        let later = try #require(bytes.range(of: Data(#"{"text":"event 2900"}"#.utf8)))
        bytes[later.lowerBound + 10] = UInt8(ascii: "E")
        try bytes.write(to: url)
        let report = try verify(folder)
        #expect(report.says(.database, "cannot be read"), report.text)
        #expect(report.count(of: .positions) == 1 && report.count(of: .order) == 1, report.text)
        #expect(report.names(position: 2_902), report.text)
        #expect(report.events > 2_700 && report.events < 3_001)
        for threads in [1, 2, 7] { #expect(try Verifier(store.files, threads: threads).run() == report) }
    }

    @Test(
        "A gap that begins a piece, an event moved behind all others and a changed one: as many threads as one find the same"
    )
    func pieces() throws {
        let (folder, store) = try makeStore()
        defer { withExtendedLifetime(folder) {} }
        _ = try store.appendBlocking((0..<3_000).map { .message("event \($0)", user: "u-\($0 % 9)") })
        store.close()
        let connection = try Connection(path: store.files.log, mode: .write)
        try connection.execute(
            """
            DELETE FROM event WHERE position IN (513, 1024, 1025);
            UPDATE event SET payload = replace(payload, 'event', 'Event') WHERE position IN (1536, 1537, 2600);
            UPDATE event SET position = 9000000000000000000 WHERE position = 700;
            UPDATE event SET position = -5 WHERE position = 2000;
            """)
        let report = try Verifier(store.files, threads: 1).run()
        // Three are changed, two stand where no event can.
        #expect(report.count(of: .events) == 5, report.text)
        for position: Int64 in [1_536, 1_537, 2_600] { #expect(report.names(position: position), report.text) }
        // 513, 700, 1024 and 1025 together, 2000, and up to the far end; one before the first.
        #expect(report.count(of: .positions) == 6, report.text)
        #expect(report.events == 2_998)
        for threads in [2, 3, 16] { #expect(try Verifier(store.files, threads: threads).run() == report) }
    }
}
