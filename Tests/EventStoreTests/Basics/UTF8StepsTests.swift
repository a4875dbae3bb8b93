import Testing

@testable import EventStore

/// What is well-formed UTF-8, and where it is not.
struct UTF8StepsTests {
    private func isValid(_ bytes: [UInt8]) -> Bool {
        var steps = UTF8Steps()
        for byte in bytes { steps.step(UInt64(byte), count: 1) }
        return steps.isBetween
    }

    @Test("Sequences of two bytes, and of edges of the ranges in four, are judged as the standard library does")
    func sequences() {
        for first in UInt8.min ... .max {
            for second in UInt8.min ... .max {
                let bytes = [first, second]
                if isValid(bytes) != (String(validating: bytes, as: UTF8.self) != nil) { Issue.record("\(bytes)") }
            }
        }
        let edges: [UInt8] = [
            0x00, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec, 0xed, 0xee, 0xef,
            0xf0,
            0xf1, 0xf3, 0xf4, 0xf5, 0xff,
        ]
        for first in edges where first >= 0xe0 {
            for second in edges where second >= 0x7f {
                for third in edges {
                    for fourth in [0x41, 0x7f, 0x80, 0xbf, 0xc2] as [UInt8] {
                        let bytes = [first, second, third, fourth]
                        if isValid(bytes) != (String(validating: bytes, as: UTF8.self) != nil) {
                            Issue.record("\(bytes)")
                        }
                    }
                }
            }
        }
    }

    @Test("In a JSON string the first character that is broken is named, wherever it stands among eight bytes")
    func places() throws {
        let broken: [[UInt8]] = [
            [0x80], [0xff], [0xc3], [0xc0, 0x80], [0xe0, 0x9f, 0xbf], [0xed, 0xa0, 0x80], [0xea, 0xb0],
            [0xf0, 0x8f, 0xbf, 0xbf], [0xf4, 0x90, 0x80, 0x80], [0xf0, 0x9f, 0x98],
        ]
        for before in 0..<20 {
            for after in 0..<10 {
                for sequence in broken {
                    let text = String(repeating: "가", count: before / 3) + String(repeating: "x", count: before % 3)
                    let start = Array("\"\(text)".utf8)
                    let bytes = start + sequence + Array(String(repeating: "y", count: after).utf8) + [0x22]
                    #expect(throws: JSONError(.invalidUTF8, at: start.count)) {
                        try JSONScanner.validateValue(bytes)
                    }
                    let open = start + sequence
                    #expect(throws: JSONError(.invalidUTF8, at: start.count)) { try JSONScanner.validateValue(open) }
                }
            }
        }
    }
}
