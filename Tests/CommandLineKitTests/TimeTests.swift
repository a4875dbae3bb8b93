import Foundation
import TestSupport
import Testing

@testable import CommandLineKit

/// 2026-08-01 11:02:15.120 in Seoul.
private let now: Int64 = 1_785_549_735_120
private let seoul = Zone.fixed(seconds: 9 * 3_600)

private func instant(_ text: String, zone: Zone = seoul) throws(TimeSyntaxError) -> String {
    rfc3339(try TimeSyntax(now: now, zone: zone).parse(text))
}

/// `2026-08-01T02:02:15.120Z`.
private func rfc3339(_ milliseconds: Int64) -> String {
    let fraction = String(1_000 + CivilTime(milliseconds: milliseconds).millisecondOfDay % 1_000).dropFirst()
    return TimeFormat.local(milliseconds, in: .utc).replacing(" ", with: "T") + ".\(fraction)Z"
}

private func error(_ text: String) -> TimeSyntaxError? {
    do {
        _ = try TimeSyntax(now: now, zone: seoul).parse(text)
        return nil
    } catch {
        return error
    }
}

@Suite struct TimeSyntaxTests {
    @Test("Of a time that clocks show twice the second moment is known, and of no other")
    func again() throws {
        let zone = try #require(ZoneDirectory.system.zone(named: "America/New_York"))
        let hour: Int64 = 3_600_000
        let first = try TimeSyntax(now: now, zone: zone).parse("2026-11-01 01:30")
        #expect(zone.again(first) == first + hour)
        for other in ["2026-11-01 00:59", "2026-11-01 02:00", "2026-03-08 02:30", "2026-08-01 01:30"] {
            #expect(zone.again(try TimeSyntax(now: now, zone: zone).parse(other)) == nil, "\(other)")
        }
        #expect(zone.again(first + hour) == nil && Zone.utc.again(first) == nil)
    }

