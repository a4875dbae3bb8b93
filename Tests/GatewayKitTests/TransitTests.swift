import CommandLineKit
import Foundation
import GatewayKit
import Testing

/// What is asked, and what is answered (docs/reference/GATEWAY.md).
struct TransitTests {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// The data file of the repository.
    private static let transit = Result {
        let text = try String(contentsOf: root.appending(path: "Examples/arrive/transit.json5"), encoding: .utf8)
        return try TransitFile.read(text)
    }

    private func answer(_ text: String) throws -> String {
        let request: TripRequest
        do throws(TripFault) { request = try TripRequest(Array(text.utf8)) } catch { return error.text }
        return try Self.transit.get().answer(request).text
    }

    @Test(
        "The vectors of the protocol's page",
        arguments: [
            // S3-1, S3-6: a blank after '@' is passed over.
            ("1@대구", "1@1호선@2호선@3호선"), ("1@ 대구", "1@1호선@2호선@3호선"), (" 1 @\t대구 ", "1@1호선@2호선@3호선"),
            // S3-3, S3-5: two stops before the goal, in both directions.
            ("3@대구@1호선@설화명곡@안심", "3@반야월@47"), ("3@대구@1호선@안심@설화명곡", "3@대곡@47"),
            ("3@대구@1호선@설화명곡@진천", "3@화원@2"), ("3@대구@1호선@진천@설화명곡", "3@대곡@2"),
            ("3@대구@1호선@안지랑@설화명곡", "3@대곡@14"),
            // S3-4: zero, one and two stops.
            ("3@대구@1호선@설화명곡@설화명곡", "0@"), ("3@대구@1호선@설화명곡@화원", "0@"), ("3@대구@1호선@설화명곡@대곡", "0@"),
            ("3@대구@1호선@상인@송현", "0@"),
            // S3-9, S3-21: what the stations do not have.
            ("1@평양", "9@unknown_city"), ("2@대구@9호선", "9@unknown_line"), ("3@대구@1호선@설화명곡@서울역", "9@unknown_station"),
            ("3@대구@1호선@서울역@안심", "9@unknown_station"), ("3@평양@1호선@설화명곡@안심", "9@unknown_city"),
            ("7@x", "9@unknown_code"), ("", "9@unknown_code"), ("대구", "9@unknown_code"), ("11@대구", "9@unknown_code"),
            ("1", "9@fields"), ("1@", "9@fields"), ("1@대구@", "9@fields"), ("2@대구", "9@fields"),
            ("2@대구@1호선@안심", "9@fields"),
            ("3@대구@1호선@설화명곡", "9@fields"), ("3@대구@@설화명곡@안심", "9@fields"),
        ])
    func vectors(_ request: String, _ expected: String) throws {
        #expect(try answer(request) == expected)
    }

    @Test("S3-2: the stations of a line in their order")
    func stations() throws {
        let names = try answer("2@대구@1호선").split(separator: "@").dropFirst()
        #expect(names.count == 32)
        #expect(names.first == "설화명곡" && names.dropFirst(2).first == "대곡" && names.last == "안심")
    }

    @Test("S3-9: five regions, 대구 first")
    func cities() throws {
        #expect(try Self.transit.get().cities.map(\.name) == ["대구", "수도권", "부산", "대전", "광주"])
    }

    @Test("Names are compared composed and decomposed alike, and answered as the data has them")
    func normalisation() throws {
        let decomposed = "1@대구".decomposedStringWithCanonicalMapping
        #expect(decomposed.utf8.count > "1@대구".utf8.count)
        #expect(try answer(decomposed) == "1@1호선@2호선@3호선")
        let trip = "3@대구@1호선@설화명곡@안심".decomposedStringWithCanonicalMapping
        #expect(Array(try answer(trip).utf8) == Array("3@반야월@47".utf8))
    }

    @Test("S3-21: what is not UTF-8, or has control characters, is refused")
    func encoding() throws {
        for bytes: [UInt8] in [
            [0x31, 0x40, 0xff], Array("1@대".utf8.dropLast()), [0x31, 0x40, 0xc0, 0xaf],
            [0x31, 0x40, 0xed, 0xa0, 0x80], Array("1@대\u{0}구".utf8),
            Array("1@대\u{1b}[2J".utf8), Array("1@대\u{7f}".utf8), Array("1@대\u{85}구".utf8), Array("1@대\u{9b}".utf8),
            Array("1@대\n구".utf8),
        ] {
            #expect(throws: TripFault.encoding) { try TripRequest(bytes) }
        }
    }

    @Test("The alarm is two stops before the goal, whatever the trip, and its minutes are those from the start")
    func everyTrip() throws {
        let line = try #require(try Self.transit.get().cities.first?.lines.first)
        for (from, start) in line.stations.enumerated() {
            for (to, goal) in line.stations.enumerated() {
                let found = try answer("3@대구@1호선@\(start.name)@\(goal.name)")
                guard abs(to - from) > 2 else {
                    #expect(found == "0@")
                    continue
                }
                let alarm = line.stations[to > from ? to - 2 : to + 2]
                #expect(found == "3@\(alarm.name)@\(abs(alarm.minutes - start.minutes))")
            }
        }
    }
}
