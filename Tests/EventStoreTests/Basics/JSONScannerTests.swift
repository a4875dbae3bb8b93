import Foundation
import TestSupport
import Testing

@testable import EventStore

struct JSONScannerTests {
    @Test(
        arguments: [
            (#"{}"#, nil), (#" { "a" : [ 1 , {"b":null} ] } "#, nil), (#"{"a":1,"A":2}"#, nil),
            (#"{"한글":"두통이 심해요 🤕"}"#, nil), (#"{"a":{"x":1,"x":2}}"#, nil), (#"{"a":"\ud800"}"#, nil),
            (#""#, .empty), (#"  "#, .empty), (#"[]"#, .expectedObject), (#"1"#, .expectedObject),
            (#"{"a":1,"a":2}"#, .duplicateMember), (#"{"a":1,"\u0061":2}"#, .duplicateMember),
            (#"{"가":1,"\uac00":2}"#, .duplicateMember), (#"{"a":1,}"#, .expectedName), (#"{,}"#, .expectedName),
            (#"{"a" 1}"#, .expectedColon), (#"{"a":1 "b":2}"#, .expectedCommaOrBrace),
            (#"{"a":[1 2]}"#, .expectedCommaOrBracket), (#"{"a":[1,]}"#, .expectedValue),
            (#"{"a":01}"#, .leadingZero),
            (#"{"a":-}"#, .expectedDigit), (#"{"a":1.}"#, .expectedDigit), (#"{"a":1e}"#, .expectedDigit),
            (#"{"a":tru}"#, .invalidLiteral), (#"{"a":NaN}"#, .invalidLiteral), (#"{"a":"\x"}"#, .invalidEscape),
            (#"{"a":"\u00g0"}"#, .invalidEscape), ("{\"a\":\"\t\"}", .controlCharacter),
            (#"{"a":1}}"#, .trailingText),
            (#"{"a":1}{"#, .trailingText), ("\u{feff}{}", .byteOrderMark), (#"{"a"#, .unexpectedEnd),
        ] as [(String, JSONError.Reason?)])
    func objects(text: String, reason: JSONError.Reason?) {
        #expect(failure(Array(text.utf8))?.reason == reason, "\(text)")
    }

    @Test func errorsNameThePlace() {
        #expect(throws: InvalidEvent.payloadNotJSON(reason: "number has a leading zero", offset: 5)) {
            try JSONScanner.validateObject(Array(#"{"a":01}"#.utf8))
        }
        #expect(throws: InvalidEvent.payloadNotJSON(reason: "duplicate member", offset: 7)) {
            try JSONScanner.validateObject(Array(#"{"a":1,"a":2}"#.utf8))
        }
        #expect(throws: InvalidEvent.payloadTooLarge(bytes: Limits.payload + 1)) {
            try JSONScanner.validateObject([UInt8](repeating: 0x20, count: Limits.payload - 1) + Array("{}".utf8))
        }
    }

    @Test func nestingEndsAtTheLimit() {
        func nested(_ depth: Int) -> [UInt8] {
            Array((#"{"a":"# + String(repeating: "[", count: depth - 1)).utf8)
                + Array((String(repeating: "]", count: depth - 1) + "}").utf8)
        }
        #expect(failure(nested(Limits.nesting)) == nil)
        #expect(failure(nested(Limits.nesting + 1))?.reason == .tooDeep)
        let arrays = [UInt8](repeating: UInt8(ascii: "["), count: 100_000)
        #expect(throws: JSONError(.tooDeep, at: Limits.nesting)) { try JSONScanner.validateValue(arrays) }
    }

    @Test func duplicatesAreFoundAmongManyMembers() {
        let names = (0..<20_000).map { #""k\#($0)":0"# }
        #expect(failure(Array("{\(names.joined(separator: ","))}".utf8)) == nil)
        for place in [0, 31, 32, 33, 19_999] {
            let text = "{\((names + [names[place]]).joined(separator: ","))}"
            #expect(failure(Array(text.utf8))?.reason == .duplicateMember)
        }
    }

    @Test func everyTruncationIsRefused() throws {
        let line = Array(#"{"v":"1.0","n":[-1.5e+3,true,null,{"b":"\u00e9\n"}],"글":"어제부터 두통이 🤕 심해요"}"#.utf8)
        #expect(failure(line) == nil)
        for count in 0..<line.count { #expect(failure(Array(line[..<count])) != nil, "\(count)") }
    }

    @Test func mutationsNeverCrashAndAgreeWithFoundation() throws {
        let seed = Array(#"{"type":"posted","n":[-1.5e+3,true,null,{"b":"\u00e9\n"}],"글":"두통이 🤕 심해요"}"#.utf8)
        let spice = Array(#"{}[]",:\u0eE+-.tfn"#.utf8) + [0, 0x1f, 0x80, 0xc0, 0xed, 0xf4, 0xff]
        var random = SplitMix64(state: 1)
        for _ in 0..<20_000 {
            var bytes = seed
            for _ in 0..<Int.random(in: 1...4, using: &random) { mutate(&bytes, spice, &random) }
            let accepted = failure(bytes) == nil
            if accepted {
                // What is accepted is UTF-8 and reads the same through the lazy view.
                #expect(String(validating: bytes, as: UTF8.self) != nil)
                let again = try JSONObject(validating: bytes)
                var copy = Array("{".utf8)
                for (index, member) in again.enumerated() {
                    if index > 0 { copy.append(UInt8(ascii: ",")) }
                    JSONText.append(member.name, to: &copy)
                    copy.append(UInt8(ascii: ":"))
                    copy += member.value.raw
                }
                copy.append(UInt8(ascii: "}"))
                #expect(failure(copy) == nil)
            }
            // Foundation is laxer in places (duplicates, numbers, depth), never stricter in what these seeds reach.
            if accepted, isFoundationObject(bytes) == false {
                Issue.record("\(String(decoding: bytes, as: UTF8.self))")
            }
        }
    }

    private func mutate(_ bytes: inout [UInt8], _ spice: [UInt8], _ random: inout SplitMix64) {
        let place = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<5, using: &random) {
        case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
        case 1: bytes[place] = spice[Int.random(in: 0..<spice.count, using: &random)]
        case 2: bytes.insert(spice[Int.random(in: 0..<spice.count, using: &random)], at: place)
        case 3: bytes.remove(at: place)
        default: bytes.insert(contentsOf: bytes[place..<min(bytes.count, place + 9)], at: place)
        }
    }

    private func isFoundationObject(_ bytes: [UInt8]) -> Bool {
        (try? JSONSerialization.jsonObject(with: Data(bytes))) is [String: Any]
    }
}

/// What the scanner says against `bytes` as an object.
func failure(_ bytes: [UInt8]) -> JSONError? {
    do {
        try JSONScanner.checkObject(bytes)
        return nil
    } catch {
        return error
    }
}
