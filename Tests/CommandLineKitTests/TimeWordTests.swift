import Foundation
import TestSupport
import Testing

@testable import CommandLineKit

/// 2026-08-01 11:02:15.120 in Seoul, a Saturday.
private let now: Int64 = 1_785_549_735_120
private let seoul = Zone.fixed(seconds: 9 * 3_600)

private func local(_ text: String, zone: Zone = seoul, now: Int64 = now) throws(TimeSyntaxError) -> String {
    TimeFormat.brief(try TimeSyntax(now: now, zone: zone).parse(text), in: zone)
}

/// Times in words, Korean and English.
@Suite struct TimeWordTests {
    @Test(arguments: [
        ("그제", "2026-07-30 00:00"), ("그저께", "2026-07-30 00:00"), ("내일", "2026-08-02 00:00"),
        ("그저께 오후 3시", "2026-07-30 15:00"), ("어제 오후3시 20분", "2026-07-31 15:20"), ("오전 9시", "2026-08-01 09:00"),
        ("오후 3:20", "2026-07-31 15:20"), ("오전 12시", "2026-08-01 00:00"), ("오후 12시 30분", "2026-07-31 12:30"),
        ("새벽 2시", "2026-08-01 02:00"), ("저녁 7시 반", "2026-07-31 19:30"), ("밤 11시", "2026-07-31 23:00"),
        ("15시", "2026-07-31 15:00"), ("15시 20분 5초", "2026-07-31 15:20:05"), ("3시 반", "2026-08-01 03:30"),
        ("어제 정오", "2026-07-31 12:00"), ("밤 12시", "2026-08-01 00:00"), ("어제 밤 12시 반", "2026-08-01 00:30"),
        ("오늘 자정", "2026-08-01 00:00"), ("yesterday 3pm", "2026-07-31 15:00"),
        ("3:20 PM", "2026-07-31 15:20"), ("12am", "2026-08-01 00:00"), ("12 pm", "2026-07-31 12:00"),
        ("방금", "2026-08-01 11:01:15"), ("방금 전", "2026-08-01 11:01:15"),
        ("한 시간 전", "2026-08-01 10:02:15"), ("두시간 반 전", "2026-08-01 08:32:15"), ("2시간 반 전", "2026-08-01 08:32:15"),
        ("2시간반 전", "2026-08-01 08:32:15"), ("하루 전", "2026-07-31 11:02:15"), ("이틀 전", "2026-07-30 11:02:15"),
        ("일주일 전", "2026-07-25 11:02:15"), ("열두 시간 전", "2026-07-31 23:02:15"), ("이틀 3시간 전", "2026-07-30 08:02:15"),
        ("토요일", "2026-08-01 00:00"), ("일요일", "2026-07-26 00:00"), ("월요일 오전 9시", "2026-07-27 09:00"),
        ("saturday", "2026-08-01 00:00"), ("Fri", "2026-07-31 00:00"), ("monday 3pm", "2026-07-27 15:00"),
        ("이번 주", "2026-07-27 00:00"), ("지난주", "2026-07-20 00:00"), ("지난 주", "2026-07-20 00:00"),
        ("지난주 금요일", "2026-07-24 00:00"), ("지난주 일요일 밤 9시", "2026-07-26 21:00"), ("last week", "2026-07-20 00:00"),
        ("이번 달", "2026-08-01 00:00"), ("지난달", "2026-07-01 00:00"), ("last month", "2026-07-01 00:00"),
        ("올해", "2026-01-01 00:00"), ("작년", "2025-01-01 00:00"), ("this year", "2026-01-01 00:00"),
        ("8월 1일", "2026-08-01 00:00"), ("8월 2일", "2025-08-02 00:00"), ("7월", "2026-07-01 00:00"),
        ("2월 29일", "2024-02-29 00:00"), ("8월1일 14:00", "2026-08-01 14:00"), ("2026년", "2026-01-01 00:00"),
        ("2026년 8월", "2026-08-01 00:00"), ("2026년 8월 1일 오후 3시 20분", "2026-08-01 15:20"),
        ("2026. 8. 1.", "2026-08-01 00:00"), ("2026. 8. 1. 오후 3:20", "2026-08-01 15:20"),
        ("2026.8.1", "2026-08-01 00:00"),
        ("2026/8/1 09:00", "2026-08-01 09:00"), ("2026-08-01 오후 3시", "2026-08-01 15:00"),
        ("한 달 전", "2026-07-01 11:02:15"), ("두달 전", "2026-06-01 11:02:15"), ("일곱 달 전", "2026-01-01 11:02:15"),
        ("열두 달 전", "2025-08-01 11:02:15"),
        ("3개월 전", "2026-05-01 11:02:15"), ("1년 전", "2025-08-01 11:02:15"), ("일 년 전", "2025-08-01 11:02:15"),
        ("2 years ago", "2024-08-01 11:02:15"),
        ("어젯밤", "2026-07-31 18:00"), ("어젯밤 11시", "2026-07-31 23:00"), ("어제 저녁", "2026-07-31 17:00"),
        ("오늘 아침", "2026-08-01 05:00"), ("오늘 밤 11시", "2026-08-01 23:00"),
        ("세 시", "2026-08-01 03:00"), ("오후 세시 반", "2026-07-31 15:30"), ("열두 시", "2026-07-31 12:00"),
        ("어제 열한시 5분", "2026-07-31 11:05"), ("저녁 11시", "2026-07-31 23:00"),
        ("Aug 1", "2026-08-01 00:00"), ("august 2", "2025-08-02 00:00"), ("Aug 1, 2025", "2025-08-01 00:00"),
        ("1 Aug 2025 14:00", "2025-08-01 14:00"), ("dec", "2025-12-01 00:00"), ("Aug 2025", "2025-08-01 00:00"),
        ("Jul 5 3pm", "2026-07-05 15:00"),
        ("last monday", "2026-07-27 00:00"), ("last sat", "2026-07-25 00:00"), ("지난 월요일 오전 9시", "2026-07-27 09:00"),
        ("지난 토요일", "2026-07-25 00:00"),
        ("엊그제", "2026-07-30 00:00"), ("그끄저께 오전 9시", "2026-07-29 09:00"), ("모레", "2026-08-03 00:00"),
        ("재작년", "2024-01-01 00:00"), ("작년 8월", "2025-08-01 00:00"), ("작년 8월 15일 오후 3시", "2025-08-15 15:00"),
        ("올해 3월", "2026-03-01 00:00"), ("지난달 15일", "2026-07-15 00:00"), ("이번 달 1일", "2026-08-01 00:00"),
        ("지난 주말", "2026-07-25 00:00"), ("이번 주말", "2026-08-01 00:00"), ("last weekend", "2026-07-25 00:00"),
        ("낮 12시", "2026-07-31 12:00"), ("어제 낮 2시", "2026-07-31 14:00"), ("어제 낮", "2026-07-31 12:00"),
        ("석 달 전", "2026-05-01 11:02:15"), ("넉달 전", "2026-04-01 11:02:15"), ("반년 전", "2026-02-01 11:02:15"),
        ("어제오후3시", "2026-07-31 15:00"), ("오늘9시", "2026-08-01 09:00"), ("26년 8월 1일", "2026-08-01 00:00"),
        ("２시간 전", "2026-08-01 09:02:15"), ("어제 １４:００", "2026-07-31 14:00"), ("last night", "2026-07-31 18:00"),
        ("어제 14:00 UTC", "2026-07-31 23:00"), ("2026년 8월 1일 오후 3시 +0900", "2026-08-01 15:00"),
    ])
    func words(text: String, expected: String) throws {
        #expect(try local(text) == expected)
        #expect(try local(text.decomposedStringWithCanonicalMapping) == expected)
        #expect(try local(text.uppercased()) == expected)
    }

