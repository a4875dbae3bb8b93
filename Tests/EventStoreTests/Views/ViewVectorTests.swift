import Foundation
import Testing

@testable import EventStore

/// The vector of docs/reference/VIEWS.md: digests that were made from that page and not with this code (INV-6).
struct ViewVectorTests {
    private func vector() throws -> (events: [Event], digests: [String]) {
        let page = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../docs/reference/VIEWS.md")
        let text = try String(contentsOf: page, encoding: .utf8)
        let block = try #require(text.split(separator: "```\n").last)
        let parts = block.split(separator: "\n\n")
        try #require(parts.count == 2)
        let events = try parts[0].split(separator: "\n").map { try event(String($0)) }
        return (events, parts[1].split(separator: "\n").map(String.init))
    }

    private func event(_ line: String) throws -> Event {
        let fields = line.split(separator: " ", maxSplits: 11).map(String.init)
        try #require(fields.count == 12)
        func field(_ index: Int) -> String? { fields[index] == "-" ? nil : fields[index] }
        func number(_ text: some StringProtocol, radix: Int = 10) throws -> UInt64 {
            try #require(UInt64(text, radix: radix))
        }
        let dependencies = try (field(10).map { [$0] } ?? []).map { text in
            let parts = text.split(separator: "/")
            return Dot(origin: origin(try number(parts[0])), seq: try number(parts[1]))
        }
        let header = EventHeader(
            dot: Dot(origin: origin(try number(fields[0])), seq: try number(fields[1])),
            hlc: HybridTime(milliseconds: Int64(try number(fields[2])), counter: 0),
            time: try field(3).map { Int64(try number($0)) },
            id: EventID(UUIDBits(high: 0x1d, low: try number(fields[4], radix: 16))), type: fields[5],
            conversation: field(6), user: fields[7], author: fields[8],
            cause: try field(9).map { EventID(UUIDBits(high: 0x1d, low: try number($0, radix: 16))) },
            dependencies: dependencies)
        return Event(
            header: header, body: .present(salt: UUIDBits(high: 1, low: 2), payload: Array(fields[11].utf8)))
    }

    @Test("The events of the page give the digests of the page, in any causal order")
    func digests() throws {
        let (events, digests) = try vector()
        #expect(events.count == 19 && digests.count == 14)
        let second = UInt64(2)
        let mixed = events.sorted { $0.header.hlc < $1.header.hlc }
        for order in [events, mixed] {
            for batch in [100, 1] {
                let log = try LogFixture()
                try log.deliver(order)
                #expect(try log.digests(batch: batch).prefix(14).map(\.description) == digests)
            }
        }
        #expect(events.contains { $0.header.dot.origin == origin(second) })
    }
}
