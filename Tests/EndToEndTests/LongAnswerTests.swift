import Foundation
import TestSupport
import Testing

@testable import EventStore

/// Answers that are long, and answers beside appends.
@Suite(.serialized)
struct LongAnswerTests {
    private static func lines(_ count: Int) -> String {
        (0..<count).map { number in
            #"{"type":"message.posted","user":"u","subject":"conversation/c","data":{"text":"\#(number)번째"}}"# + "\n"
        }.joined()
    }

    @Test("A history of more rows than are held has its headings once, and every row in its place")
    func pieces() throws {
        let folder = try TemporaryFolder.made()
        let store = folder.file("store")
        #expect(try Programs.syncctl(store, ["init", "--name", "n"]).code == 0)
        #expect(try Programs.syncctl(store, ["append", "-"], input: Self.lines(4_100)).code == 0)
        for words in [["history", "u"], ["conversation", "c"]] {
            let rows = try Programs.syncctl(store, words + ["--plain"]).output.split(separator: "\n")
            #expect(rows.count == 4_101 && rows.first?.hasPrefix("TIME") == true)
            let texts = rows.dropFirst().compactMap { $0.split(separator: "\t").last.map(String.init) }
            #expect(texts == (0..<4_100).map { "\($0)번째" })
            let human = try Programs.syncctl(store, words + ["--human"]).output.split(separator: "\n")
            #expect(human.count == 4_101 && human.filter { $0.hasPrefix("TIME") }.count == 1)
        }
    }

    @Test("digest does not wait for the search index, and tells of one position beside appends (INV-6)")
    func digest() async throws {
        let daemon = try DaemonProcess("n")
        try daemon.start()
        #expect(try daemon.syncctl("append", "-", input: Self.lines(500)).code == 0)
        let appending = Task.detached {
            var count = 0
            while !Task.isCancelled {
                guard try Programs.syncctl(daemon.store, ["append", "-"], input: Self.lines(10)).code == 0 else {
                    break
                }
                count += 1
            }
            return count
        }
        for _ in 0..<10 {
            let told = try daemon.syncctl("digest", "--json")
            #expect(told.code == 0 && told.lines.last?["complete"] as? Bool == true, "\(told)")
            #expect(!told.lines.contains { $0["view"] as? String == "search" })
        }
        appending.cancel()
        #expect(try await appending.value > 3)
        let all = try daemon.syncctl("digest", "--search", "--json")
        #expect(all.code == 0 && all.lines.contains { $0["view"] as? String == "search" })
        #expect(daemon.terminate() == 0)
    }
}
