import Foundation
import Testing

@testable import EventStore

/// The vectors of FORMATS.md §9 and §10, which were not made with this code (INV-19).
struct ReceiptVectorTests {
    private func vector(_ name: String) throws -> [UInt8] {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(
            path: "../../../docs/reference/vectors/\(name)")
        return Array(try Data(contentsOf: file))
    }

    @Test("The receipt is read: two origins, one cosigned over its head and over a smaller one")
    func receipt() throws {
        let (receipt, check) = try checked(try vector("receipt.ndjson"))
        #expect(check.isSigned && check.answer == nil)
        #expect(receipt.maker.name == "n" && receipt.maker.position == 9)
        #expect(receipt.heads.map(\.head.head.size) == [5, 3])
        let said = receipt.heads[0].cosignatures.map(\.cosignature)
        #expect(said.map(\.time) == [1_785_549_738, 1_785_549_736] && said.map(\.head.size) == [5, 2])
        #expect(receipt.heads[1].cosignatures.isEmpty && receipt.heads[1].arrived == 1_785_549_735_007)
    }

    @Test("The answer is read: three events of a user, one erased, one whose payload is none")
    func answer() throws {
        var events: [Event] = []
        let check = ReceiptCheck { events.append($0) }
        for line in ndjson(try vector("answer.ndjson")) { try check.take(line, 0..<(line.count - 1)) }
        _ = try check.finish()
        #expect(check.answer?.scope == .user("u-1029") && check.answer?.events == 3)
        #expect(check.answer?.withoutPayload == 1 && events.map(\.header.dot.seq) == [2, 3, 4])
        #expect(events[1].isErased && events[2].payload == nil)
    }
}
