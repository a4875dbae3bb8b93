import EventStore
import SyncEngine
import TestSupport
import Testing

@Suite struct MessageTests {
    @Test(arguments: MessageType.allCases) func roundTrip(type: MessageType) throws {
        var generator = MessageGenerator(seed: 1_000 + UInt64(type.rawValue))
        for _ in 0..<200 {
            let message = try generator.message(of: type)
            #expect(message.type == type.rawValue)
            #expect(try Message(frame: message.frame(compress: false)) == message)
            #expect(try Message(frame: message.frame(compress: true)) == message)
        }
    }

    @Test(arguments: MessageType.allCases) func truncationIsAnErrorOrAnotherMessage(type: MessageType) throws {
        var generator = MessageGenerator(seed: 2_000 + UInt64(type.rawValue))
        for _ in 0..<6 {
            let message = try generator.message(of: type)
            let body = message.body
            for count in 0..<body.count {
                let frame = Frame(type: type.rawValue, body: [UInt8](body.prefix(count)))
                do {
                    #expect(try Message(frame: frame) != message)
                } catch {
                    #expect(error.code == .badFrame)
                }
            }
        }
    }

    @Test(arguments: MessageType.allCases) func unknownFieldsAreIgnored(type: MessageType) throws {
        var generator = MessageGenerator(seed: 3_000 + UInt64(type.rawValue))
        let message = try generator.message(of: type)
        let unknown = field(100, 7) + field(101, [1, 2, 3]) + fixed(102, 9) + [0x9d, 6, 1, 2, 3, 4]
        #expect(try Message(frame: Frame(type: type.rawValue, body: unknown + message.body + unknown)) == message)
        // The start of a group.
        #expect(throws: WireError.self) {
            try Message(frame: Frame(type: type.rawValue, body: message.body + [100 << 1 & 0x7f | 3]))
        }
    }

    @Test func unknownFieldsAreIgnoredInsideToo() throws {
        let origin = field(1, [UInt8](repeating: 3, count: 16))
        let body = field(1, origin + field(2, 5) + field(9, 1) + fixed(3, 8))
        let entry = VectorEntry(
            origin: OriginID(UUIDBits(high: 0x0303_0303_0303_0303, low: 0x0303_0303_0303_0303)), seq: 5, root: 8)
        #expect(try Message(frame: Frame(type: 2, body: body)) == .vector([entry]))
    }

    @Test func unknownTypesAreSkippedWhateverIsInside() throws {
        for type in [UInt8(0), 99, 200, 255] {
            #expect(try Message(frame: Frame(type: type, flags: 1, body: [9, 9])) == .unknown(type: type))
            #expect(Message.unknown(type: type).frame(compress: true) == Frame(type: type, body: []))
        }
        #expect(throws: WireError.unknownFlags(2)) { try Message(frame: Frame(type: 200, flags: 2, body: [])) }
    }

    @Test func bodyLimitsHoldHereToo() {
        let large = Frame(type: 3, body: [UInt8](repeating: 0, count: 1_001))
        #expect(throws: WireError.frameTooLarge(bytes: 1_001, limit: 1_000)) {
            try Message(frame: large, limits: WireLimits(maxBody: 1_000))
        }
        #expect(throws: WireError.frameTooLarge(bytes: 4_097, limit: 4_096)) {
            try Message(frame: Frame(type: 1, body: [UInt8](repeating: 0, count: 4_097)))
        }
    }

    @Test func theLastOfSeveralSingularFieldsCounts() throws {
        #expect(try Message(frame: Frame(type: 5, body: field(1, 3) + field(1, 4))) == .credit(4))
    }

    @Test func valuesThatDoNotFitAreRefused() {
        #expect(throws: WireError.malformed(message: "Bye", reason: "field 1 is over 32 bits")) {
            try Message(frame: Frame(type: 8, body: field(1, 1 << 32)))
        }
        #expect(throws: WireError.malformed(message: "Credit", reason: "field 1 has another wire type")) {
            try Message(frame: Frame(type: 5, body: fixed(1, 1)))
        }
        #expect(throws: WireError.malformed(message: "Credit", reason: "a varint is longer than it need be")) {
            try Message(frame: Frame(type: 5, body: [8, 0x81, 0]))
        }
        #expect(throws: WireError.malformed(message: "Bye", reason: "field 2 is not UTF-8")) {
            try Message(frame: Frame(type: 8, body: field(2, [0xff])))
        }
    }

    @Test func byeTextIsShort() throws {
        let long = String(repeating: "가", count: 1_000)
        let bye = Bye(.shutdown, text: long)
        #expect(bye.text == String(repeating: "가", count: 333))
        #expect(Bye(.shutdown, text: String(long.prefix(333)) + "x").text.utf8.count == 1_000)
        #expect(try Message(frame: Message.bye(bye).frame(compress: true)) == .bye(bye))
        #expect(throws: WireError.malformed(message: "Bye", reason: "text is over 1000 bytes")) {
            try Message(frame: Frame(type: 8, body: field(2, [UInt8](repeating: 0x61, count: 1_001))))
        }
    }

    @Test func byeCodesOfLaterVersionsAreRetried() {
        #expect(Bye(code: 4_000).knownCode == nil)
        #expect(Bye(code: 4_000).errorClass == .retry)
        #expect(Bye(code: 2).errorClass == .fatal)
        #expect(Bye(.fork).knownCode == .fork)
    }
}
