import Foundation
import TestSupport
import Testing

@testable import EventStore

struct TimestampTests {
    @Test(
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("1969-12-31T23:59:59.999Z", -1), ("2000-02-29T00:00:00Z", 951_782_400_000),
            ("2026-08-01T02:02:15.120Z", 1_785_549_735_120), ("2026-08-01t11:02:15.12+09:00", 1_785_549_735_120),
            ("2026-08-01 02:02:15.1209999999999999z", 1_785_549_735_120),
            ("2026-07-31T21:32:15.120-04:30", 1_785_549_735_120), ("1970-01-01T00:00:00-00:00", 0),
            ("0001-01-01T00:00:00Z", -62_135_596_800_000), ("9999-12-31T23:59:59.9999Z", 253_402_300_799_999),
            ("0001-01-01T00:00:00-00:01", -62_135_596_740_000), ("2016-12-31T23:59:60Z", 1_483_228_799_999),
            ("2017-01-01T08:59:60.5+09:00", 1_483_228_799_999),
        ])
    func reads(text: String, milliseconds: Int64) {
        #expect(Timestamp.milliseconds(text) == milliseconds)
    }

    @Test(
        arguments: [
            "", "2026", "2026-08-01", "2026-08-01T02:02Z", "2026-08-01T02:02:15", "2026-08-01T02:02:15.Z",
            "2026-08-01T02:02:15,1Z", "2026-8-1T02:02:15Z", "2026-13-01T02:02:15Z", "2026-00-01T02:02:15Z",
            "2026-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "2026-04-31T00:00:00Z", "2026-08-00T00:00:00Z",
            "2026-08-01T24:00:00Z", "2026-08-01T02:60:00Z", "2026-08-01T02:02:61Z", "2026-08-01T02:02:60Z",
            "2026-08-01T02:02:15+9:00", "2026-08-01T02:02:15+0900", "2026-08-01T02:02:15+24:00",
            "2026-08-01T02:02:15+09:60", "2026-08-01T02:02:15ZZ", " 2026-08-01T02:02:15Z", "0000-12-31T00:00:00Z",
            "0001-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01", "+2026-08-01T02:02:15Z",
            "２０２６-08-01T02:02:15Z",
        ])
    func refuses(text: String) {
        #expect(Timestamp.milliseconds(text) == nil)
    }

    @Test func everyDayGoesThereAndBack() throws {
        // One moment in each day of 400 years around 2000, and both ends.
        var moments = (-73_000..<73_000).map { Int64($0) * 86_400_000 + 45_296_789 }
        moments += [Timestamp.range.lowerBound, Timestamp.range.upperBound]
        var previous = ""
        for moment in moments {
            let text = Timestamp.text(moment)
            #expect(Timestamp.milliseconds(text) == moment)
            if moment != Timestamp.range.lowerBound { #expect(text > previous) }
            previous = text
        }
    }

    @Test func agreesWithFoundation() throws {
        let format = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        var random = SplitMix64(state: 2)
        for _ in 0..<500 {
            // Foundation turns to the Julian calendar before 1582.
            let seconds = Int64.random(in: -11_000_000_000...253_402_300_799, using: &random)
            let date = Date(timeIntervalSince1970: TimeInterval(seconds))
            #expect(date.formatted(format) == Timestamp.text(seconds * 1000))
        }
    }

    @Test func momentsOutsideTheRangeAreShownAsItsEnds() {
        #expect(Timestamp.text(.min) == "0001-01-01T00:00:00.000Z")
        #expect(Timestamp.text(.max) == "9999-12-31T23:59:59.999Z")
    }
}