    @Test(arguments: [
        ("now", "2026-08-01T02:02:15.120Z"), ("지금", "2026-08-01T02:02:15.120Z"),
        (" NOW ", "2026-08-01T02:02:15.120Z"),
        ("2h", "2026-08-01T00:02:15.120Z"), ("90m", "2026-08-01T00:32:15.120Z"), ("7d", "2026-07-25T02:02:15.120Z"),
        ("1w", "2026-07-25T02:02:15.120Z"), ("1h30m", "2026-08-01T00:32:15.120Z"),
        ("500ms", "2026-08-01T02:02:14.620Z"),
        ("0s", "2026-08-01T02:02:15.120Z"),
        ("2h ago", "2026-08-01T00:02:15.120Z"), ("2 hours ago", "2026-08-01T00:02:15.120Z"),
        ("1 Day  Ago", "2026-07-31T02:02:15.120Z"),
        ("2시간 전", "2026-08-01T00:02:15.120Z"), ("2시간전", "2026-08-01T00:02:15.120Z"),
        ("30분 전", "2026-08-01T01:32:15.120Z"),
        ("1시간 30분 전", "2026-08-01T00:32:15.120Z"), ("3일 전", "2026-07-29T02:02:15.120Z"),
        ("2주 전", "2026-07-18T02:02:15.120Z"),
        ("-2h", "2026-08-01T00:02:15.120Z"), ("+5m", "2026-08-01T02:07:15.120Z"),
        ("today", "2026-07-31T15:00:00.000Z"), ("오늘", "2026-07-31T15:00:00.000Z"),
        ("yesterday", "2026-07-30T15:00:00.000Z"),
        ("어제", "2026-07-30T15:00:00.000Z"), ("yesterday 14:00", "2026-07-31T05:00:00.000Z"),
        ("어제 14:00", "2026-07-31T05:00:00.000Z"),
        ("today 9:05", "2026-08-01T00:05:00.000Z"), ("Yesterday 14:00:01.5", "2026-07-31T05:00:01.500Z"),
        ("09:00", "2026-08-01T00:00:00.000Z"), ("9:00:30", "2026-08-01T00:00:30.000Z"),
        ("23:59:59.999", "2026-07-31T14:59:59.999Z"), ("11:02", "2026-08-01T02:02:00.000Z"),
        ("11:03", "2026-07-31T02:03:00.000Z"), ("today 23:59", "2026-08-01T14:59:00.000Z"),
        ("09:00 UTC", "2026-07-31T09:00:00.000Z"), ("12mo", "2025-08-01T02:02:15.120Z"),
        ("1 month ago", "2026-07-01T02:02:15.120Z"), ("2y", "2024-08-01T02:02:15.120Z"),
        ("2026-08-01", "2026-07-31T15:00:00.000Z"), ("2026-08-01 09:00", "2026-08-01T00:00:00.000Z"),
        ("2026-08-01 09:00:01.25", "2026-08-01T00:00:01.250Z"), ("2026-08-01T09:00", "2026-08-01T00:00:00.000Z"),
        ("2026-08-01T09:00:00+09:00", "2026-08-01T00:00:00.000Z"),
        ("2026-08-01t09:00:00z", "2026-08-01T09:00:00.000Z"),
        ("2026-08-01T09:00:00.123456789Z", "2026-08-01T09:00:00.123Z"),
        ("2026-08-01T09:00:00-05:30", "2026-08-01T14:30:00.000Z"),
        ("2026-08-01 09:00 +0900", "2026-08-01T00:00:00.000Z"), ("2026-08-01 UTC", "2026-08-01T00:00:00.000Z"),
        ("2026-08-01 09:00 utc", "2026-08-01T09:00:00.000Z"), ("2016-12-31T23:59:60Z", "2017-01-01T00:00:00.000Z"),
        ("2024-02-29", "2024-02-28T15:00:00.000Z"), ("@0", "1970-01-01T00:00:00.000Z"),
        ("@1785542400", "2026-08-01T00:00:00.000Z"), ("@1785542400.5", "2026-08-01T00:00:00.500Z"),
        ("@-1.5", "1969-12-31T23:59:58.500Z"),
        ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000Z"),
        ("9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"),
        ("1969-12-31T23:59:59.999Z", "1969-12-31T23:59:59.999Z"),
        ("yesterday noon", "2026-07-31T03:00:00.000Z"),
    ])
    func acceptedForms(text: String, expected: String) throws {
        #expect(try instant(text) == expected)
        #expect(try instant(text.decomposedStringWithCanonicalMapping) == expected)
    }

