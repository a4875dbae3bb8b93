import Testing

@testable import EventStore

/// Texts that are written into bytes say what the same values say as strings.
struct TextFormTests {
    private static let words: [UInt64] =
        [0, 1, 9, 10, 15, 16, 0x0123_4567_89ab_cdef, 0xfedc_ba98_7654_3210, .max, .max - 1, 1 << 63]
        + (0..<16).map { UInt64($0) &* 0x1111_1111_1111_1111 }

    private static func text(_ write: (inout [UInt8]) -> Void) -> String {
        var bytes = Array("> ".utf8)
        write(&bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test func identifiersAndStamps() {
        for high in Self.words {
            for low in Self.words {
                let bits = UUIDBits(high: high, low: low)
                #expect(Self.text(bits.appendText) == "> \(bits)")
                #expect(UUIDBits(text: Self.text(bits.appendText).dropFirst(2)) == bits)
            }
            #expect(Self.text(HybridTime(rawValue: high).appendText) == "> \(HybridTime(rawValue: high))")
        }
    }

    @Test func numbersAndTexts() {
        for number in Self.words { #expect(Self.text { $0.append(decimal: number) } == "> \(number)") }
        #expect(Self.text { $0.append(literal: "") } == "> ")
        #expect(Self.text { $0.append(literal: "어제") } == "> 어제")
        #expect(Self.text { $0.append(text: "a\u{301} " + String(repeating: "긴", count: 20)) }.utf8.count == 66)
    }
}
