import EventStore
import TestSupport
import Testing

@testable import Subscriptions

/// What is done, put together from two nodes (INV-14, INV-15).
struct StateTests {
    private static let origins = (1...3).map { OriginID(UUIDBits(high: 0, low: UInt64($0))) }

    /// Of the conversation of an event.
    private static func mark(_ dot: Dot) -> ConversationMark { ConversationMark(bits: 1 + dot.seq % 3) }

    private static func isDone(_ dot: Dot, _ state: SubscriptionState) -> Bool {
        let from = state.looked.behind[mark(dot)]?[dot.origin] ?? .max
        return state.early.contains(dot)
            || state.through.contains(dot) && dot.seq < from && !state.open.contains { $0.dot == dot }
    }

    private static func any(_ random: inout SplitMix64) -> SubscriptionState {
        var state = SubscriptionState()
        for origin in origins {
            let through = random.next() % 12
            guard through > 0 else { continue }
            state.through.advance(to: Dot(origin: origin, seq: through))
            for seq in 1...through where random.next() % 3 == 0 {
                let dot = Dot(origin: origin, seq: seq)
                state.open.append(.init(dot, attempts: Int(random.next() % 4), mark: mark(dot)))
            }
            for bits in UInt64(1)...3 where random.next() % 3 == 0 {
                let dot = Dot(origin: origin, seq: random.next() % through + 1)
                state.looked.leave(dot, of: ConversationMark(bits: bits))
            }
            for seq in through + 1...through + 4 where random.next() % 4 == 0 {
                state.early.append(Dot(origin: origin, seq: seq))
            }
        }
        state.open.sort { $0.dot < $1.dot }
        state.early.sort()
        for origin in origins where random.next() % 2 == 0 {
            state.needs.advance(to: Dot(origin: origin, seq: random.next() % 9 + 1))
        }
        return state
    }