    @Test(
        arguments: [
            ("", TimeSyntaxError.unknownForm), ("   ", .unknownForm), ("soon", .unknownForm), ("seq:", .unknownForm),
            ("seq:1", .unknownForm), ("seq:-1", .unknownForm), ("seq:18446744073709551616", .unknownForm),
            ("event:", .unknownForm),
            ("cursor:", .unknownForm),
            ("ago", .unknownForm), ("2h ago ago", .unknownForm), ("-2h ago", .unknownForm), ("2h x", .unknownForm),
            ("2x", .unknownForm),
            ("1.5h", .unknownForm), ("--2h", .unknownForm), ("@", .unknownForm), ("@5.", .unknownForm),
            ("@5x", .unknownForm),
            ("now now", .unknownForm), ("2026-8-1", .unknownForm),
            ("2026-08", .unknownForm),
            ("2026-08-01 09", .unknownForm), ("2026-08-01T", .unknownForm), ("2026-08-01 09:0", .unknownForm),
            ("09:00 09:00", .unknownForm),
            ("2026-08-01T09:00:00+9", .unknownForm), ("2026-08-01T09:00:00Z x", .unknownForm),
            ("\u{0}", .unknownForm), ("٢h", .unknownForm),
            ("30", .missingUnit), ("2026", .missingUnit), ("29일", .openDay("29")), ("1y2mo", .unevenSpan(unit: "y")),
            ("1개월 2일 전", .unevenSpan(unit: "개월")), ("99999y", .outOfRange),
            ("9999999999999999999y", .unevenSpan(unit: "y")),
            ("2026-02-29", .noSuchTime), ("2026-13-01", .noSuchTime), ("2026-00-01", .noSuchTime),
            ("0000-01-01", .noSuchTime),
            ("24:00", .noSuchTime), ("12:60", .noSuchTime), ("2026-08-01T09:00:61Z", .noSuchTime),
            ("2026-08-01T09:00:00+24:00", .noSuchTime),
            ("99999999999999999999h", .outOfRange), ("9223372036854775807w", .outOfRange), ("5000000d", .outOfRange),
            ("@99999999999999", .outOfRange), ("@999999999999", .outOfRange), ("@-99999999999", .outOfRange),
            ("0001-01-01T00:00:00+09:00", .outOfRange), ("9999-12-31T23:59:59-01:00", .outOfRange),
            ("2026-08-01 09:00 Asia/Nowhere", .unknownZone("Asia/Nowhere")),
            ("2026-08-01 ../../etc/passwd", .unknownForm),
            ("2026-08-01 Asia/../../../../etc/passwd", .unknownZone("Asia/../../../../etc/passwd")),
        ] as [(String, TimeSyntaxError)])
    func refusedForms(text: String, expected: TimeSyntaxError) {
        #expect(error(text) == expected)
        #expect(!expected.message.isEmpty)
    }

    @Test func theErrorListsTheForms() {
        for form in ["2h ago", "2시간 전", "yesterday 14:00", "09:00", "Asia/Seoul", "@"] {
            #expect(TimeSyntaxError.unknownForm.message.contains(form))
        }
    }

    @Test func everyFormOfTheErrorIsAccepted() throws {
        let list = try #require(TimeSyntaxError.forms.split(separator: ": ", maxSplits: 1).last)
        for form in list.split(separator: ", ") {
            _ = try TimeSyntax(now: now, zone: seoul).parse(form.filter { $0 != "'" })
        }
    }

    @Test func whatIsPrintedIsAccepted() throws {
        let syntax = TimeSyntax(now: now, zone: seoul)
        for milliseconds in [0, now, -1, -62_135_596_800_000, 253_402_300_799_999, 951_782_400_000] as [Int64] {
            #expect(try syntax.parse(rfc3339(milliseconds)) == milliseconds)
        }
        for _ in 0..<5_000 {
            let milliseconds = Int64.random(in: -62_135_500_000_000...253_402_200_000_000)
            #expect(
                try syntax.parse(TimeFormat.brief(milliseconds, in: seoul)) == milliseconds.flooringDivision(
                    by: 1_000) * 1_000)
        }
        let local = TimeFormat.local(now, in: seoul) + " " + TimeFormat.offset(seoul.offset(now))
        #expect(try syntax.parse(local) == now - 120)
    }

    @Test func randomTextNeverCrashes() {
        let pieces = [
            "2", "99999999999", "h", " ", "ago", "전", "시간", "어제", "2026-08-01", "T", ":", "-", "+", "@", ".", "09:00",
            "Z",
            "Asia/Seoul", "\u{1B}", "🙂", "\u{1100}", "\u{301}", "seq:", "Europe", "/",
        ]
        for _ in 0..<20_000 {
            let text = (0..<Int.random(in: 0...6)).map { _ in pieces.randomElement() ?? "" }.joined()
            _ = error(text)
        }
    }
}

@Suite struct ZoneTests {
    /// Central European rules with the change at 01:00 UTC on fixed days of 2026.
    private let berlin = Zone { (1_774_746_000_000..<1_792_890_000_000).contains($0) ? 7_200 : 3_600 }

