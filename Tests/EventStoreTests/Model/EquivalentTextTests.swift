import Foundation
import Testing

@testable import EventStore

/// Texts that Unicode takes for the same are two where their bytes differ.
struct EquivalentTextTests {
    static let pairs = [("김하늘", "김하늘".decomposedStringWithCanonicalMapping), ("Kim", "\u{212a}im")]

    @Test("An erasure of one user covers nothing of their namesake (INV-11)", arguments: pairs)
    func erasures(_ one: String, _ other: String) throws {
        try #require(one == other)
        let (node, dot) = (NodeID(.zero), Dot(origin: OriginID(UUIDBits(high: 0, low: 1)), seq: 9))
        for isOfUser in [true, false] {
            var erasure = Erasure(subject: isOfUser ? .user(one) : .conversation(one))
            erasure.isWithAuthored = isOfUser
            let draft = erasure.draft(user: "node/x")
            let header = draft.header(
                dot, HybridTime(rawValue: 1_000 << 16), EventID(UUIDBits(high: 0, low: 1)), after: [])
            var erasures = Erasures(keeper: node)
            let body = EventBody.present(salt: UUIDBits(high: 0, low: 2), payload: draft.payload)
            erasures.take(Event(header: header, body: body), of: node)
            func covers(_ name: String) -> Bool {
                erasures.covers(
                    Erasures.Place(
                        dot: Dot(origin: dot.origin, seq: 1), node: node, hlc: HybridTime(rawValue: 1 << 16),
                        type: "message.posted", user: isOfUser ? name : "u", author: isOfUser ? name : "u",
                        conversation: isOfUser ? nil : name))
            }
            #expect(covers(one) && !covers(other))
        }
    }

    @Test("Drafts and headers of two users are two", arguments: pairs)
    func drafts(_ one: String, _ other: String) {
        let (mine, theirs) = (EventDraft.message("말", user: one), EventDraft.message("말", user: other))
        #expect(mine == EventDraft.message("말", user: one) && mine != theirs)
        let dot = Dot(origin: OriginID(UUIDBits(high: 0, low: 1)), seq: 1)
        func header(_ draft: EventDraft) -> EventHeader {
            draft.header(dot, HybridTime(rawValue: 1 << 16), EventID(UUIDBits(high: 0, low: 1)), after: [])
        }
        #expect(header(mine) != header(theirs) && Set([header(mine), header(theirs)]).count == 2)
    }
}
