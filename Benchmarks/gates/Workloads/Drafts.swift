internal import EventStore

/// What the workloads append: the same drafts in every run. Mostly dialogue, and some of all else that views read.
enum Drafts {
    static let users = 200
    private static let conversations = 400
    /// 2026-01-01, where the clock of counts.c begins.
    private static let start: UInt64 = 1_767_225_600_000
    private static let words = [
        "안녕하세요", "오늘", "회의는", "몇", "시에", "시작하나요", "감사합니다", "주문한", "물건이", "아직", "도착하지", "않았어요", "확인해", "주세요",
        "배송", "조회", "환불", "please", "check", "the", "order", "again", "meeting", "tomorrow", "OK", "later",
    ]

    static func make(_ count: Int) -> [EventDraft] {
        var random = SplitMix(state: 20_260_101)
        return (0..<count).map { index in
            let conversation = random.below(conversations)
            var draft = EventDraft(
                type: "message.posted", conversation: "c-\(conversation)", user: userName(random.below(users)),
                payload: [])
            switch random.below(100) {
            case 0..<80: draft.payload = object("text", sentence(&random))
            case 80..<85:
                // Its id is known, so that a later event can be about it.
                draft.id = identifier(index)
                draft.payload = object("text", sentence(&random))
            case 85..<88:
                (draft.type, draft.cause) = ("message.edited", identifier(random.below(index + 1)))
                draft.payload = object("text", sentence(&random))
            case 88:
                (draft.type, draft.cause) = ("message.retracted", identifier(random.below(index + 1)))
                draft.payload = Array("{}".utf8)
            case 89..<91:
                draft.type = "conversation.started"
                draft.payload = object("title", "about \(random.below(50))")
            case 91..<94:
                draft.type = "participant.joined"
                draft.payload = Array("{}".utf8)
            case 94..<97:
                draft.type = "profile.changed"
                draft.payload = Array(#"{"fields":{"mood":"\#(random.below(9))","city":"서울"}}"#.utf8)
            default:
                draft.type = "survey.answered"
                draft.payload = Array(
                    #"{"survey":"monthly","question":"q\#(random.below(5))","choice":"c\#(random.below(4))"}"#.utf8)
            }
            return draft
        }
    }

    static func userName(_ number: Int) -> String { "u-\(number)" }

    private static func sentence(_ random: inout SplitMix) -> String {
        (0..<20).map { _ in words[random.below(words.count)] }.joined(separator: " ")
    }

    private static func object(_ name: String, _ text: String) -> [UInt8] { Array(#"{"\#(name)":"\#(text)"}"#.utf8) }

    /// A UUIDv7 of the moment when the clock of counts.c is about to store the draft at `index`.
    private static func identifier(_ index: Int) -> EventID {
        EventID(UUIDBits(high: (start + UInt64(index)) << 16 | 0x7000, low: 1 << 63 | UInt64(index)))
    }
}

/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
struct SplitMix {
    var state: UInt64

    mutating func below(_ limit: Int) -> Int {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return Int((mixed ^ (mixed >> 31)) % UInt64(limit))
    }
}