    @Test func aSkippedTimeIsReadWithTheOldOffset() throws {
        #expect(try instant("2026-03-29 02:30", zone: berlin) == "2026-03-29T01:30:00.000Z")
        #expect(try instant("2026-03-29 01:59", zone: berlin) == "2026-03-29T00:59:00.000Z")
        #expect(try instant("2026-03-29 03:00", zone: berlin) == "2026-03-29T01:00:00.000Z")
    }

    @Test func aRepeatedTimeIsTheFirstOne() throws {
        #expect(try instant("2026-10-25 02:30", zone: berlin) == "2026-10-25T00:30:00.000Z")
        #expect(try instant("2026-10-25 03:00", zone: berlin) == "2026-10-25T02:00:00.000Z")
    }

    static let hasZones = FileManager.default.fileExists(atPath: "/usr/share/zoneinfo/Asia/Seoul")

    @Test(
        .enabled(if: hasZones, "no zone files here"),
        arguments: [
            ("2026-08-01 09:00 Asia/Seoul", "2026-08-01T00:00:00.000Z"),
            ("1988-07-01 12:00 Asia/Seoul", "1988-07-01T02:00:00.000Z"),
            ("2026-07-01 12:00 America/New_York", "2026-07-01T16:00:00.000Z"),
            ("2026-01-01 12:00 America/New_York", "2026-01-01T17:00:00.000Z"),
            ("2126-07-01 12:00 Europe/Berlin", "2126-07-01T10:00:00.000Z"),
            ("2126-01-01 12:00 Australia/Sydney", "2126-01-01T01:00:00.000Z"),
            ("2126-07-01 12:00 Australia/Sydney", "2126-07-01T02:00:00.000Z"),
            ("2026-08-01 Etc/GMT+5", "2026-08-01T05:00:00.000Z"),
        ])
    func zonesByName(text: String, expected: String) throws {
        #expect(try instant(text) == expected)
    }

    @Test(
        .enabled(if: hasZones, "no zone files here"),
        arguments: [
            "Asia/Seoul", "America/New_York", "Europe/Berlin", "Australia/Sydney", "Africa/Casablanca",
            "America/St_Johns", "Asia/Kathmandu", "Pacific/Apia", "UTC",
        ])
    func zoneFilesAgreeWithFoundation(name: String) throws {
        let zone = try #require(ZoneDirectory.system.zone(named: name))
        let other = try #require(TimeZone(identifier: name))
        // Every five days, from the first railway times to the end of the precomputed changes.
        for seconds in stride(from: Int64(-1_000_000_000), to: 2_140_000_000, by: 5 * 86_400 + 1_234) {
            let expected = other.secondsFromGMT(for: Date(timeIntervalSince1970: Double(seconds)))
            if zone.offset(seconds * 1_000) != expected {
                Issue.record("\(name) at \(seconds): \(zone.offset(seconds * 1_000)) instead of \(expected)")
                break
            }
        }
        _ = zone.offset(.max)
        _ = zone.offset(.min)
    }

    @Test func brokenZoneFilesAreRefused() throws {
        let directory = URL(filePath: TemporaryFolder.unusedPath())
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let zones = ZoneDirectory(path: directory.path)
        #expect(zones.zone(named: "Missing") == nil)
        #expect(zones.zone(named: "") == nil)
        #expect(zones.zone(named: "/etc/passwd") == nil)
        let whole =
            (try? Data(contentsOf: URL(fileURLWithPath: "/usr/share/zoneinfo/America/New_York"))) ?? Data("TZif".utf8)
        for _ in 0..<200 {
            var bytes = whole.prefix(Int.random(in: 0...whole.count))
            for _ in 0..<Int.random(in: 0...5) where !bytes.isEmpty {
                bytes[Int.random(in: 0..<bytes.count)] = UInt8.random(in: 0...255)
            }
            try bytes.write(to: directory.appendingPathComponent("Broken"))
            if let zone = zones.zone(named: "Broken") {
                for instant in [0, now, 20_000_000_000_000, .min, .max] as [Int64] { _ = zone.offset(instant) }
            }
        }
    }

