/// Instants as text. All take milliseconds since 1970 and have an answer for every value.
package enum TimeFormat {
    /// `2026-08-01 11:02:15` in the given zone; the offset belongs into the heading, see ``offset(_:)``.
    package static func local(_ milliseconds: Int64, in zone: Zone) -> String {
        let civil = zone.civil(at: milliseconds)
        return "\(date(civil)) \(timeOfDay(civil))"
    }

    /// `2026-08-01 11:02`, with its seconds if it has any, as ``TimeSyntax`` reads it back in the same zone. Of a time that clocks
    /// show twice the later one has its offset behind it.
    package static func brief(_ milliseconds: Int64, in zone: Zone) -> String {
        let civil = zone.civil(at: milliseconds)
        let seconds = civil.millisecondOfDay / 1_000
        let time = timeOfDay(civil)
        let text = "\(date(civil)) \(seconds % 60 == 0 ? String(time.dropLast(3)) : time)"
        var shown = civil
        shown.millisecondOfDay = seconds * 1_000
        let isFirst = zone.instant(of: shown) == milliseconds - (civil.millisecondOfDay - shown.millisecondOfDay)
        return isFirst ? text : "\(text) \(offset(zone.offset(milliseconds)))"
    }

    /// `+09:00` for an offset in seconds; seconds beyond the minute, which only dates before 1972 have, are appended.
    package static func offset(_ seconds: Int) -> String {
        let amount = Int(seconds.magnitude)
        let text = "\(seconds < 0 ? "-" : "+")\(digits(amount / 3_600, 2)):\(digits(amount / 60 % 60, 2))"
        return amount % 60 == 0 ? text : text + ":" + digits(amount % 60, 2)
    }

    /// The seconds of `+09:00`; `nil` for anything else.
    package static func seconds(offset text: String) -> Int? {
        let bytes = Array(text.utf8)
        guard bytes.count == 6, bytes[3] == UInt8(ascii: ":"), let sign = bytes.first, "+-".utf8.contains(sign),
            let hours = Int(text.dropFirst().prefix(2)), let minutes = Int(text.suffix(2)), (0...23).contains(hours),
            (0...59).contains(minutes)
        else { return nil }
        return (sign == UInt8(ascii: "-") ? -1 : 1) * (hours * 3_600 + minutes * 60)
    }

    private static func date(_ civil: CivilTime) -> String {
        "\(civil.year < 0 ? "-" : "")\(digits(Int(civil.year.magnitude), 4))-\(digits(civil.month, 2))-\(digits(civil.day, 2))"
    }

    private static func timeOfDay(_ civil: CivilTime) -> String {
        let seconds = Int(civil.millisecondOfDay) / 1_000
        return "\(digits(seconds / 3_600, 2)):\(digits(seconds / 60 % 60, 2)):\(digits(seconds % 60, 2))"
    }

    private static func digits(_ number: Int, _ count: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, count - text.count)) + text
    }
}