    @Test("The last day of a month that has no such day, and an end behind its beginning")
    func ends() throws {
        let march = CivilTime(year: 2024, month: 3, day: 31).milliseconds
        let syntax = TimeSyntax(now: march, zone: .utc)
        #expect(TimeFormat.brief(try syntax.parse("1 month ago"), in: .utc) == "2024-02-29 00:00")
        let range = TimeSyntax(now: now, zone: seoul, start: try TimeSyntax(now: now, zone: seoul).parse("09:00"))
        #expect(TimeFormat.brief(try range.parse("18:00"), in: seoul) == "2026-08-01 18:00")
        #expect(TimeFormat.brief(try range.parse("10:00"), in: seoul) == "2026-08-01 10:00")
    }

    @Test(
        arguments: [
            ("오후", TimeSyntaxError.unknownForm), ("오후 15시", .noSuchTime), ("아침 3시", .noSuchTime),
            ("25시", .noSuchTime),
            ("3시 60분", .noSuchTime), ("0am", .noSuchTime), ("13pm", .noSuchTime), ("2월 30일", .noSuchTime),
            ("13월 1일", .noSuchTime), ("2026년 2월 29일", .noSuchTime), ("2026. 13. 1.", .noSuchTime),
            ("저녁 12시", .noSuchTime),
            ("지난주 8월", .unknownForm), ("3시 20분 전", .unknownForm), ("8월 전", .unknownForm),
            ("어젯밤 1시", .noSuchTime), ("세 반", .unknownForm), ("Feb 30", .noSuchTime), ("Aug 1st", .unknownForm),
            ("last 3pm", .unknownForm), ("Augus 1", .unknownForm), ("last", .unknownForm), ("2 분 반 전", .unknownForm),
            ("어제 어제", .unknownForm),
            ("하루", .unknownForm), ("아까", .unknownForm), ("99999년", .outOfRange),
        ] as [(String, TimeSyntaxError)])
    func refused(text: String, expected: TimeSyntaxError) {
        // A span alone means ago, in words too.
        if text == "하루" { return #expect((try? local(text)) == "2026-07-31 11:02:15") }
        #expect(throws: expected) { try local(text) }
    }

    @Test func leapDaysAndYearEnds() throws {
        let leap = try TimeSyntax(now: now, zone: seoul).parse("2024-02-29 12:00")
        #expect(try local("어제", now: leap) == "2024-02-28 00:00")
        #expect(try local("내일", now: leap) == "2024-03-01 00:00")
        #expect(try local("지난달", now: leap) == "2024-01-01 00:00")
        #expect(try local("3월 1일", now: leap) == "2023-03-01 00:00")
        let january = try TimeSyntax(now: now, zone: seoul).parse("2026-01-01 00:30")
        #expect(try local("지난달", now: january) == "2025-12-01 00:00")
        #expect(try local("어제", now: january) == "2025-12-31 00:00")
        #expect(try local("지난주", now: january) == "2025-12-22 00:00")
        let first = try TimeSyntax(now: now, zone: .utc).parse("0001-01-01T00:00:00Z")
        #expect(throws: TimeSyntaxError.outOfRange) { try local("어제", zone: .utc, now: first) }
        #expect(throws: TimeSyntaxError.outOfRange) { try local("작년", zone: .utc, now: first) }
        #expect(throws: TimeSyntaxError.noSuchTime) { try local("12월 31일", zone: .utc, now: first) }
    }

    @Test("Where clocks are changed, what is printed reads back, and days are what the calendar says")
    func changedClocks() throws {
        guard let berlin = ZoneDirectory.system.zone(named: "Europe/Berlin") else { return }
        let syntax = TimeSyntax(now: now, zone: berlin)
        // Around both changes of 2026, by the minute.
        for start in [1_774_746_000_000, 1_792_890_000_000] as [Int64] {
            for minute in -200..<200 as Range<Int64> {
                let moment = start + minute * 60_000
                #expect(try syntax.parse(TimeFormat.brief(moment, in: berlin)) == moment)
            }
        }
        #expect(TimeFormat.brief(1_792_890_000_000 + 1_800_000, in: berlin) == "2026-10-25 02:30 +01:00")
        // 2026-03-30 01:00: a day that began in winter time.
        #expect(try local("어제", zone: berlin, now: 1_774_825_200_000) == "2026-03-29 00:00")
        #expect(try local("yesterday 2:30", zone: berlin, now: 1_774_825_200_000) == "2026-03-29 03:30")
    }

    @Test func randomWordsNeverCrash() {
        let pieces = [
            "2", "12", "99999999999", "2026", "시", "분", "초", "년", "월", "일", "반", " ", "오전", "오후", "밤", "전", "지난주",
            "월요일", "한 시간", "이틀", "pm", ".", "/", ":", "정오", "8월 1일", "방금", "Asia/Seoul", "\u{1112}\u{1161}",
        ]
        for _ in 0..<cases(4_000, of: 20_000) {
            let text = (0..<Int.random(in: 0...7)).map { _ in pieces.randomElement() ?? "" }.joined()
            for moment in [now, .max, .min, 0] {
                _ = try? TimeSyntax(now: moment, zone: seoul).parse(text)
            }
        }
    }
}