    @Test func theLocalZoneIsTheProcesss() {
        for milliseconds in [0, now, -1_000_000_000_000, 4_000_000_000_000] as [Int64] {
            let date = Date(timeIntervalSince1970: Double(milliseconds) / 1_000)
            #expect(Zone.local.offset(milliseconds) == TimeZone.current.secondsFromGMT(for: date))
        }
        _ = Zone.local.offset(.max)
    }
}

@Suite struct TimeFormatTests {
    @Test func forms() {
        #expect(TimeFormat.local(now, in: seoul) == "2026-08-01 11:02:15")
        #expect(TimeFormat.local(now, in: .utc) == "2026-08-01 02:02:15")
        #expect(rfc3339(now) == "2026-08-01T02:02:15.120Z")
        #expect(TimeFormat.offset(32_400) == "+09:00")
        #expect(TimeFormat.offset(-12_600) == "-03:30")
        #expect(TimeFormat.offset(0) == "+00:00")
        #expect(TimeFormat.offset(-30_472) == "-08:27:52")
    }

    @Test func everyDayOfFourHundredYearsComesBack() {
        var previous = CivilTime(year: 1_899, month: 12, day: 31)
        for day in Int64(-25_567)..<(-25_567 + 146_097) {
            let civil = CivilTime(milliseconds: day * 86_400_000)
            if !civil.exists || civil.milliseconds != day * 86_400_000
                || (civil.year, civil.month, civil.day) <= (previous.year, previous.month, previous.day)
            {
                Issue.record("day \(day)")
                break
            }
            previous = civil
        }
        #expect(previous == CivilTime(year: 2_299, month: 12, day: 31))
    }

    @Test func extremesHaveText() {
        #expect(rfc3339(.min).hasPrefix("-292275055-05-16T"))
        #expect(rfc3339(.max).hasPrefix("292278994-08-17T"))
        #expect(rfc3339(.max).hasSuffix("07:12:55.807Z"))
        _ = TimeFormat.local(.max, in: seoul)
        _ = TimeFormat.local(.min, in: .fixed(seconds: -3_600))
    }

    @Test(
        arguments: [
            (0, "0ms"), (250, "250ms"), (3_000, "3s"), (250_000, "4m 10s"), (3_600_000, "1h"), (3_605_000, "1h"),
            (1_051_200_000, "12d 4h"), (-3_000, "-3s"), (Int64.max, "106751991167d 7h"),
            (Int64.min, "-106751991167d 7h"),
        ] as [(Int64, String)])
    func spans(milliseconds: Int64, text: String) {
        #expect(TimeSpan.text(milliseconds) == text)
    }

    @Test(
        arguments: [
            ("512B", 512), ("2GiB", 2 << 30), ("1 MiB", 1 << 20), ("64kib", 65_536), ("5GB", 5_000_000_000),
            ("0B", 0),
            ("18446744073709551615B", UInt64.max),
        ] as [(String, UInt64)])
    func sizes(text: String, bytes: UInt64) throws {
        #expect(try ByteSize.bytes(text) == bytes)
        #expect(try ByteSize.bytes(ByteSize.exactText(bytes)) == bytes)
    }

    @Test(arguments: [
        ("", ByteSize.Failure.malformed), ("GiB", .malformed), ("-1GiB", .malformed), ("1.5GiB", .malformed),
        ("1XB", .malformed),
        ("100", .missingUnit), ("18446744073709551616B", .tooLarge), ("18446744073709551615KiB", .tooLarge),
    ])
    func refusedSizes(text: String, expected: ByteSize.Failure) {
        #expect(throws: expected) { try ByteSize.bytes(text) }
    }

    @Test func exactSizes() {
        #expect(ByteSize.exactText(2 << 30) == "2GiB")
        #expect(ByteSize.exactText(1_025) == "1025B")
        #expect(ByteSize.exactText(0) == "0B")
    }
}