    @Test("Of two states what is done in either is done, and nothing else; in whatever order they are merged")
    func merge() {
        var random = SplitMix64(state: 7)
        for round in 0..<2_000 {
            let states = (0..<3).map { _ in Self.any(&random) }
            var one = states[0]
            one.merge(states[1])
            one.merge(states[2])
            var other = states[2]
            other.merge(states[0])
            other.merge(states[1])
            other.merge(states[1])
            #expect(one == other, "round \(round)")
            for origin in Self.origins {
                for seq in UInt64(1)...16 {
                    let dot = Dot(origin: origin, seq: seq)
                    #expect(Self.isDone(dot, one) == states.contains { Self.isDone(dot, $0) }, "\(round): \(dot)")
                }
            }
            #expect(SubscriptionState(bytes: one.bytes)?.bytes == one.bytes)
            if !one.looked.behind.isEmpty { #expect(SubscriptionState(bytes: one.bytes) == one) }
        }
    }

    @Test("A state that was cut or lengthened is none")
    func cut() {
        var random = SplitMix64(state: 9)
        let bytes = Self.any(&random).bytes
        for count in 0..<bytes.count { #expect(SubscriptionState(bytes: Array(bytes.prefix(count))) == nil) }
        #expect(SubscriptionState(bytes: bytes + [0]) == nil)
        // A count that is beyond all there is makes no room.
        #expect(SubscriptionState(bytes: Array(bytes.prefix(8)) + [UInt8](repeating: 255, count: 8)) == nil)
    }

    @Test("A state of another node that names a dot twice, or out of order, is none (INV-9)")
    func doubled() {
        let dots = (1...3).map { Dot(origin: Self.origins[0], seq: UInt64($0)) }
        let lists: [WritableKeyPath<SubscriptionState, [SubscriptionState.Open]>] = [\.open, \.retried]
        for list in lists {
            for order in [[0, 0], [1, 0], [0, 2, 1]] {
                var state = SubscriptionState()
                state.through.advance(to: dots[2])
                state[keyPath: list] = order.map { .init(dots[$0], attempts: 1) }
                #expect(SubscriptionState(bytes: state.bytes) == nil, "\(order)")
            }
        }
        var state = SubscriptionState()
        state.early = [dots[0], dots[0]]
        #expect(SubscriptionState(bytes: state.bytes) == nil)
    }

    /// Made with Python: `struct.pack(">Q", …)`, version, then the five lists.
    @Test("The bytes of a state are those of FORMATS §5")
    func vector() {
        var state = SubscriptionState()
        let origin = OriginID(UUIDBits(high: 0x0198_e2c4_77aa_7c01, low: 0x8b1e_0a1b_2c3d_4e5f))
        state.through.advance(to: Dot(origin: origin, seq: 300))
        state.open = [.init(Dot(origin: origin, seq: 7), attempts: 2)]
        state.early = [Dot(origin: origin, seq: 302)]
        state.needs.advance(to: Dot(origin: origin, seq: 299))
        let expected =
            "0000000000000002" + "0000000000000001" + "0198e2c477aa7c018b1e0a1b2c3d4e5f" + "000000000000012c"
            + "0000000000000001" + "0198e2c477aa7c018b1e0a1b2c3d4e5f" + "0000000000000007" + "0000000000000002"
            + "0000000000000000" + "0000000000000001" + "0198e2c477aa7c018b1e0a1b2c3d4e5f" + "000000000000012e"
            + "0000000000000001" + "0198e2c477aa7c018b1e0a1b2c3d4e5f" + "000000000000012b"
        #expect(hexText(state.bytes) == expected)
    }

    /// Made with Python, as the one above; the mark is `hashlib.sha256(b"cflood").digest()[:8]`.
    @Test(
        "The bytes of a state with a conversation that is behind are those of FORMATS §5; twice told, or beyond, it is none"
    )
    func unevenVector() {
        var state = SubscriptionState()
        let origin = OriginID(UUIDBits(high: 0x0198_e2c4_77aa_7c01, low: 0x8b1e_0a1b_2c3d_4e5f))
        let mark = ConversationMark(key: ByteText("cflood"))
        state.through.advance(to: Dot(origin: origin, seq: 300))
        state.open = [
            .init(Dot(origin: origin, seq: 7), attempts: 2, mark: mark),
            .init(Dot(origin: origin, seq: 8), attempts: 0),
        ]
        state.looked.leave(Dot(origin: origin, seq: 9), of: mark)
        let dot = "0198e2c477aa7c018b1e0a1b2c3d4e5f"
        let place = "a388e144b46b1295" + dot + "0000000000000009"
        let body =
            "0000000000000003" + "0000000000000001" + dot + "000000000000012c" + "0000000000000002" + dot
            + "0000000000000007" + "0000000000000002" + dot + "0000000000000008" + "0000000000000000"
            + "0000000000000000" + "0000000000000000" + "0000000000000000" + "0000000000000002"
            + "a388e144b46b1295" + "0000000000000000"
        #expect(hexText(state.bytes) == body + "0000000000000001" + place)
        #expect(SubscriptionState(bytes: state.bytes) == state)
        func isState(_ text: String) -> Bool { hexBytes(text).map { SubscriptionState(bytes: $0) != nil } ?? false }
        #expect(isState(body + "0000000000000001" + place))
        #expect(!isState(body + "0000000000000002" + place + place) && !isState(body + "0000000000000000"))
        #expect(
            !isState(body + "0000000000000001" + "a388e144b46b1295" + dot + "000000000000012d"), "beyond the vector")
        // Without its list of marks it is an earlier one with too much behind it.
        #expect(!isState("0000000000000002" + body.dropFirst(16) + "0000000000000001" + place))
    }

    @Test("Of an open event whose conversation is not told only what is beyond doubt is done")
    func unknownMarks() {
        let dots = (1...9).map { Dot(origin: Self.origins[0], seq: UInt64($0)) }
        var mine = SubscriptionState()
        mine.through.advance(to: dots[7])
        mine.open = [.init(dots[1], attempts: 1), .init(dots[5], attempts: 1)]
        var theirs = SubscriptionState()
        theirs.through.advance(to: dots[8])
        theirs.looked.leave(dots[3], of: Self.mark(dots[3]))
        var merged = mine
        merged.merge(theirs)
        #expect(merged.open.map(\.dot) == [dots[5]], "the fourth and what follows may be of the one that is behind")
        mine.complete { Self.mark($0) }
        merged = mine
        merged.merge(theirs)
        #expect(merged.open.map(\.dot) == (Self.mark(dots[5]) == Self.mark(dots[3]) ? [dots[5]] : []))
    }

    @Test("A definition is what its text says; members that are wrong are named")
    func definitions() throws {
        func read(_ text: String) throws(InvalidDefinition) -> SubscriptionDefinition {
            try SubscriptionDefinition(JSONObject(validated: Array(text.utf8)))
        }
        let full = #"""
            {"start":"2026-08-01T00:00:00.000Z","filter":{"type":["message.*"],"conversation":["c-1","c-2"]},
            "late_ms":600000,"ack_wait_ms":1000,"attempts":3,"backoff_ms":[0,5],"order":"none"}
            """#
        let definition = try read(full)
        #expect(try read("{\(definition.text)}") == definition)
        #expect(definition.attempts == 3 && definition.backoff == [0, 5] && definition.order == .none)
        let wrong: [(String, String)] = [
            (#"{}"#, "start"), (#"{"start":"soon"}"#, "start"), (#"{"start":7}"#, "start"),
            (#"{"start":"now","attempts":0}"#, "attempts"), (#"{"start":"now","attempts":1e9}"#, "attempts"),
            (#"{"start":"now","ack_wait_ms":-1}"#, "ack_wait_ms"),
            (#"{"start":"now","ack_wait_ms":999}"#, "ack_wait_ms"),
            (#"{"start":"now","backoff_ms":[]}"#, "backoff_ms"),
            (#"{"start":"now","backoff_ms":["1"]}"#, "backoff_ms"),
            (#"{"start":"now","backoff_ms":[99999999999999999999]}"#, "backoff_ms"),
            (#"{"start":"now","order":"strict"}"#, "order"), (#"{"start":"now","filter":[]}"#, "filter"),
            (#"{"start":"now","filter":{"type":"message.*"}}"#, "filter.type"),
            (#"{"start":"now","filter":{"tpye":["a"]}}"#, "filter.tpye"), (#"{"start":"now","strat":1}"#, "strat"),
            (#"{"start":"now","start":"first"}"#, "start"),
            (#"{"start":"now","filter":{"type":["a"],"type":["b"]}}"#, "filter.type: given twice"),
            (#"{"start":"now","filter":{"user":["a"],"us\u0065r":["b"]}}"#, "filter.user: given twice"),
            (#"{"start":"now","late_ms":9223372036854775807}"#, "late_ms"),
        ]
        for (text, member) in wrong {
            let error = #expect(throws: InvalidDefinition.self, "\(text)") { try read(text) }
            #expect(error?.description.hasPrefix(member) == true, "\(text): \(error?.description ?? "")")
        }
    }

    @Test("A token is read back; nothing else is a token")
    func tokens() {
        let token = DeliveryToken(
            subscription: EventID(UUIDBits(high: 1, low: 2)), run: 3, number: .max,
            dot: Dot(origin: Self.origins[0], seq: Limits.number))
        #expect(DeliveryToken(text: token.text) == token)
        for text in ["", "AQ", token.text + "A", String(token.text.dropLast()), "\u{ac12}"] {
            #expect(DeliveryToken(text: text) == nil, "\(text)")
        }
    }
}
